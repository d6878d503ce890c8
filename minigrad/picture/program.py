"""What a program did, as plain lists: tensors at a stage of their life, calls between them, steps of a backward pass.

Two ways lead here: `walk` reads a graph that exists already, and the recorder (recorder.py) watches a program run. Everything
reads PyTorch's public node protocol (``name()``, ``next_functions``, ``variable``, ``_saved_*``), so real PyTorch graphs do too.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from .model import Card
from .text import LONGEST

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "matmul": "@", "mm": "@", "mv": "@", "dot": "@", "bmm": "@"}
MOST_INLINE = 4          # so many elements of a vector are written out
UNREADABLE = "unreadable"
MOST_WALKED = 100_000    # nodes that are counted before a walk gives up


@dataclass(eq=False)
class Slot:
    """A tensor at one stage of its life: an in-place write ends a stage. `tensor` is None where only the graph knows of it.

    `node` and `output_nr` are where its gradient goes, `card` what it looked like, `ended` the line of the write that ended it,
    `grad_of` the leaf whose ``.grad`` it was.
    """

    tensor: Any
    node: Any = None
    output_nr: int = 0
    name: str = ""
    line: int | None = None
    card: Card | None = None
    ended: int | None = None
    no_grad: bool = False
    grad_of: Slot | None = None


@dataclass(eq=False)
class Call:
    """One operation of the program. `edges` are (node, index, next node, output number, what it belongs to).

    `code` is what the program's text says of it, "" if it cannot be had, and None as long as nobody looked.
    """

    text: str
    code: str | None = None
    would: str = ""
    inputs: list[Slot] = field(default_factory=list)
    outputs: list[Slot] = field(default_factory=list)
    inner: list[Slot] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)
    edges: list[tuple[Any, int, Any, int, Call | Slot]] = field(default_factory=list)
    saved: list[Remembered] = field(default_factory=list)
    cut: bool = False
    inplace: bool = False
    line: int | None = None
    source: str = ""
    block: tuple[int, str] | None = None
    modules: list[Any] = field(default_factory=list)
    hooks: int = 0
    freed: bool = False

    @property
    def node(self) -> Any:
        """The ``grad_fn`` of what comes out, or None."""
        return self.nodes[0] if self.nodes else None


@dataclass
class Remembered:
    """One saved attribute of a node. `text` is the value of a number, or what to call a tensor that no `slot` stands for.

    Of a tensor that was written since, `versions` are the one at which it was saved and the one it has.
    """

    node: Any
    attribute: str
    slot: Slot | None
    text: str
    tensor: bool = True
    versions: tuple[int, int] = (0, 0)


@dataclass(eq=False)
class Step:
    """One node's turn in a backward pass: what it received, what it sent along each edge, as texts and (one element) numbers."""

    node: Any
    run: int
    received: list[str]
    number: float | None = None
    sent: list[str] = field(default_factory=list)
    numbers: list[float | None] = field(default_factory=list)
    slot: Slot | None = None                                     # of an AccumulateGrad: its leaf
    before: str = ""
    after: str = ""
    kept: list[tuple[Slot, str]] = field(default_factory=list)   # retain_grad()
    finished: bool = False


# Tensors -------------------------------------------------------------------------------------------------------------------

def is_tensor(value: Any) -> bool:
    return hasattr(type(value), "requires_grad") and hasattr(type(value), "grad_fn")


def history(tensor: Any) -> tuple[Any, int]:
    """The tensor's ``grad_fn`` and which of its outputs it is; (None, 0) where PyTorch refuses to say.

    It refuses for a view that was made under no_grad and whose base was then written while recording was on.
    """
    try:
        return tensor.grad_fn, tensor.output_nr
    except RuntimeError:
        return None, 0


def version_of(tensor: Any) -> int:
    """The tensor's version; 0 for one that has none, made under inference_mode."""
    try:
        return tensor._version
    except RuntimeError:
        return 0


def is_leaf(tensor: Any) -> bool:
    """Whether the tensor is a leaf; no, where PyTorch refuses to say."""
    try:
        return tensor.is_leaf
    except RuntimeError:
        return False


def named_tensors(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors that names of a program lead to: variables, and the parameters of modules."""
    for name, value in list(namespace.items()):
        if name.startswith("_"):
            continue
        if is_tensor(value):
            yield name, value
        elif hasattr(type(value), "named_parameters"):
            yield from ((f"{name}.{inner}", parameter) for inner, parameter in value.named_parameters())


def named_modules(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The modules that names of a program lead to, and those inside them."""
    for name, value in list(namespace.items()):
        if not name.startswith("_") and hasattr(type(value), "named_modules"):
            yield from ((f"{name}.{inner}" if inner else name, module) for inner, module in value.named_modules())


def printed(tensor: Any) -> str:
    """The value as PyTorch prints it, without ``tensor(…)`` around it."""
    text = " ".join(repr(tensor.detach()).split())
    return re.sub(r"^\w+\((.*?)(, dtype=[\w.]+)?(, size=[^)]*\))?\)$", r"\1", text)


def array_of(tensor: Any) -> np.ndarray:
    """The numbers, also of a tensor on a GPU or in a type that NumPy does not know."""
    tensor = tensor.detach()
    try:
        return tensor.numpy()
    except TypeError:
        return tensor.float().cpu().numpy()


def value_text(tensor: Any) -> tuple[str, str]:
    """A short value inline, of a larger tensor the shape, with mean and standard deviation beside it."""
    if tensor.numel() == 1 or tensor.ndim == 1 and tensor.numel() <= MOST_INLINE:
        return printed(tensor), ""
    array = array_of(tensor)
    stats = f"mean {array.mean():.2g}, std {array.std():.2g}" if array.size and array.dtype.kind == "f" else ""
    return "×".join(map(str, tensor.shape)), stats


def grad_text(grad: Any) -> str:
    """A short gradient inline, a large one's norm; "" for None."""
    if grad is None:
        return ""
    text = printed(grad) if grad.numel() <= MOST_INLINE and grad.ndim <= 1 else ""
    return text if text and len(text) <= LONGEST else f"norm {np.linalg.norm(array_of(grad)):.4g}"


def number(tensor: Any) -> float | None:
    return None if tensor is None or tensor.numel() != 1 else float(tensor.detach().item())


def read(tensor: Any) -> Card:
    """The tensor's card as it is now; ids come later."""
    try:
        value, stats = value_text(tensor)
        readable = tensor.is_leaf or tensor.retains_grad           # PyTorch warns when another tensor's .grad is read
    except RuntimeError:                                           # see `history`
        return Card("", "", UNREADABLE, tensor.requires_grad, False, version=version_of(tensor))
    return Card("", "", value, tensor.requires_grad, tensor.is_leaf, tensor.retains_grad, stats=stats,
                version=version_of(tensor), grad=grad_text(tensor.grad) if readable else "", hooks=hooks_on(tensor))


def hooks_on(tensor: Any) -> int:
    """How many hooks the tensor's gradient passes; a computed minigrad tensor's are with its node."""
    own = getattr(tensor.grad_fn, "hooks", None)
    found = getattr(tensor, "_backward_hooks", None) or getattr(tensor, "_hooks", None) or own and own.tensor.get(tensor.output_nr)
    return len(found or ())


def hooks_after(tensor: Any) -> int:
    """How many hooks run after the leaf's gradient is stored."""
    return len(getattr(tensor, "_post_accumulate_grad_hooks", None) or getattr(tensor, "_post_hooks", None) or ())


def memory_of(tensor: Any) -> int:
    return tensor.untyped_storage().data_ptr()


# Nodes ---------------------------------------------------------------------------------------------------------------------

def is_accumulator(node: Any) -> bool:
    return hasattr(node, "variable")


def nodes_of(tensor: Any) -> Iterator[Any]:
    """The nodes of the graph that a tensor remembers, each once."""
    nodes = [tensor.grad_fn] if tensor.grad_fn is not None else []
    seen = set(nodes)
    for node in nodes:                                       # grows while it is walked
        yield node
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                nodes.append(child)


def node_name(node: Any) -> str:
    return node.name().rpartition("::")[2]


def code(name: str, args: list[str]) -> str:
    """An operation as code, where the program's own text is not at hand."""
    if name.startswith("_"):                           # one of several forms of an operation, by what it takes
        name = re.sub(r"_(all|dims?|numbers?|scalar|tensors?|base|over|rounded|stable)_?$", "", name)
    name = name.strip("_")
    if name in INFIX and len(args) > 1:
        return f"{args[0]} {INFIX[name]} {args[1]}"
    return f"-{args[0]}" if name == "neg" else f"{name}({', '.join(args)})"


def connect(call: Call, owner: dict[Any, Call], leaf: Any, since: int) -> list[Any]:
    """Find the nodes that a call has made since it was last looked at, and where the edges that leave them lead.

    `owner` knows the nodes of all calls so far, ``leaf(variable)`` the slot of a leaf, and a node numbered up to `since` is older
    than the call: if it belongs to nobody, it ends at the card of the input that it made.
    """
    before = {slot.node: slot for slot in call.inputs if slot.node is not None}
    stack = [node for node in dict.fromkeys(s.node for s in call.outputs) if node is not None and node not in owner]
    stack = [node for node in stack if not is_accumulator(node)]
    nodes, edges = [], []
    while stack:
        node = stack.pop()
        if node in owner:
            continue
        nodes.append(node)
        owner[node] = call
        for index, (child, output_nr) in enumerate(node.next_functions):
            if child is None:
                continue
            if is_accumulator(child):
                target = leaf(child.variable)
            else:
                target = owner.get(child) or before.get(child)
                if target is None and child._sequence_nr() > since:
                    stack.append(child)
                    continue
            if target is not None and target is not call:
                edges.append((node, index, child, output_nr, target))
    call.nodes, call.edges = nodes + call.nodes, edges + call.edges          # the node of the result comes first
    return nodes


@cache
def _saved_by_type(kind: type) -> tuple[str, ...]:
    return tuple(name.removeprefix("_saved_") for name in dir(kind) if name.startswith("_saved_"))


def saved_names(node: Any) -> Iterable[str]:
    return node._remembered() if hasattr(node, "_remembered") else _saved_by_type(type(node))


GONE = object()


def _recall(node: Any, name: str) -> Any:
    """What a node remembers under a name: a user's Function has no attributes for what it saved. None if it has no such name."""
    names = getattr(node, "saved_names", ())
    return node._shown(names.index(name)) if name in names else getattr(node, f"_saved_{name}", None)


def _saved(node: Any, name: str) -> Any:
    """The same; GONE if it was freed or the user's own hook fails to give it."""
    try:
        return _recall(node, name)
    except Exception:
        return GONE


def remember(call: Call, nodes: Iterable[Any]) -> None:
    """Note what these nodes of the call remember, and under which name the program knows it."""
    nodes = list(nodes)
    slots = {_key(slot.tensor, slot.node, slot.output_nr): slot for slot in [*call.outputs, *call.inputs]} if nodes else {}
    for node in nodes:
        for name in saved_names(node):
            value = _saved(node, name)
            if value is GONE:                          # then the parameter's name must do
                call.saved.append(Remembered(node, name, _by_parameter(call, node, name), "…"))
            elif is_tensor(value):
                slot = slots.get(_key(value, *history(value)))
                call.saved.append(Remembered(node, name, slot, "its input" if value.numel() > 1 else printed(value)))
            elif name in ("self", "other") and isinstance(value, (int, float)):
                call.saved.append(Remembered(node, name, None, f"{value:g}"))             # a number in a tensor's place
            elif name == "exponent" and isinstance(value, (int, float)):
                call.saved.append(Remembered(node, name, None, f"{value:g}", tensor=False))


def _key(tensor: Any, node: Any, output_nr: int) -> tuple:
    """What a saved tensor has in common with the one of the program that it is."""
    return (node, output_nr) if node is not None or tensor is None else (tensor.data_ptr(), tuple(tensor.shape))


def _by_parameter(call: Call, node: Any, name: str) -> Slot | None:
    if name == "result":
        return next(iter(call.outputs), None)
    child, output_nr = dict(zip(("self", "other"), node.next_functions, strict=False)).get(name, (None, 0))
    return next((s for s in call.inputs if child is not None and (
        s.tensor is child.variable if is_accumulator(child) else s.node is child and s.output_nr == output_nr)), None)


def check_saved(call: Call) -> None:
    """See what became of what the nodes remember, freed by a backward pass or written in place, and which hooks they have."""
    own = [node.hooks for node in call.nodes if getattr(node, "hooks", None)]           # PyTorch's nodes do not tell theirs
    call.hooks = sum(len(hooks.pre) + len(hooks.post) for hooks in own)
    for saved in call.saved:
        try:
            _recall(saved.node, saved.attribute)
        except Exception as error:                     # a user's own unpack hook may raise anything
            found = re.search(r"is at version (\d+); expected version (\d+)", str(error))
            if found:
                saved.versions = int(found[2]), int(found[1])
            elif isinstance(error, RuntimeError):
                call.freed = True


# A graph that exists already -----------------------------------------------------------------------------------------------

@dataclass
class Walk:
    """The calls behind some tensors, in the order in which they happened.

    `left_out` counts those that are too far away; `unknown` says that an input is missing, since the graph does not know it.
    """

    calls: list[Call]
    roots: list[Slot]
    left_out: int = 0
    unknown: bool = False


def walk(roots: Iterable[Any], names: Mapping[str, Any], limit: int) -> Walk:
    """Read the graph behind some tensors: the `limit` nodes that are nearest to them."""
    roots = list(roots)
    queue = [node for node in dict.fromkeys(history(t)[0] for t in roots) if node is not None]
    found = dict.fromkeys(queue)
    for node in queue:                                       # grows while it is walked
        for child, _ in node.next_functions:
            if child is not None and child not in found and not is_accumulator(child) and len(queue) < MOST_WALKED:
                found[child] = None
                queue.append(child)
    nodes = sorted(queue[:limit], key=lambda node: node._sequence_nr())
    by_edge, by_id = {}, {}
    for name, tensor in named_tensors(names):
        by_id.setdefault(id(tensor), name)
        if history(tensor)[0] is not None:
            by_edge.setdefault(history(tensor), (name, tensor))
    for tensor in roots:
        if history(tensor)[0] is not None:
            by_edge.setdefault(history(tensor), ("", tensor))
    slots: dict[Any, Slot] = {}

    def leaf(tensor: Any) -> Slot:
        return slots.setdefault(id(tensor), Slot(tensor, name=by_id.get(id(tensor), "")))

    def result(node: Any, output_nr: int) -> Slot:
        name, tensor = by_edge.get((node, output_nr), ("", None))
        return slots.setdefault((node, output_nr), Slot(tensor, node, output_nr, name))

    users = Counter(child for node in nodes for child, _ in node.next_functions)
    # A linear layer is one operation: the node that transposes its weight is a helper.
    helpers = {node for node in nodes if node_name(node) == "TBackward0" and users[node] == 1 and (node, 0) not in by_edge}
    owner: dict[Any, Call] = {}
    calls, unknown = [], False
    for node in nodes:
        if node in helpers:
            continue
        call = Call("", nodes=[node])
        args = []
        for i, (child, output_nr) in enumerate(node.next_functions):
            if child in helpers:
                call.nodes.append(child)
                child, output_nr = child.next_functions[0]
            slot = (_constant(node, i, leaf) if child is None else
                    leaf(child.variable) if is_accumulator(child) else result(child, output_nr))
            args.append(slot or "…")
            unknown |= slot is None
            if isinstance(slot, Slot) and slot not in call.inputs:
                call.inputs.append(slot)
        exponent = _saved(node, "exponent")
        args += [f"{exponent:g}"] if isinstance(exponent, (int, float)) else []
        operation = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", re.sub(r"Backward\d*$", "", node_name(node))).lower()
        if len(call.nodes) > 1 and operation in ("addmm", "mm"):
            operation, args = "linear", args[-2:] + args[:-2]
        call.text = code(operation, [(a.name or "…") if isinstance(a, Slot) else a for a in args])
        calls.append(call)
        owner |= dict.fromkeys(call.nodes, call)
    used: dict[Any, set[int]] = {}
    inner = [edge for node in nodes for edge in node.next_functions]
    for node, nr in [*map(history, roots), *by_edge, *inner]:
        used.setdefault(node, set()).add(nr)
    for call in calls:
        call.outputs = [result(call.node, nr) for nr in sorted(used[call.node])]
        for node in call.nodes:
            for index, (child, output_nr) in enumerate(node.next_functions):
                if child is not None and child not in helpers:
                    target = leaf(child.variable) if is_accumulator(child) else owner.get(child) or result(child, output_nr)
                    call.edges.append((node, index, child, output_nr, target))
        remember(call, call.nodes)
    return Walk(calls, [leaf(t) if history(t)[0] is None else result(*history(t)) for t in roots],
                len(queue) - len(nodes), unknown)


PLACES = (("self",), ("other", "mat1", "mat2"), ("mat2",))       # under which name a node remembers its i-th input


def _constant(node: Any, i: int, leaf: Any) -> Slot | str | None:
    """An input that needs no gradient: the graph knows it (None: it does not) only if the node remembers it, "…" once freed."""
    name = next((name for name in PLACES[i] if name in saved_names(node)), None) if i < len(PLACES) else None
    if name is not None:
        value = _saved(node, name)
        if value is GONE:
            return "…"
        if is_tensor(value) and value.grad_fn is None:
            slot = leaf(value)
            return slot if slot.name or value.numel() > 1 else printed(value)
    return None
