"""Every exercise of the lessons can tell right from wrong: its stub fails, its solution passes, each known mistake is named.

A check cell (id ``ex1-check``) carries its trials in its metadata: ``exercise.wrong``, answers with what the check must say to
them, and ``exercise.right``, further good answers. The stub is the cell ``ex1``, the solution stands in ``ex1-help``.
"""
import json
from pathlib import Path

import pytest

capture = pytest.importorskip("IPython.utils.capture")
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402

NOTEBOOKS = sorted(Path(__file__).parent.parent.joinpath("notebooks").glob("[0-9]*.ipynb"))
FAILED = ("not yet", "not done yet", "almost")


def cells_of(path):
    return {cell["id"]: cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}


def source(cell):
    return "".join(cell["source"])


def solution(cell):
    return source(cell).split("<summary>Solution</summary>")[1].split("```python\n")[1].split("```")[0]


@pytest.fixture
def shell():
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")          # lessons warn on purpose; nbval compares those warnings
def test_checks_tell_right_from_wrong(path, shell):
    cells = cells_of(path)
    checks = [name for name in cells if name.endswith("-check") and "exercise" in cells[name]["metadata"]]
    assert len(checks) >= 2

    def said(name, answer):
        with capture.capture_output() as output:
            shell.run_cell(answer)
            result = shell.run_cell(source(cells[name]))
        assert result.success, f"{name} broke on this answer:\n{answer}\n{output.stdout}"
        return output.stdout

    with capture.capture_output():
        for name, cell in cells.items():
            if cell["cell_type"] == "code" and not name.startswith("ex"):
                shell.run_cell(source(cell))
    for name in checks:
        stub, trials = name.removesuffix("-check"), cells[name]["metadata"]["exercise"]
        assert "not done yet" in said(name, source(cells[stub])).lower()
        for answer in [solution(cells[f"{stub}-help"]), *trials["right"]]:
            text = said(name, answer).lower()
            assert "right" in text and not any(word in text for word in FAILED), f"{name} refuses:\n{answer}\n{text}"
        for wrong in trials["wrong"]:
            text = said(name, wrong["answer"])
            assert any(word in text.lower() for word in FAILED), f"{name} accepts:\n{wrong['answer']}\n{text}"
            assert all(part in text for part in wrong["says"]), f"{name} says to:\n{wrong['answer']}\n{text}"
