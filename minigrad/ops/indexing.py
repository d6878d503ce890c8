"""Reading and writing by index: ``x[...]``, gather, scatter, masks, sorting."""
from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..function import op, public
from ..tensor import Tensor, wrap
from .views import _alias, reshape, select, slice, unsqueeze

# Indexing --------------------------------------------------------------------------------



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


@public()
def index_put_(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values` at `indices` in place (add them if `accumulate`)."""
    return self._index_put_(tuple(indices), values, accumulate)


@public()
def index_put(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """`self` with `values` at `indices` (added if `accumulate`)."""
    return _index_put(self, tuple(indices), values, accumulate)


def _basic_index(self: Tensor, key: Any) -> tuple[Tensor, tuple]:
    """Apply ints, slices, None and ``...`` as views; return the view and the index tensors that are left, by dimension."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for i, k in enumerate(keys):
        if isinstance(k, (list, np.ndarray)):
            keys[i] = wrap(np.asarray(_index_array(k)))
    used = builtins.sum(k.ndim if isinstance(k, Tensor) and k.array.dtype == bool else 1 for k in keys
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
        elif isinstance(k, Tensor) and (k.ndim or k.array.dtype == bool):
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
