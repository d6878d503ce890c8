"""The recorded graph: nodes, the edges between them, what a node remembers, and hooks.

A `Node` is one operation seen from the backward pass. ``next_functions`` are its edges, one per tensor input of the forward
operation: ``(node, input number)``, or ``(None, 0)`` where no gradient is wanted. Nodes know tensors only by their attributes
(``array``, ``_storage``): this module imports none.
"""
from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import reasons
from .dtype import contiguous_format
from .grad_mode import state
from .reasons import check

Edge = tuple["Node | None", int]
NO_EDGE: Edge = (None, 0)
next_sequence = itertools.count().__next__     # nodes are numbered in order of creation; the engine runs them in reverse
LAST_SEQUENCE_NR = 2 ** 64 - 1      # of nodes that run as soon as they can: leaves' accumulators, and those that only raise


class Node:
    """One operation of the graph.

    Attributes
    ----------
    next_functions : tuple of (Node or None, int)
        Where the gradients go that `apply` returns.
    shape, dtype
        Shape and NumPy dtype of the forward operation's output: what arrives here must look like that. If there are several
        outputs (`several`), a list of each.
    alike : bool
        Do the gradients that `apply` returns have the shape and dtype of the one that it gets, as those of an elementwise operation
        that had nothing to cast? Asking each of them would take a tenth of the pass.
    hooks : Hooks or None
        None until a hook is registered, so that a graph without hooks pays nothing.
    """

    __slots__ = ("_next", "_saved", "_versions", "_attributes", "_number", "shape", "dtype", "alike", "hooks", "__dict__",
                 "__weakref__")

    saved_names: tuple[str, ...] = ()           # tensors it may remember, in the order of _saved
    saved_outputs: tuple[int | None, ...] = ()  # for each of them: which output of this very node it is, or None
    attribute_names: tuple[str, ...] = ()       # plain values it remembers; these are never freed
    _next_nrs: tuple[int, ...] | None = None    # for each of the _next nodes, which of its outputs; None: the first of each
    several = False                             # is there more than one output?
    _written: weakref.ref | None = None         # of an operation that wrote into a view: that view's new node
    may_alias = False                           # may apply() return an array that somebody else holds?

    def __init__(self, next_functions: Sequence[Edge], array: Any = None) -> None:
        nodes, numbers = zip(*next_functions) if next_functions else ((), ())
        self._next = nodes
        if any(numbers):
            self._next_nrs = numbers
        if array is not None:
            self.shape, self.dtype = array.shape, array.dtype
        self._saved = self._versions = self._attributes = ()
        self.hooks, self.alike = None, False
        self._number = next_sequence()
        if special.active:
            self.finish()

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """Where its gradients go: per input ``(node, which of its outputs)``, or ``(None, 0)`` for an input without grad."""
        return tuple(zip(self._next, self._next_nrs or itertools.repeat(0)))

    def expect(self, shapes: list, dtypes: list) -> None:
        """Set what arrives: one gradient of the only shape, or several."""
        self.several = len(shapes) != 1
        self.shape, self.dtype = (shapes, dtypes) if self.several else (shapes[0], dtypes[0])

    def expects(self, output_nr: int) -> tuple[tuple, Any]:
        """Shape and dtype of what arrives for an output."""
        return (self.shape[output_nr], self.dtype[output_nr]) if self.several else (self.shape, self.dtype)

    def finish(self) -> None:
        """What a new node does in a special mode: pack what it saved, keep the forward call's traceback."""
        if saved_hooks and self.saved_names:
            self._saved = tuple([self._pack(t, i) for i, t in enumerate(self._saved)])
        if anomaly.enabled:
            import traceback  # not above: few programs need it, and all would wait for it

            frames = [(f, n) for f, n in traceback.walk_stack(None)
                      if not f.f_globals.get("__name__", "").startswith(("minigrad", "numpy"))]
            self.metadata["traceback_"] = traceback.StackSummary.extract(reversed(frames)).format()
            if anomaly.running is not None:
                self.metadata["parent_"] = anomaly.running

    def name(self) -> str:
        """PyTorch's name of the node, for example ``MulBackward0``."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def __lt__(self, other: Node) -> bool:
        return False        # nodes of one number are equal in the engine's heap: which comes first is the heap's affair, as in PyTorch

    def _sequence_nr(self) -> int:
        return self._number

    def _set_sequence_nr(self, number: int) -> None:
        self._number = number

    @property
    def metadata(self) -> dict:
        """A dictionary for the user; anomaly mode keeps the forward traceback here."""
        return self.__dict__.setdefault("metadata", {})

    # What a node remembers ------------------------------------------------------------------------------------------

    def remember(self, tensors: tuple) -> None:
        """Save tensors for the backward pass, with the versions they have now."""
        self._versions = tuple([version_of(t) for t in tensors])
        self._saved = tuple([self._pack(t, i) for i, t in enumerate(tensors)]) if saved_hooks else tensors

    def remember_result(self, i: int, tensor: Any) -> None:
        """Save the result of an in-place operation, as it is after the write."""
        saved, versions = list(self._saved), list(self._versions)
        saved[i], versions[i] = self._pack(tensor, i), tensor._storage.version
        self._saved, self._versions = tuple(saved), tuple(versions)

    def _pack(self, value: Any, i: int, own: tuple[Callable, Callable] | None = None) -> Any:
        """Give a saved value to the pack hook in force (or to its own), if there is one and the value is a tensor."""
        if isinstance(value, tuple):
            return tuple(self._pack(v, i, own) for v in value)
        if not (own or saved_hooks) or not hasattr(value, "_storage"):
            return value
        pack, unpack = own or saved_hooks[-1]
        output_nr = self.saved_outputs[i]
        if output_nr is not None:
            edge = None, output_nr      # None: this node; no cycle
        else:
            edge = value._edge or next((e for e in self.next_functions if getattr(e[0], "variable", None) is value), None)
        version = value._storage.version
        packed = _without_grad(pack, value.detach() if own else value)
        if value._storage.version != version:
            raise RuntimeError(reasons.PACK_WRITES)
        return Packed(packed, unpack, edge, value.requires_grad)

    def unpack(self, i: int, graph: bool, shown: bool = False) -> Any:
        """Saved tensor `i` after the version check: a Tensor if `graph`, else its ndarray; `shown`: for the user to look at."""
        value, version = self._saved[i], self._versions[i]
        if isinstance(value, tuple):
            return tuple(self._unpack(i, v, n, graph, shown) for v, n in zip(value, version, strict=True))
        return self._unpack(i, value, version, graph, shown)

    def _unpack(self, i: int, value: Any, version: int, graph: bool, shown: bool) -> Any:
        if isinstance(value, Packed):
            self.alike = False              # what a user's hook gives may look like anything
            value = value.tensor(self)
            return value if graph else value.array
        if not hasattr(value, "_storage"):
            return value                                  # None, or a Python number in a tensor's place
        if value._node is None and value._detached > self._number and not shown:
            raise RuntimeError(reasons.SAVED_DETACHED)
        if value._storage.version != version:
            raise self._version_error(i, value, version, shown)
        if not graph:
            return value.array
        output_nr = self.saved_outputs[i]
        return value if output_nr is None else value._as_output(self._maker(), output_nr)

    def _maker(self) -> Node:
        """The node that its saved result comes from: its own, or that of the view that it wrote into, while that exists."""
        return self._written and self._written() or self

    def _refuse_freed(self) -> None:
        """Raise if what was freed was ever saved."""
        if any(version is not None for version in self._versions):
            raise self._freed_error()
        self._saved = self._versions

    def _freed_error(self) -> RuntimeError:
        error = RuntimeError(reasons.FREED)
        error.add_note(reasons.backward_twice(type(self).__name__))
        return error

    def _version_error(self, i: int, tensor: Any, version: int, shown: bool = False) -> RuntimeError:
        storage, output_nr = tensor._storage, self.saved_outputs[i]
        made_by = (self._maker(), output_nr) if output_nr is not None else tensor.grad_fn and tensor._edge
        if made_by is None and shown and tensor._detached > self._number:
            made_by = (self, 0)         # PyTorch takes the node that is asked for the one that made the tensor
        which = f", which is output {made_by[1]} of {forward_name(made_by[0])}," if made_by is not None else ""
        kind = "CPUBoolType" if tensor.array.dtype == bool else tensor.type()
        error = RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{kind} {list(tensor.shape)}]{which} is at version {storage.version}; expected version {version} instead. Hint: " +
            (reasons.HINT_ANOMALY if anomaly.enabled else reasons.HINT_NO_ANOMALY))
        error.add_note(reasons.wrote_in_place(self.name(), self.saved_names[i], version, storage.version, storage.writer))
        return error

    def __init_subclass__(cls) -> None:
        """Give the class ``_saved_<name>`` for what its nodes remember. (A ``__getattr__`` would make every other attribute slow.)"""
        for i, name in enumerate(cls.saved_names):
            setattr(cls, f"_saved_{name}", property(lambda node, i=i: node._shown(i)))
            setattr(cls, f"_raw_saved_{name}", property(lambda node, i=i: SavedTensor(node, i)))
        for i, name in enumerate(cls.attribute_names):
            if not name.startswith("_"):
                setattr(cls, f"_saved_{name}", property(lambda node, i=i: node._attributes[i]))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name != "_saved"]     # where one looks for what begins with it

    def _remembered(self) -> tuple[str, ...]:
        """The names of what it remembers and shows."""
        return tuple(n for n in self.saved_names + self.attribute_names if not n.startswith("_"))

    def _shown(self, i: int) -> Any:
        """Saved tensor `i` for the user to look at."""
        if self._versions[i] is None:       # never saved, so never freed
            return None
        if self._saved is None:
            raise self._freed_error()
        return self.unpack(i, True, shown=True)

    # Hooks ----------------------------------------------------------------------------------------------------------

    def _own_hooks(self) -> Hooks:
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran; it may return new grad_inputs."""
        return RemovableHandle(self._own_hooks().post, hook)

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before this node runs; it may return new grad_outputs."""
        return RemovableHandle(self._own_hooks().pre, hook)

    def __call__(self, *grads: Any) -> Any:
        """Run this one node by hand on gradients of its outputs; nothing is freed, no hook is called.

        Raises
        ------
        TypeError
            "expected 1 arguments, got 0 instead", "argument 0 is not a Variable"
        """
        expected = len(self.shape) if self.several else 1
        check(len(grads) == expected, lambda: f"expected {expected} arguments, got {len(grads)} instead", TypeError)
        for i, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "array"):
                raise TypeError(f"argument {i} is not a Variable")
        outs = tuple(self.apply(list(grads) if len(grads) > 1 else grads[0], True, self._next))
        return outs[0] if len(outs) == 1 else outs

    def apply(self, grad: Any, graph: bool, nodes: Sequence[Node | None]) -> Iterable:
        """Turn the gradient of the output (a list, if there are several outputs) into those of the inputs, one per edge.

        `nodes` are the nodes that follow, None where nothing is wanted; `graph` says whether gradients are Tensors, to be recorded.
        """
        raise NotImplementedError


def forward_name(node: Node) -> str:
    """A node's name in PyTorch's error texts, by its forward operation: ``MulBackward0`` is ``Mul`` there, ``PowBackward2`` ``Pow2``."""
    return re.sub(r"Backward0?(\d*)$", r"\1", node.name())


class AccumulateGrad(Node):
    """The end of a branch: adds what arrives to ``variable.grad``. One per leaf, kept alive by the graphs that use it."""

    __slots__ = ("variable",)
    __module__ = "builtins"

    def __init__(self, variable: Any) -> None:
        super().__init__((), variable.array)
        self._number = LAST_SEQUENCE_NR
        self.variable = variable
        if variable._hooks is not None:
            self._own_hooks().tensor[0] = variable._hooks

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def apply(self, grad: Any, graph: bool, nodes: Sequence[Node | None]) -> Iterable:
        variable = self.variable
        if grad is not None:
            if variable._node is not None:          # its flag was switched off, and then it was written in place
                raise RuntimeError("leaf variable has been moved into the graph interior")
            if variable.requires_grad:              # the flag may have been switched off since
                variable._accumulate(grad)
        hooks, returned = variable._post_hooks, variable
        for hook in list(hooks.values()) if hooks else ():      # in any case, as in PyTorch
            result = hook(returned)
            if result is not None and result is not returned:
                check_hook_result(hook, returned, result)
                returned = result
        if returned is not variable:
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        return ()


class _Anomaly:
    """Anomaly mode: nodes keep the traceback of their forward call, backward looks for NaN."""

    def __init__(self) -> None:
        self.enabled, self.check_nan = False, True
        self.running: Node | None = None        # the node whose backward pass is being recorded: what induces a new node


class _Special:
    """Whether a new node has more to do than usual: one test for every mode that is off nearly always."""

    def __init__(self) -> None:
        self.active = False
        self.exchanged = False      # was a tensor's .data exchanged for one of another shape or dtype? Then no gradient is sure to be alike

    def update(self) -> None:
        self.active = bool(saved_hooks or anomaly.enabled)


anomaly, special = _Anomaly(), _Special()

# Saved-tensor hooks: a stack of (pack, unpack) pairs, set by autograd.graph.saved_tensors_hooks.
saved_hooks: list[tuple[Callable, Callable]] = []


def version_of(value: Any) -> Any:
    """The version a value has as it is saved."""
    if value is None:
        return None
    if isinstance(value, tuple):                     # several tensors under one name: the indices of x[i, j]
        return tuple(version_of(v) for v in value)
    storage = getattr(value, "_storage", None)       # a Python number in a tensor's place has none
    if storage is None:
        return 0
    if value._inference and not state.inference:
        raise RuntimeError(reasons.INFERENCE_SAVE)
    return storage.version


class SavedTensor:
    """What a node remembers under one name, still packed: ``y.grad_fn._raw_saved_self``."""

    def __init__(self, node: Node, i: int) -> None:
        self._node, self._i = node, i

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Pack it now, with hooks of its own.

        Raises
        ------
        RuntimeError
            If it was freed, is packed already, or nothing was saved.
        """
        node, i = self._node, self._i
        if node._saved is None:
            raise RuntimeError(reasons.HOOKS_AFTER_FREED)
        if node._saved[i] is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if isinstance(node._saved[i], Packed):
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. "
                               "Hint: only one pair of hooks is allowed at a time.")
        saved = list(node._saved)
        saved[i] = node._pack(saved[i], i, (pack_hook, unpack_hook))
        node._saved = tuple(saved)


class Packed:
    """What a pack hook returned in place of a saved tensor, where that tensor stood in the graph, and its flag."""

    __slots__ = ("value", "unpack", "edge", "requires_grad")

    def __init__(self, value: Any, unpack: Callable, edge: Edge | None, requires_grad: bool) -> None:
        self.value, self.unpack, self.edge, self.requires_grad = value, unpack, edge, requires_grad

    def tensor(self, node: Node) -> Any:
        tensor = _without_grad(self.unpack, self.value)
        check(hasattr(tensor, "array"), lambda: "Output of saved tensor unpack_hook expected to be a Tensor but got "
              f"result of type {reasons.type_name(tensor)}", TypeError)
        maker, output_nr = self.edge or (None, None)
        if output_nr is not None and not isinstance(maker, AccumulateGrad):
            return tensor._as_output(maker or node._maker(), output_nr)
        tensor = tensor.data
        tensor._requires_grad = self.requires_grad
        if maker is not None:       # None: no leaf of the graph, or a view made under no_grad, whose gradient goes nowhere
            tensor._accumulator = weakref.ref(maker)
        return tensor


def _without_grad(function: Callable, argument: Any) -> Any:
    before = state.enabled
    state.set(False)
    try:
        return function(argument)
    finally:
        state.set(before)


class HookDict(dict):
    """Hooks by number of registration, in that order; weakly referable, so that a handle keeps nothing alive."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """What registering a hook returns: ``remove()`` takes the hook away; also a context manager."""

    _ids = itertools.count()

    def __init__(self, hooks: HookDict, hook: Callable) -> None:
        self._hooks, self.id = weakref.ref(hooks), next(self._ids)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Hooks:
    """The hooks of one node, in the order in which they run: tensor, retained gradients, pre, (the node), post."""

    __slots__ = ("tensor", "retain", "pre", "post")

    def __init__(self) -> None:
        self.tensor: dict[int, HookDict] = {}             # by output number: Tensor.register_hook
        self.retain: dict[int, weakref.ref] = {}          # by output number: the tensor that keeps its .grad
        self.pre, self.post = HookDict(), HookDict()      # Node.register_prehook, Node.register_hook

    def before(self, grads: list, wrap: Callable) -> list:
        """Run what comes before the node, on one gradient per output; also for a tensor whose gradient is only captured."""
        for output_nr, hooks in self.tensor.items():
            for hook in list(hooks.values()):
                old = grads[output_nr]
                if old is not None:
                    old = grads[output_nr] = wrap(old)
                new = hook(old)         # also if no gradient has arrived: with None
                if new is not None:
                    check_hook_result(hook, old, new)
                    grads[output_nr] = new
        for output_nr, reference in self.retain.items():
            tensor = reference()
            if tensor is not None and grads[output_nr] is not None:
                grad = wrap(grads[output_nr])
                tensor._grad = grad.clone(memory_format=contiguous_format) if tensor._grad is None else tensor._grad + grad
        return grads


def check_hook_result(hook: Callable, old: Any, new: Any) -> None:
    """A hook may replace a gradient by one of the same dtype and shape.

    Raises
    ------
    TypeError, RuntimeError
        With PyTorch's text.
    """
    name = getattr(hook, "__name__", type(hook).__name__)
    check(old is not None, "can't replace a None gradient with a non-None value")
    check(hasattr(new, "array"), lambda: f"expected Variable, but hook returned '{reasons.type_name(new)}'", TypeError)
    if new.array.dtype != old.array.dtype:
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {old.type()} got {new.type()})")
    check(new.array.shape == old.array.shape, lambda: f"hook '{name}' has changed the size of value")


def check_hook_results(hook: Callable, old: list, new: Any) -> list:
    """The same for a node's hook, which returns a tuple."""
    name = getattr(hook, "__name__", type(hook).__name__)
    check(isinstance(new, tuple), lambda: f"expected tuple, but hook returned '{reasons.type_name(new)}'", TypeError)
    if len(new) != len(old):
        raise RuntimeError(f"hook '{name}' has returned an incorrect number of values (got {len(new)}, but expected {len(old)})")
    for a, b in zip(old, new, strict=True):
        if b is not None:
            check_hook_result(hook, a, b)
    return list(new)


