"""The start command's parts that need no installation: what it finds missing, and what it says then."""
from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
START = ROOT / "notebooks" / "__main__.py"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """The start command as a module, in a copy of the folder that has no environment yet."""
    folder = tmp_path / "a folder"
    (folder / "notebooks").mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / "notebooks/00_first.ipynb").write_text("{}", encoding="utf-8")
    copy = folder / "notebooks/__main__.py"
    copy.write_bytes(START.read_bytes())
    spec = importlib.util.spec_from_file_location("start", copy)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_old_python_can_read_it():
    ast.parse(START.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_it_needs_the_standard_library_alone():
    tree = ast.parse(START.read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names


@pytest.mark.parametrize("version, wide, others, what, cure", [
    ((3, 8, 18), True, (), "This is Python 3.8; the lessons need Python 3.11 or newer.", "https://www.python.org/downloads/"),
    ((3, 10, 0), True, ("python3.11", "python3.13"), "This is Python 3.10;", "python3.13 notebooks"),
    ((3, 12, 0), False, (), "This Python is a 32-bit one", "64-bit Python"),
])
def test_says_why_a_python_will_not_do(start, version, wide, others, what, cure):
    trouble = start.python_trouble(version, wide, lambda name: name if name in others else None)
    assert trouble.what.startswith(what)
    assert cure in trouble.cure


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 14, 2), (3, 15, 0), (4, 0, 0)])
def test_a_new_python_will_do(start, version):
    assert start.python_trouble(version) is None


def test_says_what_debian_leaves_out(start):
    trouble = start.venv_trouble(lambda name: name != "ensurepip")
    assert "no module ensurepip" in trouble.what
    assert "sudo apt install python3-venv" in trouble.cure
    assert start.venv_trouble(lambda name: True) is None


@pytest.mark.parametrize("log, what, cure", [
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "The disk is full.", "700 MB"),
    ("WARNING: Retrying ... NewConnectionError('Failed to establish a new connection: [Errno -3] Temporary failure in name "
     "resolution')\nERROR: No matching distribution found for jupyterlab<5,>=4.4", "cannot be reached", "HTTPS_PROXY"),
    ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))", "proxy", "PIP_CERT"),
    ("OSError: [Errno 13] Permission denied: '/opt/lessons/.venv'", "cannot be written", "a place of your own"),
    ("[Errno 30] Read-only file system: '/media/cd/.venv'", "cannot be written", "a place of your own"),
    ("PermissionError: [WinError 32] The process cannot access the file", "in use", "close JupyterLab"),
    ("OSError: [WinError 206] The filename or extension is too long", "longer than Windows allows", "C:\\minigrad"),
    ("ERROR: No matching distribution found for wasmtime", "not to be had for this Python", "3.11 to 3.14"),
    ("ERROR: something nobody has seen", "does not know", "minigrad-install.log"),
])
def test_turns_what_pip_prints_into_a_cause_and_a_cure(start, log, what, cure):
    trouble = start.diagnose(log)
    assert what in trouble.what
    assert cure in trouble.cure
    assert "{" not in str(trouble)


def test_an_installation_that_was_cut_short_is_not_complete(start, monkeypatch):
    monkeypatch.setattr(start, "python_works", lambda: True)
    assert not start.is_complete(test=False)
    start.VENV.mkdir()
    start.STAMP.write_text('{"fingerp', encoding="utf-8")
    assert not start.is_complete(test=False)
    start.STAMP.write_text(f'{{"fingerprint": "{start.fingerprint()}", "test": false}}', encoding="utf-8")
    assert start.is_complete(test=False)
    assert not start.is_complete(test=True)


def test_new_requirements_are_installed(start, monkeypatch):
    before = start.fingerprint()
    with open(start.ROOT / "requirements.txt", "a", encoding="utf-8") as file:
        file.write("another-package\n")
    assert start.fingerprint() != before


def test_line_ends_are_not_a_change(start):
    before = start.fingerprint()
    file = start.ROOT / "requirements.txt"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert start.fingerprint() == before


def test_children_see_this_environment_and_no_other(start, monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "elsewhere")
    variables = start.environment()
    assert variables["VIRTUAL_ENV"] == str(start.VENV)
    assert variables["PATH"].startswith(str(start.PYTHON.parent))
    assert {"PYTHONPATH", "PYTHONHOME", "PIP_USER"} & set(variables) == set()


def test_a_folder_that_is_no_environment_is_left_alone(start):
    start.VENV.mkdir()
    (start.VENV / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(start.Trouble, match="is not a Python environment"):
        start.set_up(test=False)
    assert (start.VENV / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_the_doctor_says_what_is_missing_and_changes_nothing(start):
    def files():
        return sorted(path for path in start.ROOT.rglob("*") if "__pycache__" not in path.parts)

    before = files()
    done = subprocess.run([sys.executable, start.NOTEBOOKS, "--check"], capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert re.search(r"ok +Python 3\.\d+", done.stdout)
    assert re.search(r"MISSING +no working environment \.venv yet\n +To mend it: (python3|py) notebooks", done.stdout)
    assert "ok       1 lessons in" in done.stdout
    assert files() == before


def test_a_wrong_word_is_refused(start, capsys):
    with pytest.raises(SystemExit) as ended:
        start.main(["--chekc"])
    assert ended.value.code == 2
    assert "--chekc" in capsys.readouterr().err


def test_a_range_is_the_same_wherever_it_stands():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    extras = project["optional-dependencies"]
    shared = {line.split(">")[0]: line for line in project["dependencies"] + extras["lab"] + extras["test"]}
    listed = {line.split(">")[0]: line for line in lines if ">" in line}
    assert {name: shared[name] for name in shared.keys() & listed.keys()} == {name: listed[name] for name in shared.keys() & listed.keys()}
    assert {line.split(">")[0] for line in project["dependencies"] + extras["lab"]} <= listed.keys()
    assert lines[-1] == "-e ."
    assert re.search(r'(?m)^requires-python = ">=3\.11"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
