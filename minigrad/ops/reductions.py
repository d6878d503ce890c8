"""Sums, means, extremes and their like, over all elements or some dimensions."""
from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtype as dtypes
from .. import reasons
from ..function import op, public, return_type
from ..tensor import Tensor, check_dim, wrap
from .elementwise import abs, exp, isnan, logical_not, masked_fill, maximum, minimum, pow, sgn, zeros_of
from .indexing import select_gradient
from .views import _sum_all, cat, dims_of, expand, flip, narrow, reshape, unsqueeze

# Reductions --------------------------------------------------------------------------------

def spread(grad: Any, sizes: tuple, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduced tensor, repeated over the dimensions that were reduced."""
    if not keepdim:
        for d in sorted(dims_of(dim, len(sizes))):
            grad = unsqueeze(grad, d)
    return expand(grad, sizes)


def restored(grad: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduced tensor with the reduced dimensions back as ones, so that it broadcasts."""
    if keepdim or dim is None or not grad.ndim and not dim:
        return grad
    ndim = grad.ndim + len(dim)
    for d in sorted(d % ndim for d in dim):
        grad = unsqueeze(grad, d)
    return grad


def count_of(sizes: tuple, dim: Any) -> int:
    """How many elements a reduction takes together."""
    return math.prod(sizes[d] for d in dims_of(dim, len(sizes)))


def _sum_array(array, dim, keepdim):
    dtype = np.int64 if array.dtype.kind in "biu" else None
    return np.add.reduce(array, axis=dims_of(dim, array.ndim), keepdims=keepdim, dtype=dtype)


@op(node="SumBackward1", tex=r"\sum_{{{dim}}} {self}",
    self=lambda grad, self_sym_sizes, dim, keepdim: spread(grad, self_sym_sizes, dim, keepdim))
def _sum_dim(self, dim, keepdim, dtype=None):
    return _sum_array(self if dtype is None else self.astype(dtype), dim, keepdim)


def _as_dims(dim: Any) -> Any:
    return (dim,) if isinstance(dim, int) else None if dim is None else tuple(dim)


def _dtype(dtype: Any) -> Any:
    return None if dtype is None else dtypes.to_numpy(dtype)


@public()
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over all elements, or over the dimensions `dim`."""
    if dim is None and not keepdim:
        return _sum_all(input, _dtype(dtype))
    return _sum_dim(input, _as_dims(dim), keepdim, _dtype(dtype))


@op(node="NansumBackward0", tex=r"\sum {self}",
    self=lambda grad, self, dim, keepdim:
    (expand(grad, tuple(self.shape)) if dim is None else spread(grad, tuple(self.shape), dim, keepdim)) * logical_not(isnan(self)))
def _nansum(self, dim, keepdim, dtype=None):
    return _sum_dim(np.where(np.isnan(self), self.dtype.type(0), self), dim, keepdim, dtype)


@public()
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum, NaN counted as 0."""
    return _nansum(input, _as_dims(dim), keepdim, _dtype(dtype))


def _mean_dtype(array, dtype):
    if (dtype or array.dtype).kind != "f":
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
                           f"Got: {dtypes.of_numpy[array.dtype].scalar_type}" if dtype is None else
                           "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
                           f"dtype. Got: {dtypes.of_numpy[dtype].scalar_type}")
    return array if dtype is None else array.astype(dtype)


@op(node="MeanBackward0", tex=r"\operatorname{{mean}}({self})",
    self=lambda grad, self_sym_sizes, self_sym_numel: expand(grad, self_sym_sizes) / self_sym_numel)
def _mean_all(self, dtype=None):
    self = _mean_dtype(self, dtype)
    return np.add.reduce(self, axis=None) / self.dtype.type(self.size)


@op(node="MeanBackward1", tex=r"\operatorname{{mean}}_{{{dim}}}({self})", saves=("self_sym_numel",),
    self=lambda grad, self_sym_sizes, dim, keepdim:
        spread(grad, self_sym_sizes, dim, keepdim) / count_of(self_sym_sizes, dim))
def _mean_dim(self, dim, keepdim, dtype=None):
    self = _mean_dtype(self, dtype)
    return _sum_array(self, dim, keepdim) / self.dtype.type(count_of(self.shape, dim))


@public()
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean over all elements, or over the dimensions `dim`.

    Raises
    ------
    RuntimeError
        On integers: "mean(): could not infer output dtype. …"
    """
    if dim is None and not keepdim:
        return _mean_all(input, _dtype(dtype))
    return _mean_dim(input, _as_dims(dim), keepdim, _dtype(dtype))


# Products and running sums -------------------------------------------------------------------------------------------------

def _prod_array(array, dim, keepdim, dtype):
    dtype = dtype or (np.int64 if array.dtype.kind in "biu" else None)
    return np.multiply.reduce(array, axis=None if dim is None else check_dim(dim, array.ndim) if array.ndim else (),
                              keepdims=keepdim, dtype=dtype)


def _no_zero(x: Any) -> bool:
    return bool((getattr(x, "array", x) != 0).all())


def _prod_gradient(grad: Any, result: Any, x: Any, dim: int) -> Any:
    return grad * (result / x) if _no_zero(x) else grad * _others(x, dim)


def _others(x: Any, dim: int) -> Any:
    """For each element the product of the others along a dimension, without a division that a zero would spoil."""
    if x.ndim == 0 or x.shape[dim] <= 1:
        return x * 0 + 1
    one = narrow(x, dim, 0, 1) * 0 + 1
    before = cumprod(cat([one, narrow(x, dim, 0, x.shape[dim] - 1)], dim), dim)
    after = cumprod(cat([one, flip(narrow(x, dim, 1, x.shape[dim] - 1), (dim,))], dim), dim)
    return before * flip(after, (dim,))


@op(node="ProdBackward0", tex=r"\prod {self}",
    self=lambda grad, self, result: grad * (result / self) if _no_zero(self) else
    grad * reshape(_others(reshape(self, -1), 0), tuple(self.shape)))
def _prod_all(self, dtype):
    return _prod_array(self, None, False, dtype)


@op(node="ProdBackward1", tex=r"\prod_{{{dim}}} {self}",
    self=lambda grad, self, dim, keepdim, result: _prod_gradient(*(
        x if keepdim or not self.ndim else unsqueeze(x, dim) for x in (grad, result)), self, dim))
def _prod_dim(self, dim, keepdim, dtype):
    return _prod_array(self, dim, keepdim, dtype)


@public()
def prod(input: Any, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all elements, or along a dimension."""
    return _prod_all(input, _dtype(dtype)) if dim is None else _prod_dim(input, dim, keepdim, _dtype(dtype))


def _run(ufunc, array, dim, dtype):
    dtype = dtype or (np.dtype(np.int64) if array.dtype.kind in "biu" else array.dtype)
    dim = check_dim(dim, array.ndim)
    return ufunc.accumulate(np.ascontiguousarray(array), axis=dim, dtype=dtype) if array.ndim else array.astype(dtype)


@op(inplace=True, tex=r"\operatorname{{cumsum}}_{{{dim}}}({self})",
    self=lambda grad, dim: flip(cumsum(flip(grad, (dim,)), dim), (dim,)) if grad.ndim else grad)
def cumsum(self, dim, *, dtype=None):
    """Running sums along a dimension."""
    return _run(np.add, self, dim, _dtype(dtype))


def _cumprod_gradient(grad: Any, x: Any, dim: int, result: Any) -> Any:
    """Each element occurs in every later product; where a zero forbids dividing it out, the products are made without it."""
    if x.ndim == 0 or x.shape[dim] == 1:
        return grad
    if _no_zero(x):
        return flip(cumsum(flip(result * grad, (dim,)), dim), (dim,)) / x
    parts = []
    for k in range(x.shape[dim]):
        n = x.shape[dim] - k - 1
        before = prod(narrow(x, dim, 0, k), dim, keepdim=True)
        products = cat([before, before * cumprod(narrow(x, dim, k + 1, n), dim)], dim) if n else before
        parts.append(sum(narrow(grad, dim, k, n + 1) * products, (dim,), keepdim=True))
    return cat(parts, dim)


@op(inplace=True, tex=r"\operatorname{{cumprod}}_{{{dim}}}({self})",
    self=lambda grad, self, dim, result: _cumprod_gradient(grad, self, dim, result))
def cumprod(self, dim, *, dtype=None):
    """Running products along a dimension."""
    return _run(np.multiply, self, dim, _dtype(dtype))


# Extremes ------------------------------------------------------------------------------------------------------------------

def _nonempty(array: np.ndarray, dim: Any, name: str) -> None:
    """Refuse to look for an extreme among no elements."""
    if dim is None and not array.size:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                           "with the 'dim' argument.")
    for d in () if dim is None else dims_of(dim, array.ndim):
        if array.shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def evenly(grad: Any, x: Any, result: Any) -> Any:
    """The gradient of an extreme of all elements, shared by those that are equal to it."""
    mask = x == result
    return masked_fill(zeros_of(x), mask, grad / sum(mask))


def _extreme(name: str, reduce: Callable, arg: Callable) -> Callable:
    @op(node=f"{name.title()}Backward1", tex=rf"\{name} {{self}}", self=lambda grad, self, result: evenly(grad, self, result))
    def _all(self):
        _nonempty(self, None, name)
        return reduce(self, axis=None)

    @op(node=f"{name.title()}Backward0", outputs=("values", "indices"), tex=rf"\{name}_{{{{{{dim}}}}}} {{self}}",
        saves=("keepdim",),
        self=lambda grad, dim, indices, self_sym_sizes, keepdim: select_gradient(grad, dim, indices, self_sym_sizes, keepdim))
    def _dim(self, dim, keepdim):
        _nonempty(self, dim, name)
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        indices = arg(self, check_dim(dim, self.ndim), keepdims=True)
        values = np.take_along_axis(self, indices, dim)
        return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))

    def choose(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        other = dim if isinstance(dim, Tensor) else other
        if other is not None:
            return {"max": maximum, "min": minimum}[name](input, other)
        return _all(input) if dim is None else return_type(name, "values indices")(_dim(input, dim, keepdim))
    choose.__name__ = name
    choose.__doc__ = f"The {name}imum of all elements; ``(values, indices)`` along `dim`; elementwise with a tensor."
    return public()(choose)


max = _extreme("max", np.maximum.reduce, np.argmax)
min = _extreme("min", np.minimum.reduce, np.argmin)


def _shared(grad: Any, x: Any, dim: Any, keepdim: bool, result: Any) -> Any:
    mask = spread(result, tuple(x.shape), dim, keepdim) == x
    count = sum(mask, dim, True)
    return reshape(grad, tuple(count.shape)) / count * mask


@op(tex=r"\max_{{{dim}}} {self}", self=lambda grad, self, dim, keepdim, result: _shared(grad, self, dim, keepdim, result))
def _amax(self, dim, keepdim):
    _nonempty(self, dim or None, "amax")
    return np.maximum.reduce(self, axis=dims_of(dim, self.ndim), keepdims=keepdim)


@op(tex=r"\min_{{{dim}}} {self}", self=lambda grad, self, dim, keepdim, result: _shared(grad, self, dim, keepdim, result))
def _amin(self, dim, keepdim):
    _nonempty(self, dim or None, "amin")
    return np.minimum.reduce(self, axis=dims_of(dim, self.ndim), keepdims=keepdim)


@public()
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The maximum over dimensions; equal elements share the gradient."""
    return _amax(input, _as_dims(dim), keepdim)


@public()
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The minimum over dimensions; equal elements share the gradient."""
    return _amin(input, _as_dims(dim), keepdim)


@public()
def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where the largest element is: in the flattened tensor, or along a dimension."""
    return _argument(np.argmax, "argmax", input, dim, keepdim)


@public()
def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where the smallest element is: in the flattened tensor, or along a dimension."""
    return _argument(np.argmin, "argmin", input, dim, keepdim)


def _argument(find: Callable, name: str, input: Any, dim: int | None, keepdim: bool) -> Any:
    if input.array.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input")
    if dim is None and not input.array.size:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    _nonempty(input.array, dim, name)
    axis = None if dim is None or not input.ndim else check_dim(dim, input.ndim)
    return wrap(np.asarray(find(input.array, axis=axis, keepdims=keepdim)))


@public()
def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False) -> tuple:
    """The smallest and the largest element, over all or along a dimension."""
    dims = () if dim is None else dim
    return return_type("aminmax", "min max")((amin(input, dims, keepdim), amax(input, dims, keepdim)))


@op(node="MedianBackward0", self=lambda grad, self, result: evenly(grad, self, result), tex=r"\operatorname{{median}}({self})")
def _median_all(self):
    if not self.size:
        return self.dtype.type(math.nan)
    return np.partition(self, (self.size - 1) // 2, axis=None)[(self.size - 1) // 2]


@op(node="MedianBackward1", outputs=("values", "indices"), tex=r"\operatorname{{median}}_{{{dim}}}({self})", saves=("keepdim",),
    self=lambda grad, dim, indices, self_sym_sizes, keepdim: select_gradient(grad, dim, indices, self_sym_sizes, keepdim))
def _median_dim(self, dim, keepdim):
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    dim = check_dim(dim, self.ndim)
    _nonempty(self, dim, "median")
    indices = np.take(np.argsort(self, dim, stable=True), [(self.shape[dim] - 1) // 2], dim)
    values = np.take_along_axis(self, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


@public()
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle element (the lower one of two); ``(values, indices)`` along `dim`."""
    return _median_all(input) if dim is None else return_type("median", "values indices")(_median_dim(input, dim, keepdim))


# Yes and no ----------------------------------------------------------------------------------------------------------------

@public()
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether some element is not zero."""
    return wrap(np.asarray(np.any(input.array, axis=dims_of(dim, input.ndim), keepdims=keepdim)))


@public()
def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements are not zero."""
    return wrap(np.asarray(np.all(input.array, axis=dims_of(dim, input.ndim), keepdims=keepdim)))


@public()
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are not zero."""
    return wrap(np.asarray(np.count_nonzero(input.array, axis=dims_of(dim, input.ndim)), np.int64))


# Spread and size -----------------------------------------------------------------------------------------------------------

def _deviations(array, dim, keepdim, correction, name):
    if array.dtype.kind != "f":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    n = count_of(array.shape, dim)
    free = n - (1 if correction is None else correction)
    if free <= 0:
        warnings.warn(reasons.NO_FREEDOM.format(name), stacklevel=5)
    centre = _sum_array(array, dim, True) / array.dtype.type(n)
    return _sum_array((array - centre) ** 2, dim, keepdim) / array.dtype.type(builtins.max(free, 0))


def _var_gradient(grad: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    sizes = tuple(x.shape)
    free = count_of(sizes, dim) - (1 if correction is None else correction)
    return (2.0 / free if free > 0 else math.nan) * restored(grad, dim, keepdim) * (x - (mean(x) if dim is None else mean(x, dim, True)))


@op(node="VarBackward0", tex=r"\operatorname{{var}}({self})",
    self=lambda grad, self, dim, correction, keepdim: _var_gradient(grad, self, dim, correction, keepdim))
def _var(self, dim, correction, keepdim):
    return _deviations(self, dim, keepdim, correction, "var")


@op(node="StdBackward0", tex=r"\operatorname{{std}}({self})", self=lambda grad, self, dim, correction, keepdim, result:
    _var_gradient(masked_fill(grad / (result * 2), result == 0, 0), self, dim, correction, keepdim))
def _std(self, dim, correction, keepdim):
    return np.sqrt(_deviations(self, dim, keepdim, correction, "std"))


@op(node="VarMeanBackward0", outputs="list", tex=r"\operatorname{{var}}({self})",
    self=lambda grads, self, dim, correction, keepdim: _var_gradient(grads[0], self, dim, correction, keepdim)
    + spread(grads[1], tuple(self.shape), dim, keepdim) / count_of(tuple(self.shape), dim))
def _var_mean(self, dim, correction, keepdim):
    return [_deviations(self, dim, keepdim, correction, "var_mean"), _mean_dim(self, dim, keepdim)]


@op(node="StdMeanBackward0", outputs="list", tex=r"\operatorname{{std}}({self})",
    self=lambda grads, self, dim, correction, keepdim:
    _std_gradient(grads[0], self, dim, correction, keepdim)
    + spread(grads[1], tuple(self.shape), dim, keepdim) / count_of(tuple(self.shape), dim))
def _std_mean(self, dim, correction, keepdim):
    return [np.sqrt(_deviations(self, dim, keepdim, correction, "std_mean")), _mean_dim(self, dim, keepdim)]


def _std_gradient(grad: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    result = _std(x, dim, correction, keepdim)
    return _var_gradient(masked_fill(grad / (result * 2), result == 0, 0), x, dim, correction, keepdim)


def _spread_measure(name: str, operation: Callable, doc: str, method: bool = True) -> Callable:
    def function(input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
                 correction: float | None = None) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None and (unbiased is not None or dim is not None):
            correction = 0 if unbiased is False else 1
        return operation(input, _as_dims(dim), correction, keepdim)
    function.__name__, function.__doc__ = name, doc
    return public(method=method)(function)


var = _spread_measure("var", _var, "The variance over all elements or some dimensions, divided by n - correction (1).")
std = _spread_measure("std", _std, "The standard deviation over all elements or some dimensions.")
var_mean = _spread_measure("var_mean", _var_mean, "The variance and the mean.", method=False)
std_mean = _spread_measure("std_mean", _std_mean, "The standard deviation and the mean.", method=False)


def _norm_gradient(grad: Any, x: Any, ord: float, dim: Any, keepdim: bool, result: Any) -> Any:
    if ord == 0:
        return None
    grad, result = restored(grad, dim, keepdim), restored(result, dim, keepdim)
    if ord == 1:
        return sgn(x) * grad
    if ord == 2:
        return grad * masked_fill(x / result, result == 0, 0)
    if ord in (math.inf, -math.inf):
        mask = abs(x) == result
        return sgn(x) * (grad / sum(mask, dim, True)) * mask
    scale = masked_fill(sgn(x) * pow(abs(x), ord - 1), x == 0, 0) if ord < 2 else x * pow(abs(x), ord - 2)
    return scale * masked_fill(grad / pow(result, ord - 1), result == 0, 0)


@op(node="LinalgVectorNormBackward0", tex=r"\lVert {self} \rVert_{{{ord}}}",
    self=lambda grad, self, ord, dim, keepdim, result: _norm_gradient(grad, self, ord, dim, keepdim, result))
def _vector_norm(self, ord, dim, keepdim):
    if self.dtype.kind != "f":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           + dtypes.of_numpy[self.dtype].scalar_type)
    axes, size = dims_of(dim, self.ndim), np.abs(self)
    if ord in (math.inf, -math.inf):
        return (np.maximum if ord > 0 else np.minimum).reduce(size, axis=axes, keepdims=keepdim)
    if ord == 0:
        return np.add.reduce((self != 0).astype(self.dtype), axis=axes, keepdims=keepdim)
    if ord in (1, 2):
        return np.add.reduce(size, axes, keepdims=keepdim) if ord == 1 else np.sqrt(np.add.reduce(size * size, axes, keepdims=keepdim))
    return np.add.reduce(size ** ord, axis=axes, keepdims=keepdim) ** self.dtype.type(1 / ord)


def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """``(sum of |x| ** ord) ** (1 / ord)`` over all elements or some dimensions."""
    return _vector_norm(x if dtype is None else x.to(dtype), ord, _as_dims(dim), keepdim)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """`vector_norm`; minigrad has no norms of matrices as operators."""
    if ord is not None and (ord in ("fro", "nuc") or (A.ndim if dim is None else 1 if isinstance(dim, int) else len(dim)) == 2):
        if ord != "fro":
            raise NotImplementedError(f"minigrad's linalg.norm has no norm of order {ord} of a matrix")
        ord = None
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@public()
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of the elements; ``"fro"`` is p = 2."""
    if p == "nuc":
        raise NotImplementedError("minigrad has no nuclear norm")
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


@op(tex=r"\lVert {self} - {other} \rVert_{{{p}}}",
    self=lambda grad, self, other, p, result: _norm_gradient(grad, self - other, p, None, False, result),
    other=lambda grad, self, other, p, result: -_norm_gradient(grad, self - other, p, None, False, result))
def dist(self, other: Tensor, p=2):
    """The p-norm of the difference."""
    return _vector_norm(self - other, p, None, False)


# Exponentials --------------------------------------------------------------------------------------------------------------

@op(node="LogsumexpBackward0", tex=r"\ln \sum_{{{dim}}} e^{{{self}}}",
    self=lambda grad, self, dim, keepdim, result: restored(grad, dim, keepdim) * exp(self - restored(result, dim, keepdim)))
def _logsumexp(self, dim, keepdim):
    if self.dtype.kind != "f":
        self = self.astype(dtypes.get_default_dtype().numpy)
    axes = dims_of(dim, self.ndim)
    top = np.maximum.reduce(self, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, top.dtype.type(0))
    result = np.log(np.add.reduce(np.exp(self - top), axis=axes, keepdims=True)) + top
    return result if keepdim else result.squeeze(axes)


@public()
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    return _logsumexp(input, _as_dims(dim), keepdim)


def _shifted(array, dim, name):
    dim = check_dim(dim, array.ndim)
    if array.dtype.kind != "f":
        where = "_lastdim" if dim >= array.ndim - 1 else ""
        raise NotImplementedError(f"\"{name}{where}_kernel_impl\" not implemented for "
                                  f"'{dtypes.of_numpy[array.dtype].scalar_type}'")
    axis = dim if array.ndim else ()
    return np.subtract(array, np.maximum.reduce(array, axis=axis, keepdims=True, initial=-np.inf), order="C"), axis


@op(node="SoftmaxBackward0", tex=r"\operatorname{{softmax}}_{{{dim}}}({self})",
    self=lambda grad, dim, result: _softmax_backward_data(grad, result, dim))
def _softmax(self, dim):
    shifted, axis = _shifted(self, dim, "softmax")
    out = np.exp(shifted)
    return out / np.add.reduce(out, axis=axis, keepdims=True)


@op(tex=r"{output} \odot ({grad_output} - \sum {grad_output} \odot {output})",
    grad_output=lambda grad, output, dim: _softmax_backward_data(grad, output, dim),
    output=lambda grad, grad_output, output, dim: grad * grad_output
    - (sum(output * grad, (dim,), True) * grad_output + grad * sum(grad_output * output, (dim,), True)))
def _softmax_backward_data(grad_output, output, dim):
    product = grad_output * output
    return product - output * np.add.reduce(product, axis=dim if output.ndim else (), keepdims=True)


@op(node="LogSoftmaxBackward0", tex=r"\ln \operatorname{{softmax}}_{{{dim}}}({self})",
    self=lambda grad, dim, result: _log_softmax_backward_data(grad, result, dim))
def _log_softmax(self, dim):
    shifted, axis = _shifted(self, dim, "log_softmax")
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


@op(tex=r"{grad_output} - e^{{{output}}} \sum {grad_output}",
    grad_output=lambda grad, output, dim: grad - sum(grad * exp(output), (dim,), True),
    output=lambda grad, grad_output, output, dim: -sum(grad_output, (dim,), True) * exp(output) * grad)
def _log_softmax_backward_data(grad_output, output, dim):
    return grad_output - np.exp(output) * np.add.reduce(grad_output, axis=dim if output.ndim else (), keepdims=True)


@public()
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """``exp(x) / sum(exp(x))`` along a dimension."""
    return _softmax(input if dtype is None else input.to(dtype), dim)


@public()
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """The logarithm of `softmax`, more exact than taking it afterwards."""
    return _log_softmax(input if dtype is None else input.to(dtype), dim)
