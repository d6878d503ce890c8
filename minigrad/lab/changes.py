"""What a toggle changed, and why: the tensors of two runs compared."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..picture.model import Model
from ..picture.program import UNREADABLE, history, named_tensors, node_name, read
from ..why import Line, explained

__all__ = ["changed_cards", "changes", "state"]

# in this order: what comes first brings the others with it
ATTRIBUTES = ("requires_grad", "grad_fn", "grad", "value")


def state(names: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What there is to say of each named tensor, as texts."""
    said = {}
    for name, tensor in named_tensors(names):
        card, node = read(tensor), history(tensor)[0]
        said[name] = {"requires_grad": str(card.requires_grad), "grad_fn": node_name(node) if node is not None else "None",
                      "grad": card.grad or "None", "value": card.value}
    return said


def changes(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]], names: Mapping[str, Any], lines: list[Line],
            raised: str = "") -> list[str]:
    """A sentence for each named tensor that is not as it was: what it is now, and why."""
    said = []
    tensors = dict(named_tensors(names))
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
            because = explained(tensors[name], what, name, names, lines, raised).because
            said.append(f"{name}.{what} is {now[what]} now, not {was[what]}. {because}")
    return said + [f"{name} is not there any more." for name in before if name not in tensors]


def changed_cards(before: Model, now: Model) -> list[str]:
    """The ids of tensors and operations that look different; a flag moves no id."""
    old = {item.id: _look(item) for item in (*before.cards, *before.ops)}
    return [item.id for item in (*now.cards, *now.ops) if old.get(item.id) != _look(item)]


def _look(item: Any) -> Any:
    """All that a card or an operation says, but for its line: a toggle may move that."""
    return {key: value for key, value in vars(item).items() if key not in ("line", "source", "past", "text", "block")}
