"""What the elements of one picture mean: only those that are in it."""
from __future__ import annotations

from collections.abc import Iterator

from .model import DETAILS, DONE, FAILED, IDLE, NOW, Accumulator, Card, Model, Op

COLUMN, LINE = 220, 36          # pixels of an entry


def entries(model: Model, cut: bool = False) -> list[list[str]]:
    """The kind of element (what `Ink.sample` draws), its name, and its meaning; `cut`: whether lines end in marks."""
    stages = DETAILS[:model.detail + 1]
    return [entry for stage, present, *entry in _table(model, cut) if stage in stages and present]


def _table(model: Model, cut: bool) -> Iterator[tuple[str, bool, str, str, str]]:
    cards = [card for card in model.cards if card.drawn and not card.left_out]
    ops, states = model.ops, {part.state for part in (*model.ops, *model.edges)}
    on, corners = "requires_grad True", model.detail >= DETAILS.index("leaf")
    yield "flags", any(c.requires_grad and c.is_leaf for c in cards), "leaf on", "leaf, " * corners + on, "round, " * corners + "blue"
    yield "leaf", any(not c.is_leaf for c in cards), "result", "not a leaf", "square corners"
    yield ("flags", any(not c.requires_grad and not c.no_grad for c in cards), "leaf off", "leaf, " * corners + "requires_grad False",
           "round, " * corners + "grey, thin")
    yield "no_grad", any(c.no_grad for c in cards), "no_grad", "made under no_grad", "dashed: not recorded"
    yield "flags", bool(ops), "computed", "operation", "what was computed"
    yield "flags", bool(ops), "forward", "value", "flows to the right"
    yield "flags", cut, "joint", "goes on", "where the same name stands"
    yield "grad_fn", any(o.node for o in ops), "recorded", "grad_fn", "what was recorded"
    yield "grad_fn", any(e.state == IDLE for e in model.edges), "edge", "recorded edge", "leads back: next_functions"
    yield "no_grad", any(not o.node and not o.cut for o in ops), "ghost", "grad_fn None", "computed, not recorded"
    yield "detach", any(o.cut for o in ops), "cut", "cut", "no gradient passes here"
    yield "grad", any(o.state == NOW for o in ops), "now", "running now", "the number is its turn"
    yield "grad", any(o.state == DONE for o in ops), "done", "has run", "the number is its turn"
    yield "grad", FAILED in states, "failed", "raised", "its backward failed"
    yield "grad", DONE in states or NOW in states, "flow", "gradient", "flowed to the left"
    yield "grad", any(c.flow for c in cards), "passing", "on its way", "a gradient that is not stored"
    yield "grad", any(c.grad for c in cards), "stored", ".grad", "a gradient that is stored"
    yield "grad", any(c.accumulator for c in cards), "accumulator", "AccumulateGrad", "adds what arrives to .grad"
    yield "grad", any(c.total for c in cards) or any(e.sums for e in model.edges), "4 + 6", "sum", "gradients that meet add up"
    yield "grad", any(p.hooks for p in (*cards, *ops)), "hook", "hook", "a function that sees the gradient"
    for none, why in NONES.items():
        yield "leaf", any(c.none == none and not c.flow for c in cards), "none", none, why
    yield "saved", any(o.freed for o in ops) and not model.terse, "freed", "freed", "was remembered, is gone"
    yield "flags", bool(model.memories), "storage", "storage", "memory; dotted lines: whose it is"
    yield "flags", any(c.version for c in cards), "version", "version", "writes in place so far"


NONES = {"not yet": "no backward has reached it", "not asked": "requires_grad is False", "not kept": "a result, not asked to keep it",
         "flag off": "turned off later: dropped"}
SAMPLES = {                                 # a part that looks like the kind
    "leaf on": Card("", "", "", True, True), "leaf off": Card("", "", "", False, True), "result": Card("", "", "", True, False),
    "no_grad": Card("", "", "", False, True, no_grad=True),
    "recorded": Op("", "", "n"), "now": Op("", "", "n", state=NOW), "done": Op("", "", "n", state=DONE),
    "failed": Op("", "", "n", state=FAILED), "ghost": Op("", ""), "accumulator": Accumulator(),
}
