"""``torch.nn.functional``: layers and losses as functions, and the operations that only they need.

What is differentiable here is declared as in `ops`; the functions around the declarations check, warn and choose as PyTorch's do.
"""
from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .. import ops
from ..dtype import of_numpy, promote
from ..function import op
from ..tensor import Tensor

# Reductions ----------------------------------------------------------------------------------------------------------------

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}      # what a node shows as _saved_reduction


def reduction_number(reduction: str) -> int:
    """PyTorch's number of a ``reduction=`` argument.

    Raises
    ------
    ValueError
        "avg is not a valid value for reduction"
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def reduce(losses: np.ndarray, reduction: int) -> np.ndarray:
    """The losses themselves, their mean, or their sum."""
    if reduction == 0:
        return losses
    total = np.add.reduce(losses, axis=None)
    return total if reduction == 2 else total / losses.dtype.type(losses.size)


def share(x: Any, reduction: int) -> float:
    """How much the loss of one element counts in the reduced loss."""
    return 1 / math.prod(x.shape) if reduction == 1 else 1


def same_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Input and target in one shape, with PyTorch's warning if they were not."""
    if input.array.shape == target.array.shape:
        return input, target
    warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely lead to "
                  "incorrect results due to broadcasting. Please ensure they have the same size.", stacklevel=3)
    try:
        shape = np.broadcast_shapes(input.array.shape, target.array.shape)
    except ValueError:
        raise ops.shape_error(input.array, target.array) from None
    return tuple(x if x.array.shape == shape else x.expand(shape) for x in (input, target))


# Layers --------------------------------------------------------------------------------------------------------------------

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``: ``(..., k), (m, k), (m) -> (..., m)``.

    A batch is one node, ``AddmmBackward0`` over ``TBackward0``; more or fewer dimensions are folded into a batch.

    Raises
    ------
    RuntimeError
        "mat1 and mat2 shapes cannot be multiplied (4x2 and 3x2)"
    """
    if input.ndim == 0 or weight.ndim == 0:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D")
    if bias is None:
        return ops.matmul(input, ops.t(weight))
    if weight.ndim == 2 and input.ndim == 2:
        return ops.addmm(bias, input, ops.t(weight))
    if weight.ndim == 2 and bias.ndim == 1 and input.is_contiguous():
        rows = input.view(-1, input.shape[-1]) if input.array.size else input.view(math.prod(input.shape[:-1]), input.shape[-1])
        return ops.addmm(bias, rows, ops.t(weight)).view(*input.shape[:-1], weight.shape[0])
    return ops.matmul(input, ops.t(weight)).add_(bias)


# Activations ---------------------------------------------------------------------------------------------------------------

def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part."""
    return input.relu_() if inplace else ops.relu(input)


# Losses --------------------------------------------------------------------------------------------------------------------

def _check_dtype(expected: np.ndarray, *found: np.ndarray) -> None:
    """PyTorch's backward kernels take one dtype only: a float64 target that slipped through forward ends here."""
    for array in found:
        if array.dtype != expected.dtype:
            names = [of_numpy[a.dtype].scalar_type for a in (array, expected)]
            raise RuntimeError(f"Found dtype {names[0]} but expected {names[1]}")


@op(tex=r"\operatorname{{mse}}({self}, {target})",
    self=lambda grad, self, target, reduction: mse_loss_backward(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: mse_loss_backward(grad, target, self, reduction))
def _mse_loss(self, target, reduction):
    self, target = promote(self, target)
    difference = self - target
    return reduce(difference * difference, reduction)


@op(tex=r"2 ({self} - {target}) {grad_output}",
    grad_output=lambda grad, self, target, reduction: grad * (self - target) * (2 * share(self, reduction)),
    self=lambda grad, grad_output, self, reduction: grad * grad_output * (2 * share(self, reduction)),
    target=lambda grad, grad_output, self, reduction: grad * grad_output * (-2 * share(self, reduction)))
def mse_loss_backward(grad_output, self, target, reduction):
    """The derivative of the squared error by `self`."""
    _check_dtype(grad_output, self, target)
    return (self - target) * (2 * share(self, reduction)) * grad_output


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The squared error, averaged (or summed, or neither) over all elements.

    Warns
    -----
    UserWarning
        "Using a target size (torch.Size([3])) that is different to the input size (torch.Size([3, 1])). …"
    """
    return _mse_loss(*same_shape(input, target), reduction_number(reduction))
