"""The backward stepper: at each step the queue, what arrives, the local derivative, what is added up and freed."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..picture import Recorder
from ..picture.program import Call, Step, is_accumulator, named_tensors, node_name
from .formula import derivative
from .html import Html, join, tag
from .mathml import mathml

__all__ = ["Moment", "Sent", "moment", "stepper_html"]


@dataclass
class Sent:
    """One gradient that leaves a node: where it goes, its formula as LaTeX, the same in numbers, and its value."""

    to: str
    tex: str
    numbers: str
    value: str


@dataclass
class Moment:
    """One step of a backward pass as texts.

    Attributes
    ----------
    ready, waiting : list of str
        The nodes that could run, the next one first, and those to which only a part has come.
    node, received : str
        Who runs, and the gradient that came in.
    sent : list of Sent
    total : str
        At a leaf: "None + [36.] = [36.]".
    kept, freed : list of str
        Tensors whose gradient stays because of retain_grad(), and what the node forgets after its turn.
    """

    ready: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    node: str = ""
    received: str = ""
    sent: list[Sent] = field(default_factory=list)
    total: str = ""
    kept: list[str] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)


def moment(recorder: Recorder, names: Mapping[str, Any], step: int | None) -> Moment:
    """Tell one step; None and 0 are after and before all of them."""
    trace = recorder.trace
    if not trace or step is None:
        return Moment()
    teller = _Teller(recorder, names)
    at = max(step, 1)
    run = [s for s in trace if s.run == trace[at - 1].run]
    now = Moment(*teller.queue(run, run.index(trace[at - 1])))
    return teller.tell(trace[at - 1], now) if step else now


class _Teller:

    def __init__(self, recorder: Recorder, names: Mapping[str, Any]) -> None:
        self.calls = {node: call for call in recorder.calls for node in call.nodes}
        self.names = {id(tensor): name for name, tensor in reversed(list(named_tensors(names)))}

    def slot(self, slot: Any) -> str:
        return self.names.get(id(slot.tensor), slot.name) if slot.tensor is not None else slot.name

    def made(self, node: Any) -> str:
        """The name of what a node's operation made; "" for a node inside a call that made several."""
        call = self.calls.get(node)
        return next((name for slot in call.outputs if slot.node is node and (name := self.slot(slot))), "") if call else ""

    def label(self, node: Any) -> str:
        if is_accumulator(node):
            name = self.names.get(id(node.variable), "")
        else:
            call = self.calls.get(node)
            name = self.made(node) or (call.text if call else "")
            if call and node is not call.node:
                return f"{node_name(node)} inside {call.text}"
        return f"{node_name(node)} of {name}" if name else node_name(node)

    def queue(self, run: list[Step], at: int) -> tuple[list[str], list[str]]:
        """Who is ready when step number `at` of a pass begins, in the order of their turns, and who has only a part."""
        nodes = [step.node for step in run]
        missing = Counter(child for node in nodes for child, _ in node.next_functions)
        whole = Counter(missing)
        for node in nodes[:at]:
            missing.subtract(child for child, _ in node.next_functions)
        left = nodes[at:]
        return ([self.label(n) for n in left if not missing[n]],
                [f"{self.label(n)} ({whole[n] - missing[n]} of {whole[n]})" for n in left if 0 < missing[n] < whole[n]])

    def tell(self, step: Step, now: Moment) -> Moment:
        node = step.node
        now.node, now.received = self.label(node), ", ".join(text or "None" for text in step.received)
        now.kept = [self.slot(slot) for slot, _ in step.kept]
        if step.slot is not None:
            now.total = f"{step.before or 'None'} + {step.received[0]} = {step.after or 'None'}"
        call = self.calls.get(node)
        if call is None or not step.finished:
            return now
        parameters = self.parameters(call, node)
        arguments = list(getattr(getattr(node, "op", None), "formulas", ()))
        for index, (child, output_nr) in enumerate(node.next_functions):
            if child is None or not step.sent[index]:
                continue
            to = self.target(call, child, output_nr)
            tex = derivative(node.op, arguments[min(index, len(arguments) - 1)], parameters) if arguments else ""
            numbers = ""
            if step.number and step.numbers[index] is not None:
                numbers = f"{step.number:.4g} × {step.numbers[index] / step.number:.4g} = {step.numbers[index]:.4g}"
            now.sent.append(Sent(to, tex and f"{_bar(to)} = {tex}", numbers, step.sent[index]))
        if call.freed:
            now.freed = list(dict.fromkeys(self.slot(s.slot) if s.slot and self.slot(s.slot) else s.text
                                           for s in call.saved if s.node is node and s.tensor))
        return now

    def target(self, call: Call, child: Any, output_nr: int) -> str:
        if is_accumulator(child):
            return self.names.get(id(child.variable), "") or "the leaf"
        return next((name for s in call.inputs if s.node is child and s.output_nr == output_nr
                     and (name := self.slot(s))),
                    self.label(child))

    def parameters(self, call: Call, node: Any) -> dict[str, Any]:
        """What the formula's parameters are called in this program; plain numbers by their value."""
        made = self.made(node)
        found: dict[str, Any] = {"grad": _bar(made), "result": _letters(made)} if made else {}
        for name in getattr(node, "attribute_names", ()):
            value = getattr(node, f"_saved_{name}", None)
            if isinstance(value, (int, float, tuple)):
                found[name] = value
        for saved in call.saved:
            if saved.node is node and saved.tensor:
                found[saved.attribute] = _letters((saved.slot and self.slot(saved.slot)) or saved.text)
        return found


def _letters(name: str) -> str:
    return name if len(name) == 1 or name[:1].isdigit() else rf"\mathrm{{{name}}}"


def _bar(name: str) -> str:
    return rf"\bar{{{_letters(name)}}}"


def stepper_html(now: Moment, step: int | None, steps: int) -> Html:
    """One step as a table."""
    if not steps:
        return tag("p", "No step of a backward pass ran.", class_="mg-note")
    if step is None:
        return tag("p", "The backward pass is over. Step back to see it run.", class_="mg-note")
    queue = (tag("code", name, class_="mg-node" + " mg-now" * (step > 0 and not i)) for i, name in enumerate(now.ready))
    rows = [("queue", tag("span", *queue)),
            ("waits for more", ", ".join(now.waiting)), ("receives grad", now.received and tag("code", now.received))]
    rows += [(f"to {sent.to}", join([mathml(sent.tex) if sent.tex else "",
                                     tag("code", sent.numbers or sent.value, class_="mg-numbers")]))
             for sent in now.sent]
    rows += [("adds up", now.total and tag("code", now.total)), ("keeps (retain_grad)", ", ".join(now.kept)),
             ("frees", ", ".join(now.freed))]
    return tag("table", *(tag("tr", tag("th", name, scope="row"), tag("td", what), key=name) for name,
                          what in rows if what),
               class_="mg-table", aria_label=f"Step {step} of {steps}: {now.node}" if now.node else "Before backward")
