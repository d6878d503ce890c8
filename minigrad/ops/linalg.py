"""Products of vectors, matrices and stacks of them."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtype import of_numpy, refuse, scalar_type
from ..engine import can_sum_to
from ..function import op
from ..reasons import CROSS_DIM, check, type_name, warn_once
from ..tensor import Tensor, check_dim, wrap
from . import views
from .choices import common_shape
from .reductions import sum
from .views import _unsafe_view, contiguous, expand, expand_error, permute, reshape, t, transpose, unsqueeze

# Matrix products --------------------------------------------------------------------------------

def _same_type(text: str, *arrays: np.ndarray) -> None:
    if arrays[0].dtype is not arrays[1].dtype:
        names = [of_numpy[a.dtype] for a in arrays]
        if names[0] is not names[1]:
            raise RuntimeError(text.format(*(n.scalar_type for n in names), *(n.cpp_name for n in names)))


@op(tex="{self} \\cdot {tensor}", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)
def dot(self, tensor):
    """``(n) @ (n) -> ()``."""
    _check_dot(self, tensor)
    return self @ tensor


def _check_dot(self: np.ndarray, tensor: np.ndarray) -> None:
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    _same_type("dot : expected both vectors to have same dtype, but found {} and {}", self, tensor)
    if self.shape != tensor.shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{len(self)}] and src [{len(tensor)}] to have the same number "
                           f"of elements, but got {len(self)} and {len(tensor)} elements respectively")
    refuse(self, "b", "dot")


@op(tex="{self} {vec}", self=lambda grad, vec: outer(grad, vec), vec=lambda grad, self: mv(t(self), grad))
def mv(self, vec):
    """``(n, k) @ (k) -> (n)``."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({len(self)}), mat ({self.shape[0]}x{self.shape[1]}), vec ({len(vec)})")
    _same_type("addmv input tensors must have the same dtype, but got {0}, {1}, and {0}", vec, self)
    if self.size:
        refuse(self, "b", "addmv_impl_cpu")
    return self @ vec


# The gradient of a matrix that lies in memory column by column is made so, too: for BLAS that is the cheaper product, and a
# weight's gradient, which reaches it through ``weight.t()``, then lies as the weight does.

def _by_columns(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    return strides[0] == 1 and strides[1] == sizes[0]


def _left_gradient(grad: Any, mat2: Any, self_sym_sizes: tuple[int, ...], self_sym_strides: tuple[int, ...]) -> Any:
    """Of the left factor of a product."""
    return t(mm(mat2, t(grad))) if _by_columns(self_sym_sizes, self_sym_strides) else mm(grad, t(mat2))


def _right_gradient(grad: Any, self: Any, mat2_sym_sizes: tuple[int, ...], mat2_sym_strides: tuple[int, ...]) -> Any:
    """Of the right factor of a product."""
    return t(mm(t(grad), self)) if _by_columns(mat2_sym_sizes, mat2_sym_strides) else mm(t(self), grad)


@op(tex="{self} {mat2}", self=_left_gradient, mat2=_right_gradient)
def mm(self, mat2):
    """``(n, k) @ (k, m) -> (n, m)``."""
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_mm(self, mat2)
    return self * mat2 if self.shape[1] == 1 else self @ mat2      # BLAS would lose the sign of a zero


def _check_mm(a, b, added=None):
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")
    _same_type("expected m1 and m2 to have the same dtype, but got: {2} != {3}", a, b)
    if added is not None and added.shape != b.shape[1:] and not can_sum_to((len(a), b.shape[1]), added.shape):
        raise expand_error(added, (len(a), b.shape[1]))
    if a.size and b.size:
        refuse(a, "b", "addmm_impl_cpu_")


@op(tex="{self} {mat2}", self=lambda grad, mat2: bmm(grad, transpose(mat2, 1, 2)),
    mat2=lambda grad, self: bmm(transpose(self, 1, 2), grad))
def bmm(self, mat2):
    """``(b, n, k) @ (b, k, m) -> (b, n, m)``."""
    check(self.ndim == 3 and mat2.ndim == 3, lambda: "batch1 must be a 3D tensor" if self.ndim != 3 else "batch2 must be a 3D tensor")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        b, n, k = self.shape
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: "
                           f"[{mat2.shape[0]}, {mat2.shape[1]}].")
    if not self.size or not mat2.size:         # PyTorch looks at the types only if there is something to multiply
        return np.zeros((self.shape[0], self.shape[1], mat2.shape[2]), mat2.dtype)
    refuse(self, "b", "bmm")
    _same_type("expected scalar type {} but found {}", self, mat2)
    return self @ mat2


def _times(x: Any, factor: float) -> Any:
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        factor = int(factor)
    return x if factor == 1 else x * factor


@op(tex="{self} + {mat1} {mat2}", inplace=True, self=lambda grad, beta: _times(grad, beta),
    mat1=lambda grad, mat2, mat1_sym_sizes, mat1_sym_strides, alpha:
        _times(_left_gradient(grad, mat2, mat1_sym_sizes, mat1_sym_strides), alpha),
    mat2=lambda grad, mat1, mat2_sym_sizes, mat2_sym_strides, alpha:
        _times(_right_gradient(grad, mat1, mat2_sym_sizes, mat2_sym_strides), alpha))
def addmm(self, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1):
    """``beta * self + alpha * mat1 @ mat2``: what a linear layer computes on a batch."""
    _same_type("self and mat2 must have the same dtype, but got {} and {}", self, mat2)
    _same_type("mat1 and mat2 must have the same dtype, but got {} and {}", mat1, mat2)
    if mat1.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"mat1 must be a matrix, got {mat1.ndim}-D tensor" if mat1.ndim != 2 else
                           f"mat2 must be a matrix, got {mat2.ndim}-D tensor")
    _check_mm(mat1, mat2, self)
    result = _times(mat1 @ mat2, alpha)
    result += _times(self, beta)
    return result


@op(tex="{self} + {mat} {vec}", inplace=True, self=lambda grad, beta: _times(grad, beta),
    mat=lambda grad, vec, alpha: _times(outer(grad, vec), alpha),
    vec=lambda grad, mat, alpha: _times(mv(t(mat), grad), alpha))
def addmv(self, mat: Tensor, vec: Tensor, *, beta=1, alpha=1):
    """``beta * self + alpha * mat @ vec``."""
    return _times(self, beta) + _times(mat @ vec, alpha)


def matmul(input: Any, other: Any) -> Any:
    """The matrix product of any ranks; leading dimensions broadcast as batches. ``(…, n, k) @ (…, k, m) -> (…, n, m)``

    Raises
    ------
    RuntimeError
        "mat1 and mat2 shapes cannot be multiplied (3x2 and 3x2)"
    """
    if not isinstance(other, (Tensor, np.ndarray)):
        return NotImplemented
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        return input @ other
    a, b = input.ndim, other.ndim
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 1 and b == 2:
        return mm(unsqueeze(input, 0), other)._squeeze_dim_(0)
    if a == 2 and b == 2:
        return mm(input, other)
    return _batched(input, other)


# NumPy answers for an ndarray, as for the other operators.
Tensor.__matmul__ = lambda self, other: matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _folds(self: Tensor, other: Tensor) -> bool:
    """Whether the stack is folded into the rows of one plain product: PyTorch's rule, which saves memory in backward."""
    larger, smaller = (self, other) if self.ndim >= other.ndim else (other, self)
    if larger.ndim < 3 or smaller.ndim > 2:
        return False
    if smaller.requires_grad:
        return True
    if self.ndim == 2:
        return False
    array = larger.array if larger is self else larger.array.swapaxes(-2, -1)
    shape, strides = array.shape, array.strides
    return array.size == 0 or all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(larger.ndim - 2))


def _batched(self: Tensor, other: Tensor) -> Tensor:
    """The product of stacks of matrices, by way of `mm` or `mv` (the stack folded into rows) or `bmm`."""
    a, b = self.ndim, other.ndim
    if _folds(self, other):
        turned = b > a
        stack, plain = (transpose(other, -2, -1), t(self) if a == 2 else self) if turned else (self, other)
        rows = tuple(stack.shape[:-1])
        folded = reshape(stack, math.prod(rows), stack.shape[-1])
        if plain.ndim == 1:
            return _unsafe_view(mv(folded, plain), rows)
        product = _unsafe_view(mm(folded, plain), (*rows, plain.shape[1]))
        return contiguous(transpose(product, -2, -1)) if turned else product
    if a == b == 3 and self.shape[0] != other.shape[0]:
        if self.shape[0] == 1 and self.requires_grad:
            return matmul(views.squeeze(self, 0), other)
        if other.shape[0] == 1 and other.requires_grad:
            return matmul(self, views.squeeze(other, 0))
    n, k = (self.shape[-2] if a > 1 else 1), self.shape[-1]
    batch = common_shape(self.array.shape[:-2], other.array.shape[:-2])
    size = math.prod(batch)
    left = reshape(expand(self, *batch, n, k), size, n, k)
    if b == 1:
        right = unsqueeze(reshape(expand(other, *batch, other.shape[0]), size, other.shape[0]), 2)
    else:
        right = reshape(expand(other, *batch, *other.shape[-2:]), size, *other.shape[-2:])
    product = bmm(left, right)
    shape = batch + ((n,) if a > 1 else ()) + ((other.shape[-1],) if b > 1 else ())
    return _unsafe_view(views.squeeze(product, -1) if b == 1 else product, shape)


def outer(input: Any, vec2: Any) -> Any:
    """``(n), (m) -> (n, m)``."""
    for x, name in ((input, "self"), (vec2, "vec2")):
        check(x.ndim == 1, f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return reshape(input, input.shape[0], 1) * vec2


ger = outer


@op(tex="{self} + {batch1} {batch2}", inplace=True, self=lambda grad, beta: _times(grad, beta),
    batch1=lambda grad, batch2, alpha: _times(bmm(grad, transpose(batch2, 1, 2)), alpha),
    batch2=lambda grad, batch1, alpha: _times(bmm(transpose(batch1, 1, 2), grad), alpha))
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    """``beta * self + alpha * (batch1 @ batch2)`` for stacks of matrices."""
    return _times(self, beta) + _times(bmm(batch1, batch2), alpha)


@op(tex="{self} \\cdot {other}", self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
def vdot(self, other: Tensor):
    """`dot`, for real numbers."""
    _check_dot(self, other)
    return np.vdot(self, other)


@op(node="LinalgCrossBackward0", tex=r"{self} \times {other}", self=lambda grad, other, dim: _cross(other, grad, dim),
    other=lambda grad, self, dim: _cross(grad, self, dim))
def _cross(self, other, dim):
    check(self.ndim == other.ndim, "linalg.cross: inputs must have the same number of dimensions.")
    sizes = [x.shape[check_dim(dim, x.ndim)] for x in (self, other)]
    if sizes != [3, 3]:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    common_shape(self.shape, other.shape)
    return np.ascontiguousarray(np.cross(self, other, axis=dim))


def linalg_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product of vectors of three numbers along a dimension."""
    return _cross(input, other, dim)


def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """`linalg.cross`; without `dim`, along the first dimension of size 3."""
    if dim is None:
        warn_once(CROSS_DIM)
        check(3 in input.shape, "no dimension of size 3 in input")
        dim = tuple(input.shape).index(3)
    return _cross(input, other, dim)


class _LinAlgError(RuntimeError):
    """A matrix that has no inverse."""


def _singular(matrices: np.ndarray) -> _LinAlgError:
    """The error for the first matrix whose elimination ends at a zero, and where on the diagonal that is."""
    for number, a in enumerate(matrices.reshape(-1, *matrices.shape[-2:]).copy()):
        for k in range(len(a)):
            pivot = k + np.argmax(np.abs(a[k:, k]))
            if not a[pivot, k]:
                batch = f"(Batch element {number}): " if matrices.ndim > 2 else ""
                return _LinAlgError(f"linalg.inv: {batch}The diagonal element {k + 1} is zero, the inversion could not be completed "
                                    "because the input matrix is singular.")
            a[[k, pivot]] = a[[pivot, k]]
            a[k + 1:, k:] -= np.outer(a[k + 1:, k] / a[k, k], a[k, k:])
    return _LinAlgError("linalg.inv: The inversion could not be completed because the input matrix is singular.")


def _inverse_gradient(right: Any, inverse: Any) -> Any:
    """``-inverse.T @ grad @ inverse.T``, from the right, as C++ works it out."""
    return -matmul(transpose(inverse, -2, -1), right)


@op(node="LinalgInvExBackward0", outputs=("inverse",), tex="{self}^{{-1}}",
    self=lambda grad, inverse: _inverse_gradient(matmul(grad, transpose(inverse, -2, -1)), inverse))
def inverse(self):
    """The inverse of a matrix, or of each of a stack of matrices."""
    check(self.ndim >= 2, "linalg.inv: The input tensor A must have at least 2 dimensions.")
    check(self.dtype.kind == "f", lambda: "linalg.inv: Expected a floating point or complex tensor as input. Got " + scalar_type(self))
    check(self.shape[-1] == self.shape[-2], lambda: "linalg.inv: A must be batches of square matrices, but they are "
          f"{self.shape[-2]} by {self.shape[-1]} matrices")
    try:
        return np.linalg.inv(self).swapaxes(-2, -1).copy().swapaxes(-2, -1)       # column by column, as LAPACK returns it
    except np.linalg.LinAlgError:
        raise _singular(self) from None


def inner(input: Any, other: Any) -> Any:
    """Sums over the last dimension of both: ``(…, k), (*, k) -> (…, *)``."""
    if not input.ndim or not other.ndim:
        return input * other
    check(input.shape[-1] == other.shape[-1], lambda: "inner() the last dimension must match on both input tensors "
          f"but got shapes {list(input.shape)} and {list(other.shape)}")
    return tensordot(input, other, ([-1], [-1]))


def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Sums over pairs of dimensions: the last `dims` of `a` with the first of `b`, or the given ones."""
    for i, x in enumerate((a, b)):
        if not isinstance(x, Tensor):
            raise TypeError(f"tensordot(): argument '{'ab'[i]}' (position {i + 1}) must be Tensor, not {type(x).__name__}")
    if isinstance(dims, int):
        check(dims >= 0, f"tensordot expects dims >= 0, but got dims={dims}")
        check(dims <= min(a.ndim, b.ndim), f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = (range(-dims, 0), range(dims))
    check(len(dims[0]) == len(dims[1]), "both dimension lists should have same length")
    check(a.dtype is b.dtype, "both inputs should have same dtype")
    left, right = ([check_dim(d, x.ndim) for d in ds] for x, ds in zip((a, b), dims))
    for d, e in zip(*dims):
        if a.shape[d] != b.shape[e] and 1 in (a.shape[d], b.shape[e]):      # a size of 1 stands for any other
            a, b = (a, sum(b, e, True)) if a.shape[d] == 1 else (sum(a, d, True), b)
        if a.shape[d] != b.shape[e]:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a.shape[d]} in dim {d} and second has "
                               f"size {b.shape[e]} in dim {e}")
    keep_a, keep_b = ([d for d in range(x.ndim) if d not in ds] for x, ds in ((a, left), (b, right)))
    sizes_a, sizes_b = [a.shape[d] for d in keep_a], [b.shape[d] for d in keep_b]
    n = math.prod(a.shape[d] for d in left)
    if not sizes_a and not sizes_b:
        return reshape(dot(reshape(permute(a, *left), n), reshape(permute(b, *right), n)), ())
    product = mm(reshape(permute(a, *keep_a, *left), math.prod(sizes_a), n),
                 reshape(permute(b, *right, *keep_b), n, math.prod(sizes_b)))
    return reshape(product, *sizes_a, *sizes_b)


@op(tex=r"\operatorname{{tr}} {self}", self=lambda grad, self_sym_sizes: _trace_backward(grad, self_sym_sizes))
def trace(self):
    """The sum of a matrix's diagonal."""
    check(self.ndim == 2, lambda: f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    refuse(self, "b", "trace")
    return np.add.reduce(self.diagonal(), dtype=np.int64 if self.dtype.kind in "biu" else None)


def _trace_backward(grad: Any, sizes: tuple) -> Any:
    return grad * np.eye(*sizes, dtype=grad.dtype) if not isinstance(grad, Tensor) else grad * wrap(np.eye(*sizes, dtype=grad.array.dtype))


def einsum(*args: Any) -> Any:
    """Sums of products by name of dimension: ``einsum("ij,jk->ik", a, b)`` is ``a @ b``, as is ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    check(len(args) >= 2, "einsum(): must specify the equation string and at least one operand, or at least one "
          "operand and its subscripts list", ValueError)
    equation, *operands = args
    if isinstance(equation, Tensor):        # dimensions by number
        names = ["".join("..." if i is ... else chr(i + (65 if i < 26 else 71)) for i in numbers) for numbers in (*args[1::2], *args[-1:])]
        output = names.pop() if len(args) % 2 else ""
        equation, operands = ",".join(names[:len(args) // 2]) + f"->{output}" * (len(args) % 2), args[:len(args) // 2 * 2:2]
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type(equation).__name__}")
    operands = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    bad = next((i for i, x in enumerate(operands) if not isinstance(x, Tensor)), None)
    check(bad is None, lambda: f"expected Tensor as element {bad} in argument 1, but got {type_name(operands[bad])}", TypeError)
    terms, _, output = equation.replace(" ", "").partition("->")
    terms = terms.split(",")
    check(len(terms) >= len(operands), "einsum(): more operands were provided than specified in the equation")
    check(len(terms) <= len(operands), "einsum(): fewer operands were provided than specified in the equation")
    for place, c in enumerate(equation):
        check(c.isascii() and c.isalpha() or c in " ,.->",
              f"einsum(): invalid subscript given at index {place} in the equation string, subscripts must be in [a-zA-Z]")
    for c in output.replace(".", ""):
        check(output.count(c) == 1, f"einsum(): output subscript {c} appears more than once in the output")
        check(c in "".join(terms), f"einsum(): output subscript {c} does not appear in the equation for any input operand")
    # An ellipsis stands for capital letters of its own, aligned at the right.
    spare = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in equation]
    longest = 0
    for i, (term, x) in enumerate(zip(terms, operands)):
        if "..." in term:
            n = x.ndim - len(term) + 3
            longest = max(longest, n)
            terms[i] = term.replace("...", "".join(spare[:n][::-1]))
        elif len(term) != x.ndim:
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the number of "
                               f"dimensions ({x.ndim}) for operand {i} and no ellipsis was given")
    dots = "".join(spare[:longest][::-1])
    letters = "".join(terms)
    if "->" in equation:
        output = output.replace("...", dots)
    else:
        output = dots + "".join(sorted(c for c in set(letters) - set(dots) if letters.count(c) == 1))
    order = output + "".join(sorted(set(letters) - set(output)))
    sizes: dict[str, int] = {}
    for i, (term, x) in enumerate(zip(terms, operands)):
        for c, n in zip(term, x.shape):
            if sizes.setdefault(c, n) != n and 1 not in (n, sizes[c]):
                raise RuntimeError(f"einsum(): subscript {c} has size {n} for operand {i} which does not broadcast "
                                   f"with previously seen size {sizes[c]}")
            sizes[c] = max(sizes[c], n)
    result = _aligned(operands[0], terms[0], order)
    for i, (x, term) in enumerate(zip(operands[1:], terms[1:]), 1):
        later = set("".join(terms[i + 1:])) | set(output)
        result = _sum_product(result, _aligned(x, term, order), [d for d, c in enumerate(order) if c not in later])
    extra = tuple(range(len(output), len(order)))
    if extra:
        result = sum(result, extra) if len(operands) == 1 else reshape(result, tuple(result.shape)[:len(output)])
    return result


def _aligned(x: Any, term: str, order: str) -> Any:
    """An operand of einsum with one dimension per letter, size 1 where it has none; repeated letters become diagonals."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            d = term.index(c)
            e = term.index(c, d + 1)
            x, term = views.movedim(views.diagonal(x, 0, d, e), -1, d), term[:e] + term[e + 1:]
    for c in order:
        if c not in term:
            x, term = unsqueeze(x, -1), term + c
    return permute(x, *(term.index(c) for c in order))


def _sum_product(a: Any, b: Any, dims: list[int]) -> Any:
    """``(a * b).sum(dims, keepdim=True)`` as a stack of matrix products."""
    n = a.ndim
    both = [d for d in range(n) if d not in dims and a.shape[d] != 1 and b.shape[d] != 1]
    summed = [d for d in dims if a.shape[d] != 1 and b.shape[d] != 1]
    a, b = (sum(x, only, True) if (only := tuple(d for d in dims if d not in summed and x.shape[d] != 1)) else x for x in (a, b))
    if not summed:
        return a * b
    rows = [d for d in range(n) if d not in both and d not in summed and a.shape[d] != 1]
    columns = [d for d in range(n) if d not in both and d not in summed and d not in rows]
    count = lambda x, ds: math.prod(x.shape[d] for d in ds)
    left = reshape(permute(a, *both, *rows, *summed, *columns), count(a, both), count(a, rows), count(a, summed))
    right = reshape(permute(b, *both, *summed, *columns, *rows), count(b, both), count(b, summed), count(b, columns))
    product = reshape(bmm(left, right), *(a.shape[d] for d in both + rows), *(b.shape[d] for d in columns), *(1 for d in summed))
    return permute(product, *((both + rows + columns + summed).index(d) for d in range(n)))
