"""Sums, means, extremes and their like, over all elements or some dimensions."""
from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..dtype import in_double, refuse, return_type, scalar_type
from ..function import PUBLIC, op
from ..reasons import NO_FREEDOM, check
from ..tensor import Tensor, check_dim, wrap
from .choices import isfinite, isnan, logical_not, masked_fill, where, zeros_of
from .elementwise import _no_bool, abs, exp, log, maximum, minimum, pow, precise_exp, precise_log, sgn
from .indexing import grad_zeros, scatter_add, select_gradient
from .joining import cat
from .rearranging import flip
from .views import _sum_all, added_up, dims_of, expand, narrow, reinserted, reshape, spread, unsqueeze

# Shapes and types ----------------------------------------------------------------------------------------------------------

def restored(grad: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduced tensor with the reduced dimensions back as ones, so that it broadcasts."""
    if keepdim or dim is None or not grad.ndim and not dim:
        return grad
    return reinserted(grad, [d % (grad.ndim + len(dim)) for d in dim])


def count_of(sizes: tuple, dim: Any) -> int:
    """How many elements a reduction takes together."""
    return math.prod(sizes[d] for d in dims_of(dim, len(sizes)))


def _reduce(ufunc: np.ufunc, array: np.ndarray, dim: Any, keepdim: bool, **options: Any) -> np.ndarray:
    """Reduce an array over dimensions; the result lies in memory row by row, however the array does."""
    dims = dims_of(dim, array.ndim)
    out = np.asarray((added_up if ufunc is np.add else ufunc.reduce)(array, axis=dims, **options), order="C")
    return out.reshape([1 if d in dims else n for d, n in enumerate(array.shape)]) if keepdim else out


def _total_dtype(array: np.ndarray, dtype: Any = None) -> Any:
    """The type in which elements are added up or multiplied: whole numbers as int64."""
    return dtype or (np.dtype(np.int64) if array.dtype.kind in "biu" else None)


def _as_dims(dim: Any) -> Any:
    return (dim,) if isinstance(dim, int) else None if dim is None else tuple(dim)


def _dtype(dtype: Any) -> Any:
    return None if dtype is None else dtypes.to_numpy(dtype)


def _over_all(dim: Any, keepdim: bool) -> bool:
    """Whether a reduction was called without `dim` (``...``), which then takes no `keepdim` either."""
    if dim is ... and keepdim:
        raise TypeError("keepdim needs a dim")
    return dim is ...


def _place(find: Callable, array: np.ndarray, dim: int, keepdim: bool) -> tuple:
    """The element along a dimension that `find` gives the index of (with the dimension kept), and that index."""
    if not array.ndim:
        check_dim(dim, 0)
        return array.copy(), np.zeros((), np.int64)
    dim = check_dim(dim, array.ndim)
    indices = find(array, dim).astype(np.int64, copy=False)
    values = np.take_along_axis(array, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


# Sums and means ------------------------------------------------------------------------------------------------------------

@op(node="SumBackward1", tex=r"\sum_{{{dim}}} {self}", self=spread)
def _sum_dim(self, dim, keepdim, dtype=None):
    return _reduce(np.add, self if dtype is None else self.astype(dtype), dim, keepdim, dtype=_total_dtype(self, dtype))


def sum(input: Any, dim: Any = ..., keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over all elements, or over the dimensions `dim` (None: all of them)."""
    if _over_all(dim, keepdim):
        return _sum_all(input, _dtype(dtype))
    return _sum_dim(input, _as_dims(dim), keepdim, _dtype(dtype))


@op(tex=r"\sum {self}", self=lambda grad, self, dim, keepdim:
    (expand(grad, tuple(self.shape)) if dim is None else spread(grad, tuple(self.shape), dim, keepdim)) * logical_not(isnan(self)))
def _nansum(self, dim, keepdim, dtype=None):
    return _sum_dim(np.where(np.isnan(self), self.dtype.type(0), self), dim, keepdim, dtype)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum, NaN counted as 0."""
    return _nansum(input, _as_dims(dim), keepdim, _dtype(dtype))


def _mean_dtype(array, dtype):
    if (dtype or array.dtype).kind != "f":
        which = ("Input" if dtype is None else "Optional") + " dtype must be either a floating point or complex dtype"
        raise RuntimeError(f"mean(): could not infer output dtype. {which}. Got: {dtypes.of_numpy[dtype or array.dtype].scalar_type}")
    return array if dtype is None else array.astype(dtype)


@op(node="MeanBackward0", in_steps=True,
    self=lambda grad, self_sym_sizes, self_sym_numel: expand(grad, self_sym_sizes) / self_sym_numel)
def _mean_all(self, dtype=None):
    self = _mean_dtype(self, dtype)
    return added_up(self) / self.dtype.type(self.size)


def _mean_gradient(grad: Any, self_sym_sizes: tuple, dim: Any, keepdim: bool) -> Any:
    return spread(grad, self_sym_sizes, dim, keepdim) / count_of(self_sym_sizes, dim)


@op(node="MeanBackward1", saves=("self_sym_numel",), in_steps=True, self=_mean_gradient)
def _mean_dim(self, dim, keepdim, dtype=None):
    self = _mean_dtype(self, dtype)
    return _reduce(np.add, self, dim, keepdim) / self.dtype.type(count_of(self.shape, dim))


def mean(input: Any, dim: Any = ..., keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean over all elements, or over the dimensions `dim` (None: all of them).

    Raises
    ------
    RuntimeError
        On integers: "mean(): could not infer output dtype. …"
    """
    if _over_all(dim, keepdim):
        return _mean_all(input, _dtype(dtype))
    return _mean_dim(input, _as_dims(dim), keepdim, _dtype(dtype))


# Products and running sums -------------------------------------------------------------------------------------------------

def _zeros_in(x: Any) -> int:
    array = getattr(x, "array", x)
    return array.size - np.count_nonzero(array)


def _prod_all_gradient(grad: Any, self: Any, result: Any) -> Any:
    if not self.ndim:
        return grad
    zeros = _zeros_in(self)
    if not zeros:
        return grad * (result / self)
    if zeros > 1 and isinstance(grad, np.ndarray):      # whatever the others are, NaN and infinity too
        return zeros_of(self)
    return reshape(_times_others(grad, reshape(self, -1), 0), tuple(self.shape))


def _prod_dim_gradient(grad: Any, self: Any, dim: int, keepdim: bool, result: Any) -> Any:
    if not self.ndim:
        return grad
    if not keepdim:
        grad, result = unsqueeze(grad, dim), unsqueeze(result, dim)
    return _times_others(grad, self, dim) if _zeros_in(self) else grad * (result / self)


def _times_others(grad: Any, x: Any, dim: int) -> Any:
    """Times the product of the other elements along a dimension, without a division that a zero would spoil."""
    if x.shape[dim] == 1:
        return grad
    one = zeros_of(narrow(x, dim, 0, 1)) + 1
    before = cumprod(cat([one, narrow(x, dim, 0, x.shape[dim] - 1)], dim), dim)
    after = cumprod(cat([one, flip(narrow(x, dim, 1, x.shape[dim] - 1), (dim,))], dim), dim)
    return grad * (before * flip(after, (dim,)))


@op(node="ProdBackward0", tex=r"\prod {self}", self=_prod_all_gradient)
def _prod_all(self, dtype):
    return np.multiply.reduce(self, axis=None, dtype=_total_dtype(self, dtype))


@op(node="ProdBackward1", tex=r"\prod_{{{dim}}} {self}", self=_prod_dim_gradient)
def _prod_dim(self, dim, keepdim, dtype):
    return _reduce(np.multiply, self, check_dim(dim, self.ndim), keepdim, dtype=_total_dtype(self, dtype))


def prod(input: Any, dim: Any = ..., keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all elements, or along a dimension."""
    return _prod_all(input, _dtype(dtype)) if _over_all(dim, keepdim) else _prod_dim(input, dim, keepdim, _dtype(dtype))


def _run(ufunc, array, dim, dtype=None, kernel=""):
    dim = check_dim(dim, array.ndim)
    refuse(dtype or array.dtype, "b" if kernel else "", kernel)
    array = np.ascontiguousarray(array) if array.ndim else array
    return ufunc.accumulate(array, axis=dim, dtype=dtype) if array.ndim else array.astype(dtype or array.dtype)


def _keeps_type(kernel: str) -> Callable:
    """A running total in place is of the tensor's own type."""
    def look(array, dim, dtype):
        check_dim(dim, array.ndim)
        check(dtype is None or _dtype(dtype) == array.dtype, lambda: "Bad in-place call: input tensor dtype {} and output "
              "tensor dtype {} should match".format(*(dtypes.of_numpy[d].cpp_name for d in (array.dtype, _dtype(dtype)))))
        refuse(array, "b", kernel)
    return look


def _backwards(run: Callable, x: Any, dim: int) -> Any:
    """A running sum or its like from the other end."""
    return flip(run(flip(x, (dim,)), dim), (dim,)) if x.ndim else run(x, dim)


@op(inplace=True, check_target=_keeps_type("cumsum_out_cpu"), in_steps=True, self=lambda grad, dim:
    grad if not grad.ndim or math.prod(grad.shape) < 2 or grad.shape[dim] == 1 else _backwards(cumsum, grad, dim))
def cumsum(self, dim, *, dtype=None):
    """Running sums along a dimension."""
    sums = _run(np.add, self, dim, _total_dtype(self, _dtype(dtype)), "cumsum_out_cpu")
    return sums + sums.dtype.type(0) if sums.ndim and sums.dtype.kind == "f" else sums      # from 0 on: -0.0 becomes 0.0


def _cumprod_gradient(grad: Any, self: Any, dim: int, result: Any) -> Any:
    """Each element occurs in every later product; where a zero forbids dividing it out, the products are made without it."""
    if self.ndim == 0 or self.shape[dim] == 1 or not math.prod(self.shape):
        return grad
    if not _zeros_in(self):
        return _backwards(cumsum, result * grad, dim) / self
    parts = []
    for k in range(self.shape[dim]):
        n = self.shape[dim] - k - 1
        before = prod(narrow(self, dim, 0, k), dim, keepdim=True)
        products = cat([before, before * cumprod(narrow(self, dim, k + 1, n), dim)], dim) if n else before
        parts.append(sum(narrow(grad, dim, k, n + 1) * products, (dim,), keepdim=True))
    return cat(parts, dim)


@op(inplace=True, check_target=_keeps_type("cumprod_out_cpu"), in_steps=True, self=_cumprod_gradient)
def cumprod(self, dim, *, dtype=None):
    """Running products along a dimension."""
    return _run(np.multiply, self, dim, _total_dtype(self, _dtype(dtype)), "cumprod_out_cpu")


def _logcumsumexp_gradient(grad: Any, self: Any, result: Any, dim: int) -> Any:
    """In logarithms, as PyTorch: the gradient's positive and negative parts apart."""
    least = float(np.finfo(getattr(grad, "array", grad).dtype).min)
    positive, negative = (exp(_backwards(logcumsumexp, where(side, log(abs(grad)), least) - result, dim) + self)
                          for side in (grad > 0, grad < 0))
    return positive - negative


@op(tex=r"\ln \sum_{{\leq}} e^{{{self}}}", self=_logcumsumexp_gradient)
def logcumsumexp(self, dim):
    """The logarithm of the running sums of exponentials."""
    refuse(self, "biu", "logcumsumexp_out_cpu")
    return _run(np.logaddexp, self, dim)


# Extremes and middles ------------------------------------------------------------------------------------------------------

def _nonempty(array: np.ndarray, dim: Any, name: str, error: type[Exception] = RuntimeError) -> None:
    """Refuse to look for an extreme among no elements."""
    if dim is None and not array.size:
        raise error(f"{name}(): Expected reduction dim to be specified for input.numel() == 0." + (
            " Specify the reduction dim with the 'dim' argument." if error is RuntimeError else ""))
    for d in () if dim is None else dims_of(dim, array.ndim):
        if array.shape[d] == 0:
            given = dim[0] if isinstance(dim, tuple) and len(dim) == 1 else d        # as amax and amin say it
            raise IndexError(f"{name}{'()' * (name != 'aminmax')}: Expected reduction dim {given} to have non-zero size.")


def evenly(grad: Any, self: Any, result: Any) -> Any:
    """The gradient of an extreme of all elements, shared by those that are equal to it."""
    mask = isnan(self) if isnan(result) else self == result
    return masked_fill(zeros_of(self), mask, grad / sum(mask))


def _shared(grad: Any, self: Any, dim: Any, keepdim: bool, result: Any) -> Any:
    """The same of an extreme over dimensions."""
    mask = spread(result, tuple(self.shape), dim, keepdim) == self
    if not self.ndim and dim and not keepdim:
        mask = reshape(mask, (1,))
    count = sum(mask, dim, True)
    return (grad if keepdim else reshape(grad, tuple(count.shape))) / count * mask


def _extremes(name: str, ufunc: np.ufunc, find: Callable, elementwise: Callable) -> tuple[Callable, Callable, Callable]:
    """``max``, ``amax`` and ``argmax``, or the three for ``min``."""
    @op(node=f"{name.title()}Backward1", tex=rf"\{name} {{self}}", self=evenly)
    def _all(self):
        _nonempty(self, None, name)
        return ufunc.reduce(self, axis=None)

    @op(node=f"{name.title()}Backward0", outputs=return_type(name, "values indices"), tex=rf"\{name}_{{{{{{dim}}}}}} {{self}}",
        self=select_gradient)
    def _dim(self, dim, keepdim):
        _nonempty(self, dim, name)
        return _place(lambda array, d: find(array, d, keepdims=True), self, dim, keepdim)

    def extreme(input: Any, dim: Any = ..., keepdim: bool = False, *, other: Any = None) -> Any:
        other = dim if isinstance(dim, Tensor) else other
        if other is not None:
            return elementwise(input, other)
        return _all(input) if _over_all(dim, keepdim) else _dim(input, dim, keepdim)

    @op(node=f"A{name}Backward0", tex=rf"\{name}_{{{{{{dim}}}}}} {{self}}", self=_shared)
    def _over(self, dim, keepdim):
        _nonempty(self, dim or None, f"a{name}")
        return _reduce(ufunc, self, dim, keepdim)

    def over(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
        return _over(input, _as_dims(dim), keepdim)

    def place(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
        array = input.array
        check(array.dtype.kind != "b", lambda: f"arg{name}(): does not support bool input")
        _nonempty(array, dim, f"arg{name}", IndexError)
        found = find(array, axis=None if dim is None or not array.ndim else check_dim(dim, array.ndim), keepdims=keepdim)
        return wrap(np.asarray(found, np.int64))

    extreme.__name__, over.__name__, place.__name__ = name, f"a{name}", f"arg{name}"
    extreme.__doc__ = f"The {name}imum of all elements; ``(values, indices)`` along `dim`; elementwise with a tensor."
    over.__doc__ = f"The {name}imum over dimensions; equal elements share the gradient."
    place.__doc__ = f"Where the {name}imum is: in the flattened tensor, or along a dimension."
    return extreme, over, place


max, amax, argmax = _extremes("max", np.maximum, np.argmax, maximum)
min, amin, argmin = _extremes("min", np.minimum, np.argmin, minimum)


@op(outputs=return_type("aminmax", "min max"), tex=r"\min {self}, \max {self}", self=lambda grads, self, dim, keepdim, min, max:
    _shared(grads[0], self, _as_dims(dim), keepdim, min) + _shared(grads[1], self, _as_dims(dim), keepdim, max))
def aminmax(self, *, dim=None, keepdim=False):
    """The smallest and the largest element, over all or along a dimension."""
    if dim is None and not self.size:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    _nonempty(self, dim, "aminmax")
    return tuple(_reduce(ufunc, self, dim, keepdim) for ufunc in (np.minimum, np.maximum))


@op(node="MedianBackward0", self=evenly)
def _median_all(self):
    if self.size:
        refuse(self, "b", "median_cpu")
    if not self.size or np.isnan(self).any():
        return np.array(math.nan).astype(self.dtype)
    return np.partition(self, (self.size - 1) // 2, axis=None)[(self.size - 1) // 2]


def _middle(array: np.ndarray, dim: int) -> np.ndarray:
    """Find the median along a dimension: the lower one of two; NaN is the median wherever there is one."""
    middle = np.take(np.argsort(array, dim, stable=True), [(array.shape[dim] - 1) // 2], dim)
    missing = np.isnan(array)
    return np.where(missing.any(dim, keepdims=True), missing.argmax(dim, keepdims=True), middle)


def _modes(array: np.ndarray, dim: int) -> np.ndarray:
    """Find the most frequent element along a dimension (of equally frequent ones the smallest), the last of its kind."""
    rows = np.moveaxis(array, dim, -1)
    counts = (rows[..., None] == rows[..., None, :]).sum(-1)
    smallest = np.where(counts == counts.max(-1, keepdims=True), rows, rows.max(-1, keepdims=True)).min(-1, keepdims=True)
    last = rows.shape[-1] - 1 - np.argmax((rows == smallest)[..., ::-1], axis=-1, keepdims=True)
    return np.moveaxis(last, -1, dim).copy()


@op(node="MedianBackward1", outputs=return_type("median", "values indices"), self=select_gradient)
def _median_dim(self, dim, keepdim):
    _nonempty(self, dim, "median")
    refuse(self, "b", "median_out")
    return _place(_middle, self, dim, keepdim)


def median(input: Any, dim: Any = ..., keepdim: bool = False) -> Any:
    """The middle element (the lower one of two); ``(values, indices)`` along `dim`."""
    return _median_all(input) if _over_all(dim, keepdim) else _median_dim(input, dim, keepdim)


@op(outputs=return_type("mode", "values indices"), self=select_gradient)
def mode(self, dim=-1, keepdim=False):
    """The most frequent element along `dim`, and where it is."""
    _nonempty(self, dim, "mode")
    return _place(_modes, self, dim, keepdim)


@op(outputs=return_type("kthvalue", "values indices"), self=select_gradient)
def kthvalue(self, k, dim=-1, keepdim=False):
    """The k-th smallest element along `dim` (from 1), and where it is."""
    refuse(self, "b", "kthvalue_cpu")
    _nonempty(self, dim, "kthvalue")
    check(1 <= k <= (self.shape[dim] if self.ndim else 1), lambda: "kthvalue(): selected number k out of range for dimension "
          f"{check_dim(dim, self.ndim)}")
    return _place(lambda array, d: np.take(np.argsort(array, d, stable=True), [k - 1], d), self, dim, keepdim)


def _running_extreme(name: str, ufunc: np.ufunc) -> Callable:
    def running(self, dim):
        values = _run(ufunc, self, dim)
        if not self.ndim:
            return values, np.zeros((), np.int64)
        at = np.arange(self.shape[dim], dtype=np.int64).reshape([-1 if d == dim % self.ndim else 1 for d in range(self.ndim)])
        return values, np.maximum.accumulate(np.where((self == values) | np.isnan(self), at, np.int64(0)), axis=dim)
    running.__name__, running.__doc__ = name, f"The {name[3:]}imum so far along a dimension, and where it was."
    return op(outputs=return_type(name, "values indices"), self=lambda grad, self, dim, indices:
              scatter_add(grad_zeros(grad, tuple(self.shape)), dim, indices, grad))(running)


cummax, cummin = _running_extreme("cummax", np.maximum), _running_extreme("cummin", np.minimum)


# Yes and no ----------------------------------------------------------------------------------------------------------------

def _verdict(name: str, ufunc: np.ufunc, doc: str) -> Callable:
    def verdict(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        array = _reduce(ufunc, input.array, dim, keepdim, dtype=bool)
        return wrap(np.asarray(array, np.uint8 if input.array.dtype == np.uint8 else bool))
    verdict.__name__, verdict.__doc__ = name, f"Whether {doc} not zero."
    return verdict


any, all = _verdict("any", np.logical_or, "some element is"), _verdict("all", np.logical_and, "all elements are")


def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are not zero."""
    return wrap(np.asarray(np.count_nonzero(input.array, axis=dims_of(dim, input.ndim)), np.int64))


def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements differ by at most ``atol + rtol * |other|``."""
    check(input.dtype == other.dtype, lambda: f"{input.dtype.scalar_type} did not match {other.dtype.scalar_type}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        check(not tolerance < 0, f"{name} must be greater than or equal to zero, but got {tolerance:g}")
    close = input == other
    if equal_nan and input.is_floating_point():
        close |= isnan(input) & isnan(other)
    if rtol or atol:
        input, other = (x if x.is_floating_point() else x.to(dtypes.get_default_dtype()) for x in (input, other))
        allowed, actual = atol + abs(rtol * other), abs(input - other)
        close |= isfinite(actual) & (actual <= allowed)
    return close


def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close, as `isclose` defines it."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape and the same elements."""
    return input.array.shape == other.array.shape and bool((input.array == other.array).all())


Tensor.equal = PUBLIC["equal"] = equal      # and not what NumPy calls so


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The element type of an operation on two tensors or numbers."""
    return dtypes.of_numpy[dtypes.result_type(*(getattr(x, "array", x) for x in (tensor1, tensor2)))]


# Spread and size -----------------------------------------------------------------------------------------------------------

def _deviations(array, dim, keepdim, correction, name):
    check(array.dtype.kind == "f", "std and var only support floating point and complex dtypes")
    n = count_of(array.shape, dim)
    free = n - (1 if correction is None else correction)
    if free <= 0 or not array.size:
        warnings.warn(NO_FREEDOM.format(name), stacklevel=5)
    centre = _reduce(np.add, array, dim, True) / array.dtype.type(n)
    return _reduce(np.add, (array - centre) ** 2, dim, keepdim) / array.dtype.type(builtins.max(free, 0))


def _var_gradient(grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    free = count_of(tuple(self.shape), dim) - (1 if correction is None else correction)
    if dim is None or not self.ndim:
        centre = mean(self)
        if free <= 0:
            return grad * where(self == centre, math.nan, math.inf)
    else:
        grad, centre = restored(grad, dim, keepdim or self.ndim == 1), mean(self, dim, True)
    deviation = self - centre       # first, as in C++
    return (2.0 / free if free else math.inf) * grad * deviation


def _std_gradient(grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool, result: Any) -> Any:
    return _var_gradient(masked_fill(grad / (result * 2), result == 0, 0), self, dim, correction, keepdim)


@op(in_steps=True, self=_var_gradient)
@in_double
def _var(self, dim, correction, keepdim):
    return _deviations(self, dim, keepdim, correction, "var")


@op(in_steps=True, self=_std_gradient)
@in_double
def _std(self, dim, correction, keepdim):
    return np.sqrt(_deviations(self, dim, keepdim, correction, "std"))


@op(outputs="list", in_steps=True, self=lambda grads, self, dim, correction, keepdim:
    _var_gradient(grads[0], self, dim, correction, keepdim) + _mean_gradient(grads[1], tuple(self.shape), dim, keepdim))
@in_double
def _var_mean(self, dim, correction, keepdim):
    return [_deviations(self, dim, keepdim, correction, "var_mean"), _mean_dim(self, dim, keepdim)]


@op(outputs=("result0", "result1"), in_steps=True, self=lambda grads, self, dim, correction, keepdim, result0:
    _std_gradient(grads[0], self, dim, correction, keepdim, result0) + _mean_gradient(grads[1], tuple(self.shape), dim, keepdim))
@in_double
def _std_mean(self, dim, correction, keepdim):
    return [np.sqrt(_deviations(self, dim, keepdim, correction, "std_mean")), _mean_dim(self, dim, keepdim)]


def _spread_measure(name: str, operation: Callable, doc: str, method: bool = True) -> Callable:
    def function(input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
                 correction: float | None = None) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None and (unbiased is not None or dim is not None):
            correction = 0 if unbiased is False else 1
        return operation(input, _as_dims(dim), correction, keepdim)
    function.__name__, function.__doc__ = name, doc
    return function


var = _spread_measure("var", _var, "The variance over all elements or some dimensions, divided by n - correction (1).")
std = _spread_measure("std", _std, "The standard deviation over all elements or some dimensions.")
var_mean = _spread_measure("var_mean", _var_mean, "The variance and the mean.", method=False)
std_mean = _spread_measure("std_mean", _std_mean, "The standard deviation and the mean.", method=False)


def _norm_gradient(grad: Any, self: Any, ord: float, dim: Any, keepdim: bool, result: Any) -> Any:
    if ord == 0:
        return None
    grad, result = restored(grad, dim, keepdim), restored(result, dim, keepdim)
    if ord == 1:
        return sgn(self) * grad
    if ord == 2:
        return grad * masked_fill(self / result, result == 0, 0)
    if ord in (math.inf, -math.inf):
        mask = (abs(self) == result) | (isnan(self) & isnan(result))
        return sgn(self) * (grad / sum(mask, dim, True) * mask)
    scale = masked_fill(sgn(self) * pow(abs(self), ord - 1.0), self == 0, 0) if ord < 2 else self * pow(abs(self), ord - 2.0)
    return scale * masked_fill(grad / pow(result, ord - 1.0), result == 0, 0)


@op(node="LinalgVectorNormBackward0", tex=r"\lVert {self} \rVert_{{{ord}}}", in_steps=True, self=_norm_gradient)
def _vector_norm(self, ord, dim, keepdim):
    if self.dtype.kind != "f":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           + scalar_type(self))
    if not self.size and (ord < 0 or ord == math.inf):
        empty = next((d for d in dim or () if not self.shape[d]), None)
        why = f"the dimension {empty}because this dimension is empty and" if dim else "an empty tensor because"
        check(dim and empty is None, f"linalg.vector_norm cannot compute the {ord:g} norm on {why} the operation does not have "
              "an identity")
    size = np.abs(self)
    if ord in (math.inf, -math.inf):
        return _reduce(np.maximum if ord > 0 else np.minimum, size, dim, keepdim)
    powers = {0: self != 0, 1: size, 2: size * size}.get(ord)
    total = _reduce(np.add, size ** ord if powers is None else powers, dim, keepdim, dtype=self.dtype)
    return total if ord in (0, 1) else np.sqrt(total) if ord == 2 else total ** self.dtype.type(1 / ord)


def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """``(sum of |x| ** ord) ** (1 / ord)`` over all elements or some dimensions."""
    if dtype is not None and _dtype(dtype).kind != "f":
        raise RuntimeError("linalg.vector_norm: dtype should be floating point or complex, but got "
                           + dtypes.of_numpy[_dtype(dtype)].scalar_type)
    return _vector_norm(x if dtype is None else x.to(dtype), ord, _as_dims(dim), keepdim)


def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """`vector_norm`; minigrad has no norms of matrices as operators."""
    if ord is not None and (ord in ("fro", "nuc") or (A.ndim if dim is None else 1 if isinstance(dim, int) else len(dim)) == 2):
        if ord != "fro":
            raise NotImplementedError(f"minigrad's linalg.norm has no norm of order {ord} of a matrix")
        ord = None
    return vector_norm(A, 2.0 if ord is None else ord, dim, keepdim, dtype=dtype)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of the elements; ``"fro"`` is p = 2."""
    check(p != "nuc", "minigrad has no nuclear norm", NotImplementedError)
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


@op(tex=r"\lVert {self} - {other} \rVert_{{{p}}}", promote="same", check=_no_bool,
    self=lambda grad, self, other, p, result: _norm_gradient(grad, self - other, p, None, False, result),
    other=lambda grad, self, other, p, result: -_norm_gradient(grad, self - other, p, None, False, result))
def dist(self, other: Tensor, p=2):
    """The p-norm of the difference."""
    _no_bool(self, other)
    check(self.dtype.kind == "f", lambda: "norm(): input dtype should be either floating point or complex. "
          f"Got {scalar_type(self)} instead.")
    return _vector_norm(self - other, p, None, False)


# Exponentials --------------------------------------------------------------------------------------------------------------

@op(tex=r"\ln \sum_{{{dim}}} e^{{{self}}}", self=lambda grad, self, dim, keepdim, result:
    restored(grad, dim, keepdim or not self.ndim) * exp(self - restored(result, dim, keepdim or not self.ndim)))
def _logsumexp(self, dim, keepdim):
    if self.dtype.kind != "f":
        self = self.astype(dtypes.get_default_dtype().numpy)
    axes = dims_of(dim, self.ndim)
    top = np.maximum.reduce(self, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, top.dtype.type(0))
    result = precise_log(np.add.reduce(precise_exp(self - top), axis=axes, keepdims=True)) + top
    return np.asarray(result if keepdim else result.squeeze(axes), order="C")


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    return _logsumexp(input, _as_dims(dim), keepdim)


def _shifted(array, dim, name):
    dim = check_dim(dim, array.ndim)
    if array.dtype.kind != "f":
        where = "_lastdim" if dim >= array.ndim - 1 else ""
        raise NotImplementedError(f"\"{name}{where}_kernel_impl\" not implemented for "
                                  f"'{scalar_type(array)}'")
    axis = dim if array.ndim else ()
    return np.subtract(array, np.maximum.reduce(array, axis=axis, keepdims=True, initial=-np.inf), order="C"), axis


@op(in_steps=True, self=lambda grad, dim, result: _softmax_backward_data(grad, result, dim))
def _softmax(self, dim):
    check_dim(dim, self.ndim)
    if not self.size:
        return self.copy()
    shifted, axis = _shifted(self, dim, "softmax")
    out = precise_exp(shifted)
    return out / np.add.reduce(out, axis=axis, keepdims=True)


def _softmax_double_backward(grad: Any, grad_output: Any, output: Any, dim: int) -> Any:
    last = grad_output * sum(output * grad, (dim,), True)       # from the right, as in C++
    middle = sum(output * grad_output, (dim,), True) * grad
    return grad_output * grad - middle - last


@op(tex=r"{output} \odot ({grad_output} - \sum {grad_output} \odot {output})", in_steps=True, symmetric=True,
    output=lambda grad, grad_output, output, dim: _softmax_double_backward(grad, grad_output, output, dim))
def _softmax_backward_data(grad_output, output, dim):
    product = grad_output * output
    return product - output * np.add.reduce(product, axis=dim if output.ndim else (), keepdims=True)


@op(tex=r"\ln \operatorname{{softmax}}_{{{dim}}}({self})",
    self=lambda grad, dim, result: _log_softmax_backward_data(grad, result, dim))
def _log_softmax(self, dim):
    check_dim(dim, self.ndim)
    if not self.size:
        return self.copy()
    shifted, axis = _shifted(self, dim, "log_softmax")
    return shifted - precise_log(np.add.reduce(precise_exp(shifted), axis=axis, keepdims=True))


@op(tex=r"{grad_output} - e^{{{output}}} \sum {grad_output}",
    grad_output=lambda grad, output, dim: grad - sum(grad * exp(output), (dim,), True),
    output=lambda grad, grad_output, output, dim: (lambda slope: -sum(grad_output, (dim,), True) * slope * grad)(exp(output)))
def _log_softmax_backward_data(grad_output, output, dim):
    return grad_output - precise_exp(output) * np.add.reduce(grad_output, axis=dim if output.ndim else (), keepdims=True)


def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """``exp(x) / sum(exp(x))`` along a dimension."""
    return _softmax(input if dtype is None else input.to(dtype), dim)


def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """The logarithm of `softmax`, more exact than taking it afterwards."""
    return _log_softmax(input if dtype is None else input.to(dtype), dim)
