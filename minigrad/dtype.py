"""Element types: PyTorch's names for NumPy's dtypes, and PyTorch's rules of type promotion.

PyTorch promotes by *category*: a tensor with dimensions decides over a 0-d tensor, which decides over a Python number,
unless the weaker one is of a higher kind (bool < integer < floating point). NumPy would make float64 of
``float32 tensor + int64 tensor``; PyTorch makes float32.
"""
from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["dtype", "device", "Size", "finfo", "iinfo", "get_default_dtype", "set_default_dtype", "promote_types"]


class Named(type):
    """The class of a class that prints under PyTorch's name, as its objects do: ``<class 'torch.Size'>``."""

    torch_name: str

    def __repr__(cls) -> str:
        return f"<class '{cls.torch_name}'>" if "torch_name" in vars(cls) else super().__repr__()


class dtype(metaclass=Named):
    """An element type; prints as PyTorch's (``torch.float32``), so that texts read as in its documentation."""

    __slots__ = ("name", "numpy", "is_floating_point", "scalar_type", "itemsize")
    torch_name = "torch.dtype"
    is_complex = False

    def __init__(self, name: str, scalar_type: str) -> None:
        self.name, self.numpy, self.scalar_type = name, np.dtype(name), scalar_type
        self.is_floating_point, self.itemsize = self.numpy.kind == "f", self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    @property
    def cpp_name(self) -> str:
        """C++'s name, as some error texts have it."""
        return {"float32": "float", "float64": "double", "float16": "c10::Half", "int64": "long int", "int32": "int",
                "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool"}[self.name]

    @property
    def is_signed(self) -> bool:
        """Whether it has negative numbers."""
        return self.numpy.kind in "if"


float16, float32, float64 = dtype("float16", "Half"), dtype("float32", "Float"), dtype("float64", "Double")
int8, int16, int32 = dtype("int8", "Char"), dtype("int16", "Short"), dtype("int32", "Int")
int64, uint8, bool_ = dtype("int64", "Long"), dtype("uint8", "Byte"), dtype("bool", "Bool")
ALL = (float16, float32, float64, int8, int16, int32, int64, uint8, bool_)
ALIASES = {"half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
           "char": int8, "byte": uint8, "bool": bool_}
of_numpy = {d.numpy: d for d in ALL}

_default = [float32]


def get_default_dtype() -> dtype:
    """Return the floating-point type of ``tensor(1.5)``, ``zeros(2)`` and integer division."""
    return _default[0]


def set_default_dtype(d: dtype) -> None:
    """Set the default floating-point type.

    Raises
    ------
    TypeError
        "only floating-point types are supported as the default type"
    """
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default[0] = d


def to_numpy(d: Any) -> np.dtype:
    """NumPy's dtype of a `dtype`, of Python's ``float``, ``int``, ``bool``, or TypeError."""
    if isinstance(d, dtype):
        return d.numpy
    python = {float: float64, int: int64, bool: bool_}.get(d)
    if python is None:
        raise TypeError(f"dtype must be torch.dtype (got {type(d).__name__})")
    return python.numpy


def _rounded_once(kernel: Callable, narrow: dtype, wide: dtype) -> Callable:
    """A kernel of several steps that works on one type in a wider one, and rounds once, at the end."""
    @functools.wraps(kernel)
    def run(x: np.ndarray, *args: Any, **kwargs: Any) -> Any:
        if x.dtype is not narrow.numpy or any(isinstance(a, (np.dtype, dtype)) for a in (*args, *kwargs.values())):
            return kernel(x, *args, **kwargs)
        widened = [a.astype(wide.numpy) if isinstance(a, np.ndarray) and a.dtype == x.dtype else a for a in (x, *args)]
        results = kernel(*widened, **kwargs)
        return [r.astype(x.dtype) for r in results] if isinstance(results, (tuple, list)) else results.astype(x.dtype)
    return run


def in_single(kernel: Callable) -> Callable:
    """The kernel, working on float16 in float32, as PyTorch's do: NumPy would round each step."""
    return _rounded_once(kernel, float16, float32)


def in_double(kernel: Callable) -> Callable:
    """The kernel, working on float32 in float64."""
    return _rounded_once(kernel, float32, float64)


def scalar_type(array: np.ndarray) -> str:
    """C++'s name of an array's type, which most texts have: ``Float``."""
    return of_numpy[array.dtype].scalar_type


def refuse(array: np.ndarray | np.dtype, kinds: str, kernel: str) -> None:
    """Raise where PyTorch has no such kernel for a type, or an array's: one of `kinds`, of "b" (bool), "i", "u" and "f"."""
    d = array if isinstance(array, np.dtype) else array.dtype
    if d.kind in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{of_numpy[d].scalar_type}'")


_CPP_NUMBERS = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t", "float16": "c10::Half",
                "float32": "float", "float64": "double", "bool": "bool"}


@functools.cache
def _limits(d: np.dtype) -> tuple[float, float]:
    """The smallest and the largest number of a type."""
    info = np.finfo(d) if d.kind == "f" else np.iinfo(d)
    return (float(info.min), float(info.max)) if d.kind == "f" else (info.min, info.max)


def number_in(value: Any, d: np.dtype, name: str = "") -> np.ndarray:
    """A number in a type, as a 0-d array. (A negative whole number wraps around in an unsigned type.)

    Raises
    ------
    RuntimeError
        "value cannot be converted to type uint8_t without overflow"
    """
    if value.__class__ in _NUMBERS and value and d.kind != "b" and not (d.kind == "f" and not math.isfinite(value)):
        low, high = _limits(d)
        if not (-high if d.kind == "u" and isinstance(value, int) else low) <= value <= high:
            raise RuntimeError(f"value cannot be converted to type {name or _CPP_NUMBERS[d.name]} without overflow")
    return np.asarray(value).astype(d)


def filling(value: Any, d: np.dtype) -> np.ndarray:
    """`number_in` for a whole tensor, where PyTorch lets a float16 become infinite."""
    return np.asarray(value).astype(d) if d == float16.numpy else number_in(value, d)


def kind_of(d: np.dtype) -> int:
    """0 for bool, 1 for whole numbers, 2 for floating-point numbers."""
    return 0 if d.kind == "b" else 1 if d.kind in "iu" else 2


def _promote(a: np.dtype | None, b: np.dtype | None) -> np.dtype | None:
    if a is None or b is None:
        return a or b
    if kind_of(a) != kind_of(b):
        return a if kind_of(a) > kind_of(b) else b
    return np.promote_types(a, b)


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest type that holds both, by PyTorch's rules: ``promote_types(int64, float32) == float32``."""
    return of_numpy[_promote(a.numpy, b.numpy)]


def number_dtype(value: Any) -> np.dtype:
    """The type that a Python number has as a tensor."""
    if isinstance(value, (bool, np.bool_)):
        return bool_.numpy
    return int64.numpy if isinstance(value, (int, np.integer)) else _default[0].numpy


def result_type(*operands: Any) -> np.dtype:
    """The element type of an operation on arrays and Python numbers."""
    dims = zero = number = None
    # NumPy's scalars count as Python numbers beside an array; alone they are what became of 0-d arrays in a formula.
    arrays = np.ndarray if any(isinstance(x, np.ndarray) for x in operands) else (np.ndarray, np.generic)
    for x in operands:
        if not isinstance(x, arrays):
            number = _promote(number, number_dtype(x))
        elif x.ndim:
            dims = _promote(dims, x.dtype)
        else:
            zero = _promote(zero, x.dtype)
    result = number
    for stronger in (zero, dims):
        if stronger is None:
            continue
        weaker_wins = result is not None and kind_of(result) > kind_of(stronger)
        result = _promote(stronger, result) if weaker_wins or stronger.kind == "b" else stronger
    return result


_NUMBERS = frozenset((int, float))


def promote(*operands: Any, floating: bool = False, fitting: bool = False) -> list[np.ndarray] | None:
    """Cast arrays and Python numbers to their common type (``floating``: integers become the default float type).

    None if there is anything else among them. ``fitting``: a number that the type cannot hold is an error.
    """
    first, last = operands[0], operands[-1]
    # x * 3 is by far the most frequent.
    if last.__class__ in _NUMBERS and first.__class__ is np.ndarray and first.dtype.kind == "f" and len(operands) == 2 and not fitting:
        return [first, np.array(last, first.dtype)]
    if not all(isinstance(x, (np.ndarray, np.generic, int, float)) for x in operands):
        return None
    d = result_type(*operands)
    if floating and d.kind != "f":
        d = _default[0].numpy
    return [x if isinstance(x, np.ndarray) and x.dtype == d else number_in(x, d) if fitting else np.asarray(x).astype(d) for x in operands]


class device(metaclass=Named):
    """The name of a place for tensors. minigrad has the CPU only; another name is an error where a tensor is to be made there."""

    __slots__ = ("type", "index")
    torch_name = "torch.device"
    KNOWN = ("cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
             "privateuseone")

    def __init__(self, type: str | device = "cpu", index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}")
        parts = re.fullmatch(r"([a-zA-Z_]+)(?::(0|[1-9]\d*))?", type)
        if parts is None:
            raise RuntimeError(f"Invalid device string: '{type}'")
        if parts[1] not in self.KNOWN.split(", "):
            raise RuntimeError(f"Expected one of {self.KNOWN} device type at start of device string: {parts[1]}")
        self.type, self.index = parts[1], index if parts[2] is None else int(parts[2])

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, device) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))


def on_cpu(where: Any) -> None:
    """Refuse to make a tensor anywhere but on the CPU."""
    if where is not None and (kind := device(where).type) != "cpu":
        if kind == "cuda":
            raise AssertionError("Torch not compiled with CUDA enabled")
        raise RuntimeError(f"minigrad has the device 'cpu' only, not '{kind}'")


class cuda:
    """``torch.cuda``, as far as programs ask for it: there is none here."""

    @staticmethod
    def is_available() -> bool:
        """False, always."""
        return False

    @staticmethod
    def manual_seed(seed: int) -> None:
        """Nothing: `minigrad.manual_seed` seeds all there is."""

    manual_seed_all = manual_seed

    @staticmethod
    def device_count() -> int:
        """0, always."""
        return 0


class layout:
    """How a tensor lies in memory; minigrad has ``torch.strided`` only."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


class memory_format(layout):
    """In which order a copy lies in memory: in rows, or as what is copied does."""


strided = layout("strided")
contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")


class Size(tuple, metaclass=Named):
    """A shape: a tuple that prints as ``torch.Size([2, 3])``."""

    __slots__ = ()
    torch_name = "torch.Size"

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        n = 1
        for size in self:
            n *= size
        return n

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        return Size(item) if isinstance(key, slice) else item

    def __add__(self, other: tuple) -> Size:
        return Size(super().__add__(tuple(other)))

    def __mul__(self, times: int) -> Size:
        return Size(super().__mul__(times))


@functools.cache
def return_type(name: str, fields: str) -> type[tuple]:
    """PyTorch's named result of an operation with several outputs: a tuple that prints as ``torch.return_types.max(…)``."""
    names = fields.split()

    def __repr__(self: tuple) -> str:
        return f"torch.return_types.{name}(\n" + ",\n".join(f"{n}={v!r}" for n, v in zip(names, self, strict=True)) + ")"

    def __getattr__(self: tuple, attribute: str) -> Any:
        raise AttributeError(f"'torch.return_types.{name}' object has no attribute '{attribute}'")

    return type(name, (tuple,), {
        "__slots__": (), "__module__": "torch.return_types", "__repr__": __repr__, "__getattr__": __getattr__,
        "__match_args__": tuple(names), **{n: property(lambda self, i=i: self[i]) for i, n in enumerate(names)}})


def _limited(name: str, type: Any) -> dtype:
    if not isinstance(type, dtype) and type not in (int, float, bool):
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}")
    return of_numpy[to_numpy(type)]


class _Limits:
    shown: tuple[str, ...]

    def __repr__(self) -> str:
        numbers = "".join(f"{name}={getattr(self, name):g}, " for name in self.shown)
        return f"{type(self).__name__}({numbers}dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return self.dtype == other.dtype if isinstance(other, _Limits) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype)


class finfo(_Limits):
    """Limits of a floating-point type: ``eps``, ``max``, ``min``, ``tiny``."""

    shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        d = _default[0] if type is None else _limited("finfo", type)
        if not d.is_floating_point:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        info = np.finfo(d.numpy)
        self.dtype, self.bits = d.name, info.bits
        for name in self.shown:
            setattr(self, name, float(getattr(info, name)))
        self.resolution = float(str(info.resolution))       # a power of ten, not the nearest number of the type


class iinfo(_Limits):
    """Limits of an integer type: ``max``, ``min``, ``bits``."""

    shown = ("min", "max")

    def __init__(self, type: dtype) -> None:
        d = _limited("iinfo", type)
        if d.is_floating_point:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if d is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        info = np.iinfo(d.numpy)
        self.dtype, self.bits, self.max, self.min = d.name, info.bits, int(info.max), int(info.min)
