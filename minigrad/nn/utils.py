"""``torch.nn.utils``: limit gradients, and all parameters as one vector."""
from __future__ import annotations

import math
import warnings
from collections.abc import Generator, Iterable

import numpy as np

from ..grad_mode import no_grad
from ..ops import cat
from ..reasons import check
from ..tensor import Tensor, wrap


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [p.grad for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p.grad is not None]


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """Shrink all gradients by one factor so that their joint norm is at most `max_norm`; return the norm before.

    Raises
    ------
    RuntimeError
        If `error_if_nonfinite` and the norm is NaN or infinite.
    """
    if isinstance(parameters, Generator):
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    grads, order = _gradients(parameters), float(norm_type)
    norms = np.array([np.linalg.norm(g.array.reshape(-1), order) for g in grads],
                     grads[0].array.dtype if grads else np.float32)
    total = wrap(np.asarray(np.linalg.norm(norms, order) if grads else np.float32(0)))
    check(not error_if_nonfinite or math.isfinite(total.item()), lambda: f"The total norm of order {order} for "
          "gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the "
          "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")
    factor = min(float(max_norm) / (total.item() + 1e-6), 1.0)
    with no_grad():
        for grad in grads:
            grad.mul_(factor)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of the gradients to ±`clip_value`."""
    with no_grad():
        for grad in _gradients(parameters):
            grad.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters one after the other: still a part of the graph."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the values of a vector; their data become views of it.

    Raises
    ------
    TypeError
        "expected torch.Tensor, but got: list"
    """
    check(isinstance(vec, Tensor), lambda: f"expected torch.Tensor, but got: {type(vec).__name__}", TypeError)
    start = 0
    for p in parameters:
        p.data = vec[start:start + p.numel()].view_as(p).data
        start += p.numel()
