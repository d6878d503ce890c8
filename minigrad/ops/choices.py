"""Choices by mask or bound, comparisons, and operations on bits."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..dtype import refuse, scalar_type
from ..function import Operand, op, shape_error
from ..inplace import is_expanded
from ..reasons import check, sizes_differ, warn_once
from ..strides import arranged
from ..tensor import Tensor, wrap


def zeros_of(x: Any) -> Any:
    """Zeros in the shape and type of an array or tensor."""
    return wrap(np.zeros_like(x.array)) if isinstance(x, Tensor) else np.zeros_like(x)


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which shapes broadcast."""
    problem = sizes_differ(*shapes)
    check(not problem, problem)
    return np.broadcast_shapes(*shapes)


# Choices -------------------------------------------------------------------------------------------------------------------

@op(self=lambda grad, condition: where(condition, grad, 0), other=lambda grad, condition: where(condition, 0, grad))
def _where(condition: Tensor, self, other):
    self, other = dtypes.promote(self, other, fitting=True)
    return arranged(np.where(condition, self, other), condition, self, other)


def positions(x: Tensor) -> tuple[Tensor, ...]:
    """Where a tensor is not zero, dimension by dimension; one of no dimension counts as a vector."""
    return tuple(wrap(np.ascontiguousarray(i, np.int64)) for i in np.nonzero(np.atleast_1d(x.array)))


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition holds, else ``other``; a slope of the side not taken that is infinite still makes NaN."""
    if input is None and other is None:
        return positions(condition)
    if isinstance(condition, Tensor) and condition.array.dtype == np.uint8:
        warn_once("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of "
                          "PyTorch. Use a boolean condition instead.")
        condition = wrap(condition.array != 0)
    array = condition.array if isinstance(condition, Tensor) else condition
    if isinstance(array, np.ndarray) and array.dtype.kind != "b":       # of an array: what a hook on saved tensors made of it
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {scalar_type(array)}")
    if not isinstance(condition, Tensor) and (isinstance(input, Tensor) or isinstance(other, Tensor)):
        condition = wrap(np.asarray(condition))
    return _where(condition, input, other)


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Its elements where the condition holds, else those of `other`."""
    return where(condition, self, other)


Tensor.where = _where_method


def one_number(value: Any, target: np.ndarray, name: str) -> np.ndarray:
    """The number, or 0-d array, that an operation writes everywhere, in the target's type."""
    if np.ndim(value):
        raise RuntimeError(f"{name} only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).")
    return dtypes.number_in(value, target.dtype)


def check_mask(mask: np.ndarray) -> None:
    """Refuse to fill where something else than a mask says."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype " + dtypes.of_numpy[mask.dtype].cpp_name)


def warn_of_expanded(target: np.ndarray, name: str, example: str = "mask] = scalar") -> None:
    """PyTorch still writes where one place in memory stands for several elements, by old operations."""
    if is_expanded(target):
        warnings.warn(f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
                      f"This also applies to advanced indexing e.g. tensor[{example}", stacklevel=5)


def _mask_fits(target: np.ndarray, mask: np.ndarray, value: Any) -> None:
    """In place PyTorch names the target's size first, else the mask's."""
    warn_of_expanded(target, "masked_fill_")
    if sizes_differ(target.shape, mask.shape):
        raise shape_error(target, mask)


@op(node="MaskedFillBackward1", inplace="overlapping", check_target=_mask_fits, scalar="MaskedFillBackward0",
    self=lambda grad, mask: masked_fill(grad, mask, 0), value=lambda grad, mask: where(mask, grad, 0))
def masked_fill(self, mask: Tensor, value):
    """`input` with `value` where the mask holds."""
    value = one_number(value, self, "masked_fill_")
    check_mask(mask)
    try:
        return np.array(np.where(mask, value, self), order="C")
    except ValueError:
        raise shape_error(mask, self) from None


def _bounds_fit(target: np.ndarray, *bounds: Any) -> None:
    """The one place where PyTorch's text of a lossy cast has C++'s name of the type."""
    given = [x for x in bounds if x is not None]
    common = dtypes.result_type(target, *given)
    if not any(isinstance(x, np.ndarray) for x in given) and "biuf".index(common.kind) > "biuf".index(target.dtype.kind):
        raise RuntimeError(f"result type {dtypes.of_numpy[common].scalar_type} can't be cast to the desired output type "
                           f"{dtypes.of_numpy[target.dtype].cpp_name}")


@op(node="ClampBackward1", tex=r"\operatorname{{clamp}}({self}, {min}, {max})", inplace=True, check_target=_bounds_fit,
    self=lambda grad, self, min, max: where(_inside(self, min, max), grad, 0))
def _clamp_numbers(self, min, max):
    return _clipped(self, min, max)


@op(node="ClampBackward0", inplace=True, tex=r"\operatorname{{clamp}}({self}, {min}, {max})",
    self=lambda grad, self, min, max: where(_inside(self, min, max), grad, 0),
    min=lambda grad, self, min, max: where(self < min if max is None else logical_and(min < max, self < min), grad, 0),
    max=lambda grad, self, min, max: where(self > max if min is None else logical_or(self > max, max < min), grad, 0))
def _clamp_tensors(self, min, max):
    return _clipped(self, min, max)


def _clipped(self, low, high):
    bounds = [x for x in (low, high) if x is not None]
    check(bounds, "torch.clamp: At least one of 'min' or 'max' must not be None")
    x, *bounds = dtypes.promote(self, *bounds, fitting=True)
    out = np.maximum(bounds[0], x) if low is not None else x        # of 0.0 and -0.0, NumPy keeps the second
    return arranged(np.minimum(bounds[-1], out) if high is not None else out, self, *bounds)


def _inside(self: Any, low: Any, high: Any) -> Any:
    inside = self == self if low is None else self >= low
    return inside if high is None else logical_and(inside, self <= high)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Limited to [min, max], numbers or tensors; inside, the bounds included, the slope is 1."""
    return (_clamp_tensors if isinstance(min, Tensor) or isinstance(max, Tensor) else _clamp_numbers)(input, min, max)


def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`clamp` in place."""
    tensors = isinstance(min, Tensor) or isinstance(max, Tensor)
    return (self._clamp_tensors_ if tensors else self._clamp_numbers_)(min, max)


clip, clip_ = clamp, clamp_


@op(node="ClampMinBackward1", tex=r"\max({self}, {min})", inplace=True, check_target=_bounds_fit,
    scalar="ClampMinBackward0", self=lambda grad, self, min: where(self >= min, grad, 0),
    min=lambda grad, self, min: where(self < min, grad, 0))
def clamp_min(self, min):
    """Limited from below."""
    return _clipped(self, min, None)


@op(node="ClampMaxBackward1", tex=r"\min({self}, {max})", inplace=True, check_target=_bounds_fit,
    scalar="ClampMaxBackward0", self=lambda grad, self, max: where(self <= max, grad, 0),
    max=lambda grad, self, max: where(self > max, grad, 0))
def clamp_max(self, max):
    """Limited from above."""
    return _clipped(self, None, max)


# Comparisons and bits ------------------------------------------------------------------------------------------------------

def _comparison(name: str, kernel: np.ufunc, symbol: str) -> Callable:
    def compare(self: Tensor, other: Operand):
        return kernel(self, other)
    compare.__name__, compare.__doc__ = name, f"``self {symbol} other``, elementwise, as bool; never recorded."
    return op(f"__{name}__", kernel.__name__, promote="same", tex=f"{{self}} {symbol} {{other}}")(compare)


eq, ne = _comparison("eq", np.equal, "="), _comparison("ne", np.not_equal, r"\neq")
lt, le = _comparison("lt", np.less, "<"), _comparison("le", np.less_equal, r"\leq")
gt, ge = _comparison("gt", np.greater, ">"), _comparison("ge", np.greater_equal, r"\geq")
_equal = Tensor.__eq__
Tensor.__eq__ = lambda self, other: _equal(self, wrap(other) if isinstance(other, np.ndarray) and other.dtype in dtypes.of_numpy else other)


def _bool_valued(name: str, kernel: np.ufunc, doc: str, inplace: bool = False) -> Callable:
    if kernel.nin == 1:
        def function(self: Tensor):
            return kernel(self)
    else:
        def function(self: Tensor, other: Tensor):
            return kernel(self, other)
    function.__name__, function.__doc__ = name, f"{doc}, elementwise, as bool; never recorded."
    return op(inplace=inplace, promote="same" if kernel.nin == 2 else None)(function)


logical_and = _bool_valued("logical_and", np.logical_and, "Both nonzero", inplace=True)
logical_or = _bool_valued("logical_or", np.logical_or, "Either nonzero", inplace=True)
logical_xor = _bool_valued("logical_xor", np.logical_xor, "Exactly one nonzero", inplace=True)
logical_not = _bool_valued("logical_not", np.logical_not, "Zero", inplace=True)
isnan = _bool_valued("isnan", np.isnan, "Not a number")
isinf = _bool_valued("isinf", np.isinf, "Infinite")
isfinite = _bool_valued("isfinite", np.isfinite, "Neither infinite nor NaN")
signbit = _bool_valued("signbit", np.signbit, "Whether the sign is minus")


def _bitwise(name: str, kernel: Callable, symbol: str, refused: str, types: str, *dunders: str) -> Callable:
    def function(self: Tensor, other: Operand):
        refuse(self, types, refused)
        return kernel(self, other)
    function.__name__, function.__doc__ = name, f"``self {symbol} other``, elementwise."
    return op(*dunders, promote="same", inplace=True, tex=f"{{self}} {symbol} {{other}}")(function)


bitwise_and = _bitwise("bitwise_and", np.bitwise_and, r"\&", "bitwise_and_cpu", "f", "__and__", "__rand__")
bitwise_or = _bitwise("bitwise_or", np.bitwise_or, "|", "bitwise_or_cpu", "f", "__or__", "__ror__")
bitwise_xor = _bitwise("bitwise_xor", np.bitwise_xor, r"\oplus", "bitwise_xor_cpu", "f", "__xor__", "__rxor__")
bitwise_left_shift = _bitwise("bitwise_left_shift", np.left_shift, r"\ll", "lshift_cpu", "bf", "__lshift__")
bitwise_right_shift = _bitwise("bitwise_right_shift", np.right_shift, r"\gg", "rshift_cpu", "bf", "__rshift__")
Tensor.__rlshift__ = lambda self, other: bitwise_left_shift(other, self)
Tensor.__rrshift__ = lambda self, other: bitwise_right_shift(other, self)


@op(promote="same", inplace=True)
def bitwise_not(self: Tensor):
    """``~self``, elementwise."""
    refuse(self, "f", "bitwise_not_cpu")
    return ~self


def _invert(self: Tensor) -> Any:
    if self.is_floating_point():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


Tensor.__invert__ = _invert
