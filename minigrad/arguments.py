"""What PyTorch says of a call whose arguments do not fit: its argument parser, to the letter.

A call is parsed only *after* it has failed, so that a right one costs nothing: ``x.sum(dim="a")`` fails somewhere in NumPy, and
`refusal` then finds what PyTorch would have refused at once: ``sum() received an invalid combination of arguments - got …``.
A call whose arguments do fit failed for a reason of its own, and its error stands. The signatures lie in ``signatures.txt``.

Sources: torch/csrc/utils/python_arg_parser.cpp (which signature fits, and what is wrong with one) and invalid_arguments.cpp
(what is said if there are several).
"""
from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtype as dtypes
from . import reasons
from .inplace import write_out

# The parser's types: what texts call them, and what fits. (The classes of tensors and generators are told by `kinds`, below.)
NAMES = {
    "Tensor": "Tensor", "Scalar": "Number", "int64_t": "int", "SymInt": "int", "IntArrayRef": "tuple of ints",
    "SymIntArrayRef": "tuple of ints", "ScalarType": "torch.dtype", "Layout": "torch.layout", "Device": "torch.device", "bool": "bool",
    "double": "float", "std::string": "str", "c10::string_view": "str", "std::string_view": "str", "TensorList": "tuple of Tensors",
    "c10::List<::std::optional<Tensor>>": "tuple of Tensors", "Dimname": "name", "DimnameList": "tuple of names",
    "Generator": "torch.Generator",
    "MemoryFormat": "torch.memory_format", "PyObject*": "object", "ArrayRef<double>": "tuple of floats", "complex": "complex",
    "ArrayRef<Scalar>": "tuple of Scalars", "Storage": "torch.Storage", "Stream": "torch.Stream",
}
ALSO = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}      # NumPy's names
NUMBERS_AS_TENSORS = frozenset("add sub subtract mul multiply div divide true_divide floor_divide copy".split())       # and in place
NO_RESULT = frozenset((np.ndarray, np.float32, np.float64, np.complex128, np.bool_, type(NotImplemented)))     # a formula's, not a user's
# Where NumPy takes what PyTorch refuses, a call is parsed at once; none of these is called often enough to notice.
STRICT = frozenset((
    "addcdiv addcmul arange argmax argmin as_tensor clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone cross fill_ "
    "flip full full_like hstack index_put index_put_ is_nonzero isin linspace logspace max median min nan_to_num nan_to_num_ new_full "
    "nonzero normal repeat scalar_tensor std tensor_split tile to unique unsafe_chunk var vstack where").split())
FLAGS = ("keepdim", "descending", "largest")        # a number in one's place is parsed at once, too
HAS_FLAG, TAKES_TENSOR = re.compile(f"bool ({'|'.join(FLAGS)})"), re.compile(r"function\|\w+\(Tensor input")
# "Tensor" and "torch.Generator": filled by `install`, since their modules stand below.
kinds: dict[str, Any] = {}


class Parameter:
    """One parameter of a signature: ``IntArrayRef[1]? dim=None``."""

    def __init__(self, text: str, keyword_only: bool, numbers: bool) -> None:
        type_text, _, name = text.rpartition(" ")
        self.name, _, self.default = name.partition("=")
        self.optional, self.keyword_only = "=" in name, keyword_only
        self.allow_none = "?" in type_text.replace("optional", "") or self.default == "None"
        size = re.search(r"\[(\d+)\]", type_text)
        self.one_will_do = bool(size)
        self.type = NAMES[re.sub(r"\?|\[\d+\]", "", type_text)]
        self.symbolic = type_text.startswith("Sym")
        self.numbers = numbers

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + (f" = {self.default}" if self.optional else "")

    def find(self, kwargs: dict[str, Any]) -> str | None:
        """The name under which it was given."""
        return next((name for name in (self.name, *ALSO.get(self.name, ())) if name in kwargs), None)

    def fits(self, value: Any, position: int) -> bool:
        """Whether the parser takes the value."""
        if self.type == "tuple of Tensors":
            if not isinstance(value, (tuple, list)):
                return False
            for i, item in enumerate(value):
                if not isinstance(item, kinds["Tensor"]):
                    raise TypeError(f"expected Tensor as element {i} in argument {position}, but got {typename(item)}")
            return True
        if self.type == "Tensor" and self.numbers and is_number(value):
            return True
        if self.type == "tuple of ints":
            if not isinstance(value, (tuple, list)):
                return self.one_will_do and is_int(value)
            return not value or is_index(value[0])
        if self.type == "tuple of floats":
            return isinstance(value, (tuple, list)) and (not value or is_number(value[0]))
        if self.type == "torch.device":
            return isinstance(value, (str, dtypes.device)) or is_int(value)
        if self.type == "torch.dtype":
            return isinstance(value, dtypes.dtype) or any(value is t for t in (float, int, bool))     # == would ask an array
        simple: dict[str, Callable[[Any], bool]] = {
            "Number": is_number, "float": is_real, "int": is_int, "bool": lambda v: isinstance(v, bool),
            "str": lambda v: isinstance(v, str), "name": lambda v: isinstance(v, str), "object": lambda v: True}
        if self.type in simple:
            return simple[self.type](value)
        return self.type in kinds and isinstance(value, kinds[self.type])


class Signature:
    """One way to call a function: ``sum(Tensor input, *, ScalarType? dtype=None)``."""

    def __init__(self, text: str) -> None:
        self.text, self.hidden = text, text.endswith("|deprecated")
        self.name, _, inner = text.removesuffix("|deprecated").removesuffix(")").partition("(")
        parts = [part for part in re.split(r", (?![^<]*>)", inner) if part]
        star = parts.index("*") if "*" in parts else len(parts)
        numbers = self.name.rstrip("_") in NUMBERS_AS_TENSORS
        self.params = [Parameter(part, i > star, numbers) for i, part in enumerate(parts) if part != "*"]
        self.positional, self.least = star, sum(not p.optional for p in self.params)
        self.printed = ", ".join([*map(str, self.params[:star]), *(["*"] if "*" in parts else []), *map(str, self.params[star:])])

    def problem(self, args: tuple, kwargs: dict[str, Any]) -> str | None:
        """What is wrong with a call; None if it fits."""
        varargs = self.positional == 1 and self.params[0].type == "tuple of ints" and bool(args) and is_index(args[0])
        if len(args) > self.positional and not varargs:
            return self._too_many(args)
        place, used = 0, set()
        for param in self.params:
            key = None
            if place < len(args):
                if param.keyword_only:
                    return self._too_many(args)
                value = args[place]
            else:
                key = param.find(kwargs)
                if key is None:
                    if param.optional:
                        continue
                    missing = [f'"{p.name}"' for p in self.params[self.params.index(param):] if not p.optional]
                    return (f"{self.name}() missing {len(missing)} required positional argument{'s' if len(missing) == 1 else ''}: "
                            f"{', '.join(missing)}")
                value = kwargs[key]
            if not (value is None and param.allow_none or param.fits(value, place)):
                if varargs and place == 0:
                    place = len(args)
                    continue
                return self._misfit(param, value, place if key is None else None)
            if key is None:
                place += 1
            else:
                used.add(key)
        if kwargs.keys() - used:        # the first that is wrong by PyTorch's own names is told
            names = [p.name for p in self.params]
            key = next((key for key in kwargs if key not in names or names.index(key) < len(args)), next(iter(kwargs)))
            return (f"{self.name}() got multiple values for argument '{key}'" if key in names else
                    f"{self.name}() got an unexpected keyword argument '{key}'")
        return None

    def _too_many(self, args: tuple) -> str:
        most, least = self.positional, self.least
        counts = f"from {least} to {most} positional arguments" if least != most else f"{most} positional argument{'s' * (most != 1)}"
        return f"{self.name}() takes {counts} but {len(args)} {'was' if len(args) == 1 else 'were'} given"

    def _misfit(self, param: Parameter, value: Any, place: int | None) -> str:
        where = "" if place is None else f" (position {place + 1})"
        text = f"{self.name}(): argument '{param.name}'{where} must be {param.type}, "
        if place is not None and param.symbolic and param.type == "tuple of ints" and isinstance(value, (tuple, list)):
            return f"{text}but found element of type {typename(value[0])} at pos 0"
        return f"{text}not {typename(value)}"

    def overflow(self, args: tuple, kwargs: dict[str, Any]) -> Exception | None:
        """The error for what fits by its type, but is no list of whole numbers of 64 bits."""
        given = {**{p.name: value for p, value in zip(self.params, args, strict=False)}, **kwargs}
        if self.positional == 1 and args and not isinstance(args[0], (tuple, list)):
            given[self.params[0].name] = args
        for param in self.params:
            value = given.get(param.name)
            if param.type == "tuple of ints" and isinstance(value, (tuple, list)):
                for i, item in enumerate(value):
                    if not is_index(item):
                        return TypeError(f"{self.name}(): argument '{param.name}' failed to unpack the object at pos {i + 1} with error "
                                         f"\"type must be {param.type},but got {typename(item)}\"")
            elif param.type in ("int", "tuple of ints") and isinstance(value, int) and not -2**63 <= value < 2**63:
                return ValueError("Overflow when unpacking long long")
        return None

    def mismatch(self, args: tuple, kwargs: dict[str, Any]) -> str:
        """The line about this signature under an error that lists several."""
        names, types = [], []
        for part in self.printed.split(", "):       # read as PyTorch reads its own text: a default hides the type
            kind, _, name = part.rpartition(" ")
            names.append(name)
            types.append(kind)
        if len(names) != len(args) + len(kwargs):
            return ""
        unmatched = [key for key in kwargs if key not in names[len(names) - len(kwargs):]]
        if unmatched:
            return f"      didn't match because some of the keywords were incorrect: {', '.join(unmatched)}\n"
        given = [*zip(types, args), *((kind, kwargs[name]) for kind, name in list(zip(types, names))[len(args):])]
        told = []
        for i, (kind, value) in enumerate(given):
            matches = typename(value) in {"float": ("float", "int")}.get(kind, (kind,))
            text = (f"{names[i]}=" if i >= len(args) else "") + described(value)
            told.append(text if matches else f"!{text}!")
        return f"      didn't match because some of the arguments have invalid types: ({', '.join(told)})\n"


def is_int(value: Any) -> bool:
    if isinstance(value, kinds["Tensor"]):
        return value.array.dtype.kind in "iu" and value.array.ndim == 0
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_index(value: Any) -> bool:
    if isinstance(value, kinds["Tensor"]):
        return value.array.dtype.kind in "iub" and value.array.size == 1
    return hasattr(value, "__index__") and not isinstance(value, (bool, type))


def is_real(value: Any) -> bool:
    if isinstance(value, kinds["Tensor"]):
        return value.array.ndim == 0 and not value.requires_grad
    return isinstance(value, (int, float, np.number, np.bool_))


def is_number(value: Any) -> bool:
    return is_real(value) or isinstance(value, complex)


def typename(value: Any) -> str:
    """A type as C calls it: classes written in Python by name, others with their module."""
    cls = type(value)
    if isinstance(value, type) and issubclass(value, kinds["Tensor"]):
        return "torch._C._TensorMeta"
    if cls.__module__.startswith("minigrad"):
        return {"dtype": "torch.dtype", "layout": "torch.layout", "device": "torch.device", "Size": "torch.Size",
                "Generator": "torch._C.Generator"}.get(cls.__name__, cls.__name__)
    return reasons.type_name(value)


def described(value: Any) -> str:
    """A type with the types of its elements."""
    if not isinstance(value, (tuple, list)):
        return typename(value)
    inner = ", ".join(map(typename, value))
    return f"tuple of ({inner}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"list of [{inner}]"


@functools.cache
def table() -> dict[str, str]:
    """By a function's full name: its kind and its signatures, in one text with bars between them."""
    with open(os.path.join(os.path.dirname(__file__), "signatures.txt"), encoding="utf-8") as file:     # pathlib costs an import
        return dict(line.rstrip("\n").split("|", 1) for line in file)


@functools.cache
def signatures_of(full_name: str) -> tuple[str, list[Signature]]:
    """A function's kind, and its signatures."""
    kind, *texts = re.split(r"\|(?!deprecated)", table().get(full_name, ""))
    return kind, [Signature(text) for text in texts]


def refusal(full_name: str, args: tuple, kwargs: dict[str, Any]) -> Exception | None:
    """PyTorch's error for a call whose arguments do not fit; None if they do, or if PyTorch has no signature of it."""
    kind, signatures = signatures_of(full_name)
    if not signatures:
        return None
    name = signatures[0].name
    if kind == "tensors":           # any number of them, or a list of them
        items = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        bad = next((i for i, item in enumerate(items) if not isinstance(item, kinds["Tensor"])), None)
        return None if bad is None else TypeError(f"expected Tensor as element {bad} in argument 0, but got {typename(items[bad])}")
    if kind == "functionbare":
        return TypeError(f"torch.{name}() takes no arguments ({len(args)} given)") if args else None
    if kind == "innermethod":
        args = args[1:]
    if kind.startswith("inner"):
        params = signatures[0].params
        args, kwargs = args[:len(params)], {key: value for key, value in kwargs.items() if any(p.name == key for p in params)}
    if kind.startswith("method"):
        if not args:
            return TypeError(f"unbound method TensorBase.{name}() needs an argument")
        if not isinstance(args[0], kinds["Tensor"]):
            return TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{typename(args[0])}' object")
        args = args[1:]
        if kind == "methodbare" and (args or kwargs):
            return TypeError(f"TensorBase.{name}() takes no " + ("keyword arguments" if kwargs else f"arguments ({len(args)} given)"))
    try:
        problems = [signature.problem(args, kwargs) for signature in signatures]
    except TypeError as error:      # an element of a list of tensors that is none
        return error
    said = [problem for problem in problems if problem is not None]
    if len(said) < len(problems):
        return signatures[problems.index(None)].overflow(args, kwargs)
    if kind.startswith("inner"):       # a function written in Python, which hands its arguments on: only what these are is told there
        return TypeError(said[0]) if " must be " in said[0] else None
    shown = [signature for signature in signatures if not signature.hidden]
    plausible = [s for s in shown if s.least <= len(args) + len(kwargs) <= len(s.params)]
    if len(signatures) == 1 or len(plausible) == 1:
        return TypeError(said[signatures.index((plausible or shown)[0])])
    return TypeError(several(name, shown, args, dict(reversed(kwargs.items()))))        # PyTorch's map of names puts the last first


def by_old_signature(full_name: str, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by name of a call in an order that PyTorch still takes, with a warning: ``w.add_(-0.1, grad)``."""
    _, signatures = signatures_of(full_name)
    args = args[full_name.startswith("Tensor."):]
    fits = next((signature for signature in signatures if signature.problem(args, kwargs) is None), None)
    if fits is None or not fits.hidden:
        return None
    others = "".join(f"\n\t{fits.name}({signature.printed})" for signature in signatures if not signature.hidden)
    reasons.warn_once(f"This overload of {fits.name} is deprecated:\n\t{fits.name}({fits.printed})\nConsider using one of the following "
                      f"signatures instead:{others}", stacklevel=4, key="overload")
    return {**{param.name: value for param, value in zip(fits.params, args)}, **kwargs}


def several(name: str, signatures: list[Signature], args: tuple, kwargs: dict[str, Any]) -> str:
    """The text that lists every way to call a function."""
    given = ", ".join(map(typename, args)) + (", " if args and kwargs else "") + ", ".join(f"{k}={typename(v)}" for k, v in kwargs.items())
    got = f"got ({given}{', ' * (bool(kwargs) and not args)})"
    text = f"{name}() received an invalid combination of arguments - "
    if len(signatures) > 1:
        lines = "".join(f" * ({s.printed})\n{s.mismatch(args, kwargs)}" for s in signatures)
        return f"{text}{got}, but expected one of:\n{lines}"
    said = signatures[0].mismatch(args, kwargs)
    if kwargs and "keywords" not in said:
        names = [part.rpartition(" ")[2] for part in signatures[0].printed.split(", ")]
        unmatched = [key for key in kwargs if key not in names[max(len(names) - len(kwargs), 0):]]
        if unmatched:
            return f"{text}got unrecognized keyword arguments: {', '.join(unmatched)}"
    if "keywords" in said:
        return f"{text}got unrecognized keyword arguments: {said.strip().rpartition(': ')[2]}"
    if said:
        got = f"got {said.strip().rpartition('types: ')[2]}"
    return f"{text}{got}, but expected ({signatures[0].printed})"


def explained(function: Callable, full_name: str, signatures: str) -> Callable:
    """The function, whose failed calls say what PyTorch says; it takes ``axis``, ``keepdims`` and ``out`` where PyTorch's does."""
    rename, takes_out = " dim" in signatures, " Tensor out=" in signatures
    strict, has_flag = full_name.removeprefix("Tensor.") in STRICT, HAS_FLAG.search(signatures)
    numbers = (int, float, bool) if TAKES_TENSOR.match(signatures) else ()      # to be refused as the first argument
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = kwargs
        if rename and kwargs:
            given = {{"axis": "dim", "keepdims": "keepdim"}.get(key, key): value for key, value in kwargs.items()}
        if strict or args and args[0].__class__ in numbers or has_flag and (kwargs or len(args) > 2) and any(
                value.__class__ is not bool for value in (*args[2:], *(kwargs[flag] for flag in FLAGS if flag in kwargs))):
            problem = refusal(full_name, args, kwargs)
            if problem is not None:
                raise problem
        try:
            if takes_out and given.get("out") is not None:
                return write_out(full_name, function, args, **given)
            result = function(*args, **given)
        except Exception as error:
            if "|deprecated" in signatures and (renamed := by_old_signature(full_name, args, kwargs)) is not None:
                return function(*args[:full_name.startswith("Tensor.")], **renamed)
            problem = refusal(full_name, args, kwargs) or translated(error, (*args, *given.values()))
            if problem is None:
                raise
            raise problem.with_traceback(error.__traceback__) from None
        if result.__class__ in NO_RESULT:
            problem = refusal(full_name, args, kwargs)
            if problem is not None:
                raise problem
        return result
    return call


def dressed(function: Callable, full_name: str) -> Callable:
    """`explained`, if PyTorch has a signature of it."""
    return explained(function, full_name, table()[full_name]) if full_name in table() else function


def translated(error: Exception, args: tuple) -> RuntimeError | None:
    """PyTorch's words for what NumPy says: of shapes that do not broadcast, and of arrays that are too large."""
    if isinstance(error, MemoryError):
        return reasons.too_large(error)
    if isinstance(error, ValueError) and re.search("array is too big|Maximum allowed (size|dimension)", str(error)):
        sizes = args[0] if args and isinstance(args[0], (tuple, list)) else [x for x in args if isinstance(x, int)]
        return RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
    if isinstance(error, ValueError) and re.search("could not (be )?broadcast", str(error)):
        text = reasons.sizes_differ(*(x.array.shape for x in args if isinstance(x, kinds["Tensor"])))
        return RuntimeError(text) if text else None
    return None


def install(spaces: dict[str, Any], classes: dict[str, type]) -> None:
    """Put `explained` around all that PyTorch has a signature of: in modules and classes, by the beginning of the full name."""
    kinds.update(classes)
    for full_name, signatures in table().items():
        space, _, name = full_name.rpartition(".")
        function = vars(spaces[space]).get(name)
        if callable(function):
            if "<" in getattr(function, "__qualname__", ""):
                function.__qualname__ = name        # Python's own texts say it
            setattr(spaces[space], name, explained(function, full_name, signatures))
