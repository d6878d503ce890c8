"""Products of vectors, matrices and stacks of them."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..function import op, public
from ..tensor import Tensor
from .views import _squeeze_dim, _unsafe_view, _view, expand, reshape, t, transpose, unsqueeze

# Matrix products --------------------------------------------------------------------------------

def _same_type(text: str, *arrays: np.ndarray) -> None:
    names = [dtypes.of_numpy[a.dtype] for a in arrays]
    if names[0] is not names[1]:
        raise RuntimeError(text.format(*(n.scalar_type for n in names), *({"float32": "float", "float64": "double"}.get(
            n.name, n.name) for n in names)))


@op(tex="{self} \\cdot {tensor}", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)
def dot(self, tensor):
    """``(n) @ (n) -> ()``."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    _same_type("dot : expected both vectors to have same dtype, but found {} and {}", self, tensor)
    if self.shape != tensor.shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{len(self)}] and src [{len(tensor)}] to have the same number "
                           f"of elements, but got {len(self)} and {len(tensor)} elements respectively")
    return self @ tensor


@op(tex="{self} {vec}", self=lambda grad, vec: outer(grad, vec), vec=lambda grad, self: mv(t(self), grad))
def mv(self, vec):
    """``(n, k) @ (k) -> (n)``."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({len(self)}), mat ({self.shape[0]}x{self.shape[1]}), vec ({len(vec)})")
    _same_type("expected m1 and m2 to have the same dtype, but got: {2} != {3}", self, vec)
    return self @ vec


@op(tex="{self} {mat2}", self=lambda grad, mat2: mm(grad, t(mat2)), mat2=lambda grad, self: mm(t(self), grad))
def mm(self, mat2):
    """``(n, k) @ (k, m) -> (n, m)``."""
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_mm(self, mat2)
    return self * mat2 if self.shape[1] == 1 else self @ mat2      # BLAS would lose the sign of a zero


def _check_mm(a, b):
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")
    _same_type("expected m1 and m2 to have the same dtype, but got: {2} != {3}", a, b)


@op(tex="{self} {mat2}", self=lambda grad, mat2: bmm(grad, transpose(mat2, 1, 2)),
    mat2=lambda grad, self: bmm(transpose(self, 1, 2), grad))
def bmm(self, mat2):
    """``(b, n, k) @ (b, k, m) -> (b, n, m)``."""
    if self.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor" if self.ndim != 3 else "batch2 must be a 3D tensor")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        b, n, k = self.shape
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: "
                           f"[{mat2.shape[0]}, {mat2.shape[1]}].")
    _same_type("expected m1 and m2 to have the same dtype, but got: {2} != {3}", self, mat2)
    return self @ mat2


@op(tex="{self} + {mat1} {mat2}", saves=("alpha", "beta"),
    self=lambda grad: grad, mat1=lambda grad, mat2: mm(grad, t(mat2)), mat2=lambda grad, mat1: mm(t(mat1), grad))
def addmm(self, mat1, mat2, beta=1, alpha=1):
    """``self + mat1 @ mat2``: what a linear layer computes on a batch."""
    if mat1.shape[1] == mat2.shape[0] and mat1.dtype != mat2.dtype:
        _same_type("mat1 and mat2 must have the same dtype, but got {} and {}", mat1, mat2)
    _check_mm(mat1, mat2)
    product = mat1 @ mat2
    product += self
    return product


@public("__matmul__")
def matmul(self: Any, other: Any) -> Any:
    """The matrix product of any ranks; leading dimensions broadcast as batches. ``(…, n, k) @ (…, k, m) -> (…, n, m)``

    Raises
    ------
    RuntimeError
        "mat1 and mat2 shapes cannot be multiplied (3x2 and 3x2)"
    """
    if not isinstance(other, (Tensor, np.ndarray)):
        return NotImplemented
    if not isinstance(self, Tensor) and not isinstance(other, Tensor):
        return self @ other
    a, b = self.ndim, other.ndim
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(self, other)
    if a == 2 and b == 1:
        return mv(self, other)
    if a == 1 and b == 2:
        return _squeeze_dim(mm(unsqueeze(self, 0), other), 0)
    if a == 2 and b == 2:
        return mm(self, other)
    return _batched(self, other)


def _batched(self: Tensor, other: Tensor) -> Tensor:
    """The product of stacks of matrices, by way of `mm` (one side a plain matrix or vector) or `bmm`."""
    a, b = self.ndim, other.ndim
    if a >= 3 and b <= 2:       # fold the batch into the rows
        rows = tuple(self.shape[:-1])
        folded = reshape(self, -1, self.shape[-1]) if self.array.size else reshape(self, math.prod(rows), self.shape[-1])
        if b == 1:
            return _view(mv(folded, other), rows)
        return _unsafe_view(mm(folded, other), (*rows, other.shape[-1]))
    left = self if a > 1 else unsqueeze(self, 0)
    right = other if b > 1 else unsqueeze(other, 1)
    try:
        batch = np.broadcast_shapes(left.array.shape[:-2], right.array.shape[:-2])
    except ValueError:
        from_ = [x.array.reshape(*x.array.shape[:-2], 1)[..., 0] if x.ndim > 2 else x.array for x in (left, right)]
        raise _batch_error(*from_) from None
    n, k, m = left.shape[-2], left.shape[-1], right.shape[-1]
    left = reshape(expand(left, *batch, n, k), math.prod(batch), n, k)
    right = reshape(expand(right, *batch, *right.shape[-2:]), math.prod(batch), *right.shape[-2:])
    product = _unsafe_view(bmm(left, right), (*batch, n, m))
    if a == 1:
        return _squeeze_dim(product, -2)
    return _squeeze_dim(product, -1) if b == 1 else product


def _batch_error(*arrays: np.ndarray) -> RuntimeError:
    return RuntimeError("The batch dimensions do not broadcast")


@public()
def outer(self: Any, vec2: Any) -> Any:
    """``(n), (m) -> (n, m)``."""
    return reshape(self, self.shape[0], 1) * vec2


@public()
def addmv(self: Any, mat: Any, vec: Any) -> Any:
    """``self + mat @ vec``."""
    return self + mv(mat, vec)
