"""Every exercise of the lessons can tell right from wrong, and what the lessons store of it comes from its one source."""
from __future__ import annotations

import ast
import re

import nbformat
import pytest

pytest.importorskip("IPython")
from IPython.core.interactiveshell import InteractiveShell

from tests.exercises import exercises, generate, side, solutions, trials

NOTEBOOKS = pytest.importorskip("tests.execute").NOTEBOOKS
LESSONS = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@pytest.fixture
def shell():
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@each_lesson
@pytest.mark.filterwarnings("ignore")       # lessons warn on purpose; nbval compares those warnings
def test_checks_tell_right_from_wrong(path, shell):
    lesson, stored = (nbformat.read(path, 4) for _ in range(2))
    assert len(exercises(lesson)) >= 2
    trials(lesson, shell)
    assert [(name, wrong.heard) for name, cell in exercises(lesson).items() for wrong in cell.metadata.exercise.wrong] == [
        (name, wrong.get("heard")) for name, cell in exercises(stored).items() for wrong in cell.metadata.exercise.wrong]


@each_lesson
def test_stub_and_solution_come_from_one_source(path):
    stored, made = (nbformat.read(path, 4) for _ in range(2))
    generate(made)
    assert made == stored
    page, fresh = nbformat.read(path.parent / "solutions" / path.name, 4), solutions(made, path.stem)
    assert [(cell.id, cell.source) for cell in page.cells] == [(cell.id, cell.source) for cell in fresh.cells]


def test_a_line_belongs_to_one_side_or_both():
    lines = ["def f(x):", "    a = x.detach()  #: a = x", "    a.add_(1)       #:", "    #: print(a)", "    return a"]
    assert side(lines, "solution") == "def f(x):\n    a = x.detach()\n    a.add_(1)\n    return a"
    assert side(lines, "stub") == "def f(x):\n    a = x\n    print(a)\n    return a"


@each_lesson
def test_a_stub_is_indented_as_one_types(path):
    for name, cell in exercises(nbformat.read(path, 4)).items():
        for node in ast.walk(ast.parse(cell.source)):
            for inner in getattr(node, "body", None) if isinstance(getattr(node, "body", None), list) else []:
                assert isinstance(node, ast.Module) or inner.lineno == node.lineno or inner.col_offset == node.col_offset + 4, name


@pytest.mark.parametrize("change, complaint", [
    (lambda e: e.update(source=["n = 3  #: n = 2"]), "accepts its stub"),
    (lambda e: e.update(source=["n = 5  #: n = None"]), "refuses"),
    (lambda e: e.wrong[0].update(answer="n = 3"), "accepts"),
    (lambda e: e.wrong[0].update(says=["too large"]), "says to"),
    (lambda e: e.wrong.append(nbformat.from_dict({"answer": "n = 1", "says": []})), "the same to two mistakes"),
    (lambda e: e.wrong[0].update(answer="n = 'x'"), "broke"),
])
def test_a_bad_exercise_is_found(change, complaint, shell):
    exercise = {"source": ["n = 3  #: n = None"], "wrong": [{"answer": "n = 2", "says": ["too small"]}]}
    check = "print('Not done yet' if n is None else 'Right' if n == 3 else 'Not yet: too small' if n < 3 else 'Not yet')"
    lesson = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("", id="ex1", metadata={"exercise": exercise}), nbformat.v4.new_code_cell(check, id="ex1-check")])
    trials(lesson, shell)
    change(lesson.cells[0].metadata.exercise)
    with pytest.raises(AssertionError, match=complaint):
        trials(lesson, shell)


def test_a_check_survives_what_no_author_thinks_of(shell):
    exercise = {"source": ["def f(x):", "    return 3 * x  #: return x"], "wrong": []}
    check = "print('Right' if f(1) == 3 else 'Not done yet' if f(1) > 0 else 'Not yet')"
    lesson = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("", id="ex1", metadata={"exercise": exercise}), nbformat.v4.new_code_cell(check, id="ex1-check")])
    with pytest.raises(AssertionError, match="broke"):
        trials(lesson, shell)
    lesson.cells[1].source = f"from minigrad import lab\nwith lab.check():\n    {check}"
    trials(lesson, shell)


@each_lesson
def test_three_dots_stand_where_an_answer_goes(path):
    for name, cell in exercises(nbformat.read(path, 4)).items():
        stubs = "\n".join(line.partition("#:")[2] for line in cell.metadata.exercise.source)
        assert not re.search(r"""\bNone\b|\bpass\b|["']\?["']""", stubs), name
