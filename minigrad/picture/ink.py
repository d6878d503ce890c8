"""Our own drawing over Graphviz's geometry: one SVG for light and dark, every text escaped, every id with its view's prefix."""
from __future__ import annotations

import html

from . import text as words
from .describe import card_text, memory_text, op_text
from .layout import ROW, Box, Layout, Point, path, place
from .model import DONE, FAILED, IDLE, NOW, Card, Edge, Memory, Model, Op
from .text import CODE, MORE, MOST_CODE, MOST_NAME, NOTE, cell_width, code_width, flags, note, note_width, short, shown

PALETTE = {                               # light, dark
    "page": ("#ffffff", "#111111"),
    "surface": ("#ffffff", "#1b1f24"),    # inside of a card
    "ink": ("#1b2127", "#e7eaee"),        # names, values
    "muted": ("#5b6570", "#a3adb8"),      # labels, notes
    "line": ("#7f8993", "#78828d"),       # border of a tensor that does not require grad
    "fwd": ("#5b6570", "#8d97a2"),        # values flow
    "op": ("#e7eaee", "#343b43"),         # what was computed
    "on": ("#0a5ca8", "#74b9f7"),         # recorded
    "onfill": ("#deecf9", "#12324f"),
    "ontext": ("#083f73", "#d3e8fc"),
    "grad": ("#b34700", "#ff9f4a"),       # gradients
    "gradfill": ("#fde9d6", "#4a2a0f"),
    "gradtext": ("#7a2f00", "#ffd9b3"),
    "now": ("#b84a00", "#ff9f4a"),        # running
    "nowtext": ("#ffffff", "#1b1206"),
    "ghost": ("#7d8791", "#6f7a85"),      # not recorded
    "ghosttext": ("#66707a", "#98a2ad"),
    "block": ("#f3f5f7", "#20252b"),
    "store": ("#84479c", "#d09be6"),      # memory
    "storefill": ("#f5ebf8", "#35223f"),
    "err": ("#b3003b", "#ff7d9c"),
}
SIZES = {"notebook": 1.0, "projector": 18 / CODE}
_MONO = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
_SANS = "'Liberation Sans',Arial,Helvetica,sans-serif"


def to_svg(model: Model, prefix: str = "mg", theme: str = "auto", size: str = "notebook", caption: bool = False) -> str:
    """Draw a model.

    Parameters
    ----------
    prefix : str
        Begins every id, so that two pictures on one page do not share any.
    theme : {"auto", "light", "dark"}
        "auto" follows the page; the others hold where there is no style sheet.
    size : {"notebook", "projector"}
        13 or 18 pixel text.
    caption : bool
        Whether to write the step's caption under the picture.

    Raises
    ------
    LayoutError
        If Graphviz is missing or takes too long.
    """
    return _Ink(model, prefix, theme).svg(SIZES[size], caption)


def message_svg(text: str, prefix: str = "mg", theme: str = "auto") -> str:
    """A picture that only says why there is none."""
    return _Ink(Model(note=text), prefix, theme).svg(1.0, False)


def style() -> str:
    """The colours as CSS variables: light, dark where the system or the page is dark."""
    light, dark = ("".join(f"--ag-{role}:{pair[i]};" for role, pair in PALETTE.items()) for i in (0, 1))
    return (f".mg-picture{{{light}}}@media(prefers-color-scheme:dark){{.mg-picture{{{dark}}}}}"
            f"[data-jp-theme-light='true'] .mg-picture{{{light}}}[data-jp-theme-light='false'] .mg-picture{{{dark}}}"
            f".mg-picture .m{{font-family:{_MONO}}}.mg-picture .s{{font-family:{_SANS}}}"
            ".mg-picture .halo{opacity:0}.mg-picture g:focus{outline:none}.mg-picture g:focus>.halo{opacity:1}"
            "@media(prefers-reduced-motion:no-preference){.mg-picture rect,.mg-picture path,.mg-picture polygon{"
            "transition:fill .2s,stroke .2s,stroke-width .2s}}")


def escape(text: str) -> str:
    return html.escape(shown(text), quote=True)


def curve(points: list[Point]) -> str:
    """Graphviz's points (one start, then three for each Bézier piece) as a path."""
    start, *rest = (f"{x:.1f},{y:.1f}" for x, y in points)
    return f"M{start}C{' '.join(rest)}"


class _Ink:

    def __init__(self, model: Model, prefix: str, theme: str) -> None:
        self.model, self.prefix, self.theme = model, prefix, theme
        self.parts: list[str] = []
        self.done: set[str] = set()
        self.first = True

    def svg(self, scale: float, caption: bool) -> str:
        model = self.model
        layout = self.layout = place(model) if model.cards else Layout(width=20, height=10)
        for block in model.blocks:
            if block.id in layout.boxes:
                box = layout.boxes[block.id]
                self.rect(box, 10, "block", "ghost", 1.2, dash="5 3")
                self.code(box.x + 12, box.y + 17, short(block.title, 60), "muted")
        for memory in model.memories:
            self.links(memory)
        self.edges()
        for op in model.ops:
            for id in op.inputs:
                self.card(model.card(id))
            self.op(op)
            for id in op.outputs:
                self.card(model.card(id))
        for card in model.cards:
            self.card(card)
        for memory in model.memories:
            self.memory(memory)
        self.sums()
        width, height = max(layout.width, 40), layout.height
        for text, role, bold in (*_caption(model.caption if caption else ""), (model.note, "muted", False)):
            for line in _wrapped(text, max(width - 20, 420)):
                width, height = max(width, note_width(line, bold, 13) + 20), height + 20
                self.note(10, height - 8, line, role, bold=bold, size=13)
        page = self.colour("page")
        return (f'<svg xmlns="http://www.w3.org/2000/svg" class="mg-picture" id="{escape(self.prefix)}" role="group" '
                f'aria-label="{escape(_headline(model))}" width="{width * scale:.0f}" height="{height * scale:.0f}" '
                f'viewBox="0 0 {width:.1f} {height:.1f}">'
                + (f"<style>{style()}</style>" if self.theme == "auto" else "")
                + f'<rect width="100%" height="100%" style="fill:{page}"/>' + "".join(self.parts) + "</svg>")

    # Strokes ------------------------------------------------------------------------------------------------------------

    def colour(self, role: str) -> str:
        if role == "none":
            return "none"
        return f"var(--ag-{role})" if self.theme == "auto" else PALETTE[role][self.theme == "dark"]

    def paint(self, fill: str, stroke: str = "none", width: float = 1, dash: str = "") -> str:
        return (f'style="fill:{self.colour(fill)}' + (f";stroke:{self.colour(stroke)};stroke-width:{width}" if stroke != "none" else "")
                + (f";stroke-dasharray:{dash}" if dash else "") + '"')

    def rect(self, box: Box, radius: float, fill: str, stroke: str = "none", width: float = 1, dash: str = "", kind: str = "") -> None:
        named = f' class="{kind}"' if kind else ""
        self.parts.append(f'<rect{named} x="{box.x:.1f}" y="{box.y:.1f}" width="{box.w:.1f}" height="{box.h:.1f}" rx="{radius}" '
                          f'{self.paint(fill, stroke, width, dash)}/>')

    def line(self, d: str, stroke: str, width: float, dash: str = "") -> None:
        self.parts.append(f'<path d="{d}" {self.paint("none", stroke, width, dash)}/>')

    def arrow(self, at: Point, left: bool, role: str, hollow: bool = False) -> None:
        """An arrow head; the line under it ends at its tip."""
        x, y = at
        back = x + (8.5 if left else -8.5)
        self.parts.append(f'<polygon points="{x:.1f},{y:.1f} {back:.1f},{y - 3.7:.1f} {back:.1f},{y + 3.7:.1f}" '
                          f'{self.paint("page" if hollow else role, role, 1.2)}/>')

    def code(self, x: float, y: float, text: str, role: str, anchor: str = "start", bold: bool = False,
             most: float = float("inf")) -> None:
        self.write("m", x, y, text, role, anchor, bold, False, CODE, min(code_width(text), most))

    def note(self, x: float, y: float, text: str, role: str, anchor: str = "start", bold: bool = False, italic: bool = False,
             size: float = NOTE, most: float = float("inf")) -> None:
        self.write("s", x, y, text, role, anchor, bold, italic, size, min(note_width(text, bold, size), most))

    def write(self, family: str, x: float, y: float, text: str, role: str, anchor: str, bold: bool, italic: bool, size: float,
              width: float) -> None:
        pin = f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
        side = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text class="{family}" x="{x:.1f}" y="{y:.1f}"{side}{pin} xml:space="preserve" style="fill:{self.colour(role)};'
                          f'font-size:{size}px{";font-weight:600" * bold}{";font-style:italic" * italic}">{escape(text)}</text>')

    def group(self, id: str, label: str, box: Box) -> None:
        """Open a group: one tab stop for the whole picture, arrow keys walk on from there."""
        self.parts.append(f'<g id="{escape(self.prefix)}-{id}" role="img" tabindex="{0 if self.first else -1}" '
                          f'aria-label="{escape(label)}"><title>{escape(label)}</title>')
        self.first = False
        self.rect(box.grown(4, 4, 4, 4), 12, "none", "on", 2, kind="halo")

    # Edges --------------------------------------------------------------------------------------------------------------

    def edges(self) -> None:
        curves, model = self.layout.curves, self.model
        faint = {op.id for op in model.ops if op.block}
        for (lane, source, target), points in curves.items():
            if lane == "value":
                role = "ghost" if source in faint or target in faint else "fwd"
                self.line(curve(points), role, 1.2)
                self.arrow(points[-1], False, role)
        for op in model.ops:                                  # a short stub from each result to its grad_fn
            for id in op.outputs if op.node else ():
                points = curves.get(("gradient", op.id, id))
                if points and model.card(id).requires_grad and not model.card(id).is_leaf:
                    state = op.state if op.state in (NOW, DONE) and op.number else IDLE
                    self.stroke(state, [curve(points)], points[0])
        for state in (IDLE, DONE, NOW):                       # what runs now lies on top
            for edge in model.edges:
                if edge.state == state:
                    self.edge(edge)

    def edge(self, edge: Edge) -> None:
        """A recorded edge, from node to node behind the card of the tensor between them."""
        links = path(self.model, edge) or [(edge.target, edge.source)]
        curves = [self.layout.curves[("gradient", *link)] for link in links if ("gradient", *link) in self.layout.curves]
        if curves:
            across = [f"M{a[-1][0]:.1f},{a[-1][1]:.1f}L{b[0][0]:.1f},{b[0][1]:.1f}" for a, b in zip(curves[1:], curves, strict=False)]
            self.stroke(edge.state, [*map(curve, curves), *across], curves[-1][0])

    def stroke(self, state: str, pieces: list[str], tip: Point) -> None:
        role = {IDLE: "on", NOW: "now", DONE: "grad"}[state]
        self.line("".join(pieces), role, 2.6 if state == NOW else 1.5)
        self.arrow(tip, True, role, hollow=state == IDLE)

    def sums(self) -> None:
        """What came together at an accumulator stands under its ⊕: several parts, or what an earlier pass had left there."""
        sums = {edge.target: f"receives {edge.sums}" for edge in self.model.edges if edge.sums}
        for card in self.model.cards:
            text, box = shown(card.total or sums.get(card.id, "")), self.layout.boxes.get(card.id)
            if text and box and card.drawn:
                width = min(note_width(text, True) + 12, box.w)
                tag = Box(box.right - width, box.bottom + 4, width, 17)
                self.rect(tag, 3, "gradfill", "grad", 1)
                self.note(tag.x + 6, tag.y + 12.5, text, "gradtext", bold=True, most=width - 12)

    # Cards --------------------------------------------------------------------------------------------------------------

    def card(self, card: Card) -> None:
        box = self.layout.boxes.get(card.id)
        if box is None or not card.drawn or card.id in self.done:
            return
        self.done.add(card.id)
        self.group(card.id, card_text(card), box)
        if card.left_out:
            for row in (0, 1):
                self.code(box.x + box.w / 2, box.lane(row) + 2, "…", "muted", "middle", bold=True)
            self.parts.append("</g>")
            return
        radius = 11 if card.is_leaf else 1.5
        stroke, width = ("on", 1.7) if card.requires_grad else ("ghost", 1.1) if card.no_grad else ("line", 1.1)
        ink = "muted" if card.past else "ink"
        self.rect(box, radius, "surface")
        if card.grad:
            self.rect(Box(box.x, box.y + ROW, box.w, ROW), 0, "gradfill")
        self.line(f"M{box.x:.1f},{box.y + ROW:.1f}h{box.w:.1f}", "op", 1)
        if card.flow and not card.grad:
            self.rect(Box(box.x + 3, box.y + ROW + 2, box.w - 6, ROW - 4), 3, "none", "grad", 1.3)
        self.rect(box, radius, "none", stroke, width, "5 3" if card.no_grad else "")
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
        self.gradient(card, box)
        x = left
        for text, bold in flags(card):
            self.note(x, box.y + 2 * ROW + 14.5, text, "on" if bold else "muted", bold=bold)
            x += note_width(text, bold)
        self.parts.append("</g>")

    def gradient(self, card: Card, box: Box) -> None:
        """The second row: what is in .grad, or what is on its way."""
        y, left, right = box.y + ROW + 15.5, box.x + 10, box.right - 10
        if card.accumulator is not None:
            right = self.accumulator(card, box)
        if card.retains_grad and not card.flow:
            self.note(right, y, "retain_grad", "gradtext" if card.grad else "grad", "end", bold=True)
            right -= note_width("retain_grad", True) + 6
        if card.grad:
            self.note(left, y, ".grad", "gradtext")
            room = right - left - note_width(".grad") - 8
            self.code(right, y, card.grad, "gradtext", "end", bold=True, most=room)
        elif card.flow:
            self.note(left, y, card.flow, "grad", italic=True)
            self.code(right, y, card.gradient, "grad", "end", most=right - left - note_width(card.flow) - 8)
        else:
            self.note(left, y, ".grad", "muted")
            self.note(right, y, card.none, "muted", "end", italic=True)
            self.code(right - note_width(card.none) - 5, y, "None", "ghosttext", "end")

    def accumulator(self, card: Card, box: Box) -> float:
        """⊕, with its number in the engine's order; returns where the text before it may end."""
        accumulator, x, y = card.accumulator, box.right - 15, box.lane(1)
        role = {IDLE: "on", NOW: "now", DONE: "grad", FAILED: "err"}[accumulator.state]
        running = accumulator.state == NOW
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" {self.paint("now" if running else "surface", role, 1.3)}/>')
        self.line(f"M{x - 3.5:.1f},{y:.1f}h7M{x:.1f},{y - 3.5:.1f}v7", "nowtext" if running else role, 1.5)
        if not accumulator.number:
            return x - 13
        text = str(accumulator.number)
        self.note(x - 10, y + 4, text, "gradtext" if card.grad else "grad" if accumulator.state in (NOW, DONE) else "on", "end", bold=True)
        return x - 16 - note_width(text, True)

    # Operations ---------------------------------------------------------------------------------------------------------

    def op(self, op: Op) -> None:
        box = self.layout.boxes[op.id]
        label = op_text(self.model, op) + (f" Line {op.line}: {op.source}" if op.source else "")
        self.group(op.id, label, box)
        middle = box.x + box.w / 2
        self.rect(box, 10, "block" if op.block else "page")     # what passes behind must not cross the words
        self.rect(Box(box.x, box.y + 1, box.w, ROW - 2), 10, "op")
        self.code(middle, box.y + 15.5, short(op.text, MOST_CODE), "ink", "middle")
        lower = Box(box.x, box.y + ROW + 1, box.w, ROW - 2)
        y, role, weight = box.y + ROW + 15.5, "ontext", False
        if op.cut:
            self.cut(middle, box.lane(1))
        elif not op.node:
            self.rect(lower, 10, "none", "ghost", 1.1, "3 3")
            self.code(middle, y, "grad_fn None", "ghosttext", "middle")
        else:
            fill, stroke, role, weight = {
                IDLE: ("onfill", "on", "ontext", False), NOW: ("now", "now", "nowtext", True),
                DONE: ("gradfill", "grad", "gradtext", False), FAILED: ("surface", "err", "err", True)}[op.state]
            self.rect(lower, 10, fill, stroke, 1.7 if op.state == FAILED else 1.2)
            self.code(middle + 6 * bool(op.number), y, op.node, role, "middle", bold=weight)
        if op.number:
            self.note(box.x + 9, y - 0.5, str(op.number), role, bold=True)
        bad = any(s.version != s.now for s in op.saved)
        self.note(middle, box.y + 2 * ROW + 14.5, note(op), "err" if bad else "muted", "middle", bold=bad,
                  italic=op.cut or op.freed or not op.node)
        self.parts.append("</g>")

    def cut(self, x: float, y: float) -> None:
        """A detach: the gradient lane ends at a wall on both sides."""
        for side in (-1, 1):
            wall = x + side * 34
            self.line(f"M{wall:.1f},{y - 8:.1f}v16", "fwd", 2.4)
            self.line(f"M{wall:.1f},{y:.1f}h{side * 22}", "fwd", 1.2)
        self.note(x, y + 4, "cut here", "muted", "middle")

    # Memory -------------------------------------------------------------------------------------------------------------

    def links(self, memory: Memory) -> None:
        """Dotted lines from the tensors to the bracket over their memory, or to the names above it."""
        strip, many = self.layout.boxes[memory.id], len(memory.cards)
        bracket, middle = self.bracket(memory), strip.x + strip.w / 2
        for i, id in enumerate(sorted(memory.cards, key=lambda id: self.layout.boxes[id].x)):
            card = self.layout.boxes[id]
            x = bracket.x + 2 + (bracket.w - 4) * (i / (many - 1) if many > 1 else 0.5)
            names = note_width(", ".join(memory.names), True) / 2 + 4
            y = strip.y - (24 if abs(x - middle) < names else 8)
            start, down, floor = self.way_down(card, x)
            self.line(f"M{start:.1f},{card.bottom:.1f}" + (f"C{start:.1f},{card.bottom + 10:.1f} {down:.1f},{card.bottom:.1f} "
                      f"{down:.1f},{card.bottom + 14:.1f}" if down != start else "") + (f"V{floor:.1f}" if floor > card.bottom else "")
                      + f"C{down:.1f},{floor + 26:.1f} {x:.1f},{y - 26:.1f} {x:.1f},{y:.1f}", "store", 1.6, "1.5 3.5")

    def way_down(self, card: Box, x: float) -> tuple[float, float, float]:
        """Where a line from a card to its memory begins, at which x it goes down, and how far, before it may bend towards `x`."""
        below = [box for id, box in self.layout.boxes.items() if id[0] in "to" and box.bottom > card.bottom]
        start = down = card.x + card.w / 2
        under = [box for box in below if box.y >= card.bottom and box.x < start < box.right]
        if under:                                      # something stands under the card: down beside it
            start, down = card.right - 12, max(card.right, *(box.right for box in under)) + 8
        low, high = sorted((down, x))
        floor = max((box.bottom for box in below if box.x < high and low < box.right), default=card.bottom)
        return start, down, max(floor, card.bottom + 14 * bool(under))

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


def _caption(text: str) -> list[tuple[str, str, bool]]:
    head, _, rest = text.partition(": ")
    return [(head, "ink", True), (rest, "muted", False)] if rest else [(head, "ink", True)]


def _wrapped(text: str, width: float) -> list[str]:
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
