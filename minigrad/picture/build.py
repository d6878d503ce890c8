"""From a program's calls and backward steps to the model of one moment."""
from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .fold import common
from .model import DONE, FAILED, IDLE, NOW, Accumulator, Block, Card, Edge, Memory, Model, Op, Saved
from .program import Call, Slot, hooks_after, is_accumulator, memory_of, named_modules, named_tensors, node_name, read
from .text import LONGEST, card_name, sentence

if TYPE_CHECKING:
    from .program import Step
    from .recorder import Recorder

MOST_LINKED = 3          # tensors, those of before a write among them, that lines tie to their memory; else those of now
MOST_UNFOLDED = 4        # with more operations than these, a result that nobody asked to keep is written into its operation


def build(program: Recorder, names: Mapping[str, Any], step: int | None) -> Model:
    """Make the model of a program at one step of its backward pass (None: after everything)."""
    if step is not None and not 0 <= step <= program.steps:
        raise ValueError(f"the backward pass has steps 0 to {program.steps}, not {step}")
    return _Builder(program, names, step).build()


class _Builder:

    def __init__(self, program: Recorder, names: Mapping[str, Any], step: int | None) -> None:
        self.program, self.names, self.step = program, dict(named_tensors(names)), step
        self.module_names = {id(module): name for name, module in named_modules(names)} | program.module_names
        self.calls = program.calls
        self.model = Model(step=step, steps=program.steps)
        self.slots: dict[Slot, Card] = {}
        self.ops: dict[Call, Op] = {}
        self.turns = self._turns()
        self.arriving: dict[tuple[Any, int], list[tuple[int, str]]] = {}     # by place and pass: (turn of the sender, gradient)

    def build(self) -> Model:
        for call in self.calls:
            for slot in (*call.inputs, *call.outputs):
                self._card(slot)
        for slot in self.program.roots:
            self._card(slot)
        self._leave_out()
        known = {id(slot.tensor) for call in self.program.calls for slot in (*call.inputs, *call.outputs)}
        known |= {id(slot.tensor) for slot in self.program.roots}
        for name, tensor in self.names.items():
            if id(tensor) not in known:
                known.add(id(tensor))
                self._card(Slot(tensor, name=name, card=read(tensor)))
        self._name_cards()
        for call in self.calls:
            self._op(call)
        self._memories()
        self._fold()
        self._edges()
        for slot, card in self.slots.items():
            self._gradient(slot, card)
        self._modules()
        self.model.earlier = self.program.earlier
        if self.program.missed:
            self.model.note = f"The recording ended after {len(self.calls):,} operations; {self.program.missed:,} later ones are missing."
        self.model.caption = self._caption()
        return self.model

    # What is there ------------------------------------------------------------------------------------------------------

    def _card(self, slot: Slot) -> None:
        if slot in self.slots:
            return
        seen = slot.card or Card("", "", "", slot.node is not None, slot.node is None)     # known only to the graph
        card = Card(**{**vars(seen), "id": f"t{len(self.slots)}", "name": slot.name, "no_grad": slot.no_grad})
        card.drawn = slot.tensor is not None
        self.slots[slot] = card
        self.model.cards.append(card)

    def _leave_out(self) -> None:
        """An input that nothing here made, of a graph that was not read to its end."""
        made = {slot for call in self.calls for slot in call.outputs}
        for slot, card in self.slots.items():
            card.left_out = slot not in made and slot.tensor is None
            card.drawn |= card.left_out

    def _modules(self) -> None:
        """In which modules each operation ran: seen when it was recorded, else guessed from the parameters around it."""
        paths = [tuple(self.module_names.get(id(m), type(m).__name__) for m in call.modules) or self._by_parameters(op)
                 for call, op in self.ops.items()]
        after: tuple[str, ...] | None = None
        rest = []
        for path in reversed(paths):
            after = path if path is not None else after
            rest.append(after or ())
        before: tuple[str, ...] = ()
        for op, path, following in zip(self.model.ops, paths, reversed(rest), strict=True):
            before = before if path is None else path
            op.module = common([before, following]) if path is None else path

    def _by_parameters(self, op: Op) -> tuple[str, ...] | None:
        """The modules to which all of an operation's parameters belong; None if it has none."""
        cards = (self.model.cards[int(id[1:])] for id in op.inputs)
        owners = [c.name.split(".")[:-1] for c in cards if c.is_leaf and "." in c.name and not c.name.endswith(".grad")]
        return common(tuple(".".join(parts[:n + 1]) for n in range(len(parts))) for parts in owners) if owners else None

    def _name_cards(self) -> None:
        """The name a tensor has at the end counts; where a name has moved on, its earlier tensors say from when they are."""
        final = {id(tensor): name for name, tensor in reversed(self.names.items())}
        for slot, card in self.slots.items():
            card.name = final.get(id(slot.tensor), slot.name) if slot.tensor is not None else slot.name
        for slot, card in self.slots.items():
            if not card.name and slot.grad_of in self.slots and self.slots[slot.grad_of].name:
                card.name = f"{self.slots[slot.grad_of].name}.grad"
            if "." in card.name and memory_of(slot.tensor) not in self.program.writes:
                card.version = 0                       # a module wrote into its parameter when it made it; that is no news
        latest: dict[str, Slot] = {card.name: slot for slot, card in self.slots.items() if slot.tensor is not None}
        for slot, card in self.slots.items():
            if slot.ended is not None:
                card.past = f"before line {slot.ended}"
            elif card.name and slot.tensor is not None:
                holder = self.names.get(card.name, latest[card.name].tensor)
                if holder is not slot.tensor:
                    line = self._first_line(slot, card)
                    card.past = f"line {line}" if line else "earlier"

    def _first_line(self, slot: Slot, card: Card) -> int | None:
        """The line that gave a tensor its name: its operation's, or for a leaf the last assignment before its first use."""
        if any(slot in call.outputs for call in self.calls) or slot.line is None or self.program.filename is None:
            return slot.line
        for line in range(slot.line - 1, 0, -1):
            if re.match(rf"\s*{re.escape(card.name)}\s*=[^=]", linecache.getline(self.program.filename, line)):
                return line
        return slot.line

    def _op(self, call: Call) -> None:
        op = Op(f"o{len(self.ops)}", call.text, node_name(call.node) if call.nodes else "", "" if call.nodes else call.would,
                max(0, len(call.nodes) - 1), call.cut, call.inplace, [self.slots[s].id for s in call.inputs],
                [self.slots[s].id for s in call.outputs], line=call.line, source=call.source, hooks=call.hooks)
        place = {slot: i for i, slot in enumerate(call.inputs)}
        for saved in sorted(call.saved, key=lambda saved: place.get(saved.slot, len(place))):
            name = ""
            if saved.slot is not None:
                seen = saved.slot in self.slots and self.slots[saved.slot].name
                name = seen or ("its result" if saved.slot in call.outputs else "its input")
            op.saved.append(Saved(name or (saved.text if saved.tensor else saved.attribute), "" if saved.tensor else saved.text,
                                  saved.tensor, *saved.versions))
        if call.block is not None:
            self._block(call, op)
        turn = next((self.turns[n] for n in call.nodes if n in self.turns), None)
        if turn is not None:
            op.number, op.state = turn, self._state(turn)
        last = max((i for i, s in enumerate(self.program.trace, 1) if s.node in call.nodes), default=None)
        op.freed = call.freed and (last is None or self.step is None or last < self.step)
        for slot in call.outputs:
            self.slots[slot].op = op.id
        self.ops[call] = op
        self.model.ops.append(op)

    def _block(self, call: Call, op: Op) -> None:
        previous = next(reversed(self.ops), None)
        if previous is None or previous.block != call.block:
            self.model.blocks.append(Block(f"b{len(self.model.blocks)}", call.block[1]))
        op.block = self.model.blocks[-1].id
        for slot in call.outputs:
            self.slots[slot].block = op.block

    def _memories(self) -> None:
        """Memory that several named tensors share, or that was written in place."""
        sharing: dict[int, list[Slot]] = {}
        for slot in self.slots:
            if slot.tensor is not None:
                sharing.setdefault(memory_of(slot.tensor), []).append(slot)
        for memory, slots in sharing.items():
            shown = [s for s in slots if s.ended is None]
            linked = slots if len(slots) <= MOST_LINKED else shown
            names = list(dict.fromkeys(card_name(self.slots[s]) for s in shown if self.slots[s].name))
            writes = [call.text for call in self.program.writes.get(memory, ())]
            if len(names) < 2 and not writes or memory not in self.program.cells:
                continue
            storage = slots[0].tensor.untyped_storage()
            now = self.program.cells[memory]
            was = self.program.was.get(memory, now)
            cells = [(a, "" if a == b else b) for a, b in zip(now, was, strict=False)]
            size = storage.nbytes() // slots[0].tensor.element_size()
            self.model.memories.append(Memory(
                f"m{len(self.model.memories)}", names, [self.slots[s].id for s in linked], cells, storage.nbytes(),
                max(self.slots[s].version for s in slots), writes, size - len(cells)))

    def _fold(self) -> None:
        """Write results that nothing points at into their operations, so that a picture stays small enough to read."""
        used = {slot for call in self.calls for slot in call.inputs}
        shared = Counter(s for m in self.model.memories if len(m.names) > 1 for s in m.cards)
        for call, op in self.ops.items():
            for slot in call.outputs if call.inplace else ():
                self.slots[slot].drawn &= slot in used or bool(self.slots[slot].name)     # a write's copy of what it needs later
            if len(call.outputs) != 1:
                continue
            slot = call.outputs[0]
            card = self.slots[slot]
            spare = slot in used and not card.retains_grad and not shared[card.id] and slot not in self.program.roots
            if spare and (not card.name or len(self.calls) > MOST_UNFOLDED and card.requires_grad and not card.is_leaf):
                card.drawn = False
            if not card.drawn and card.name and not op.inplace:
                op.text = f"{card.name} = {op.text}"
        drawn = {card.id for card in self.model.cards if card.drawn}
        for memory in self.model.memories:
            memory.cards = [id for id in memory.cards if id in drawn]
        self.model.memories = [m for m in self.model.memories if m.cards]

    # How far the backward pass is ------------------------------------------------------------------------------------------

    def _turns(self) -> dict[Any, int]:
        """When each node runs: in the pass that is under way if it takes part, else in its last one before, else in its next."""
        trace, turns = self.program.trace, {}
        at = len(trace) if self.step is None else self.step
        run = trace[at - 1].run if at else trace[0].run if trace else 0
        for number, step in enumerate(trace, 1):
            key = step.slot or step.node              # one accumulator serves all stages of a leaf's life
            old = turns.get(key)
            if old is None or step.run == run or trace[old - 1].run != run and number <= at:
                turns[key] = number
        return turns

    def _state(self, turn: int) -> str:
        if self.step is not None and turn > self.step:
            return IDLE
        if not self.program.trace[turn - 1].finished:
            return FAILED
        return NOW if turn == self.step else DONE

    def _turn(self, key: Any) -> tuple[Step | None, str]:
        number = self.turns.get(key)
        return (None, IDLE) if number is None else (self.program.trace[number - 1], self._state(number))

    def _edges(self) -> None:
        for call, op in self.ops.items():
            for node, index, child, output_nr, target in call.edges:
                passed = next((s for s in call.inputs if s.node is child and s.output_nr == output_nr), None)
                if target not in self.slots and target not in self.ops:      # left out of a graph that is too large
                    target, passed = passed, None
                if target is None:
                    continue
                end = self.slots[target] if isinstance(target, Slot) else self.ops[target]
                if is_accumulator(child) and end.accumulator is None:
                    turn = self.turns.get(target)
                    end.accumulator = Accumulator(IDLE if turn is None else self._state(turn), turn, hooks_after(target.tensor))
                via = self.slots[passed].id if passed is not None and isinstance(target, Call) else None
                edge = Edge(f"e{len(self.model.edges)}", op.id, end.id, via, index)
                step, state = self._turn(node)
                if step is not None and state in (NOW, DONE) and step.sent[index]:
                    edge.state, edge.gradient = state, step.sent[index]
                    place = target if isinstance(target, Slot) else (child, output_nr)
                    self.arriving.setdefault((place, step.run), []).append((op.number or 0, edge.gradient))
                self.model.edges.append(edge)
        ids = {card.id: slot for slot, card in self.slots.items()}
        for edge in self.model.edges:
            if edge.target in ids:
                edge.sums = self._sum(ids[edge.target])

    def _parts(self, place: Any, step: Step | None) -> list[str]:
        """The gradients that came to a place in the pass of this step, in their order; autograd.grad() is another pass."""
        return [part for _, part in sorted(self.arriving.get((place, step and step.run), ()))]

    def _sum(self, slot: Slot) -> str:
        """How the parts that came to a leaf add up; "" if it was one."""
        parts = self._parts(slot, self._turn(slot)[0])
        if len(parts) < 2:
            return ""
        return " + ".join(parts) if len(set(parts)) > 1 or len(parts) == 2 else f"{len(parts)} × {parts[0]}"

    def _gradient(self, slot: Slot, card: Card) -> None:
        """What the card's gradient row says at this step."""
        trace, at = self.program.trace, len(self.program.trace) if self.step is None else self.step
        if self.step is not None and trace:
            card.grad = self._stored(slot, card)
        place: Any = (slot.node, slot.output_nr)
        if card.is_leaf and card.accumulator is not None:
            place = slot
            last = next((s for s in reversed(trace[:at]) if s.slot is slot), None)
            if last is not None and last.before and last.after == card.grad:
                sums = self._sum(slot)
                card.total = f"{last.before} + {f'({sums})' if sums else last.received[0]} = {last.after}"
        if not card.grad:
            off = "flag off" if card.accumulator else "not asked"
            card.none = off if not card.requires_grad else "not yet" if card.is_leaf or card.retains_grad else "not kept"
        receiver, state = self._turn(slot if place is slot else slot.node)
        if receiver is None:
            return
        parts, received = self._parts(place, receiver), receiver.received[min(slot.output_nr, len(receiver.received) - 1)]
        if card.hooks and state in (NOW, DONE) and len(parts) == 1 and parts[0] != received:       # of several, a hook gets the sum
            card.hooked = f"{parts[0]} → {received}"
        if self.step is None or state == DONE or state == NOW and card.grad:
            return
        if state in (NOW, FAILED):
            card.gradient = received
        elif parts:
            card.gradient = " + ".join(parts) if len(" + ".join(parts)) <= LONGEST else f"{len(parts)} parts"
        if card.gradient:
            card.flow = "arriving" if card.is_leaf or card.retains_grad else "passing"

    def _stored(self, slot: Slot, card: Card) -> str:
        """The stored gradient at a step: what the last store before it left, else what the next one found."""
        before, after = "", None
        for number, step in enumerate(self.program.trace, 1):
            stores = [(step.before, step.after)] if step.slot is slot else [("", text) for s, text in step.kept if s is slot]
            for found, left in stores:
                if number <= self.step:
                    before, after = left, left
                elif after is None:
                    return found
        return before if after is not None else card.grad

    def _caption(self) -> str:
        """The step in words, with its numbers."""
        k, n = self.step, self.program.steps
        if k is None or not n:
            return ""
        if k == 0:
            return f"Before backward: {n} steps to come."
        step = self.program.trace[k - 1]
        head = f"Step {k} of {n}, {node_name(step.node)}"
        if step.slot is not None:
            name = step.slot.name or "the leaf"
            name = self.slots[step.slot].name or name if step.slot in self.slots else name
            if step.before == step.after:
                return sentence(f"{head} of {name}: receives {step.received[0]}; {name} does not require grad any more, "
                                f"{name}.grad stays {step.after or 'None'}")
            return sentence(f"{head} of {name}: {name}.grad was {step.before or 'None'}, receives {step.received[0]}, "
                            f"becomes {step.after}")
        call = next((c for c in self.calls if step.node in c.nodes), None)
        if call is None:
            return f"{head}: left out of the picture."
        start = next(s for s in self.program.trace if s.run == step.run)
        top = self._output_name(start.node)
        out = self._output_name(step.node)
        head += f": receives ∂{top}/∂{out} = {', '.join(step.received)}"
        if not step.finished:
            return f"{head}, and raises: {self._complaint(self.ops[call])}."
        parts = []
        for node, index, child, output_nr, target in call.edges:
            if node is not step.node or not step.sent[index]:
                continue
            card = self._input_card(call, child, output_nr, target)
            name = (card.name if card else "") or self._short(target)
            local = ""
            if step.number and step.numbers[index] is not None:
                local = f"times local ∂{out}/∂{name} = {step.numbers[index] / step.number:.4g}, "
            end = (f"goes to AccumulateGrad of {name}" if is_accumulator(child) else
                   f"is kept in {name}.grad (retain_grad)" if card and card.retains_grad else
                   f"passes on, {name}.grad stays None" if card and card.name else "passes on")
            parts.append(f"{local}gives ∂{top}/∂{name} = {step.sent[index]}; {end}")
        return f"{head}, {'; '.join(parts)}." if parts else f"{head}; nothing flows on."

    def _input_card(self, call: Call, child: Any, output_nr: int, target: Call | Slot) -> Card | None:
        if isinstance(target, Slot):
            return self.slots.get(target)
        return next((self.slots[s] for s in call.inputs if s.node is child and s.output_nr == output_nr), None)

    def _short(self, target: Call | Slot) -> str:
        return f"({target.text})" if isinstance(target, Call) else "…"

    def _output_name(self, node: Any) -> str:
        call = next((c for c in self.calls if node in c.nodes), None)
        if call is None:
            return "…"
        return next((self.slots[s].name for s in call.outputs if self.slots[s].name), f"({call.text})")

    def _complaint(self, op: Op) -> str:
        wrong = [f"it remembers {s.name} at version {s.version}, and {s.name} is at version {s.now} now"
                 for s in op.saved if s.now != s.version]
        return " and ".join(wrong) or "see the error"
