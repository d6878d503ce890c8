"""Run the graph backward: order, add up, fit to each edge, call hooks.

Gradients travel as ndarrays, or as Tensors when ``create_graph`` asks for a graph of the backward pass itself; this module
needs ``+``, a shape and a dtype of them. It knows no operation, and nothing of pictures.
"""
from __future__ import annotations

import functools
import itertools
import threading
import warnings
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from sys import getrefcount
from typing import Any

import numpy as np

from . import grad_mode
from .graph import AccumulateGrad, Edge, Hooks, Node, anomaly, check_hook_results, special

IN_PLACE_FROM = 512    # below so many elements adding into an array costs more than making a new one


def _references_of_one_name() -> int:
    array = np.empty(0)
    return getrefcount(array)


ONE_NAME = _references_of_one_name()    # what sys.getrefcount says of an array that one local name holds: 2, or 1 from 3.14


LONGEST = 4096      # a longer sum in float32 is left to NumPy, which adds in pairs and loses fewer digits


@functools.lru_cache(64)
def _ones(size: int, dtype: np.dtype) -> np.ndarray:
    return np.ones(size, dtype)


@functools.lru_cache(4096)
def _summed_axes(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which `target` was broadcast to `shape`."""
    lead = len(shape) - len(target)
    return (*range(lead), *(i for i, size in enumerate(target, lead) if size == 1 and shape[i] != 1))


def sum_to_size(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Undo broadcasting: sum an array down to the shape that was broadcast to it."""
    axes = _summed_axes(array.shape, shape)
    if array.ndim == 2 and len(axes) == 1 and array.shape[axes[0]] <= LONGEST and array.dtype.char in "fd" and array.flags.forc:
        ones = _ones(array.shape[axes[0]], array.dtype)         # the sums of a matrix are a product: twice as fast
        total = array @ ones if axes[0] else ones @ array
        return total if len(shape) == 1 else total.reshape(shape)
    return np.add.reduce(array, axis=axes).reshape(shape)


def can_sum_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `target` broadcasts to `shape`."""
    return len(target) <= len(shape) and all(
        t in (1, s) for s, t in zip(reversed(shape), reversed(target), strict=False))


def fit(grad: Any, shape: tuple, dtype: np.dtype, node: Node, outs: Iterable) -> Any:
    """Make a gradient look like the tensor it belongs to: once, for every operation.

    Raises
    ------
    RuntimeError
        "Function … returned an invalid gradient at index …"
    """
    array = grad if isinstance(grad, (np.ndarray, np.generic)) else grad.array
    is_array = array is grad
    if array.shape != shape:
        if array.shape[1:] != shape and not can_sum_to(array.shape, shape):
            i = next(i for i, out in enumerate(outs) if out is grad)
            raise RuntimeError(f"Function {node.name()} returned an invalid gradient at index {i} - got {list(array.shape)} "
                               f"but expected shape compatible with {list(shape)}")
        grad = sum_to_size(grad, shape) if is_array else grad.sum_to_size(shape)
    if array.dtype != dtype:
        grad = grad.astype(dtype) if is_array else grad._cast(dtype)
    return grad


def _plan(roots: Iterable[Node], wanted: set[Node] | None) -> tuple[dict[Node, int], set[Node] | None]:
    """Count, for every node that the roots reach, the edges that lead to it; and find the nodes that lead to `wanted`."""
    pending = dict.fromkeys(roots, 0)
    stack = list(pending)
    while stack:
        node = stack.pop()
        for child in node._next:
            if child is None:
                continue
            if child in pending:
                pending[child] += 1
            else:
                pending[child] = 1
                stack.append(child)
    if wanted is None:
        return pending, None
    parents: dict[Node, list[Node]] = {}
    for node in pending:
        for child in node._next:
            parents.setdefault(child, []).append(node)
    needed: set[Node] = set()
    stack = [p for node in wanted if node is not None for p in parents.get(node, ())]      # None: of a view that has no history
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(parents.get(node, ()))
    return pending, needed


class Pass:
    """A backward pass under way: which nodes it runs, and the gradients that have arrived at them.

    Attributes
    ----------
    pending : dict of node to int
        For every node that the roots reach: from how many edges a gradient may still come.
    needed : set of nodes or None
        The nodes that lead to what is asked for; None: all.
    positions : dict of node to list of (output number, place in the answer)
        The nodes whose gradients are asked for.
    start : Node or None
        A single root: its tensor's hooks are called even if it leads nowhere. Several roots are one node's children, as others are.
    buffers : dict of node to gradient
        What has arrived: one gradient, or a list if the node has several outputs.
    """

    def __init__(self, roots: list[tuple[Edge, Any]], capture: list[Edge] | None, accumulate: bool, create_graph: bool) -> None:
        self.number, self.create_graph = next(pass_numbers), create_graph
        self.positions: dict[Node, list[tuple[int, int]]] = {}
        for place, (node, output_nr) in enumerate(capture or ()):
            self.positions.setdefault(node, []).append((output_nr, place))
        self.captured: list[Any] = [None] * len(capture or ())
        nodes = [node for (node, _), _ in roots]
        self.pending, self.needed = _plan(nodes, None if capture is None else set(self.positions))
        if self.needed is not None and accumulate:
            self.needed |= set(self.positions)
        self.start = nodes[0] if len(nodes) == 1 else None
        self.buffers: dict[Node, Any] = {}
        self.owned: set[Node] = set()       # nodes whose buffer we made by adding: safe to add into
        self.ready: list[tuple[int, Node]] = []     # a heap; accumulators share one number, and leave it in the order that comes of that
        for i, ((node, output_nr), grad) in enumerate(roots):
            shape, _ = node.expects(output_nr)
            if not can_sum_to(grad.shape, shape):      # .data of the root was exchanged
                raise RuntimeError(f"invalid gradient at index {i} - got {list(grad.shape)} but expected shape compatible with "
                                   f"{list(shape)}")
            self.add(node, output_nr, grad)
        for node in self.buffers:
            if not self.pending[node]:
                self.schedule(node)

    def add(self, node: Node, output_nr: int, grad: Any) -> None:
        """Put a gradient where others of its node are, or will be."""
        buffers = self.buffers
        if node.several:
            slots = buffers.setdefault(node, [None] * len(node.shape))
            slots[output_nr] = grad if slots[output_nr] is None else slots[output_nr] + grad
        elif node not in buffers:
            buffers[node] = grad
        elif node in self.owned and not self.create_graph and grad.size >= IN_PLACE_FROM:
            np.add(buffers[node], grad, out=buffers[node])
        else:
            buffers[node] = buffers[node] + grad
            self.owned.add(node)

    def schedule(self, node: Node) -> None:
        """Line up a node that has got everything: the one created last runs first."""
        heappush(self.ready, (-node._number, node))

    def meet(self, node: Node, grad: Any, wrap: Callable) -> tuple[bool, list]:
        """Let a node's hooks see and change what has arrived, and keep what is asked for; say whether the node itself runs."""
        runs = self.needed is None or node in self.needed
        if not runs and node not in self.positions and node is not self.start:
            return False, []
        if grad is None and node.several:
            grad = [None] * len(node.shape)
        grads = arrived = grad if node.several else [grad]
        hooks = node.hooks
        if hooks is not None:
            grads = hooks.before(list(arrived), wrap)
            if hooks.pre and runs:
                grads = _run_prehooks(hooks, grads, wrap)
            grads = _strip(grads, self.create_graph)
        # As in PyTorch: what its hooks made of a gradient is captured only if the node does not run itself.
        for output_nr, place in self.positions.get(node, ()):
            self.captured[place] = (arrived if runs else grads)[output_nr]
        return runs, grads

    def wanted(self, node: Node) -> tuple[Node | None, ...]:
        """The nodes that follow, None where nothing leads on to what is asked for."""
        return tuple([child if child in self.needed or child in self.positions else None for child in node._next])

    def will_run(self, node: Node) -> bool:
        """Whether the pass goes on to a node: a single root, where it begins, is no such node.

        Raises
        ------
        RuntimeError
            For a leaf of ``autograd.grad``: "A leaf node was passed to _will_engine_execute_node …"
        """
        if node not in self.pending or node is self.start:
            return False
        if self.needed is None or node in self.needed:
            return True
        if node in self.positions and node.__class__ is AccumulateGrad:
            raise RuntimeError("A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). "
                               "This is currently not supported.")
        return node in self.positions


class _Passes(threading.local):
    """The backward passes that are under way in this thread, the innermost last."""

    def __init__(self) -> None:
        self.running: list[Pass] = []


passes = _Passes()
pass_numbers = itertools.count()


def current_pass() -> Pass:
    """The backward pass under way."""
    return passes.running[-1]


def run_backward(roots: list[tuple[Edge, Any]], *, wrap: Callable[[Any], Any], retain_graph: bool = False,
                 create_graph: bool = False, capture: list[Edge] | None = None, accumulate: bool = True) -> list[Any]:
    """Send gradients from the roots through the graph.

    A node runs once, when all gradients that can reach it have arrived; among ready nodes the one created last runs first,
    and an `AccumulateGrad` before all others.

    Parameters
    ----------
    roots : list of (edge, gradient)
        Where to start, with ndarrays (Tensors if `create_graph`).
    wrap : callable
        Makes a Tensor of an ndarray, for hooks.
    capture : list of edges, optional
        Run only what leads to these, and return the gradient that arrives at each (None: nothing arrived).
    accumulate : bool
        Whether captured leaves still add to their ``.grad``.

    Raises
    ------
    RuntimeError
        What a node raises: freed or overwritten tensors, invalid gradients of a custom Function.
    """
    this = Pass(roots, capture, accumulate, create_graph)
    pending, needed, buffers, ready = this.pending, this.needed, this.buffers, this.ready
    before, check_nan = grad_mode.state.enabled, anomaly.enabled and anomaly.check_nan
    passes.running.append(this)
    node = None
    try:
        grad_mode.state.set(create_graph)       # in here, so that an interrupt cannot come between
        while node is not None or ready:
            if node is None:
                node = heappop(ready)[1]
            grad, nodes, hooks = buffers.pop(node, None), node._next, node.hooks
            if hooks is not None or needed is not None:
                runs, grads = this.meet(node, grad, wrap)
                if not runs:
                    node = None
                    continue
                if hooks is not None:
                    grad = grads if node.several else grads[0]
                if needed is not None:
                    nodes = this.wanted(node)
            if anomaly.enabled:
                anomaly.running = node
            outs = node.apply(grad, create_graph, nodes)
            fitted = create_graph or hooks is not None and hooks.post   # in a graph it shows that all are made to fit before one is added
            if fitted:
                outs = [out if out is None or child is None else fit(out, *child.expects(output_nr), node, outs)
                        for (child, output_nr), out in zip(node.next_functions, outs)]
            if hooks is not None and hooks.post:
                outs = _run_posthooks(hooks, outs, grads, wrap, create_graph)
            only = None         # the one node that became ready: it need not go through the heap if it is next anyway
            alike, shape, dtype, place = node.alike and hooks is None and not special.exchanged, node.shape, node.dtype, -1
            for child in node._next:
                place += 1          # enumerate and zip would cost a tenth of the pass
                if child is None:
                    continue
                out = outs[place]
                if out is not None and not alike:
                    shape, dtype = out.shape, out.dtype
                if out is not None and (shape != child.shape or dtype is not child.dtype):
                    output_nr = node._next_nrs[place] if node._next_nrs else 0
                    if not fitted:
                        out = fit(out, *child.expects(output_nr), node, outs)
                    if child.several:       # its `shape` is that of no array: all of them come here
                        this.add(child, output_nr, out)
                        out = None
                if out is not None:
                    sum_so_far = buffers.get(child)
                    if sum_so_far is not None:
                        if create_graph or out.size < IN_PLACE_FROM:
                            buffers[child] = sum_so_far + out
                        else:
                            this.add(child, 0, out)
                    else:
                        # A leaf keeps what it gets: give it an array that nobody else holds. A view will do if what it
                        # looks into came into being for it alone, as the gradient of weight.t() does.
                        if child.__class__ is AccumulateGrad and not create_graph and (
                                out is grad or node.several or hooks is not None or node.may_alias or out.base is not None and
                                not (getrefcount(grad) == ONE_NAME and getrefcount(out.base) == 2 + (grad.base is out.base))):
                            out = out.copy("K")
                        buffers[child] = out
                left = pending[child] = pending[child] - 1
                if not left and (needed is None or child in needed or child in this.positions):
                    if only is not None:
                        this.schedule(only)
                    only = child
            if not retain_graph and node._saved:        # not before its gradients have been found to fit
                node._saved = None
            if check_nan:
                _check_nan(node, outs)
            if only is not None and ready and (len(ready) > 1 or ready[0][0] <= -only._number):
                this.schedule(only)
                only = None
            node = only
    except Exception:
        if anomaly.enabled and node is not None:
            _warn_of_error(node)
        raise
    finally:
        anomaly.running = None
        passes.running.pop()
        grad_mode.state.set(before)
    return this.captured


def _strip(grads: Iterable, create_graph: bool) -> list:
    """Back from Tensors to ndarrays, unless a graph is wanted."""
    return list(grads) if create_graph else [getattr(g, "array", g) for g in grads]


def _run_prehooks(hooks: Hooks, grads: list, wrap: Callable) -> list:
    grads = [None if g is None else wrap(g) for g in grads]
    for hook in list(hooks.pre.values()):
        new = hook(tuple(grads))
        if new is not None:
            grads = check_hook_results(hook, grads, new)
    return grads


def _run_posthooks(hooks: Hooks, outs: Iterable, grads: list, wrap: Callable, create_graph: bool) -> list:
    outs = [None if g is None else wrap(g) for g in outs]
    received = tuple(None if g is None else wrap(g) for g in grads)
    for hook in list(hooks.post.values()):
        new = hook(tuple(outs), received)
        if new is not None:
            outs = check_hook_results(hook, outs, new)
    return _strip(outs, create_graph)


def _check_nan(node: Node, outs: Iterable) -> None:
    for i, out in enumerate(outs):
        if out is not None and np.isnan(getattr(out, "array", out)).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def _warn_of_error(node: Node) -> None:
    """In anomaly mode: where the forward call was whose backward pass failed, and what induced that call."""
    lines = node.metadata.get("traceback_")
    if lines is None:
        told = "No forward pass information available. Enable detect anomaly during forward pass for more information."
    else:
        told = "Traceback of forward call that caused the error:\n" + "".join(lines)
    warnings.warn(f"Error detected in {node.name()}. {told}", stacklevel=5)
    while (node := node.metadata.get("parent_")) is not None:
        warnings.warn(f"\n\nPrevious calculation was induced by {node.name()}. Traceback of forward call that induced the previous "
                      "calculation:\n" + "".join(node.metadata.get("traceback_", ())), stacklevel=5)
