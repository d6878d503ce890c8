"""What the lessons say about PyTorch is true: their cells print, warn and fail as they do with PyTorch as ``mg``."""
import json

import pytest

import minigrad
from tests import replay
from tests.recorded import recorded, recorded_torch

WANT = recorded("lessons")
each_lesson = pytest.mark.parametrize("lesson", replay.LESSONS)


@each_lesson
def test_a_lesson_says_what_pytorch_said(lesson):
    found = replay.differences(minigrad, lesson, WANT[lesson])
    assert not found, replay.report(found)


@each_lesson
def test_the_record_is_what_pytorch_says(lesson):
    found = replay.differences(recorded_torch(), lesson, WANT[lesson])
    assert not found, replay.report(found)


@each_lesson
def test_the_cells_that_fail_say_so(lesson):
    cells = json.loads(replay.LESSONS[lesson].read_text(encoding="utf-8"))["cells"]
    meant = {cell["id"] for cell in cells if "raises-exception" in cell["metadata"].get("tags", [])}
    assert {cell for cell, lines in WANT[lesson].items() if lines[-1].startswith("ended by")} == meant


def test_every_record_has_its_lesson():
    assert list(WANT) == list(replay.LESSONS), "python -m tests.replay --record, where torch is installed"


@pytest.mark.parametrize("sort, want, got", [
    ("text", "x.grad -> None", "x.grad -> tensor([0.])"),
    ("text", "ended by RuntimeError: no", "ended by ValueError: no"),
    ("text", "<MulBackward0>", "<MulBackward1>"),
    ("text", "tensor([1., 2.])", "tensor([1.])"),
    ("number", "tensor([36.], grad_fn=<PowBackward0>)", "tensor([35.], grad_fn=<PowBackward0>)"),
    ("number", "loss 1e-05", "loss nan"),
    ("layout", "tensor([1., 2.])", "tensor([1.0000, 2.0000])"),
    ("layout", "tensor([[1.],\n        [2.]])", "tensor([[1.], [2.]])"),
    ("environment", "made with 2.13.0", "made with 2.14.0+cpu"),
    ("environment", "in /usr/lib/torch/a.py", r"in C:\lib\torch\a.py"),
    ("environment", "tensor([1.])", "ended by ModuleNotFoundError: No module named 'numpy'"),
])
def test_a_difference_is_sorted(sort, want, got):
    assert replay.sort_of(want.split("\n"), got.split("\n")) == sort


def plant(monkeypatch, tmp_path, cells):
    """A lesson with these cells in the place of all others."""
    path = tmp_path / "07_planted.ipynb"
    code = [{"id": name, "cell_type": "code", "metadata": {}, "source": [source]} for name, source in cells.items()]
    path.write_text(json.dumps({"cells": code}), encoding="utf-8")
    monkeypatch.setattr(replay, "LESSONS", {path.stem: path})


def test_the_command_tells_lesson_cell_and_sort(monkeypatch, tmp_path, capsys):
    plant(monkeypatch, tmp_path, {"same": "print(mg.ones(1))", "number": "print(mg.tensor([2.0]) * 3)", "text": "mg.ones(2).backward()",
                                  "layout": "print(mg.ones(2, 1))", "machine": "import no_such_package", "new": "print('new')"})
    record = {"same": ["tensor([1.])"], "number": ["tensor([7.])"], "text": ["ended by RuntimeError: no"],
              "layout": ["tensor([[1.], [1.]])"], "machine": ["fine"], "gone": ["old"]}
    monkeypatch.setattr(replay, "recorded", lambda theme: {"07_planted": record})
    monkeypatch.setattr(replay.importlib.util, "find_spec", lambda name: None)
    assert replay.main(["07"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if "minigrad, 1x" in line] == [
        "number, minigrad, 1x: 07 number", "text, minigrad, 1x: 07 text", "layout, minigrad, 1x: 07 layout",
        "environment, minigrad, 1x: 07 machine", "text, minigrad, 1x: 07 gone", "text, minigrad, 1x: 07 new"]
    assert said[-3:-1] == ["6 cells differ: 3 text, 1 number, 1 layout, 1 environment", "cells by lesson: 07:6"]
    assert said[1:4] == ["number, minigrad, 1x: 07 number", "  want tensor([7.])", "  got  tensor([6.])"]


def test_nothing_differs_where_all_is_as_recorded(monkeypatch, tmp_path, capsys):
    plant(monkeypatch, tmp_path, {"same": "print(mg.ones(1))", "silent": "x = 1"})
    monkeypatch.setattr(replay, "recorded", lambda theme: {"07_planted": {"same": ["tensor([1.])"]}})
    monkeypatch.setattr(replay.importlib.util, "find_spec", lambda name: None)
    assert replay.main([]) == 0
    assert capsys.readouterr().out.endswith("0 cells differ: 0 text, 0 number, 0 layout, 0 environment\n")


def test_the_report_of_a_new_pytorch_fits_on_a_screen():
    text = "the same long beginning of an error " * 6
    found = [replay.Difference("PyTorch 3.0.0", f"{lesson:02}_x", f"cell-{cell}", "text",
                               f"{text}{cell} old{cell % 8}", f"{text}{cell} new") for lesson in range(16) for cell in range(24)]
    lines = replay.report(found).splitlines()
    assert len(lines) <= 23 and max(map(len, lines)) <= 120
    assert lines[0].startswith("text, PyTorch 3.0.0, 48x: 00 cell-0, 00 cell-8, 00 cell-16, 01 cell-0")
    assert lines[1].endswith("0 old0") and lines[2].endswith("0 new")
    assert "2 more" in lines[-4] and lines[-3].startswith("384 cells differ: 384 text")
