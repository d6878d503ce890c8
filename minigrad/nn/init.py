"""``torch.nn.init``: ways to fill a weight before training. All run under ``no_grad()`` and return the tensor."""
from __future__ import annotations

import math
import warnings

import numpy as np

from ..grad_mode import no_grad
from ..random import Generator
from ..reasons import check
from ..tensor import Tensor, wrap


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers from [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix."""
    check(tensor.ndim == 2, "Only tensors with 2 dimensions are supported", ValueError)
    return tensor.copy_(wrap(np.eye(*tensor.shape, dtype=tensor.array.dtype)))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a nonlinearity's input should be larger to keep the variance (`param`: leaky_relu's slope)."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"linear": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    check(nonlinearity in gains, lambda: f"Unsupported nonlinearity {nonlinearity}", ValueError)
    return gains[nonlinearity]


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs and how many outputs a weight connects."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    place = math.prod(tensor.shape[2:])
    return tensor.shape[1] * place, tensor.shape[0] * place


def _fill(tensor: Tensor, std: float, uniform: bool, generator: Generator | None) -> Tensor:
    """Numbers of a standard deviation around 0."""
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator) if uniform else normal_(tensor, 0.0, std, generator)


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str, uniform: bool, generator: Generator | None) -> Tensor:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return tensor
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fill(tensor, calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode == "fan_out"]), uniform, generator)


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                     generator: Generator | None = None) -> Tensor:
    """Uniform numbers whose variance keeps that of the signal (`a`: the slope of leaky_relu).

    Source: He et al., Delving Deep into Rectifiers, 2015.
    """
    return _kaiming(tensor, a, mode, nonlinearity, True, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                    generator: Generator | None = None) -> Tensor:
    """Normal numbers of the same variance as `kaiming_uniform_`."""
    return _kaiming(tensor, a, mode, nonlinearity, False, generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers whose variance keeps that of the signal, forward and backward.

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010.
    """
    return _fill(tensor, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), True, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers of the same variance as `xavier_uniform_`."""
    return _fill(tensor, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), False, generator)
