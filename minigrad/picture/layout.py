"""Where everything stands: the model as DOT, laid out by Graphviz, plus the memory band under it.

Graphviz sees widths and structure, never flags, states or colours, and reserves every lane even where nothing was recorded.
So a flag or a backward step never moves a node, and a redraw finds its layout in the cache.
"""
from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

import graphviz

from .geometry import ROW, Box, Layout, along, around
from .graphviz_wasm import run_dot
from .model import Card, Edge, Model, Op
from .rows import ROOM, wrapped
from .text import MOST_CODE, MOST_NAME, card_width, joint, joint_width, memory_width, note, op_width, short

SECONDS = 0.7                # a layout that takes longer is given up
WIDTH = 940                  # what a notebook's cell shows without scrolling
START = "start"              # stands before the first lane, is never drawn


def stands_for(model: Model, id: str) -> str | None:
    """Where a tensor is drawn: its card, or the operation that it is folded into, or nowhere."""
    card = model.by_id[id]
    return card.id if card.drawn else card.op


def links(model: Model) -> list[tuple[str, str]]:
    """Pairs of what stands next to each other, in program order, cuts last (their tensors hang over the memory band)."""
    pairs: dict[tuple[str, str], None] = {}
    for op in sorted(model.ops, key=lambda op: op.cut):
        for id in op.inputs:
            source = stands_for(model, id)
            if source is not None and source != op.id:
                pairs[source, op.id] = None
        for id in op.outputs:
            if model.by_id[id].drawn:
                pairs[op.id, id] = None
    return list(pairs)


def to_dot(model: Model, text: bool = True, clusters: bool = True) -> graphviz.Digraph:
    """The picture's structure as a graph of the `graphviz` package; without `text`, all that the layout depends on."""
    graph = graphviz.Digraph("autograd", edge_attr={"dir": "none"}, graph_attr={
        "rankdir": "LR", "nodesep": "0.42", "ranksep": "0.36", "ordering": "out", "margin": "0", "nslimit": "2", "nslimit1": "2",
    }, node_attr={
        "shape": "record", "fontname": "Courier", "fontsize": "10", "margin": "0", "height": f"{model.rows * ROW / 72:.4f}",
        "fixedsize": "true"})
    names = {card.id: short(card.name, MOST_NAME) for card in model.cards}
    groups = {block.id: graphviz.Digraph(f"cluster_{block.id}", graph_attr={
        "label": _escaped(block.title) if text else " ", "margin": "14", "style": "dashed", "labeljust": "l"})
        for block in model.blocks}
    parts: list[tuple[Card | Op, float]] = [(card, card_width(card, model.detail, model.live)) for card in model.cards if card.drawn]
    parts += [(op, op_width(op, [names[i] or "…" for i in op.inputs], model.notes)) for op in model.ops]
    for part, width in parts:
        rows = (_card_rows(part) if isinstance(part, Card) else _op_rows(part)) if text else (" ", " ", " ")
        label = "|".join(f"<{port}> {row}" for port, row in zip("vgn"[:model.rows], rows, strict=False))
        place = groups[part.block] if clusters and part.block else graph
        place.node(part.id, label=graphviz.nohtml(label), width=f"{width / 72:.4f}")
    for group in groups.values() if clusters else ():
        graph.subgraph(group)
    recorded = {(edge.target, edge.source) for edge in model.edges}
    for source, target in links(model):
        graph.edge(f"{source}:v:e", f"{target}:v:w", weight="6" if source[0] == "o" else "3")
        graph.edge(f"{source}:g:e", f"{target}:g:w", style="" if text else "invis")
        recorded.discard((source, target))
    first = _first_lane(model)
    if len(first) > 1:                       # in program order from top to bottom: out-edges keep the order they are written in
        graph.node(START, label="", width="0.01")
        for id in first:
            graph.edge(START, f"{id}:v:w", style="invis", weight="0")
    for source, target in sorted(recorded & set(_loose(model)), key=lambda pair: (len(pair[0]), pair)):
        graph.edge(f"{source}:g:e", f"{target}:g:w")
    return graph


def _first_lane(model: Model) -> list[str]:
    """The cards at the left, where Graphviz has nothing that orders them: those that begin the program, as they are first used."""
    pairs = links(model)
    fed = {target for _, target in pairs}
    opening = {target for _, target in pairs if all(source not in fed for source, other in pairs if other == target)}
    return list(dict.fromkeys(source for source, target in pairs if source not in fed and target in opening))


def _loose(model: Model) -> list[tuple[str, str]]:
    """Recorded edges that no tensor of the forward pass runs along (a helper's, a write's into a part of a tensor)."""
    near = set(links(model))
    return [(e.target, e.source) for e in model.edges if (e.target, e.source) not in near and not path(model, e, near)]


def path(model: Model, edge: Edge, near: set[tuple[str, str]] | None = None) -> list[tuple[str, str]]:
    """The links that a recorded edge runs along, from its source back to its target; empty if there are none."""
    near = set(links(model)) if near is None else near
    via = edge.via if edge.via is not None and model.by_id[edge.via].drawn else None
    pairs = [(via, edge.source), (edge.target, via)] if via else [(edge.target, edge.source)]
    return pairs if all(pair in near for pair in pairs) else []


def _card_rows(card: Card) -> list[str]:
    return [_escaped(text) for text in (
        f"{short(card.name, MOST_NAME)} {card.value}", f".grad {card.grad or 'None'}",
        f"{'leaf' if card.is_leaf else 'not a leaf'} requires_grad {card.requires_grad}")]


def _op_rows(op: Op) -> list[str]:
    return [_escaped(text) for text in (short(op.text, MOST_CODE), op.node or "grad_fn None", note(op))]


def _escaped(text: str) -> str:
    """Text for a record label, where braces, bars, angles and blanks mean something."""
    return re.sub(r"([\\{}|<> ])", r"\\\1", "".join(c if c.isprintable() else "\ufffd" for c in text))


def place(model: Model, width: float = WIDTH) -> Layout:
    """Lay a model out, in rows of about this width.

    Raises
    ------
    LayoutError
        If Graphviz is missing or takes too long.
    """
    # Blocks are drawn around what stands anyway; only where a stranger would stand inside, Graphviz must keep it out.
    for clusters in (False, True):
        source = to_dot(model, text=False, clusters=clusters).source
        blocks = tuple((part.id, part.block) for part in (*model.ops, *model.cards) if part.block is not None)
        marks = tuple((part.id, joint_width(f"{joint(part)}'")) for part in (*model.ops, *model.cards))
        arranged, curves = _arranged(source, model.rows, width, blocks, marks)
        layout = replace(arranged, boxes=dict(arranged.boxes), blocks=[])
        if _add_blocks(layout, model):
            break
    _add_memories(layout, model)
    return _moved(layout, curves)


@lru_cache(256)
def _arranged(source: str, rows: int, width: float, blocks: tuple[tuple[str, str], ...],
              marks: tuple[tuple[str, float], ...]) -> tuple[Layout, Box]:
    """Graphviz's answer, in rows, and the box around all curves and marks; nobody may change them."""
    layout = _read(run_dot(source, SECONDS), rows)
    if layout.boxes:
        layout = wrapped(layout, width, dict(blocks), dict(marks), lambda ids: _read(run_dot(_part(source, ids), SECONDS), rows))
    points = [point for pieces in layout.curves.values() for piece in pieces for point in along(piece)]
    points += [(x + side * dict(marks)[key[1]], y) for key, pieces in layout.curves.items() if len(pieces) == 2
               for side, (x, y) in ((1, pieces[0][-1]), (-1, pieces[1][0]))]
    return layout, around([Box(x, y, 0, 0) for x, y in points or [(0, 0)]])


def _part(source: str, ids: list[str]) -> str:
    """The graph of some parts alone; those that nothing leads to are in the order of `ids` from top to bottom."""
    *lines, end = [line for line in source.splitlines() if START not in line and {*re.findall(r"\b[to]\d+\b", line)} <= {*ids}]
    fed = re.findall(r"-> (\w+)", "\n".join(lines))
    first = [f"{START} -> {id}:v:w [style=invis weight=0]" for id in ids if id not in fed]
    return "\n".join([*lines, f'{START} [label="" width=0.01]', *first, end])


def _read(answer: dict, rows: int) -> Layout:
    height = float(answer["bb"].split(",")[3])
    objects = answer.get("objects", [])
    layout = Layout()
    for node in objects:
        if "pos" in node and "width" in node and node["name"] != START:
            x, y = map(float, node["pos"].split(","))
            w, h = float(node["width"]) * 72, rows * ROW
            layout.boxes[node["name"]] = Box(x - w / 2, height - y - h / 2, w, h)
    names = {node["_gvid"]: node["name"] for node in objects}
    for edge in answer.get("edges", []):
        if names[edge["tail"]] == START:
            continue
        points = [tuple(map(float, pair.split(","))) for pair in edge["pos"].split()]
        key = ("value" if edge["tailport"].startswith("v") else "gradient", names[edge["tail"]], names[edge["head"]])
        layout.curves[key] = [[(x, height - y) for x, y in points]]
    return layout


def _add_blocks(layout: Layout, model: Model) -> bool:
    """Put a box around the members of each block, one in each row of the picture; False if something else stands inside one."""
    for block in model.blocks:
        rows: dict[float, list[str]] = {}
        for part in (*model.ops, *model.cards):
            if part.block == block.id and part.id in layout.boxes:
                rows.setdefault(layout.row_of(part.id), []).append(part.id)
        for inside in rows.values():
            box = around([layout.boxes[id] for id in inside]).grown(*ROOM)
            if any(box.meets(other) for id, other in layout.boxes.items() if id not in inside):
                return False
            layout.blocks.append((block.title, box))
    return True


def _add_memories(layout: Layout, model: Model) -> None:
    """The memory band under the graph, from left to right as its tensors stand."""
    y = max((box.bottom for box in layout.boxes.values()), default=0) + 52
    free = 0.0
    middles = {m.id: sum(layout.boxes[c].x + layout.boxes[c].w / 2 for c in m.cards) / len(m.cards) for m in model.memories}
    for memory in sorted(model.memories, key=lambda m: middles[m.id]):
        width = memory_width(memory)
        x = max(middles[memory.id] - width / 2, free)
        layout.boxes[memory.id] = Box(x, y, width, ROW + 18 + 14 * bool(memory.writes))
        free = x + width + 30


def _moved(layout: Layout, curves: Box) -> Layout:
    """Give everything a margin, whatever hangs out of Graphviz's own frame."""
    margin = 10
    # A leaf may get a tag under its ⊕ later: keep the room for it.
    frames = [box.grown(0, 0, 0, 24 - margin) if id[0] == "t" else box for id, box in layout.boxes.items()]
    whole = around([*frames, *(box for _, box in layout.blocks), *[curves] * bool(layout.curves)])
    dx, dy = margin - whole.x, margin - whole.y
    return Layout({id: box.moved(dx, dy) for id, box in layout.boxes.items()},
                  {key: [[(x + dx, y + dy) for x, y in piece] for piece in pieces] for key, pieces in layout.curves.items()},
                  [(title, box.moved(dx, dy)) for title, box in layout.blocks], [y + dy for y in layout.rows],
                  whole.w + 2 * margin, whole.h + 2 * margin)
