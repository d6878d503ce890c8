"""Our own drawing over Graphviz's geometry: one SVG for all themes, every id with its view's prefix."""
from __future__ import annotations

from functools import cached_property

from . import text as words
from .describe import card_text, memory_text, op_text
from .geometry import ROW, Box, Layout, Point
from .layout import WIDTH, path, place
from .legend import COLUMN, LINE, SAMPLES, entries
from .model import DETACH, DONE, FAILED, GRAD, GRAD_FN, IDLE, LEAF, NO_GRAD, NOW, Accumulator, Card, Memory, Model, Op
from .pen import BADGE, Pen, curve, escape, fonts, style
from .rows import MARK
from .text import CODE, MORE, MOST_CODE, MOST_NAME, cell_width, code_width, flags, note, note_width, short, shown, tags

SIZES = {"notebook": 1.0, "projector": 18 / CODE}
GHOST = "ghost"
DOTTED = "1.5 3.5"                       # whose memory; dashes say: not recorded
LOOKS = {                                 # of the lower pill: fill, border, its width, dashes, text, bold
    IDLE: ("onfill", "on", 1.2, "", "ontext", False), NOW: ("now", "now", 1.2, "", "nowtext", True),
    DONE: ("gradfill", "grad", 1.2, "", "gradtext", False), FAILED: ("surface", "err", 1.7, "", "err", True),
    GHOST: ("none", "ghost", 1.1, "3 3", "ghosttext", False),
}
FLOWS = {IDLE: "on", NOW: "now", DONE: "grad", FAILED: "err"}


def to_svg(model: Model, prefix: str = "mg", theme: str = "auto", size: str = "notebook", caption: bool = False,
           legend: bool = False) -> str:
    """Draw a model.

    Parameters
    ----------
    prefix : str
        Begins every id, so that two pictures on one page do not share any.
    theme : {"auto", "light", "dark"}
        "auto" follows the page; the others hold where there is no style sheet.
    size : {"notebook", "projector"}
        13 or 18 pixel text; for the projector, what nodes remember is left to the tooltips.
    caption, legend : bool
        Whether to write the step's caption, and what the elements mean, under the picture.

    Raises
    ------
    LayoutError
        If Graphviz is missing or takes too long.
    """
    return _Ink(model, prefix, theme).svg(SIZES[size], caption, legend)


class _Ink(Pen):

    def __init__(self, model: Model, prefix: str, theme: str) -> None:
        super().__init__(theme)
        self.model, self.prefix = model, prefix
        self.drawn: set[str] = set()
        self.tied: dict[str, str] = {}                        # tensors with a mark for their memory, and the memory's names

    def svg(self, scale: float, caption: bool, legend: bool) -> str:
        model, by_id = self.model, self.model.by_id
        layout = self.layout = place(model, WIDTH / scale) if model.cards else Layout(width=20, height=10)
        for title, box in layout.blocks:
            self.rect(box, 10, "block", "ghost", 1.2, dash="5 3")
            self.code(box.x + 12, box.y + 17, short(title, int((box.w - 20) / code_width("0"))), "muted")
        for memory in model.memories:
            self.links(memory)
        self.edges()
        for op in model.ops:
            for part in (*(by_id[id] for id in op.inputs), op, *(by_id[id] for id in op.outputs)):
                self.part(part)
        for part in model.cards:
            self.part(part)
        for memory in model.memories:
            self.memory(memory)
        width, height = max(layout.width, 40), layout.height
        note = model.note or "Nothing to draw." * (not model.cards)
        for text, role, bold in (*_caption(model.caption if caption else ""), (note, "muted", False)):
            for line in _lines(text, max(width - 20, 420)):
                width, height = max(width, note_width(line, bold, 13) + 20), height + 20
                self.note(10, height - 8, line, role, bold=bold, size=13)
        if legend:
            width, height = self.legend(width, height)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" class="mg-picture" id="{escape(self.prefix)}" role="group" '
                f'aria-label="{escape(_headline(model))}" width="{width * scale:.0f}" height="{height * scale:.0f}" '
                f'viewBox="0 0 {width:.1f} {height:.1f}">'
                + f"<style>{style() if self.theme == 'auto' else fonts()}</style>"
                + f'<rect width="100%" height="100%" style="fill:{self.colour("page")}"/>' + "".join(self.parts) + "</svg>")

    def group(self, id: str, label: str, box: Box) -> None:
        """Open a group: one tab stop for the whole picture, arrow keys walk on from there."""
        self.parts.append(f'<g id="{escape(self.prefix)}-{id}" role="img" tabindex="{-1 if self.drawn else 0}" '
                          f'aria-label="{escape(label)}"><title>{escape(label)}</title>')
        self.drawn.add(id)
        self.rect(box.grown(4, 4, 4, 4), 12, "none", "on", 2, kind="halo")

    def part(self, part: Card | Op) -> None:
        """A card or an operation with its tag, once."""
        box = self.layout.boxes.get(part.id)
        if box is None or part.id in self.drawn:
            return
        if isinstance(part, Op):
            label = op_text(self.model, part) + (f" Line {part.line}: {part.source}" if part.source else "")
            self.group(part.id, label, box)
            self.op(part, box)
        else:
            self.group(part.id, card_text(part, self.model.detail), box)
            self.card(part, box)
        text = tags(self.model, part) if self.model.detail >= GRAD else ""
        width = min(note_width(text, True) + 12, box.w)
        tag = Box(box.right - width, box.bottom + 4, width, 17) if text else None         # on a card under its ⊕, where gradients arrive
        if part.id in self.tied:
            self.tie(part.id, box, tag)
        if tag:
            self.tag(tag, text)
        self.parts.append("</g>")

    def tag(self, box: Box, text: str) -> None:
        self.rect(box, 3, "gradfill", "grad", 1)
        self.note(box.x + 6, box.y + 12.5, text, "gradtext", bold=True, most=box.w - 12)

    # Edges --------------------------------------------------------------------------------------------------------------

    def edges(self) -> None:
        curves, model = self.layout.curves, self.model
        faint = {op.id for op in model.ops if op.block}
        for (lane, source, target), pieces in curves.items():
            if lane == "value":
                role = "ghost" if source in faint or target in faint else "fwd"
                self.line("".join(map(curve, pieces)), role, 1.2)
                self.arrow(pieces[-1][-1], False, role)
                self.marks(source, pieces, role)
        if model.detail < GRAD_FN:
            return
        for op in model.ops:                                  # a short stub from each result to its grad_fn
            for id in op.outputs if op.node else ():
                card = model.by_id[id]
                if ("gradient", op.id, id) in curves and card.requires_grad and not card.is_leaf:
                    self.stroke(op.state if op.state in (NOW, DONE) and op.number else IDLE, [(op.id, id)])
        for state in (IDLE, DONE, NOW):                       # what runs now lies on top
            for edge in model.edges:
                links = path(model, edge) or [(edge.target, edge.source)]
                if edge.state == state and any(("gradient", *link) in curves for link in links):
                    self.stroke(state, links)

    def stroke(self, state: str, links: list[tuple[str, str]]) -> None:
        """A recorded edge, from node to node behind the card of the tensor between them."""
        role, lane = FLOWS[state], [pieces for link in links if (pieces := self.layout.curves.get(("gradient", *link)))]
        across = [[a[-1][-1]] * 2 + [b[0][0]] * 2 for a, b in zip(lane[1:], lane, strict=False)]
        self.flow(state, [piece for pieces in [*lane, across] for piece in pieces], lane[-1][0][0])
        for (source, _), pieces in zip(links, lane, strict=False):
            self.marks(source, pieces, role)

    def flow(self, state: str, pieces: list[list[Point]], tip: Point) -> None:
        self.line("".join(map(curve, pieces)), FLOWS[state], 2.6 if state == NOW else 1.5)
        self.arrow(tip, True, FLOWS[state], hollow=state == IDLE)

    def marks(self, source: str, pieces: list[list[Point]], role: str) -> None:
        """Where a line goes on in another row: the name of what comes from `source`, at both loose ends."""
        if len(pieces) == 2:
            text = self.joints[source]
            width = words.joint_width(text)
            for x, y in (pieces[0][-1], (pieces[1][0][0] - width, pieces[1][0][1])):
                self.mark(Box(x, y - MARK / 2, width, MARK), text, role)

    def mark(self, box: Box, text: str, role: str) -> None:
        self.parts.append("<g><title>the line goes on where the same name stands</title>")
        self.rect(box, 4, "surface", role, 1.2)
        self.note(box.x + box.w / 2, box.y + 12, text, "ink", "middle", bold=True)
        self.parts.append("</g>")

    @cached_property
    def joints(self) -> dict[str, str]:
        """The names at loose ends, by what the line comes from; a second one of the same name has a prime."""
        found: dict[str, str] = {}
        for (_, source, _), pieces in self.layout.curves.items():
            if len(pieces) == 2 and source not in found:
                name = words.joint(self.model.by_id[source])
                same = sum(name == other.rstrip("'") for other in found.values())
                found[source] = name + "'" * same
        return found

    # Cards --------------------------------------------------------------------------------------------------------------

    def frame(self, card: Card, box: Box) -> None:
        """The border says the flags: blue or grey, round or square, dashed."""
        stroke, width = ("on", 1.7) if card.requires_grad else ("ghost", 1.1) if card.no_grad else ("line", 1.1)
        self.rect(box, self.corner(card), "none", stroke, width, "5 3" * card.no_grad)

    def corner(self, card: Card) -> float:
        return 6 if self.model.detail < LEAF else 11 if card.is_leaf else 1.5

    def card(self, card: Card, box: Box) -> None:
        if card.left_out:
            for row in (0, 1):
                self.code(box.x + box.w / 2, box.lane(row) + 2, "…", "muted", "middle", bold=True)
            return
        detail, ink = self.model.detail, "muted" if card.past else "ink"
        self.rect(box, self.corner(card), "surface")
        if detail >= GRAD and card.grad:
            self.rect(Box(box.x, box.y + ROW, box.w, ROW), 0, "gradfill")
        self.line(f"M{box.x:.1f},{box.y + ROW:.1f}h{box.w:.1f}", "op", 1)
        if detail >= GRAD and card.flow and not card.grad:
            self.rect(Box(box.x + 3, box.y + ROW + 2, box.w - 6, ROW - 4), 3, "none", "grad", 1.3)
        self.frame(card, box)
        left, right = box.x + 10, box.right - 10
        name = short(card.name, MOST_NAME)
        if name:
            self.code(left, box.y + 15.5, name, ink, bold=not card.past)
        else:
            self.note(left, box.y + 15.5, "no name", "muted", italic=True)
        beside = left + (code_width(name) if name else note_width("no name")) + 6
        if card.past:
            self.note(beside, box.y + 15.5, card.past, "muted", italic=True)
            beside += note_width(card.past) + 6
        if card.version:
            self.note(beside, box.y + 15.5, f"v{card.version}", "store", bold=True)
        if card.stats:
            self.note(right, box.y + 15.5, card.stats, "muted", "end")
            right -= note_width(card.stats) + 8
        self.code(right, box.y + 15.5, short(card.value, MOST_CODE), ink, "end")
        if detail >= GRAD:
            self.gradient(card, box)
        x = left
        for text, bold in flags(card, detail):
            self.note(x, box.bottom - ROW + 14.5, text, "on" if bold else "muted", bold=bold)
            x += note_width(text, bold)

    def gradient(self, card: Card, box: Box) -> None:
        """The second row: what is in .grad, or what is on its way."""
        y, left, right = box.y + ROW + 15.5, box.x + 10, box.right - 10
        if card.accumulator is not None:
            right = self.accumulator(card.accumulator, box, bool(card.grad))
        if card.retains_grad and not card.flow:
            self.note(right, y, "retain_grad", "gradtext" if card.grad else "grad", "end", bold=True)
            right -= note_width("retain_grad", True) + 6
        if card.grad:
            self.note(left, y, ".grad", "gradtext")
            self.code(right, y, card.grad, "gradtext", "end", bold=True, most=right - left - note_width(".grad") - 8)
        elif card.flow:
            self.note(left, y, card.flow, "grad", italic=True)
            self.code(right, y, card.gradient, "grad", "end", most=right - left - note_width(card.flow) - 8)
        else:
            self.note(left, y, ".grad", "muted")
            self.note(right, y, card.none, "muted", "end", italic=True)
            self.code(right - note_width(card.none) - 5 * bool(card.none), y, "None", "ghosttext", "end")

    def accumulator(self, accumulator: Accumulator, box: Box, stored: bool = False) -> float:
        """⊕, with its number in the engine's order; returns where the text before it may end."""
        x, y, role, running = box.right - 15, box.lane(1), FLOWS[accumulator.state], accumulator.state == NOW
        self.circle(x, y, 6.5, "now" if running else "surface", role)
        self.line(f"M{x - 3.5:.1f},{y:.1f}h7M{x:.1f},{y - 3.5:.1f}v7", "nowtext" if running else role, 1.5)
        if not accumulator.number:
            return x - 13
        self.badge(x - 18, y, accumulator.number, "gradfill" if stored else "surface", "gradtext" if stored else role)
        return x - 22 - BADGE

    # Operations ---------------------------------------------------------------------------------------------------------

    def op(self, op: Op, box: Box) -> None:
        detail, middle, y = self.model.detail, box.x + box.w / 2, box.y + ROW + 15.5
        solid = box if detail >= GRAD_FN else box.grown(0, 0, 0, -ROW)
        self.rect(solid, 10, "block" if op.block else "page")     # what passes behind must not cross the words
        self.rect(Box(box.x, box.y + 1, box.w, ROW - 2), 10, "op", kind="pill")
        self.code(middle, box.y + 15.5, short(op.text, MOST_CODE), "ink", "middle")
        if op.cut and detail >= DETACH:
            self.cut(middle, box.lane(1))
            self.note(middle, box.lane(1) + 4, "cut here", "muted", "middle")
        elif op.node and detail >= GRAD_FN or not op.node and detail >= NO_GRAD:
            self.pill(Box(box.x, box.y + ROW + 1, box.w, ROW - 2), op)
            fill, _, _, _, role, bold = LOOKS[op.state if op.node else GHOST]
            self.code(middle + 8 * bool(op.number), y, op.node or "grad_fn None", role, "middle", bold=bold)
            if op.number:
                self.badge(box.x + 12, box.lane(1), op.number, fill, role)
        if self.model.rows == 3:
            bad = any(s.version != s.now for s in op.saved)
            self.note(middle, box.y + 2 * ROW + 14.5, note(op, self.model.notes), "err" if bad else "muted", "middle", bold=bad,
                      italic=op.cut or op.freed or not op.node)

    def pill(self, box: Box, op: Op) -> None:
        fill, stroke, width, dash, _, _ = LOOKS[op.state if op.node else GHOST]
        self.rect(box, 10, fill, stroke, width, dash)

    def cut(self, x: float, y: float, half: float = 34) -> None:
        """A detach: the gradient lane ends at a wall on both sides."""
        for side in (-1, 1):
            wall = x + side * half
            self.line(f"M{wall:.1f},{y - 8:.1f}v16", "fwd", 2.4)
            self.line(f"M{wall:.1f},{y:.1f}h{side * half * 0.65:.1f}", "fwd", 1.2)

    # Memory -------------------------------------------------------------------------------------------------------------
    def links(self, memory: Memory) -> None:
        """Dotted lines from the tensors to the bracket over their memory, or to the names above it; where one would cross words, to
        a mark with these names.
        """
        boxes, many = self.layout.boxes, len(memory.cards)
        strip, bracket, title = boxes[memory.id], self.bracket(memory), short(", ".join(memory.names), 40)
        nodes = [box for id, box in boxes.items() if id[0] in "to"]
        for i, id in enumerate(sorted(memory.cards, key=lambda id: boxes[id].x)):
            card, x = boxes[id], bracket.x + 2 + (bracket.w - 4) * (i / (many - 1) if many > 1 else 0.5)
            at = card.x + card.w / 2
            if any(box.y > card.y and box.x - 4 < at < box.right + 4 for box in nodes):
                self.tied[id] = title
                continue
            y = strip.y - (24 if abs(x - strip.x - strip.w / 2) < note_width(title, True) / 2 + 4 else 8)
            floor = max(box.bottom for box in nodes if box.x < max(at, x) and min(at, x) < box.right)
            down, foot = (at, card.bottom), (at, floor)
            self.line(curve([down, down, foot, foot, (at, floor + 26), (x, y - 26), (x, y)]), "store", 1.6, DOTTED)

    def tie(self, id: str, box: Box, tag: Box | None) -> None:
        """The mark with the names of a tensor's memory, under its card, on no tag and on no block's title."""
        title = short(self.tied[id], MOST_NAME)
        width = words.joint_width(title)
        taken = [Box(block.x + 12, block.y, code_width(text), 24) for text, block in self.layout.blocks] + [tag] * bool(tag)
        places = [Box(x, box.bottom + y, width, MARK - 1) for x, y in ((box.x + 6, 7), (box.right - width - 6, 7), (box.x + 6, 24))]
        mark = next((place for place in places if not any(place.meets(other) for other in taken)), places[0])
        top = mark.x + 10, box.bottom
        self.line(curve([top, top, (top[0], mark.y), (top[0], mark.y)]), "store", 1.6, DOTTED)
        self.mark(mark, title, "store")

    def bracket(self, memory: Memory) -> Box:
        """Where the cells are, in the middle of the strip."""
        strip = self.layout.boxes[memory.id]
        width = sum(cell_width(*cell) for cell in memory.cells) + MORE * bool(memory.more)
        return Box(strip.x + (strip.w - width) / 2, strip.y, width, ROW)

    def memory(self, memory: Memory) -> None:
        strip, bracket = self.layout.boxes[memory.id], self.bracket(memory)
        self.group(memory.id, memory_text(memory), strip)
        middle = strip.x + strip.w / 2
        self.line(f"M{bracket.x:.1f},{strip.y - 3:.1f}v-4h{bracket.w:.1f}v4", "store", 1.3)
        self.note(middle, strip.y - 12, short(", ".join(memory.names), 40), "store", "middle", bold=True)
        x, widths = bracket.x, [cell_width(*cell) for cell in memory.cells]
        for (now, was), width in zip(memory.cells, widths, strict=True):
            self.rect(Box(x, strip.y, width, ROW), 0, "storefill", "store", 1.2)
            if was:
                self.code(x + 8, strip.y + 15.5, now, "ink", bold=True)
                self.note(x + 14 + code_width(now), strip.y + 15.5, f"(was {was})", "store")
            else:
                self.code(x + width / 2, strip.y + 15.5, now, "ink", "middle")
            x += width
        if memory.more:
            self.note(x + 6, strip.y + 15.5, f"+{memory.more}", "store")
        self.note(middle, strip.y + ROW + 14, words.memory_text(memory), "store", "middle")
        if memory.writes:
            self.note(middle, strip.y + ROW + 28, short(f"written by {memory.writes[-1]}", 40), "store", "middle", italic=True)
        self.parts.append("</g>")

    # The legend -----------------------------------------------------------------------------------------------------------

    def legend(self, width: float, height: float) -> tuple[float, float]:
        """What the elements of this picture mean, in columns under it; returns the new size."""
        items = entries(self.model, bool(self.tied or self.__dict__.get("joints")))
        columns = max(2, int((width - 20) // COLUMN))
        self.line(f"M10,{height + 4:.1f}H{width - 10:.1f}", "op", 1)
        for i, (kind, title, text) in enumerate(items):
            x, y = 12 + COLUMN * (i % columns), height + 14 + LINE * (i // columns)
            self.sample(kind, Box(x, y, 40, 22))
            self.note(x + 52, y + 9, title, "ink", bold=True)
            self.note(x + 52, y + 22, text, "muted")
        return max(width, 20 + COLUMN * min(columns, len(items))), height + 20 + LINE * -(-len(items) // columns)

    def sample(self, kind: str, box: Box) -> None:
        like, middle, y = SAMPLES.get(kind), box.x + box.w / 2, box.y + box.h / 2
        flat = box.grown(0, -3, 0, -3)
        if isinstance(like, Card):
            self.frame(like, box)
        elif isinstance(like, Op):
            self.pill(flat, like)
            if kind in ("now", "done"):
                self.badge(middle, y, 1, LOOKS[kind][0], LOOKS[kind][4])
        elif isinstance(like, Accumulator):
            self.accumulator(like, Box(middle - ROW, y - 1.5 * ROW, ROW + 15, 3 * ROW))
        elif kind == "computed":
            self.rect(flat, 10, "op", kind="pill")
        elif kind == "forward":
            self.line(f"M{box.x:.1f},{y:.1f}h{box.w:.1f}", "fwd", 1.2)
            self.arrow((box.right, y), False, "fwd")
        elif kind in ("edge", "flow"):
            self.flow(IDLE if kind == "edge" else DONE, [[(box.x, y)] * 2 + [(box.right, y)] * 2], (box.x, y))
        elif kind == "joint":
            self.mark(box.grown(-10, -3, -10, -3), "x", "fwd")
        elif kind == "cut":
            self.cut(middle, y, 12)
        elif kind == "passing":
            self.rect(flat, 3, "none", "grad", 1.3)
        elif kind == "stored":
            self.rect(flat, 0, "gradfill")
            self.code(middle, y + 4.5, "2.", "gradtext", "middle", bold=True)
        elif kind in ("4 + 6", "hook"):
            self.tag(box.grown(0, -2, 0, -2), kind)
        elif kind == "none":
            self.code(middle, y + 4.5, "None", "ghosttext", "middle")
        elif kind == "storage":
            for half in (Box(box.x, y, 20, 13), Box(middle, y, 20, 13)):
                self.rect(half, 0, "storefill", "store", 1.2)
            self.line(f"M{middle:.1f},{box.y - 4:.1f}V{y:.1f}", "store", 1.6, DOTTED)
        elif kind == "version":
            self.note(middle, y + 4, "v1", "store", "middle", bold=True)
        elif kind == "freed":
            self.note(middle, y + 4, "freed: x", "muted", "middle", italic=True)


def _caption(text: str) -> list[tuple[str, str, bool]]:
    head, _, rest = text.partition(": ")
    return [(head, "ink", True), (rest, "muted", False)] if rest else [(head, "ink", True)]


def _lines(text: str, width: float) -> list[str]:
    """Text in lines of at most this width at 13 pixels."""
    lines: list[str] = []
    for word in shown(text).split():
        if lines and note_width(f"{lines[-1]} {word}", size=13) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _headline(model: Model) -> str:
    return f"Computation graph: {len(model.cards)} tensors, {len(model.ops)} operations"
