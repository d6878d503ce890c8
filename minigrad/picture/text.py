"""The words of a picture and their widths: what stands in each row of a card and of an operation.

Widths are our own and are pinned with ``textLength``, so a picture looks the same whatever fonts a page has.
"""
from __future__ import annotations

from functools import lru_cache

from .model import DETACH, FAILED, GRAD, LEAF, NO_GRAD, SAVED, VERSIONS, Card, Memory, Model, Op, Saved

CODE, NOTE = 13, 11            # font sizes
MORE = 34                      # pixels for how many more elements a memory has
LONGEST = 22            # characters of a value or a gradient that are written out
MOST_NAME, MOST_CODE = 14, 30  # characters; what is longer ends in an ellipsis and stands whole in the tooltip

# Advance widths of the Arial family, in thousandths of the font size.
_WIDTHS = {c: w for w, group in {
    222: "ijl'|", 278: " .,:;!/ftI[]\\·", 333: "()-r`", 389: "*", 500: "ckvsxyzJ", 556: "abdeghnopqu0123456789_?$L#", 584: "+=<>×−→~",
    611: "FTZ", 667: "ABEKPSVXY&", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1000: "…"}.items() for c in group}


def shown(text: str) -> str:
    """Text as it may be drawn: no control characters, nothing that changes the direction of writing. Lines stay lines."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").expandtabs(4)
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def sentence(text: str) -> str:
    """End with a full stop; a number like ``10.`` brings its own."""
    return text if text.endswith(".") else text + "."


def short(text: str, most: int) -> str:
    text = shown(text)
    return text if len(text) <= most else text[:most - 1] + "…"


@lru_cache(4096)
def code_width(text: str, size: float = CODE) -> float:
    return sum(1.0 if ord(c) < 0x1100 else 2.0 for c in text) * 0.602 * size


@lru_cache(4096)
def note_width(text: str, bold: bool = False, size: float = NOTE) -> float:
    return sum(_WIDTHS.get(c, 640 if ord(c) < 0x1100 else 1000) for c in text) * size / 1000 * (1.09 if bold else 1)


# Cards ---------------------------------------------------------------------------------------------------------------------

def flags(card: Card, detail: int = VERSIONS) -> list[tuple[str, bool]]:
    """The last row: flags in PyTorch's words, False written too; whether bold."""
    leaf = "" if detail < LEAF else "leaf · " if card.is_leaf else "not a leaf · "
    return [(leaf, False), (f"requires_grad {card.requires_grad}", card.requires_grad)]


def card_width(card: Card, detail: int = VERSIONS, live: bool = False) -> float:
    """Room for the widest that any backward step, and with `live` any setting of the flags, can write."""
    if card.left_out:
        return 26
    made = card.op is not None or not card.is_leaf
    name = code_width(short(card.name or "no name", MOST_NAME)) + (note_width(card.past) + 6 if card.past else 0)
    value = code_width(short(card.value, MOST_CODE)) + (note_width(card.stats) + 8 if card.stats else 0)
    rows = [name + value + (30 if detail == VERSIONS else 12)]
    if detail >= GRAD:
        rows.append(note_width("arriving") + 8 + gradient_width(card) + (0 if made else 38))
        empty = code_width("None") + (5 + note_width("not asked") if live or detail >= LEAF else 0)
        keeps = 6 + note_width("retain_grad", True) if live or card.retains_grad else 0
        rows.append(note_width(".grad") + 8 + max(gradient_width(card), empty) + keeps if made else 0)
    rows.append(note_width("" if detail < LEAF else "not a leaf · " if made else "leaf · ") + note_width("requires_grad True", True))
    return round(max(rows) + 20)


def joint(part: Card | Op) -> str:
    """What a line that comes from a part is called where it goes on in another row."""
    text = part.name or "…" if isinstance(part, Card) else part.text.partition(" = ")[0] if " = " in part.text else part.text
    return short(text, MOST_NAME)


def joint_width(text: str) -> float:
    return note_width(text, True) + 10


def card_name(card: Card) -> str:
    name = shown(card.name) or "a result without a name"
    return f"{name} ({card.past})" if card.past else name


def gradient_width(card: Card) -> float:
    """Room for a gradient of the card's shape; what is longer is set narrower."""
    several = card.value.count(",") + 1
    return code_width("0" * (11 if "×" in card.value else 7 if several == 1 else 5 * several + 2))


# Operations ----------------------------------------------------------------------------------------------------------------

def saved_text(saved: Saved) -> str:
    return shown(saved.name) if saved.tensor else f"{shown(saved.name)} {saved.value}"


def note(op: Op, detail: int = VERSIONS) -> str:
    """The third row of an operation."""
    spoilt = [s for s in op.saved if s.version != s.now]
    if op.cut:
        return "same storage, no history" if detail >= DETACH else ""
    if not op.node and not op.folded:
        return "not recorded" if detail >= NO_GRAD else ""
    leaves = f"{op.leaves:,} {'leaves' if op.leaves > 1 else 'leaf'}" * bool(op.leaves)
    if op.folded or leaves:
        return f"{op.folded:,} operations{', ' * bool(leaves)}{leaves} in one" if op.folded else f"uses {leaves}"
    if spoilt and (detail == VERSIONS or op.state == FAILED):
        return f"{shown(spoilt[0].name)} was v{spoilt[0].version}, is v{spoilt[0].now} now: raises"
    if detail < SAVED:
        return ""
    tensors = list(dict.fromkeys(saved_text(s) for s in op.saved if s.tensor))
    plain = [saved_text(s) for s in op.saved if not s.tensor]
    helpers = f" · +{op.helpers} helper{'s' * (op.helpers > 1)}" if op.helpers else ""
    if op.freed and tensors:
        return f"freed: {_list(tensors)}{helpers}"
    what = _list(tensors + plain) if tensors or plain else "nothing"
    return f"remembers {what}{' for backward' if tensors and not plain and not helpers else ''}{helpers}"


def _list(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def op_width(op: Op, names: list[str], detail: int = VERSIONS) -> float:
    """Room for the code, for the node's name with its number, and for the notes of every setting; `names` are the inputs'."""
    longest = f"remembers {_list(names)} for backward" if detail >= SAVED else "same storage, no history" if op.cut else ""
    notes = max(note_width(text, True) for text in (note(op, detail), longest, "x was v0, is v1 now: raises" * (detail == VERSIONS)))
    return round(max(code_width(short(op.text, MOST_CODE)) + 22, code_width(op.node or op.would) + 46, notes + 6))


def memory_width(memory: Memory) -> float:
    return max(sum(cell_width(*cell) for cell in memory.cells) + MORE * bool(memory.more), note_width(memory_text(memory)), 60)


def cell_width(now: str, was: str) -> float:
    return max(40, code_width(now) + (note_width(f"(was {was})") + 6 if was else 0) + 16)


def memory_text(memory: Memory) -> str:
    return f"one storage · {memory.nbytes:,} bytes · version {memory.version}"


# What happens to a gradient ------------------------------------------------------------------------------------------------

def tags(model: Model, part: Card | Op) -> str:
    """What stands under a card or an operation: parts that meet, what an earlier pass had left, hooks."""
    if isinstance(part, Op):
        return _hooks(part.hooks)
    found = part.accumulator
    sums = next((e.sums for e in model.edges if e.target == part.id and e.sums), "")
    if len(sums) > LONGEST:
        sums = f"{sums.count(' + ') + 1} parts"
    sums = f"receives {sums}" * bool(sums)
    hook = f"hook: {part.hooked}" if part.hooked else _hooks(part.hooks)
    after = f"{_hooks(found.hooks)} after ⊕" if found and found.hooks else ""
    return shown(" · ".join(filter(None, (part.total or sums, hook, after))))


def _hooks(count: int) -> str:
    return f"{count} hooks" if count > 1 else "hook" * count
