"""What the lessons say about PyTorch is true: their cells, run with PyTorch as ``mg``, print, warn and fail with the same text."""
import contextlib
import io
import json
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import minigrad

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the lessons' facts are compared where it is")
NOTEBOOKS = sorted(Path(__file__).parent.parent.joinpath("notebooks").glob("[0-9]*.ipynb"))
LOCAL = re.compile(r"0x[0-9a-fA-F]{6,}| \(Triggered internally at .*?\)")
ONLY_MINIGRAD = ("setup", "setup-check")       # these cells import minigrad's tools and test them


def ask(program, asks, names):
    """Print what a prediction gate asks after its program: each question on a fresh run of it."""
    for question in asks:
        scope = dict(names)
        try:
            exec(program, scope)
            failed = "no error"
        except Exception as caught:
            failed = f"{type(caught).__name__}: {caught}"
        try:
            print(question, "->", failed if question == "error" else eval(question, scope))
        except Exception as caught:
            print(question, "->", f"{type(caught).__name__}: {caught}")


def replay(path, library):
    """Run a lesson's cells with one library, without pictures and labs: what each printed, warned of and raised."""
    figure = SimpleNamespace(record=lambda *tensors, **look: contextlib.nullcontext(), curve=lambda **series: None,
                             table=lambda title, rows: None, set_detail=lambda detail: None)
    names = {"mg": library, "picture": figure, "draw": lambda *tensors: None}
    names["lab"] = SimpleNamespace(gate=lambda program, *asks, **words: ask(program, asks, names))
    said = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code" or cell["id"] in ONLY_MINIGRAD:
            continue
        source = "".join(cell["source"]).removeprefix("%%explore\n")
        error, out = None, io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                exec(compile(source, cell["id"], "exec"), names)
            except Exception as caught:
                error = f"{type(caught).__name__}: {caught}"
        texts = [out.getvalue(), *(str(warning.message) for warning in warned), str(error)]
        said[cell["id"]] = [LOCAL.sub("", text) for text in texts]
        assert (error is not None) == ("raises-exception" in cell["metadata"].get("tags", [])), (cell["id"], error)
    return said


@pytest.fixture
def first_time(monkeypatch):
    """What a process is warned of once: as if neither library had warned yet, whatever ran before."""
    monkeypatch.setattr(minigrad.reasons, "_warned", set())
    torch.storage._reset_warn_typed_storage_removal()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_lesson_says_what_pytorch_does(path, first_time):
    ours = replay(path, minigrad)
    assert ours == replay(path, torch)
    assert any(text for texts in ours.values() for text in texts)


def test_a_difference_would_be_seen(tmp_path):
    cells = [{"id": "fact", "cell_type": "code", "metadata": {}, "source": ["print(mg.__name__)"]}]
    path = tmp_path / "0_lesson.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert replay(path, minigrad) != replay(path, torch)
