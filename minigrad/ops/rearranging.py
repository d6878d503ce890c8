"""Copies with the elements in another order or place: flips, rolls, padding, triangles and diagonals."""
from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from ..dtype import number_in
from ..function import op
from ..reasons import check
from ..strides import arranged
from ..tensor import Tensor, check_dim
from .views import _diagonal_backward, contiguous, diagonal, dims_of, shape_of, zeros_around


@op(self=lambda grad, dims: flip(grad, dims))
def _flip(self, dims):
    return arranged(np.flip(self, dims_of(dims, self.ndim) if dims else ()).copy(order="K"), self)


def flip(input: Any, *args: Any, dims: Any = None) -> Any:
    """The order of the elements reversed along dimensions."""
    return _flip(input, shape_of(args, dims))


def fliplr(input: Any) -> Any:
    """Columns in reverse order."""
    check(input.ndim >= 2, "Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input: Any) -> Any:
    """Rows in reverse order."""
    check(input.ndim >= 1, "Input must be >= 1-d.")
    return flip(input, 0)


@op(self=lambda grad, k, dims: rot90(grad, -k, dims))
def rot90(self, k=1, dims=(0, 1)):
    """Turned by `k` right angles in the plane of two dimensions."""
    check(len(dims) == 2, lambda: f"expected total rotation dims == 2, but got dims = {len(dims)}")
    check(self.ndim >= 2, lambda: f"expected total dims >= 2, but got total dims = {self.ndim}")
    if dims[0] == dims[1] or self.ndim == 2 and abs(dims[0] - dims[1]) == 2:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    k = operator.index(k) % 4
    if not k % 2:
        return _flip(self, dims) if k else self.copy()
    return _flip(self, (dims[k == 1],)).swapaxes(*dims)


@op(self=lambda grad, pad: constant_pad_nd(grad, tuple(-n for n in pad)))
def constant_pad_nd(self, pad, value=0):
    """A number around the tensor: `pad` counts before and after the last dimension, then those of the one before; negative ones cut."""
    check(len(pad) % 2 == 0, "Padding length must be divisible by 2")
    check(len(pad) <= 2 * self.ndim, lambda: "Padding length should be less than or equal to two times the input dimension "
          f"but got padding length {len(pad)} and input of dimension {self.ndim}")
    pairs = [(0, 0)] * (self.ndim - len(pad) // 2) + list(zip(pad[-2::-2], pad[::-2]))
    kept = self[tuple(builtins.slice(builtins.max(-a, 0), n - builtins.max(-b, 0)) for n, (a, b) in zip(self.shape, pairs))]
    return np.ascontiguousarray(np.pad(kept, [(builtins.max(a, 0), builtins.max(b, 0)) for a, b in pairs],
                                       constant_values=number_in(value, self.dtype)))


@op(self=lambda grad, shifts, dims: _roll(grad, tuple(-n for n in shifts), dims))
def _roll(self, shifts, dims):
    check(not dims or self.ndim, lambda: f"Dimension specified as {dims[0]} but tensor has no dimensions", IndexError)
    if not (self.ndim and self.size):
        return self.copy()
    return np.ascontiguousarray(np.roll(self, shifts, [check_dim(d, self.ndim) for d in dims] or None))


def roll(input: Any, shifts: Any, dims: Any = ()) -> Any:
    """Elements moved along dimensions (without `dims`, in the flattened tensor); what leaves at one end enters at the other."""
    shifts, dims = shape_of((shifts,)), shape_of((dims,))
    check(shifts, "`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return _roll(input, shifts, dims if 0 in input.shape else tuple(check_dim(d, input.ndim) for d in dims))


@op(inplace="overlapping", self=lambda grad, diagonal: tril(grad, diagonal))
def tril(self, diagonal=0):
    """The lower triangle of matrices, zeros above the diagonal."""
    return _triangle("tril", np.tril, self, diagonal)


@op(inplace="overlapping", self=lambda grad, diagonal: triu(grad, diagonal))
def triu(self, diagonal=0):
    """The upper triangle of matrices, zeros below the diagonal."""
    return _triangle("triu", np.triu, self, diagonal)


def _triangle(name, kernel, array, diagonal):
    check(array.ndim >= 2, lambda: f"{name}: input tensor must have at least 2 dimensions")
    return np.ascontiguousarray(kernel(array, diagonal))


@op(self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    """Matrices that have the last dimension on a diagonal."""
    ndim, n = self.ndim + 1, self.shape[-1] + builtins.abs(offset)
    dim1, dim2 = check_dim(dim1, ndim), check_dim(dim2, ndim)
    check(dim1 != dim2, lambda: f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    sizes = list(self.shape[:-1])
    for d in sorted((dim1, dim2)):
        sizes.insert(d, n)
    return zeros_around(self, sizes, diagonal, offset, dim1, dim2)


@op(node="DiagonalBackward0_copy", self=_diagonal_backward)
def diagonal_copy(self, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, in memory of its own."""
    return diagonal(self, offset, dim1, dim2).copy()


def diag(input: Any, diagonal: int = 0) -> Any:
    """A vector as the diagonal of a matrix; the diagonal of a matrix as a vector."""
    check(input.ndim in (1, 2), lambda: f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, diagonal) if input.ndim == 1 else diagonal_copy(input, diagonal)


def diagflat(input: Any, offset: int = 0) -> Any:
    """The elements on the diagonal of a matrix."""
    return diag(contiguous(input).view(-1), offset)


Tensor.__reversed__ = lambda self: flip(self, 0) if self.ndim else self
