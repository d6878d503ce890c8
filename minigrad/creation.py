"""Making tensors: from numbers, from sizes and ranges, and like other tensors. (At random: `random`.)"""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtype as dtypes
from . import reasons
from .arguments import several, signatures_of
from .function import keep_quiet
from .reasons import check
from .storage import Storage
from .strides import arranged
from .tensor import Tensor, wrap

__all__ = ["tensor", "from_numpy", "as_tensor", "asarray", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like",
           "full_like", "arange", "range", "linspace", "logspace", "eye", "scalar_tensor"]


def to_array(data: Any, dtype: np.dtype | None = None) -> np.ndarray:
    """A new array of nested sequences of numbers, of an ndarray or of a tensor, with PyTorch's choice of dtype.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        Ragged or non-numeric data, with PyTorch's texts.
    """
    if isinstance(data, (Tensor, np.ndarray, np.generic)):
        data = getattr(data, "array", data)
        array = arranged(np.array(data), data)
        if array.dtype.newbyteorder("=") not in dtypes.of_numpy:
            raise TypeError(f"can't convert np.ndarray of type {array.dtype.type.__module__}.{array.dtype.type.__name__}. "
                            "The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
                            "int16, int8, uint64, uint32, uint16, uint8, and bool.")
        check(not any(stride < 0 for stride in data.strides), reasons.NEGATIVE_STRIDE, ValueError)
        check(array.dtype.isnative, "given numpy array has byte order different from the native byte order. Conversion between byte "
              "orders is currently not supported.", ValueError)
        # The one dtype object of its kind, not an equal one: operations compare with `is`.
        return array.astype(dtype or dtypes.of_numpy[array.dtype].numpy)
    shape, level = [], [data]
    while level and _is_sequence(level[0]):
        length = len(level[0])
        for item in level:
            if isinstance(item, np.ndarray):
                reasons.warn_once(reasons.LIST_OF_ARRAYS, stacklevel=4)
            check(_is_sequence(item), "not a sequence", TypeError)
            if len(item) != length:
                raise ValueError(f"expected sequence of length {length} at dim {len(shape)} (got {len(item)})")
        shape.append(length)
        level = [x for item in level for x in item]
        check(not isinstance(level[0] if level else None, str), "too many dimensions 'str'", ValueError)
    for x in level:
        if isinstance(x, str):
            raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
        if not isinstance(x, (bool, int, float, np.generic, Tensor)):
            if _is_sequence(x):
                raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
            raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")
    values = [x._number() if isinstance(x, Tensor) else x for x in level]
    if dtype is None:
        found = None
        for x in {(type(x), getattr(x, "dtype", None)): x for x in level}.values():
            d = x.array.dtype if isinstance(x, Tensor) else x.dtype if isinstance(x, np.generic) else dtypes.number_dtype(x)
            found = d if found is None else dtypes.promote_types(dtypes.of_numpy[found], dtypes.of_numpy[d]).numpy
        dtype = found or dtypes.get_default_dtype().numpy
    if dtype.kind in "iu":
        if any(isinstance(x, int) and not -2**63 <= x < 2**63 for x in values):
            raise ValueError("Overflow when unpacking long long")
        values = [dtypes.number_in(x, dtype, dtype.name) for x in values]
    keep_quiet()        # of a number that becomes infinite
    return np.array(values, dtype).reshape(shape)


def _is_sequence(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.ndim > 0
    return hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, (Tensor, str, bytes, dict, np.generic))


def finish(array: np.ndarray, requires_grad: bool) -> Tensor:
    """The new tensor of a factory, with its flag."""
    tensor = wrap(array, Storage(array))        # at once: threads may meet in it
    if not (requires_grad is None or isinstance(requires_grad, bool)):
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad:
        check(array.dtype.kind == "f", "Only Tensors of floating point and complex dtype can require gradients")
        tensor._requires_grad = True
    return tensor


def tensor(data: Any, *, dtype: dtypes.dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor of Python numbers, nested sequences or an ndarray. Always copies, always a leaf.

    Raises
    ------
    RuntimeError
        "Only Tensors of floating point and complex dtype can require gradients"
    """
    if requires_grad is None:       # which other factories take
        raise TypeError("tensor(): argument 'requires_grad' must be bool, not NoneType")
    if isinstance(data, Tensor):
        warnings.warn(reasons.COPY_CONSTRUCT.format("torch.tensor"), stacklevel=3)
    dtypes.on_cpu(device)
    return finish(to_array(data, None if dtype is None else dtypes.to_numpy(dtype)), requires_grad)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the ndarray's own memory: a write on either side shows on the other."""
    check(isinstance(array, np.ndarray), lambda: f"expected np.ndarray (got {reasons.type_name(array)})", TypeError)
    if array.dtype not in dtypes.of_numpy:
        to_array(array)      # raises with the right text
    check(not any(stride < 0 for stride in array.strides), reasons.NEGATIVE_STRIDE, ValueError)
    if not array.flags.writeable:
        reasons.warn_once(reasons.READ_ONLY)
    return wrap(array.view())      # a storage of its own, though two tensors be made of one array


def _construct(cls: type[Tensor], *data: Any, _dtype: np.dtype | None = None, **options: Any) -> Tensor:
    """``Tensor(2, 3)`` is PyTorch's old way of `empty`, ``Tensor([2, 3])`` of `tensor`; ``Tensor(x)`` is an alias of x."""
    value, dtype = data[0] if len(data) == 1 else data, _dtype or dtypes.get_default_dtype().numpy
    if options.keys() - {"device"} or len(data) > 1 and _is_sequence(data[0]):      # the options of mg.tensor are unknown here
        raise TypeError(several("new", signatures_of("Tensor.new")[1], data, dict(reversed(options.items()))))
    dtypes.on_cpu(options.get("device"))
    if isinstance(value, Tensor):
        return value[...] if cls is Tensor else wrap(value.array, value._storage, cls=cls)
    if value is data or value.__class__ in (int, dtypes.Size):
        return wrap(np.empty(sizes_of(data, name="new") if data else 0, dtype), cls=cls)
    if not (_is_sequence(value) or isinstance(value, (str, bytes, np.ndarray))):
        raise TypeError(f"new(): data must be a sequence (got {reasons.type_name(value)})")
    return wrap(to_array(value, dtype), cls=cls)


Tensor.__new__ = staticmethod(_construct)


def sizes_of(sizes: tuple, keyword: Any = None, name: str = "zeros") -> tuple[int, ...]:
    """``(2, 3)`` from ``(2, 3)`` or ``((2, 3),)``, or from what came by keyword.

    Raises
    ------
    RuntimeError, TypeError
        For a negative size, or what is not a whole number.
    """
    if keyword is not None:
        sizes = (keyword,)
    elif not sizes:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    for i, n in enumerate(sizes):
        if not hasattr(n, "__index__"):
            raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}" if not i else
                            f"{name}(): argument 'size' failed to unpack the object at pos {i + 1} with error \"type must be tuple of "
                            f"ints,but got {type(n).__name__}\"")
        if n < 0:
            raise RuntimeError("zeros: Dimension size must be non-negative." if name == "zeros" else
                               f"Trying to create tensor with negative dimension {n}: {list(sizes)}")
    return tuple(int(n) for n in sizes)


def pick_dtype(dtype: Any, device: Any = None) -> np.dtype:
    """The NumPy dtype asked for, or the default; refuses any device but the CPU."""
    dtypes.on_cpu(device)
    return dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype)


def _filled(name: str, make: Callable) -> Callable:
    def factory(*args: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        return finish(make(sizes_of(args, size, name), pick_dtype(dtype, device)), requires_grad)
    factory.__name__, factory.__doc__ = name, f"A tensor of {name} in the given shape: ``{name}(2, 3)`` or ``{name}((2, 3))``."
    return factory


zeros, ones, empty = _filled("zeros", np.zeros), _filled("ones", np.ones), _filled("empty", np.empty)


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one number; its dtype follows the number unless given."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    d = dtypes.number_dtype(value) if dtype is None else pick_dtype(dtype, device)
    return finish(np.full(sizes_of((size,)), dtypes.filling(value, d)), requires_grad)


def _like(name: str, make: Callable) -> Callable:
    def factory(input: Tensor, *args: Any, dtype: Any = None, device: Any = None, memory_format: Any = None,
                requires_grad: bool = False) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}_like(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        d = input.array.dtype if dtype is None else pick_dtype(dtype, device)
        array = make(input.array.shape, *args, d)
        return finish(array if memory_format is dtypes.contiguous_format else arranged(array, input.array), requires_grad)
    factory.__name__, factory.__doc__ = f"{name}_like", f"A tensor of {name} in the shape and dtype of another."
    return factory


zeros_like, ones_like, empty_like, full_like = (
    _like("zeros", np.zeros), _like("ones", np.ones), _like("empty", np.empty),
    _like("full", lambda shape, value, d: np.full(shape, dtypes.filling(getattr(value, "array", value), d))))


def _new(name: str, make: Callable) -> None:
    def factory(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        d = self.array.dtype if dtype is None else pick_dtype(dtype, device)
        return finish(make(sizes_of(size), d), requires_grad)
    factory.__name__, factory.__doc__ = f"new_{name}", f"A tensor of {name} of the given shape in this tensor's dtype."
    setattr(Tensor, factory.__name__, factory)


for _name, _make in {"zeros": np.zeros, "ones": np.ones, "empty": np.empty}.items():
    _new(_name, _make)


def _new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of data in this tensor's dtype."""
    if isinstance(data, Tensor):
        warnings.warn(reasons.COPY_CONSTRUCT.format("tensor.new_tensor"), stacklevel=3)
    return finish(to_array(data, self.array.dtype if dtype is None else pick_dtype(dtype, device)), requires_grad)


def _new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
              requires_grad: bool = False) -> Tensor:
    """A tensor of one number in this tensor's dtype."""
    return full(size, fill_value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


Tensor.new_tensor, Tensor.new_full = _new_tensor, _new_full


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
           requires_grad: bool = False) -> Tensor:
    """Numbers from `start` (0) up to but not including `end`, `step` apart; integers if all three are."""
    if end is None:
        start, end = 0, start
    start, end, step = _bounds(start, end, step)
    whole = all(isinstance(v, (int, np.integer)) for v in (start, end, step))
    d = pick_dtype(dtype, device) if dtype is not None or not whole else np.dtype(np.int64)
    dtypes.refuse(d, "b", "arange_cpu")
    if d == np.int64:
        start, end, step = int(start), int(end), int(step)
        check(step != 0, "step must be nonzero", ValueError)
    i = np.arange(math.ceil((end - start) / step))
    if d.kind in "iu":
        start, step = int(start), int(step)
    elif start % 1 or step % 1:
        # PyTorch counts in vectors of 32 bytes, two at a time: the first number of each from `start`, the others from that one.
        length = 32 // d.itemsize
        first = np.where(i < i.size - i.size % (2 * length), i - i % length, i)
        return finish(_fused(_fused(start, step, first).astype(d), step, i - first).astype(d), requires_grad)
    return finish((start + i * step).astype(d), requires_grad)


def range(start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Numbers from `start` to `end`, both included, `step` apart: deprecated, say `arange`."""
    warnings.warn(reasons.RANGE, stacklevel=3)
    start, end, step = _bounds(start, end, step)
    d = pick_dtype(dtype, device)
    dtypes.refuse(d, "b", "range_cpu")
    return finish((start + np.arange(math.floor((end - start) / step) + 1) * step).astype(d), requires_grad)


def _bounds(start: Any, end: Any, step: Any) -> tuple[float, float, float]:
    """Where a range begins, ends and how it goes on: numbers or tensors of one."""
    start, end, step = (v.item() if isinstance(v, Tensor) else v for v in (start, end, step))
    check(step != 0, "step must be nonzero")
    check(math.isfinite(start) and math.isfinite(end), lambda: f"unsupported range: {start:g} -> {end:g}")
    check(not (end - start) / step < 0, "upper bound and lower bound inconsistent with step sign")
    return start, end, step


def _fused(start: Any, step: float, i: np.ndarray) -> np.ndarray:
    """``start + step * i`` rounded once, as processors do it: near zero the product's rounding would be all that is left."""
    return (np.longdouble(start) + np.longdouble(step) * i).astype(np.float64)


def _ends(name: str, start: Any, end: Any) -> tuple[float, float]:
    """Where a range begins and ends: two numbers or 0-d tensors."""
    tensors = {key: x.ndim for key, x in (("start", start), ("end", end)) if isinstance(x, Tensor)}
    if any(tensors.values()):
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got "
                           + " and ".join(f"{key} with {n} dimension(s)" for key, n in tensors.items()) + ".")
    return tuple(x.item() if isinstance(x, Tensor) else x for x in (start, end))


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers evenly from `start` to `end`, both included."""
    d, steps = pick_dtype(dtype, device), int(steps)
    start, end = _ends("linspace", start, end)
    check(steps >= 0, "number of steps must be non-negative")
    if steps == 1:
        return finish(np.full(1, start, d), requires_grad)
    dtypes.refuse(d, "b", "linspace_cpu")
    # As PyTorch: counted from both ends, so that both are exact.
    start, end, i = dtypes.number_in(start, d)[()], dtypes.number_in(end, d)[()], np.arange(steps)
    step = d.type((end - start) / d.type(steps - 1)) if d.kind == "f" else (end - start) / (steps - 1)
    multiply_add = _fused if d in (np.float32, np.float64) else lambda start, step, i: start + step * i.astype(d)
    values = np.where(i < steps // 2, multiply_add(start, step, i), multiply_add(end, -step, steps - 1 - i))
    return finish(values.astype(d), requires_grad)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None,
             requires_grad: bool = False) -> Tensor:
    """`base` to the powers that `linspace` gives."""
    dtypes.refuse(pick_dtype(dtype, device), "b", "logspace_cpu")
    powers = np.power(base, linspace(*_ends("logspace", start, end), steps, dtype=dtypes.float64).array)
    return finish(powers.astype(pick_dtype(dtype, device)), requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return finish(np.eye(n, m, dtype=pick_dtype(dtype, device)), requires_grad)


def scalar_tensor(value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor of a number."""
    return finish(np.asarray(value, pick_dtype(dtype, device)), requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of data, without a copy where the memory can be shared."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and data.dtype in dtypes.of_numpy and dtype is None:
        return from_numpy(data)
    return wrap(to_array(data, None if dtype is None else pick_dtype(dtype, device)))


asarray = as_tensor


_OPTIONS = ("TensorOptions(dtype={}, device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
            "memory_format=(nullopt))")


class _Typed(dtypes.Named):
    """The class of ``FloatTensor`` and its like: called, it makes a tensor of its dtype, and all such tensors count as its instances."""

    def __call__(cls, *data: Any, **options: Any) -> Tensor:
        if len(data) == 1 and isinstance(data[0], Tensor) and data[0].dtype is not cls.dtype:
            raise TypeError("expected {} (got {})".format(*(_OPTIONS.format(x.cpp_name) for x in (cls.dtype, data[0].dtype))))
        return _construct(Tensor, *data, _dtype=cls.dtype.numpy, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype


for _dtype in dtypes.ALL:
    _name = f"{_dtype.scalar_type}Tensor"
    globals()[_name] = _Typed(_name, (), {
        "dtype": _dtype, "torch_name": f"torch.{_name}", "__module__": __name__,
        "__doc__": f"A tensor of {_dtype!r}, of data or of sizes (PyTorch's old way)."})
    __all__.append(_name)
