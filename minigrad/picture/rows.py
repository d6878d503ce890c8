"""A layout that is too wide, cut between its columns into rows. What runs from one row to another ends in a mark on both sides."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from .geometry import Box, Layout, Point, along, around

GAP = 26                # between two rows
MARK = 16               # the height of a mark
MANY = 12               # with more curves than these across a cut, a picture that scrolls is easier to read
SLACK = 1.25            # a picture that is a little too wide is shown a little smaller
ROOM = 12, 26, 12, 8    # around what stands in a block


def wrapped(layout: Layout, width: float, blocks: Mapping[str, str], marks: Mapping[str, float],
            again: Callable[[list[str]], Layout]) -> Layout:
    """Cut a layout into rows of about this width, if that keeps it readable.

    `blocks` tells in which block something stands, `marks` how wide the mark of a line is that comes from there; `again` lays
    out the parts of one row alone, given from top to bottom.
    """
    cuts = _cuts(layout, width, blocks)
    if not cuts:
        return layout
    result, top = Layout(), 0.0
    row = {id: sum(box.x > left for left, _ in cuts) for id, box in layout.boxes.items()}
    for number in range(len(cuts) + 1):
        alone = again(sorted((id for id in row if row[id] == number), key=lambda id: layout.boxes[id].y))
        boxes = alone.boxes
        pieces = {key: whole for key, (whole,) in alone.curves.items()}
        framed = [around([box for id, box in boxes.items() if blocks.get(id) == block]).grown(*ROOM)
                  for block in {blocks[id] for id in boxes if id in blocks}]
        places = _Places([*boxes.values()], framed, [point for points in pieces.values() for point in along(points)])
        leaving: dict[tuple[str, str], list[Point]] = {}              # one for all that a lane of a part sends to other rows
        for key in layout.curves:
            lane, ends = key[0] == "gradient", (row[key[1]], row[key[2]])
            if number == ends[0] != ends[1]:
                if key[:2] not in leaving:
                    leaving[key[:2]] = places.stub((boxes[key[1]].right, boxes[key[1]].lane(lane)), 1, marks[key[1]])
                pieces[key] = leaving[key[:2]]
            elif number == ends[1] != ends[0]:
                pieces[key] = places.stub((boxes[key[2]].x, boxes[key[2]].lane(lane)), -1, marks[key[1]])
        frame = around([*places.boxes, *framed, *(Box(x, y, 0, 0) for x, y in places.points)])
        dx, dy = -frame.x, top - frame.y
        result.boxes |= {id: box.moved(dx, dy) for id, box in boxes.items()}
        for key, points in pieces.items():
            result.curves.setdefault(key, []).append([(x + dx, y + dy) for x, y in points])
        top += frame.h
        result.rows.append(top)
        top += GAP
    return result


class _Places:
    """Finds room for marks in a row: `boxes` and `framed` boxes and `points` of curves stand there already."""

    def __init__(self, boxes: list[Box], framed: list[Box], points: list[Point]) -> None:
        self.boxes, self.framed, self.points = boxes, framed, points

    def stub(self, port: Point, side: int, width: float) -> list[Point]:
        """A short curve from a port to the right (side 1), or from the left into it (-1), with room for a mark at its loose end."""
        x, y = port
        near = [p for p in self.points if abs(p[0] - x) < 200 and abs(p[1] - y) < 120]
        for reach, up in sorted(((reach, up) for reach in range(12, 120, 6) for up in range(-90, 91, 9)),
                                key=lambda place: (place[0] + 2 * abs(place[1]), place)):
            end, middle = (x + side * reach, y + up), x + side * reach / 2
            mark = Box(end[0] - width * (side < 0), end[1] - MARK / 2, width, MARK)
            stub = [port, (middle, y), (middle, end[1]), end]
            way, room = along(stub), mark.grown(2, 1, 2, 1)
            if not (any(mark.meets(box) for box in (*self.boxes, *self.framed)) or any(room.holds(p) for p in near)
                    or any(box.holds(p) for box in self.boxes for p in way[1:])):
                break
        self.boxes = [*self.boxes, mark]
        self.points = self.points + way[1:]
        return stub if side > 0 else stub[::-1]


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
    crossing = [sum(whole[0][0] < (a + b) / 2 < whole[-1][0] for whole, in layout.curves.values()) for a, b in gaps]
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
