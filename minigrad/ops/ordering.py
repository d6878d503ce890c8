"""Order and search: sorting, the largest, the different, where things are."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..dtype import refuse, return_type
from ..function import op
from ..reasons import check
from ..strides import arranged
from ..tensor import check_dim, wrap
from .choices import positions
from .indexing import put_back


def _order(array, dim, descending):
    """Where the elements in order are: int64 also where Python is a 32-bit one, as in a browser, and NumPy counts in int32."""
    if not array.ndim:
        return np.zeros((), np.int64)
    order = np.argsort(np.flip(array, dim) if descending else array, dim, stable=True).astype(np.int64, copy=False)
    return array.shape[dim] - 1 - np.flip(order, dim) if descending else order


@op(node="SortBackward1", outputs=return_type("sort", "values indices"), self=put_back)
def _sort_stable(self, dim, descending):
    return _sort(self, dim, descending)


@op(outputs=return_type("sort", "values indices"), self=put_back)
def _sort(self, dim, descending):
    indices = _order(self, check_dim(dim, self.ndim), descending)
    values = np.take_along_axis(self, indices, dim) if self.ndim else self.copy()
    return arranged(values, self), arranged(indices, self)


def sort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> tuple:
    """The elements in order along a dimension, and where they were: ``(values, indices)``; equal ones keep their order."""
    return (_sort if stable is None else _sort_stable)(input, dim, descending)


def argsort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """Where the elements of the sorted tensor are."""
    return sort(input, dim, descending)[1]


@op(outputs=return_type("topk", "values indices"), self=put_back)
def topk(self, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along a dimension, in order, and where they were."""
    check(self.dtype != bool, "topk does not support bool dtypes on CPU")
    dim = check_dim(dim, self.ndim)
    check(0 <= k <= (self.shape[dim] if self.ndim else 1), "selected index k out of range")
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    indices = np.take(_order(self, dim, largest), np.arange(k), dim)
    return np.take_along_axis(self, indices, dim), indices


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero, one row each (``as_tuple``: one tensor per dimension)."""
    if as_tuple:
        return positions(input)
    return wrap(np.asfortranarray(np.argwhere(input.array), np.int64))


def _no_derivative(name: str) -> None:
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


@op(node="Unique2Backward0", outputs=("output", "inverse_indices", "counts"), self=lambda grad: _no_derivative("_unique2"))
def _unique(self, dim=None):
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, axis=dim)
    return values, inverse.astype(np.int64, copy=False), counts.astype(np.int64, copy=False)


@op(outputs=("output", "inverse_indices", "counts"), self=lambda grad: _no_derivative("unique_dim"))
def _unique_dim(self, dim):
    return _unique(self, dim)


def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The different elements (or slices along `dim`) in order, with where each went and how many there were if asked."""
    values, inverse, counts = _unique(input) if dim is None else _unique_dim(input, dim)
    found = (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))
    return found if len(found) > 1 else values


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 on occurs (with weights: their sums)."""
    refuse(input.array, "f", "bincount_cpu")
    check(input.ndim == 1 and not (input.array < 0).any(), "bincount only supports 1-d non-negative integral inputs.")
    check(minlength >= 0, "minlength should be >= 0")
    if weights is None or not input.array.size:
        return wrap(np.bincount(input.array, minlength=minlength).astype(np.int64, copy=False))
    check(weights.array.shape == input.array.shape, "weights should be 1-d and have the same length as input")
    sums = np.bincount(input.array, weights.array, minlength)
    return wrap(sums.astype(np.float32) if weights.array.dtype == np.float32 else sums)


def searchsorted(sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
                 sorter: Any = None) -> Any:
    """Where to insert values so that a vector (or each row) stays in order; before equal ones, or behind them (`right`).

    `sorter` is the order of a sequence that is not sorted.
    """
    edges, values = sorted_sequence.array, np.asarray(getattr(input, "array", input))
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
    side = side or ("right" if right else "left")
    if sorter is not None:
        edges = np.take_along_axis(edges, sorter.array, -1)
    refuse(edges, "b", "searchsorted_out_cpu")
    check(edges.ndim, "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    check(edges.ndim <= 1 or edges.shape[:-1] == values.shape[:-1], lambda: "torch.searchsorted(): boundaries tensor "
          "should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, "
          f"but we got boundaries tensor {list(edges.shape)} and input value tensor {list(values.shape)}")
    if edges.ndim == 1:
        found = np.searchsorted(edges, values, side)
    else:
        rows = zip(edges.reshape(-1, edges.shape[-1]), values.reshape(-1, values.shape[-1]))
        found = np.reshape([np.searchsorted(row, x, side) for row, x in rows], values.shape)
    return wrap(np.asarray(found, np.int32 if out_int32 else np.int64))


def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Between which boundaries each value lies."""
    check(boundaries.ndim == 1, lambda: f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def argwhere(input: Any) -> Any:
    """The indices of the elements that are not zero, one row each."""
    return nonzero(input)


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Which elements are among the test elements."""
    arrays = [np.asarray(getattr(x, "array", x)) for x in (elements, test_elements)]
    for array in arrays:
        check(array.dtype != bool, "Unsupported input type encountered for isin(): Bool")
    return wrap(np.isin(*arrays, assume_unique=assume_unique, invert=invert))
