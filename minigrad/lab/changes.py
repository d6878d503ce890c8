"""What a toggle changed, and why: the tensors of two runs compared."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..picture import Recorder
from ..picture.model import Model
from ..picture.program import UNREADABLE, history, is_accumulator, named_tensors, node_name, read
from ..why import Line, explained

__all__ = ["changed_cards", "changes", "state"]

# in this order: what comes first brings the others with it
ATTRIBUTES = ("requires_grad", "grad_fn", "grad", "value")


def state(names: Mapping[str, Any], recorder: Recorder | None = None) -> dict[str, dict[str, Any]]:
    """What there is to say of each named tensor, as texts; of leaves that a recorded pass reached also by which lines it came."""
    said, roads = {}, _roads(recorder) if recorder else {}
    for name, tensor in named_tensors(names):
        card, node = recorder.card(tensor) if recorder else read(tensor), history(tensor)[0]
        said[name] = {"requires_grad": str(card.requires_grad), "grad_fn": node_name(node) if node is not None else "None",
                      "grad": card.grad or "None", "value": card.value, "roads": roads.get(id(tensor), {})}
    return said


def _roads(recorder: Recorder) -> dict[int, dict[str, tuple[str, list[str]]]]:
    """By leaf (its id) and by line: the line with its number, and the gradients that came from what it recorded."""
    found: dict[int, dict[str, tuple[str, list[str]]]] = {}
    calls = {node: call for call in recorder.calls for node in call.nodes}
    for step in recorder.trace:
        for (child, _), sent in zip(step.node.next_functions, step.sent, strict=False):
            call = calls.get(step.node)
            if sent and call and child is not None and is_accumulator(child):
                road = found.setdefault(id(child.variable), {}).setdefault(call.source, (f"`{call.source}` (line {call.line})", []))
                road[1].append(sent)
    return found


def _came(was: dict[str, tuple[str, list[str]]], now: dict[str, tuple[str, list[str]]]) -> str:
    """How the sum of what came to a leaf is another one."""
    told = []
    for source in dict.fromkeys((*now, *was)):
        (line, new), old = now.get(source, ("", [])), was.get(source, ("", []))[1]
        if new and new != old:
            told.append(f"{line} brings {' and '.join(new)} to it now" + (f", not {' and '.join(old)}" if old else ""))
        elif not new:
            told.append(f"nothing comes through `{source}` any more, it brought {' and '.join(old)}")
    text = "; ".join(told)
    return f"{text[:1].upper()}{text[1:]}." if told else ""


def changes(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]], names: Mapping[str, Any], lines: list[Line],
            raised: str = "", end: int | None = None) -> list[str]:
    """A sentence for each named tensor that is not as it was: what it is now, and why.

    `raised` is what the last backward() raised; `end` is the line that ended the program early.
    """
    said, tensors = [], dict(named_tensors(names))
    for name, now in after.items():
        was = before.get(name)
        different = [a for a in ATTRIBUTES if was is not None and was[a] != now[a]]
        if was is None:
            said.append(f"{name} is new.")
        elif different and now["value"] == UNREADABLE:
            said.append(f"{name} cannot be read now: it is a view that was made while recording was off, and its base was written since.")
        elif different == ["value"]:
            said.append(f"{name} is {now['value']} now, not {was['value']}.")
        elif different:
            what = different[0]
            came = _came(was["roads"], now["roads"]) if what == "grad" and "None" not in (was[what], now[what]) else ""
            also = f" {name}.grad is {now['grad']} now, not {was['grad']}." * (what != "grad" and "grad" in different)
            because = came or explained(tensors[name], what, name, names, lines, raised).because
            said.append(f"{name}.{what} is {now[what]} now, not {was[what]}. {because}{also}")
    gone = [name for name in before if name not in tensors]
    if gone and end:
        return [*said, f"{' and '.join(gone)}: not made. The program stopped in line {end}."]
    return said + [f"{name} is not there any more." for name in gone]


def changed_cards(before: Model, now: Model) -> list[str]:
    """The ids of tensors and operations that look different."""
    old = {called: _look(item) for called, item in _called(before)}
    return [item.id for called, item in _called(now) if old.get(called) != _look(item)]


def _called(model: Model) -> Iterator[tuple[Any, Any]]:
    """Tensors and operations by what they are called, and the how manieth of that name: one more operation moves all ids behind it."""
    met: Counter[Any] = Counter()
    for item in (*model.cards, *model.ops):
        name = type(item), getattr(item, "name", None) or getattr(item, "text", "")
        met[name] += 1
        yield (name, met[name]), item


def _look(item: Any) -> Any:
    """All that a card or an operation says, but for its line and for ids: a toggle may move these."""
    moved = ("id", "op", "inputs", "outputs", "line", "source", "past", "text", "block")
    return {key: value for key, value in vars(item).items() if key not in moved}
