"""What the lessons store: what nbval does not look at. Every cell was run, no dead widget is kept, errors have their notes."""
from __future__ import annotations

import nbformat
import pytest

pytest.importorskip("nbclient")
from tests import execute

LESSONS = sorted(execute.NOTEBOOKS.glob("*.ipynb"))
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
each_notebook = pytest.mark.parametrize("path", [*LESSONS, *sorted(execute.NOTEBOOKS.glob("solutions/*.ipynb")),
                                                         *execute.NOTEBOOKS.glob("teacher/*.ipynb")],
                                        ids=lambda path: f"{path.parent.name}-{path.stem}")


def said(cell: nbformat.NotebookNode) -> list[str]:
    """Return the errors of a cell, each with its notes, without the frames that led to it."""
    colour = execute.COLOUR
    result = []
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            lines = [colour.sub("", entry) for entry in output.traceback]
            message = next(i for i, line in enumerate(lines) if line.startswith(f"{output.ename}:"))
            result += [output.evalue, *lines[message:]]
    return result


def strip(notebook: nbformat.NotebookNode, last: int) -> nbformat.NotebookNode:
    """Return the notebook's cells up to number ``last``, without outputs."""
    copy = nbformat.from_dict(notebook)
    copy.cells = copy.cells[:last + 1]
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return copy


def test_there_are_lessons():
    assert LESSONS[0].name == "00_start_here.ipynb"


@each_notebook
def test_every_cell_was_run_in_order(path):
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


@each_notebook
def test_no_dead_widget_is_stored(path):
    notebook = nbformat.read(path, 4)
    assert "widgets" not in notebook.metadata
    mimes = {mime for cell in notebook.cells for output in cell.get("outputs", []) for mime in output.get("data", {})}
    assert [mime for mime in mimes if "widget" in mime] == []


@each_notebook
def test_the_file_is_in_its_stored_form(path):
    text = path.read_text(encoding="utf-8")
    assert nbformat.writes(execute.tidy(nbformat.reads(text, 4))).rstrip("\n") + "\n" == text


@each_notebook
def test_only_cells_that_say_so_fail(path):
    for cell in nbformat.read(path, 4).cells:
        assert bool(said(cell)) == ("raises-exception" in cell.metadata.get("tags", [])), cell.source


@each_lesson
def test_errors_still_say_the_same_with_their_notes(path, tmp_path):
    stored = nbformat.read(path, 4)
    failing = [number for number, cell in enumerate(stored.cells) if said(cell)]
    if not failing:
        return
    part = tmp_path / path.name
    nbformat.write(strip(stored, failing[-1]), part)
    now = execute.tidy(execute.run(part))
    for number in failing:
        assert said(now.cells[number]) == said(stored.cells[number]), stored.cells[number].source


def test_a_changed_note_would_be_found():
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output(
        "error", ename="RuntimeError", evalue="no", traceback=["frame", "\x1b[31mRuntimeError\x1b[39m: no", "a note"])])
    other = nbformat.from_dict(cell)
    other.outputs[0].traceback[-1] = "another note"
    assert said(cell) == ["no", "RuntimeError: no", "a note"] != said(other)


def test_what_differs_from_run_to_run_is_not_stored():
    new = nbformat.v4.new_output
    pieces = [("stderr", "w"), ("stdout", "a at 0x7f0000000001"), ("stdout", "b"), ("stderr", "x")]
    outputs = [*(new("stream", name=name, text=text) for name, text in pieces),
               new("error", ename="E", evalue="", traceback=["File /tmp/minigrad/engine.py:7, in go(x)\n 1"]),
               new("display_data", {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}})]
    tidied = execute.tidy_outputs(outputs)
    assert [(o.output_type, o.get("text")) for o in tidied] == [("stream", "a at 0xADDRb"), ("stream", "wx"), ("error", None)]
    assert tidied[2].traceback == ["File minigrad/engine.py, in go"]
