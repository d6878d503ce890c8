"""Layer norm and batch norm: one formula for both.

The mean and 1/deviation that PyTorch's nodes show as result1 and result2 come in from outside; the derivative computes them
again from the input, since a second derivative goes through them too.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtype import refuse
from ..function import Operand, op
from ..ops import reductions, views
from ..ops.elementwise import rsqrt
from ..ops.reductions import mean
from ..reasons import check
from ..tensor import Tensor, wrap


def _statistics(x: np.ndarray, dims: tuple, eps: float) -> tuple[np.ndarray, np.ndarray]:
    n = math.prod(x.shape[d] for d in dims)
    average = np.add.reduce(x, axis=dims, keepdims=True) / x.dtype.type(max(n, 1))      # of nothing 0, the deviation NaN
    variance = np.add.reduce(np.square(x - average), axis=dims, keepdims=True) / x.dtype.type(n or np.nan)
    return average, 1 / np.sqrt(variance + x.dtype.type(eps))


def _normalized(x: Any, dims: tuple, eps: float) -> tuple[Any, Any]:
    centered = x - mean(x, dims, True)
    deviation = rsqrt(mean(centered * centered, dims, True) + eps)
    return centered * deviation, deviation


def _normalization_slope(grad: Any, x: Any, dims: tuple, eps: float) -> Any:
    normed, deviation = _normalized(x, dims, eps)
    return deviation * (grad - mean(grad, dims, True) - normed * mean(grad * normed, dims, True))


def _last(shape: tuple) -> tuple[int, ...]:
    """The dimensions that layer norm takes together: as many as the shape has, from the end."""
    return tuple(range(-len(shape), 0))


def _all_but_channels(x: Any) -> tuple[int, ...]:
    """The dimensions that batch norm takes together."""
    return 0, *range(2, x.ndim)


def _scaled(grad: Any, weight: Any) -> Any:
    """Times a weight, if there is one."""
    return grad if weight is None else grad * weight


def _affine(normed: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None) -> np.ndarray:
    normed = normed if weight is None else normed * weight
    return np.ascontiguousarray(normed if bias is None else normed + bias)


def _check_first_type(input: Tensor, *parameters: Tensor | None) -> list:
    """Refuse a first parameter of another type than the input's; return the types of all."""
    types = [p.dtype for p in parameters if p is not None]
    check(not types or types[0] is input.dtype, lambda: "mixed dtype (CPU): " + (
        "all inputs must share same datatype." if {t.scalar_type for t in types} == {"Float"} else
        "expect parameter to have scalar type of Float"))
    return types


def _check_types(kernel: str, input: Tensor, *parameters: Tensor | None) -> None:
    """Refuse what is not floating point, and parameters of another type than the input's.

    Raises
    ------
    NotImplementedError, RuntimeError
        With PyTorch's texts: which one depends on whether already the first parameter differs.
    """
    refuse(input.array, "biu", kernel)
    other = next((t for t in _check_first_type(input, *parameters) if t is not input.dtype), None)
    check(other is None, lambda: f"expected scalar type {input.dtype.scalar_type} but found {other.scalar_type}")


@op(tex=r"\operatorname{{layer\_norm}}({input})", saves=("result1", "result2", "weight", "bias"),
    input=lambda grad, input, weight, normalized_shape, _eps:
        _normalization_slope(_scaled(grad, weight), input, _last(normalized_shape), _eps),
    weight=lambda grad, input, normalized_shape, _eps: grad * _normalized(input, _last(normalized_shape), _eps)[0],
    bias=lambda grad: grad)
def _native_layer_norm(input, weight, bias, normalized_shape, _eps, result1: Tensor, result2: Tensor):
    return _affine((input - result1) * result2, weight, bias)


def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then ``* weight + bias``.

    Source: Ba et al., Layer Normalization, 2016.

    Raises
    ------
    RuntimeError
        "Given normalized_shape=[2], expected input with shape [*, 2], but got input of size[2, 3]"
    """
    shape = tuple(normalized_shape)
    check(shape, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but "
          "got normalized_shape = []")
    _check_first_type(input, weight, bias)
    for name, parameter in {"weight": weight, "bias": bias}.items():
        if parameter is not None and tuple(parameter.shape) != shape:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                               f"{list(parameter.shape)} and normalized_shape = {list(shape)}")
    check(tuple(input.shape[-len(shape):]) == shape, lambda: f"Given normalized_shape={list(shape)}, expected input with shape [*, "
          f"{', '.join(map(str, shape))}], but got input of size{list(input.shape)}")
    _check_types("LayerNormKernelImpl", input, weight, bias)
    return _native_layer_norm(input, weight, bias, shape, eps, *map(wrap, _statistics(input.array, _last(shape), eps)))


def _standardized(x: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> tuple[Any, Any]:
    """What batch norm makes of its input before weight and bias, and 1/deviation."""
    if training:
        return _normalized(x, _all_but_channels(x), eps)
    deviation = rsqrt(_column(running_var, x) + eps)
    return (x - _column(running_mean, x)) * deviation, deviation


def _column(channels: Any, x: Any) -> Any:
    """One number per channel, in a shape that fits the input."""
    return channels if channels is None or x.ndim == 2 else views.reshape(channels, -1, *(1 for _ in range(2, x.ndim)))


@op(tex=r"\operatorname{{batch\_norm}}({input})", saves=("result1", "result2", "weight"),
    input=lambda grad, input, weight, running_mean, running_var, training, eps:
        _normalization_slope(_scaled(grad, _column(weight, input)), input, _all_but_channels(input), eps) if training
        else _scaled(grad, _column(weight, input)) * _standardized(input, running_mean, running_var, False, eps)[1],
    weight=lambda grad, input, running_mean, running_var, training, eps:
        reductions.sum(grad * _standardized(input, running_mean, running_var, training, eps)[0], _all_but_channels(input)),
    bias=lambda grad: reductions.sum(grad, _all_but_channels(grad)))
def _native_batch_norm(input, weight, bias, running_mean: Operand, running_var: Operand, training, eps, result1: Tensor,
                       result2: Tensor):
    center, scale = result1, result2
    if not training:
        center, scale = running_mean, 1 / np.sqrt(running_var + running_var.dtype.type(eps))
    normed = (input - _column(center, input)) * _column(scale, input)
    return _affine(normed, _column(weight, input), _column(bias, input))


def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 for each channel (dimension 1), then ``* weight + bias``; not in training by the running ones.

    Source: Ioffe and Szegedy, Batch Normalization, 2015.

    Raises
    ------
    ValueError, RuntimeError
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"; "running_mean should contain 3
        elements not 2"; "mixed dtype (CPU): …"
    """
    dims = _all_but_channels(input)
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    n, channels = math.prod(input.shape[d] for d in dims), input.size(1)
    if training and n == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    if not input.numel():       # nothing to learn from: the running averages stay
        out = input.clone() if weight is None else input.clone() * weight[0]
        return out if bias is None else out + bias[0]
    for name, parameter in given.items():
        if parameter is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if parameter is not None and parameter.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {parameter.numel()}")
    _check_types("batch_norm", input, weight, bias, running_mean, running_var)
    center, scale = _statistics(input.array, dims, eps) if training else np.empty((2, 0), input.array.dtype)
    center, scale = center.reshape(-1), scale.reshape(-1)
    if training and running_mean is not None:        # not counted in their versions, as in PyTorch
        for running, new in ((running_mean, center), (running_var, input.array.var(axis=dims, ddof=1))):
            running.array[...] = (1 - momentum) * running.array + momentum * new
    return _native_batch_norm(input, weight, bias, running_mean, running_var, training, eps, wrap(center), wrap(scale))
