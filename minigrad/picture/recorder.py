"""Watch a program run: every operation, recorded in the graph or not, and every step of its backward passes.

Operations come from the engine's one observer, backward steps from public hooks on the nodes as they are made. What the user's
code looks like (the line, the ``with`` block around it) is read from the caller's frame.
"""
from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import lru_cache
from types import FrameType, ModuleType
from typing import Any

from ..function import observe
from . import program
from .build import build
from .figure import Figure
from .libraries import ENABLED, SEQUENCES, Event, tensors_in, torch_mode
from .model import Card, Model
from .program import Call, Slot, Step, history, is_accumulator, is_leaf, is_tensor

MOST_CALLS = 2000        # a recording ends there; a picture shows far fewer
MOST_CELLS = 8           # elements of a memory that are shown
_PACKAGE = __name__.partition(".")[0]
LIBRARIES = (_PACKAGE, "torch", "contextlib", "numpy")        # not the program: whose functions it calls, and what decorates them


class Recorder:
    """Records what runs inside ``with Recorder() as r:``; `model` then tells it as a picture's content.

    Parameters
    ----------
    filename : str, optional
        Whose lines are "the program's" in `lines`.

    Attributes
    ----------
    lines : set of int
        The program's lines on which, or under which, an operation ran.
    steps : int
        How many nodes ran backward.
    """

    def __init__(self, filename: str | None = None) -> None:
        self.filename, self.lines = filename, set()
        self.names: Mapping[str, Any] = {}
        self.calls: list[Call] = []
        self.trace: list[Step] = []
        self.roots: list[Slot] = []
        self.cells: dict[int, list[str]] = {}           # by address of the memory: its elements when last seen
        self.was: dict[int, list[str]] = {}             # and before the last write
        self.writes: dict[int, list[Call]] = {}
        self.module_names: dict[int, str] = {}          # by id of the module
        self.missed, self.earlier, self.unknown = 0, 0, False
        self._slots: dict[int, Slot] = {}               # the current stage of each tensor, by id; the slot keeps the tensor alive
        self._sharing: dict[int, list[Any]] = {}        # the tensors of each memory
        self._leaves: list[Slot] = []                   # those that require grad
        self._owner: dict[Any, Call] = {}
        self._hooked: set[Any] = set()
        self._handles: list[Any] = []
        self._waiting: set[Any] = set()
        self._outermost: FrameType | None = None
        self._latest = {name: sequence() for name, sequence in SEQUENCES.items()}      # nodes up to here are older than the
        self._since = 0                                                                # running call, by library

    @property
    def steps(self) -> int:
        """How many nodes the last backward pass has run."""
        return len(self.trace)

    def adopt(self, tensors: Iterable[Any], names: Mapping[str, Any], limit: int) -> None:
        """Begin with the graph that exists already behind some tensors."""
        walked = program.walk(tensors, names, limit)
        self.calls, self.roots, self.earlier = walked.calls, walked.roots, walked.left_out
        self.unknown = walked.unknown
        for slot in [s for call in self.calls for s in (*call.inputs, *call.outputs)] + self.roots:
            if slot.tensor is not None and id(slot.tensor) not in self._slots:
                self._add(slot)
        self._owner = {call.node: call for call in self.calls}

    def __enter__(self) -> Recorder:
        self._watch = ExitStack()
        self._watch.enter_context(observe(self._of_minigrad))
        if "torch" in sys.modules:
            self._watch.enter_context(torch_mode(self._happened))
        for call in self.calls:
            self._hook(call, call.nodes)
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._outermost = None
        try:
            self.finish()
        finally:
            self._watch.close()                        # whatever a tensor answers, nothing may go on being watched

    def finish(self) -> None:
        """Take down how everything looks at the end."""
        for slot in self._slots.values():
            self._see(slot)
        for call in self.calls:
            program.check_saved(call)
            given = {id(slot.tensor) for slot in call.inputs}          # gradients given to an optimizer stand on the cards already
            call.inputs = [slot for slot in call.inputs if slot.grad_of is None or id(slot.grad_of.tensor) not in given]

    def model(self, names: Mapping[str, Any] | None = None, step: int | None = None) -> Model:
        """Tell the program as a picture's content, with the names that its tensors have.

        Parameters
        ----------
        names : mapping, optional
            The program's variables. A tensor among them that no operation used has a card of its own.
        step : int, optional
            0: before the backward pass; k: while its k-th node runs; None: after everything.
        """
        return build(self, self.names if names is None else names, step)

    def figure(self, step: int | None = None, **look: Any) -> Figure:
        """Draw the program: after everything, or at one step of its backward pass, with the step's caption under it."""
        return Figure(self.model(step=step), caption=step is not None, **look)

    def card(self, tensor: Any) -> Card:
        """The tensor's card as it was at the end."""
        return self._slots[id(tensor)].card if self.knows(tensor) else program.read(tensor)

    def knows(self, tensor: Any) -> bool:
        """Whether an operation saw the tensor."""
        return id(tensor) in self._slots

    # The forward pass ---------------------------------------------------------------------------------------------------

    def _of_minigrad(self, op: Any, args: tuple, outputs: tuple, recorded: bool) -> None:
        """What the engine's observer reports."""
        written = args[:1] if op.name.endswith("_") else ()
        self._happened(Event("minigrad", op.name, (op.node_name or "").rpartition("::")[2], args, outputs, written, recorded))

    def _happened(self, event: Event) -> None:
        """Find out for which line of the program an operation ran, and take it down."""
        outermost, frame, backward, lines, modules = None, None, False, set(), []
        place = sys._getframe(2)                       # past the observer's own
        while place is not None:
            name = place.f_globals.get("__name__") or ""
            if frame is None and name.startswith(f"{_PACKAGE}.picture"):
                return                                 # we compute only to look
            if name == f"{_PACKAGE}.engine":
                if not event.recorded:
                    return                             # a hook, or the formula of a user's Function
                backward, outermost, frame = True, place, None        # a backward pass that records itself (create_graph)
            elif frame is None and name.partition(".")[0] in LIBRARIES:
                outermost = place
            elif frame is None:
                frame = place
            if place.f_code.co_filename == self.filename:
                lines.add(place.f_lineno)
            if place.f_code.co_name == "forward" and hasattr(type(place.f_locals.get("self")), "named_parameters"):
                modules.insert(0, place.f_locals["self"])
            place = place.f_back
        if frame is None or outermost is not None and outermost.f_code.co_name == "__init__":
            return                                     # a module that makes its parameters computes nothing
        self.lines |= lines
        self._take(event, outermost, frame, backward, modules)
        self._latest[event.library] = SEQUENCES[event.library]()

    def _take(self, event: Event, outermost: FrameType | None, frame: FrameType, backward: bool, modules: list[Any]) -> None:
        if len(self.calls) >= MOST_CALLS:
            self.missed += 1
            return
        if outermost is None or outermost is not self._outermost:       # a new call, not one more operation inside the last one
            self._begin(event, outermost, frame, backward, modules)
        call = self.calls[-1]
        stores = event.name == "__setitem__" or outermost is not None and outermost.f_code.co_name == "_setitem"
        for tensor in tensors_in(event.args):
            new = id(tensor) not in self._slots
            if new and (stores and call.inputs or backward and not tensor.requires_grad):
                continue                               # the number of ``y[0] = 9`` as a tensor, the seed of a backward pass
            if new and not tensor.requires_grad and program.memory_of(tensor) in self._sharing:
                self._shared(tensor, frame)
            slot = self._slot(tensor, frame.f_lineno)
            if slot in call.outputs:
                call.outputs.remove(slot)
                call.inner.append(slot)
            elif slot not in call.inputs and slot not in call.inner:
                call.inputs.append(slot)
        self._learn_names(call, frame)
        for tensor in event.written:
            self._write(call, self._slot(tensor, frame.f_lineno), frame)
        for tensor in event.outputs:
            if id(tensor) not in self._slots:
                slot = self._slot(tensor, frame.f_lineno)
                slot.no_grad = call.block is not None
                call.outputs.append(slot)
        call.cut = event.name in ("detach", "data")
        call.would = event.node or call.would
        if call.code is None:
            call.code = _source_text(frame, stores)
        call.text = call.code or _structural(event, self._text)
        made = program.connect(call, self._owner, lambda variable: self._slot(variable, frame.f_lineno), self._since)
        program.remember(call, made)
        self._hook(call, made)

    def _begin(self, event: Event, outermost: FrameType | None, frame: FrameType, backward: bool, modules: list[Any]) -> None:
        """Open a new call."""
        source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        block = None if ENABLED[event.library]() or backward else _block(frame)
        self.calls.append(Call("", line=frame.f_lineno, source=source, block=block, modules=modules))
        self._outermost, self._since = outermost, self._latest[event.library]

    def _shared(self, tensor: Any, frame: FrameType) -> None:
        """A tensor that no operation made has the memory of one that we know: ``x.data``, or one that went through NumPy."""
        source = self._slots.get(id(self._sharing[program.memory_of(tensor)][-1]))
        if source is not None and tensor.numel():
            made = self._slot(tensor, frame.f_lineno)
            cut = Call(f"shares {source.name or 'memory'}", inputs=[source], outputs=[made], cut=True, line=frame.f_lineno,
                       source=linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip())
            self.calls.insert(-1, cut)

    def _write(self, call: Call, slot: Slot, frame: FrameType) -> None:
        """An in-place operation: the tensor that was written begins a new stage of its life."""
        memory = program.memory_of(slot.tensor)
        if slot in call.inner:                         # a temporary view, as in ``y[0] = 9``: y was written
            slot = next((s for s in call.inputs if program.memory_of(s.tensor) == memory), slot)
        ended = [slot] if slot not in call.outputs else []
        for tensor in self._sharing[memory]:
            other = self._slots[id(tensor)]
            # What shares the memory has another history now too: the base of a view that was written.
            if other is not slot and history(tensor)[0] not in (None, other.node) and other not in call.inner:
                ended.append(other)
        for old in ended:
            old.ended = frame.f_lineno
            now = Slot(old.tensor, *history(old.tensor), old.name, frame.f_lineno, no_grad=old.no_grad)
            self._slots[id(old.tensor)] = now
            call.outputs.append(now)
        for tensor in self._sharing[memory]:
            self._see(self._slots[id(tensor)])
        if slot.node is None and slot in ended:
            slot.card.grad = self._slots[id(slot.tensor)].card.grad    # it may have come since we looked
        call.inplace = True
        if call not in self.writes.setdefault(memory, []):
            self.writes[memory].append(call)

    def _slot(self, tensor: Any, line: int | None) -> Slot:
        slot = self._slots.get(id(tensor))
        if slot is None:
            slot = self._add(Slot(tensor, *history(tensor), line=line))
        return slot

    def _add(self, slot: Slot) -> Slot:
        self._slots[id(slot.tensor)] = slot
        self._sharing.setdefault(program.memory_of(slot.tensor), []).append(slot.tensor)
        if slot.node is None and slot.tensor.requires_grad:
            self._leaves.append(slot)
        elif slot.node is None:
            slot.grad_of = next((s for s in self._leaves if is_leaf(s.tensor) and s.tensor.grad is slot.tensor), None)
        self._see(slot)
        return slot

    def _see(self, slot: Slot) -> None:
        """Read the tensor's card, and the elements of its memory if they are few."""
        slot.card = program.read(slot.tensor)
        memory, cells = program.memory_of(slot.tensor), _cells(slot.tensor)
        if cells is None:
            return
        if self.cells.get(memory, cells) != cells:
            self.was[memory] = self.cells[memory]
        self.cells[memory] = cells

    def _learn_names(self, call: Call, frame: FrameType) -> None:
        """Learn the names that the running code has for its tensors; the names at the end come from `model`."""
        if call.code is None:                          # the first operation of the call
            for name, value in list(frame.f_locals.items()):
                slot = self._slots.get(id(value))
                if slot is not None and slot.tensor is value and not slot.name and not name.startswith("_"):
                    slot.name = name

    def _text(self, value: Any) -> str:
        slot = self._slots.get(id(value))
        return (slot.name or "…") if slot is not None and slot.tensor is value else repr(value)

    # The backward pass --------------------------------------------------------------------------------------------------

    def _hook(self, call: Call, nodes: list[Any]) -> None:
        accumulators = [child for node, _, child, _, _ in call.edges if node in nodes and is_accumulator(child)]
        for node in (*nodes, *accumulators):
            if node not in self._hooked:
                self._hooked.add(node)
                self._handles += [node.register_prehook(self._arrived(node)), node.register_hook(self._ran)]

    def _arrived(self, node: Any) -> Callable[[tuple], None]:
        def hook(grads: tuple) -> None:
            if node not in self._waiting:          # nobody sent it anything: a backward pass begins here
                self._waiting.clear()
                run = self.trace[-1].run + 1 if self.trace else 0
            else:
                run = self.trace[-1].run
            step = Step(node, run, [program.grad_text(g) for g in grads], program.number(grads[0]) if len(grads) == 1 else None)
            if is_accumulator(node):
                step.slot, step.before = self._slots.get(id(node.variable)), program.grad_text(node.variable.grad)
            call = self._owner.get(node)
            for slot in call.outputs if call else ():
                if slot.node is node and slot.tensor is not None and slot.tensor.retains_grad:
                    step.kept.append((slot, program.grad_text(slot.tensor.grad)))
            self.trace.append(step)
        return hook

    def _ran(self, sent: tuple, received: tuple) -> None:
        step = self.trace[-1]
        step.finished = True
        step.sent, step.numbers = [program.grad_text(g) for g in sent], [program.number(g) for g in sent]
        if step.slot is not None:
            step.after = program.grad_text(step.node.variable.grad)
        self._waiting.discard(step.node)
        self._waiting.update(child for child, _ in step.node.next_functions if child is not None)


def _cells(tensor: Any) -> list[str] | None:
    """The first elements of the memory under a tensor; None if its library does not show them."""
    storage = tensor.untyped_storage()
    if hasattr(storage, "elements"):                   # minigrad's: in any order of strides
        elements = storage.elements()[:MOST_CELLS]
    elif hasattr(tensor, "as_strided"):
        elements = tensor.detach().as_strided((min(MOST_CELLS, storage.nbytes() // tensor.element_size()),), (1,), 0)
    else:
        return None
    return [f"{v:.4g}" for v in elements.tolist()] if storage.nbytes() else []


def _block(frame: FrameType) -> tuple[int, str]:
    """The ``with`` line that switched the recording off, as far as the program's text shows it."""
    name, number = frame.f_code.co_filename, frame.f_lineno
    indent = None
    for n in range(number, 0, -1):
        line = linecache.getline(name, n)
        text = line.strip()
        here = len(line) - len(line.lstrip())
        if not text or indent is not None and here >= indent:
            continue
        indent = here
        if re.match(r"with\b.*(no_grad|set_grad_enabled|inference_mode)", text):
            return n, text[:text.find(":", text.find(")")) + 1]
    return 0, "recording is off"


_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare, ast.Subscript)


def _source_text(frame: FrameType, stores: bool) -> str:
    """The code of the running operation as the program has it, with "…" for operands that are operations themselves."""
    first, last, start, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    lines = [linecache.getline(frame.f_code.co_filename, n).encode() for n in range(first or 0, (last or 0) + 1)]
    if not all(lines) or start is None:
        return ""
    text = b"".join([*lines[:-1], lines[-1][:end]])[start:].decode()
    try:
        if stores:                                     # the position is that of ``y[0]`` alone
            text = next(segment for segment in _statements(frame) if segment.startswith(text))
        whole = _parsed(text)
    except (SyntaxError, StopIteration):
        return ""
    data, begins = text.encode(), [0]
    for line in data.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    spans: list[tuple[int, int, bytes]] = []
    for node in ast.walk(whole.value):                 # from outside inwards
        a, b = (begins[n - 1] + column for n, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
                ) if hasattr(node, "lineno") else (0, 0)
        if any(c <= a and b <= d for c, d, _ in spans):
            continue
        if isinstance(node, _OPERATIONS) and not (isinstance(whole, ast.Expr) and node is whole.value):
            if not (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)):
                spans.append((a, b, "…".encode()))
        elif isinstance(node, ast.Attribute) and _is_module(node.value, frame):            # ``mg.relu`` is ``relu``
            spans.append((a, b, node.attr.encode()))
    for a, b, put in sorted(spans, reverse=True):
        data = data[:a] + put + data[b:]
    return " ".join(data.decode().split())


@lru_cache(1024)
def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _is_module(node: ast.expr, frame: FrameType) -> bool:
    """Whether an expression names a Python module: ``mg``, ``mg.nn.functional``."""
    if isinstance(node, ast.Attribute):
        return _is_module(node.value, frame)
    name = node.id if isinstance(node, ast.Name) else ""
    return isinstance(frame.f_locals.get(name, frame.f_globals.get(name)), ModuleType)


def _statements(frame: FrameType) -> Iterator[str]:
    """The statements of the running line."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    for statement in ast.parse(line).body:
        yield ast.get_source_segment(line, statement) or ""


def _structural(event: Event, name: Callable[[Any], str]) -> str:
    """The code of an operation where the program's text cannot be had."""
    return program.code(event.name, [f"[{', '.join(map(name, a))}]" if isinstance(a, (list, tuple)) and any(map(is_tensor, a))
                                     else name(a) for a in event.args if a is not None])
