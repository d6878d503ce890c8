"""Boxes and curves: where the parts of a picture stand."""
from __future__ import annotations

from dataclasses import dataclass, field

ROW = 22                # pixels; every card and operation has rows: value lane, gradient lane, notes
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    def grown(self, left: float, top: float, right: float, bottom: float) -> Box:
        return Box(self.x - left, self.y - top, self.w + left + right, self.h + top + bottom)

    def moved(self, dx: float, dy: float) -> Box:
        return Box(self.x + dx, self.y + dy, self.w, self.h)

    def meets(self, other: Box) -> bool:
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom

    def holds(self, point: Point) -> bool:
        return self.x < point[0] < self.right and self.y < point[1] < self.bottom

    def lane(self, row: int) -> float:
        """The height at which edges of a row arrive."""
        return self.y + ROW * (row + 0.5)


@dataclass
class Layout:
    """Boxes by id of card, operation and memory; curves by lane, source and target; titled boxes of blocks.

    A curve is one piece (Bézier points), or two with loose ends where a row was cut; `rows` are the bottoms of the rows, if it was cut.
    """

    boxes: dict[str, Box] = field(default_factory=dict)
    curves: dict[tuple[str, str, str], list[list[Point]]] = field(default_factory=dict)
    blocks: list[tuple[str, Box]] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)
    width: float = 0
    height: float = 0

    def row_of(self, id: str) -> int:
        """In which row of the picture something stands."""
        return sum(bottom <= self.boxes[id].y for bottom in self.rows)


def around(boxes: list[Box]) -> Box:
    x, y = min(b.x for b in boxes), min(b.y for b in boxes)
    return Box(x, y, max(b.right for b in boxes) - x, max(b.bottom for b in boxes) - y)


def along(curve: list[Point]) -> list[Point]:
    """Points on a curve, close enough together to say where it runs; its control points lie far outside."""
    points = curve[:1]
    for a, b, c, d in ((curve[i], *curve[i + 1:i + 4]) for i in range(0, len(curve) - 3, 3)):
        for t in (k / 16 for k in range(1, 17)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3)
            x, y = (sum(w * p[i] for w, p in zip(weights, (a, b, c, d), strict=True)) for i in (0, 1))
            points.append((x, y))
    return points
