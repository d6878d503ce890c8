"""Reading and writing by index: ``x[...]``, gather, scatter, masks."""
from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import typename
from ..dtype import filling, number_in, scalar_type
from ..engine import can_sum_to
from ..function import Operand, op
from ..reasons import LIST_AS_TUPLE, SCATTER_REDUCE, check, warn_once
from ..strides import arranged, strides_of
from ..tensor import Tensor, check_dim, wrap
from .choices import check_mask, common_shape, masked_fill, one_number, warn_of_expanded
from .elementwise import underivable
from .joining import cat
from .views import _alias, broadcast_to, check_storage, expand, reshape, select, slice, unsqueeze, view

# Indexing --------------------------------------------------------------------------------


def _array_index(indices: tuple) -> tuple:
    return tuple(builtins.slice(None) if i is None else getattr(i, "array", i) for i in indices)


@op(tex="{self}[{indices}]",
    self=lambda grad, self_sym_sizes, indices: _index_put_impl(grad_zeros(grad, self_sym_sizes), indices, grad, True))
def _index(self, indices: Operand):
    return _laid_out(np.array(_checked(self, indices), order="C"), self, indices)


def _laid_out(taken: np.ndarray, array: np.ndarray, indices: tuple) -> np.ndarray:
    """What an index took, in memory as PyTorch lays it: the dimensions that were not indexed keep their order."""
    if array.flags.c_contiguous:
        return taken
    arrays = [None if i is None else getattr(i, "array", i) for i in indices]
    spans = [1 if i is None or i.dtype != bool else i.ndim for i in arrays]
    indexed = [d for d, i in enumerate(np.repeat(np.arange(len(arrays)), spans)) if arrays[i] is not None]
    rest = [s for d, s in enumerate(array.strides) if d not in indexed]
    at = indexed[0] if indexed[-1] - indexed[0] == len(indexed) - 1 else 0
    rest[at:at] = [0] * (taken.ndim - len(rest))
    return arranged(taken, np.lib.stride_tricks.as_strided(array, taken.shape, rest))


def grad_zeros(grad: Any, sizes: tuple) -> Any:
    """Zeros of a shape in a gradient's type, as array or tensor like it."""
    zeros = np.zeros(sizes, grad.dtype if not isinstance(grad, Tensor) else grad.array.dtype)
    return wrap(zeros) if isinstance(grad, Tensor) else zeros


def _checked(array, indices):
    """Index, with PyTorch's words for what does not fit."""
    arrays = [getattr(i, "array", i) for i in indices]
    if len(arrays) > array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {array.ndim} (got {len(arrays)})")
    position = count = 0
    for k, i in enumerate(arrays):
        size = array.shape[position] if position < array.ndim else 0
        if i is None:
            position += 1
        elif i.dtype.kind not in "iub":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        elif i.dtype == bool:
            for d, (n, size) in enumerate(zip(i.shape, array.shape[position:], strict=False)):
                if n != size:
                    raise IndexError(f"The shape of the mask {list(i.shape)} at index {d} does not match the shape of the indexed tensor "
                                     f"{list(array.shape)} at index {position + d}")
            position += i.ndim
            count += i.ndim
        else:
            if size == 0 and i.size:
                raise IndexError("index is out of bounds for dimension with size 0")
            bad = i[(i < -size) | (i >= size)] if i.size else i
            if bad.size and 0 not in array.shape:
                raise IndexError(f"index {bad.flat[0]} is out of bounds for dimension {count} with size {size}")
            if bad.size:        # of a tensor without elements PyTorch looks nothing up
                arrays[k] = np.zeros_like(i)
            position += 1
            count += 1
    try:
        return array[_array_index(arrays)]
    except IndexError as error:
        text = str(error)
        if "could not be broadcast" in text:
            shapes = ", ".join(str(list(i.shape)) for i in arrays if i is not None)
            text = f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        raise IndexError(text) from None


def _fills(indices: tuple, values: np.ndarray, accumulate: bool) -> bool:
    """PyTorch writes one number through one mask as `masked_fill_` does."""
    given = [i for i in indices if i is not None]
    return values.size == 1 and not accumulate and len(given) == 1 and getattr(given[0], "array", given[0]).dtype == bool


def _put_fits(target: np.ndarray, indices: tuple, values: np.ndarray, accumulate: bool) -> None:
    warn_of_expanded(target, "index_put_", "indices] = tensor")
    if _fills(indices, values, accumulate):
        warn_of_expanded(target, "masked_fill_")


def _refuse_values(values: np.ndarray, shape: tuple) -> None:
    check(can_sum_to(shape, values.shape), lambda: f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
          f"indexing result of shape {list(shape)}")


@op(tex="{self}", inplace="overlapping", check_target=_put_fits, self=lambda grad, indices, accumulate:
    grad if accumulate else _index_put(grad, indices, grad_zeros(grad, ()), False), values=_index)
def _index_put(self, indices: Operand, values, accumulate):
    out = arranged(self.copy(order="K"), self)
    try:
        _refuse_values(values, _checked(out, indices).shape)
    except IndexError:
        arrays = [getattr(i, "array", i) for i in indices]
        if out.size and len(arrays) <= out.ndim and all(i is None or i.dtype.kind in "iu" for i in arrays):
            # PyTorch looks at the shapes first.
            _refuse_values(values, _checked(out, [None if i is None else np.zeros_like(i) for i in arrays]).shape)
        raise
    check(values.dtype == self.dtype or _fills(indices, values, accumulate), lambda: "Index put requires the source and destination dtypes "
          f"match, got {scalar_type(self)} for the destination and {scalar_type(values)} for the source.")
    if out.size:
        (np.add.at if accumulate else np.ndarray.__setitem__)(out, _array_index(indices), values)
    return out


_index_put.op.kernel.fills = _fills


@op(tex="{self}", saves=("accumulate",), self=lambda grad: grad, values=_index)
def _index_put_impl(self, indices: Operand, values, accumulate):
    return _index_put(self, indices, values, accumulate)


def index_put_(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values` at `indices` in place (add them if `accumulate`)."""
    return input._index_put_(tuple(indices), values, accumulate)


def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """`input` with `values` at `indices` (added if `accumulate`)."""
    return _index_put(input, tuple(indices), values, accumulate)


def _basic_index(self: Tensor, key: Any, whole_slices: bool = False) -> tuple[Tensor, tuple]:
    """Apply ints, slices, None and ``...`` as views; return the view and the index tensors that are left, by dimension."""
    if isinstance(key, list) and len(key) < 32 and any(
            isinstance(k, (Tensor, np.ndarray, list, tuple, builtins.slice, str, bytes)) or k is None or k is Ellipsis for k in key):
        warnings.warn(LIST_AS_TUPLE, stacklevel=4)
        key = tuple(key)
    elif isinstance(key, str):
        warnings.warn(LIST_AS_TUPLE, stacklevel=4)
    keys = list(key) if isinstance(key, tuple) else [key]
    for i, k in enumerate(keys):
        if isinstance(k, (list, tuple, range, np.ndarray)):
            keys[i] = k = wrap(np.asarray(_index_array(k)))
        if isinstance(k, Tensor) and k.array.dtype in (bool, np.uint8) and not k.ndim:
            keys[i] = bool(k.array)
        elif isinstance(k, Tensor) and k.array.dtype == np.uint8 and k.ndim:
            warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", stacklevel=3)
            keys[i] = wrap(k.array != 0)
        elif isinstance(k, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(k).__name__}'")
    used = builtins.sum(k.ndim if isinstance(k, Tensor) and k.array.dtype == bool else 1 for k in keys
                        if k is not None and k is not Ellipsis and not isinstance(k, bool))
    if used > self.ndim:
        if self.ndim == 0 and isinstance(key, builtins.slice):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        if self.ndim == 0 and isinstance(key, (int, np.integer)):
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
                             "a 0-dim tensor to a number")
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    result, dim, indices = self, 0, []
    for place, k in enumerate(keys):
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
            start, stop, step = (default if x is None else _bound(x) for x, default in zip(
                (k.start, k.stop, k.step), (0, _LAST, 1)))
            if step <= 0:
                raise ValueError("slice step cannot be zero") if step == 0 else ValueError("step must be greater than zero")
            if whole_slices or start != 0 or step != 1 or stop < result.shape[dim]:
                result = slice(result, dim, start, stop, step)
            dim += 1
        elif isinstance(k, Tensor) and (k.ndim or k.array.dtype == bool):
            if k.array.dtype.kind not in "iub":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            indices.append((dim, k))
            dim += _consumed(k)
        else:
            index, size = _int_index(k), result.shape[dim]
            if not -size <= index < size:
                raise IndexError(f"index {index} is out of bounds for dimension {place} with size {size}")
            result = select(result, dim, index)
    by_dim: list[Tensor | None] = []
    for d, k in indices:
        by_dim += [None] * (d - builtins.sum(_consumed(i) for i in by_dim)) + [k]
    return result, tuple(by_dim)


def _bound(x: Any) -> int:
    try:
        return x.__index__()
    except (AttributeError, TypeError):
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


_LAST = 2 ** 63 - 1        # the end of a slice that has none


def _consumed(index: Any) -> int:
    """How many dimensions an index tensor (None: a full slice) stands for."""
    return index.ndim if index is not None and index.array.dtype == bool else 1


def _index_array(k: Any) -> Any:
    array = np.array(k) if isinstance(k, np.ndarray) else np.array(_plain(k))
    check(array.dtype.kind != "O", "Overflow when unpacking long long", ValueError)
    cast = array.dtype.kind == "f" or array.dtype.kind == "i" and not isinstance(k, np.ndarray)
    return array.astype(np.int64) if cast else array


def _plain(k: Any) -> Any:
    return [_plain(x) if isinstance(x, list) else getattr(x, "array", x) for x in k]


def _int_index(k: Any) -> int:
    if isinstance(k, Tensor) and k.array.dtype.kind == "f":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    try:
        if k.__class__ is np.bool_:         # older versions of NumPy take it for a number
            raise TypeError
        index = k.__index__()
    except (AttributeError, TypeError):
        raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                         f"(got {typename(k)})") from None
    if not -2 ** 63 <= index < 2 ** 63:
        raise ValueError("Overflow when unpacking long long")
    return index


def _getitem(self: Tensor, key: Any) -> Tensor:
    result, indices = _basic_index(self, key, isinstance(key, builtins.slice))      # x[:] is recorded, x[:, 0] as x[..., 0]
    if indices:
        return _index(result, indices)
    return _alias(self) if result is self else result


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    if key is False:
        return
    if isinstance(key, Tensor) and key.array.dtype == np.uint8 and key.ndim and key.shape == self.shape[:key.ndim] and (
            not isinstance(value, Tensor) or value.numel() == 1):
        check_mask(key.array)       # PyTorch hands one number on to masked_fill_
    target, indices = (unsqueeze(self, 0), ()) if key is True else _basic_index(self, key)
    if not isinstance(value, Tensor):
        if not isinstance(value, (int, float, np.integer)):
            raise TypeError(f"can't assign a {typename(value)} to a torch.{self.dtype.scalar_type}Tensor")
        value = wrap(filling(value, self.array.dtype))
    sizes, shape = tuple(value.shape), tuple(target.shape)
    lead = next((i for i, n in enumerate(sizes) if n != 1), len(sizes))     # PyTorch drops leading ones of the value
    if indices:
        target._index_put_(indices, view(value, sizes[lead:]) if lead else value, False)
    elif sizes == shape:
        target.copy_(value)
    elif not sizes:
        target.fill_(value)
    else:
        value = view(value, sizes[lead:])
        target.copy_(value if value.shape == shape else expand(value, shape))


def _delitem(self: Tensor, key: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


Tensor.__getitem__, Tensor.__setitem__, Tensor.__delitem__ = _getitem, _setitem, _delitem


# Along a dimension ---------------------------------------------------------------------------------------------------------

def _along(index: np.ndarray, dim: int, array: np.ndarray, name: str, src: np.ndarray | None = None) -> tuple:
    """An index tuple that takes ``index[i][j][k]`` for the coordinate `dim` and i, j, k for the others."""
    dim, ours = check_dim(dim, array.ndim), "input" if name == "gather" else "self"
    check(not index.size or scalar_type(index) in ("Int", "Long"), lambda: f"{name}(): Expected dtype int32/int64 for index")
    check(src is None or src.dtype == array.dtype, lambda: f"{name}(): Expected self.dtype to be equal to src.dtype")
    if index.size:
        rank = index.ndim or 1
        check(rank == (array.ndim or 1), lambda: f"Index tensor must have the same number of dimensions as {ours} tensor")
        beyond = [d for d, (n, size) in enumerate(zip(index.shape, array.shape)) if d != dim and n > size]
        fits = not beyond and (src is None or not any(
            n > (src.shape[check_dim(d, src.ndim)] if src.ndim else 1) for d, n in enumerate(index.shape)))
        check(src is None or rank == (src.ndim or 1), "Index tensor must have the same number of dimensions as src tensor")
        where = f"Size does not match at dimension {beyond[0]} expected" if name == "gather" and beyond else "Expected"
        check(fits, lambda: f"{where} index {list(index.shape)} to be no larger than self {list(array.shape)} apart from dimension {dim}"
              + (f" and to be no larger size than src {list(src.shape)}" if src is not None else ""))
    return _in_range(index, dim, array, name)


def _in_range(index: np.ndarray, dim: int, array: np.ndarray, name: str) -> tuple:
    size = array.shape[dim] if array.ndim else 1
    bad = index[(index < (-size if name == "index_fill_" else 0)) | (index >= size)]
    if bad.size:
        if name == "index_select" or name == "index_add_" and array.ndim < 2:
            raise IndexError("index out of range in self")
        raise (IndexError if name in ("index_fill_", "index_copy_") else RuntimeError)(
            f"{'index_copy_(): ' * (name == 'index_copy_')}index {bad.flat[0]} is out of bounds for dimension {dim} with size {size}")
    if not array.ndim:
        return ()
    if not index.ndim:
        return (index,)
    return tuple(index if d == dim else np.arange(n).reshape(-1, *(1,) * (index.ndim - d - 1)) for d, n in enumerate(index.shape))


@op(saves=("sparse_grad",),
    self=lambda grad, self, dim, index: scatter_add(grad_zeros(grad, tuple(self.shape)), dim, index, grad))
def gather(self, dim, index: Tensor, *, sparse_grad=False):
    """``out[i][j] = self[index[i][j]][j]`` (for dim 0)."""
    place = _along(index, dim, self, "gather")
    if not index.size:
        return np.empty(index.shape, self.dtype)
    return np.array(self[place], order="C") if self.ndim else np.broadcast_to(self, index.shape).copy()


def _scattered(self, dim, index, src, write):
    source = isinstance(src, np.ndarray)
    place = _along(index, dim, self, "scatter", src if source else None)
    out = np.array(self, order="C")     # of a 0-d gradient, too, which may be a NumPy scalar
    if not index.size:
        return out
    if source:
        src = src[tuple(builtins.slice(n) for n in index.shape)] if src.ndim else src
    else:
        src = number_in(src, self.dtype)
    if self.ndim:
        write(out, place, src)
    else:
        write(out.reshape(1), np.zeros(index.size, int), src.reshape(-1))
    return out


@op(inplace=True, scalar="ScatterBackward1", self=lambda grad, dim, index: scatter(grad, dim, index, 0.0),
    src=lambda grad, dim, index: gather(grad, dim, index))
def _scatter(self, dim, index: Tensor, src):
    return _scattered(self, dim, index, src, np.ndarray.__setitem__)


@op(inplace=True, **underivable("aten::scatter", "self", "src"))
def _scatter_reduce(self, dim, index: Tensor, src, reduce):
    check(reduce in REDUCTIONS, "reduce argument must be either add or multiply.")
    return _scattered(self, dim, index, src, REDUCTIONS[reduce].at)


REDUCTIONS = {"add": np.add, "multiply": np.multiply}


def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """A copy with ``out[index[i][j]][j] = src[i][j]`` (for dim 0), or with it added or multiplied."""
    src = _source(src, value, reduce)
    return _scatter(input, dim, index, src) if reduce is None else _scatter_reduce(input, dim, index, src, reduce)


def scatter_(self: Tensor, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
    """`scatter` in place."""
    src = _source(src, value, reduce)
    return self._scatter_(dim, index, src) if reduce is None else self._scatter_reduce_(dim, index, src, reduce)


def _source(src: Any, value: Any, reduce: str | None) -> Any:
    """What is scattered: a tensor (with `reduce` PyTorch warns of it), or one value."""
    if reduce is not None and isinstance(src, Tensor):
        warn_once(SCATTER_REDUCE, stacklevel=5)
    return value if src is None else src


@op(inplace=True, self=lambda grad: grad, src=lambda grad, dim, index: gather(grad, dim, index))
def scatter_add(self, dim, index: Tensor, src: Tensor):
    """A copy with ``out[index[i][j]][j] += src[i][j]`` (for dim 0); several indices at one place add up."""
    return _scattered(self, dim, index, src, np.add.at)


# What is said of an index of another type (PyTorch's names of those that fit) and of one with more dimensions.
_ROWS = {
    "index_select": ("Int Long", RuntimeError, "index_select(): Expected dtype int32 or int64 for index",
                     IndexError, "index_select(): Index is supposed to be a vector"),
    "index_fill_": ("Long", IndexError, "index_fill_(): Expected dtype int64 for index.", RuntimeError, "Index has to be a vector/scalar"),
    "index_copy_": ("Long", RuntimeError, "index_copy_(): Expected a long tensor for index, but got {0}",
                    IndexError, "index_copy_(): Index should have dimension 1 or 0 (got {1})"),
    "index_add_": ("Int Long", RuntimeError, "index_add_(): Expected dtype int32/int64 for index but got: {0}",
                   IndexError, "index_add_(): Index is supposed to be a vector, but got dim: {1} with type: {0} and size: {2}"),
}


def _rows(self, dim, index, name, source=None):
    """The place of the slices at the given indices along a dimension, or PyTorch's words for what does not fit."""
    dim, kind = check_dim(dim, self.ndim), scalar_type(index)
    types, type_error, type_text, shape_error, shape_text = _ROWS[name]
    for wrong, error, text in ((index.ndim > 1, shape_error, shape_text), (kind not in types.split(), type_error, type_text)):
        if wrong:
            raise error(text.format(kind, index.ndim, list(index.shape)))
    if source is not None:
        _source_fits(self, dim, index, source, name)
    index = index.reshape(-1)
    if name == "index_select":
        _check_rows(self, dim, index)
    elif not self.size:
        if name != "index_add_":        # PyTorch first makes a view with as many rows as there are indices
            full = strides_of(self)
            sizes, strides = ((*values[:dim], put, *values[dim + 1:]) for values, put in ((self.shape, index.size), (full, 0)))
            check_storage(sizes, strides, 0, self.itemsize, 0)
        index = index[:0]
    _in_range(index, dim, self, name)
    return (builtins.slice(None),) * dim + (index,) if self.ndim else ()


def _check_rows(array, dim, index):
    """What PyTorch says of indices that `index_select` cannot take."""
    check(array.ndim or index.size == 1, lambda: f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    size = array.shape[dim] if array.ndim else 1
    bad = index[(index < 0) | (index >= size)]
    if bad.size and array.ndim > 1 and (dim or not array.size):
        raise RuntimeError("index_select(): self indexing axis dim should be positive" if not size else
                           f"INDICES element is out of DATA bounds, id={bad.flat[0]} axis_dim={size}")


@op(tex="{self}[{index}]",
    self=lambda grad, self_sym_sizes, dim, index: index_add(grad_zeros(grad, self_sym_sizes), dim, index, grad))
def index_select(self, dim, index: Tensor):
    """The slices at the given indices along a dimension."""
    return self[_rows(self, dim, index, "index_select")].copy()


def _source_fits(self, dim, index, source, name):
    """What PyTorch says of slices that cannot be put at the given indices."""
    added, counts = name == "index_add_", source.shape[dim] if dim < source.ndim else 1
    sides = [shape[:dim] + shape[dim + 1:] for shape in (self.shape, source.shape)]
    names = [scalar_type(x) for x in (self, source)]
    if not added and self.ndim and source.ndim and self.ndim != source.ndim:
        raise IndexError(f"{name}(): When source and destination are not scalars, their dimensionality must match. Source "
                         f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})")
    check(source.ndim or index.size == 1, lambda: f"Dimension specified as {dim} but tensor has no dimensions" if added else
          f"{name}(): When source is scalar, index should have one element (got {index.size})", IndexError)
    if names[0] != names[1]:
        raise RuntimeError(f"{name}(): self ({names[0]}) and source ({names[1]}) must have the same scalar type" if added else
                           f"{name}(): self and source expected to have the same dtype, but got (self) {names[0]} and (source) {names[1]}")
    check(added or sides[0] == sides[1], lambda: f"{name}(): Source/destination tensor must have same slice shapes. "
          f"Destination slice shape: {' '.join(map(str, sides[0]))} at dimension {dim} and source slice shape: "
          f"{' '.join(map(str, sides[1]))} at dimension 0.")
    if index.size != counts:
        raise (RuntimeError if added else IndexError)(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim){':' if added else ''} ({counts})"
            + (f", for dim: {dim}" if added else ""))
    if added and (sides[0] != sides[1] or not self.ndim and source.ndim):
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
                           f"{list(self.shape)} source.shape = {list(source.shape)}")


def _selected(grad: Any, dim: int, index: Any, source: Any) -> Any:
    """The slices of a gradient that came from a source."""
    return expand(index_select(grad, dim, index), tuple(source.shape)) if source.ndim else index_select(grad, dim, index.squeeze(0))


@op(inplace=True, self=lambda grad: grad, source=lambda grad, dim, index, source, source_dim, alpha:
    _selected(grad, dim, index, source) if alpha == 1 else _selected(grad, dim, index, source) * alpha)
def index_add(self, dim, index: Tensor, source, *, alpha=1):
    """A copy with slices added at the given indices along a dimension."""
    place, out = _rows(self, dim, index, "index_add_", source), self.copy()
    if out.size:
        np.add.at(out, place, source.reshape(out[place].shape) if alpha == 1 else source.reshape(out[place].shape) * alpha)
    return out


@op(inplace=True, self=lambda grad, dim, index: index_fill(grad, dim, index, 0),
    source=lambda grad, dim, index, source, source_dim: _selected(grad, dim, index, source))
def index_copy(self, dim, index: Tensor, source):
    """A copy with slices replaced at the given indices along a dimension."""
    place, out = _rows(self, dim, index, "index_copy_", source), self.copy()
    out[place] = source.reshape(out[place].shape) if self.ndim else source.reshape(-1)[-1]
    return out


@op(node="IndexFillBackward1", inplace="overlapping",
    check_target=lambda target, *given: warn_of_expanded(target, "index_fill_"), scalar="IndexFillBackward0",
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0),
    value=lambda grad, dim, index: index_select(grad, dim, _without_repeats(index)))
def index_fill(self, dim, index: Tensor, value):
    """A copy with a number in the slices at the given indices along a dimension."""
    value = one_number(value, self, "index_fill_")
    out = arranged(np.array(self), self)
    out[_rows(self, dim, index, "index_fill_")] = value
    return out


def _without_repeats(index: Any) -> Any:
    return wrap(np.unique(index.array)) if isinstance(index, Tensor) else np.unique(index)


def _take_backward(grad: Any, shape: tuple, index: Any) -> Any:
    return _put_accumulated(grad_zeros(grad, shape), index, grad, True)


@op(node="PutBackward0", tex="{source}", saves=("accumulate", "index", "source"),
    self=lambda grad: grad, source=lambda grad, index, source: reshape(take(grad, index), tuple(source.shape)))
def _put_accumulated(self, index: Operand, source, accumulate):
    # Another type is what a hook on saved tensors made of it.
    check(index.dtype.kind in "iu", lambda: "put_(): Expected a long tensor for index, but got " + scalar_type(index))
    flat = self.reshape(-1).copy()
    np.add.at(flat, index.reshape(-1), source.reshape(-1))
    return flat.reshape(self.shape)


@op(tex="{self}[{index}]", self=lambda grad, self, index: _take_backward(grad, tuple(self.shape), index))
def take(self, index: Tensor):
    """The elements of the flattened tensor at the given indices."""
    check(index.dtype.kind in "iu", lambda: "take(): Expected a long tensor for index, but got " + scalar_type(index))
    check(self.size or not index.size, "take(): tried to take from an empty tensor", IndexError)
    bad = index[(index < -self.size) | (index >= self.size)]
    check(not bad.size, lambda: f"out of range: tried to access index {bad.flat[0]} on a tensor of {self.size} elements.", IndexError)
    return np.take(self, index)


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """`gather` whose index broadcasts; without `dim`, from the flattened tensor."""
    if dim is None:
        return gather(reshape(input, -1), 0, reshape(indices, -1))
    dim = check_dim(dim, input.ndim)
    check(indices.ndim == input.ndim, lambda: "torch.take_along_dim(): input and indices should have the same number "
          f"of dimensions, but got {input.ndim} dimensions for input, and {indices.ndim} dimensions for indices")
    indices = wrap(np.where(indices.array < 0, indices.array + input.shape[dim], indices.array))
    shape = np.broadcast_shapes(*(x.shape[:dim] + (1,) + x.shape[dim + 1:] for x in (input.array, indices.array)))
    sizes = [shape[:dim] + (x.shape[dim],) + shape[dim + 1:] for x in (input, indices)]
    return gather(broadcast_to(input, sizes[0]), dim, broadcast_to(indices, sizes[1]))


# Masks ---------------------------------------------------------------------------------------------------------------------

@op(tex="{self}[{mask}]", self=lambda grad, self, mask: masked_scatter(
    grad_zeros(grad, np.broadcast_shapes(tuple(self.shape), tuple(mask.shape))), mask, grad))
def masked_select(self, mask: Tensor):
    """The elements where the mask holds, as a vector."""
    check(mask.dtype.kind == "b", "masked_select: expected BoolTensor for mask")
    shape = common_shape(mask.shape, self.shape)
    return np.broadcast_to(self, shape)[np.broadcast_to(mask, shape)]


def _masked_source(grad: Any, mask: Any, source_sym_sizes: tuple) -> Any:
    """The gradient of masked_scatter's source: the elements that were used, then zeros for the others."""
    used = masked_select(grad, mask)
    rest = math.prod(source_sym_sizes) - used.shape[0]
    return reshape(cat([used, grad_zeros(grad, (rest,))]) if rest else used, tuple(source_sym_sizes))


@op(inplace=True, self=lambda grad, mask: masked_fill(grad, mask, 0), source=_masked_source)
def masked_scatter(self, mask: Tensor, source):
    """A copy with the elements of `source`, in order, where the mask holds."""
    check(mask.dtype.kind == "b", lambda: "masked_scatter_ only supports boolean masks, but got mask with dtype " + scalar_type(mask))
    check(self.dtype == source.dtype, lambda: "masked_scatter: expected self and source to have same dtypes but got "
          f"{scalar_type(self)} and {scalar_type(source)}")
    shape = np.broadcast_shapes(self.shape, mask.shape)
    out, mask = np.array(np.broadcast_to(self, shape), order="C"), np.broadcast_to(mask, shape)
    n = int(mask.sum())
    check(n <= source.size, "Number of elements of source < number of ones in mask")
    out[mask] = source.reshape(-1)[:n]
    return out


# Where values were taken from -----------------------------------------------------------------------------------------------

def put_back(grad: Any, dim: int, indices: Any, self_sym_sizes: tuple) -> Any:
    """Zeros with the gradient where an ordering took its values from."""
    return scatter(grad_zeros(grad, self_sym_sizes), dim, indices, grad)


def select_gradient(grad: Any, dim: int, indices: Any, self_sym_sizes: tuple, keepdim: bool) -> Any:
    """The same of a reduction."""
    if not keepdim and len(self_sym_sizes):
        grad, indices = unsqueeze(grad, dim), unsqueeze(indices, dim)
    return put_back(grad, dim, indices, self_sym_sizes)
