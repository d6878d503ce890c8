"""``torch.autograd.Function``: a forward and a backward of the user's own, as one node of the graph."""
from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import reasons
from ..copy_slices import rebase_history
from ..function import watch
from ..grad_mode import is_grad_enabled, no_grad, state
from ..graph import LAST_SEQUENCE_NR, NO_EDGE, Node, SavedTensor, saved_hooks
from ..inplace import view_of
from ..reasons import check
from ..tensor import Tensor, gradient_edge, wrap


class FunctionCtx(Node):
    """The ``ctx`` of a custom Function, which is also its node in the graph.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of forward, whether backward must give its gradient.
    saved_tensors : tuple of Tensor
        What `save_for_backward` was given, after the version check.
    """

    __slots__ = ()
    may_alias = True

    def __init__(self, args: tuple) -> None:
        self.is_tensor = [isinstance(a, Tensor) for a in args]
        self.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        self.to_save, self.dirty_tensors, self.non_differentiable, self.materialize_grads = (), (), (), True
        # Unrecorded it asks for no edges: that would renew the history of a stale view.
        recorded = state.recording is True and any(self.needs_input_grad)
        super().__init__([gradient_edge(a) for a in args if isinstance(a, Tensor)] if recorded else ())

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def __call__(self, *grads: Any) -> None:
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for backward; a tensor kept in this way is freed and version-checked.

        Raises
        ------
        TypeError
            "save_for_backward can only save variables, but argument 1 is of type int"
        """
        self.to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs forward changed in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """With False, backward gets None instead of zeros for an output that nothing was computed from."""
        self.materialize_grads = value

    _raw_saved_tensors = property(lambda self: tuple(SavedTensor(self, i) for i in range(len(self.saved_names) - 1)))

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        if self._saved is None:
            raise self._freed_error()
        return tuple([self.unpack(i, True, shown=True) for i in range(len(self._saved) - 1)])

    def finish_saving(self, outputs: list[Tensor]) -> None:
        """Turn what `save_for_backward` was given into saved tensors, outputs without the way back to this node.

        A None behind them is saved, too: what was freed is refused even if it was nothing.
        """
        for i, t in enumerate(self.to_save):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {reasons.type_name(t)}")
        self.to_save = (*self.to_save, None)
        places = [next((n for n, out in enumerate(outputs) if out is t is not None), None) for t in self.to_save]
        self.saved_outputs = tuple(places)
        self.saved_names = tuple(f"saved tensor {i}" for i in range(len(self.to_save)))
        self.remember(tuple(t if n is None or saved_hooks else wrap(t.array, t._storage) for t, n in zip(self.to_save, places)))
        self.to_save = ()

    def apply(self, grad: Any, graph: bool, nodes: Sequence[Node | None]) -> Iterable:
        grads = list(grad) if isinstance(grad, list) else [grad] * (len(self.shape) if self.several else 1)
        tensors = [self._materialize(i, g) for i, g in enumerate(grads)]
        cls = self.function
        backward = cls.backward if cls.backward is not Function.backward else cls.vjp
        results = backward(self, *tensors)
        return self._check(results if isinstance(results, tuple) else (results,), graph)

    def _materialize(self, i: int, grad: Any) -> Tensor | None:
        if grad is None:
            shape, dtype = self.expects(i)      # None of what is no tensor
            return wrap(np.zeros(shape, dtype)) if self.materialize_grads and shape is not None else None
        return grad if isinstance(grad, Tensor) else wrap(np.asarray(grad))

    def _check(self, results: tuple, graph: bool) -> list:
        expected = len(self.is_tensor)
        name = type(self).__name__
        if len(results) > expected and all(r is None for r in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {expected}, got {len(results)})")
        outs = []
        for i, (result, is_tensor) in enumerate(zip(results, self.is_tensor, strict=True)):
            if not is_tensor:
                if result is not None:
                    raise RuntimeError(f"function {name} returned a gradient different than None at position {i + 1}, but the "
                                       "corresponding forward input was not a Variable")
                continue
            if result is not None and not isinstance(result, Tensor):
                raise RuntimeError(f"expected Variable or None (got {reasons.type_name(result)})")
            outs.append(result if graph or result is None else result.array)
        return outs


class Function:
    """Subclass it with static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``; call ``apply(*args)``.

    With a static method ``setup_context(ctx, inputs, output)``, forward is written without ctx.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them "
                      "on the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
                      DeprecationWarning, stacklevel=2)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
                           "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result, below the recording: ``forward(ctx, *inputs)``, or ``forward(*inputs)`` beside a `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Save in `ctx` what `backward` needs, where `forward` takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return one gradient per input of `forward` (None where there is none) for one gradient per output."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use "
                                  "it with backward mode AD.")

    vjp = backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and record it as one node, ``<Name>Backward``.

        Raises
        ------
        NotImplementedError
            Without a forward.
        """
        split = cls.setup_context is not Function.setup_context
        if split or kwargs:
            first = () if split else (None,)      # ctx has its place in the signature
            try:
                bound = inspect.signature(cls.forward).bind(*first, *args, **kwargs)
            except TypeError as error:
                raise TypeError(str(error) if split else f"forward() {error}") from None
            bound.apply_defaults()
            args = bound.args[len(first):]
        node = _node_class(cls)(args)
        recorded = state.recording is True and any(node.needs_input_grad)
        callback, watch.callback = watch.callback, None     # seen from outside, the whole forward is one operation
        try:
            with no_grad():
                output = cls.forward(*args) if split else cls.forward(node, *args)
                if split:
                    cls.setup_context(node, args, output)
        finally:
            watch.callback = callback
        values = list(output) if isinstance(output, tuple) else [output]
        values = _connect(node, args, values, recorded)
        if recorded:
            node.finish_saving(values)
        if watch.callback is not None:
            tensors = tuple(v for v in values if isinstance(v, Tensor))
            watch.callback(_SeenFunction(cls.__name__, type(node).__name__), args, tensors, recorded)
        return tuple(values) if isinstance(output, tuple) else values[0]


class _SeenFunction:
    """A custom Function as an observer sees it: what `Op` says of an operation."""

    view = inplace = False
    tex = ""

    def __init__(self, name: str, node_name: str) -> None:
        self.name, self.node_name = name, node_name


@functools.cache
def _node_class(cls: type[Function]) -> type[FunctionCtx]:
    return type(cls.__name__ + "Backward", (FunctionCtx,), {
        "__slots__": (), "function": cls, "__module__": "torch.autograd.function"})


def _connect(node: FunctionCtx, args: tuple, values: list, recorded: bool) -> list:
    """Make forward's tensors the outputs of the node: inputs returned as they are become views, dirty ones are rebased."""
    shapes, dtypes, result = [], [], []
    for t in node.dirty_tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError("mark_dirty can only accept variables, but argument ")       # PyTorch's text ends here
        t._storage.bump()
        check(any(t is value for value in values), reasons.DIRTY_NOT_RETURNED)
        if recorded and t._node is None and t.requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        check(not recorded or t._view is None or len(values) < 2, reasons.DIRTY_VIEW)
        if recorded:
            t._grad = None
        if recorded and t._view is not None and not t._view.origin and t._view.base._node is None and t.requires_grad:
            raise RuntimeError(reasons.LEAF_VIEW_INPLACE)
    for value in values:
        if not isinstance(value, Tensor):
            for seen, what in (shapes, None), (dtypes, None), (result, value):
                seen.append(what)
            continue
        is_input = any(value is a for a in args)
        is_dirty = any(value is d for d in node.dirty_tensors)
        differentiable = value.array.dtype.kind == "f" and not any(value is n for n in node.non_differentiable)
        if is_input and value.requires_grad and not (recorded and differentiable):
            value = value.detach()
        elif is_input and not is_dirty:
            with no_grad():
                value = view_of(value, value.array)
        if recorded and differentiable and is_input and is_dirty:
            rebase_history(value, node)
        elif recorded and differentiable:
            value._requires_grad, value._edge = True, (node, len(shapes))
        if value._view is not None and not (is_input and is_dirty):     # recorded or not
            value._view.origin, value._view.version = "function", value._storage.version
        shapes.append(value.array.shape)
        dtypes.append(value.array.dtype)
        result.append(value)
    node.expect(shapes, dtypes)
    return result


class Error(Node):
    """A node that raises when the backward pass reaches it."""

    __slots__ = ("message",)

    def name(self) -> str:
        return "torch::autograd::Error"

    def apply(self, grad: Any, graph: bool, nodes: Sequence[Node | None]) -> tuple:
        raise RuntimeError(self.message)


def once_differentiable(backward: Callable) -> Callable:
    """Decorate a backward that is not itself differentiable: a second derivative through it raises instead of being wrong."""
    @functools.wraps(backward)
    def wrapper(ctx: FunctionCtx, *grads: Any) -> Any:
        with no_grad():
            outputs = backward(ctx, *grads)
        if not is_grad_enabled() or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return outputs
        values = outputs if isinstance(outputs, tuple) else (outputs,)
        # As PyTorch does it: outputs of one node, whose inputs are leaves made for it.
        node = Error([NO_EDGE if v is None else gradient_edge(wrap(v.array, v._storage).requires_grad_()) for v in values])
        node._number = LAST_SEQUENCE_NR
        node.message = "trying to differentiate twice a function that was marked with @once_differentiable"
        node.expect([() if v is None else v.array.shape for v in values], [None if v is None else v.array.dtype for v in values])
        values = tuple(None if v is None else wrap(v.array, v._storage) for v in values)
        for i, value in enumerate(values):
            if value is not None:
                value._requires_grad, value._edge = True, (node, i)
        return values if isinstance(outputs, tuple) else values[0]
    return wrapper
