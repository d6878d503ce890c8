"""A table as a drawing, for a sheet to print or to pin up."""
from __future__ import annotations

from collections.abc import Sequence

from .figure import Drawing, svg_of
from .pen import escape

LETTER, ROW, GAP = 7.3, 26, 18          # of the monospaced font at 12 pixels


class Sheet(Drawing):
    """A table with a title; made by `table`. A cell in backquotes is set as code."""

    def __init__(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        self.title, self.rows = title, [[str(cell) for cell in row] for row in rows]
        if not rows or len({len(row) for row in rows}) != 1:
            raise ValueError("table() needs rows of one length, the first with the names of the columns")

    def describe(self) -> str:
        """The table as text."""
        return "\n".join([self.title, *(" | ".join(row) for row in self.rows)])

    @property
    def svg(self) -> str:
        """The drawing, for light and dark pages."""
        widths = [max(len(cell.strip("`")) for cell in column) * LETTER + GAP for column in zip(*self.rows, strict=True)]
        width, height = round(sum(widths) + GAP), (len(self.rows) + 1) * ROW + 20
        parts = [f'<rect width="{width}" height="{height}" fill="var(--ag-page)"/>'
                 f'<text class="s" x="{GAP}" y="24" font-size="15" font-weight="bold" fill="var(--ag-ink)">{escape(self.title)}</text>']
        for number, row in enumerate(self.rows, 1):
            y, x = 20 + number * ROW, float(GAP)
            parts.append(f'<path d="M{GAP} {y + 9}h{width - 2 * GAP}" stroke="var(--ag-line)" '
                         f'stroke-width="{1.5 if number == 1 else 0.4}"/>')
            for cell, space in zip(row, widths, strict=True):
                font, role = ("m", "ontext") if cell.startswith("`") else ("s", "muted" if number == 1 else "ink")
                parts.append(f'<text class="{font}" x="{x:.0f}" y="{y}" fill="var(--ag-{role})">{escape(cell.strip("`"))}</text>')
                x += space
        return svg_of(parts, self.title, width, height)


def table(title: str, rows: Sequence[Sequence[str]]) -> Sheet:
    """Draw a table; the first row names the columns."""
    return Sheet(title, rows)
