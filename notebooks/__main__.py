"""Set up, open, reset, check and test the lessons, write them as pages: ``python3 notebooks`` (Windows: ``py notebooks``).

What opens is a working copy, ``my_notebooks/`` beside ``notebooks/``: a student's work never meets an update of the lessons.
It runs before anything is installed: so only the standard library, and only grammar that Python 3.8 parses, since a
Python that is too old must be able to say so. Everything goes into ``.venv`` beside ``notebooks/``.
"""
from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import webbrowser
from pathlib import Path
from urllib.parse import quote

OLDEST = (3, 11)
NEWEST_TESTED = (3, 14)
NEEDED_MB = 700                             # 104 packages: 340 MB, and as much again while pip unpacks them
WINDOWS = os.name == "nt"
COMMAND = "py notebooks" if WINDOWS else "python3 notebooks"
NOTEBOOKS = Path(__file__).resolve().parent
ROOT = NOTEBOOKS.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
STAMP = VENV / "minigrad.json"              # written last: its absence means that an installation was cut short
LOG = VENV / "minigrad-install.log"
OVERRIDES = VENV / "share/jupyter/lab/settings/overrides.json"
LEFT_BEHIND = ("__main__.py", "pages.py", "__pycache__", ".ipynb_checkpoints", "readme.svg")     # of notebooks/: no part of the lessons
SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
            "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}},       # run sheets, glossary
            "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True}}       # tomorrow a saved lab stands as it was left


class Trouble(Exception):
    """Something that the reader has to mend: what is wrong, and the command or step that mends it."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(f"{what}\n  To mend it: {cure}")
        self.what, self.cure = what, cure


# What is missing -----------------------------------------------------------------------------------------------------

def python_trouble(version: tuple, is_64_bit: bool = True, which=shutil.which) -> Trouble | None:
    """Say why this Python will not do, or return None.

    Parameters
    ----------
    version
        ``sys.version_info`` or its beginning.
    which
        Finds a program by name; a newer Python that is already there is the shortest cure.
    """
    if tuple(version[:2]) < OLDEST:
        names = [f"python3.{minor}" for minor in range(NEWEST_TESTED[1], OLDEST[1] - 1, -1)]
        newer = next(filter(which, names), None)
        cure = (f"{newer} notebooks" if newer else
                f"install Python 3.{OLDEST[1]} or newer from https://www.python.org/downloads/, then {COMMAND}")
        return Trouble(f"This is Python {version[0]}.{version[1]}; "
                       f"the lessons need Python {OLDEST[0]}.{OLDEST[1]} or newer.", cure)
    if not is_64_bit:
        return Trouble("This Python is a 32-bit one, and the packages are built for 64-bit Pythons only.",
                       f"install the 64-bit Python from https://www.python.org/downloads/, then {COMMAND}")
    return None


def venv_trouble(has_module=lambda name: importlib.util.find_spec(name) is not None) -> Trouble | None:
    """Say which module for making environments this Python lacks (Debian and Ubuntu leave it out), or return None."""
    missing = [name for name in ("venv", "ensurepip") if not has_module(name)]
    if not missing:
        return None
    return Trouble(f"This Python cannot make an environment: it has no module {missing[0]}.",
                   f"sudo apt install python3-venv   (a Python that is not the system's own: "
                   f"python3.{sys.version_info[1]}-venv), then {COMMAND}")


# What pip or the system printed → what it means. The first match counts, so the deeper cause stands first.
CAUSES = [
    (("No space left on device", "[Errno 28]", "[WinError 112]", "Disk quota exceeded", "[Errno 122]"),
     "The disk is full.", "free about {mb} MB on the disk that holds {root} and the temporary folder, then {command}"),
    (("CERTIFICATE_VERIFY_FAILED", "SSLCertVerificationError"),
     "The package index could not be verified: a school's or firm's proxy often replaces its certificate.",
     "ask for the proxy's certificate file, set the environment variable PIP_CERT to its path, then {command}"),
    (("Failed to establish a new connection", "NameResolutionError", "Temporary failure in name resolution",
      "getaddrinfo failed", "Network is unreachable", "Connection refused", "Connection timed out", "Connection reset",
      "ReadTimeoutError", "ConnectTimeoutError", "ProxyError", "RemoteDisconnected", "IncompleteRead"),
     "The package index cannot be reached: there is no network, or a proxy is in the way.",
     "connect to the network (behind a proxy, set the environment variable HTTPS_PROXY), then {command}"),
    (("[WinError 206]", "enable-long-paths", "Long Path"),
     "A file's path is longer than Windows allows.",
     "move the folder to a short path such as C:\\minigrad, then {command} there"),
    (("[WinError 5]", "[WinError 32]"),
     "A file that must be replaced is in use.", "close JupyterLab and every notebook, then {command}"),
    (("Read-only file system", "[Errno 30]", "Permission denied", "[Errno 13]", "Operation not permitted"),
     "This folder cannot be written: {root}", "copy the whole folder to a place of your own and run {command} there"),
    (("requires a different Python", "Microsoft Visual C++", "No matching distribution found", "Failed building wheel",
      "metadata-generation-failed", "Failed to build"),
     "A package is not to be had for this Python ({python}).",
     "install a Python from {oldest} to {newest}, delete the folder .venv, then {command} with that Python"),
]


def diagnose(log: str) -> Trouble:
    """Turn what pip or venv printed into the cause and its cure."""
    facts = {"mb": NEEDED_MB, "root": ROOT, "command": COMMAND, "python": ".".join(map(str, sys.version_info[:3])),
             "oldest": ".".join(map(str, OLDEST)), "newest": ".".join(map(str, NEWEST_TESTED))}
    for marks, what, cure in CAUSES:
        if any(mark in log for mark in marks):
            return Trouble(what.format(**facts), cure.format(**facts))
    return Trouble("The installation failed for a reason this program does not know; the lines above come from pip.",
                   f"look at {LOG}, then {COMMAND}")


# The environment -----------------------------------------------------------------------------------------------------

def environment() -> dict:
    """Return the variables that children get: as if ``.venv`` were activated, whatever else is.

    Without it IPython adds the packages of another active environment, a kernel of the same name that the user once
    installed hides ours, and pip follows settings meant for other Pythons.
    """
    variables = dict(os.environ)
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"):
        variables.pop(name, None)
    variables.update(VIRTUAL_ENV=str(VENV), JUPYTER_PREFER_ENV_PATH="1",
                     PATH=os.pathsep.join([str(PYTHON.parent), variables.get("PATH", os.defpath)]))
    return variables


def fingerprint() -> str:
    """Name this place and these requirements: another name means that ``.venv`` must be brought up to date."""
    digest = hashlib.sha256(os.fsencode(ROOT))          # the install is editable: moving the folder breaks it
    for name in ("requirements.txt", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def stamp() -> dict:
    """Return what the last complete installation wrote, or an empty dict."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def python_works() -> bool:
    """Tell whether ``.venv`` has a Python that starts and is new enough (an upgrade of the system can take it away)."""
    probe = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    try:
        return subprocess.run([str(PYTHON), "-c", probe], env=environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def is_complete(test: bool) -> bool:
    """Tell whether ``.venv`` holds all that is needed, so that no network is."""
    done = stamp()
    return done.get("fingerprint") == fingerprint() and (done.get("test", False) or not test) and python_works()


def run_logged(command: list, log, show) -> str:
    """Run a command to its end, copy what it prints to ``log`` and each line to ``show``; raise Trouble if it fails."""
    process = subprocess.Popen([str(part) for part in command], cwd=str(ROOT), env=dict(environment(), PYTHONUTF8="1"),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               encoding="utf-8", errors="replace")
    lines = []
    try:
        for line in process.stdout:
            lines.append(line)
            log.write(line)
            show(line.strip())
        process.wait()
    finally:
        process.kill()                      # without effect on one that has ended
        process.wait()
    if process.returncode:
        show("")
        print("".join(lines[-12:]), file=sys.stderr)
        raise diagnose("".join(lines))
    return "".join(lines)


def progress(line: str) -> None:
    """Show on one line what pip is doing now; say nothing where the output goes to a file."""
    words = line.split()
    if words[:1] == ["Installing"]:
        text = f"unpacking {len(words) - 3} packages, about half a minute" if words[1] == "collected" else line
    elif words[:1] in (["Collecting"], ["Downloading"]):
        text = " ".join(words[:2])
    else:
        text = "" if not line else None
    if text is not None and sys.stdout.isatty():
        print("\r  " + text[:74].ljust(74), end="" if text else "\r", flush=True)


def set_up(test: bool) -> None:
    """Make ``.venv`` and install the requirements, if that is not done yet."""
    if is_complete(test):
        return
    test = test or stamp().get("test", False)
    try:
        STAMP.unlink()
    except FileNotFoundError:
        pass                                # a first installation has none
    except OSError as error:
        raise diagnose(str(error)) from error
    if not python_works():
        if VENV.exists() and not (VENV / "pyvenv.cfg").exists() and any(VENV.iterdir()):
            raise Trouble(f"{VENV} is not a Python environment.", f"move it away, then {COMMAND}")
        trouble = venv_trouble()
        if trouble:
            raise trouble
        print("Making the environment .venv …", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], env=environment(), check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode:
            text = made.stdout.decode("utf-8", "replace")
            print(text, file=sys.stderr)
            raise diagnose(text)
    print("Installing about 105 packages into .venv: one to three minutes the first time …", flush=True)
    packages = ["-r", "requirements.txt"] + (["-e", ".[test]"] if test else [])
    try:
        with open(LOG, "w", encoding="utf-8") as log:
            if importlib.util.find_spec("ensurepip") and not list(VENV.glob("[Ll]ib*/**/site-packages/pip")):
                run_logged([PYTHON, "-m", "ensurepip"], log, progress)         # an environment made by uv has no pip
            options = ["--disable-pip-version-check", "--no-input"]
            run_logged([PYTHON, "-m", "pip", "install", *options, *packages], log, progress)
        OVERRIDES.parent.mkdir(parents=True, exist_ok=True)
        OVERRIDES.write_text(json.dumps(SETTINGS) + "\n", encoding="utf-8")
        STAMP.write_text(json.dumps({"fingerprint": fingerprint(), "test": test}) + "\n", encoding="utf-8")
    except OSError as error:
        raise diagnose(str(error)) from error
    progress("")


# What it does --------------------------------------------------------------------------------------------------------

def run(command: list, cwd: Path) -> int:
    """Run a program in this terminal until it ends; Ctrl-C is its business, since it hears it too."""
    process = subprocess.Popen([str(part) for part in command], cwd=str(cwd), env=environment())
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
    finally:
        if process.poll() is None:          # this program was told to end, so its child must not live on
            process.terminate()
            process.wait()


# The working copy ----------------------------------------------------------------------------------------------------

def work_folder() -> Path:
    """Return the folder of the working copy: beside ``notebooks``, or at home where that cannot be written."""
    chosen = os.environ.get("MINIGRAD_NOTEBOOKS")
    if chosen:
        return Path(chosen).expanduser().resolve()
    beside = ROOT / "my_notebooks"
    return beside if beside.is_dir() or os.access(str(ROOT), os.W_OK) else Path.home() / "my_notebooks"


def lesson_files() -> list:
    """Return the paths of all that belongs to the lessons, as written under ``notebooks``."""
    files = (path.relative_to(NOTEBOOKS) for path in sorted(NOTEBOOKS.rglob("*")) if path.is_file())
    return [path for path in files if not set(path.parts) & set(LEFT_BEHIND)]


def as_given(path: Path) -> bytes:
    """Return a file of the lessons as a student gets it: without the outputs that answer a question, of which a fold shows a line."""
    content = (NOTEBOOKS / path).read_bytes()
    if path.suffix != ".ipynb" or b'"outputs_hidden": true' not in content:
        return content
    notebook = json.loads(content.decode("utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("jupyter", {}).get("outputs_hidden"):
            cell["outputs"] = []
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode("utf-8")


def digest(content: bytes) -> str:
    """Name the content of a file, whatever its line ends."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def bring_up_to_date(folder: Path) -> list:
    """Copy what is new; replace what the student has not touched; leave all else alone.

    Returns
    -------
    list
        Lessons that have changed since the student's copy was made, but that the student has worked in.
    """
    note = folder / ".minigrad.json"        # for each file: what was copied
    try:
        copied = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        copied = {}
    newer = []
    for path in lesson_files():
        given, theirs, name = as_given(path), folder / path, path.as_posix()
        ours = digest(given)
        if theirs.exists() and digest(theirs.read_bytes()) not in (ours, copied.get(name)):
            if copied.get(name) != ours:
                newer.append(name)
            continue
        if not theirs.exists() or digest(theirs.read_bytes()) != ours:
            theirs.parent.mkdir(parents=True, exist_ok=True)
            theirs.write_bytes(given)
        copied[name] = ours
    note.write_text(json.dumps(copied, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    return newer


def reset(names: list) -> int:
    """Put fresh copies in the place of all lessons, or of those whose names begin so; move the old ones to ``kept``.

    With all of them go the answers to their questions: the next class begins anew.
    """
    folder = work_folder()
    numbers = [name.zfill(2) for name in names]         # of lesson 3 either "3" or "03"
    chosen = [path for path in lesson_files() if not names or any(path.name.startswith(number) for number in numbers)]
    if not chosen:
        raise Trouble(f"No lesson begins with {' or '.join(names)}.", f"{COMMAND} reset 03   (or another lesson's number)")
    kept = folder / "kept" / time.strftime("%Y-%m-%d")
    number = 1
    while kept.with_name(f"{kept.name}_{number}").exists():
        number += 1
    kept = kept.with_name(f"{kept.name}_{number}")
    moved = 0
    answers = [] if names else [place / "answers.json" for place in sorted({path.parent for path in chosen})]
    for path in chosen + answers:
        old = folder / path
        if old.exists() and (path in answers or digest(old.read_bytes()) != digest(as_given(path))):
            (kept / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(str(old), str(kept / path))
            moved += 1
    folder.mkdir(parents=True, exist_ok=True)
    bring_up_to_date(folder)
    print(f"Fresh copies are in {folder}" + (f"\nYour old ones are kept in {kept}" if moved else "; nothing of yours had changed."))
    return 0


# In the environment: sign the notebooks named, and say where a JupyterLab has this folder open.
TRUST = """
import sys
from jupyter_server.serverapp import list_running_servers
from nbformat.sign import TrustNotebookApp

for server in list_running_servers():
    if server["root_dir"] == sys.argv[1]:
        print(f"{server['url']}lab/tree/{sys.argv[2]}?token={server['token']}")
TrustNotebookApp.launch_instance(sys.argv[3:])
"""


def lessons(folder: Path = NOTEBOOKS) -> list:
    """Return a folder's notebooks in their order."""
    return sorted(folder.glob("*.ipynb"))


def open_lessons(browser: bool, originals: bool = False) -> int:
    """Trust the lessons and open JupyterLab on the first one; return when it is closed."""
    folder = NOTEBOOKS if originals else work_folder()
    if not originals:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in bring_up_to_date(folder):
                print(f"{name} has been revised; you have worked in yours, so it stays. {COMMAND} reset {name[:2]} keeps yours "
                      "aside and gives you the new one.")
        except OSError as error:
            raise Trouble(f"Your copy of the lessons cannot be written: {error}",
                          f"set the environment variable MINIGRAD_NOTEBOOKS to a folder of your own, then {COMMAND}") from error
    found = lessons(folder)
    first = found[0] if found else folder
    every = [str(folder / path) for path in lesson_files() if path.suffix == ".ipynb"]
    if every:                               # by name: the shell's * is not expanded on Windows
        trusted = subprocess.run([str(PYTHON), "-c", TRUST, str(folder), quote(first.name), *every], env=environment(), check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if trusted.returncode:
            print("The lessons could not be marked as trusted; run their cells and all is as it should be.\n"
                  + trusted.stderr.decode("utf-8", "replace")[-500:], file=sys.stderr)
        address = next((line for line in trusted.stdout.decode("utf-8", "replace").splitlines() if line.startswith("http")), None)
        if address:
            print(f"JupyterLab has these lessons open already: {address}\nTo stop it, press Ctrl-C twice where it was started.")
            if browser:
                webbrowser.open(address)
            return 0
    print(f"Opening {first.name} in JupyterLab; your own copy of the lessons is {folder}. To stop it, press Ctrl-C here twice.\n"
          '"Kernel is running over TCP without encryption" is harmless: all of it stays on this computer.', flush=True)
    command = [PYTHON, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", "--log-level=WARN"]
    command += [f"--LabApp.default_url=/lab/tree/{quote(first.name)}"] if found else []     # the printed address leads there too
    # Which tabs were open is remembered with the copy: else another project's come back here, and ours there.
    command += [] if originals else [f"--LabApp.workspaces_dir={folder / '.workspaces'}"]
    command += [] if browser else ["--no-browser"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return run(command, folder)


INSTALLED = """
import importlib.metadata, importlib.util, json, re, sys
names = [re.split(r"[<>=!~\\[ ;]", line)[0] for line in open("requirements.txt", encoding="utf-8").read().split("\\n")]
found = {}
for name in names:
    if name and name[0] not in "#-":
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
spec = importlib.util.find_spec("minigrad")
print(json.dumps([sys.version.split()[0], found, spec and spec.origin]))
"""


def findings() -> list:
    """Look at everything the lessons need and change nothing: a list of ``(what, cure)``, no cure where all is fine."""
    report = []

    def look(fine: bool, good: str, bad: str, cure: str) -> None:
        report.append((good, None) if fine else (bad, cure))

    newer = "" if sys.version_info[:2] <= NEWEST_TESTED else ", newer than any that was tested"
    troubles = [python_trouble(sys.version_info, sys.maxsize > 2**32)]
    complete, works = is_complete(test=False), python_works()
    if not complete:
        free = shutil.disk_usage(str(ROOT)).free // 10**6
        space = f"{free:,} MB free on this disk, {NEEDED_MB} MB needed"
        look(free > NEEDED_MB, space, space, "free some space")
        look(os.access(str(ROOT), os.W_OK), f"can write to {ROOT}", f"cannot write to {ROOT}",
             "copy the whole folder to a place of your own")
    if not works:
        troubles.append(venv_trouble())
        look(False, "", "no working environment .venv yet", f"{COMMAND}   (makes it)")
    else:
        answer = subprocess.run([str(PYTHON), "-I", "-c", INSTALLED], cwd=str(ROOT), env=environment(), check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        version, packages, origin = json.loads(answer.stdout.decode("utf-8")) if not answer.returncode else ("", {}, "")
        look(bool(version), f".venv has Python {version}", "the environment .venv is broken", "delete the folder .venv")
        missing = [name for name, installed in packages.items() if not installed]
        look(not missing, ", ".join(f"{name} {installed}" for name, installed in packages.items()),
             f"not installed: {', '.join(missing)}", f"{COMMAND}   (installs them)")
        look(bool(origin) and Path(origin).resolve().parent == ROOT / "minigrad", "minigrad is this folder's",
             "minigrad is not installed, or from another folder", f"{COMMAND}   (installs it)")
        look(complete, "the requirements are installed",
             "the requirements changed, the folder moved, or an installation was cut short", f"{COMMAND}   (completes it)")
    look(bool(lessons()), f"{len(lessons())} lessons in {NOTEBOOKS}", f"no lessons in {NOTEBOOKS}",
         "get the whole repository")
    here = f"Python {'.'.join(map(str, sys.version_info[:3]))}{newer} ({sys.executable})"
    return [(trouble.what, trouble.cure) for trouble in troubles if trouble] + [(here, None)] + report


def check() -> int:
    """Print the findings; return 0 if all is fine."""
    report = findings()
    for what, cure in report:
        print(f"MISSING  {what}\n         To mend it: {cure}" if cure else f"ok       {what}")
    return 1 if any(cure for _, cure in report) else 0


def stop(signum, frame) -> None:
    """End on SIGTERM as on an error, so that ``run`` takes its child along."""
    sys.exit(128 + signum)


def main(arguments: list) -> int:
    """Do what the command line says and return the exit code."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Set up what the lessons need, open them in JupyterLab.")
    parser.add_argument("command", nargs="?", choices=["open", "reset", "pages", "test"], default="open",
                        help="open your copy of the lessons (the default); reset it, or the lessons named after it, keeping what was "
                        "there; write the lessons as pages that need no kernel; or run all tests: what follows goes to pytest")
    parser.add_argument("--check", action="store_true", help="say what is there and what is missing; change nothing")
    parser.add_argument("--originals", action="store_true", help="open the lessons themselves, to change them")
    parser.add_argument("--no-browser", action="store_true", help="start JupyterLab and print its address")
    options, rest = parser.parse_known_args(arguments)
    if rest and (options.command in ("open", "pages") or options.command == "reset" and any(name.startswith("-") for name in rest)):
        parser.error(f"unknown: {' '.join(rest)}")
    signal.signal(signal.SIGTERM, stop)
    try:
        if options.check:
            return check()
        if options.command == "reset":
            return reset(rest)
        trouble = python_trouble(sys.version_info, sys.maxsize > 2**32)
        if trouble:
            raise trouble
        set_up(test=options.command == "test")
        if options.command == "test":
            return run([PYTHON, "-m", "pytest", *rest], ROOT)
        if options.command == "pages":
            return run([PYTHON, NOTEBOOKS / "pages.py", work_folder() / "pages"], ROOT)
        return open_lessons(browser=not options.no_browser, originals=options.originals)
    except Trouble as trouble:
        print(f"\n{trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. {COMMAND} goes on from here.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):         # an old Windows console cannot print every character of a path
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(main(sys.argv[1:]))
