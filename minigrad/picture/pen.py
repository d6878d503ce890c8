"""The strokes of a drawing: colours for light, dark and high contrast, every text escaped and pinned to its width."""
from __future__ import annotations

import html
from functools import cache

from .geometry import Box, Point
from .text import CODE, NOTE, code_width, note_width, shown

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
STRONG = {                                # where the reader asks for more contrast
    **dict.fromkeys(("ink", "muted", "line", "fwd", "ghost", "ghosttext"), ("#000000", "#ffffff")),
    "page": ("#ffffff", "#000000"), "surface": ("#ffffff", "#000000"),
    "on": ("#003e7a", "#a9d5ff"), "grad": ("#7a2f00", "#ffc48a"), "store": ("#5a2370", "#e6c4f4"), "err": ("#8a0029", "#ffb0c2"),
}
SYSTEM = {                                # in forced colours, shapes and words alone tell the states apart
    **dict.fromkeys(PALETTE, "CanvasText"),
    **dict.fromkeys(("page", "surface", "op", "onfill", "gradfill", "block", "storefill"), "Canvas"),
    "now": "Highlight", "nowtext": "HighlightText",
}
BADGE = 7               # the radius of a step's number
_MONO = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
_SANS = "'Liberation Sans',Arial,Helvetica,sans-serif"


def fonts() -> str:
    """The rules that every drawing needs, whatever its colours are."""
    return f".mg-picture .m{{font-family:{_MONO}}}.mg-picture .s{{font-family:{_SANS}}}.mg-picture .halo{{opacity:0}}"


@cache
def style() -> str:
    """The colours as CSS variables: light, dark where the system or the page is dark, with more contrast where it is asked for."""
    def variables(colours: dict[str, str]) -> str:
        return "{" + "".join(f"--ag-{role}:{colour};" for role, colour in colours.items()) + "}"

    light, dark, bright, deep = (variables({role: pair[i] for role, pair in roles.items()})
                                 for roles in (PALETTE, STRONG) for i in (0, 1))
    more, on_dark = "@media(prefers-contrast:more)", "(prefers-color-scheme:dark)"
    own, lab = ".mg-picture", "[data-jp-theme-light='{}']{} .mg-picture"
    high = "[data-jp-theme-name*='High Contrast']"
    return (f"{own}{light}@media{on_dark}{{{own}{dark}}}{more}{{{own}{bright}}}{more} and {on_dark}{{{own}{deep}}}"
            + lab.format("true", "") + light + lab.format("false", "") + dark
            + lab.format("true", high) + bright + lab.format("false", high) + deep
            + f"{own} .m{{font-family:{_MONO}}}{own} .s{{font-family:{_SANS}}}"
            f"{own} .halo{{opacity:0}}{own} g:focus{{outline:none}}{own} g:focus>.halo{{opacity:1}}"
            f"@media(forced-colors:active){{{own}{own}{variables(SYSTEM)}{own} *{{forced-color-adjust:none}}"
            f"{own} .pill{{stroke:CanvasText}}}}"
            f"@media(prefers-reduced-motion:no-preference){{{own} rect,{own} path,{own} polygon{{"
            "transition:fill .2s,stroke .2s,stroke-width .2s}}")


def escape(text: str) -> str:
    return html.escape(shown(text), quote=True)


class Pen:
    """Collects SVG elements in `parts`; `theme` is "auto" (colours are CSS variables), "light" or "dark"."""

    def __init__(self, theme: str) -> None:
        self.theme = theme
        self.parts: list[str] = []

    def paint(self, fill: str, stroke: str = "none", width: float = 1, dash: str = "") -> str:
        return (f'style="fill:{self.colour(fill)}' + (f";stroke:{self.colour(stroke)};stroke-width:{width}" if stroke != "none" else "")
                + (f";stroke-dasharray:{dash}" if dash else "") + '"')

    def colour(self, role: str) -> str:
        if role == "none":
            return "none"
        return f"var(--ag-{role})" if self.theme == "auto" else PALETTE[role][self.theme == "dark"]

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

    def circle(self, x: float, y: float, r: float, fill: str, stroke: str) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" {self.paint(fill, stroke, 1.2)}/>')

    def badge(self, x: float, y: float, number: int, fill: str, role: str) -> None:
        """A step's number in a circle, so that it is not read as a value."""
        self.circle(x, y, BADGE, fill, role)
        self.note(x, y + 3.4, str(number), role, "middle", bold=True, size=9.5 if number < 100 else 7)

    def code(self, x: float, y: float, text: str, role: str, anchor: str = "start", bold: bool = False,
             most: float = float("inf")) -> None:
        self._write("m", x, y, text, role, anchor, bold, False, CODE, min(code_width(text), most))

    def note(self, x: float, y: float, text: str, role: str, anchor: str = "start", bold: bool = False, italic: bool = False,
             size: float = NOTE, most: float = float("inf")) -> None:
        if text:
            self._write("s", x, y, text, role, anchor, bold, italic, size, min(note_width(text, bold, size), most))

    def _write(self, family: str, x: float, y: float, text: str, role: str, anchor: str, bold: bool, italic: bool, size: float,
               width: float) -> None:
        pin = f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
        side = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text class="{family}" x="{x:.1f}" y="{y:.1f}"{side}{pin} xml:space="preserve" style="fill:{self.colour(role)};'
                          f'font-size:{size}px{";font-weight:600" * bold}{";font-style:italic" * italic}">{escape(text)}</text>')


def curve(points: list[Point]) -> str:
    """Graphviz's points (one start, then three for each Bézier piece) as a path."""
    start, *rest = (f"{x:.1f},{y:.1f}" for x, y in points)
    return f"M{start}C{' '.join(rest)}"
