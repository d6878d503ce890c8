"""The model in sentences: for a screen reader, for a text-only page, and for tests."""
from __future__ import annotations

from .model import DONE, FAILED, NOW, Card, Memory, Model, Op
from .text import card_name, note, sentence, shown


def describe(model: Model) -> str:
    """Tell the whole model, in program order, a sentence a line."""
    lines, told = [], set()

    def tell(id: str) -> None:
        card = model.card(id)
        if id not in told and card.drawn:
            told.add(id)
            lines.append(card_text(card))

    for op in model.ops:
        for id in op.inputs:
            tell(id)
        lines.append(op_text(model, op))
        for id in op.outputs:
            tell(id)
    for card in model.cards:
        tell(card.id)
    lines += [memory_text(memory) for memory in model.memories]
    return "\n".join([*lines, *filter(None, (shown(model.caption), shown(model.note)))]) or "Nothing to draw."


def card_text(card: Card) -> str:
    """A tensor in a sentence."""
    if card.left_out:
        return f"{card_name(card)}: the operation that made it is left out of the picture."
    words = [f"{card_name(card)} = {card.value}{f' ({card.stats})' if card.stats else ''}",
             "leaf" if card.is_leaf else "not a leaf", f"requires_grad {card.requires_grad}"]
    if card.retains_grad:
        words.append("retain_grad")
    words.append(f"grad {card.total or card.grad}" if card.grad else f"grad None ({card.none})")
    if card.flow:
        words.append(f"gradient {card.gradient} {card.flow}")
    if card.accumulator and not card.requires_grad:
        words.append("switched off after use, so its AccumulateGrad drops what arrives")
    if card.version:
        words.append(f"version {card.version}")
    if card.no_grad:
        words.append("made while recording was off")
    return sentence(", ".join(words))


def op_text(model: Model, op: Op) -> str:
    """An operation in a sentence."""
    made = " and ".join(card_name(model.card(i)) for i in op.outputs if model.card(i).drawn)
    code = f"{shown(op.text)}{f' makes {made}' if made else ''}"
    if op.cut:
        return f"{code}: a cut, the same storage without history."
    if not op.node:
        would = f" (it would have been {op.would})" if op.would else ""
        return f"{code}: not recorded, grad_fn None{would}."
    words = [f"recorded as {op.node}", note(op)]
    leads = [_end(model, edge.target) for edge in model.edges if edge.source == op.id]
    words.append(f"leads back to {' and '.join(dict.fromkeys(leads))}" if leads else "leads back to nothing")
    if op.number:
        state = {NOW: "running now", DONE: "has run", FAILED: "raised"}.get(op.state, "to come")
        words.append(f"backward step {op.number}, {state}")
    return sentence(f"{code}: {', '.join(words)}")


def _end(model: Model, id: str) -> str:
    if id.startswith("o"):
        return model.op(id).node
    card = model.card(id)
    if card.left_out:
        return "what is left out"
    return f"{card_name(card)}'s AccumulateGrad" if card.accumulator else card_name(card)


def memory_text(memory: Memory) -> str:
    """A storage in a sentence."""
    cells = ", ".join(now + (f" (was {was})" if was else "") for now, was in memory.cells) + (", …" if memory.more else "")
    names = " and ".join(map(shown, memory.names)) or "a result"
    text = f"{names} {'share one storage' if len(memory.names) > 1 else 'has a storage'} of {memory.nbytes:,} bytes, " \
           f"version {memory.version}: {cells}"
    return sentence(text + (f"; written by {' and '.join(map(shown, memory.writes[-2:]))}" if memory.writes else ""))

