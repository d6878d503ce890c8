"""What can be seen of the tensors of a program: the same dictionary from PyTorch's and from minigrad's."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

NOISE = re.compile(r"\s*\(Triggered internally at [^)]*\)| at 0x[0-9a-f]+|\s*Exception raised from .*", re.DOTALL)
_saved_names: dict[type, list[str]] = {}


def error_text(error: BaseException) -> str:
    """Type and text of an exception, without what differs from run to run."""
    return f"{type(error).__name__}: {NOISE.sub('', str(error)).rstrip()}"


def attempt(get: Callable[[], Any]) -> Any:
    """What `get` returns, or the text of what it raised."""
    try:
        return get()
    except Exception as error:
        return error_text(error)


def is_tensor(value: Any) -> bool:
    return hasattr(value, "untyped_storage")


def array_of(tensor: Any) -> np.ndarray:
    """A copy of the elements."""
    if hasattr(tensor, "array"):
        return tensor.array.copy()
    try:
        return tensor.detach().numpy().copy()
    except RuntimeError:                    # PyTorch's zero gradients have no memory until they are copied
        return tensor.detach().clone().numpy()


def plain(value: Any) -> Any:
    """A value that a hook received."""
    if is_tensor(value):
        return {"value": array_of(value), "requires_grad": value.requires_grad}
    if isinstance(value, float):
        return np.array(value)              # compared as the elements of tensors are
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else repr(value)


def address(tensor: Any) -> int:
    """Where the tensor's memory begins."""
    try:
        return tensor.untyped_storage().data_ptr()
    except RuntimeError:                    # the same zero gradients
        return 0


class _Look:
    """One look at all tensors: gives tensors, storages and nodes names, so that identity can be compared."""

    def __init__(self, tensors: dict[str, Any], gradients: list[Any], made_in_backward: list[range]) -> None:
        self.gradients, self.made_in_backward = gradients, made_in_backward
        self.tensor_names: dict[int, str] = {}
        self.storage_names: dict[int, str] = {}
        self.bases: list[Any] = []
        self.node_names: dict[int, str] = {}
        self.queues: dict[str, list[Any]] = {"n": [], "second": []}
        self.leaf_grads: set[str] = set()
        self.inference = any(t.is_inference() for t in tensors.values())
        for name, tensor in tensors.items():
            self.tensor_names.setdefault(id(tensor), name)
            self.storage(tensor, name)

    def storage(self, tensor: Any, new_name: str | None = None) -> str | None:
        """The name of the first tensor on the same memory."""
        if not tensor.numel():
            return None
        begin = address(tensor)
        return self.storage_names.setdefault(begin, new_name) if new_name else self.storage_names.get(begin)

    def tensor(self, t: Any, name: str) -> dict[str, Any]:
        grad_fn = attempt(lambda: t.grad_fn)
        grad = attempt(lambda: t.grad)
        if grad_fn is None:
            self.leaf_grads.add(f"{name}.grad")
        return {
            "value": array_of(t), "requires_grad": t.requires_grad, "is_leaf": attempt(lambda: t.is_leaf),
            "grad_fn": grad_fn if isinstance(grad_fn, str) else self.node(grad_fn), "output_nr": t.output_nr,
            "_version": self.version(t), "_base": self.base(t._base), "retains_grad": t.retains_grad,
            "storage": None if self.is_free(t, name) else self.storage(t, name),
            "stride": None if self.is_free(t, name) else [s for s, n in zip(t.stride(), t.shape) if n > 1],
            "storage_offset": None if self.is_free(t, name) else t.storage_offset(),
            "name": self.tensor_names.get(id(t)),
            "grad": self.tensor(grad, f"{name}.grad") if is_tensor(grad) else grad}

    def first_version(self, t: Any) -> int | None:
        """The version that the gradient in this memory had when a backward pass made it; None for other memory."""
        begin = address(t)
        return next((version for gradient, version in self.gradients
                     if address(gradient) == begin), None)

    def version(self, t: Any) -> int | str | None:
        """The version; of a gradient, counted from its making, since it depends on how the gradient was added up."""
        if t.is_inference():
            return attempt(lambda: t._version)
        if self.inference:          # what a copy of an inference tensor counts depends on how it is made
            return None
        first = self.first_version(t)
        if first is None:
            first = 0
        elif not any(t is g or t._base is not None and (t._base is g or t._base is g._base) for g, _ in self.gradients):
            return None             # an alias: detach() shares the gradient's count, .data does not, and nothing tells which it is
        return None if not t.numel() else t._version - first if t._version >= first else t._version     # less: after .data

    def is_free(self, t: Any, name: str) -> bool:
        """Whether no rule says how the tensor lies in memory: it is empty, or a gradient but not the ``.grad`` of a leaf."""
        return t.numel() == 0 or name not in self.leaf_grads and self.first_version(t) is not None

    def base(self, base: Any) -> str | None:
        if base is None or id(base) in self.tensor_names:
            return None if base is None else self.tensor_names[id(base)]
        for i, other in enumerate(self.bases):
            if other is base:
                return f"unnamed {i}"
        self.bases.append(base)
        return f"unnamed {len(self.bases) - 1}"

    def node(self, node: Any) -> str | None:
        if node is None:
            return None
        if id(node) not in self.node_names:
            which = "second" if any(node._sequence_nr() in numbers for numbers in self.made_in_backward) else "n"
            self.node_names[id(node)] = f"{which}{len(self.queues[which])}"
            self.queues[which].append(node)
        return self.node_names[id(node)]

    def nodes(self, which: str) -> dict[str, Any]:
        """The nodes that the program made (n), or the nodes that backward passes made (second)."""
        found = {}
        for node in self.queues[which]:                 # grows while it is walked
            variable = getattr(node, "variable", None)
            saved = {} if variable is not None else {
                n: self.saved(attempt(lambda node=node, n=n: getattr(node, n))) for n in saved_names(node)}
            found[self.node_names[id(node)]] = {
                "name": type(node).__name__, "full name": node.name(),
                "next": [[self.node(n), number] for n, number in node.next_functions],
                "variable": None if variable is None else self.tensor_names.get(id(variable), "unnamed"), "saved": saved}
        return found

    def saved(self, value: Any) -> Any:
        """What a node remembers: tensors in full, of plain values only the type."""
        if is_tensor(value):
            return {"value": array_of(value), "storage": self.storage(value), "requires_grad": value.requires_grad}
        if isinstance(value, (tuple, list)):
            return [self.saved(v) for v in value]
        return value if value is None or isinstance(value, str) and "Error: " in value else type(value).__name__


def saved_names(node: Any) -> list[str]:
    """The ``_saved_*`` attributes of a node, present or freed."""
    if type(node) not in _saved_names:
        names = [f"_saved_{n}" for n in node._remembered()] if hasattr(node, "_remembered") else [
            n for n in dir(node) if n.startswith("_saved_") and n != "_saved_tensors"]
        _saved_names[type(node)] = sorted(n for n in names if n.isidentifier())     # a user's Function numbers them
    return _saved_names[type(node)]


def look(tensors: dict[str, Any], gradients: list[Any], made_in_backward: list[range]) -> dict[str, Any]:
    """Everything observable of named tensors and of the graph behind them.

    `gradients` are pairs (gradient, first version); `made_in_backward` are the sequence numbers of the nodes of backward passes.
    """
    at = _Look(tensors, gradients, made_in_backward)
    # In this order: what only leads through the graph of a backward pass is not numbered among the program's own nodes.
    return {"tensors": {name: at.tensor(t, name) for name, t in tensors.items()}, "nodes": at.nodes("n"),
            "second": at.nodes("second")}
