"""Prediction gates from one source: what each answer means stands in the gate's cell; the page below it is made of that.

A gate tells what its answers mean when it is revealed. Who reads a lesson where nothing runs (on GitHub, on paper) gets the same in
the cell below the gate (``predict-1-why`` below ``gate-predict-1``): `fold` writes it, `generate` puts it there. What the cells
behind it print would answer the question at a glance: that stays hidden until they are run.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))               # run as a script, it finds its own folder only

import minigrad as mg  # noqa: E402
from minigrad import lab  # noqa: E402
from minigrad.lab.gate import Gate  # noqa: E402

HEADING = re.compile(r"^#+ ", re.MULTILINE)
FIRST_LINE = "# A question. Run the cell; its code holds the answer."


def gate_cells(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """Return a lesson's cells that ask, by their ids."""
    return {cell.id: cell for cell in notebook.cells if cell.cell_type == "code" and cell.id.startswith("gate-")}


def gate_of(cell: NotebookNode) -> Gate:
    """Run a cell that asks and return its gate."""
    first, _, call = cell.source.partition("\n")
    if first != FIRST_LINE:
        raise ValueError(f"{cell.id} should begin with the line: {FIRST_LINE}")
    return eval(call, {"mg": mg, "lab": lab})


def gates(notebook: NotebookNode) -> dict[str, Gate]:
    """Run a lesson's prediction gates and return them by their cells' ids."""
    return {name: gate_of(cell) for name, cell in gate_cells(notebook).items()}


def fold(gate: Gate) -> str:
    """Return what a gate says when it is revealed, folded, as Markdown."""
    right = next(option for option in gate.options if gate.is_right(option))
    lines = ["<details><summary>For readers only: the answer, and what each other one means</summary>", "",
             f"**{right.letter} is right.** {right.believes}", ""]
    failed = gate.outcome.failure
    if failed:
        lines += [f"> {failed.text}", ""]
    for option in gate.options:
        if option is not right:
            who = f"**{option.letter}**"
            lines.append(f"- {option.meaning(who)}" if option.believes[:1].islower() else f"- {who}: {option.believes}")
    return "\n".join([*lines, "", "</details>"])


def generate(notebook: NotebookNode) -> None:
    """Write the cell below each gate from the gate, and hide what would answer it until somebody runs that."""
    cells = {cell.id: cell for cell in notebook.cells}
    asked = gate_cells(notebook)
    for name, cell in asked.items():
        cells[below(name)].source = fold(gate_of(cell))
    hidden = [answer.id for name in asked for answer in answering(notebook, name)]
    for cell in notebook.cells:
        if asked and cell.cell_type == "code":
            jupyter = {key: value for key, value in cell.metadata.pop("jupyter", {}).items() if key != "outputs_hidden"}
            jupyter |= {"outputs_hidden": True} if cell.id in hidden else {}
            cell.metadata |= {"jupyter": jupyter} if jupyter else {}


def answering(notebook: NotebookNode, name: str) -> list[NotebookNode]:
    """Return the cells below a gate that may answer it: those of its section, and the first one in any case.

    What they store is hidden until they are run (JupyterLab shows it then by itself).
    """
    found: list[NotebookNode] = []
    ended = False
    for cell in notebook.cells[[cell.id for cell in notebook.cells].index(name) + 1:]:
        ended |= cell.cell_type == "markdown" and bool(HEADING.search(cell.source))
        if ended and found or re.match(r"gate-|ex\d", cell.id):
            break
        if cell.cell_type == "code":
            found.append(cell)
    return found


def below(name: str) -> str:
    """Return the id of the cell below a gate.

    >>> below("gate-predict-1")
    'predict-1-why'
    """
    return f"{name.removeprefix('gate-')}-why"
