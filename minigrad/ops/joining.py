"""Several tensors from one, and one from several: splitting, joining, grids, repetition."""
from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dtype import Size, int64, promote, refuse, result_type
from ..function import op
from ..reasons import MESHGRID, check, warn_once
from ..tensor import Tensor, check_dim, wrap
from .choices import common_shape, logical_xor, zeros_of
from .views import _contiguous, _sum_over, expand, flatten, narrow, reshape, select, shape_of, slice, unsqueeze, view

# Splitting -----------------------------------------------------------------------------------------------------------------

@op(view=True, outputs="list", tex="{self}", self=lambda grads, dim: stack(grads, dim))
def unbind(self, dim=0):
    """All indices along a dimension as tensors: what iteration gives. Views that refuse in-place writes."""
    dim = check_dim(dim, self.ndim)
    check(self.ndim, lambda: f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    return [self[(builtins.slice(None),) * dim + (i, ...)] for i in range(self.shape[dim])]


def _parts_of(array: np.ndarray, dim: int, name: str = "split") -> int:
    check(array.ndim, lambda: f"{name} expects at least a 1-dimensional tensor")
    return check_dim(dim, array.ndim)


def _pieces(array: np.ndarray, dim: int, ends: list[tuple[int, int]]) -> list[np.ndarray]:
    return [array[(builtins.slice(None),) * dim + (builtins.slice(start, end), ...)] for start, end in ends]


def _splitting(names: tuple[str, str], view: bool, doc: str) -> tuple[Callable, ...]:
    """The two ways to split, as views or (``unsafe``) as tensors that may be written in place."""
    def split(self, split_size, dim=0):
        dim = _parts_of(self, dim)
        size = self.shape[dim]
        check(split_size >= 0, lambda: f"split expects split_size be non-negative, but got split_size={split_size}")
        check(split_size or not size, lambda: f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
        return _pieces(self, dim, [(i, i + split_size) for i in range(0, builtins.max(size, 1), split_size or 1)])

    def with_sizes(self, split_sizes, dim=0):
        given, dim = dim, _parts_of(self, dim)
        check(not any(n < 0 for n in split_sizes), lambda: "split_with_sizes expects split_sizes have only "
              f"non-negative entries, but got split_sizes={list(split_sizes)}")
        check(builtins.sum(split_sizes) == self.shape[dim], lambda: "split_with_sizes expects split_sizes to sum exactly to "
              f"{self.shape[dim]} (input tensor's size at dimension {given}), but got split_sizes={list(split_sizes)}")
        return _pieces(self, dim, [(end - n, end) for n, end in zip(split_sizes, np.cumsum(split_sizes).tolist(), strict=True)])

    for kernel, name in zip((split, with_sizes), names):
        kernel.__name__, kernel.__doc__ = name, f"Parts along a dimension{doc}."
    joined = lambda grads, dim: cat(grads, dim)
    return tuple(op(tex="{self}", view=view, outputs="list", saves=("self_sym_sizes", size), self=joined)(kernel)
                 for kernel, size in ((split, "split_size"), (with_sizes, "split_sizes")))


_split, split_with_sizes = _splitting(("_split", "split_with_sizes"), True, ": views that refuse in-place writes")
unsafe_split, _ = _splitting(("unsafe_split", "unsafe_split_with_sizes"), False, ", which may be written in place: the program "
                             "promises to use the whole no more")


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of one size (or of a list of sizes) along a dimension. Views that refuse in-place writes."""
    if isinstance(split_size_or_sections, int):
        return _split(tensor, split_size_or_sections, dim)
    return split_with_sizes(tensor, tuple(split_size_or_sections), dim)


def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of `split_size` (or of a list of sizes) along a dimension. Views that refuse in-place writes."""
    return split(self, split_size, dim)


Tensor.split = _split_method


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """About equal parts along a dimension. Views that refuse in-place writes."""
    size = input.shape[_parts_of(input.array, dim, "chunk")]
    check(chunks > 0, lambda: f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return _split(input, -(-size // chunks), dim) if size else split_with_sizes(input, (0,) * chunks, dim)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk` into tensors that may be written in place."""
    return unsafe_split(input, -(-input.shape[check_dim(dim, input.ndim)] // chunks), dim)


def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """A number of parts, or parts that end at the given indices, along a dimension. Views."""
    check(input.ndim, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    size = input.shape[check_dim(dim, input.ndim)]
    if isinstance(indices_or_sections, Tensor):
        check(indices_or_sections.ndim <= 1, lambda: "tensor_split expected tensor_indices_or_sections to be a "
              f"zero-dimensional or one-dimensional tensor, but got a tensor with {indices_or_sections.ndim} dims")
        if indices_or_sections.dtype is not int64:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                               + indices_or_sections.dtype.scalar_type)
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        check(n > 0, lambda: f"number of sections must be larger than 0, got {n}")
        ends = [size // n * i + builtins.min(i, size % n) for i in range(1, n)]
    else:
        ends = list(indices_or_sections)
    return tuple(slice(input, dim, start, end, 1) for start, end in zip([0, *ends], [*ends, size]))


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along a dimension, `n` times; of the tensor with `prepend` before and `append` behind it."""
    check(input.ndim, "diff expects input to be at least one-dimensional")
    check(n >= 0, lambda: f"order must be non-negative but got {n}")
    if n == 0:
        return zeros_of(input).copy_(input)
    if prepend is not None or append is not None:
        input = cat([x for x in (prepend, input, append) if x is not None], dim)
    for _ in range(n):
        size = input.shape[check_dim(dim, input.ndim)]
        if not size:
            break
        earlier, later = narrow(input, dim, 0, size - 1), narrow(input, dim, 1, size - 1)
        input = logical_xor(later, earlier) if input.array.dtype == bool else later - earlier
    return input


# Joining -------------------------------------------------------------------------------------------------------------------

def _uncat(grad: Any, _tensors_sym_sizes: list[tuple], dim: int) -> list:
    parts, start = [], 0
    for size in _tensors_sym_sizes:
        if size == (0,):
            parts.append(zeros_of(slice(reshape(grad, -1), 0, 0, 0)))
            continue
        n = size[dim % len(size)]
        parts.append(slice(grad, dim, start, start + n))
        start += n
    return parts


@op(tensors=_uncat)
def _cat(tensors, dim):
    for i, x in enumerate(tensors):
        if not x.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    dtype = result_type(*tensors)
    tensors = [x for x in tensors if x.shape != (0,)]      # PyTorch lets empty vectors pass
    if not tensors:
        return np.empty(0, dtype)
    first = tensors[0]
    dim = check_dim(dim, first.ndim)
    for i, x in enumerate(tensors):
        if x.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for d in range(x.ndim):
            if d != dim and x.shape[d] != first.shape[d]:
                raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size {first.shape[d]} but "
                                   f"got size {x.shape[d]} for tensor number {i} in the list.")
    return np.ascontiguousarray(np.concatenate(tensors, axis=dim, dtype=dtype))


def _sequence(tensors: Any, name: str) -> list:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList") if name == "stack" else ValueError(
            f"torch.{name}(): expected a non-empty list of Tensors")
    return tensors


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors joined along a dimension that they have."""
    return _cat(_sequence(tensors, "cat"), dim)


concat = concatenate = cat


@op(tensors=lambda grad, dim: [select(grad, dim, i) for i in range(grad.shape[dim])])
def _stack(tensors, dim):
    dim = check_dim(dim, tensors[0].ndim + 1)
    for i, x in enumerate(tensors):
        if x.shape != tensors[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                               f"{list(x.shape)} at entry {i}")
    return np.ascontiguousarray(np.stack(promote(*tensors), axis=dim))


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors of one shape joined along a new dimension."""
    return _stack(_sequence(tensors, "stack"), dim)


def atleast(n: int, place: Callable) -> Callable:
    def function(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            tensors = tensors[0]
            return tuple(place(x) for x in tensors)
        return place(tensors[0]) if len(tensors) == 1 else tuple(place(x) for x in tensors)
    function.__name__, function.__doc__ = f"atleast_{n}d", f"Tensors with {n} or more dimensions, leading ones added. Views."
    return function


atleast_1d = atleast(1, lambda x: reshape(x, 1) if x.ndim == 0 else x)
atleast_2d = atleast(2, lambda x: reshape(x, 1, 1) if x.ndim == 0 else unsqueeze(x, 0) if x.ndim == 1 else x)
atleast_3d = atleast(3, lambda x: x if x.ndim > 2 else unsqueeze(atleast_2d(x), -1) if x.ndim else reshape(x, 1, 1, 1))


def _stacking(name: str, least: Callable, dim: int, doc: str) -> Callable:
    def function(tensors: Sequence[Any]) -> Any:
        tensors = least(list(tensors))
        check(tensors, lambda: f"{name} expects a non-empty TensorList")
        return cat(tensors, dim if tensors[0].ndim > dim else 0)
    function.__name__, function.__doc__ = name, f"Tensors {doc}."
    return function


hstack = _stacking("hstack", atleast_1d, 1, "side by side: along dimension 1, vectors along 0")
vstack = _stacking("vstack", atleast_2d, 0, "on top of each other, vectors as rows")
dstack = _stacking("dstack", atleast_3d, 2, "behind each other, along dimension 2")


def column_stack(tensors: Sequence[Any]) -> Any:
    """Tensors side by side, vectors as columns."""
    return hstack([reshape(x, x.numel(), 1) if x.ndim <= 1 else x for x in tensors])


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple:
    """Grids of coordinates, one per vector; ``indexing="ij"`` (matrix order, the default) or ``"xy"``. Views."""
    tensors = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else list(tensors)
    if indexing is None:
        warn_once(MESHGRID)
    check(indexing in (None, "ij", "xy"), lambda: 'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ' + str(indexing))
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors[:2] = tensors[1::-1]
    shape = [x.numel() for x in tensors]
    grids = [expand(view(x, *(-1 if i == j else 1 for j in range(len(tensors)))), *shape) for i, x in enumerate(tensors)]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def broadcast_tensors(*tensors: Any) -> tuple:
    """Tensors expanded to their common shape. Views."""
    shape = common_shape(*(x.array.shape for x in tensors))
    return tuple(x if x.shape == shape else expand(x, shape) for x in tensors)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape to which shapes broadcast."""
    common: tuple[int, ...] = ()
    for i, shape in enumerate(shapes):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        try:
            common = np.broadcast_shapes(common, shape)
        except ValueError:
            k = next(k for k in range(1, len(shape) + 1) if shape[-k] != 1 and shape[-k] != common[-k] != 1)
            raise RuntimeError(f"Attempting to broadcast a dimension of length {shape[-k]} at {-k}! Mismatching argument at index {i} had "
                               f"{shape}; but expected shape should be broadcastable to {list(common)}") from None
    return Size(common)


# Repeating -----------------------------------------------------------------------------------------------------------------

def _unrepeated(grad: Any, self_sym_sizes: tuple, repeats: tuple) -> Any:
    """Summed over the repetitions."""
    if 0 in repeats:
        return expand(_sum_over(grad, tuple(range(grad.ndim)), False), self_sym_sizes)
    lead = len(repeats) - len(self_sym_sizes)
    for _ in range(lead):
        grad = _sum_over(grad, (0,), False)
    shape, dims = [], []
    for times, n in zip(repeats[lead:], self_sym_sizes):
        if times != 1:
            dims.append(len(shape))
            shape.append(times)
        shape.append(n)
    return _sum_over(reshape(grad, shape), tuple(dims), False) if dims else grad


@op(self=_unrepeated)
def _repeat(self, repeats):
    check(len(repeats) >= self.ndim, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    sizes = [r * n for r, n in zip(repeats, (1,) * (len(repeats) - self.ndim) + self.shape, strict=True)]
    negative = [n for n in sizes if n < 0]
    check(not negative, lambda: f"Trying to create tensor with negative dimension {negative[0]}: {sizes}")
    return np.tile(self, repeats)


def repeat(self: Any, *args: Any, repeats: Any = None) -> Any:
    """Copies of the tensor side by side, a number of times per dimension."""
    return _repeat(self, shape_of(args, repeats))


def tile(input: Any, *args: Any, dims: Any = None) -> Any:
    """`repeat`, with missing leading numbers taken as 1."""
    dims = shape_of(args, dims)
    return _repeat(input, (1,) * (input.ndim - len(dims)) + dims)


def repeat_interleave(input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element (or slice along `dim`) repeated in place, a number of times or one number for each; of numbers alone, where."""
    if repeats is None:
        check(input.ndim == 1, "repeat_interleave only accept 1D vector as repeat")
        return wrap(_places(input.array, input.numel(), output_size))
    if dim is None:
        input, dim = flatten(input), 0
    dim = check_dim(dim, input.ndim)
    if isinstance(repeats, int):
        check(repeats >= 0, "Repeats must be non-negative")
        wide = unsqueeze(input, dim + 1)
        sizes = tuple(wide.shape)
        return flatten(_contiguous(expand(wide, sizes[:dim + 1] + (repeats,) + sizes[dim + 2:])), dim, dim + 1)
    check(repeats.ndim <= 1, "repeats must be 0-dim or 1-dim tensor")
    check(repeats.numel() in (1, input.shape[dim]), lambda: "repeats must have the same size as input along dim, but "
          f"got repeats.size(0) = {repeats.numel()} and input.size({dim}) = {input.shape[dim]}")
    return input.index_select(dim, wrap(_places(repeats.array, input.shape[dim], output_size)))


def _places(repeats: np.ndarray, n: int, output_size: int | None) -> np.ndarray:
    """Which of n slices stand in the result."""
    refuse(repeats, "bf", "repeat_interleave_cpu")
    check(not (repeats < 0).any(), "repeats can not be negative")
    places = np.repeat(np.arange(n, dtype=np.int64), repeats.astype(np.intp, copy=False))
    check(output_size is None or output_size == len(places), "allocated size does not match required size")
    return places
