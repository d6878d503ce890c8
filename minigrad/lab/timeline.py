"""The time line: the state of every tensor after every line. A graph that exists does not change when a flag does."""
from __future__ import annotations

from dataclasses import dataclass
from types import FrameType
from typing import Any

from ..picture.program import history, named_tensors, node_name, read
from .html import Html, tag

__all__ = ["Moments", "Row", "timeline_html"]

MOST = 60                      # lines that are kept; a loop is told turn by turn up to here


@dataclass
class Row:
    """What held after a line: a text per tensor; `turn` counts how often the line had run by then."""

    line: int
    turn: int
    states: dict[str, str]


class Moments:
    """Collects a `Row` for each line of the program's own that runs; give `watch` to `run`."""

    def __init__(self, names: list[str]) -> None:
        self.rows: list[Row] = []
        self.left_out = 0
        self._names, self._line = names, 0
        self._turns: dict[int, int] = {}

    def watch(self, frame: FrameType, event: str) -> None:
        """A line is about to run, or the program ends: take down how the line before it left things."""
        if self._line:
            self._turns[self._line] = self._turns.get(self._line, 0) + 1
            if len(self.rows) < MOST:
                tensors = named_tensors({name: frame.f_globals[name] for name in self._names if name in frame.f_globals})
                self.rows.append(Row(self._line, self._turns[self._line],
                                     {name: _state(tensor) for name, tensor in tensors}))
            else:
                self.left_out += 1
        self._line = frame.f_lineno if event == "line" else 0


def _state(tensor: Any) -> str:
    card = read(tensor)
    node = history(tensor)[0]
    where = "leaf" if card.is_leaf else node_name(node) if node is not None else "no history"
    words = [card.value, where, f"requires_grad {card.requires_grad}"]
    words += [f"grad {card.grad}"] if card.grad else []
    words += ["retain_grad"] if card.retains_grad else []
    words += [f"v{card.version}"] if card.version else []
    return " · ".join(words)


def timeline_html(rows: list[Row], lines: list[str], left_out: int = 0) -> Html:
    """A row per line that ran, a column per tensor; what the line changed is marked."""
    names = list(dict.fromkeys(name for row in rows for name in row.states))
    head = tag("tr", tag("th", "after", scope="col"), *(tag("th", tag("code", name), scope="col") for name in names))
    body, before = [], dict[str, str]()
    for number, row in enumerate(rows):
        turn = f" (turn {row.turn})" if row.turn > 1 else ""
        text = lines[row.line - 1].strip() if row.line <= len(lines) else ""
        cells = [_cell(row.states.get(name, ""), before.get(name, "")) for name in names]
        body.append(tag("tr", tag("th", f"{row.line}{turn} ", tag("code", text), scope="row"), *cells,
                        key=f"row-{number}"))
        before = row.states
    more = tag("tr", tag("td", f"and {left_out} lines more", colspan=len(names) + 1)) if left_out else ""
    return tag("table", head, *body, more, class_="mg-table mg-timeline")


def _cell(now: str, before: str) -> Html:
    """All that is true of a tensor that the line changed; of one that it left alone the value alone."""
    parts, old = now.split(" · "), before.split(" · ")
    if now == before:
        return tag("td", parts[0], title=now, class_="mg-same")
    return tag("td", *(tag("div", part if part in old else tag("b", part)) for part in parts if part),
               class_="mg-changed")
