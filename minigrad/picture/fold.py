"""Make a model small enough to draw: operations in a row that belong together become one, by module first, then by distance."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from .model import DONE, FAILED, IDLE, NOW, Card, Edge, Model, Op

MOST_CARDS = 40         # with more, parameters and leaves without a name are only counted
MOST_LEAVES = 6         # so many leaves that only one folded operation uses are drawn; a module's parameters never


def fold(model: Model, most: int) -> Model:
    """The model with at most so many operations, and a note that says which stand for several; itself if it is small enough."""
    crowded = sum(card.drawn for card in model.cards) > MOST_CARDS
    if len(model.ops) + model.earlier <= most and not crowded:
        return model
    groups: list[tuple[Op, ...]] = [(op,) for op in model.ops]
    for depth in range(max((len(op.module) for op in model.ops), default=0), 0, -1):
        if len(groups) > most:
            groups = _joined(model.ops, depth)
    over = len(groups) - most
    if over > 0 or model.earlier:
        far = [op for group in groups[:max(over, 0) + 1] for op in group]
        groups = [tuple(far), *groups[max(over, 0) + 1:]]
    return _Folded(model, groups, crowded).model


def _joined(ops: Iterable[Op], depth: int) -> list[tuple[Op, ...]]:
    """Operations that follow each other inside one module of this depth, together; the others alone."""
    return [tuple(group) for _, group in groupby(ops, lambda op: op.module[:depth] if len(op.module) >= depth else op.id)]


class _Folded:

    def __init__(self, model: Model, groups: list[tuple[Op, ...]], crowded: bool) -> None:
        self.old = model
        self.into = {op.id: group[0].id for group in groups for op in group}
        used = {(id, self.into[op.id]) for op in model.ops for id in op.inputs}
        self.users = Counter(id for id, _ in used)
        self.hidden = {card.id for card in model.cards if crowded and card.is_leaf and ("." in card.name or not card.name)}
        ops = [self._one(group) if len(group) > 1 or model.earlier and not i else self._thin(group[0]) for i, group in enumerate(groups)]
        cards = [card for card in model.cards if card.id not in self.hidden]
        memories = [replace(memory, cards=left) for memory in model.memories if (left := [c for c in memory.cards if c not in self.hidden])]
        folded = [f"{op.text} ({op.folded:,})" for op in ops if op.folded]
        named = ", ".join(folded[:3]) + (f" and {len(folded) - 3} more" if len(folded) > 3 else "")
        note = f"{sum(op.folded for op in ops):,} operations are folded into {len(folded)}: {named}." if folded else ""
        parameters = sum(c.is_leaf and "." in c.name and not c.past and not c.name.endswith(".grad") for c in model.cards)
        if crowded and parameters:
            note += f" {parameters} parameters are counted, not drawn."
        self.model = replace(model, cards=cards, ops=ops, edges=self._edges(), memories=memories, earlier=0,
                             note=f"{note} {model.note}".strip())

    def _thin(self, op: Op) -> Op:
        """An operation without the cards that are hidden."""
        inputs = [id for id in op.inputs if id not in self.hidden]
        return replace(op, inputs=inputs, outputs=[id for id in op.outputs if id not in self.hidden], leaves=len(op.inputs) - len(inputs))

    def _one(self, group: tuple[Op, ...]) -> Op:
        """An operation that stands for several."""
        first, made = group[0], {id for op in group for id in op.outputs}
        inside = [id for op in group for id in (*op.inputs, *op.outputs)]
        module = common(op.module for op in group)
        outputs = [id for id in made - self.hidden if self._leaves(id, group)]
        leaves = [id for id in dict.fromkeys(inside) if id not in made and self.users[id] == 1 and self.old.by_id[id].op is None]
        own = [id for id in leaves if self._goes(self.old.by_id[id], len(leaves))]
        self.hidden |= made - set(outputs) | set(own)
        nodes = sum(1 + op.helpers for op in group if op.node)
        states = {op.state for op in group if op.node}
        state = next((s for s in (FAILED, NOW) if s in states), DONE if states == {DONE} else IDLE)
        earlier = self.old.earlier if first is self.old.ops[0] else 0
        text = module[-1] if module and not earlier else "earlier operations"
        blocks = {op.block for op in group}
        inputs = [id for id in dict.fromkeys(inside) if id not in made and id not in self.hidden]
        return Op(first.id, text, f"{nodes:,} nodes" if nodes else "", inputs=inputs, outputs=sorted(outputs, key=lambda id: int(id[1:])),
                  freed=all(op.freed for op in group if op.saved), state=state, block=blocks.pop() if len(blocks) == 1 else None,
                  module=module, folded=len(group) + earlier,
                  leaves=sum(self.old.by_id[id].drawn and not self.old.by_id[id].left_out for id in own))

    def _leaves(self, id: str, group: tuple[Op, ...]) -> bool:
        """Whether a result is used outside the group, or is an end."""
        here = sum(id in op.inputs for op in group) > 0
        return self.users[id] > here or not self.users[id] and self.old.by_id[id].drawn

    def _goes(self, card: Card, leaves: int) -> bool:
        """Whether a leaf that only the group uses is folded too."""
        return not card.drawn or card.left_out or "." in card.name or leaves > MOST_LEAVES

    def _edges(self) -> list[Edge]:
        found: dict[tuple[str, str, str | None], Edge] = {}
        for edge in self.old.edges:
            source, target = self.into[edge.source], self.into.get(edge.target, edge.target)
            via = None if edge.via in self.hidden else edge.via
            if source != target and target not in self.hidden and (source, target, via) not in found:
                found[source, target, via] = replace(edge, source=source, target=target, via=via)
        return list(found.values())


def common(modules: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The modules that all of these are in."""
    found: list[str] = []
    for level in zip(*modules, strict=False):
        if len(set(level)) > 1:
            break
        found.append(level[0])
    return tuple(found)
