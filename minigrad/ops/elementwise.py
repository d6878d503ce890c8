"""Operations on each element: arithmetic, functions, comparisons, choices; and writing in place."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..function import OPS, PUBLIC, Operand, op, public, shape_error
from ..tensor import Tensor, wrap


def two_forms(name: str, number: Callable, tensor: Callable, dunder: str = "", method: bool = True) -> Callable:
    """An operation of which PyTorch has two, with nodes of their own: its last argument is a number or a tensor."""
    last = tensor.op.params[-1] if not tensor.op.keyword_only else tensor.op.params[-2]

    def choose(name: str, number: Callable, tensor: Callable, doc: str) -> Callable:
        def call(input: Any, *args: Any, **kwargs: Any) -> Any:
            value = kwargs[last] if last in kwargs or not args else args[-1]
            return (number if isinstance(value, (int, float)) else tensor)(input, *args, **kwargs)
        call.__name__, call.__doc__ = name, doc
        return public(method=method, function=not name.endswith("_"))(call)

    def operator(function: Callable) -> Callable:
        return lambda self, other: function(self, other) if isinstance(other, (Tensor, int, float)) else NotImplemented

    call = choose(name, number, tensor, tensor.__doc__)
    if number.op.name + "_" in OPS:
        twin = choose(name + "_", *(getattr(Tensor, f.op.name + "_") for f in (number, tensor)), f"`{name}` in place.")
        if dunder:
            setattr(Tensor, "__i" + dunder.removeprefix("__"), operator(twin))
    if dunder:
        setattr(Tensor, dunder, operator(call))
    return call


# Elementwise arithmetic --------------------------------------------------------------------------------

@op("__add__", "__radd__", tex="{self} + {other}", promote="same", inplace=True, number="AddBackward1",
    self=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha)
def add(self, other, *, alpha=1):
    """Elementwise sum, broadcasting."""
    return self + other if alpha == 1 else self + other * alpha


def _no_bool(self: Any, other: Any) -> None:
    """PyTorch does not subtract masks."""
    bools = [x.dtype.kind == "b" if isinstance(x, np.ndarray) else isinstance(x, bool) for x in (self, other)]
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
            if all(bools) else
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
            "`logical_not()` operator instead.")


def _checked(kernel: Callable) -> Callable:
    kernel.check = _no_bool         # on the arguments as they came, before they are cast to one type
    return kernel


def _refuse_bool(array: np.ndarray, name: str) -> None:
    """PyTorch has no such kernel for bool."""
    if array.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


@op("__sub__", "subtract", tex="{self} - {other}", promote="same", inplace=True, number="SubBackward1",
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)
@_checked
def sub(self, other, *, alpha=1):
    """Elementwise difference, broadcasting."""
    _no_bool(self, other)
    return self - other if alpha == 1 else self - other * alpha


@op("__rsub__", tex="{other} - {self}", node="RsubBackward1", promote="same",
    self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)
@_checked
def _rsub_number(self, other: Operand, *, alpha=1):
    _no_bool(self, other)
    return other - self if alpha == 1 else other - self * alpha


@op(tex="{other} - {self}", node="RsubBackward0", promote="same",
    self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha, other=lambda grad: grad)
@_checked
def _rsub_tensor(self, other, *, alpha=1):
    """``other - alpha * self``, elementwise: what ``1 - x`` calls."""
    return _rsub_number(self, other, alpha=alpha)


rsub = two_forms("rsub", _rsub_number, _rsub_tensor, method=False)


@op("__mul__", "__rmul__", "multiply", tex=r"{self} \odot {other}", promote="same", inplace=True, number="MulBackward1",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self)
def mul(self, other):
    """Elementwise product, broadcasting."""
    return self * other


@op("__truediv__", "true_divide", tex=r"\frac{{{self}}}{{{other}}}", promote="float", inplace=True, number="DivBackward1",
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other))
def div(self, other):
    """Elementwise quotient, broadcasting; of integers in the default floating-point type."""
    return self / other


@op("__neg__", "negative", tex="-{self}", inplace=True, self=lambda grad: -grad)
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
    if base.dtype.kind == "b":
        base = base.astype(np.int64)
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
        grad * (where(exponent >= 0, 0.0, result * -math.inf) if self == 0 else result * (math.log(self) if self > 0 else math.nan)))
def _pow_base(exponent, self):
    base, exponent = dtypes.promote(self, exponent)
    return _power(base, exponent)


@public("__pow__")
def pow(input: Any, exponent: Any) -> Any:
    """``input ** exponent``, elementwise; either may be a Python number."""
    if not isinstance(exponent, (Tensor, np.ndarray, np.generic)):
        return _pow_scalar(input, exponent) if isinstance(exponent, (int, float)) else NotImplemented
    if isinstance(input, (Tensor, np.ndarray, np.generic)):
        return _pow_tensor(input, exponent)
    return _pow_base(exponent, input)


@public("__ipow__", function=False)
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """`pow` in place."""
    return self._pow_tensor_(exponent) if isinstance(exponent, Tensor) else self._pow_scalar_(exponent)


Tensor.__rmod__ = lambda self, other: remainder(wrap(np.asarray(other)), self)
Tensor.__rpow__ = lambda self, base: _pow_base(self, base) if isinstance(base, (int, float)) else NotImplemented


@public(function=False)
def square_(self: Tensor) -> Tensor:
    """`square` in place."""
    return self.pow_(2)


@public()
def positive(input: Any) -> Any:
    """The tensor itself."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


Tensor.__pos__ = positive


@public()
def square(input: Any) -> Any:
    """``input ** 2``, elementwise."""
    return pow(input, 2)


@op(node="RemainderBackward0", tex=r"{self} \bmod {other}", promote="same", inplace=True, self=lambda grad: grad)
def _remainder_number(self, other: Operand):
    _nonzero_divisor(self, other)
    return np.mod(self, other)


@op(node="RemainderBackward1", tex=r"{self} \bmod {other}", promote="same", inplace=True,
    self=lambda grad: grad, other=lambda grad, self, other: -grad * floor(self / other))
def _remainder_tensor(self, other):
    """The remainder of division, with the sign of the divisor."""
    _nonzero_divisor(self, other)
    return np.mod(self, other)


@op(node="FmodBackward0", tex=r"\operatorname{{fmod}}({self}, {other})", promote="same", inplace=True, self=lambda grad: grad)
def _fmod_number(self, other: Operand):
    _nonzero_divisor(self, other)
    return np.fmod(self, other)


@op(node="FmodBackward1", tex=r"\operatorname{{fmod}}({self}, {other})", promote="same", inplace=True,
    self=lambda grad: grad, other=lambda grad, self, other: -grad * trunc(self / other))
def _fmod_tensor(self, other):
    """The remainder of division, with the sign of the dividend."""
    _nonzero_divisor(self, other)
    return np.fmod(self, other)


remainder = two_forms("remainder", _remainder_number, _remainder_tensor, "__mod__")
fmod = two_forms("fmod", _fmod_number, _fmod_tensor)


def not_implemented(name: str) -> None:
    """What a derivative does that PyTorch does not have."""
    raise RuntimeError(f"derivative for {name} is not implemented")


@op("__floordiv__", node="torch::autograd::NotImplemented", promote="same", inplace=True,
    self=lambda grad: not_implemented("aten::floor_divide"), other=lambda grad: not_implemented("aten::floor_divide"))
def floor_divide(self, other):
    """The quotient rounded down; it has no derivative."""
    _nonzero_divisor(self, other)
    return np.floor_divide(self, other)


@op(node="DivBackward2", inplace=True, promote="same", saves=("rounding_mode",),
    self=lambda grad, other: zeros_of(grad), other=lambda grad, self, other: zeros_of(grad))
def _div_rounded(self, other, rounding_mode):
    _nonzero_divisor(self, other)
    if rounding_mode == "floor":
        return np.floor_divide(self, other)
    if rounding_mode == "trunc":
        return np.trunc(self / other).astype(self.dtype)
    raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" + str(rounding_mode) + "'")


def _divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """The quotient, elementwise; ``rounding_mode="floor"`` and ``"trunc"`` make it whole, with slope 0."""
    return div(input, other) if rounding_mode is None else _div_rounded(input, other, rounding_mode)


def _divide_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """`div` in place."""
    return self.true_divide_(other) if rounding_mode is None else self._div_rounded_(other, rounding_mode)


Tensor.div = Tensor.divide = PUBLIC["div"] = PUBLIC["divide"] = _divide
Tensor.div_ = Tensor.divide_ = _divide_


# Elementwise functions --------------------------------------------------------------------------------

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


@op("arcsinh", tex=r"\operatorname{{arsinh}} {self}", promote="float", inplace=True,
    self=lambda grad, self: grad * rsqrt(pow(self, 2) + 1))
def asinh(self):
    """Inverse hyperbolic sine, elementwise."""
    return np.arcsinh(self)


@op("arccosh", tex=r"\operatorname{{arcosh}} {self}", promote="float", inplace=True,
    self=lambda grad, self: grad * rsqrt(self * self - 1))
def acosh(self):
    """Inverse hyperbolic cosine, elementwise."""
    return np.arccosh(self)


@op("arctanh", tex=r"\operatorname{{artanh}} {self}", promote="float", inplace=True,
    self=lambda grad, self: grad * (1 / (1 - pow(self, 2))))
def atanh(self):
    """Inverse hyperbolic tangent, elementwise."""
    return np.arctanh(self)


@op(tex=r"\operatorname{{erf}}({self})", promote="float", inplace=True,
    self=lambda grad, self: 2 / math.sqrt(math.pi) * exp(-pow(self, 2)) * grad)
def erf(self):
    """The error function, elementwise."""
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(self), self.dtype)


@op(tex=r"\operatorname{{erfc}}({self})", promote="float", inplace=True,
    self=lambda grad, self: -2 / math.sqrt(math.pi) * exp(-pow(self, 2)) * grad)
def erfc(self):
    """1 minus the error function, elementwise."""
    return np.asarray(np.frompyfunc(math.erfc, 1, 1)(self), self.dtype)


def _over_square(x: Any, y: Any) -> Any:
    square = x * x + y * y
    return masked_fill(reciprocal(square), square == 0, 0)


@op("arctan2", tex=r"\operatorname{{atan2}}({self}, {other})", promote="float", inplace=True,
    self=lambda grad, self, other: grad * other * _over_square(self, other),
    other=lambda grad, self, other: grad * -self * _over_square(self, other))
def atan2(self, other: Tensor):
    """The angle of the point (other, self), in radians."""
    return np.arctan2(self, other)


@op(tex=r"\sqrt{{{self}^2 + {other}^2}}", promote="float", inplace=True,
    self=lambda grad, self, result: grad * self / result, other=lambda grad, other, result: grad * other / result)
def hypot(self, other: Tensor):
    """The length of the hypotenuse, elementwise."""
    return np.hypot(self, other)


@op(tex=r"\ln(e^{{{self}}} + e^{{{other}}})", promote="float",
    self=lambda grad, self, other: grad / (1 + exp(other - self)),
    other=lambda grad, self, other: grad / (1 + exp(self - other)))
def logaddexp(self, other: Tensor):
    """The logarithm of a sum of exponentials, accurate for large ones."""
    return np.logaddexp(self, other)


@op(tex=r"{self} \ln {other}", promote="float", inplace=True,
    self=lambda grad, self, other: grad * masked_fill(log(other), logical_and(self == 0, other <= 0), 0),
    other=lambda grad, self, other: grad * self / other)
def xlogy(self, other):
    """``self * log(other)``, and 0 where `self` is 0."""
    return np.where((self == 0) & ~np.isnan(other), self.dtype.type(0), self * np.log(other))


@op(node="LerpBackward1", promote="same", inplace=True, tex=r"{self} + {weight} ({end} - {self})",
    self=lambda grad, weight: grad * (1 - weight), end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self))
def _lerp_tensor(self, end, weight):
    """From `input` (weight 0) to `end` (weight 1) on a straight line."""
    return np.where(np.abs(weight) < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight))


@op(node="LerpBackward0", promote="same", inplace=True, tex=r"{self} + {weight} ({end} - {self})",
    self=lambda grad, weight: grad * (1 - weight), end=lambda grad, weight: grad * weight)
def _lerp_scalar(self, end, weight):
    return self + weight * (end - self) if weight < 0.5 else end - (end - self) * (1 - weight)


lerp = two_forms("lerp", _lerp_scalar, _lerp_tensor)


@op(promote="same", inplace=True, tex=r"{self} + {value} {tensor1} \odot {tensor2}",
    self=lambda grad: grad, tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value))
def addcmul(self, tensor1, tensor2, *, value=1):
    """``self + value * tensor1 * tensor2``, elementwise."""
    return self + (tensor1 * tensor2 if value == 1 else value * tensor1 * tensor2)


@op(promote="same", inplace=True, tex=r"{self} + {value} \frac{{{tensor1}}}{{{tensor2}}}",
    self=lambda grad: grad, tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)))
def addcdiv(self, tensor1, tensor2, *, value=1):
    """``self + value * tensor1 / tensor2``, elementwise."""
    return self + (tensor1 / tensor2 if value == 1 else value * tensor1 / tensor2)


@op(inplace=True, tex="{self}", self=lambda grad, self: grad * isfinite(self))
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    """Numbers in place of NaN (0) and infinities (the largest and smallest)."""
    return np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf) if self.dtype.kind == "f" else self.copy()


@op(tex=r"\tanh({self})", promote="float", inplace=True, self=lambda grad, result: _tanh_backward(grad, result))
def tanh(self):
    """Hyperbolic tangent, elementwise."""
    return np.tanh(self)


@op(tex=r"{grad_output} \odot (1 - {output}^2)",
    grad_output=lambda grad, output: _tanh_backward(grad, output),
    output=lambda grad, grad_output, output: grad * (-2 * output * grad_output))
def _tanh_backward(grad_output, output):
    """The derivative of tanh in terms of its result, a node of its own in second derivatives."""
    return grad_output * (1 - output * output)


@op(tex=r"\sigma({self})", promote="float", inplace=True, self=lambda grad, result: _sigmoid_backward(grad, result))
def sigmoid(self):
    """``1 / (1 + exp(-x))``, elementwise."""
    return 1 / (1 + np.exp(-self))


@op(tex=r"{grad_output} \odot (1 - {output}) \odot {output}",
    grad_output=lambda grad, output: _sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output))
def _sigmoid_backward(grad_output, output):
    """The derivative of sigmoid in terms of its result."""
    return grad_output * (1 - output) * output


@op(tex=r"\max({self}, 0)", inplace=True, self=lambda grad, result: _threshold_backward(grad, result, 0))
def relu(self):
    """The positive part; the slope at 0 is 0."""
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return np.maximum(self, self.dtype.type(0))


def without(values: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """The values, and 0 where they are dropped: ``np.where(dropped, 0, values)`` by bits, which takes a tenth of the time
    where a mask has no pattern that the processor could guess."""
    bits = np.dtype(f"i{values.itemsize}")
    return (values.view(bits) & (dropped.astype(bits) - bits.type(1))).view(values.dtype)


@op(tex=r"{grad_output} \odot [{self} > {threshold}]",
    grad_output=lambda grad, self, threshold: _threshold_backward(grad, self, threshold),
    self=lambda grad: zeros_of(grad))
def _threshold_backward(grad_output, self, threshold):
    """A gradient where the value is above a threshold, else 0 (not ``0 * grad``: that would make NaN of infinity)."""
    return without(grad_output, self <= threshold)


@op("absolute", "__abs__", tex=r"|{self}|", inplace=True, self=lambda grad, self: grad * sgn(self))
def abs(self):
    """Absolute value; the slope at 0 is 0."""
    _refuse_bool(self, "abs_cpu")
    return np.abs(self)


@op(inplace=True, tex=r"\operatorname{{sgn}}({self})", saves=("self", "result"), self=lambda grad: zeros_of(grad))
def sgn(self):
    """-1, 0 or 1 by sign; of NaN 0."""
    return _signs(self)


@op(inplace=True, tex=r"\operatorname{{sign}}({self})", self=lambda grad: zeros_of(grad))
def sign(self):
    """-1, 0 or 1 by sign; of NaN 0."""
    return _signs(self)


def _signs(array):
    return array.copy() if array.dtype == bool else (array > 0).astype(array.dtype) - (array < 0)


@op(inplace=True, tex=r"\lfloor {self} \rfloor", self=lambda grad: zeros_of(grad))
def floor(self):
    """The largest integer not above."""
    _refuse_bool(self, "floor_vml_cpu")
    return np.floor(self)


@op(inplace=True, tex=r"\lceil {self} \rceil", self=lambda grad: zeros_of(grad))
def ceil(self):
    """The smallest integer not below."""
    _refuse_bool(self, "ceil_vml_cpu")
    return np.ceil(self)


@op(inplace=True, tex=r"\operatorname{{round}}({self})", self=lambda grad: zeros_of(grad))
def round(self):
    """The nearest integer, halves to even."""
    _refuse_bool(self, "round_vml_cpu")
    return np.round(self)


@op(inplace=True, tex=r"{self} - \operatorname{{trunc}}({self})", self=lambda grad: grad)
def frac(self):
    """What is left of the integer part."""
    if self.dtype.kind != "f":
        raise NotImplementedError(f"\"frac_cpu\" not implemented for '{dtypes.of_numpy[self.dtype].scalar_type}'")
    return self - np.trunc(self)


@op("fix", inplace=True, tex=r"\operatorname{{trunc}}({self})", self=lambda grad: zeros_of(grad))
def trunc(self):
    """The integer part."""
    _refuse_bool(self, "trunc_vml_cpu")
    return np.trunc(self)


@op(tex=r"\max({self}, {other})", promote="same",
    self=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self < other, 0),
    other=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self > other, 0))
def maximum(self, other: Tensor):
    """The larger one, elementwise; at a tie each gets half of the gradient."""
    return np.maximum(self, other)


@op(tex=r"\min({self}, {other})", promote="same",
    self=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self > other, 0),
    other=lambda grad, self, other: masked_fill(where(self == other, grad / 2, grad), self < other, 0))
def minimum(self, other: Tensor):
    """The smaller one, elementwise; at a tie each gets half of the gradient."""
    return np.minimum(self, other)


@op(node="WhereBackward0", tex=r"\operatorname{{where}}({condition}, {self}, {other})",
    self=lambda grad, condition: where(condition, grad, 0),
    other=lambda grad, condition: where(condition, 0, grad))
def _where(condition: Tensor, self, other):
    self, other = dtypes.promote(self, other)
    try:
        return np.where(condition, self, other)
    except ValueError:
        raise shape_error(condition, self, other) from None


@public(method=False)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition holds, else ``other``; a slope of the side not taken that is infinite still makes NaN."""
    if input is None and other is None:
        return tuple(wrap(np.ascontiguousarray(i)) for i in np.nonzero(condition.array))
    if isinstance(condition, Tensor) and condition.array.dtype.kind != "b":
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           + condition.dtype.scalar_type)
    if not isinstance(condition, Tensor) and (isinstance(input, Tensor) or isinstance(other, Tensor)):
        condition = wrap(np.asarray(condition))
    return _where(condition, input, other)


Tensor.where = lambda self, condition, other: where(condition, self, other)


@op(node="MaskedFillBackward0", inplace=True, tex=r"\operatorname{{fill}}({self}, {mask}, {value})",
    self=lambda grad, mask: masked_fill(grad, mask, 0))
def _masked_fill_number(self, mask: Tensor, value):
    return _masked(self, mask, value)


@op(node="MaskedFillBackward1", inplace=True, tex=r"\operatorname{{fill}}({self}, {mask}, {value})",
    self=lambda grad, mask: masked_fill(grad, mask, 0), value=lambda grad, mask: where(mask, grad, 0))
def _masked_fill_tensor(self, mask: Tensor, value):
    """`input` with `value` where the mask holds."""
    if value.ndim:
        raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                           f"{value.ndim} dimension(s).")
    return _masked(self, mask, value)


def _masked(self, mask, value):
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype " + dtypes.of_numpy[mask.dtype].cpp_name)
    return np.ascontiguousarray(np.where(mask, np.asarray(value).astype(self.dtype), self)).reshape(
        np.broadcast_shapes(mask.shape, self.shape))


masked_fill = two_forms("masked_fill", _masked_fill_number, _masked_fill_tensor)


@op(node="ClampBackward1", inplace=True, tex=r"\operatorname{{clamp}}({self}, {min}, {max})",
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
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    self, *bounds = dtypes.promote(self, *bounds)
    out = np.maximum(self, bounds[0]) if low is not None else self
    return np.minimum(out, bounds[-1]) if high is not None else out


@public("clip")
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Limited to [min, max], numbers or tensors; inside, the bounds included, the slope is 1."""
    return (_clamp_tensors if isinstance(min, Tensor) or isinstance(max, Tensor) else _clamp_numbers)(input, min, max)


@public("clip_", function=False)
def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`clamp` in place."""
    tensors = isinstance(min, Tensor) or isinstance(max, Tensor)
    return (self._clamp_tensors_ if tensors else self._clamp_numbers_)(min, max)


@op(node="ClampMinBackward0", inplace=True, tex=r"\max({self}, {min})",
    self=lambda grad, self, min: where(self >= min, grad, 0))
def _clamp_min_number(self, min):
    return _clipped(self, min, None)


@op(node="ClampMinBackward1", inplace=True, tex=r"\max({self}, {min})",
    self=lambda grad, self, min: where(self >= min, grad, 0), min=lambda grad, self, min: where(self < min, grad, 0))
def _clamp_min_tensor(self, min):
    """Limited from below."""
    return _clipped(self, min, None)


@op(node="ClampMaxBackward0", inplace=True, tex=r"\min({self}, {max})",
    self=lambda grad, self, max: where(self <= max, grad, 0))
def _clamp_max_number(self, max):
    return _clipped(self, None, max)


@op(node="ClampMaxBackward1", inplace=True, tex=r"\min({self}, {max})",
    self=lambda grad, self, max: where(self <= max, grad, 0), max=lambda grad, self, max: where(self > max, grad, 0))
def _clamp_max_tensor(self, max):
    """Limited from above."""
    return _clipped(self, None, max)


clamp_min = two_forms("clamp_min", _clamp_min_number, _clamp_min_tensor)
clamp_max = two_forms("clamp_max", _clamp_max_number, _clamp_max_tensor)


def _inside(self: Any, low: Any, high: Any) -> Any:
    inside = self == self if low is None else self >= low
    return inside if high is None else logical_and(inside, self <= high)


def _comparison(name: str, dunder: str, kernel: Callable, symbol: str) -> Callable:
    def compare(self: Tensor, other: Operand):
        return kernel(self, other)
    compare.__name__, compare.__doc__ = name, f"``self {symbol} other``, elementwise, as bool; never recorded."
    return op(dunder, promote="same", tex=f"{{self}} {symbol} {{other}}")(compare)


eq, ne = _comparison("eq", "__eq__", np.equal, "="), _comparison("ne", "__ne__", np.not_equal, r"\neq")
lt, le = _comparison("lt", "__lt__", np.less, "<"), _comparison("le", "__le__", np.less_equal, r"\leq")
gt, ge = _comparison("gt", "__gt__", np.greater, ">"), _comparison("ge", "__ge__", np.greater_equal, r"\geq")
Tensor.__hash__ = object.__hash__


def _nonzero_divisor(array, other):
    """PyTorch divides integers by zero with an error, NumPy with a warning."""
    if array.dtype.kind in "iu" and not np.all(other):
        raise RuntimeError("ZeroDivisionError")


def _bool_valued(name: str, kernel: Callable, doc: str, inplace: bool = False) -> Callable:
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


@public()
def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements differ by at most ``atol + rtol * |other|``."""
    if input.dtype != other.dtype:
        raise RuntimeError(f"{input.dtype.scalar_type} did not match {other.dtype.scalar_type}")
    return wrap(np.asarray(np.isclose(input.array, other.array, rtol, atol, equal_nan)))


@public()
def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close, as `isclose` defines it."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


@public(method=False)
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The element type of an operation on two tensors or numbers."""
    return dtypes.of_numpy[dtypes.result_type(*(getattr(x, "array", x) for x in (tensor1, tensor2)))]


@public()
def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape and the same elements."""
    for i, x in enumerate((input, other)):
        if not isinstance(x, Tensor):
            raise TypeError(f"equal(): argument '{('input', 'other')[i]}' (position {i + 1}) must be Tensor, not {type(x).__name__}")
    return input.shape == other.shape and bool((input.array == other.array).all())


def _whole(array: np.ndarray, name: str) -> None:
    if array.dtype.kind == "f":
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtypes.of_numpy[array.dtype].scalar_type}'")


@op("__and__", "__rand__", promote="same", inplace=True)
def bitwise_and(self: Tensor, other: Operand):
    """``self & other``, elementwise."""
    _whole(self, "bitwise_and_cpu")
    return self & other


@op("__or__", "__ror__", promote="same", inplace=True)
def bitwise_or(self: Tensor, other: Operand):
    """``self | other``, elementwise."""
    _whole(self, "bitwise_or_cpu")
    return self | other


@op("__xor__", "__rxor__", promote="same", inplace=True)
def bitwise_xor(self: Tensor, other: Operand):
    """``self ^ other``, elementwise."""
    _whole(self, "bitwise_xor_cpu")
    return self ^ other


@op("__lshift__", promote="same", inplace=True)
def bitwise_left_shift(self: Tensor, other: Operand):
    """``self << other``, elementwise."""
    return self << other


@op("__rshift__", promote="same", inplace=True)
def bitwise_right_shift(self: Tensor, other: Operand):
    """``self >> other``, elementwise."""
    return self >> other


@op(inplace=True)
def bitwise_not(self: Tensor):
    """``~self``, elementwise."""
    if self.dtype.kind == "f":
        raise NotImplementedError(f"\"bitwise_not_cpu\" not implemented for '{dtypes.of_numpy[self.dtype].scalar_type}'")
    return ~self


def _invert(self: Tensor) -> Any:
    if self.is_floating_point():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


Tensor.__invert__ = _invert


# Writing --------------------------------------------------------------------------------

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


@public(function=False)
def fill_(self: Tensor, value: Any) -> Tensor:
    """Set all elements to a number or a 0-d tensor."""
    return self._fill_tensor_(value) if isinstance(value, Tensor) else self._fill_(value)


@op(node="torch::autograd::CopyBackwards", inplace=True, self=lambda grad: zeros_of(grad), src=lambda grad: grad)
def _copy(self, src, non_blocking=False):
    try:
        fits = np.broadcast_shapes(src.shape, self.shape) == self.shape
    except ValueError:
        raise shape_error(self, src) from None
    if not fits:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(src.shape)}")
    return np.broadcast_to(src, self.shape).astype(self.dtype)


Tensor.copy_ = Tensor._copy_
