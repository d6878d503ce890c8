"""Curves of numbers over steps, such as losses: a small drawing of our own, so that the lessons need no plotting library."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .figure import Drawing, svg_of
from .pen import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 300, 64, 120, 26, 48
STROKES = (("on", ""), ("grad", "7 4"), ("store", "2 4"), ("fwd", "9 3 2 3"))       # told apart without colour too


class Curve(Drawing):
    """One line per series, over the steps 0, 1, 2 …; made by `curve`."""

    def __init__(self, series: dict[str, Sequence[float]], log: bool, label: str = "value") -> None:
        self.series, self._log = {name: list(map(float, values)) for name, values in series.items()}, log
        self.label = f"{label}, logarithmic" if log else label
        if not series or not all(self.series.values()):
            raise ValueError("curve() needs at least one number of each series")

    def describe(self) -> str:
        """The curves in sentences."""
        return "\n".join(f"{name}: {len(v)} steps, from {v[0]:.2g} to {v[-1]:.2g}, smallest {min(v):.2g}, largest {max(v):.2g}."
                         for name, v in self.series.items())

    def _heights(self, values: list[float]) -> list[float]:
        return [math.log10(max(value, 1e-12)) for value in values] if self._log else values

    @property
    def svg(self) -> str:
        """The drawing, for light and dark pages."""
        heights = {name: self._heights(values) for name, values in self.series.items()}
        every = [height for line in heights.values() for height in line if math.isfinite(height)] or [0.0]
        heights_at, low, high = _round(min(every), max(every), self._log)
        last = max(len(line) for line in heights.values()) - 1 or 1
        plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

        def at(step: float, height: float) -> tuple[float, float]:
            return LEFT + plot_width * step / last, TOP + plot_height * (high - height) / (high - low)

        def label(x: float, y: float, anchor: str, text: str, role: str = "muted") -> str:
            return f'<text class="m" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="var(--ag-{role})">{escape(text)}</text>'

        parts: list[str] = []
        for height in heights_at:
            y = at(0, height)[1]
            parts += [f'<path d="M{LEFT} {y:.1f}h{plot_width}" stroke="var(--ag-line)" stroke-width=".5"/>',
                      label(LEFT - 6, y + 4, "end", f"{10 ** height if self._log else height:.3g}")]
        parts += [label(at(step, low)[0], HEIGHT - BOTTOM + 18, "middle", f"{step:.0f}")
                  for step in _round(0, last, whole=True)[0] if step <= 1.01 * last]
        parts += [label(LEFT + plot_width / 2, HEIGHT - 8, "middle", "step"),
                  label(LEFT, 14, "start", self.label)]
        taken: list[float] = []
        for (name, line), (role, dashes) in zip(heights.items(), STROKES):
            points = [at(step, height) for step, height in enumerate(line) if math.isfinite(height)]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="var(--ag-{role})" stroke-width="2" '
                         f'stroke-dasharray="{dashes}"/>')
            x, y = points[-1] if points else at(last, low)
            while any(abs(y - other) < 14 for other in taken):         # names do not lie on each other
                y -= 7
            taken.append(y)
            parts.append(label(x + 8, y + 4, "start", name, role))
        return svg_of(parts, self.describe(), WIDTH, HEIGHT)


def _round(low: float, high: float, whole: bool = False) -> tuple[list[float], float, float]:
    """Up to seven round numbers (whole ones, if asked) that span a range, and the range that is drawn: at least theirs."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(unit * power for unit in (1, 2, 5, 10) if unit * power >= rough * (1 - 1e-9))
    step = max(1, round(step)) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)], first * step, last * step


def curve(*, log: bool = False, label: str = "value", **series: Sequence[float]) -> Curve:
    """Draw numbers over their steps: ``curve(training=losses)``.

    Parameters
    ----------
    log : bool
        Whether the heights are logarithms, for losses of many sizes.
    label : str
        What the heights are.
    **series : sequence of float
        The curves, up to four, by name.
    """
    if len(series) > len(STROKES):
        raise ValueError(f"curve() draws up to {len(STROKES)} series, not {len(series)}")
    return Curve(series, log, label)
