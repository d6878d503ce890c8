"""A layout that is too wide, cut between its columns into rows; what runs across a cut returns to the left under its row."""
from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from .geometry import WIRE, Box, Layout, Point, along, around, rounded

GAP = 30                # between two rows, besides the curves that return there
MANY = 12               # with more curves than these across a cut, a picture that scrolls is easier to read
NEAR = 2                # Graphviz rounds where a curve meets a box
SLACK = 1.12            # a picture that is a little too wide is shown a little smaller
ROOM = 12, 26, 12, 8    # around what stands in a block


def wrapped(layout: Layout, width: float, blocks: Mapping[str, str]) -> Layout:
    """Cut a layout into rows of about this width, if that keeps it readable; `blocks` tells in which block something stands."""
    cuts = _cuts(layout, width, blocks)
    result, top, right = Layout(), 0.0, 0.0
    open_ends: dict[tuple[str, str, str], list[Point]] = {}           # what the row above leaves open at its right end
    for (_, low), (high, _) in pairwise([(0, float("-inf")), *cuts, (float("inf"), 0)]):
        boxes = {id: box for id, box in layout.boxes.items() if low <= box.x < high}
        pieces = {key: part for key, points in layout.curves.items() if (part := _between(points, low, high))}
        frame = around([*(box.grown(*ROOM) if id in blocks else box for id, box in boxes.items()),
                        *(Box(x, y, 0, 0) for points in pieces.values() for x, y in along(points))])
        returning = sorted(open_ends, key=lambda key: pieces[key][0][1])
        top += (GAP + WIRE * len(returning)) * bool(returning)
        dx, dy = -frame.x, top - frame.y
        result.boxes |= {id: box.moved(dx, dy) for id, box in boxes.items()}
        for key, points in pieces.items():
            points = [(x + dx, y + dy) for x, y in points]
            if key in open_ends:
                before, rank = open_ends.pop(key), returning.index(key)     # the uppermost is the outermost: none cross
                out, below, into = right + 4 + WIRE * (len(returning) - rank), top - GAP / 2 - WIRE * rank, -12 - WIRE * rank
                start, end = before[-1], points[0]
                points = before + rounded([start, (out, start[1]), (out, below), (into, below), (into, end[1]), end]) + points[1:]
            result.curves[key] = points
            if layout.curves[key][-1][0] > high + NEAR:
                open_ends[key] = points
        top, right = top + frame.h, frame.w
        result.rows.append(top)
    return result


def _cuts(layout: Layout, width: float, blocks: Mapping[str, str]) -> list[tuple[float, float]]:
    """The gaps at which to cut: into rows that fit, as few as possible, with few curves across; none if too many would cross."""
    boxes = sorted(layout.boxes.items(), key=lambda item: item[1].x)
    begin, end, gaps = boxes[0][1].x, boxes[0][1].right, []
    for _, box in boxes:
        if box.x > end:
            gaps.append((end, box.x))
        end = max(end, box.right)
    if end - begin <= width * SLACK:
        return []
    crossing = [sum(points[0][0] < (a + b) / 2 < points[-1][0] for points in layout.curves.values()) for a, b in gaps]
    dear = []                                       # a row ends best behind a result, and not inside a block
    for i, (a, _) in enumerate(gaps):
        sides = [{blocks.get(id) for id, box in boxes if (box.x < a) == left} - {None} for left in (True, False)]
        after = any(id[0] == "o" and box.right > a - 40 and box.right <= a for id, box in boxes)
        dear.append(30 + crossing[i] + 20 * bool(sides[0] & sides[1]) + 4 * after)
    best: list[tuple[float, list[int]]] = [(0, [])]                    # the cost of the rows before each gap, and their cuts
    for i in range(len(gaps) + 1):
        row = [((gaps[i][0] if i < len(gaps) else end) - (gaps[j - 1][1] if j else begin), *best[j]) for j in range(i + 1)]
        here = dear[i] if i < len(gaps) else 0
        best.append(min((cost + here + 5 * (w / width) ** 2 + 1000 * (w > width), [*cuts, i]) for w, cost, cuts in row))
    cuts = best[-1][1][:-1]
    return [gaps[i] for i in cuts] if all(crossing[i] <= MANY for i in cuts) else []


def _between(points: list[Point], low: float, high: float) -> list[Point]:
    """The part of a curve between two places; empty if there is none, one point where it only begins or ends there."""
    if points[0][0] > high + NEAR or points[-1][0] < low - NEAR:
        return []
    for x, later in ((low, True), (high, False)):
        at = next((i for i in range(0, len(points) - 3, 3) if points[i][0] < x <= points[i + 3][0]), None)
        if at is not None:
            first, second = _split(points[at:at + 4], x)
            points = second + points[at + 4:] if later else points[:at] + first
    return points[:1] if points[0][0] > high - NEAR else points[-1:] if points[-1][0] < low + NEAR else points


def _split(piece: list[Point], x: float) -> tuple[list[Point], list[Point]]:
    """One Bézier piece as two, cut where it crosses `x`."""
    low, high = 0.0, 1.0
    for _ in range(30):
        t = (low + high) / 2
        levels = [piece]
        while len(levels[-1]) > 1:
            levels.append([(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairwise(levels[-1])])
        low, high = (t, high) if levels[-1][0][0] < x else (low, t)
    return [level[0] for level in levels], [level[-1] for level in reversed(levels)]
