"""How results lie in memory: the order of the dimensions in PyTorch's elementwise kernels, copies and casts.

NumPy asks all operands and falls back to row-major order where they disagree; PyTorch asks one after the other, and a
dimension of stride 0 (expanded) has no say. It shows in ``stride()``, and in what ``view`` accepts.
"""
from __future__ import annotations

import numpy as np


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """Steps in elements, as PyTorch counts; NumPy says 0 of a new array without elements."""
    if not array.size and not any(array.strides):
        array = np.empty([n or 1 for n in array.shape], array.dtype)
    return tuple([s // array.itemsize for s in array.strides])


def is_dense(array: np.ndarray) -> bool:
    """Whether the elements lie in memory without gaps, in any order of the dimensions."""
    if not array.size:
        return True
    expected = array.itemsize
    for stride, size in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= size
    return True


def laid_out(array: np.ndarray) -> np.ndarray:
    """An array of that shape for its gradient: in the same order in memory, in rows if the array has gaps or overlaps."""
    return np.empty_like(array) if is_dense(array) else np.empty(array.shape, array.dtype)


def lies_like(grad: np.ndarray, array: np.ndarray) -> bool:
    """Whether a gradient may be kept as it lies: PyTorch looks at the steps alone (after ``.data = `` the shapes may differ)."""
    if not is_dense(array):
        return grad.flags.c_contiguous
    steps = strides_of(array) or (1,)
    return all(n == 1 or i < len(steps) and s == steps[i] for i, (n, s) in enumerate(zip(grad.shape, strides_of(grad), strict=True)))


def _compare(shape: tuple[int, ...], strides: list[tuple[int, ...]], a: int, b: int) -> int:
    """Above 0 if dimension a should be outside of b, below 0 if inside, 0 if the operands do not say."""
    for steps in strides:
        if steps[a] == 0 or steps[b] == 0:
            continue
        if steps[a] != steps[b]:
            return 1 if steps[a] > steps[b] else -1
        if shape[a] > shape[b]:
            return 1
    return 0


def order(shape: tuple[int, ...], strides: list[tuple[int, ...]]) -> list[int]:
    """The dimensions from the innermost to the outermost: PyTorch's insertion sort (``TensorIterator::reorder_dimensions``)."""
    dims = list(range(len(shape)))[::-1]
    for i in range(1, len(dims)):
        at = i
        for j in range(i - 1, -1, -1):
            way = _compare(shape, strides, dims[j], dims[at])
            if way > 0:
                dims[j], dims[at] = dims[at], dims[j]
                at = j
            elif way < 0:
                break
    return dims


def arranged(array: np.ndarray, *like: np.ndarray) -> np.ndarray:
    """The array, copied if need be, as a result of an operation on those operands lies in memory."""
    if array.ndim < 2 or array.flags.c_contiguous and all(x.flags.c_contiguous for x in like):
        return array
    strides = [(0,) * (array.ndim - x.ndim) + tuple(s if n > 1 or n == size else 0 for s, n, size in zip(
        x.strides, x.shape, array.shape[array.ndim - x.ndim:])) for x in like if x.ndim]
    dims = order(array.shape, strides)[::-1]
    out = array.transpose(dims)
    return array if out.flags.c_contiguous else np.ascontiguousarray(out).transpose(np.argsort(dims))
