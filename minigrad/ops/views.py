"""Other looks at the same memory, copies and casts."""
from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..copy_slices import AsStridedBackward0, Geometry, reshaping
from ..dtype import Size, contiguous_format, scalar_type
from ..engine import can_sum_to
from ..function import PUBLIC, op
from ..grad_mode import state
from ..inplace import check_inplace, view_of
from ..reasons import NO_DIMENSIONS, REVERSE_T, check, warn_once
from ..strides import arranged
from ..tensor import Tensor, check_dim, gradient_edge, read_only


@op(tex="{self}", view=True, self=lambda grad: grad)
def _alias(self):
    return self[...]


# Views --------------------------------------------------------------------------------

def dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """A ``dim`` argument as a tuple of dimensions counted from the front; None and () mean all.

    Raises
    ------
    IndexError, RuntimeError
        Out of range, or "dim 0 appears multiple times in the list of dims".
    """
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    dims = [check_dim(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return tuple(dims) if ndim else ()


def shape_of(sizes: tuple, keyword: Any = None) -> tuple[int, ...]:
    """``(2, 3)`` from ``(2, 3)`` or ``((2, 3),)``, or from what came by keyword."""
    if keyword is not None:
        sizes = (keyword,)
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    return tuple([n if n.__class__ is int else operator.index(n) for n in sizes])


def infer_size(sizes: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """Replace a -1 by the size that makes the number of elements right.

    Raises
    ------
    RuntimeError
        "shape '[3]' is invalid for input of size 2"
    """
    known = math.prod(n for n in sizes if n != -1)
    wild = sizes.count(-1)
    if wild > 1:
        raise RuntimeError("only one dimension can be inferred")
    for n in sizes:
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {sizes.index(n)} of shape {list(sizes)}")
    if wild and known == 0 and numel == 0:
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified dimension size "
                           "-1 can be any value and is ambiguous")
    if (known != numel) if not wild else (known == 0 or numel % known):
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")
    return tuple(numel // known if n == -1 else n for n in sizes)


def _window_of(array: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray | None:
    """The array in another shape without copying, or None where its strides do not allow that."""
    try:
        return array.reshape(sizes, copy=False)
    except ValueError:
        return None


@op(view=True, self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
def _view(self, size):
    view = _window_of(self, infer_size(size, self.size))
    if view is None:
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across "
                           "two contiguous subspaces). Use .reshape(...) instead.")
    return view


def view(self: Tensor, *args: Any, size: Any = None) -> Tensor:
    """The same elements, in the same memory, in another shape.

    Raises
    ------
    RuntimeError
        "shape '[3]' is invalid for input of size 2"; "view size is not compatible with input tensor's size and stride …"
    """
    if len(args) == 1 and isinstance(args[0], dtypes.dtype):
        raise RuntimeError("minigrad's view() does not reinterpret memory as another dtype")
    return _view(self, shape_of(args, size))


@op(self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
def _unsafe_view(self, size):
    return self.reshape(size)


@op(view=True, self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
def _reshape_alias(self, size):
    return _window_of(self, size)


def reshape(input: Any, *args: Any, shape: Any = None) -> Any:
    """The elements in another shape: a view where the strides allow it, else a copy."""
    sizes = shape_of(args, shape)
    if not isinstance(input, Tensor):
        return input.reshape(sizes)
    sizes = infer_size(sizes, input.array.size)
    if input.array.flags.c_contiguous:
        return _view(input, sizes)
    if _window_of(input.array, sizes) is not None:
        return _reshape_alias(input, sizes)
    return _unsafe_view(_contiguous(input), sizes)


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`view` in the shape of another tensor."""
    return self.view(other.shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`reshape` to the shape of another tensor."""
    return self.reshape(other.shape)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim` as one; the tensor itself if there is nothing to do."""
    start, end = check_dim(start_dim, input.ndim), check_dim(end_dim, input.ndim)
    check(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim")
    if input.ndim == 0:
        return reshape(input, 1)
    if start == end:
        return input
    shape = tuple(input.shape)
    return reshape(input, shape[:start] + (math.prod(shape[start:end + 1]),) + shape[end + 1:])


def ravel(input: Tensor) -> Tensor:
    """The elements as one dimension; the tensor itself if it is contiguous and has one already."""
    return reshape(contiguous(input), -1)


def unflatten(input: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    """One dimension as several."""
    dim, size = check_dim(dim, input.ndim), input.shape[dim]
    check(math.prod(sizes) == size or -1 in sizes and not size % -math.prod(sizes), lambda: "unflatten: Provided "
          f"sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size}) in the input tensor")
    return view(input, tuple(input.shape[:dim]) + infer_size(tuple(sizes), size) + tuple(input.shape[dim + 1:]))


@op(view=True, tex=r"{self}^\top", self=lambda grad: t(grad))
def t(self):
    """A matrix transposed; a vector or a 0-d tensor as it is. A view."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


@op("swapaxes", "swapdims", view=True, tex=r"{self}^\top", self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))
def transpose(self, dim0, dim1):
    """Two dimensions swapped. A view."""
    dim0, dim1 = check_dim(dim0, self.ndim), check_dim(dim1, self.ndim)
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]


@op(view=True, self=lambda grad, dims: _permute(grad, tuple(int(i) for i in np.argsort([d % len(dims) for d in dims]))))
def _permute(self, dims):
    if len(dims) != self.ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
                           f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(dims)}")
    order = [check_dim(d, self.ndim) for d in dims]
    check(len(set(order)) == len(order), "permute(): duplicate dims are not allowed.")
    return self.transpose(order)


def permute(input: Tensor, *args: Any, dims: Any = None) -> Tensor:
    """The dimensions in another order. A view."""
    return _permute(input, shape_of(args, dims))


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places. A view."""
    n = input.ndim
    given = {name: [x] if isinstance(x, int) else list(x) for name, x in (("source", source), ("destination", destination))}
    check(len(given["source"]) == len(given["destination"]), lambda: "movedim: Invalid source or destination dims: source "
          f"({given['source']} dims) should contain the same number of dims as destination ({given['destination']} dims)")
    source, destination = ([check_dim(d, n) for d in dims] for dims in given.values())
    for (name, dims), places in zip(given.items(), (source, destination)):
        check(len(set(places)) == len(places), f"movedim: repeated dim in `{name}` ({dims})")
    if not n:
        return _alias(input)
    order = [d for d in range(n) if d not in source]
    for to_, from_ in sorted(zip(destination, source)):
        order.insert(to_, from_)
    return _permute(input, tuple(order))


moveaxis = movedim


def T(self: Tensor) -> Tensor:
    """The matrix transposed: a view."""
    if self.ndim != 2:
        warn_once(REVERSE_T if self.ndim else NO_DIMENSIONS.format("T"), stacklevel=3)
    return _permute(self, tuple(range(self.ndim))[::-1])


def _matrix_transpose(name: str) -> property:
    """``mT``; for real numbers the adjoints ``mH`` and (of one matrix) ``H`` are the same."""
    def turned(self: Tensor) -> Tensor:
        if not self.ndim:
            text = NO_DIMENSIONS if name == "mT" else "Tensor.{} is deprecated on 0-D tensors. Consider using x.conj()."
            warn_once(text.format(name), stacklevel=3)
            return self
        if self.ndim < 2 or name == "H" and self.ndim > 2:
            which = "matrices (2-D tensors)" if name == "H" else "matrices or batches of matrices"
            raise RuntimeError(f"tensor.{name} is only supported on {which}. Got {self.ndim}-D tensor."
                               + " For batches of matrices, consider using tensor.mH" * (self.ndim > 2))
        return transpose(self, -2, -1)
    turned.__name__, turned.__doc__ = name, "The last two dimensions exchanged: a view."
    return read_only(turned)


Tensor.T, Tensor.mT, Tensor.mH, Tensor.H = read_only(T), *map(_matrix_transpose, ("mT", "mH", "H"))


@op(view=True, tex="{self}", self=lambda grad, dim: squeeze(grad, dim))
def unsqueeze(self, dim):
    """A dimension of size 1 inserted at `dim`. A view."""
    return np.expand_dims(self, check_dim(dim, self.ndim + 1))


def reinserted(grad: Any, dims: Iterable[int]) -> Any:
    """With dimensions of size 1 at those places."""
    for dim in sorted(dims):
        grad = unsqueeze(grad, dim)
    return grad


def spread(grad: Any, self_sym_sizes: tuple, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduced tensor, repeated over the dimensions that were reduced."""
    return expand(grad if keepdim else reinserted(grad, dims_of(dim, len(self_sym_sizes))), self_sym_sizes)


def _unsqueezed(grad: Any, self_sym_sizes: tuple, dim: Any = None) -> Any:
    """Those dimensions of size 1 that were squeezed are back."""
    return reinserted(grad, [d for d in dims_of(dim, len(self_sym_sizes)) if self_sym_sizes[d] == 1])


@op(node="SqueezeBackward0", view=True, tex="{self}",
    self=lambda grad, self_sym_sizes: _unsqueezed(grad, self_sym_sizes))
def _squeeze_all(self):
    return self.squeeze()


@op(node="SqueezeBackward1", view=True, tex="{self}",
    self=lambda grad, dim, self_sym_sizes: unsqueeze(grad, dim) if self_sym_sizes and self_sym_sizes[dim] == 1 else grad)
def _squeeze_dim(self, dim):
    dim = check_dim(dim, self.ndim)
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else self[...]


@op(node="SqueezeBackward2", view=True, tex="{self}", self=lambda grad, dim, self_sym_sizes:
    _unsqueezed(grad, self_sym_sizes, dim) if dim else grad)
def _squeeze_dims(self, dim):
    return self.squeeze(tuple(d for d in dims_of(dim, self.ndim) if self.shape[d] == 1) if dim else ())


def squeeze(input: Any, dim: Any = None) -> Any:
    """Without the dimensions of size 1, or without `dim` if its size is 1. A view."""
    if dim is None:
        return _squeeze_all(input)
    return _squeeze_dims(input, tuple(dim)) if isinstance(dim, (tuple, list)) else _squeeze_dim(input, dim)


for _name, _view_op, _node in (("_t_", t, "TBackward1"), ("transpose_", transpose, "TransposeBackward1"),
                               ("unsqueeze_", unsqueeze, "UnsqueezeBackward1"), ("_squeeze_all_", _squeeze_all, "SqueezeBackward3"),
                               ("_squeeze_dim_", _squeeze_dim, "SqueezeBackward4"), ("_squeeze_dims_", _squeeze_dims, "SqueezeBackward5")):
    reshaping(_name, _view_op, _node)
Tensor.swapaxes_ = Tensor.swapdims_ = Tensor.transpose_


def t_(self: Tensor) -> Tensor:
    """`t` in place: this tensor gets the new shape."""
    check_inplace(self, state.enabled and self.requires_grad)
    check(self.ndim <= 2, lambda: f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self._t_()


def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """`squeeze` in place: this tensor gets the new shape."""
    if dim is None:
        return self._squeeze_all_()
    return self._squeeze_dims_(tuple(dim)) if isinstance(dim, (tuple, list)) else self._squeeze_dim_(dim)


@op(view=True, self=lambda grad, self_sym_sizes: sum_to_size(grad, self_sym_sizes))
def _expand(self, size):
    lead = len(size) - self.ndim
    if lead < 0:
        raise expand_error(self, size)
    target = list(size)
    for i, n in enumerate(target):
        if n == -1:
            if i < lead:
                raise RuntimeError(f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}")
            target[i] = self.shape[i - lead]
    if any(n not in (1, m) for n, m in zip(self.shape, target[lead:])):
        raise expand_error(self, size)
    strides = [0] * len(target)
    for i in range(len(target) - 1, -1, -1):
        size, stride = (self.shape[i - lead], self.strides[i - lead]) if i >= lead else (
            1, target[i + 1] * strides[i + 1] if i + 1 < len(target) else self.itemsize)
        strides[i] = stride if size == target[i] else 0
    return np.lib.stride_tricks.as_strided(self, target, strides)


def expand_error(array: np.ndarray, size: tuple[int, ...]) -> RuntimeError:
    """PyTorch's text for an array that does not expand to a size."""
    shape = array.shape
    if len(shape) > len(size):
        name = "CPUBoolType" if array.dtype == bool else f"torch.{scalar_type(array)}Tensor"
        return RuntimeError(f"expand({name}{{{list(shape)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must be "
                            f"greater or equal to the number of dimensions in the tensor ({len(shape)})")
    i, old, n = next((i, s, n) for i, s, n in zip(range(len(size) - 1, -1, -1), shape[::-1], size[::-1])
                     if s not in (1, n) and n != -1)
    return RuntimeError(f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
                        f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}")


def expand(self: Any, *args: Any, size: Any = None) -> Any:
    """Dimensions of size 1 repeated without copying: every repetition is the same memory. A view."""
    if not isinstance(self, Tensor):
        return np.broadcast_to(self, shape_of(args, size))
    return _expand(self, shape_of(args, size))


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of another tensor."""
    return expand(self, other.shape)


def broadcast_to(input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """The tensor expanded to a shape."""
    return expand(input, *args, size=size)


_ORDER = {5: [0, 4, 1, 2, 3], 6: [0, 4, 5, 1, 2, 3], 7: [0, 4, 5, 6, 1, 2, 3]}


def added_up(array: np.ndarray, axis: Any = None, **options: Any) -> Any:
    """The sum over axes (None: all); a few numbers in a row in the order in which PyTorch adds them: four sums side by side."""
    if array.dtype.kind == "f" and array.flags.c_contiguous:
        if axis is None and array.size in _ORDER:
            array = array.reshape(-1)[_ORDER[array.size]]
        elif axis == (array.ndim - 1,) and array.shape[-1] in _ORDER:
            array = array[..., _ORDER[array.shape[-1]]]
    return np.add.reduce(array, axis=axis, **options)


@op(node="SumBackward1", tex=r"\sum_{{{dim}}} {self}", self=spread)
def _sum_over(self, dim, keepdim):
    return added_up(self, axis=dim, keepdims=keepdim)




@op(node="SumBackward0", tex=r"\sum {self}", self=lambda grad, self_sym_sizes: expand(grad, self_sym_sizes))
def _sum_all(self, dtype=None):
    return added_up(self, dtype=dtype or (np.int64 if self.dtype.kind in "biu" else None))


def sum_to_size(self: Any, *args: Any, size: Any = None) -> Any:
    """Summed down to a shape that broadcasts to this one: what undoes broadcasting."""
    sizes, shape = shape_of(args, size), tuple(self.shape)
    if not sizes:
        return _sum_all(self)
    if shape == sizes:
        return self
    check(can_sum_to(shape, sizes), lambda: f"size {{{list(sizes)}}} is not expandable to size {{{list(shape)}}}.")
    lead = len(shape) - len(sizes)
    dims = tuple([i for i, n in enumerate(shape) if i < lead or (sizes[i - lead] == 1 and n != 1)])
    result = _sum_over(self, dims, True) if dims else self
    return reshape(result, sizes) if lead else result


@op(tex="{grad_output}", grad_output=lambda grad, dim, index: select(grad, dim, index))
def _select_backward(grad_output, self_sym_sizes, dim, index):
    """Zeros with a gradient in the place of one index."""
    out = np.zeros(self_sym_sizes, grad_output.dtype)
    out[(builtins.slice(None),) * (dim % len(self_sym_sizes)) + (index,)] = grad_output
    return out


@op(view=True, tex="{self}[{index}]", self=_select_backward)
def select(self, dim, index):
    """One index along a dimension, which disappears. A view.

    Raises
    ------
    IndexError
        "index 5 is out of bounds for dimension 0 with size 2"
    """
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = check_dim(dim, self.ndim)
    size = self.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}")
    return self[(builtins.slice(None),) * dim + (index, ...)]


def zeros_around(part: np.ndarray, sizes: tuple[int, ...], view: Callable, *where: Any) -> np.ndarray:
    """Zeros with an array in the place that a view of them shows."""
    out = np.zeros(sizes, part.dtype)
    view(out, *where)[...] = part
    return out


@op(tex="{grad_output}", grad_output=lambda grad, dim, start, end, step: slice(grad, dim, start, end, step))
def _slice_backward(grad_output, self_sym_sizes, dim, start, end, step):
    """Zeros with a gradient in the place of a range of indices."""
    return zeros_around(grad_output, self_sym_sizes, slice, dim, start, end, step)


@op(view=True, tex="{self}[{start}:{end}]", self=_slice_backward)
def slice(self, dim=0, start=None, end=None, step=1):
    """A range of indices along a dimension. A view."""
    return self[(builtins.slice(None),) * check_dim(dim, self.ndim) + (builtins.slice(start, end, step), ...)]


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` indices from `start` along a dimension. A view."""
    check(input.ndim, "narrow() cannot be applied to a 0-dim tensor.")
    size = input.shape[check_dim(dim, input.ndim)]
    check(length >= 0, "narrow(): length must be non-negative.")
    if isinstance(start, Tensor) and (start.ndim or start.array.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start = int(start)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start += size if start < 0 else 0
    check(start + length <= size, lambda: f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice(input, dim, start, start + length, 1)


@op(tex="{grad_output}", grad_output=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))
def _diagonal_backward(grad_output, self_sym_sizes, offset, dim1, dim2):
    """Zeros with a gradient on a diagonal."""
    return zeros_around(grad_output, self_sym_sizes, diagonal, offset, dim1, dim2)


@op(view=True, self=_diagonal_backward)
def diagonal(self, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as the last one. A view."""
    dim1, dim2 = check_dim(dim1, self.ndim), check_dim(dim2, self.ndim)
    check(dim1 != dim2, lambda: f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    view = self.diagonal(max(-self.size, min(offset, self.size)), dim1, dim2)
    view.flags.writeable = self.flags.writeable
    return view


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the diagonal, in place: a view of it is filled. With `wrap` the diagonal begins anew under a tall matrix."""
    check(self.ndim > 1, "dimensions must larger than 1")
    check(self.ndim == 2 or len({*self.shape}) == 1, "all dimensions of input must be of equal length")
    step, size = builtins.sum(self.stride()), builtins.min(self.shape)
    rows, columns = self.shape[:2]
    anew = bool(wrap) and self.ndim == 2 and rows > columns + 1
    self.as_strided((size,), (step,)).fill_(fill_value)
    if anew:
        more = -(-self.numel() // (columns + 1)) - size
        self.as_strided((more,), (step,), self.storage_offset() + self.stride(0) * (columns + 1)).fill_(fill_value)
    return self


@op(view=True, self=lambda grad, self_sym_sizes, dimension, size, step:
    _unfold_backward(grad, self_sym_sizes, dimension, size, step))
def unfold(self, dimension, size, step):
    """All windows of `size` along a dimension, `step` apart, with the window as a last dimension. A view."""
    dim = check_dim(dimension, self.ndim)
    length = self.shape[dim] if self.ndim else 1
    check(size <= length, lambda: f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    check(step > 0, lambda: f"step is {step} but must be > 0")
    if not self.ndim:
        return self.reshape(1)[:size]
    shape = self.shape[:dim] + ((length - size) // step + 1,) + self.shape[dim + 1:] + (size,)
    strides = self.strides[:dim] + (self.strides[dim] * step,) + self.strides[dim + 1:] + (self.strides[dim],)
    return np.lib.stride_tricks.as_strided(self, shape, strides)


@op(tex="{grad_output}", grad_output=lambda grad, dim, size, step: unfold(grad, dim, size, step))
def _unfold_backward(grad_output, input_sizes, dim, size, step):
    out = np.zeros(input_sizes, grad_output.dtype)
    if not out.ndim:
        return np.add.reduce(grad_output)
    dim, windows = dim % out.ndim, grad_output.shape[dim % out.ndim]
    for i in range(size):
        out[(builtins.slice(None),) * dim + (builtins.slice(i, i + (windows - 1) * step + 1, step),)] += grad_output[..., i]
    return out


def check_storage(size: tuple, stride: tuple, offset: int, itemsize: int, nbytes: int) -> None:
    """Refuse a view that reaches beyond its storage."""
    needed = 0 if 0 in size else (offset + 1 + builtins.sum((n - 1) * s for n, s in zip(size, stride))) * itemsize
    check(needed <= nbytes, lambda: f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
          f"{itemsize} requiring a storage size of {needed} are out of bounds for storage of size {nbytes}")


def as_strided(input: Tensor, size: tuple, stride: tuple, storage_offset: int | None = None) -> Tensor:
    """A view of the storage with any shape and steps, in elements."""
    flat, itemsize = input.untyped_storage().elements(), input.array.itemsize
    offset = input.storage_offset() if storage_offset is None else storage_offset
    check_storage(size, stride, offset, itemsize, flat.nbytes)
    result = view_of(input, np.lib.stride_tricks.as_strided(flat[offset:], size, [s * itemsize for s in stride]))
    if state.enabled and input.requires_grad:
        node = AsStridedBackward0((gradient_edge(input),), result.array)
        node._attributes, node.geometry = (Size(size), tuple(stride), storage_offset), Geometry(input, result)
        result._requires_grad, result._edge = True, (node, 0)
    return result


# Copies and casts --------------------------------------------------------------------------------

@op(tex="{self}", self=lambda grad: grad)
def clone(self, memory_format=None):
    """A copy in memory of its own, still part of the graph."""
    return self.copy() if memory_format is contiguous_format else arranged(self.copy(order="K"), self)


def typed(grad: Any, dtype: np.dtype) -> Any:
    """A gradient in the type of what it belongs to; the engine would cast it, but a node that is called by hand does so, too."""
    return grad if getattr(grad, "array", grad).dtype == dtype else _cast(grad, dtype)


@op(node="ToCopyBackward0", self=lambda grad, _self_dtype: typed(grad, _self_dtype))
def _cast(self, dtype):
    return arranged(self.astype(dtype), self)


Tensor._cast = _cast        # what the engine fits a gradient to its edge's dtype with


@op()
def _cast_whole(self: Tensor, dtype):
    return arranged(self.astype(dtype), self)


@op(view="alias")
def detach(self: Tensor):
    """The same memory, with no history: a leaf with requires_grad False that shares storage and version."""
    return self


def to(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False, non_blocking: bool = False) -> Tensor:
    """Cast to a dtype (or to that of another tensor); the tensor itself if it has it already."""
    for a in args:
        if isinstance(a, Tensor):
            dtype = a.dtype
        elif isinstance(a, (str, dtypes.device)):
            device = a
        elif isinstance(a, (dtypes.dtype, type)):
            dtype = a
    dtypes.on_cpu(device)
    wanted = self.array.dtype if dtype is None else dtypes.to_numpy(dtype)
    if wanted == self.array.dtype and not copy:
        return self
    return _cast(self, wanted) if wanted.kind == "f" else _cast_whole(self, wanted)     # no gradient flows through integers


def _caster(d: dtypes.dtype) -> Callable:
    def cast(self: Tensor) -> Tensor:
        return self.to(d)
    cast.__doc__ = f"Cast to {d!r}; the tensor itself if it is one."
    return cast


for _name, _dtype in dtypes.ALIASES.items():
    setattr(Tensor, _name, _caster(_dtype))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Cast to the dtype of another tensor; the tensor itself if it has it."""
    return self.to(other.dtype)


def cpu(self: Tensor) -> Tensor:
    """The tensor itself: it is on the CPU."""
    return self


def cuda(self: Tensor, device: Any = None) -> Tensor:
    """Raise as PyTorch does where it was built without CUDA."""
    return self.to("cuda")


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements lie in row-major order, else a copy that does."""
    return self if self.array.flags.c_contiguous else _contiguous(self)


@op(node="CloneBackward0", self=lambda grad: grad)
def _contiguous(self):
    return self.copy(order="C")


def is_tensor(obj: Any) -> bool:
    """Whether a value is a Tensor."""
    return isinstance(obj, Tensor)


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero."""
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape."""
    return input.array.shape == other.array.shape


PUBLIC["numel"], PUBLIC["is_floating_point"] = Tensor.numel, Tensor.is_floating_point
del PUBLIC["slice"], PUBLIC["unfold"], Tensor.slice        # PyTorch has no such functions: x[a:b] and the method unfold
