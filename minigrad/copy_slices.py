"""What an in-place write makes of recorded histories: the written tensor's, its base's, and those of the base's other views.

``y = x * 1; v = y[0]; v.mul_(2)`` changes y too. So y's new history is `CopySlices`: the old one, with a multiplication
where v lies; and v's is a fresh window on y.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .function import OPS, Op, compile_operation
from .generate import forward_source
from .grad_mode import state
from .graph import Node
from .inplace import check_inplace, check_overlap, check_view
from .storage import Storage
from .strides import strides_of
from .tensor import Tensor, gradient_edge, wrap


def reshaping(name: str, view: Callable, node: str) -> Callable:
    """The method that makes a tensor its own view: ``t_`` of ``t``, with PyTorch's name of the node.

    Memory and base stay; the shape is new, the version counts, and the view's node is the tensor's history.
    """
    twin = OPS[name] = Op(view.op.kernel, view.op.formulas, tex=view.op.notation, node=node, view=True, inplace=True)
    twin.name = name
    operation = compile_operation(twin, forward_source)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        recorded = state.enabled and self.requires_grad
        check_inplace(self, recorded)
        result = operation(self, *args, **kwargs)
        self.array = result.array
        self._count_write()
        if recorded:
            self._edge, self._requires_grad = result._edge, True        # hooks, retain_grad()'s too, stay with the past here
            if self._view is not None:
                self._view.version = self._storage.version
        return self

    method.__name__, method.__doc__ = name, f"`{name[:-1].strip('_')}` in place: this tensor gets the new shape."
    setattr(Tensor, name, method)
    return method


def rebase_history(tensor: Tensor, node: Node) -> None:
    """After a recorded in-place write: the node is this tensor's history now, or a part of its base's."""
    if tensor._view is None:
        _set_history(tensor, node)
        return
    check_view(tensor, indirect=False)      # an operation has asked already; a user's Function comes straight here
    base = tensor._view.base
    _set_history(base, CopySlices(base, tensor, node))
    tensor._renew_history()
    node._written = weakref.ref(tensor._node)


def _set_history(tensor: Tensor, node: Node) -> None:
    old, tensor._edge, tensor._requires_grad = tensor._edge, (node, 0), True
    if tensor._hooks is not None:
        tensor._hooks = None
        accumulator = tensor._accumulator and tensor._accumulator()
        if accumulator is not None:         # it was a leaf: no graph that still ends there calls its hooks
            accumulator._own_hooks().tensor.clear()
    if tensor._retains and old is not None:
        # retain_grad() asks for the gradient of the tensor as it is now; ordinary hooks stay with its past.
        reference = old[0]._own_hooks().retain.pop(old[1], None)
        if reference is not None:
            node._own_hooks().retain[0] = reference


def _renew_history(self: Tensor) -> None:
    """Build a view's history anew after its base, or another view of it, was written in place."""
    check_view(self, indirect=True)
    base = self._view.base
    node = AsStridedBackward0((gradient_edge(base),), self.array)
    node._attributes = (self.array.shape, self.stride(), self.storage_offset())
    node.geometry = Geometry(base, self)
    _set_history(self, node)
    self._view.version = self._storage.version


Tensor._rebase_history, Tensor._renew_history = rebase_history, _renew_history


class Geometry:
    """Where a view lies on its base: two windows on one stretch of memory, in elements from its beginning."""

    __slots__ = ("base", "view", "size")

    def __init__(self, base: Tensor, view: Tensor) -> None:
        low = min(np.lib.array_utils.byte_bounds(t.array)[0] for t in (base, view))
        high = max(np.lib.array_utils.byte_bounds(t.array)[1] for t in (base, view))
        self.size = (high - low) // base.array.itemsize
        self.base, self.view = (
            (t.array.shape, strides_of(t.array), (t.data_ptr() - low) // t.array.itemsize)
            for t in (base, view))


def _window(flat: np.ndarray, place: tuple) -> np.ndarray:
    shape, strides, offset = place
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, [s * flat.itemsize for s in strides])


def _overlaps(place: tuple) -> bool:
    """Whether one place in memory stands for several elements of a window."""
    reach = 0
    for stride, n in sorted((s, n) for n, s in zip(*place[:2]) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


class AsStridedBackward0(Node):
    """The renewed history of a view: a window on its base as that is now.

    Its gradient goes into zeros, where the view lies (added up where the view looks twice), and what the base sees of them is
    the base's. If that is to be recorded itself, PyTorch's operations do it.
    """

    __slots__ = ("geometry",)
    __module__ = "builtins"
    name = Node.name
    attribute_names = ("size", "stride", "storage_offset")

    def apply(self, grad: Any, graph: bool, nodes: Sequence[Node | None]) -> tuple:
        if grad is None or nodes[0] is None:
            return (None,)
        base, view, size = self.geometry.base, self.geometry.view, self.geometry.size
        dtype = self.dtype
        shared, places = np.zeros(size, dtype), np.arange(size)
        counts = np.bincount(_window(places, base).ravel(), minlength=size).astype(dtype) if _overlaps(base) else None
        if not graph:
            if _overlaps(view):
                np.add.at(shared, _window(places, view), grad)
            else:
                _window(shared, view)[...] = grad
            return ((_window(shared, base) if counts is None else _window(shared, base) / _window(counts, base)).copy(),)
        storage, (shape, strides, offset) = wrap(shared), view
        if 0 in shape:
            return (wrap(np.zeros(base[0], dtype)),)
        for i in reversed(range(len(shape))):
            if shape[i] == 1 or strides[i] == 0:
                grad = grad.squeeze(i) if shape[i] == 1 else grad.sum(i)
        steps = [(n, s) for n, s in zip(shape, strides) if n != 1 and s != 0]
        shape, strides = zip(*steps) if steps else ((), ())
        if _overlaps((shape, strides)):
            storage.index_add_(0, wrap(_window(places, (shape, strides, offset)).reshape(-1)), grad.reshape(-1))
        else:
            storage.as_strided(shape, strides, offset).copy_(grad)
        if counts is not None:
            storage.div_(wrap(counts))
        return (storage.as_strided(*base),)


class CopySlices(Node):
    """An in-place operation `fn` on a view, as part of the history of the view's base.

    The gradient of the base passes through unchanged, except where the view lies: there it goes through `fn`.
    """

    __slots__ = ("geometry",)
    __module__ = "builtins"

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, fn: Node) -> None:
        super().__init__((gradient_edge(base), *fn.next_functions[1:]), base.array)
        self._saved, self.geometry = (fn,), Geometry(base, view)

    def apply(self, grad: Any, graph: bool, nodes: Sequence[Node | None]) -> tuple:
        if grad is None:
            return (None,) * len(self._next)
        if self._saved is None:
            raise self._freed_error()
        geometry, (fn,) = self.geometry, self._saved
        shared = np.zeros(geometry.size, self.dtype)
        whole, part = (_window(shared, place) for place in (geometry.base, geometry.view))
        if not graph:
            whole[...] = grad
            first, *others = fn.apply(part.copy(), False, nodes)
            if first is not None:
                check_overlap(part)         # fill_ may write into an expanded view, but its gradient cannot
                part[...] = first
            return (None if first is None else whole.copy(), *others)
        result = wrap(whole, Storage(shared)).copy_(grad)
        window = result.as_strided(*geometry.view)
        first, *others = fn.apply(window.clone(), True, nodes)
        if first is not None:
            window.copy_(first)
        return (None if first is None else result, *others)
