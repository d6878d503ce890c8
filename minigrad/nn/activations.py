"""Activations as functions of ``torch.nn.functional``, each with its derivatives.

Where PyTorch has a backward kernel of its own (``LeakyReluBackwardBackward0`` in second derivatives) so has this.
"""
from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..dtype import refuse
from ..function import op
from ..ops import elementwise
from ..ops.choices import where, zeros_of
from ..ops.elementwise import _sigmoid_backward, abs, erf, exp
from ..reasons import check
from ..strides import arranged
from ..tensor import Tensor

__all__ = ["elu", "elu_", "gelu", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "relu", "relu6",
           "relu_", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus", "softsign", "tanh", "threshold"]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part."""
    return input.relu_() if inplace else elementwise.relu(input)


# In place, leaky_relu and elu remember their result, since their input is gone: PyTorch has nodes of their own for that.

def _invertible(slope: float, name: str, more: str = "") -> float:
    """The slope below 0: of a negative one, the result does not tell on which side its input was."""
    check(not slope < 0, lambda: f"In-place {name} backward calculation is triggered with a negative slope which is not "
          "supported. This is caused by calling in-place forward function with a negative slope, please call "
          f"out-of-place version instead.{more}")
    return slope


_REQUEST = (" File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward calculation "
            "with negative slope")


@op(tex=r"\operatorname{{leaky\_relu}}'({self}) {grad_output}", saves=("self",), symmetric=True,
    self=lambda grad: zeros_of(grad))
def _leaky_relu_backward(grad_output, self, negative_slope):
    return arranged(np.where(self > 0, grad_output, grad_output * self.dtype.type(negative_slope)), self, grad_output)


@op(node="LeakyReluBackward1", inplace=True, self=lambda grad, result, negative_slope:
    _leaky_relu_backward(grad, result, _invertible(negative_slope, "leakyReLu", _REQUEST)))
def _leaky_relu(self, negative_slope=0.01):
    """The tensor itself where it is positive, else `negative_slope` times it."""
    refuse(self, "biu", "leaky_relu_cpu")
    return np.where(self > 0, self, self * self.dtype.type(negative_slope))


_leaky_relu = op(self=_leaky_relu_backward)(_leaky_relu.op.kernel)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, else ``negative_slope * x``."""
    return input._leaky_relu_(negative_slope) if inplace else _leaky_relu(input, negative_slope)


@op(node="EluBackward1", inplace=True, self=lambda grad, result, alpha, scale, input_scale:
    grad * where(result <= 0, (result + _invertible(alpha, "elu") * scale) * input_scale, scale))
def _elu(self, alpha=1.0, scale=1, input_scale=1):
    """The tensor itself where it is positive, else an exponential that ends at -`alpha`."""
    refuse(self, "biu", "elu_cpu")
    curve = np.expm1(np.minimum(self, 0) * input_scale) * (alpha * scale)
    return np.where(self < 0, curve, self * self.dtype.type(scale))


_elu = op(tex=_elu.op.tex, self=lambda grad, self, alpha, scale, input_scale: _elu_backward(grad, self, alpha, scale, input_scale))(
    _elu.op.kernel)


@op(tex=r"\operatorname{{elu}}'({self_or_result}) {grad_output}", symmetric=True,
    self_or_result=lambda grad, grad_output, self_or_result, alpha, scale, input_scale:
        _elu_backward(grad * grad_output * input_scale, self_or_result, alpha, scale, input_scale) * (self_or_result < 0))
def _elu_backward(grad_output, self_or_result, alpha, scale, input_scale, is_result=False):
    slope = elementwise.precise_exp(np.minimum(self_or_result, 0) * input_scale) * (alpha * scale * input_scale)
    return grad_output * np.where(self_or_result <= 0, slope, self_or_result.dtype.type(scale))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else ``alpha * (exp(x) - 1)``."""
    return input._elu_(alpha) if inplace else _elu(input, alpha)


_SELU = 1.6732632423543772, 1.0507009873554805      # alpha and scale


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with the constants that keep mean 0 and variance 1."""
    return input._elu_(*_SELU) if inplace else _elu(input, *_SELU)


@op(inplace=True, self=lambda grad, self, min_val, max_val: _hardtanh_backward(grad, self, min_val, max_val))
def _hardtanh(self, min_val=-1.0, max_val=1.0):
    """Limited to [min_val, max_val]."""
    check(self.dtype.kind != "b", "Bool inputs not supported for hardtanh")
    check(self.dtype.kind != "u" or min_val >= 0, "cannot do hardtanh on an unsigned type with negative limits")
    return np.clip(self, self.dtype.type(min_val), self.dtype.type(max_val))


@op(tex="{grad_output} [{min_val} < {self} < {max_val}]", saves=("self",), symmetric=True,
    self=lambda grad: zeros_of(grad))
def _hardtanh_backward(grad_output, self, min_val, max_val):
    return arranged(elementwise.without(grad_output, (self <= min_val) | (self >= max_val)), grad_output, self)     # 0 at the bounds, too


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Limited to [min_val, max_val].

    Raises
    ------
    ValueError
        "min_val cannot be greater than max_val"
    """
    check(not min_val > max_val, "min_val cannot be greater than max_val", ValueError)
    return input._hardtanh_(min_val, max_val) if inplace else _hardtanh(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Limited to [0, 6]."""
    return hardtanh(input, 0, 6, inplace)


@op(self=lambda grad, self, beta, threshold: _softplus_backward(grad, self, beta, threshold))
def _softplus(self, beta, threshold):
    refuse(self, "biu", "softplus_cpu")
    return np.where(self * beta > threshold, self, np.logaddexp(self * beta, self.dtype.type(0)) / beta)


@op(tex=r"\sigma({self}) {grad_output}", symmetric=True, self=lambda grad, grad_output, self, beta, threshold:
        _sigmoid_backward(grad * grad_output, elementwise.sigmoid(self * beta)) * (self * beta < threshold) * beta)
def _softplus_backward(grad_output, self, beta, threshold):
    return np.where(self * beta > threshold, grad_output, grad_output / (1 + elementwise.precise_exp(-self * beta)))


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, a smooth relu; x itself where ``beta * x`` is above the threshold."""
    return _softplus(input, beta, threshold)


@op(tex=r"\sigma(-{self}) {grad_output}", saves=("buffer",), symmetric=True,
    self=lambda grad, grad_output, self: (lambda grad, gate: grad * (gate - 1) * gate)(grad * grad_output, elementwise.sigmoid(self)))
def _log_sigmoid_backward(grad_output, self, buffer: Tensor):
    return grad_output * np.where(self < 0, self.dtype.type(1), buffer) / (1 + buffer)


@op(node="LogSigmoidBackward0", tex=r"\ln \sigma({self})", self=_log_sigmoid_backward)
def _logsigmoid(self, buffer: Tensor):
    refuse(self, "biu", "log_sigmoid_cpu")
    return np.asarray(np.minimum(self, 0) - np.log1p(buffer), order="C")


def logsigmoid(input: Any) -> Any:
    """The logarithm of sigmoid, without overflow; its node keeps ``exp(-|x|)``, as PyTorch's does."""
    return _logsigmoid(input, exp(-abs(input.detach() if isinstance(input, Tensor) else input)))


@op(inplace=True, tex=r"{self} \sigma({self})",
    self=lambda grad, self: _silu_gradient(grad, self, elementwise.sigmoid(self)))
def _silu(self):
    refuse(self, "biu", "silu_cpu")
    return self / (1 + elementwise.precise_exp(-self))


def _silu_gradient(grad: Any, x: Any, gate: Any) -> Any:
    rest = 1 + x * (1 - gate)       # first, as in C++: it decides what runs first in a graph of the backward pass
    return grad * gate * rest


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * sigmoid(x)``."""
    return input._silu_() if inplace else _silu(input)


def _gate(x: Any, approximate: str) -> tuple[Any, Any, Any]:
    """P(N(0, 1) < x), or its approximation by a sigmoid of a cubic, with two derivatives: gelu is ``x * gate``."""
    if approximate == "none":
        density = exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
        return (1 + erf(x * math.sqrt(0.5))) * 0.5, density, -x * density
    factor = 2 * math.sqrt(2 / math.pi)
    gate, slope = elementwise.sigmoid((x + x * x * x * 0.044715) * factor), (1 + x * x * (3 * 0.044715)) * factor
    spread = gate * (1 - gate)
    return gate, spread * slope, spread * (x * (6 * 0.044715 * factor) + slope * slope * (1 - 2 * gate))


def _gelu_bend(x: Any, approximate: str) -> Any:
    _, slope, bend = _gate(x, approximate)
    return 2 * slope + x * bend


@op(self=lambda grad, self, approximate: _gelu_backward(grad, self, approximate))
def _gelu(self, approximate):
    refuse(self, "biu", "GeluKernelImpl")
    return self * _gate(self, approximate)[0]


@op(tex=r"\operatorname{{gelu}}'({self}) {grad_output}", symmetric=True,
    self=lambda grad, grad_output, self, approximate: grad * grad_output * _gelu_bend(self, approximate))
def _gelu_backward(grad_output, self, approximate):
    gate, slope, _ = _gate(self, approximate)
    return grad_output * (gate + self * slope)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x * P(N(0, 1) < x)``; ``approximate="tanh"`` uses a formula with tanh.

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
    """
    check(approximate in ("none", "tanh"), "approximate argument must be either none or tanh.")
    return _gelu(input, approximate)


@op(tex="{self}[{self} > {threshold}]", self=elementwise._threshold_backward)
def _threshold(self, threshold, value):
    refuse(self, "b", "threshold_cpu")
    return np.where(self <= threshold, self.dtype.type(value), self)        # NaN stays


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """x where it is above the threshold, else a value."""
    return _threshold(input, threshold, value)


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return input / (input.abs() + 1)


def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-x))``."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return input.tanh()


relu_, leaky_relu_, elu_, hardtanh_ = Tensor.relu_, Tensor._leaky_relu_, Tensor._elu_, Tensor._hardtanh_


def _chosen_dim(name: str, input: Tensor, dim: int | None) -> int:
    if dim is None:
        rank = input.dim()
        warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                      "argument.", stacklevel=3)
        return 0 if rank in (0, 1, 3) else 1
    return dim


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Positive numbers that add to 1 along `dim`: ``exp(x) / sum(exp(x))``."""
    dim = _chosen_dim("softmax", input, dim)
    return input.softmax(dim, dtype)


def softmin(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """`softmax` of ``-input``."""
    return (-input).softmax(_chosen_dim("softmin", input, dim), dtype)


def log_softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """The logarithm of softmax, computed without overflow."""
    dim = _chosen_dim("log_softmax", input, dim)
    return input.log_softmax(dim, dtype)
