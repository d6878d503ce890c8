"""``torch.autograd.graph``: hooks on what is saved, on several tensors at once, and edges of the graph as objects."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import graph as _graph
from ..engine import will_run
from ..graph import Edge, Node, RemovableHandle
from ..tensor import Tensor, gradient_edge

__all__ = ["saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook", "GradientEdge",
           "get_gradient_edge", "increment_version", "Node"]


class GradientEdge(NamedTuple):
    """A place in the graph: what `backward` and `grad` accept in place of a tensor."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which a tensor's gradient travels.

    Raises
    ------
    RuntimeError
        "It is not possible to get the gradient edge for a Tensor that does not require gradients"
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = GradientEdge(*gradient_edge(tensor))
    if edge.node is None:       # a view made under no_grad requires grad as its base does, but has no history
        raise AssertionError("Expected gradient function to be set")
    return edge


def edge_of(value: Tensor | GradientEdge) -> Edge:
    """The edge of a tensor, or the edge itself."""
    return tuple(value) if isinstance(value, GradientEdge) else gradient_edge(value)


class saved_tensors_hooks:
    """Inside, every tensor saved for backward goes through `pack_hook`, and comes back through `unpack_hook`."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self._pair = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if disabled:
            raise RuntimeError(disabled[-1])
        _graph.saved_hooks.append(self._pair)
        _graph.special.update()

    def __exit__(self, *exc: object) -> None:
        _graph.saved_hooks.pop()
        _graph.special.update()


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU; here everything is there already, so nothing is copied."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cpu") -> None:
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


disabled: list[str] = []


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, `saved_tensors_hooks` raises the given error."""
    if _graph.saved_hooks:
        raise RuntimeError(error_message)
    disabled.append(error_message)
    try:
        yield
    finally:
        disabled.pop()


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write that the engine could not see."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t._storage.bump()


class _Handles:
    """Several handles as one."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        """Take all the hooks away."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> _Handles:
    """Call ``fn`` with the gradients of several tensors when all have been computed, or (``mode="any"``) with the first.

    Raises
    ------
    ValueError
        Unless `mode` is "all" or "any".
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock, seen = threading.Lock(), {}
    nodes = [gradient_edge(t)[0] for t in tensors]
    if None in nodes:
        raise AssertionError("Expected gradient function to be set")

    def collect(i: int) -> Callable:
        def hook(grad: Tensor) -> None:
            with lock:
                first, seen[i] = not seen, grad
                due = first if mode == "any" else len(seen) == sum(will_run(node) for node in nodes)
                grads = [seen.get(k) for k in range(len(tensors))]
                if due and mode == "all":
                    seen.clear()
            if due:
                fn(grad if mode == "any" else grads)
        return hook

    return _Handles([t.register_hook(collect(i)) for i, t in enumerate(tensors)])
