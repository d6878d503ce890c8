"""CONTRIBUTING's examples, followed as a newcomer would: they work as they stand."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from tests.exercises import side
from tests.truth.harness import compare, run
from tests.truth.op import Op, table

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```python (\w+)\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package with the new operation written into its file."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "minigrad", folder / "minigrad", ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "minigrad/ops/elementwise.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n\n" + BLOCKS["op"], encoding="utf-8")
    return folder


def said(house, program):
    done = subprocess.run([sys.executable, "-c", "import minigrad as mg\n" + program], cwd=house, capture_output=True, text=True,
                          encoding="utf-8", check=False, env={"PYTHONPATH": str(house), "PYTHONDONTWRITEBYTECODE": "1", **_system()})
    assert not done.returncode, done.stderr
    return done.stdout.split("\n")[:-1]


def _system():
    """What Windows needs of the environment to start Python."""
    return {name: os.environ[name] for name in ("SYSTEMROOT", "PATH") if name in os.environ}


def test_an_operation_added_as_described_works(house):
    assert not hasattr(minigrad, "deg2rad"), "minigrad has it now: take another example"
    assert said(house, """
x = mg.tensor([180.0, 90.0], requires_grad=True)
y = mg.deg2rad(x)
print(y.grad_fn.name())
print(mg.autograd.gradcheck(mg.deg2rad, (x.double().detach().requires_grad_(),)))
print(mg.autograd.gradgradcheck(mg.deg2rad, (x.double().detach().requires_grad_(),)))
print(x.detach().clone().deg2rad_().tolist() == y.tolist())
print(mg.tensor([180]).deg2rad().dtype, mg.deg2rad.op.tex)
""") == ["Deg2RadBackward0", "True", "True", "True", r"torch.float32 {self} \cdot \tfrac{{\pi}}{{180}}"]


def test_its_case_prints_what_pytorch_prints(house):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: the example's case is not compared")
    case = eval(f"[{BLOCKS['case']}]", {"Op": Op})
    want = run(table(*case)["deg2rad"], torch)
    got = said(house, f"""
from tests.truth.harness import run
from tests.truth.op import Op, table
print("\\n".join(run(table({BLOCKS['case'].strip()})["deg2rad"], mg)))
""".replace("from tests", f"import sys; sys.path.append({str(ROOT)!r})\nfrom tests", 1))
    assert len(want) > 5
    assert compare(want, got) == []


def test_an_exercises_source_has_two_sides():
    lines = BLOCKS["exercise"].splitlines()
    assert side(lines, "solution") == "z = (x * 3).detach()\nloss = z ** 2\nloss.backward()"
    assert side(lines, "stub") == "z = x * 3\nloss = z ** 2\nprint(z)"


def test_a_lab_written_as_described_works():
    pytest.importorskip("anywidget")
    from minigrad.lab.html import button, tag
    from minigrad.lab.widget import LabWidget
    names = {"mg": minigrad, "LabWidget": LabWidget, "tag": tag, "button": button}
    exec(BLOCKS["lab"], names)
    lab = names["NodeCounter"]()
    assert "1 multiplications, 2 nodes" in lab.widget.html
    lab.widget._heard({"do": "more"})
    assert "2 multiplications, 3 nodes" in lab.widget.html
    assert lab.widget._repr_mimebundle_()[0]["text/plain"] == "3 nodes"


def test_files_and_folders_it_names_are_there():
    for name in re.findall(r"`((?:tests|minigrad|notebooks|\.ci)/[\w./]*)`", TEXT):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"python (tests/[\w/]+\.py)", TEXT):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"python -m (tests[\w.]*)", TEXT):
        path = ROOT / name.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), name
