"""The start command's parts that need no installation: what it finds missing, and what it says then."""
from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import lite

ROOT = Path(__file__).resolve().parent.parent
START = ROOT / "notebooks" / "__main__.py"


def in_a_copy(folder, windows=False):
    """The start command as a module, in a copy of the folder that has no environment yet."""
    (folder / "notebooks").mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / "notebooks/00_first.ipynb").write_text("{}", encoding="utf-8")
    copy = folder / "notebooks/__main__.py"
    source, asks = START.read_text(encoding="utf-8"), 'WINDOWS = os.name == "nt"'
    assert source.count(asks) == 1
    copy.write_text(source.replace(asks, "WINDOWS = True") if windows else source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("start", copy)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def start(tmp_path):
    return in_a_copy(tmp_path / "a folder")


@pytest.fixture
def on_windows(tmp_path, monkeypatch):
    """The same as Windows sees it, as far as that can be had elsewhere; and the programs that it runs, which only pretend to."""
    start = in_a_copy(tmp_path / "Täst folder", windows=True)
    monkeypatch.delattr(os, "geteuid", raising=False)
    monkeypatch.setattr(os, "pathsep", ";")
    commands = []

    class Process:
        """Ends well at once; making an environment makes its Python."""

        stdout, returncode, stderr, answer = ["Collecting numpy\n"], 0, b"", b"Signing notebook: 00_first.ipynb\n"

        def __init__(self, command, shell=False, **_):
            commands.append([str(part) for part in command])
            assert not shell
            if not os.path.exists(command[0]):
                raise FileNotFoundError(command[0])
            if "venv" in command:
                start.PYTHON.parent.mkdir(parents=True)
                start.PYTHON.write_text("", encoding="utf-8")
                (start.VENV / "Lib/site-packages/pip").mkdir(parents=True)

        def wait(self):
            return self.returncode

        poll, kill = wait, wait

    monkeypatch.setattr(start.subprocess, "Popen", Process)
    class Run(Process):
        stdout = Process.answer

    monkeypatch.setattr(start.subprocess, "run", Run)
    return start, commands


def test_it_works_on_windows(on_windows, monkeypatch, capsys):
    start, commands = on_windows
    (start.NOTEBOOKS / "teacher").mkdir()
    (start.NOTEBOOKS / "teacher/class.ipynb").write_text("{}", encoding="utf-8")
    assert start.main(["--no-browser"]) == 0
    folder = start.ROOT / ".venv"
    (probe, venv, pip, trust, lab), python = commands, str(folder / "Scripts" / "python.exe")
    assert probe[0] == pip[0] == trust[0] == lab[0] == python
    assert venv == [sys.executable, "-m", "venv", "--clear", str(folder)]
    assert pip[1:4] == ["-m", "pip", "install"]
    mine = start.ROOT / "my_notebooks"
    assert trust[3:5] == [str(mine), "00_first.ipynb"]
    assert trust[5:] == [str(mine / "00_first.ipynb"), str(mine / "teacher/class.ipynb")]      # by name: no shell expands a star
    assert "--allow-root" not in lab
    assert f"--LabApp.workspaces_dir={start.ROOT / 'my_notebooks/.workspaces'}" in lab      # other projects' tabs stay theirs
    assert start.environment()["PATH"].startswith(str(folder / "Scripts") + ";")
    commands.clear()
    assert start.main(["--no-browser"]) == 0
    assert [command[2] for command in commands] == ["import sys; sys.exit(sys.version_info < (3, 11))",
                                                    start.TRUST, "jupyterlab"]
    commands.clear()
    monkeypatch.setattr(start.subprocess.run, "stdout", b"http://localhost:8888/lab/tree/00_first.ipynb?token=a\nSigning notebook: 00\n")
    opened = []
    monkeypatch.setattr(start.webbrowser, "open", opened.append)
    assert start.main([]) == start.main(["--no-browser"]) == 0          # a second time: no second server
    assert "jupyterlab" not in [command[2] for command in commands]
    assert opened == ["http://localhost:8888/lab/tree/00_first.ipynb?token=a"] and "open already: http" in capsys.readouterr().out
    assert start.main(["reset", "7"]) == 1
    assert "py notebooks reset 03" in capsys.readouterr().err


def test_nothing_in_it_is_for_one_system_only():
    """No shell, no link, no signal that Windows lacks; what is asked of one system alone is asked for first."""
    source = START.read_text(encoding="utf-8")
    assert not re.search(r"shell=|os\.system|symlink|os\.fork|SIGKILL|SIGHUP|preexec_fn|start_new_session|/dev/null|/tmp", source)
    assert source.count("os.geteuid") == 1 and 'hasattr(os, "geteuid") and os.geteuid()' in source
    opened = [call for call in ast.walk(ast.parse(source)) if isinstance(call, ast.Call)
              and (getattr(call.func, "id", "") == "open" or getattr(call.func, "attr", "") in ("read_text", "write_text"))]
    assert len(opened) > 4
    assert [ast.unparse(call) for call in opened if "encoding" not in [keyword.arg for keyword in call.keywords]] == []


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


# The working copy ----------------------------------------------------------------------------------------------------

@pytest.fixture
def lessons(start, monkeypatch):
    """Two lessons with a picture, copied as the start command does it."""
    monkeypatch.delenv("MINIGRAD_NOTEBOOKS", raising=False)
    for name, text in {"00_first.ipynb": "first", "01_second.ipynb": "second", "solutions/01.ipynb": "solved"}.items():
        path = start.NOTEBOOKS / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folder = start.work_folder()
    folder.mkdir()
    assert start.bring_up_to_date(folder) == []
    return folder


def inside(folder):
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != ".minigrad.json"}


def test_a_lesson_for_the_browser_begins_with_what_installs():
    """tests/lite.py: nothing else of the lesson changes."""
    original = (ROOT / "notebooks/01_flags.ipynb").read_text(encoding="utf-8")
    before, after = json.loads(original), json.loads(lite.adapted(original))
    first, *others = [cell for cell in after["cells"] if cell["cell_type"] == "code"]
    assert "%pip install" in first["source"]
    after["cells"].remove(first)
    assert after["cells"] == before["cells"]
    assert others and after["metadata"]["kernelspec"]["name"] == "python"
    needed = {re.split(r"[<>=\[]", line)[0] for line in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
              ["optional-dependencies"]["lab"]} - {"ipywidgets"}      # anywidget brings it
    assert set(first["source"].split("-q ")[1].split()) == {"minigrad", *needed}


def test_the_copy_has_the_lessons_and_nothing_else(start, lessons):
    assert lessons == start.ROOT / "my_notebooks"
    assert inside(lessons) == {"00_first.ipynb": "first", "01_second.ipynb": "second", "solutions/01.ipynb": "solved"}
    assert "my_notebooks/" in (ROOT / ".gitignore").read_text(encoding="utf-8").split()


def test_a_copy_stores_nothing_that_answers_a_question(start, lessons):
    cells = [{"metadata": {"jupyter": {"outputs_hidden": True}}, "outputs": ["7"]}, {"metadata": {}, "outputs": ["8"]}, {"metadata": {}}]
    original = start.NOTEBOOKS / "04.ipynb"
    original.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert start.bring_up_to_date(lessons) == []
    given = [cell.get("outputs") for cell in json.loads((lessons / "04.ipynb").read_text(encoding="utf-8"))["cells"]]
    assert given == [[], ["8"], None] and "7" in original.read_text(encoding="utf-8")
    assert start.bring_up_to_date(lessons) == []
    original.write_text(json.dumps({"cells": cells[1:]}), encoding="utf-8")           # nobody touched the copy: it is replaced
    assert start.bring_up_to_date(lessons) == [] and len(json.loads((lessons / "04.ipynb").read_text(encoding="utf-8"))["cells"]) == 2


def test_an_update_replaces_what_nobody_touched_and_keeps_what_somebody_did(start, lessons):
    (lessons / "01_second.ipynb").write_text("second, with my answers", encoding="utf-8")
    (lessons / "notes.txt").write_text("mine", encoding="utf-8")
    for name in ("00_first", "01_second", "02_third"):
        (start.NOTEBOOKS / f"{name}.ipynb").write_text("revised", encoding="utf-8")
    assert start.bring_up_to_date(lessons) == ["01_second.ipynb"]
    assert inside(lessons) == {"00_first.ipynb": "revised", "01_second.ipynb": "second, with my answers", "02_third.ipynb": "revised",
                               "solutions/01.ipynb": "solved", "notes.txt": "mine"}


def test_work_in_a_lesson_that_did_not_change_is_no_news(start, lessons):
    (lessons / "00_first.ipynb").write_text("run", encoding="utf-8")
    assert start.bring_up_to_date(lessons) == []
    assert inside(lessons)["00_first.ipynb"] == "run"


def test_a_reset_gives_fresh_copies_and_loses_nothing(start, lessons, capsys):
    for text in ("my first try", "my second try"):
        (lessons / "00_first.ipynb").write_text(text, encoding="utf-8")
        assert start.main(["reset"]) == 0
        assert (lessons / "00_first.ipynb").read_text(encoding="utf-8") == "first"
    (lessons / "answers.json").write_text("my answers", encoding="utf-8")
    assert start.main(["reset", "00"]) == 0 and (lessons / "answers.json").exists()
    assert start.main(["reset"]) == 0 and not (lessons / "answers.json").exists()
    kept = {name: text for name, text in inside(lessons).items() if name.startswith("kept/")}
    assert sorted(kept.values()) == ["my answers", "my first try", "my second try"]
    assert "kept" in capsys.readouterr().out


def test_one_lesson_can_be_reset_alone(start, lessons):
    for name in ("00_first.ipynb", "01_second.ipynb"):
        (lessons / name).write_text("worked in", encoding="utf-8")
    assert start.main(["reset", "1"]) == 0
    assert inside(lessons)["00_first.ipynb"] == "worked in"
    assert inside(lessons)["01_second.ipynb"] == "second"


def test_a_reset_of_no_lesson_says_so(start, lessons, capsys):
    assert start.main(["reset", "77"]) == 1
    assert "No lesson begins with 77" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        start.main(["reset", "--all"])


def test_a_folder_that_cannot_be_written_gets_its_copy_at_home(start, monkeypatch, tmp_path):
    monkeypatch.delenv("MINIGRAD_NOTEBOOKS", raising=False)
    monkeypatch.setattr(start.os, "access", lambda path, mode: False)
    monkeypatch.setattr(start.Path, "home", lambda: tmp_path / "home")
    assert start.work_folder() == tmp_path / "home/my_notebooks"
    monkeypatch.setenv("MINIGRAD_NOTEBOOKS", str(tmp_path / "elsewhere"))
    assert start.work_folder() == tmp_path / "elsewhere"


def test_a_copy_of_a_read_only_lesson_can_be_written(start, lessons):
    original = start.NOTEBOOKS / "02_third.ipynb"
    original.write_text("third", encoding="utf-8")
    original.chmod(0o444)
    start.bring_up_to_date(lessons)
    (lessons / "02_third.ipynb").write_text("mine", encoding="utf-8")
