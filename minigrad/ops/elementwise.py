"""Operations on each element: arithmetic, functions of one, two or three numbers; and writing in place."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..dtype import in_single, refuse
from ..function import OPS, PUBLIC, Operand, as_tensor, formula, op, operand_error
from ..generate import NOT_IMPLEMENTED
from ..inplace import check_overlap
from ..reasons import broadcasts_beyond, check
from ..strides import arranged
from ..tensor import Tensor, wrap
from .choices import common_shape, isfinite, logical_and, logical_or, masked_fill, where, zeros_of
from .views import typed

# Arithmetic ----------------------------------------------------------------------------------------------------------------

@op("__add__", "__radd__", tex="{self} + {other}", promote="same", inplace=True, number="AddBackward1",
    self=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha)
def add(self, other, *, alpha=1):
    """Elementwise sum, broadcasting."""
    return self + other if alpha == 1 else self + other * _factor(self, alpha)


def _factor(array: np.ndarray, alpha: float) -> Any:
    """`alpha` in the type of the result: of masks True, as in PyTorch."""
    if array.dtype.kind != "f" and isinstance(alpha, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return dtypes.number_in(alpha, array.dtype)


def _no_bool(self: Any, other: Any, alpha: float = 1) -> None:
    """PyTorch does not subtract masks."""
    bools = [x.dtype.kind == "b" if isinstance(x, np.ndarray) else isinstance(x, bool) for x in (self, other)]
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
            if all(bools) else
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
            "`logical_not()` operator instead.")


@op("__sub__", "subtract", tex="{self} - {other}", promote="same", inplace=True, check=_no_bool, number="SubBackward1",
    self=lambda grad: grad, other=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha)
def sub(self, other, *, alpha=1):
    """Elementwise difference, broadcasting."""
    _no_bool(self, other)
    return self - other if alpha == 1 else self - other * _factor(self, alpha)


@op("__rsub__", tex="{other} - {self}", promote="same", check=_no_bool, scalar="RsubBackward1",
    self=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha, other=lambda grad: grad)
def _rsub(self, other, *, alpha=1):
    """``other - alpha * self``, elementwise: what ``1 - x`` calls."""
    _no_bool(self, other)
    return other - self if alpha == 1 else other - self * alpha


PUBLIC["rsub"] = _rsub
_from_number = Tensor.__rsub__


def _number_minus(self: Tensor, other: Any) -> Any:
    """In PyTorch's formulas ``1 - x`` is a subtraction from a tensor, a user's is `rsub`."""
    return sub(as_tensor(other), self) if formula.running and isinstance(other, (int, float)) else _from_number(self, other)


Tensor.__rsub__ = _number_minus


@op("__mul__", "__rmul__", "multiply", tex=r"{self} \odot {other}", promote="same", inplace=True, number="MulBackward1",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self)
def mul(self, other):
    """Elementwise product, broadcasting."""
    return self * other


def _times_negative(slope: Any, grad: Any) -> Any:
    """``-grad * slope``: C++ works out what stands on the right first, which decides what runs first in a graph of the backward pass."""
    return -grad * slope


@op("__truediv__", "true_divide", tex=r"\frac{{{self}}}{{{other}}}", promote="float", inplace=True, number="DivBackward1",
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: _times_negative((self / other) / other, grad))
def div(self, other):
    """Elementwise quotient, broadcasting; of integers in the default floating-point type."""
    return self / other


def _whole_quotient(self: np.ndarray, other: Any, kernel: Callable, name: str) -> np.ndarray:
    """What is left of, or whole in, a quotient. PyTorch divides integers by zero with an error, NumPy with a warning."""
    refuse(self, "b", name)
    if self.dtype.kind in "iu" and not np.all(other):
        raise RuntimeError("ZeroDivisionError")
    return kernel(self, other)


@op("__mod__", node="RemainderBackward1", scalar="RemainderBackward0", tex=r"{self} \bmod {other}", promote="same", inplace=True,
    self=lambda grad: grad, other=lambda grad, self, other: -grad * _div_rounded(self, other, "floor"))
def remainder(self, other):
    """The remainder of division, with the sign of the divisor."""
    return _whole_quotient(self, other, _modulo, "remainder_cpu")


def _modulo(self: np.ndarray, other: np.ndarray) -> np.ndarray:
    """``np.mod``, but for a remainder of zero: that has the dividend's sign."""
    if self.dtype.kind != "f":
        return np.mod(self, other)
    rest = np.mod(self, other)
    none = rest == 0
    return np.where(none, np.copysign(rest, self), rest) if none.any() else rest


@op(node="FmodBackward1", promote="same", inplace=True, scalar="FmodBackward0", self=lambda grad: grad,
    other=lambda grad, self, other: -grad * _div_rounded(self, other, "trunc"))
def fmod(self, other):
    """The remainder of division, with the sign of the dividend."""
    return _whole_quotient(self, other, np.fmod, "fmod_cpu")


def underivable(name: str, *arguments: str) -> dict[str, Any]:
    """The part of a declaration that says: PyTorch does not have these derivatives."""
    def refuse_derivative(grad: Any) -> None:
        raise RuntimeError(f"derivative for {name} is not implemented")
    return {"node": NOT_IMPLEMENTED, **dict.fromkeys(arguments, refuse_derivative)}


@op(tex=r"{number} \bmod {self}", promote="same", **underivable("aten::remainder", "self"))
def _remainder_of_number(self, number: Operand):
    return _whole_quotient(number, self, _modulo, "remainder_cpu")


@op("__floordiv__", promote="same", inplace=True, **underivable("aten::floor_divide", "self", "other"))
def floor_divide(self, other):
    """The quotient rounded down; it has no derivative."""
    return _whole_quotient(self, other, np.floor_divide, "div_floor_cpu")


OPS["floor_divide_"].original = None       # its node says another name
OPS["floor_divide_"].formulas = {name: underivable("aten::floor_divide_", name)[name] for name in ("self", "other")}


@op(node="DivBackward2", inplace=True, promote="same", saves=("rounding_mode",),
    self=lambda grad, other: zeros_of(grad), other=lambda grad, self, other: zeros_of(grad))
def _div_rounded(self, other, rounding_mode):
    if rounding_mode == "floor":
        return floor_divide(self, other)
    if rounding_mode == "trunc":
        return _whole_quotient(self, other, lambda a, b: np.trunc(a / b).astype(a.dtype), "div_trunc_cpu")
    raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" + str(rounding_mode) + "'")


def _divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """The quotient, elementwise; ``rounding_mode="floor"`` and ``"trunc"`` make it whole, with slope 0."""
    return div(input, other) if rounding_mode is None else _div_rounded(input, other, rounding_mode)


def _divide_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """`div` in place."""
    return self.true_divide_(other) if rounding_mode is None else self._div_rounded_(other, rounding_mode)


Tensor.div = Tensor.divide = PUBLIC["div"] = PUBLIC["divide"] = _divide
Tensor.div_ = Tensor.divide_ = _divide_


@op("__neg__", "negative", tex="-{self}", inplace=True, self=lambda grad: -grad)
def neg(self):
    """Minus, elementwise."""
    if self.dtype == bool:
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                           "use the `~` or `logical_not()` operator instead.")
    return -self


def positive(input: Any) -> Any:
    """The tensor itself."""
    check(input.array.dtype.kind != "b", "The `+` operator, on a bool tensor is not supported.")
    return input


Tensor.__pos__ = positive


# Powers --------------------------------------------------------------------------------------------------------------------

def may_be_read(x: Any) -> bool:
    """Is this float32, of so few numbers that somebody may read them? Then it is worked out in float64 and rounded once.

    NumPy's own differs from PyTorch's in the last digit of every third number, which ``item()`` shows; so worked out, one in
    a hundred does.
    """
    return x.dtype.char == "f" and x.size <= 256


# PyTorch computes small powers as products, NumPy calls pow: the last bits differ.
_SMALL_POWERS = {2: lambda x: x * x, 3: in_single(lambda x: x * x * x), 0.5: np.sqrt, -1: lambda x: 1 / x,
                 -2: in_single(lambda x: 1 / (x * x)), -0.5: in_single(lambda x: 1 / np.sqrt(x))}


def _double(number: Any) -> Any:
    """A whole number as PyTorch's formula for powers takes it (a symbol stays one)."""
    return float(number) if isinstance(number, int) else number


def _in_type_of(result: Any, x: Any) -> Any:
    """A saved argument as the operation took it, cast (a symbol stays one)."""
    if isinstance(x, Tensor):
        return x if x.array.dtype == result.array.dtype else x._cast(result.array.dtype)
    return x.astype(result.dtype) if isinstance(x, np.ndarray) else x


def _power(base, exponent):
    if isinstance(exponent, (int, float)):
        if base.dtype.kind == "f" and exponent in _SMALL_POWERS:
            return _SMALL_POWERS[exponent](base)
        if base.dtype.kind != "f" and exponent < 0 and isinstance(exponent, int):
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        if base.dtype.kind == "b" and isinstance(exponent, bool):
            return base.copy() if exponent else np.ones_like(base)
    elif base.dtype.kind != "f" and exponent.dtype.kind in "iu":     # a whole number to -2 is 0, but for 1 and -1
        return np.where(exponent < 0, np.where(base == 1, 1, np.where(base == -1, 1 - 2 * (exponent % 2), 0)),
                        base ** np.maximum(exponent, 0)).astype(base.dtype)
    if may_be_read(base):
        return np.power(base, exponent, dtype=np.float64).astype(base.dtype)
    return (base.astype(np.int64) if base.dtype.kind == "b" else base) ** exponent


@op(tex="{self}^{{{exponent}}}", node="PowBackward0", promote="same", inplace=True,
    self=lambda grad, self, exponent: zeros_of(grad) if exponent == 0 else grad * (_double(exponent) * pow(self, _double(exponent) - 1)))
def _pow_scalar(self, exponent):
    fits = self.dtype.kind == "f" or not isinstance(exponent, float)
    return _power(self if fits else self.astype(dtypes.get_default_dtype().numpy), exponent)


@op(tex="{self}^{{{exponent}}}", node="PowBackward1", promote="same", inplace=True,
    self=lambda grad, self, exponent: where(exponent == 0, 0.0, grad * (exponent * pow(self, sub(exponent, 1)))),
    exponent=lambda grad, self, exponent, result:
        grad * where(logical_and(self == 0, exponent >= 0), 0.0, result * log(_in_type_of(result, self))))
def _pow_tensor(self, exponent):
    refuse(self, "b", "pow")
    return _power(self, exponent)


@op(tex="{self}^{{{exponent}}}", node="PowBackward2", exponent=lambda grad, self, exponent, result:
    grad * (where(exponent >= 0, 0.0, result * -math.inf) if self == 0 else result * (math.log(self) if self > 0 else math.nan)))
def _pow_base(exponent, self):
    if isinstance(self, bool):
        refuse(exponent, "b", "pow")
    base, exponent = dtypes.promote(self, exponent)
    return np.asarray(_power(base, exponent), order="C")


def pow(input: Any, exponent: Any) -> Any:
    """``input ** exponent``, elementwise; either may be a Python number."""
    if isinstance(input, Tensor):       # else this is a formula, which has arrays where a user has tensors
        exponent = exponent.item() if isinstance(exponent, np.generic) else NotImplemented if isinstance(exponent, np.ndarray) else exponent
    if not isinstance(exponent, (Tensor, np.ndarray, np.generic)):
        return _pow_scalar(input, exponent) if isinstance(exponent, (int, float)) else NotImplemented
    if isinstance(input, (Tensor, np.ndarray, np.generic)):
        return _pow_tensor(input, exponent)
    return _pow_base(exponent, input)


def pow_(self: Tensor, exponent: Any) -> Tensor:
    """`pow` in place."""
    exponent = exponent.item() if isinstance(exponent, np.generic) else exponent
    return self._pow_tensor_(exponent) if isinstance(exponent, Tensor) else self._pow_scalar_(exponent)


Tensor.__pow__ = pow
Tensor.__ipow__ = lambda self, exponent: pow_(self, exponent) if isinstance(exponent, (Tensor, int, float, np.generic)) else NotImplemented


def square(input: Any) -> Any:
    """``input ** 2``, elementwise."""
    return pow(input, 2)


def square_(self: Tensor) -> Tensor:
    """`square`, in place."""
    return self.pow_(2)


Tensor.__rtruediv__ = lambda self, other: reciprocal(self) * other
Tensor.__rfloordiv__ = lambda self, other: NotImplemented if not isinstance(other, (int, float, np.generic)) else floor_divide(
    wrap(np.asarray(other).astype(dtypes.result_type(other.item() if isinstance(other, np.generic) else other, self.array))), self)
Tensor.__rmod__ = lambda self, other: NotImplemented if isinstance(other, np.ndarray) else _remainder_of_number(self, other)
Tensor.__rpow__ = lambda self, base: NotImplemented if not isinstance(base, (int, float, np.generic)) else _pow_base(
    self, base.item() if isinstance(base, np.generic) else base)


# Functions of one number ---------------------------------------------------------------------------------------------------

def precise(ufunc: np.ufunc) -> Callable:
    """A function that rounds once where its numbers may be read."""
    def kernel(x: Any) -> Any:
        return ufunc(x, dtype=np.float64).astype(x.dtype) if may_be_read(x) else ufunc(x)
    return kernel


def _function(name: str, kernel: Callable, doc: str, tex: str, gradient: Callable, *aliases: str) -> Callable:
    """A smooth function: of integers in the default floating-point type."""
    steps = in_single(kernel) if not isinstance(kernel, np.ufunc) else kernel if kernel is np.sqrt else precise(kernel)

    def function(self):
        return steps(self)
    function.__name__, function.__doc__ = name, doc + ", elementwise."
    return op(*aliases, tex=tex, promote="float", inplace=True, self=gradient)(function)


precise_exp, precise_log = precise(np.exp), precise(np.log)
exp = _function("exp", np.exp, "e to the power", r"e^{{{self}}}", lambda grad, result: grad * result)
exp2 = _function("exp2", np.exp2, "2 to the power", r"2^{{{self}}}", lambda grad, result: grad * result * math.log(2))
expm1 = _function("expm1", np.expm1, "e to the power, minus 1, accurate near 0", r"e^{{{self}}} - 1",
                  lambda grad, result: grad * (result + 1))
log = _function("log", np.log, "Natural logarithm", r"\ln {self}", lambda grad, self: div(grad, self))
log2 = _function("log2", np.log2, "Logarithm to base 2", r"\log_2 {self}", lambda grad, self: grad / (self * math.log(2)))
log10 = _function("log10", np.log10, "Logarithm to base 10", r"\log_{{10}} {self}", lambda grad, self: grad / (self * math.log(10)))
log1p = _function("log1p", np.log1p, "Natural logarithm of 1 + x, accurate near 0", r"\ln(1 + {self})",
                  lambda grad, self: grad / (self + 1))
reciprocal = _function("reciprocal", lambda x: 1 / x, "One over the number", r"\frac{{1}}{{{self}}}",
                       lambda grad, result: -grad * (result * result))
sqrt = _function("sqrt", np.sqrt, "Square root, whose slope at 0 is infinite", r"\sqrt{{{self}}}",
                 lambda grad, result: grad / (2 * result))
rsqrt = _function("rsqrt", lambda x: 1 / np.sqrt(x), "One over the square root", r"\frac{{1}}{{\sqrt{{{self}}}}}",
                  lambda grad, result: -0.5 * grad * pow(result, 3))
sin = _function("sin", np.sin, "Sine of an angle in radians", r"\sin {self}", lambda grad, self: grad * cos(self))
cos = _function("cos", np.cos, "Cosine of an angle in radians", r"\cos {self}", lambda grad, self: grad * -sin(self))
tan = _function("tan", np.tan, "Tangent of an angle in radians", r"\tan {self}", lambda grad, result: grad * (1 + pow(result, 2)))
asin = _function("asin", np.arcsin, "Inverse sine, in radians", r"\arcsin {self}",
                 lambda grad, self: grad * rsqrt(-self * self + 1), "arcsin")
acos = _function("acos", np.arccos, "Inverse cosine, in radians", r"\arccos {self}",
                 lambda grad, self: grad * -rsqrt(-self * self + 1), "arccos")
atan = _function("atan", np.arctan, "Inverse tangent, in radians", r"\arctan {self}",
                 lambda grad, self: grad / (self * self + 1), "arctan")
sinh = _function("sinh", np.sinh, "Hyperbolic sine", r"\sinh {self}", lambda grad, self: grad * cosh(self))
cosh = _function("cosh", np.cosh, "Hyperbolic cosine", r"\cosh {self}", lambda grad, self: grad * sinh(self))
asinh = _function("asinh", np.arcsinh, "Inverse hyperbolic sine", r"\operatorname{{arsinh}} {self}",
                  lambda grad, self: grad * rsqrt(pow(self, 2) + 1), "arcsinh")
acosh = _function("acosh", np.arccosh, "Inverse hyperbolic cosine", r"\operatorname{{arcosh}} {self}",
                  lambda grad, self: grad * rsqrt(self * self - 1), "arccosh")
atanh = _function("atanh", np.arctanh, "Inverse hyperbolic tangent", r"\operatorname{{artanh}} {self}",
                  lambda grad, self: grad * 1 / (1 - pow(self, 2)), "arctanh")
erf = _function("erf", lambda x: np.asarray(np.frompyfunc(math.erf, 1, 1)(x), x.dtype), "The error function",
                r"\operatorname{{erf}}({self})", lambda grad, self: 2 / math.sqrt(math.pi) * exp(-pow(self, 2)) * grad)
erfc = _function("erfc", lambda x: np.asarray(np.frompyfunc(math.erfc, 1, 1)(x), x.dtype), "1 minus the error function",
                 r"\operatorname{{erfc}}({self})", lambda grad, self: -2 / math.sqrt(math.pi) * exp(-pow(self, 2)) * grad)
tanh = _function("tanh", np.tanh, "Hyperbolic tangent", r"\tanh({self})", lambda grad, result: _tanh_backward(grad, result))
sigmoid = _function("sigmoid", lambda x: 1 / (1 + precise_exp(-x)), "``1 / (1 + exp(-x))``", r"\sigma({self})",
                    lambda grad, result: _sigmoid_backward(grad, result))


@op(tex=r"{grad_output} \odot (1 - {output}^2)", in_steps=True, symmetric=True,
    output=lambda grad, grad_output, output: grad * (-2 * output * grad_output))
def _tanh_backward(grad_output, output):
    """The derivative of tanh in terms of its result, a node of its own in second derivatives."""
    if may_be_read(output):     # 1 - y² is one step of PyTorch's processor, rounded once
        return grad_output * (1 - output.astype(np.float64) ** 2).astype(output.dtype)
    return grad_output * (1 - output * output)


@op(tex=r"{grad_output} \odot (1 - {output}) \odot {output}", in_steps=True, symmetric=True,
    output=lambda grad, grad_output, output: (lambda slope: grad * grad_output * slope)(-2 * output + 1))
def _sigmoid_backward(grad_output, output):
    """The derivative of sigmoid in terms of its result."""
    return grad_output * (1 - output) * output


@op(promote="same", inplace=True, tex=r"\ln \frac{{{self}}}{{1 - {self}}}", self=lambda grad, self, eps: _logit_gradient(grad, self, eps))
def logit(self, eps=None):
    """The inverse of sigmoid; with `eps`, of numbers limited to [eps, 1 - eps]."""
    x = self if self.dtype.kind == "f" else self.astype(dtypes.get_default_dtype().numpy)
    x = x if eps is None else np.clip(x, x.dtype.type(eps), x.dtype.type(1 - eps))
    return np.log(x / (1 - x))


def _logit_gradient(grad: Any, x: Any, eps: float | None) -> Any:
    low, high, outside = (0, 1, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    return where(logical_or(x < low, x > high), outside, grad / (x * (1 - x)))


def _steps(name: str, kernel: Callable, doc: str, tex: str, *aliases: str, refused: str = "", saves: tuple[str, ...] = ()) -> Callable:
    """A function of slope 0; `refused` is PyTorch's name of the kernel that it does not have for bool."""
    def function(self):
        if refused:
            refuse(self, "b", refused)
        return kernel(self)
    function.__name__, function.__doc__ = name, doc + ", elementwise."
    return op(*aliases, tex=tex, promote="same", inplace=True, saves=saves, self=lambda grad: zeros_of(grad))(function)


def _signs(array):
    return array.copy() if array.dtype == bool else (array > 0).astype(array.dtype) - (array < 0)


sgn = _steps("sgn", _signs, "-1, 0 or 1 by sign, of NaN 0", r"\operatorname{{sgn}}({self})", saves=("self", "result"))
sign = _steps("sign", _signs, "-1, 0 or 1 by sign, of NaN 0", r"\operatorname{{sign}}({self})")
floor = _steps("floor", np.floor, "The largest integer not above", r"\lfloor {self} \rfloor", refused="floor_vml_cpu")
ceil = _steps("ceil", np.ceil, "The smallest integer not below", r"\lceil {self} \rceil", refused="ceil_vml_cpu")
trunc = _steps("trunc", np.trunc, "The integer part", r"\operatorname{{trunc}}({self})", "fix", refused="trunc_vml_cpu")


_round = _steps("_round", np.round, "The nearest whole number, halves to even", r"\operatorname{{round}}({self})",
                refused="round_vml_cpu")


@op(node="RoundBackward1", promote="same", inplace=True, tex=r"\operatorname{{round}}_{{{decimals}}}({self})",
    self=lambda grad: zeros_of(grad))
def _round_decimals(self, decimals):
    return np.round(self, decimals)


def round(input: Any, *, decimals: int | None = None) -> Any:
    """The nearest number of so many decimals, halves to even."""
    return _round(input) if decimals is None else _round_decimals(input, decimals)


def round_(self: Tensor, *, decimals: int | None = None) -> Tensor:
    """`round`, in place."""
    return self._round_() if decimals is None else self._round_decimals_(decimals)


@op(promote="same", inplace=True, tex=r"{self} - \operatorname{{trunc}}({self})", self=lambda grad: grad)
def frac(self):
    """What is left of the integer part."""
    refuse(self, "biu", "frac_cpu")
    return self - np.trunc(self)


@op("absolute", "__abs__", tex=r"|{self}|", promote="same", inplace=True, self=lambda grad, self: grad * sgn(self))
def abs(self):
    """Absolute value; the slope at 0 is 0."""
    refuse(self, "b", "abs_cpu")
    return np.abs(self)


@op(tex=r"\max({self}, 0)", inplace=True, self=lambda grad, result: _threshold_backward(grad, result, 0))
def relu(self):
    """The positive part; the slope at 0 is 0."""
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return np.maximum(self.dtype.type(0), self)     # of 0.0 and -0.0, NumPy keeps the second, and PyTorch x


_BITS, _ONE = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}, np.int8(1)


def without(values: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """The values, and 0 where they are dropped: ``np.where(dropped, 0, values)`` by bits, which takes a tenth of the time
    where a mask has no pattern that the processor could guess."""
    bits = _BITS[values.itemsize]
    return (values.view(bits) & (dropped.view(np.int8) - _ONE).astype(bits)).view(values.dtype)


@op(tex=r"{grad_output} \odot [{self} > {threshold}]", saves=("self",), symmetric=True, self=lambda grad: zeros_of(grad))
def _threshold_backward(grad_output, self, threshold):
    """A gradient where the value is above a threshold, else 0 (not ``0 * grad``: that would make NaN of infinity)."""
    return arranged(without(grad_output, self <= threshold), self, grad_output)


@op(promote="same", inplace=True, tex="{self}", self=lambda grad, self: grad * isfinite(self))
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    """Numbers in place of NaN (0) and infinities (the largest and smallest)."""
    return np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf) if self.dtype.kind == "f" else self.copy()


_finite_in_place = Tensor.nan_to_num_


def nan_to_num_(self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """`nan_to_num` in place; whole numbers and bools are only counted as written."""
    return _finite_in_place(self, nan, posinf, neginf) if self.array.dtype.kind == "f" else self.copy_(self)


Tensor.nan_to_num_ = nan_to_num_


# Functions of two or three numbers -----------------------------------------------------------------------------------------

def _over_square(x: Any, y: Any) -> Any:
    square = x * x + y * y
    return masked_fill(reciprocal(square), square == 0, 0)


@op("arctan2", promote="float", inplace=True, self=lambda grad, self, other: grad * other * _over_square(self, other),
    other=lambda grad, self, other: grad * neg(self) * _over_square(self, other))
def atan2(self, other: Tensor):
    """The angle of the point (other, self), in radians."""
    return np.arctan2(self, other)


@op(tex=r"\sqrt{{{self}^2 + {other}^2}}", promote="same", inplace=True,
    self=lambda grad, self, result: grad * self / result, other=lambda grad, other, result: grad * other / result)
def hypot(self, other: Tensor):
    """The length of the hypotenuse, elementwise."""
    refuse(self, "biu", "hypot_cpu")
    return np.hypot(self, other)


@op(tex=r"\ln(e^{{{self}}} + e^{{{other}}})", promote="same",
    self=lambda grad, self, other: grad / (1 + exp(other - self)),
    other=lambda grad, self, other: grad / (1 + exp(self - other)))
def logaddexp(self, other: Tensor):
    """The logarithm of a sum of exponentials, accurate for large ones."""
    refuse(self, "biu", "logaddexp_cpu")
    return np.logaddexp(self, other)


@op(tex=r"{self} \ln {other}", promote="float", inplace=True, scalar="XlogyBackward2",
    self=lambda grad, self, other: masked_fill(xlogy(grad, other), (self == 0) & (other <= 0), 0),
    other=lambda grad, self, other: grad * self / other)
def xlogy(self, other):
    """``self * log(other)``, and 0 where `self` is 0."""
    return np.where((self == 0) & ~np.isnan(other), self.dtype.type(0), self * np.log(other))


def _one_type(self: np.ndarray, end: np.ndarray, weight: Any) -> None:
    """PyTorch's lerp casts nothing but a 0-d weight, and takes no integers."""
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, np.ndarray) and x.dtype != self.dtype and (name == "end" or x.ndim):
            names = [dtypes.of_numpy[a.dtype].cpp_name for a in (self, x)]
            raise RuntimeError(f"expected dtype {names[0]} for `{name}` but got dtype {names[1]}")
    try:
        refuse(self, "biu", f"lerp_kernel_{'tensor' if isinstance(weight, np.ndarray) else 'scalar'}")
    except NotImplementedError as error:
        raise operand_error(error, self, end, weight) from None


@op(node="LerpBackward1", tex=r"{self} + {weight} ({end} - {self})", promote="same", inplace=True, check=_one_type,
    in_steps=True, scalar="LerpBackward0", self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight, weight=lambda grad, self, end: grad * (end - self))
def lerp(self, end, weight):
    """From `input` (weight 0) to `end` (weight 1) on a straight line."""
    refuse(self, "biu", "lerp_kernel_tensor")
    return np.where(np.abs(weight) < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight))


@op(tex=r"{self} + {value} {tensor1} \odot {tensor2}", promote="same", inplace=True, in_steps=True,
    self=lambda grad: grad, tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value))
def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value=1):
    """``self + value * tensor1 * tensor2``, elementwise."""
    refuse(self, "b", "addcmul_cpu_out")
    return self + (tensor1 * tensor2 if value == 1 else value * tensor1 * tensor2)


@op(tex=r"{self} + {value} \frac{{{tensor1}}}{{{tensor2}}}", promote="same", inplace=True, in_steps=True,
    self=lambda grad: grad, tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)))
def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value=1):
    """``self + value * tensor1 / tensor2``, elementwise."""
    return self + (tensor1 / tensor2 if value == 1 else value * tensor1 / tensor2)


@op(tex=r"\max({self}, {other})", promote="same",
    self=lambda grad, self, other: masked_fill(_halved_at_ties(grad, self, other), self < other, 0),
    other=lambda grad, self, other: masked_fill(_halved_at_ties(grad, self, other), self > other, 0))
def maximum(self, other: Tensor):
    """The larger one, elementwise; at a tie each gets half of the gradient."""
    return np.maximum(other, self)


@op(tex=r"\min({self}, {other})", promote="same",
    self=lambda grad, self, other: masked_fill(_halved_at_ties(grad, self, other), self > other, 0),
    other=lambda grad, self, other: masked_fill(_halved_at_ties(grad, self, other), self < other, 0))
def minimum(self, other: Tensor):
    """The smaller one, elementwise; at a tie each gets half of the gradient."""
    return np.minimum(other, self)


def _halved_at_ties(grad: Any, a: Any, b: Any) -> Any:
    return where(a == b, grad / 2, grad)


def _of_one_type(self: Any, values: Any) -> None:
    check(self.dtype == values.dtype, "heaviside is not yet implemented for tensors with different dtypes.")


@op(promote="same", inplace=True, check=_of_one_type, **underivable("aten::heaviside", "self", "values"))
def heaviside(self, values: Tensor):
    """0 below 0, 1 above, and at 0 what `values` says."""
    return np.where(self == 0, values, (self > 0).astype(self.dtype))


# Writing -------------------------------------------------------------------------------------------------------------------

@op(inplace="overlapping", self=lambda grad: zeros_of(grad))
def _zero(self):
    """Set all elements to zero, in place."""
    return np.zeros_like(self)


def _filled_once(target: np.ndarray, value: Any) -> None:
    """A number may be written where elements overlap, a 0-d tensor not."""
    if isinstance(value, np.ndarray):
        check_overlap(target)


@op(node="FillBackward3", inplace="overlapping", check_target=_filled_once, scalar="FillBackward2",
    self=lambda grad: zeros_of(grad), value=lambda grad: grad)
def _fill(self, value):
    """Set all elements to a number or a 0-d tensor."""
    if np.ndim(value):
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return np.full_like(self, dtypes.filling(value, self.dtype))


@op(node="torch::autograd::CopyBackwards", inplace="overlapping", self=lambda grad: zeros_of(grad),
    src=lambda grad, _src_dtype: typed(grad, _src_dtype))
def _copy(self, src, non_blocking=False):
    shape = common_shape(self.shape, src.shape)
    check(shape == self.shape, lambda: broadcasts_beyond(self.shape, shape))
    return np.broadcast_to(src, self.shape).astype(self.dtype)


def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Overwrite the elements with those of another tensor, which may broadcast and be of another dtype."""
    if not isinstance(other, (Tensor, int, float)):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    return self._copy_(other if isinstance(other, Tensor) else wrap(np.asarray(other)), non_blocking)


Tensor.zero_, Tensor.fill_ = Tensor._zero_, Tensor._fill_
