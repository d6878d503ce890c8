"""What the elements of one picture mean: only those that are in it."""
from __future__ import annotations

from collections.abc import Iterator

from .model import (
    DETACH,
    DONE,
    FAILED,
    FLAGS,
    GRAD,
    GRAD_FN,
    IDLE,
    LEAF,
    NO_GRAD,
    NOW,
    SAVED,
    Accumulator,
    Card,
    Model,
    Op,
)

COLUMN, LINE = 220, 36          # pixels of an entry


def entries(model: Model, cut: bool = False) -> list[tuple[str, str, str]]:
    """The kind of element (what `Ink.sample` draws), its name, and its meaning; `cut`: whether lines end in marks."""
    return [(kind, title, text) for stage, present, kind, title, text in _table(model, cut) if model.detail >= stage and present]


def _table(model: Model, cut: bool) -> Iterator[tuple[int, bool, str, str, str]]:
    cards = [card for card in model.cards if card.drawn and not card.left_out]
    ops, states = model.ops, {part.state for part in (*model.ops, *model.edges)}
    on, corners = "requires_grad True", model.detail >= LEAF
    yield FLAGS, any(c.requires_grad and c.is_leaf for c in cards), "leaf on", "leaf, " * corners + on, "round, blue" if corners else "blue"
    yield LEAF, any(not c.is_leaf for c in cards), "result", "not a leaf", "square corners"
    yield (FLAGS, any(not c.requires_grad and not c.no_grad for c in cards), "leaf off", "leaf, " * corners + "requires_grad False",
           "round, grey, thin" if corners else "grey, thin")
    yield NO_GRAD, any(c.no_grad for c in cards), "no_grad", "made under no_grad", "dashed: not recorded"
    yield FLAGS, bool(ops), "computed", "operation", "what was computed"
    yield FLAGS, bool(ops), "forward", "value", "flows to the right"
    yield FLAGS, cut, "joint", "goes on", "where the same name stands"
    yield GRAD_FN, any(o.node for o in ops), "recorded", "grad_fn", "what was recorded"
    yield GRAD_FN, any(e.state == IDLE for e in model.edges), "edge", "recorded edge", "leads back: next_functions"
    yield NO_GRAD, any(not o.node and not o.cut for o in ops), "ghost", "grad_fn None", "computed, not recorded"
    yield DETACH, any(o.cut for o in ops), "cut", "cut", "no gradient passes here"
    yield GRAD, any(o.state == NOW for o in ops), "now", "running now", "the number is its turn"
    yield GRAD, any(o.state == DONE for o in ops), "done", "has run", "the number is its turn"
    yield GRAD, FAILED in states, "failed", "raised", "its backward failed"
    yield GRAD, DONE in states or NOW in states, "flow", "gradient", "flowed to the left"
    yield GRAD, any(c.flow for c in cards), "passing", "on its way", "a gradient that is not stored"
    yield GRAD, any(c.grad for c in cards), "stored", ".grad", "a gradient that is stored"
    yield GRAD, any(c.accumulator for c in cards), "accumulator", "AccumulateGrad", "adds what arrives to .grad"
    yield GRAD, any(c.total for c in cards) or any(e.sums for e in model.edges), "4 + 6", "sum", "gradients that meet add up"
    yield GRAD, any(p.hooks for p in (*cards, *ops)), "hook", "hook", "a function that sees the gradient"
    for none, why in NONES.items():
        yield LEAF, any(c.none == none and not c.flow for c in cards), "none", none, why
    yield SAVED, any(o.freed for o in ops) and not model.terse, "freed", "freed", "was remembered, is gone"
    yield FLAGS, bool(model.memories), "storage", "storage", "memory that tensors share"
    yield FLAGS, any(c.version for c in cards), "version", "version", "writes in place so far"


NONES = {"not yet": "no backward has reached it", "not asked": "requires_grad is False", "not kept": "a result, not asked to keep it",
         "flag off": "turned off later: dropped"}
SAMPLES = {                                 # a part that looks like the kind
    "leaf on": Card("", "", "", True, True), "leaf off": Card("", "", "", False, True), "result": Card("", "", "", True, False),
    "no_grad": Card("", "", "", False, True, no_grad=True),
    "recorded": Op("", "", "n"), "now": Op("", "", "n", state=NOW), "done": Op("", "", "n", state=DONE),
    "failed": Op("", "", "n", state=FAILED), "ghost": Op("", ""), "accumulator": Accumulator(),
}
