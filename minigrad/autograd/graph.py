"""``torch.autograd.graph``: hooks on what is saved, on several tensors at once, and edges of the graph as objects."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import graph as _graph
from ..engine import current_pass
from ..grad_mode import enable_grad
from ..graph import Edge, Node, RemovableHandle
from ..reasons import check
from ..tensor import Tensor, gradient_edge

__all__ = ["saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook", "GradientEdge",
           "get_gradient_edge", "increment_version", "Node"]


class GradientEdge(NamedTuple):
    """A place in the graph: what `backward` and `grad` accept in place of a tensor."""

    node: Node
    output_nr: int
    ownership_token: Any = None     # PyTorch's, for nodes that belong to a tensor in C++


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which a tensor's gradient travels.

    Raises
    ------
    RuntimeError
        "It is not possible to get the gradient edge for a Tensor that does not require gradients"
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(_gradient_node(tensor), tensor.output_nr)


def edge_of(value: Tensor | GradientEdge) -> Edge:
    """The edge of a tensor, or the edge itself."""
    return value[:2] if isinstance(value, GradientEdge) else gradient_edge(value)


class saved_tensors_hooks:
    """Inside, every tensor saved for backward goes through `pack_hook`, and comes back through `unpack_hook`."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self._pair = pack_hook, unpack_hook

    def __enter__(self) -> None:
        check(not disabled, lambda: disabled[-1])
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
    check(not _graph.saved_hooks, error_message)
    disabled.append(error_message)
    try:
        yield
    finally:
        disabled.pop()


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write that the engine could not see."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t._storage.bump()


class _MultiHandle:
    """Several handles as one."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        """Take all the hooks away."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> _MultiHandle:
    """Call ``fn`` with the gradients of several tensors when all have been computed, or (``mode="any"``) with the first.

    Raises
    ------
    ValueError
        Unless `mode` is "all" or "any".
    """
    check(mode in ("all", "any"), lambda: f"Expects mode to be one of ('all', 'any') but got {mode}", ValueError)
    if mode == "any":
        last = None

        def first_of_a_pass(grad: Tensor) -> None:
            nonlocal last
            if last != current_pass().number:
                last = current_pass().number
                fn(grad)

        return _MultiHandle([t.register_hook(first_of_a_pass) for t in tensors if t.requires_grad])
    nodes = [_gradient_node(t) for t in tensors]
    seen: dict[int, list[Tensor | None]] = {}       # by pass: the gradients that have come
    missing: dict[int, int] = {}                    # by pass: how many are still to come

    def collect(i: int, grad: Tensor) -> None:
        number = current_pass().number
        if number not in seen:
            seen[number], missing[number] = [None] * len(tensors), sum(map(current_pass().will_run, nodes))
        seen[number][i] = grad
        missing[number] -= 1
        if not missing[number]:
            fn(seen.pop(number))

    return _MultiHandle([t.register_hook(functools.partial(collect, i)) for i, t in enumerate(tensors)])


def _gradient_node(tensor: Tensor | GradientEdge) -> Node:
    if isinstance(tensor, GradientEdge):
        return tensor.node
    if tensor.requires_grad and tensor.grad_fn is None:
        with enable_grad():
            node = tensor.view_as(tensor).grad_fn.next_functions[0][0]      # under inference_mode() PyTorch fails here, too
    else:
        node = tensor.grad_fn
    if node is None:            # a view made under no_grad requires grad as its base does, but has no history
        raise AssertionError("Expected gradient function to be set")
    return node
