"""Exercises from one source: the stub, the solution and the solutions' notebook are made of the same lines.

The cell of an exercise (``ex1``) carries in its metadata ``exercise.source``, the solution with the stub beside it::

    z = (x * 3).detach()        #: z = x * 3
    loss = z ** 2
    loss.backward()             #:
    #: print(z)

Left of ``#:`` stands the solution, right of it the stub; a line without the mark belongs to both, an empty side has no such
line. ``exercise.wrong`` lists wrong answers with what the check (``ex1-check``) must say to each (and, for the run sheets, what
it said when it was tried), ``exercise.right`` further good answers. `generate` writes the stub into the cell and the solution into
``ex1-help``; `solutions` makes the notebook of the solutions; `trials` runs every answer and names the first thing that is not as
it should be.
"""
from __future__ import annotations

import ast
import re

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat import NotebookNode, v4

from minigrad import picture

FAILED = ("not yet", "not done yet", "almost")
MARK = re.compile(r"(?P<indent>\s*)(?P<solution>.*?)\s*#: ?(?P<stub>.*)")
SOLUTION = re.compile(r"(<summary>Solution</summary>\n\n```python\n).*?(\n```)", re.DOTALL)


def side(lines: list[str], name: str) -> str:
    """Return one side of an exercise's source, ``"solution"`` or ``"stub"``.

    >>> side(["w -= 1  #: w = w - 1", "print(w)"], "stub")
    'w = w - 1\\nprint(w)'
    """
    result = []
    for line in lines:
        match = MARK.fullmatch(line)
        if match is None:
            result.append(line)
        elif match[name]:
            result.append(match["indent"] + match[name])
    return "\n".join(result)


def exercises(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """Return the cells of a lesson's exercises by their ids."""
    return {cell.id: cell for cell in notebook.cells if "exercise" in cell.metadata}


def generate(notebook: NotebookNode) -> None:
    """Write each exercise's stub and its unfolding solution from its source."""
    cells = {cell.id: cell for cell in notebook.cells}
    for name, cell in exercises(notebook).items():
        source, help_cell = cell.metadata.exercise.source, cells[f"{name}-help"]
        cell.source = side(source, "stub")
        parts = SOLUTION.split(help_cell.source)
        if len(parts) != 4:
            raise ValueError(f"{name}-help needs one <summary>Solution</summary> with a block of Python")
        help_cell.source = parts[0] + parts[1] + side(source, "solution") + parts[2] + parts[3]


def solutions(notebook: NotebookNode, stem: str) -> NotebookNode:
    """Return the notebook of a lesson's solutions: each solution above the check that accepts it."""
    number, _, title = notebook.cells[0].source.splitlines()[0].removeprefix("# ").partition(" · ")
    text = (f"# {number} · Solutions of *{title}*\n\nTry first: the [lesson](../{stem}.ipynb) has hints. "
            "This page is generated from it by `python tests/execute.py`.")
    result = v4.new_notebook(cells=[v4.new_markdown_cell(text, id="title")])
    wanted = {f"{name}{part}" for name in exercises(notebook) for part in ("-task", "", "-check")}
    for cell in notebook.cells:
        if cell.id in wanted or cell.id == "setup" or "exercises-need" in cell.metadata.get("tags", []):
            copy = NotebookNode(cell, metadata=NotebookNode())
            if "exercise" in cell.metadata:
                copy.source = side(cell.metadata.exercise.source, "solution")
            if cell.cell_type == "code":
                copy.outputs, copy.execution_count = [], None
                if cell.metadata.get("jupyter", {}).get("source_hidden"):
                    copy.metadata = NotebookNode(jupyter=NotebookNode(source_hidden=True))
            result.cells.append(copy)
    return result


def unforeseen(stub: str) -> list[str]:
    """Return answers that no author thinks of, for a stub that is one function: a check must survive them.

    >>> unforeseen("def f(x):\\n    return x")[1]
    'def f(x):\\n    return 0'
    """
    body = ast.parse(stub).body
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        return []
    head = stub[:stub.index("\n")]
    return [f"{head}\n    {line}" for line in ("pass", "return 0", "raise RuntimeError('x')", "return [None]")]


def trials(notebook: NotebookNode, shell: InteractiveShell) -> None:
    """Run a lesson's checks on its stubs, its solutions and its listed answers; raise AssertionError if one errs.

    What a check said to a wrong answer is noted there as ``heard``.
    """
    cells = {cell.id: cell for cell in notebook.cells}

    def said(name: str, answer: str) -> str:
        with capture_output() as output:
            shell.run_cell(answer)
            result = shell.run_cell(cells[f"{name}-check"].source)
        assert result.success, f"{name}-check broke on this answer:\n{answer}\n{output.stdout}"
        return output.stdout

    with capture_output():
        for cell in notebook.cells:
            if cell.cell_type == "code" and not cell.id.startswith("ex"):
                shell.run_cell(cell.source)
    picture.set_detail(picture.DETAILS[-1])         # a lesson may have chosen less, for its own process
    for name, cell in exercises(notebook).items():
        exercise = cell.metadata.exercise
        assert "not done yet" in said(name, side(exercise.source, "stub")).lower(), f"{name} accepts its stub"
        for answer in [side(exercise.source, "solution"), *exercise.get("right", [])]:
            text = said(name, answer).lower()
            assert "right" in text and not any(word in text for word in FAILED), f"{name} refuses:\n{answer}\n{text}"
        for answer in unforeseen(side(exercise.source, "stub")):
            assert any(word in said(name, answer).lower() for word in FAILED), f"{name} accepts:\n{answer}"
        heard: dict[str, str] = {}
        for wrong in exercise.wrong:
            text = said(name, wrong.answer)
            assert any(word in text.lower() for word in FAILED), f"{name} accepts:\n{wrong.answer}\n{text}"
            assert all(part in text for part in wrong.says), f"{name} says to:\n{wrong.answer}\n{text}"
            assert text not in heard, f"{name} says the same to two mistakes:\n{wrong.answer}\n{heard[text]}"
            heard[text] = wrong.answer
            wrong.heard = [line for line in text.splitlines() if any(part in line for part in wrong.says)]
        said(name, side(exercise.source, "solution"))           # the next exercise may build on this one
