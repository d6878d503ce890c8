"""Views and writing in place: what may be written through, and what a write changes.

A view shares its base's storage, so a write through either counts in one version. Whether the graph can keep the truth after a
write depends on how the view came to be (`View.origin`); everything here runs before anything is changed.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtype as dtypes
from . import reasons
from .grad_mode import state
from .graph import forward_name
from .reasons import check
from .strides import is_dense
from .tensor import Tensor, View, wrap


def alias(tensor: Tensor) -> Tensor:
    """The tensor without its place in the graph: a node that held its own output would keep itself alive."""
    return tensor.data if tensor._inference else _like(tensor, wrap(tensor.array, tensor._storage))


def _like(tensor: Tensor, result: Tensor) -> Tensor:
    """Shared memory belongs to inference mode or not, whatever the mode now."""
    if result._inference is not tensor._inference:
        result._inference = tensor._inference
    return result


def view_of(tensor: Tensor, array: np.ndarray, one_of_several: bool = False) -> Tensor:
    """A tensor that looks into another one's memory."""
    storage, parent = tensor._storage, tensor._view
    result = wrap(array, storage)
    if tensor._inference:       # has no version and so no views that could become stale
        return _like(tensor, result)
    if state.recording:
        origin = "several" if one_of_several else ""
    else:
        origin = "inference" if state.inference else "no_grad"
    if parent is None:
        result._view = View(tensor, origin, storage.version)
    else:
        if parent.origin == "inference":
            origin = "inference"        # for good
        result._view = View(parent.base, origin or parent.origin, storage.version)
    return _like(tensor, result)


def check_view(tensor: Tensor, indirect: bool) -> None:
    """Refuse to write through a view whose history could not be kept right.

    Raises
    ------
    RuntimeError
        With PyTorch's text for views made under no_grad, by ``unbind`` and its like, or inside a custom Function.
    """
    origin = tensor._view.origin
    if not origin:
        return
    done = "its base or another view of its base has been" if indirect else "is being"
    node, output_nr = tensor._edge or (None, 0)
    if node is not None and origin not in ("no_grad", "inference"):
        text = f"Output {output_nr} of {forward_name(node)} is a view and {done} modified inplace."
    else:
        text = "A view was" if node is None else f"Output {output_nr} of {forward_name(node)} is a view of a view which was"
        text += (f" created in inference mode and {done} modified inplace in normal mode." if origin == "inference" else
                 f" created in no_grad mode and {done} modified inplace with grad mode enabled.")
    raise RuntimeError(text + reasons.VIEW_ORIGINS[origin])


def check_inplace(tensor: Tensor, recorded: bool) -> None:
    """Refuse an in-place operation that the graph could not tell the truth about."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"expected a Tensor to write into, got {type(tensor).__name__}")
    if not recorded:
        return
    if tensor._view is not None:
        check_view(tensor, indirect=False)
        check(not tensor.requires_grad or tensor._view.base._node is not None, reasons.LEAF_VIEW_INPLACE)
    if tensor.requires_grad and tensor._node is None:       # for PyTorch a stale view without history is a leaf here
        raise RuntimeError(reasons.LEAF_INPLACE)


def check_write(tensor: Tensor, array: np.ndarray, overlapping: bool = False) -> None:
    """Refuse to write an array that does not fit: wrong shape, lossy type, memory that overlaps itself (if not allowed)."""
    target = tensor.array
    if array.shape != target.shape and (shape := np.broadcast_shapes(array.shape, target.shape)) != target.shape:
        raise RuntimeError(reasons.broadcasts_beyond(target.shape, shape))
    check_cast(array, target)
    if not overlapping:
        check_overlap(target)


def check_cast(array: np.ndarray, target: np.ndarray) -> None:
    """Refuse a type that would lose something."""
    if array.dtype is not target.dtype and dtypes.kind_of(array.dtype) > dtypes.kind_of(target.dtype):
        names = [dtypes.scalar_type(a) for a in (array, target)]
        raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")


def check_result(tensor: Tensor, *arrays: np.ndarray) -> None:
    """Refuse to write the result of an elementwise operation on arrays of one type, before it is computed."""
    array = arrays[0]
    if any(a.ndim and a.shape != array.shape for a in arrays):
        try:
            array = np.broadcast_to(array, np.broadcast_shapes(*(a.shape for a in arrays)))
        except ValueError:
            return          # the operation itself says so
    check_write(tensor, array, overlapping=True)


def is_expanded(target: np.ndarray) -> bool:
    """Whether one memory place stands for several elements."""
    return bool(0 in target.strides and target.size and any(
        stride == 0 and size > 1 for stride, size in zip(target.strides, target.shape, strict=True)))


def check_overlap(target: np.ndarray) -> None:
    """Refuse to write where one memory place stands for several elements."""
    check(not is_expanded(target), reasons.OVERLAP)


def check_memory(tensor: Tensor, *others: Any, copies: bool = False) -> None:
    """Refuse an elementwise write into memory that overlaps itself, or that another argument sees differently.

    ``x.t().sub_(x)`` would read elements that it has written already.
    """
    target = tensor.array
    if not (copies and others[0] is tensor):         # x.copy_(x) writes nothing
        check_overlap(target)
    check_apart(tensor, *others)


def check_apart(tensor: Tensor, *others: Any, whole: bool = False) -> None:
    """Refuse to write into memory that another argument sees differently (`whole`: sees at all)."""
    target = tensor.array
    for other in others:
        if not isinstance(other, Tensor) or other._storage.buffer is not tensor._storage.buffer or other is tensor and not whole:
            continue
        array = other.array
        if np.may_share_memory(target, array) and is_dense(target) and is_dense(array) and (whole or (
                array.ctypes.data, array.nbytes, array.strides) != (target.ctypes.data, target.nbytes, target.strides)):
            raise RuntimeError(reasons.PARTIAL_OVERLAP)


def write(tensor: Tensor, array: np.ndarray) -> None:
    """Overwrite the elements, and count it in the version that views and detached aliases share."""
    target = tensor.array
    if 0 in target.strides:         # one place stands for several elements: the one that changed wins
        np.copyto(target, array, casting="unsafe", where=array != target)
    else:
        target[...] = array
    tensor._count_write()


def write_out(name: str, function: Callable, args: tuple, out: Tensor, **kwargs: Any) -> Tensor:
    """Run an operation and write its result into the tensor ``out``.

    Raises
    ------
    RuntimeError
        "add(): functions with out=... arguments don't support automatic differentiation, but one of the arguments …"
    """
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if state.recording and any(isinstance(x, Tensor) and x.requires_grad for x in (*args, *kwargs.values(), out)):
        raise RuntimeError(f"{name}(): {reasons.OUT_OF_GRAD}")
    array = function(*args, **kwargs).array
    check_cast(array, out.array)
    if array.shape != out.array.shape:
        if out.array.size:
            warnings.warn(reasons.OUT_RESIZED.format(list(out.array.shape), list(array.shape)), stacklevel=4)
        out.data = wrap(np.empty(array.shape, out.array.dtype))
    check_write(out, array)
    write(out, array)
    return out
