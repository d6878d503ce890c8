"""Sums, means, extremes and their like, over all elements or some dimensions."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..function import op, public
from .views import dims_of, expand, unsqueeze

# Reductions --------------------------------------------------------------------------------

def spread(grad: Any, sizes: tuple, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduced tensor, repeated over the dimensions that were reduced."""
    if not keepdim:
        for d in sorted(dims_of(dim, len(sizes))):
            grad = unsqueeze(grad, d)
    return expand(grad, sizes)


def count_of(sizes: tuple, dim: Any) -> int:
    """How many elements a reduction takes together."""
    return math.prod(sizes[d] for d in dims_of(dim, len(sizes)))


def _sum_array(array, dim, keepdim):
    dtype = np.int64 if array.dtype.kind in "biu" else None
    return np.add.reduce(array, axis=dims_of(dim, array.ndim), keepdims=keepdim, dtype=dtype)


@op(node="SumBackward0", tex=r"\sum {self}", self=lambda grad, self_sym_sizes: expand(grad, self_sym_sizes))
def _sum_all(self):
    return _sum_array(self, None, False)


@op(node="SumBackward1", tex=r"\sum_{{{dim}}} {self}",
    self=lambda grad, self_sym_sizes, dim, keepdim: spread(grad, self_sym_sizes, dim, keepdim))
def _sum_dim(self, dim, keepdim):
    return _sum_array(self, dim, keepdim)


def _as_dims(dim: Any) -> Any:
    return (dim,) if isinstance(dim, int) else None if dim is None else tuple(dim)


@public()
def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None) -> Any:
    """The sum over all elements, or over the dimensions `dim`."""
    dim = dim if axis is None else axis
    if dtype is not None:
        self = self.to(dtype)
    return _sum_all(self) if dim is None and not keepdim else _sum_dim(self, _as_dims(dim), keepdim)


def _mean_dtype(array):
    if array.dtype.kind != "f":
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
                           f"Got: {dtypes.of_numpy[array.dtype].scalar_type}")


@op(node="MeanBackward0", tex=r"\operatorname{{mean}}({self})",
    self=lambda grad, self_sym_sizes, self_sym_numel: expand(grad, self_sym_sizes) / self_sym_numel)
def _mean_all(self):
    _mean_dtype(self)
    return np.add.reduce(self, axis=None) / self.dtype.type(self.size)


@op(node="MeanBackward1", tex=r"\operatorname{{mean}}_{{{dim}}}({self})", saves=("self_sym_numel",),
    self=lambda grad, self_sym_sizes, dim, keepdim:
        spread(grad, self_sym_sizes, dim, keepdim) / count_of(self_sym_sizes, dim))
def _mean_dim(self, dim, keepdim):
    _mean_dtype(self)
    return _sum_array(self, dim, keepdim) / self.dtype.type(count_of(self.shape, dim))


@public()
def mean(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None) -> Any:
    """The mean over all elements, or over the dimensions `dim`.

    Raises
    ------
    RuntimeError
        On integers: "mean(): could not infer output dtype. …"
    """
    dim = dim if axis is None else axis
    if dtype is not None:
        self = self.to(dtype)
    return _mean_all(self) if dim is None and not keepdim else _mean_dim(self, _as_dims(dim), keepdim)
