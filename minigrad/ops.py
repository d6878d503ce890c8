"""The table of operations: every one states its notation, its derivatives and its NumPy kernel, once.

`function` says how a declaration reads. Derivatives are PyTorch's (its derivatives.yaml is the source of what is saved and
of the conventions at ties and kinks). Plain functions below the blocks choose between operations, as PyTorch's do.
"""
from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import dtype as dtypes
from . import reasons
from .engine import sum_to_size as array_sum_to_size
from .function import OPS, check_overlap, op, view_of, watch
from .tensor import Tensor, check_dim, wrap

PUBLIC: dict[str, Callable] = {}      # what `minigrad` exports as functions


def method(*names: str) -> Callable[[Callable], Callable]:
    """Attach a function to Tensor under its own name and the given ones."""
    def attach(function: Callable) -> Callable:
        for name in (function.__name__, *names):
            setattr(Tensor, name, function)
        PUBLIC[function.__name__] = function
        return function
    return attach


def is_tensor(value: Any) -> bool:
    """Whether a value is a Tensor."""
    return isinstance(value, Tensor)


# Elementwise arithmetic ----------------------------------------------------------------------------------------------------

@op("__add__", "__radd__", tex="{self} + {other}", promote="same", inplace=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha)
def add(self, other, alpha=1):
    """Elementwise sum, broadcasting."""
    return self + other if alpha == 1 else self + other * alpha


def _no_bool(self, other):
    if self.dtype == bool and getattr(other, "dtype", None) == bool:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                           "`logical_xor()` operator instead.")


@op("__sub__", tex="{self} - {other}", promote="same", inplace=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)
def sub(self, other, alpha=1):
    """Elementwise difference, broadcasting."""
    _no_bool(self, other)
    return self - other if alpha == 1 else self - other * alpha


@op("__rsub__", tex="{other} - {self}", node="RsubBackward1", promote="same",
    self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)
def rsub(self, other: Tensor, alpha=1):
    """``other - self`` for a number: what ``1 - x`` calls."""
    return other - self if alpha == 1 else other - self * alpha


@op("__mul__", "__rmul__", tex=r"{self} \odot {other}", promote="same", inplace=True,
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self)
def mul(self, other):
    """Elementwise product, broadcasting."""
    return self * other


@op("__truediv__", tex=r"\frac{{{self}}}{{{other}}}", promote="float", inplace=True,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other))
def div(self, other):
    """Elementwise quotient, broadcasting; of integers in the default floating-point type."""
    return self / other


@op("__neg__", tex="-{self}", inplace=True, self=lambda grad: -grad)
def neg(self):
    """Minus, elementwise."""
    if self.dtype == bool:
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                           "use the `~` or `logical_not()` operator instead.")
    return -self


@op(tex=r"\frac{{1}}{{{self}}}", promote="float", inplace=True, self=lambda grad, result: -grad * (result * result))
def reciprocal(self):
    """``1 / self``, elementwise."""
    return 1 / self


def _rtruediv(self: Tensor, other: Any) -> Tensor:
    return reciprocal(self) * other


Tensor.__rtruediv__ = _rtruediv


def _power(base, exponent):
    """PyTorch computes small powers as products, NumPy calls pow: the last bits differ."""
    if isinstance(exponent, (int, float)) and base.dtype.kind == "f":
        if exponent == 2:
            return base * base
        if exponent == 3:
            return base * base * base
        if exponent == 0.5:
            return np.sqrt(base)
        if exponent == -1:
            return 1 / base
        if exponent == -2:
            return 1 / (base * base)
    if base.dtype.kind in "iu" and np.any(np.asarray(exponent) < 0):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return base ** exponent


def zeros_of(x: Any) -> Any:
    """Zeros in the shape and type of an array or tensor."""
    return wrap(np.zeros_like(x.array)) if isinstance(x, Tensor) else np.zeros_like(x)


@op(tex="{self}^{{{exponent}}}", node="PowBackward0", inplace=True,
    self=lambda grad, self, exponent: zeros_of(grad) if exponent == 0 else grad * (exponent * pow(self, exponent - 1)))
def _pow_scalar(self, exponent):
    if self.dtype.kind != "f" and isinstance(exponent, float):
        self = self.astype(dtypes.get_default_dtype().numpy)
    return _power(self, exponent)


@op(tex="{self}^{{{exponent}}}", node="PowBackward1", promote="same", inplace=True,
    self=lambda grad, self, exponent: where(exponent == 0, 0.0, grad * (exponent * pow(self, exponent - 1))),
    exponent=lambda grad, self, exponent, result:
        grad * where(logical_and(self == 0, exponent >= 0), 0.0, result * log(self)))
def _pow_tensor(self, exponent):
    return _power(self, exponent)


@op(tex="{self}^{{{exponent}}}", node="PowBackward2",
    exponent=lambda grad, self, exponent, result:
        grad * (where(exponent >= 0, 0.0, result * -math.inf) if self == 0 else result * log(exponent * 0 + self)))
def _pow_base(exponent, self):
    base, exponent = dtypes.promote(self, exponent)
    return _power(base, exponent)


@method("__pow__")
def pow(self: Any, exponent: Any) -> Any:
    """``self ** exponent``, elementwise; either may be a Python number."""
    if not isinstance(exponent, (Tensor, np.ndarray, np.generic)):
        return _pow_scalar(self, exponent) if isinstance(exponent, (int, float)) else NotImplemented
    if isinstance(self, (Tensor, np.ndarray, np.generic)):
        return _pow_tensor(self, exponent)
    return _pow_base(exponent, self)


@method("__ipow__")
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """`pow` in place."""
    return self._pow_tensor_(exponent) if isinstance(exponent, Tensor) else self._pow_scalar_(exponent)


Tensor.__rpow__ = lambda self, base: _pow_base(self, base) if isinstance(base, (int, float)) else NotImplemented
Tensor.square = lambda self: pow(self, 2)


@op("__mod__", tex=r"{self} \bmod {other}", promote="same", inplace=True,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * floor(self / other))
def remainder(self, other):
    """The remainder of division, with the sign of the divisor."""
    return np.mod(self, other)


@op("__floordiv__", promote="same", inplace=True)
def floor_divide(self: Tensor, other: Tensor):
    """The quotient rounded down; not differentiable."""
    return np.floor_divide(self, other)


# Elementwise functions -----------------------------------------------------------------------------------------------------

@op(tex=r"e^{{{self}}}", promote="float", inplace=True, self=lambda grad, result: grad * result)
def exp(self):
    """e to the power, elementwise."""
    return np.exp(self)


@op(tex=r"2^{{{self}}}", promote="float", inplace=True, self=lambda grad, result: grad * result * math.log(2))
def exp2(self):
    """2 to the power, elementwise."""
    return np.exp2(self)


@op(tex=r"e^{{{self}}} - 1", promote="float", inplace=True, self=lambda grad, result: grad * (result + 1))
def expm1(self):
    """e to the power, minus 1, accurate near 0."""
    return np.expm1(self)


@op(tex=r"\ln {self}", promote="float", inplace=True, self=lambda grad, self: div(grad, self))
def log(self):
    """Natural logarithm, elementwise."""
    return np.log(self)


@op(tex=r"\log_2 {self}", promote="float", inplace=True, self=lambda grad, self: grad / (self * math.log(2)))
def log2(self):
    """Logarithm to base 2, elementwise."""
    return np.log2(self)


@op(tex=r"\log_{{10}} {self}", promote="float", inplace=True, self=lambda grad, self: grad / (self * math.log(10)))
def log10(self):
    """Logarithm to base 10, elementwise."""
    return np.log10(self)


@op(tex=r"\ln(1 + {self})", promote="float", inplace=True, self=lambda grad, self: grad / (self + 1))
def log1p(self):
    """Natural logarithm of 1 + x, accurate near 0."""
    return np.log1p(self)


@op(tex=r"\sqrt{{{self}}}", promote="float", inplace=True, self=lambda grad, result: grad / (2 * result))
def sqrt(self):
    """Square root, elementwise; the slope at 0 is infinite."""
    return np.sqrt(self)


@op(tex=r"\frac{{1}}{{\sqrt{{{self}}}}}", promote="float", inplace=True, self=lambda grad, result: -0.5 * grad * pow(result, 3))
def rsqrt(self):
    """One over the square root, elementwise."""
    return 1 / np.sqrt(self)


@op(tex=r"\sin {self}", promote="float", inplace=True, self=lambda grad, self: grad * cos(self))
def sin(self):
    """Sine of an angle in radians."""
    return np.sin(self)


@op(tex=r"\cos {self}", promote="float", inplace=True, self=lambda grad, self: grad * -sin(self))
def cos(self):
    """Cosine of an angle in radians."""
    return np.cos(self)


@op(tex=r"\tan {self}", promote="float", inplace=True, self=lambda grad, result: grad * (1 + pow(result, 2)))
def tan(self):
    """Tangent of an angle in radians."""
    return np.tan(self)


@op("arcsin", tex=r"\arcsin {self}", promote="float", inplace=True, self=lambda grad, self: grad * rsqrt(-self * self + 1))
def asin(self):
    """Inverse sine, in radians."""
    return np.arcsin(self)


@op("arccos", tex=r"\arccos {self}", promote="float", inplace=True, self=lambda grad, self: grad * -rsqrt(-self * self + 1))
def acos(self):
    """Inverse cosine, in radians."""
    return np.arccos(self)


@op("arctan", tex=r"\arctan {self}", promote="float", inplace=True, self=lambda grad, self: grad / (self * self + 1))
def atan(self):
    """Inverse tangent, in radians."""
    return np.arctan(self)


@op(tex=r"\sinh {self}", promote="float", inplace=True, self=lambda grad, self: grad * cosh(self))
def sinh(self):
    """Hyperbolic sine, elementwise."""
    return np.sinh(self)


@op(tex=r"\cosh {self}", promote="float", inplace=True, self=lambda grad, self: grad * sinh(self))
def cosh(self):
    """Hyperbolic cosine, elementwise."""
    return np.cosh(self)


@op(tex=r"\tanh({self})", promote="float", inplace=True, self=lambda grad, result: tanh_backward(grad, result))
def tanh(self):
    """Hyperbolic tangent, elementwise."""
    return np.tanh(self)


@op(tex=r"{grad_output} \odot (1 - {output}^2)",
    grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, grad_output, output: grad * (-2 * output * grad_output))
def tanh_backward(grad_output, output):
    """The derivative of tanh in terms of its result, a node of its own in second derivatives."""
    return grad_output * (1 - output * output)


@op(tex=r"\sigma({self})", promote="float", inplace=True, self=lambda grad, result: sigmoid_backward(grad, result))
def sigmoid(self):
    """``1 / (1 + exp(-x))``, elementwise."""
    return 1 / (1 + np.exp(-self))


@op(tex=r"{grad_output} \odot (1 - {output}) \odot {output}",
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output))
def sigmoid_backward(grad_output, output):
    """The derivative of sigmoid in terms of its result."""
    return grad_output * (1 - output) * output


@op(tex=r"\max({self}, 0)", inplace=True, self=lambda grad, result: threshold_backward(grad, result, 0))
def relu(self):
    """The positive part; the slope at 0 is 0."""
    return np.maximum(self, self.dtype.type(0))


@op(tex=r"{grad_output} \odot [{self} > {threshold}]",
    grad_output=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    self=lambda grad: zeros_of(grad))
def threshold_backward(grad_output, self, threshold):
    """A gradient where the value is above a threshold, else 0 (not ``0 * grad``: that would make NaN of infinity)."""
    return np.where(self > threshold, grad_output, grad_output.dtype.type(0))


@op("absolute", "__abs__", tex=r"|{self}|", inplace=True, self=lambda grad, self: grad * sgn(self))
def abs(self):
    """Absolute value; the slope at 0 is 0."""
    return np.abs(self)


@op(inplace=True, tex=r"\operatorname{{sgn}}({self})", self=lambda grad: zeros_of(grad))
def sgn(self):
    """-1, 0 or 1 by sign."""
    return np.sign(self)


@op(inplace=True, tex=r"\operatorname{{sign}}({self})", self=lambda grad: zeros_of(grad))
def sign(self):
    """-1, 0 or 1 by sign."""
    return np.sign(self)


@op(inplace=True, tex=r"\lfloor {self} \rfloor", self=lambda grad: zeros_of(grad))
def floor(self):
    """The largest integer not above."""
    return np.floor(self)


@op(inplace=True, tex=r"\lceil {self} \rceil", self=lambda grad: zeros_of(grad))
def ceil(self):
    """The smallest integer not below."""
    return np.ceil(self)


@op(inplace=True, tex=r"\operatorname{{round}}({self})", self=lambda grad: zeros_of(grad))
def round(self):
    """The nearest integer, halves to even."""
    return np.round(self)


@op(inplace=True, tex=r"\operatorname{{trunc}}({self})", self=lambda grad: zeros_of(grad))
def trunc(self):
    """The integer part."""
    return np.trunc(self)


@op(tex=r"\max({self}, {other})", promote="same",
    self=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self < other, 0),
    other=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self > other, 0))
def maximum(self, other):
    """The larger one, elementwise; at a tie each gets half of the gradient."""
    return np.maximum(self, other)


@op(tex=r"\min({self}, {other})", promote="same",
    self=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self > other, 0),
    other=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self < other, 0))
def minimum(self, other):
    """The smaller one, elementwise; at a tie each gets half of the gradient."""
    return np.minimum(self, other)


@op(node="WhereBackward0", tex=r"\operatorname{{where}}({condition}, {self}, {other})",
    self=lambda grad, condition: where(condition, grad, 0),
    other=lambda grad, condition: where(condition, 0, grad))
def _where(condition: Tensor, self, other):
    self, other = dtypes.promote(self, other)
    return np.where(condition, self, other)


def where(condition: Any, self: Any = None, other: Any = None) -> Any:
    """``self`` where the condition holds, else ``other``; the side not taken still passes 0 * its slope on, which may be NaN."""
    if self is None and other is None:
        return tuple(wrap(i) for i in np.nonzero(condition.array))
    if not isinstance(condition, Tensor) and (is_tensor(self) or is_tensor(other)):
        condition = wrap(np.asarray(condition))
    return _where(condition, self, other)


Tensor.where = lambda self, condition, other: where(condition, self, other)


@op(node="MaskedFillBackward0", inplace=True, tex=r"\operatorname{{masked\_fill}}({self})",
    self=lambda grad, mask: masked_fill(grad, mask, 0),
    value=lambda grad, mask: sum(where(mask, grad, 0)))
def masked_fill(self, mask: Tensor, value):
    """`self` with `value` where the mask holds."""
    return np.where(mask, np.asarray(value, self.dtype), self)


@op(node="ClampBackward1", inplace=True, tex=r"\operatorname{{clamp}}({self})",
    self=lambda grad, self, min, max: where(_inside(self, min, max), grad, 0))
def clamp(self, min=None, max=None):
    """Limited to [min, max]; inside, the bounds included, the slope is 1."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if self.dtype.kind != "f" and isinstance(min if min is not None else max, float):
        self = self.astype(dtypes.get_default_dtype().numpy)
    return np.clip(self, min, max).astype(self.dtype)


def _inside(self: Any, low: Any, high: Any) -> Any:
    inside = self == self if low is None else self >= low
    return inside if high is None else logical_and(inside, self <= high)


def clamp_min(self: Tensor, min: float) -> Tensor:
    """Limited from below."""
    return clamp(self, min)


def _comparison(name: str, dunder: str, kernel: Callable, symbol: str) -> Callable:
    def compare(self: Tensor, other: Tensor):
        return kernel(self, other)
    compare.__name__, compare.__doc__ = name, f"``self {symbol} other``, elementwise, as bool; never recorded."
    return op(dunder, promote="same", tex=f"{{self}} {symbol} {{other}}")(compare)


eq, ne = _comparison("eq", "__eq__", np.equal, "="), _comparison("ne", "__ne__", np.not_equal, r"\neq")
lt, le = _comparison("lt", "__lt__", np.less, "<"), _comparison("le", "__le__", np.less_equal, r"\leq")
gt, ge = _comparison("gt", "__gt__", np.greater, ">"), _comparison("ge", "__ge__", np.greater_equal, r"\geq")
Tensor.__hash__ = object.__hash__


@op()
def logical_and(self: Tensor, other: Tensor):
    """Both nonzero, elementwise, as bool."""
    return np.logical_and(self, other)


@op()
def logical_or(self: Tensor, other: Tensor):
    """Either nonzero, elementwise, as bool."""
    return np.logical_or(self, other)


@op()
def logical_xor(self: Tensor, other: Tensor):
    """Exactly one nonzero, elementwise, as bool."""
    return np.logical_xor(self, other)


@op()
def logical_not(self: Tensor):
    """Zero, elementwise, as bool."""
    return np.logical_not(self)


@op("__and__", promote="same", inplace=True)
def bitwise_and(self: Tensor, other: Tensor):
    """``self & other``, elementwise."""
    return self & other


@op("__or__", promote="same", inplace=True)
def bitwise_or(self: Tensor, other: Tensor):
    """``self | other``, elementwise."""
    return self | other


@op("__xor__", promote="same", inplace=True)
def bitwise_xor(self: Tensor, other: Tensor):
    """``self ^ other``, elementwise."""
    return self ^ other


@op("__invert__", inplace=True)
def bitwise_not(self: Tensor):
    """``~self``, elementwise."""
    return ~self


@op()
def isnan(self: Tensor):
    """Which elements are not a number."""
    return np.isnan(self)


@op()
def isinf(self: Tensor):
    """Which elements are infinite."""
    return np.isinf(self)


@op()
def isfinite(self: Tensor):
    """Which elements are neither infinite nor NaN."""
    return np.isfinite(self)


# Copies and casts ----------------------------------------------------------------------------------------------------------

@op(tex="{self}", self=lambda grad: grad)
def clone(self, memory_format=None):
    """A copy in memory of its own, still part of the graph."""
    return self.copy(order="K")


@op(node="ToCopyBackward0", self=lambda grad: grad)
def _cast(self, dtype):
    return self.astype(dtype)


@op()
def _cast_whole(self: Tensor, dtype):
    return self.astype(dtype)


@op()
def detach(self: Tensor):
    raise NotImplementedError    # replaced below: a detached tensor shares the storage


def _detach(self: Tensor) -> Tensor:
    """The same memory, with no history: a leaf with requires_grad False that shares storage and version."""
    result = wrap(self.array, self._storage)
    result._inference = self._inference
    if watch.callback is not None:
        watch.callback(OPS["detach"], (self,), (result,), False)
    return result


detach = Tensor.detach = _detach


@method()
def to(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False, non_blocking: bool = False) -> Tensor:
    """Cast to a dtype (or to that of another tensor); the tensor itself if it has it already."""
    for a in args:
        if isinstance(a, Tensor):
            dtype = a.dtype
        elif isinstance(a, (str, dtypes.device)):
            device = a
        elif isinstance(a, dtypes.dtype):
            dtype = a
    dtypes.device(device or "cpu")
    wanted = self.array.dtype if dtype is None else dtypes.to_numpy(dtype)
    if wanted == self.array.dtype and not copy:
        return self
    return _cast(self, wanted) if wanted.kind == "f" else _cast_whole(self, wanted)     # no gradient flows through integers


def _caster(d: dtypes.dtype) -> Callable:
    def cast(self: Tensor) -> Tensor:
        return self.to(d)
    cast.__doc__ = f"Cast to {d!r}; the tensor itself if it is one."
    return cast


for _name, _dtype in {**dtypes.ALIASES}.items():
    setattr(Tensor, _name, _caster(_dtype))
Tensor.type_as = lambda self, other: self.to(other.dtype)
Tensor.cpu = lambda self: self


@method()
def contiguous(self: Tensor) -> Tensor:
    """The tensor itself if its elements lie in row-major order, else a copy that does."""
    return self if self.array.flags.c_contiguous else _contiguous(self)


@op(node="CloneBackward0", self=lambda grad: grad)
def _contiguous(self):
    return self.copy(order="C")


# Writing -------------------------------------------------------------------------------------------------------------------

@op(node="ZeroBackward0", inplace=True, self=lambda grad: zeros_of(grad))
def _zero(self):
    return np.zeros_like(self)


Tensor.zero_ = Tensor._zero_


@op(node="FillBackward2", inplace=True, self=lambda grad: zeros_of(grad))
def _fill(self, value):
    return np.full_like(self, value)


@op(node="FillBackward3", inplace=True, self=lambda grad: zeros_of(grad), value=lambda grad: grad)
def _fill_tensor(self, value):
    return np.full_like(self, value)


@method()
def fill_(self: Tensor, value: Any) -> Tensor:
    """Set all elements to a number or a 0-d tensor."""
    return self._fill_tensor_(value) if isinstance(value, Tensor) else self._fill_(value)


@op(node="CopyBackwards", inplace=True, self=lambda grad: zeros_of(grad), src=lambda grad: grad)
def _copy(self, src, non_blocking=False):
    if src.ndim > self.ndim or np.broadcast_shapes(src.shape, self.shape) != self.shape:
        i = next((i for i in range(1, builtins.min(src.ndim, self.ndim) + 1) if src.shape[-i] not in (1, self.shape[-i])), None)
        if i is None:
            raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(src.shape)}")
        raise RuntimeError(f"The size of tensor a ({self.shape[-i]}) must match the size of tensor b ({src.shape[-i]}) at "
                           f"non-singleton dimension {self.ndim - i}")
    return np.broadcast_to(src, self.shape).astype(self.dtype)


Tensor.copy_ = Tensor._copy_


# Reductions ----------------------------------------------------------------------------------------------------------------

def dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """A ``dim`` argument as a tuple of dimensions counted from the front; None and () mean all.

    Raises
    ------
    IndexError, RuntimeError
        Out of range, or "dim 0 appears multiple times in the list of dims".
    """
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    dims = [check_dim(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return tuple(dims) if ndim else ()


def spread(grad: Any, sizes: tuple, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduced tensor, repeated over the dimensions that were reduced."""
    if not keepdim:
        for d in sorted(dims_of(dim, len(sizes))):
            grad = unsqueeze(grad, d)
    return expand(grad, sizes)


def count_of(sizes: tuple, dim: Any) -> int:
    """How many elements a reduction takes together."""
    return math.prod(sizes[d] for d in dims_of(dim, len(sizes)))


def _sum_array(array, dim, keepdim):
    dtype = np.int64 if array.dtype.kind in "biu" else None
    return np.add.reduce(array, axis=dims_of(dim, array.ndim), keepdims=keepdim, dtype=dtype)


@op(node="SumBackward0", tex=r"\sum {self}", self=lambda grad, self_sym_sizes: expand(grad, self_sym_sizes))
def _sum_all(self):
    return _sum_array(self, None, False)


@op(node="SumBackward1", tex=r"\sum_{{{dim}}} {self}",
    self=lambda grad, self_sym_sizes, dim, keepdim: spread(grad, self_sym_sizes, dim, keepdim))
def _sum_dim(self, dim, keepdim):
    return _sum_array(self, dim, keepdim)


def _as_dims(dim: Any) -> Any:
    return (dim,) if isinstance(dim, int) else None if dim is None else tuple(dim)


@method()
def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None) -> Any:
    """The sum over all elements, or over the dimensions `dim`."""
    dim = dim if axis is None else axis
    if dtype is not None:
        self = self.to(dtype)
    return _sum_all(self) if dim is None and not keepdim else _sum_dim(self, _as_dims(dim), keepdim)


def _mean_dtype(array):
    if array.dtype.kind != "f":
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
                           f"Got: {dtypes.of_numpy[array.dtype].scalar_type}")


@op(node="MeanBackward0", tex=r"\operatorname{{mean}}({self})",
    self=lambda grad, self_sym_sizes, self_sym_numel: expand(grad, self_sym_sizes) / self_sym_numel)
def _mean_all(self):
    _mean_dtype(self)
    return np.add.reduce(self, axis=None) / self.dtype.type(self.size)


@op(node="MeanBackward1", tex=r"\operatorname{{mean}}_{{{dim}}}({self})", saves=("self_sym_numel",),
    self=lambda grad, self_sym_sizes, dim, keepdim:
        spread(grad, self_sym_sizes, dim, keepdim) / count_of(self_sym_sizes, dim))
def _mean_dim(self, dim, keepdim):
    _mean_dtype(self)
    return _sum_array(self, dim, keepdim) / self.dtype.type(count_of(self.shape, dim))


@method()
def mean(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None) -> Any:
    """The mean over all elements, or over the dimensions `dim`.

    Raises
    ------
    RuntimeError
        On integers: "mean(): could not infer output dtype. …"
    """
    dim = dim if axis is None else axis
    if dtype is not None:
        self = self.to(dtype)
    return _mean_all(self) if dim is None and not keepdim else _mean_dim(self, _as_dims(dim), keepdim)


# Views ---------------------------------------------------------------------------------------------------------------------

def shape_of(sizes: tuple) -> tuple[int, ...]:
    """``(2, 3)`` from ``(2, 3)`` or ``((2, 3),)``."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    return tuple(int(n) for n in sizes)


def infer_size(sizes: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """Replace a -1 by the size that makes the number of elements right.

    Raises
    ------
    RuntimeError
        "shape '[3]' is invalid for input of size 2"
    """
    known = math.prod(n for n in sizes if n != -1)
    wild = sizes.count(-1)
    if wild > 1:
        raise RuntimeError("only one dimension can be inferred")
    for n in sizes:
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {sizes.index(n)} of shape {list(sizes)}")
    if wild and known == 0 and numel == 0:
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified dimension size "
                           "-1 can be any value and is ambiguous")
    if (known != numel) if not wild else (known == 0 or numel % known):
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")
    return tuple(numel // known if n == -1 else n for n in sizes)


def _window_of(array: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray | None:
    """The array in another shape without copying, or None where its strides do not allow that."""
    view = array.view()
    try:
        view.shape = sizes
    except AttributeError:
        return None
    return view


@op(node="ViewBackward0", view=True, tex=r"\operatorname{{view}}({self})",
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
def _view(self, size):
    view = _window_of(self, infer_size(size, self.size))
    if view is None:
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across "
                           "two contiguous subspaces). Use .reshape(...) instead.")
    return view


@method()
def view(self: Tensor, *size: Any) -> Tensor:
    """The same elements, in the same memory, in another shape.

    Raises
    ------
    RuntimeError
        "shape '[3]' is invalid for input of size 2"; "view size is not compatible with input tensor's size and stride …"
    """
    if len(size) == 1 and isinstance(size[0], dtypes.dtype):
        raise RuntimeError("minigrad's view() does not reinterpret memory as another dtype")
    return _view(self, shape_of(size))


@op(node="UnsafeViewBackward0", tex=r"\operatorname{{view}}({self})",
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
def _unsafe_view(self, size):
    return self.reshape(size)


@method()
def reshape(self: Any, *shape: Any) -> Any:
    """The elements in another shape: a view where the strides allow it, else a copy."""
    sizes = shape_of(shape)
    if not isinstance(self, Tensor):
        return self.reshape(sizes)
    sizes = infer_size(sizes, self.array.size)
    if _window_of(self.array, sizes) is not None:
        return _view(self, sizes)
    return _unsafe_view(_contiguous(self), sizes)


Tensor.view_as = lambda self, other: self.view(other.shape)
Tensor.reshape_as = lambda self, other: self.reshape(other.shape)


@method()
def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim` as one; the tensor itself if there is nothing to do."""
    start, end = check_dim(start_dim, self.ndim), check_dim(end_dim, self.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if self.ndim == 0:
        return reshape(self, 1)
    if start == end:
        return self
    shape = tuple(self.shape)
    return reshape(self, shape[:start] + (math.prod(shape[start:end + 1]),) + shape[end + 1:])


Tensor.ravel = lambda self: reshape(contiguous(self), -1)


@method()
def unflatten(self: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    """One dimension as several."""
    dim = check_dim(dim, self.ndim)
    return view(self, tuple(self.shape[:dim]) + infer_size(tuple(sizes), self.shape[dim]) + tuple(self.shape[dim + 1:]))


@op(view=True, tex=r"{self}^\top", self=lambda grad: t(grad))
def t(self):
    """A matrix transposed; a vector or a 0-d tensor as it is. A view."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


@op("swapaxes", "swapdims", view=True, tex=r"{self}^\top", self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))
def transpose(self, dim0, dim1):
    """Two dimensions swapped. A view."""
    dim0, dim1 = check_dim(dim0, self.ndim), check_dim(dim1, self.ndim)
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]


@op(node="PermuteBackward0", view=True, tex=r"\operatorname{{permute}}({self})",
    self=lambda grad, dims: _permute(grad, tuple(int(i) for i in np.argsort([d % len(dims) for d in dims]))))
def _permute(self, dims):
    if len(dims) != self.ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
                           f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(dims)}")
    order = [check_dim(d, self.ndim) for d in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return self.transpose(order)


@method()
def permute(self: Tensor, *dims: Any) -> Tensor:
    """The dimensions in another order. A view."""
    return _permute(self, shape_of(dims))


@method()
def movedim(self: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places. A view."""
    n = self.ndim
    source, destination = ([check_dim(d, n) for d in ((x,) if isinstance(x, int) else x)] for x in (source, destination))
    order = [d for d in range(n) if d not in source]
    for to_, from_ in sorted(zip(destination, source, strict=True)):
        order.insert(to_, from_)
    return _permute(self, tuple(order))


def _reversed(self: Tensor) -> Tensor:
    if self.ndim != 2:
        reasons.warn_once(reasons.REVERSE_T, stacklevel=3)
    return _permute(self, tuple(range(self.ndim))[::-1])


def _matrix_transpose(self: Tensor) -> Tensor:
    if self.ndim < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor.")
    return transpose(self, -2, -1)


Tensor.T, Tensor.mT = property(_reversed), property(_matrix_transpose)


@op(view=True, tex="{self}", self=lambda grad, dim: squeeze(grad, dim))
def unsqueeze(self, dim):
    """A dimension of size 1 inserted at `dim`. A view."""
    return np.expand_dims(self, check_dim(dim, self.ndim + 1))


@op(node="SqueezeBackward0", view=True, tex="{self}", self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
def _squeeze_all(self):
    return self.squeeze()


@op(node="SqueezeBackward1", view=True, tex="{self}",
    self=lambda grad, dim, self_sym_sizes: unsqueeze(grad, dim) if self_sym_sizes and self_sym_sizes[dim] == 1 else grad)
def _squeeze_dim(self, dim):
    dim = check_dim(dim, self.ndim)
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else self[...]


@op(node="SqueezeBackward2", view=True, tex="{self}", self=lambda grad, dim, self_sym_sizes: reshape(grad, self_sym_sizes))
def _squeeze_dims(self, dim):
    return self.squeeze(tuple(d for d in dims_of(dim, self.ndim) if self.shape[d] == 1))


@method()
def squeeze(self: Any, dim: Any = None) -> Any:
    """Without the dimensions of size 1, or without `dim` if its size is 1. A view."""
    if dim is None:
        return _squeeze_all(self)
    return _squeeze_dims(self, tuple(dim)) if isinstance(dim, (tuple, list)) else _squeeze_dim(self, dim)


@op(node="ExpandBackward0", view=True, tex=r"\operatorname{{expand}}({self})",
    self=lambda grad, self_sym_sizes: sum_to_size(grad, self_sym_sizes))
def _expand(self, size):
    lead = len(size) - self.ndim
    if lead < 0:
        raise RuntimeError(f"expand(torch.{dtypes.of_numpy[self.dtype].scalar_type}Tensor{{{list(self.shape)}}}, size={list(size)}): "
                           f"the number of sizes provided ({len(size)}) must be greater or equal to the number of dimensions in "
                           f"the tensor ({self.ndim})")
    target = list(size)
    for i, n in enumerate(target):
        old = self.shape[i - lead] if i >= lead else 1
        if n == -1:
            if i < lead:
                raise RuntimeError(f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}")
            target[i] = old
        elif old not in (1, n):
            raise RuntimeError(f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
                               f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(self.shape)}")
    return np.lib.stride_tricks.as_strided(self, target, [
        0 if i < lead or (self.shape[i - lead] == 1 and n != 1) else self.strides[i - lead] for i, n in enumerate(target)])


@method()
def expand(self: Any, *size: Any) -> Any:
    """Dimensions of size 1 repeated without copying: every repetition is the same memory. A view."""
    if not isinstance(self, Tensor):
        return np.broadcast_to(self, shape_of(size))
    return _expand(self, shape_of(size))


Tensor.expand_as = lambda self, other: expand(self, other.shape)


@method()
def broadcast_to(self: Tensor, size: tuple[int, ...]) -> Tensor:
    """The tensor expanded to a shape."""
    return expand(self, size)


@op(node="SumBackward1", tex=r"\sum {self}", self=lambda grad, self_sym_sizes: expand(grad, self_sym_sizes))
def _sum_to_size(self, size):
    return array_sum_to_size(self, size)


@method()
def sum_to_size(self: Any, *size: Any) -> Any:
    """Summed down to a shape that broadcasts to this one: what undoes broadcasting."""
    sizes = shape_of(size)
    if tuple(self.shape) == sizes:
        return self
    return _sum_to_size(self, sizes)


@op(view=True, tex="{self}[{index}]", self=lambda grad, self_sym_sizes, dim, index: select_backward(grad, self_sym_sizes, dim, index))
def select(self, dim, index):
    """One index along a dimension, which disappears. A view.

    Raises
    ------
    IndexError
        "index 5 is out of bounds for dimension 0 with size 2"
    """
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = check_dim(dim, self.ndim)
    size = self.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return self[(builtins.slice(None),) * dim + (index, ...)]


@op(tex="{grad_output}", grad_output=lambda grad, dim, index: select(grad, dim, index))
def select_backward(grad_output, input_sizes, dim, index):
    """Zeros with a gradient in the place of one index."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(builtins.slice(None),) * (dim % len(input_sizes)) + (index,)] = grad_output
    return out


@op(view=True, tex="{self}[{start}:{end}]",
    self=lambda grad, self_sym_sizes, dim, start, end, step: slice_backward(grad, self_sym_sizes, dim, start, end, step))
def slice(self, dim=0, start=None, end=None, step=1):
    """A range of indices along a dimension. A view."""
    return self[(builtins.slice(None),) * check_dim(dim, self.ndim) + (builtins.slice(start, end, step), ...)]


@op(tex="{grad_output}", grad_output=lambda grad, dim, start, end, step: slice(grad, dim, start, end, step))
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    """Zeros with a gradient in the place of a range of indices."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(builtins.slice(None),) * (dim % len(input_sizes)) + (builtins.slice(start, end, step),)] = grad_output
    return out


@method()
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` indices from `start` along a dimension. A view."""
    dim = check_dim(dim, self.ndim)
    size = self.shape[dim]
    start = int(start) + (size if start < 0 else 0)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice(self, dim, start, start + length, 1)


@op(view=True, tex=r"\operatorname{{diag}}({self})",
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: diagonal_backward(grad, self_sym_sizes, offset, dim1, dim2))
def diagonal(self, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as the last one. A view."""
    dim1, dim2 = check_dim(dim1, self.ndim), check_dim(dim2, self.ndim)
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    view = self.diagonal(offset, dim1, dim2)
    view.flags.writeable = self.flags.writeable
    return view


@op(tex="{grad_output}", grad_output=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))
def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    """Zeros with a gradient on a diagonal."""
    out = np.zeros(input_sizes, grad_output.dtype)
    window = out.diagonal(offset, dim1, dim2)
    window.flags.writeable = True
    window[...] = grad_output
    return out


@op(view=True, outputs="list", tex="{self}", self=lambda grads, dim: stack(grads, dim))
def unbind(self, dim=0):
    """All indices along a dimension as tensors: what iteration gives. Views that refuse in-place writes."""
    dim = check_dim(dim, self.ndim)
    return [self[(builtins.slice(None),) * dim + (i, ...)] for i in range(self.shape[dim])]


@op(view=True, outputs="list", node="SplitBackward0", saves=("self_sym_sizes", "split_size"), tex="{self}",
    self=lambda grads, dim: cat(grads, dim))
def _split(self, split_size, dim):
    dim = check_dim(dim, self.ndim)
    lead = (builtins.slice(None),) * dim
    return [self[(*lead, builtins.slice(i, i + split_size), ...)] for i in range(0, builtins.max(self.shape[dim], 1), split_size or 1)]


@op(view=True, outputs="list", node="SplitWithSizesBackward0", saves=("self_sym_sizes", "split_sizes"), tex="{self}",
    self=lambda grads, dim: cat(grads, dim))
def split_with_sizes(self, split_sizes, dim=0):
    """Parts of the given sizes along a dimension. Views that refuse in-place writes."""
    dim = check_dim(dim, self.ndim)
    if builtins.sum(split_sizes) != self.shape[dim]:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {self.shape[dim]} (input tensor's size at "
                           f"dimension {dim}), but got split_sizes={list(split_sizes)}")
    ends = np.cumsum(split_sizes).tolist()
    lead = (builtins.slice(None),) * dim
    return [self[(*lead, builtins.slice(end - n, end), ...)] for n, end in zip(split_sizes, ends, strict=True)]


@method()
def split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of `split_size` (or of a list of sizes) along a dimension. Views that refuse in-place writes."""
    if isinstance(split_size, int):
        return _split(self, split_size, dim)
    return split_with_sizes(self, tuple(split_size), dim)


@method()
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """About equal parts along a dimension. Views that refuse in-place writes."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self.shape[check_dim(dim, self.ndim)]
    return _split(self, -(-size // chunks), dim)


# Joining -------------------------------------------------------------------------------------------------------------------

@op(node="CatBackward0", tex=r"\operatorname{{cat}}({tensors})",
    tensors=lambda grad, tensors_sym_sizes, dim: _uncat(grad, tensors_sym_sizes, dim))
def _cat(tensors, dim):
    first = builtins.max(tensors, key=np.ndim)
    dim = check_dim(dim, first.ndim)
    tensors = [x for x in tensors if x.shape != (0,)] or tensors[:1]      # PyTorch lets empty vectors pass
    for i, x in enumerate(tensors):
        if x.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {tensors[0].ndim} and {x.ndim}")
        for d in range(x.ndim):
            if d != dim and x.shape[d] != tensors[0].shape[d]:
                raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size {tensors[0].shape[d]} but "
                                   f"got size {x.shape[d]} for tensor number {i} in the list.")
    return np.concatenate(dtypes.promote(*tensors), axis=dim)


def _uncat(grad: Any, sizes: list[tuple], dim: int) -> list:
    parts, start = [], 0
    for size in sizes:
        if size == (0,):
            parts.append(None)
            continue
        n = size[dim % len(size)]
        parts.append(slice(grad, dim, start, start + n))
        start += n
    return parts


def _sequence(tensors: Any, name: str) -> list:
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList" if name == "stack" else
                           f"torch.{name}(): expected a non-empty list of Tensors")
    for i, x in enumerate(tensors):
        if not isinstance(x, (Tensor, np.ndarray, np.generic)):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    return tensors


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors joined along a dimension that they have."""
    return _cat(_sequence(tensors, "cat"), dim)


@op(node="StackBackward0", tex=r"\operatorname{{stack}}({tensors})", tensors=lambda grad, dim: unbind(grad, dim))
def _stack(tensors, dim):
    for i, x in enumerate(tensors):
        if x.shape != tensors[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                               f"{list(x.shape)} at entry {i}")
    return np.stack(dtypes.promote(*tensors), axis=check_dim(dim, tensors[0].ndim + 1))


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors of one shape joined along a new dimension."""
    return _stack(_sequence(tensors, "stack"), dim)


# Matrix products -----------------------------------------------------------------------------------------------------------

def _same_type(text: str, *arrays: np.ndarray) -> None:
    names = [dtypes.of_numpy[a.dtype] for a in arrays]
    if names[0] is not names[1]:
        raise RuntimeError(text.format(*(n.scalar_type for n in names), *({"float32": "float", "float64": "double"}.get(
            n.name, n.name) for n in names)))


@op(tex="{self} \\cdot {tensor}", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)
def dot(self, tensor):
    """``(n) @ (n) -> ()``."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    _same_type("dot : expected both vectors to have same dtype, but found {} and {}", self, tensor)
    if self.shape != tensor.shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{len(self)}] and src [{len(tensor)}] to have the same number "
                           f"of elements, but got {len(self)} and {len(tensor)} elements respectively")
    return self @ tensor


@op(tex="{self} {vec}", self=lambda grad, vec: outer(grad, vec), vec=lambda grad, self: mv(t(self), grad))
def mv(self, vec):
    """``(n, k) @ (k) -> (n)``."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({len(self)}), mat ({self.shape[0]}x{self.shape[1]}), vec ({len(vec)})")
    _same_type("expected m1 and m2 to have the same dtype, but got: {2} != {3}", self, vec)
    return self @ vec


@op(tex="{self} {mat2}", self=lambda grad, mat2: mm(grad, t(mat2)), mat2=lambda grad, self: mm(t(self), grad))
def mm(self, mat2):
    """``(n, k) @ (k, m) -> (n, m)``."""
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_mm(self, mat2)
    return self * mat2 if self.shape[1] == 1 else self @ mat2      # BLAS would lose the sign of a zero


def _check_mm(a, b):
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")
    _same_type("expected m1 and m2 to have the same dtype, but got: {2} != {3}", a, b)


@op(tex="{self} {mat2}", self=lambda grad, mat2: bmm(grad, transpose(mat2, 1, 2)),
    mat2=lambda grad, self: bmm(transpose(self, 1, 2), grad))
def bmm(self, mat2):
    """``(b, n, k) @ (b, k, m) -> (b, n, m)``."""
    if self.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor" if self.ndim != 3 else "batch2 must be a 3D tensor")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        b, n, k = self.shape
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: "
                           f"[{mat2.shape[0]}, {mat2.shape[1]}].")
    _same_type("expected m1 and m2 to have the same dtype, but got: {2} != {3}", self, mat2)
    return self @ mat2


@op(tex="{self} + {mat1} {mat2}", saves=("alpha", "beta"),
    self=lambda grad: grad, mat1=lambda grad, mat2: mm(grad, t(mat2)), mat2=lambda grad, mat1: mm(t(mat1), grad))
def addmm(self, mat1, mat2, beta=1, alpha=1):
    """``self + mat1 @ mat2``: what a linear layer computes on a batch."""
    if mat1.shape[1] == mat2.shape[0] and mat1.dtype != mat2.dtype:
        _same_type("mat1 and mat2 must have the same dtype, but got {} and {}", mat1, mat2)
    _check_mm(mat1, mat2)
    product = mat1 @ mat2
    product += self
    return product


@method("__matmul__")
def matmul(self: Any, other: Any) -> Any:
    """The matrix product of any ranks; leading dimensions broadcast as batches. ``(…, n, k) @ (…, k, m) -> (…, n, m)``

    Raises
    ------
    RuntimeError
        "mat1 and mat2 shapes cannot be multiplied (3x2 and 3x2)"
    """
    if not isinstance(other, (Tensor, np.ndarray)):
        return NotImplemented
    if not isinstance(self, Tensor) and not isinstance(other, Tensor):
        return self @ other
    a, b = self.ndim, other.ndim
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(self, other)
    if a == 2 and b == 1:
        return mv(self, other)
    if a == 1 and b == 2:
        return _squeeze_dim(mm(unsqueeze(self, 0), other), 0)
    if a == 2 and b == 2:
        return mm(self, other)
    return _batched(self, other)


def _batched(self: Tensor, other: Tensor) -> Tensor:
    """The product of stacks of matrices, by way of `mm` (one side a plain matrix or vector) or `bmm`."""
    a, b = self.ndim, other.ndim
    if a >= 3 and b <= 2:       # fold the batch into the rows
        rows = tuple(self.shape[:-1])
        folded = reshape(self, -1, self.shape[-1]) if self.array.size else reshape(self, math.prod(rows), self.shape[-1])
        if b == 1:
            return _view(mv(folded, other), rows)
        return _unsafe_view(mm(folded, other), (*rows, other.shape[-1]))
    left = self if a > 1 else unsqueeze(self, 0)
    right = other if b > 1 else unsqueeze(other, 1)
    try:
        batch = np.broadcast_shapes(left.array.shape[:-2], right.array.shape[:-2])
    except ValueError:
        from_ = [x.array.reshape(*x.array.shape[:-2], 1)[..., 0] if x.ndim > 2 else x.array for x in (left, right)]
        raise _batch_error(*from_) from None
    n, k, m = left.shape[-2], left.shape[-1], right.shape[-1]
    left = reshape(expand(left, *batch, n, k), math.prod(batch), n, k)
    right = reshape(expand(right, *batch, *right.shape[-2:]), math.prod(batch), *right.shape[-2:])
    product = _unsafe_view(bmm(left, right), (*batch, n, m))
    if a == 1:
        return _squeeze_dim(product, -2)
    return _squeeze_dim(product, -1) if b == 1 else product


def _batch_error(*arrays: np.ndarray) -> RuntimeError:
    return RuntimeError("The batch dimensions do not broadcast")


@method()
def outer(self: Any, vec2: Any) -> Any:
    """``(n), (m) -> (n, m)``."""
    return reshape(self, self.shape[0], 1) * vec2


@method()
def addmv(self: Any, mat: Any, vec: Any) -> Any:
    """``self + mat @ vec``."""
    return self + mv(mat, vec)


# Indexing ------------------------------------------------------------------------------------------------------------------

@op(node="AliasBackward0", view=True, tex="{self}", self=lambda grad: grad)
def _alias(self):
    return self[...]


def _array_index(indices: tuple) -> tuple:
    return tuple(builtins.slice(None) if i is None else getattr(i, "array", i) for i in indices)


@op(node="IndexBackward0", tex="{self}[{indices}]",
    self=lambda grad, self_sym_sizes, indices: _index_put(grad_zeros(grad, self_sym_sizes), indices, grad, True))
def _index(self, indices: Tensor):
    return np.array(_checked(self, indices))


def grad_zeros(grad: Any, sizes: tuple) -> Any:
    """Zeros of a shape in a gradient's type, as array or tensor like it."""
    zeros = np.zeros(sizes, grad.dtype if not isinstance(grad, Tensor) else grad.array.dtype)
    return wrap(zeros) if isinstance(grad, Tensor) else zeros


def _checked(array, indices):
    """Index, with PyTorch's words for what does not fit."""
    arrays = [getattr(i, "array", i) for i in indices]
    position = 0
    for i in arrays:
        if i is not None and i.dtype == bool and i.shape != array.shape[position:position + i.ndim]:
            raise IndexError(f"The shape of the mask {list(i.shape)} at index 0 does not match the shape of the indexed tensor "
                             f"{list(array.shape)} at index {position}")
        position += i.ndim if i is not None and i.dtype == bool else 1
    try:
        return array[_array_index(indices)]
    except IndexError as error:
        text = str(error).replace("axis", "dimension")
        if "could not be broadcast" in text:
            shapes = ", ".join(str(list(i.shape)) for i in arrays if i is not None)
            text = f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        raise IndexError(text) from None


@op(node="IndexPutBackward0", inplace=True, tex="{self}",
    self=lambda grad, indices, accumulate: grad if accumulate else _index_put(grad, indices, grad_zeros(grad, ()), False),
    values=lambda grad, indices: _index(grad, indices))
def _index_put(self, indices: Tensor, values, accumulate):
    out = self.copy()
    place = _array_index(indices)
    target = _checked(out, indices)
    if np.broadcast_shapes(np.shape(values), target.shape) != target.shape:
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
                           f"shape {list(target.shape)}")
    if accumulate:
        np.add.at(out, place, values)
    else:
        out[place] = values
    return out


@method()
def index_put_(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values` at `indices` in place (add them if `accumulate`)."""
    return self._index_put_(tuple(indices), values, accumulate)


@method()
def index_put(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """`self` with `values` at `indices` (added if `accumulate`)."""
    return _index_put(self, tuple(indices), values, accumulate)


def _basic_index(self: Tensor, key: Any) -> tuple[Tensor, tuple]:
    """Apply ints, slices, None and ``...`` as views; return the view and the index tensors that are left, by dimension."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for i, k in enumerate(keys):
        if isinstance(k, (list, np.ndarray)):
            keys[i] = wrap(np.asarray(_index_array(k)))
    used = builtins.sum(k.ndim if is_tensor(k) and k.array.dtype == bool else 1 for k in keys
                        if k is not None and k is not Ellipsis and not isinstance(k, bool))
    if used > self.ndim:
        if self.ndim == 0 and not isinstance(key, tuple):
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
                             "a 0-dim tensor to a number")
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    result, dim, indices = self, 0, []
    for k in keys:
        if k is Ellipsis:
            dim += self.ndim - used
        elif k is None:
            result = unsqueeze(result, dim)
            dim += 1
        elif isinstance(k, bool):
            result = unsqueeze(result, dim)
            indices.append((dim, wrap(np.asarray([0] if k else [], np.int64))))
            dim += 1
        elif isinstance(k, builtins.slice):
            start, stop, step = k.indices(result.shape[dim]) if k.step is None or k.step > 0 else _no_negative_step()
            if (start, step) != (0, 1) or stop < result.shape[dim]:
                result = slice(result, dim, start, builtins.max(stop, start), step)
            dim += 1
        elif is_tensor(k) and (k.ndim or k.array.dtype == bool):
            if k.array.dtype.kind not in "iub":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            indices.append((dim, k))
            dim += k.ndim if k.array.dtype == bool else 1
        else:
            result = select(result, dim, _int_index(k))
    by_dim: list[Tensor | None] = []
    for d, k in indices:
        by_dim += [None] * (d - builtins.sum(_consumed(i) for i in by_dim)) + [k]
    return result, tuple(by_dim)


def _consumed(index: Any) -> int:
    """How many dimensions an index tensor (None: a full slice) stands for."""
    return index.ndim if index is not None and index.array.dtype == bool else 1


def _no_negative_step() -> None:
    raise ValueError("step must be greater than zero")


def _index_array(k: Any) -> Any:
    array = np.array(k) if isinstance(k, np.ndarray) else np.array(_plain(k))
    return array.astype(np.int64) if array.size == 0 and not isinstance(k, np.ndarray) else array


def _plain(k: Any) -> Any:
    return [_plain(x) if isinstance(x, list) else getattr(x, "array", x) for x in k]


def _int_index(k: Any) -> int:
    try:
        return k.__index__()
    except (AttributeError, TypeError):
        raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                         f"(got {type(k).__name__})") from None


def _getitem(self: Tensor, key: Any) -> Tensor:
    result, indices = _basic_index(self, key)
    if indices:
        return _index(result, indices)
    return _alias(self) if result is self else result


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    target, indices = _basic_index(self, key)
    if not isinstance(value, Tensor):
        if not isinstance(value, (int, float, np.ndarray, np.generic)):
            raise TypeError(f"can't assign a {type(value).__name__} to a torch.{self.dtype.scalar_type}Tensor")
        if not indices and not isinstance(value, np.ndarray):
            target.fill_(value)
            return
        value = wrap(np.asarray(value, self.array.dtype))
    if indices:
        target._index_put_(indices, value, False)
        return
    lead = 0
    while value.ndim - lead > target.ndim and value.shape[lead] == 1:       # PyTorch drops leading ones of the value
        lead += 1
    target.copy_(reshape(value, tuple(value.shape)[lead:]) if lead else value)


Tensor.__getitem__, Tensor.__setitem__ = _getitem, _setitem


PUBLIC.update({name: globals()[name] for name in (
    *(o.name for o in list(OPS.values()) if not o.name.startswith("_") and o.name in globals()), "where", "cat", "stack", "detach",
    "clamp_min")})
