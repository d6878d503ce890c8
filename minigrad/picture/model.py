"""A graph as plain data: what the pictures, the sentences and the tests read. No tensor, no node, no drawing in here.

Ids are made in program order (``t0`` a tensor, ``o0`` an operation, ``e0`` a recorded edge, ``m0`` a storage, ``b0`` a block),
so the same program gives the same model. Every text is plain and unescaped. A model shows one moment: before the backward
pass (step 0), at one of its steps (that node is "now", those before it are "done"), or after it. Flags and steps change what is
written in a model, never which cards, operations and edges it has.

A tensor that is written in place is drawn as two cards: as it was before (``past``) and as it is now.
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

IDLE, NOW, DONE, FAILED = "idle", "now", "done", "failed"      # the states of operations, edges and accumulators

# How much a picture shows, a stage for each lesson; a stage shows what those before it do.
DETAILS = ("flags", "grad_fn", "grad", "no_grad", "leaf", "detach", "saved", "versions")
FLAGS, GRAD_FN, GRAD, NO_GRAD, LEAF, DETACH, SAVED, VERSIONS = range(len(DETAILS))


@dataclass
class Accumulator:
    """The ``AccumulateGrad`` of a leaf: where a branch ends. `number` is the step in which it runs, `hooks` run after it."""

    state: str = IDLE
    number: int | None = None
    hooks: int = 0


@dataclass
class Card:
    """A tensor.

    Attributes
    ----------
    name : str
        The program's name for it; "" if it has none.
    past : str
        Why the name means another tensor (or another value) by now, "line 1" or "before line 4"; "" if it is current.
    value, stats : str
        Its value as PyTorch prints it, "[2.]"; a large tensor's shape "4×2" with "mean -0.2, std 1.3" beside it.
    requires_grad, is_leaf, retains_grad, version
        As on the tensor.
    grad : str
        The stored gradient; "" if ``.grad`` is None, and then `none` says why: "not yet", "not asked", "not kept", or
        "flag off" if ``requires_grad`` was switched off after the graph was built.
    flow, gradient : str
        A gradient that is here at this step without being stored: "passing" (an intermediate result) or "arriving" (a leaf).
    total : str
        "10. + 10. = 20." where a second backward pass added to ``.grad``, with the parts if there were several: "10. + (4. + 6.)".
    accumulator : Accumulator or None
        Of a leaf that the recorded graph leads to.
    hooks : int
        How many hooks its gradient passes; `hooked` says what they made of it, "[12.] → [24.]".
    op, block : str or None
        Ids: the operation that made it, the no_grad block it was made in.
    no_grad : bool
        Made while the recording was off.
    drawn : bool
        False if it is folded into its operation.
    left_out : bool
        The operation that made it is left out of the picture, and so is its value: an ellipsis.
    """

    id: str
    name: str
    value: str
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool = False
    past: str = ""
    stats: str = ""
    version: int = 0
    grad: str = ""
    none: str = ""
    flow: str = ""
    gradient: str = ""
    total: str = ""
    accumulator: Accumulator | None = None
    hooks: int = 0
    hooked: str = ""
    op: str | None = None
    block: str | None = None
    no_grad: bool = False
    drawn: bool = True
    left_out: bool = False


@dataclass
class Saved:
    """What a node remembers: a tensor (freed after use, checked for writes) or a plain number (never freed).

    `name` is the tensor's name or the attribute's ("exponent"), `value` the number; for a tensor that was written since,
    `version` is the one it was saved at and `now` the one it has.
    """

    name: str
    value: str = ""
    tensor: bool = True
    version: int = 0
    now: int = 0


@dataclass
class Op:
    """An operation: what was computed, and under it what was recorded.

    Attributes
    ----------
    text : str
        The code, ``x * y``; `line` is its line in the program (None: unknown), `source` that line's text.
    node : str
        The node's name, "MulBackward0"; "" if nothing was recorded, and then `would` is the name it would have had.
    helpers : int
        How many further nodes the same call recorded (``linear`` makes a ``TBackward0`` too).
    cut : bool
        A ``detach``: the same memory, no history.
    inputs, outputs : list of str
        Ids of the cards that go in and come out, in the order of the call.
    saved : list of Saved
    freed : bool
        Its saved tensors are gone at this step.
    number : int or None
        The backward step in which it runs.
    state : str
        IDLE, NOW, DONE or FAILED (its backward raised).
    hooks : int
        How many hooks its node has.
    module : tuple of str
        The modules whose ``forward`` it ran in, from the outermost: "net", "net.0".
    folded : int
        How many operations this one stands for, if it stands for several; `leaves` of their inputs are not drawn either.
    """

    id: str
    text: str
    node: str = ""
    would: str = ""
    helpers: int = 0
    cut: bool = False
    inplace: bool = False
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    saved: list[Saved] = field(default_factory=list)
    freed: bool = False
    number: int | None = None
    state: str = IDLE
    block: str | None = None
    line: int | None = None
    source: str = ""
    hooks: int = 0
    module: tuple[str, ...] = ()
    folded: int = 0
    leaves: int = 0


@dataclass
class Edge:
    """A recorded edge, ``next_functions[index]`` of the operation `source`, where that is not ``(None, 0)``.

    `target` is the operation whose node it leads to, or the card of the leaf whose AccumulateGrad it leads to; `via` is the card
    of the tensor in between, behind which it passes (None: no input of `source` stands there). `gradient` is what flowed through
    it so far, and `sums` ("4. + 6.") stands on edges that end at one accumulator together.
    """

    id: str
    source: str
    target: str
    via: str | None
    index: int
    state: str = IDLE
    gradient: str = ""
    sums: str = ""


@dataclass
class Memory:
    """A storage that several tensors share, or that was written in place; `cells` as (value, value before the last write or "").

    `names` are those of its tensors, `cards` their ids; `writes` the code that wrote to it.
    """

    id: str
    names: list[str]
    cards: list[str]
    cells: list[tuple[str, str]]
    nbytes: int
    version: int
    writes: list[str] = field(default_factory=list)
    more: int = 0


@dataclass
class Block:
    """A stretch of the program in which the recording was off; `title` is its ``with`` line."""

    id: str
    title: str


@dataclass
class Model:
    """A picture's content. `step` of `steps` (None: after all), `caption` says in words what happens there.

    `note` says what the picture cannot show: what was left out of a graph that is too large, or that only the recorded graph
    was known. `earlier` counts operations before the first that were not even read. `detail` is the stage (one of `DETAILS`, by
    its place); `terse` leaves what nodes remember to the tooltips; `live` keeps room for what other settings of the flags would write.
    """

    cards: list[Card] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    step: int | None = None
    steps: int = 0
    caption: str = ""
    note: str = ""
    earlier: int = 0
    detail: int = VERSIONS
    terse: bool = False
    live: bool = False

    @cached_property
    def by_id(self) -> dict[str, Card | Op]:
        """Cards and operations; ask for it once the model is whole."""
        return {part.id: part for part in (*self.cards, *self.ops)}

    @property
    def rows(self) -> int:
        """How many rows cards and operations have: value lane, gradient lane, and from the stage that shows gradients on, notes."""
        return 3 if self.detail >= GRAD else 2

    @property
    def notes(self) -> int:
        """The stage that the notes under operations are at."""
        return min(self.detail, DETACH) if self.terse else self.detail

    def staged(self, detail: int, terse: bool) -> Model:
        """The model without what a stage does not show yet; its cards, operations and edges stay."""
        cards = [replace(card, none=card.none if detail >= LEAF else "", version=card.version if detail == VERSIONS else 0,
                         **{} if detail >= NO_GRAD else {"no_grad": False, "block": None}) for card in self.cards]
        calm = {} if detail >= GRAD else {"state": IDLE, "number": None}
        ops = [replace(op, **calm, block=op.block if detail >= NO_GRAD else None) for op in self.ops]
        edges = [edge if detail >= GRAD else replace(edge, state=IDLE) for edge in self.edges]
        return replace(self, cards=cards, ops=ops, edges=edges, memories=self.memories if detail >= DETACH else [],
                       blocks=self.blocks if detail >= NO_GRAD else [], detail=detail, terse=terse)
