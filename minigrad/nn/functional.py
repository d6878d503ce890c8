"""``torch.nn.functional``: layers and losses as functions, and the operations that only they need; `activations` has the rest.

What is differentiable here is declared as in `ops`; the functions around the declarations check, warn and choose as
PyTorch's do. Where PyTorch has a backward kernel of its own (``MseLossBackwardBackward0`` in second derivatives) so has this;
a formula of ordinary operations stands for it where the kernel would only repeat the formula.
"""
from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .. import random
from ..dtype import int64, promote, refuse, scalar_type, uint8
from ..function import Operand, composite, op
from ..ops import choices, elementwise, linalg, rearranging, reductions, views
from ..ops.choices import where, zeros_of
from ..ops.elementwise import abs, log
from ..ops.joining import broadcast_tensors
from ..reasons import check, type_name
from ..tensor import Tensor, wrap
from . import activations
from .normalization import _scaled, batch_norm, layer_norm  # noqa: F401 - functions of this module, too

# Layers --------------------------------------------------------------------------------------------------------------------

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``: ``(..., k), (m, k), (m) -> (..., m)``.

    A batch is one node, ``AddmmBackward0`` over ``TBackward0``; more or fewer dimensions are folded into a batch.

    Raises
    ------
    RuntimeError
        "mat1 and mat2 shapes cannot be multiplied (4x2 and 3x2)"
    """
    rank = input.array.ndim
    if rank == 0 or weight.array.ndim == 0:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {rank}D and {weight.ndim}D")
    if bias is None:
        return linalg.matmul(input, views.t(weight))
    if rank == 2:
        return linalg.addmm(bias, input, views.t(weight))
    if bias.array.ndim == 1 and input.is_contiguous():
        rows = input.view(math.prod(input.shape[:-1]), input.shape[-1])
        return linalg.addmm(bias, rows, views.t(weight)).view(*input.shape[:-1], weight.shape[0])
    return linalg.matmul(input, views.t(weight)).add_(bias)


def pad(input: Tensor, pad: tuple[int, ...], mode: str = "constant", value: float | None = None) -> Tensor:
    """A number (0) around the tensor: `pad` counts before and after the last dimension, then those of the one before."""
    check(mode not in ("reflect", "replicate", "circular"), lambda: f"minigrad's pad has no mode {mode!r}", NotImplementedError)
    check(mode == "constant", lambda: f"Unrecognised padding mode {mode}", NotImplementedError)
    return rearranging.constant_pad_nd(input, tuple(pad), 0 if value is None else float(value))


def _unpadded_rows(grad: Any, indices: Any, padding_idx: int) -> Any:
    rows = _embedding(grad, indices, padding_idx)
    return rows if padding_idx < 0 else where(views.unsqueeze(indices == padding_idx, -1), 0, rows)


@op(tex="{grad_output}", grad_output=_unpadded_rows)
def _embedding_dense_backward(grad_output, indices: Tensor, weight_sym_argsize_0, padding_idx):
    """The rows of a gradient added up by index; a padding row gets none."""
    out = np.zeros((weight_sym_argsize_0, grad_output.shape[-1]), grad_output.dtype)
    np.add.at(out, indices, grad_output)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


@op(tex="{weight}[{indices}]", saves=("scale_grad_by_freq", "sparse"), weight=_embedding_dense_backward)
def _embedding(weight, indices: Tensor, padding_idx, scale_grad_by_freq=False, sparse=False):
    check(indices.dtype in (np.int64, np.int32), lambda: "Expected tensor for argument #1 'indices' to have one of the following scalar "
          f"types: Long, Int; but got torch.{scalar_type(indices)}Tensor instead (while checking arguments for embedding)")
    if indices.size and (indices.min() < 0 or indices.max() >= len(weight)):
        raise IndexError("index out of range in self")
    return weight[indices]


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of a table: ``(...), (n, k) -> (..., k)``; the padding row never gets a gradient."""
    for place, name, value in ((1, "weight", weight), (2, "indices", input)):
        if not isinstance(value, Tensor):
            raise TypeError(f"embedding(): argument '{name}' (position {place}) must be Tensor, not {type_name(value)}")
    check(weight.ndim == 2, "'weight' must be 2-D")
    return _embedding(weight, input, -1 if padding_idx is None else _padding_row(padding_idx, len(weight)))


def _padding_row(padding_idx: int, rows: int) -> int:
    check(-rows <= padding_idx < rows, "Padding_idx must be within num_embeddings", AssertionError)
    return padding_idx % rows


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Class numbers as rows with a single 1: ``(...) -> (..., num_classes)``."""
    check(tensor.array.dtype == np.int64, "one_hot is only applicable to index tensor of type LongTensor.")
    check(not tensor.array.size or tensor.array.min() >= 0, "Class values must be non-negative.")
    check(tensor.array.size or num_classes != -1, "Can not infer total number of classes from empty tensor.")
    n = int(tensor.array.max()) + 1 if num_classes == -1 else num_classes
    check(not tensor.array.size or tensor.array.max() < n, "Class values must be smaller than num_classes.")
    return wrap(np.eye(n, dtype=np.int64)[tensor.array])


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and divide the others by ``1 - p``; outside of training, nothing.

    Raises
    ------
    ValueError
        "dropout probability has to be between 0 and 1, but got 1.5"
    """
    check(not (p < 0.0 or p > 1.0), lambda: f"dropout probability has to be between 0 and 1, but got {p}", ValueError)
    if not training or p == 0 or not input.array.size:
        return input
    dtype = input.array.dtype
    check(dtype.kind == "f" or p == 1, lambda: f"result type Float can't be cast to the desired output type {input.dtype.scalar_type}")
    if p == 1:
        noise = np.zeros((), dtype)
    else:
        kept = random.uniform_array(random.default_generator, input.array.shape, np.dtype(np.float64)) < 1 - p
        noise = kept.astype(dtype) / dtype.type(1 - p)
    return input.mul_(wrap(noise)) if inplace else input * wrap(noise)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Each vector along `dim` divided by its p-norm."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


# Losses --------------------------------------------------------------------------------------------------------------------
# A kernel returns `_reduce(losses)`; a formula ends in `_averaged(gradient)`: that is all a reduction is.

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}      # what a node shows as _saved_reduction


def _legacy_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction in today's words, of those that PyTorch had before 0.4 and still takes."""
    if size_average is None and reduce is None:
        return reduction
    average, reduced = (True if flag is None else flag for flag in (size_average, reduce))
    reduction = "mean" if average and reduced else "sum" if reduced else "none"
    warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=4)
    return reduction


def _number(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """PyTorch's number of a ``reduction=`` argument.

    Raises
    ------
    ValueError
        "avg is not a valid value for reduction"
    """
    reduction = _legacy_reduction(size_average, reduce, reduction)
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS[reduction]


def _reduce(losses: np.ndarray, reduction: int, divisor: Any = None) -> np.ndarray:
    """The losses themselves, their mean (their sum over another `divisor`), or their sum."""
    if reduction == 0:
        return losses
    total = views.added_up(losses)
    if reduction == 2:
        return total
    divisor = losses.dtype.type(losses.size) if divisor is None else divisor
    return total / divisor if divisor else total * np.nan       # of nothing: NaN, and no warning


def _averaged(grad: Any, x: Any, reduction: int) -> Any:
    """A gradient by the elements of x: of a mean, each counts as one of many."""
    return grad / math.prod(x.shape) if reduction == 1 else grad


def _same_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Input and target in one shape, with PyTorch's warning if they were not."""
    if target.size() == input.size():
        return input, target
    warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
                  "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
                  stacklevel=3)
    return broadcast_tensors(input, target)


def _differences(self: np.ndarray, target: np.ndarray, kernel: str) -> np.ndarray:
    """How far the input is from the target, in their common type."""
    self, target = promote(self, target)
    refuse(self, "biu", kernel)
    return self - target


def _check_cast(result: np.ndarray, target: np.ndarray) -> None:
    """Refuse to write a fraction into whole numbers."""
    if result.dtype.kind == "f" != target.dtype.kind:
        raise RuntimeError(f"result type {scalar_type(result)} can't be cast to the desired output type {scalar_type(target)}")


@op(tex=r"2 ({self} - {target}) {grad_output}", saves=("target",), symmetric=True,
    self=lambda grad, grad_output, self, reduction: _averaged(grad * grad_output * 2, self, reduction),
    target=lambda grad, grad_output, self, reduction: -_averaged(grad * grad_output * 2, self, reduction))
def _mse_loss_backward(grad_output, self, target, reduction):
    return (self - target) * (2 / max(self.size, 1) if reduction == 1 else 2) * grad_output


@op(self=_mse_loss_backward,
    target=lambda grad, self, target, reduction: _mse_loss_backward(grad, target, self, reduction))
def _mse_loss(self, target, reduction):
    difference = _differences(self, target, "mse_cpu")
    return _reduce(difference * difference, reduction)


def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
             reduction: str = "mean") -> Tensor:
    """The squared error, averaged (or summed, or neither) over all elements.

    Warns
    -----
    UserWarning
        "Using a target size (torch.Size([3])) that is different to the input size (torch.Size([3, 1])). …"
    """
    return _mse_loss(*_same_shape(input, target), _number(reduction, size_average, reduce))


def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
            reduction: str = "mean") -> Tensor:
    """The absolute error."""
    input, target = _same_shape(input, target)
    losses, number = (input - target).abs(), _number(reduction, size_average, reduce)
    return losses if number == 0 else losses.mean() if number == 1 else losses.sum()


# `smooth_l1_loss` of a width beta, times delta = beta, is `huber_loss`: an absolute error, and a parabola below the width.

def _rounded(x: np.ndarray, width: float) -> np.ndarray:
    distance = np.abs(x)
    return np.where(distance < width, distance * distance * (0.5 / width), distance - 0.5 * width)


def _rounded_slope(x: np.ndarray, width: float) -> np.ndarray:
    return np.where(np.abs(x) < width, x / width, np.sign(x))


@op(tex=r"\operatorname{{smooth\_l1}}'({self} - {target}) {grad_output}", symmetric=True,
    self=lambda grad, grad_output, self, target, reduction, beta:
        _averaged(grad * grad_output * (abs(self - target) < beta) / beta, self, reduction),
    target=lambda grad, grad_output, self, target, reduction, beta:
        -_averaged(grad * grad_output * (abs(self - target) < beta) / beta, self, reduction))
def _smooth_l1_loss_backward(grad_output, self, target, reduction, beta):
    return _averaged(grad_output * _rounded_slope(self - target, beta), self, reduction)


@op(self=_smooth_l1_loss_backward,
    target=lambda grad, self, target, reduction, beta: _smooth_l1_loss_backward(grad, target, self, reduction, beta))
def _smooth_l1_loss(self, target, reduction, beta):
    return _reduce(_rounded(_differences(self, target, "smooth_l1_cpu"), beta), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """The absolute error less ``beta / 2``, rounded off to a parabola below `beta`."""
    check(not beta < 0, "smooth_l1_loss does not support negative values for beta.")
    number, (input, target) = _number(reduction, size_average, reduce), _same_shape(input, target)
    return _smooth_l1_loss(input, target, number, beta) if beta else l1_loss(input, target, reduction=reduction)


@op(tex=r"\operatorname{{huber}}'({self} - {target}) {grad_output}", symmetric=True,
    self=lambda grad, grad_output, self, target, reduction, delta:
        _averaged(grad * grad_output * (abs(self - target) < delta), self, reduction),
    target=lambda grad, grad_output, self, target, reduction, delta:
        -_averaged(grad * grad_output * (abs(self - target) < delta), self, reduction))
def _huber_loss_backward(grad_output, self, target, reduction, delta):
    return _averaged(grad_output * _rounded_slope(self - target, delta) * delta, self, reduction)


@op(self=_huber_loss_backward,
    target=lambda grad, self, target, reduction, delta: _huber_loss_backward(grad, target, self, reduction, delta))
def _huber_loss(self, target, reduction, delta):
    differences = _differences(self, target, "huber_cpu")
    _check_cast(differences, self)
    return _reduce((_rounded(differences, delta) * delta).astype(self.dtype), reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half of the squared error below `delta`, a line above."""
    check(not delta <= 0, "huber_loss does not support non-positive values for delta.")
    return _huber_loss(*_same_shape(input, target), _number(reduction), delta)


# A class number t picks -input[t]. Where the picks are and what each counts is found once, for the forward and the backward
# pass: `place` is an index, `counted` a weight for each example (None: all count 1), `kept` says which do not have the
# target ignore_index (None: none has). total_weight adds that up: of a mean, the divisor.

def _picks(scores: np.ndarray, target: np.ndarray, weight: np.ndarray | None, ignore_index: int) -> tuple:
    """Place, counted, kept, and total_weight.

    Raises
    ------
    IndexError
        "Target 5 is out of bounds."
    """
    classes, kept = scores.shape[0 if scores.ndim == 1 else 1], None
    # As numbers without a sign, negative ones are the largest.
    if 0 <= ignore_index < classes or target.size and np.maximum.reduce(target.astype(np.uint64), axis=None) >= classes:
        kept = target != ignore_index
        wrong = kept & ((target < 0) | (target >= classes))
        check(not wrong.any(), lambda: f"Target {target[wrong].flat[0]} is out of bounds.", IndexError)
        target = np.where(kept, target, 0)
    counted = None if weight is None else weight[target]
    total = (np.count_nonzero(kept) if kept is not None else target.size) if counted is None else _count(counted, None, kept).sum()
    if scores.ndim == 1:
        place = (target,)
    else:
        rows, *others = np.ogrid[tuple(map(slice, target.shape))] if scores.ndim > 2 else (np.arange(len(target)),)
        place = (rows, target, *others)
    return place, counted, kept, total


def _count(values: np.ndarray, counted: np.ndarray | None, kept: np.ndarray | None) -> np.ndarray:
    """Values as often as they count; nothing, not even infinity, where the target is ignored."""
    values = values if counted is None else values * counted
    return values if kept is None else np.where(kept, values, values.dtype.type(0))


def _nll_operation(kind: str) -> Any:
    """The loss, and its gradient: PyTorch has the same twice, with nodes of their own for pictures with a class a pixel."""
    @op(tex=r"-{self}_{{{target}}}", node=f"NllLoss{kind}Backward0", saves=("target", "weight", "total_weight"),
        self=lambda grad, self, target, weight, reduction, ignore_index, total_weight, _picked:
            _nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight, _picked))
    def _nll_loss(self, target: Tensor, weight: Operand, reduction, ignore_index, total_weight: Tensor, _picked):
        place, *counts = _picked
        return _reduce(_count(-self[place], *counts), reduction, total_weight)

    @op(tex="-{grad_output}", node=f"NllLoss{kind}BackwardBackward0", saves=("target",),
        grad_output=lambda grad, target, weight, reduction, ignore_index, _total_weight, _picked:
            _nll_loss(grad, target, weight, reduction, ignore_index, _total_weight, _picked),
        self=lambda grad: zeros_of(grad))
    def _nll_loss_backward(grad_output, self, target: Tensor, weight: Operand, reduction, ignore_index, _total_weight: Tensor,
                           _picked):
        if target.dtype.kind == "f":        # what a hook on saved tensors made of it
            text = "expected target dtype to be Long or Byte, but got" if kind else "expected scalar type Long but found"
            raise RuntimeError(f"{text} {scalar_type(target)}")
        place, *counts = _picked
        out = np.zeros(self.shape, self.dtype)
        out[place] = _count(-grad_output if reduction != 1 else -grad_output / _total_weight, *counts)
        return out

    return _nll_loss


_nll_loss, _nll_loss2d = _nll_operation(""), _nll_operation("2D")


def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
             ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Minus the input at each example's class: ``(n, c), (n) -> ()``, or ``(n, c, ...), (n, ...) -> ()``.

    Raises
    ------
    ValueError, RuntimeError, IndexError
        "Expected input batch_size (2) to match target batch_size (3)."; "Target 5 is out of bounds."; …
    """
    number = _number(reduction, size_average, reduce)
    rank, sizes, places = input.array.ndim, input.array.shape, target.array.shape
    if rank < 1:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if rank != 1 and sizes[:1] != (places[:1] or (0,)):
        raise ValueError(f"Expected input batch_size ({sizes[0]}) to match target batch_size ({(places or (0,))[0]}).")
    if rank == 3 or rank > 4:        # as a picture
        if places[1:] != sizes[2:]:
            raise RuntimeError(f"Expected target size {[*sizes[:1], *sizes[2:]]}, got {list(places)}")
        flat = (1, -1) if input.array.size else (0, 0)
        loss = nll_loss(input.contiguous().view(*sizes[:2], *flat), target.contiguous().view(sizes[0], *flat), weight,
                        ignore_index=ignore_index, reduction=list(_REDUCTIONS)[number])
        return loss if number else loss.view(places)
    if rank < 3 and len(places) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if rank == 4:
        check(len(places) == 3, lambda: "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
              f"{len(places)}")
        check(places[1:] == sizes[2:], lambda: f"size mismatch (got input: {list(sizes)} , target: {list(places)}")
        check(weight is None or weight.numel() == sizes[1], "weight tensor should be defined either for all or no classes")
    if target.dtype not in (int64, uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_type}")
    check(rank != 1 or places in ((), (1,)) or len(places) > 1,
          lambda: f"For 1D input, 1D target must have size 1, but got target size: {places[0]}", ValueError)
    if weight is not None:
        classes = sizes[0 if rank == 1 else 1]
        if weight.array.shape != (classes,):
            raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but got "
                               f"weight tensor of shape: {list(weight.shape)}")
        if weight.dtype is not input.dtype:
            raise RuntimeError(f"expected scalar type {input.dtype.scalar_type} but found {weight.dtype.scalar_type}")
    *picked, total = _picks(input.array, target.array, None if weight is None else weight.array, ignore_index)
    return (_nll_loss2d if rank == 4 else _nll_loss)(
        input, target, weight, number, ignore_index, wrap(np.asarray(total, input.array.dtype)), picked)


def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                  ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """`nll_loss` of `log_softmax`: scores ``(n, c)`` against class numbers ``(n)`` or probabilities ``(n, c)``."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    reduction = _legacy_reduction(size_average, reduce, reduction)
    soft = target.array.shape == input.array.shape
    if soft and target.array.dtype.kind != "f":
        raise RuntimeError("Expected floating point type for target with class probabilities, got " + target.dtype.scalar_type)
    if soft and ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    scores = reductions.log_softmax(input, 0 if input.array.ndim == 1 else 1)
    if soft:
        classes = scores.shape[0 if scores.ndim == 1 else 1]
        check(weight is None or weight.array.shape == (classes,), lambda: "cross_entropy: weight tensor should be defined either for all "
              f"{classes} classes or no classes but got weight tensor of shape: {list(weight.shape)}")
        return _soft_cross_entropy(scores, target, _row(weight, scores), _number(reduction), label_smoothing)
    loss = nll_loss(scores, target, weight, ignore_index=ignore_index, reduction=reduction)
    return loss if not label_smoothing else _smoothed(loss, scores, target, weight, ignore_index, _number(reduction), label_smoothing)


def _row(weight: Tensor | None, scores: Tensor) -> Tensor | None:
    """Weights of classes in a shape that fits the scores."""
    return None if weight is None else weight.view((-1, *(1 for _ in scores.shape[2:])))


@composite
def _soft_cross_entropy(scores: Tensor, target: Tensor, row: Tensor | None, reduction: int, smoothing: float) -> Tensor:
    """Of class probabilities."""
    dim = 0 if scores.ndim == 1 else 1
    n = scores.shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / n
    losses = _scaled(scores * target, row)
    if reduction == 0:
        return -losses.sum(dim)
    return -losses.sum() / (scores.numel() // n) if reduction == 1 else -losses.sum()


@composite
def _smoothed(loss: Tensor, scores: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int,
              smoothing: float) -> Tensor:
    """A loss of class numbers, and that of all classes alike."""
    dim, ignored = 0 if scores.ndim == 1 else 1, target == ignore_index
    smooth = (-_scaled(scores, _row(weight, scores)).sum(dim)).masked_fill(ignored, 0)
    if reduction:
        smooth = smooth.sum()
    if reduction == 1:
        smooth = smooth / (~ignored if weight is None else weight[target[~ignored]]).sum()
    return loss * (1 - smoothing) + smooth * (smoothing / scores.shape[dim])


_EPSILON = 1e-12        # keeps the slope finite where the probability is 0 or 1


@op(tex=r"\operatorname{{bce}}'({self}, {target}) {grad_output}",
    grad_output=lambda grad, self, target, weight, reduction:
        _averaged(_scaled((self - target) / ((self + _EPSILON) * (1 - self + _EPSILON)) * grad, weight), self, reduction),
    self=lambda grad, grad_output, self, target, weight, reduction: _averaged(_scaled(
        (self * self - self * 2 * target + target) / ((self + _EPSILON) ** 2 * (1 - self + _EPSILON) ** 2) * (grad * grad_output),
        weight), self, reduction),
    target=lambda grad, grad_output, self, target, weight, reduction:
        _averaged(_scaled(-grad * grad_output, weight) / choices.clamp((1 - self) * self, _EPSILON), self, reduction))
def _binary_cross_entropy_backward(grad_output, self, target, weight: Operand, reduction):
    slope = _scaled((self - target) / np.maximum((1 - self) * self, self.dtype.type(_EPSILON)) * grad_output, weight)
    return _averaged(slope, self, reduction)


@op(self=_binary_cross_entropy_backward, target=lambda grad, self, target, weight, reduction:
    _averaged(_scaled(-(log(self) - log(1 - self)) * grad, weight), target, reduction))
def _binary_cross_entropy(self, target, weight: Operand, reduction):
    check(target.dtype == self.dtype, lambda: f"Found dtype {scalar_type(target)} but expected {scalar_type(self)}")
    refuse(self, "biu", "binary_cross_entropy")
    for name, values in {"input": self, "target": target}.items():
        check(((values >= 0) & (values <= 1)).all(), f"all elements of {name} should be between 0 and 1")
    losses = (target - 1) * np.maximum(np.log1p(-self), -100) - target * np.maximum(np.log(self), -100)
    return _reduce(_scaled(losses, weight), reduction)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Minus the logarithm of the probability given to what happened; logarithms stop at -100.

    Raises
    ------
    ValueError, RuntimeError
        "Using a target size (…) that is different to the input size (…) is deprecated. …"
    """
    number = _number(reduction, size_average, reduce)
    check(target.size() == input.size(), lambda: f"Using a target size ({target.shape}) that is different to the input "
          f"size ({input.shape}) is deprecated. Please ensure they have the same size.", ValueError)
    return _binary_cross_entropy(input, target, weight, number)


@op(tex=r"\operatorname{{bce}}(\sigma({self}), {target})",
    self=lambda grad, self, target, weight, pos_weight, reduction:
        _averaged(_scaled(_logits_slope(self, target, pos_weight) * grad, weight), self, reduction),
    target=lambda grad, self, target, weight, pos_weight, reduction: _averaged(_scaled(
        (-self if pos_weight is None else activations.logsigmoid(-self) - activations.logsigmoid(self) * pos_weight) * grad, weight),
        target, reduction))
def _binary_cross_entropy_with_logits(self, target, weight: Operand, pos_weight: Operand, reduction):
    refuse(self, "biu", "log_sigmoid_cpu")
    elementwise._no_bool(target, target)
    _check_cast(self, target)
    if pos_weight is not None:
        pos_weight = promote(self, pos_weight)[1]      # a 0-d float64 weight does not make float32 losses float64
    shrink = np.logaddexp(-self, self.dtype.type(0))
    losses = (1 - target) * self + (shrink if pos_weight is None else ((pos_weight - 1) * target + 1) * shrink)
    losses = losses.astype(target.dtype)        # PyTorch begins with 1 - target, and works on that in place
    return _reduce(_scaled(losses, weight), reduction)


def _logits_slope(x: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return elementwise.sigmoid(x) - target
    positive = pos_weight * target
    return (positive + 1 - target) * elementwise.sigmoid(x) - positive


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                                     pos_weight: Tensor | None = None) -> Tensor:
    """`binary_cross_entropy` of ``sigmoid(input)``, exact also where sigmoid is 0 or 1.

    Raises
    ------
    ValueError
        "Target size (torch.Size([3])) must be the same as input size (torch.Size([2, 3]))"
    """
    number = _number(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


globals().update({name: getattr(activations, name) for name in activations.__all__})
for name in ("batch_norm", "layer_norm", *activations.__all__):
    globals()[name].__module__ = __name__       # error texts say where a function is
__all__ = [name for name, value in list(globals().items()) if not name.startswith("_") and getattr(value, "__module__", "") == __name__]
