"""The model in sentences: for a screen reader, for a text-only page, and for tests."""
from __future__ import annotations

from .model import DETACH, DONE, FAILED, GRAD, GRAD_FN, LEAF, NO_GRAD, NOW, VERSIONS, Card, Memory, Model, Op
from .text import card_name, note, sentence, shown


def describe(model: Model) -> str:
    """Tell the whole model, in program order, a sentence a line; no more than the picture of its stage shows."""
    lines: dict[str, str] = {}
    for op in model.ops:
        for part in (*(model.by_id[id] for id in op.inputs), op, *(model.by_id[id] for id in op.outputs)):
            _tell(lines, model, part)
    for card in model.cards:
        _tell(lines, model, card)
    told = [*lines.values(), *map(memory_text, model.memories), shown(model.caption), shown(model.note)]
    return "\n".join(filter(None, told)) or "Nothing to draw."


def _tell(lines: dict[str, str], model: Model, part: Card | Op) -> None:
    if part.id not in lines and (isinstance(part, Op) or part.drawn):
        lines[part.id] = op_text(model, part) if isinstance(part, Op) else card_text(part, model.detail)


def card_text(card: Card, detail: int = VERSIONS) -> str:
    """A tensor in a sentence."""
    if card.left_out:
        return f"{card_name(card)}: the operation that made it is left out of the picture."
    words = [f"{card_name(card)} = {card.value}{f' ({card.stats})' if card.stats else ''}"]
    if detail >= LEAF:
        words.append("leaf" if card.is_leaf else "not a leaf")
    words.append(f"requires_grad {card.requires_grad}")
    if detail >= GRAD:
        words += _gradient(card)
    if card.version:
        words.append(f"version {card.version}")
    if card.no_grad:
        words.append("made while recording was off")
    return sentence(", ".join(words))


def _gradient(card: Card) -> list[str]:
    words = ["retain_grad"] if card.retains_grad else []
    words.append(f"grad {card.total or card.grad}" if card.grad else f"grad None ({card.none})" if card.none else "grad None")
    if card.flow:
        words.append(f"gradient {card.gradient} {card.flow}")
    if card.hooks:
        words.append(f"a hook changes its gradient {card.hooked}" if card.hooked else _hooks(card.hooks) + " on its gradient")
    if card.accumulator and card.accumulator.hooks:
        words.append(_hooks(card.accumulator.hooks) + " after its gradient is stored")
    if card.accumulator and not card.requires_grad:
        words.append("switched off after use, so its AccumulateGrad drops what arrives")
    return words


def _hooks(count: int) -> str:
    return f"{count} hooks" if count > 1 else "a hook"


def op_text(model: Model, op: Op) -> str:
    """An operation in a sentence."""
    made = " and ".join(card_name(model.by_id[i]) for i in op.outputs if model.by_id[i].drawn)
    code, detail = f"{shown(op.text)}{f' makes {made}' if made else ''}", model.detail
    if op.cut and detail >= DETACH:
        return f"{code}: a cut, the same storage without history."
    if not op.node and detail >= NO_GRAD:
        would = f" (it would have been {op.would})" if op.would else ""
        return f"{code}: not recorded, grad_fn None{would}."
    if not op.node or detail < GRAD_FN:
        return f"{code}."
    leads = dict.fromkeys(_end(model, edge.target) for edge in model.edges if edge.source == op.id)
    words = [f"recorded as {op.node}", note(op, detail), f"leads back to {' and '.join(leads) or 'nothing'}"]
    if op.hooks:
        words.append(f"with {_hooks(op.hooks)}")
    if op.number:
        state = {NOW: "running now", DONE: "has run", FAILED: "raised"}.get(op.state, "to come")
        words.append(f"backward step {op.number}, {state}")
    return sentence(f"{code}: {', '.join(filter(None, words))}")


def _end(model: Model, id: str) -> str:
    part = model.by_id[id]
    if isinstance(part, Op):
        return shown(part.text) if part.folded else part.node
    if part.left_out:
        return "what is left out"
    return f"{card_name(part)}'s AccumulateGrad" if part.accumulator else card_name(part)


def memory_text(memory: Memory) -> str:
    """A storage in a sentence."""
    cells = ", ".join(now + (f" (was {was})" if was else "") for now, was in memory.cells) + (", …" if memory.more else "")
    names = " and ".join(map(shown, memory.names)) or "a result"
    text = f"{names} {'share one storage' if len(memory.names) > 1 else 'has a storage'} of {memory.nbytes:,} bytes, " \
           f"version {memory.version}: {cells}"
    return sentence(text + (f"; written by {' and '.join(map(shown, memory.writes[-2:]))}" if memory.writes else ""))

