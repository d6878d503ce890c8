"""Run the tests with the oldest or the newest version of each dependency that the ranges allow.

    python tests/versions.py oldest [what pytest takes]
    python tests/versions.py newest [what pytest takes]

Each makes an environment of its own in a temporary folder and takes it away. ``oldest`` installs the lower ends of the ranges in
pyproject.toml and requirements.txt, but never a version that is older than this Python can install: NumPy 2.1 has no wheel for
Python 3.14, for example, so there the oldest that has one is tried.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The first NumPy with wheels for a Python: below it pip would compile for a quarter of an hour.
FIRST_NUMPY = {(3, 14): "2.3.3"}


def ranges() -> list[str]:
    """All requirements of the lessons and the tests, ``name>=1.2,<3`` each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["lab"], *project["optional-dependencies"]["test"],
             *(ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()]
    return sorted({line for line in lines if ">=" in line})


def oldest(requirement: str) -> str:
    """The lower end of a range as a pin: ``numpy==2.1.*``."""
    name, version = re.match(r"([\w\[\]-]+)>=([\d.]+)", requirement).groups()
    if name == "numpy":
        version = FIRST_NUMPY.get(sys.version_info[:2], version)
    return f"{name}=={version}" + (".*" if version.count(".") < 2 else "")


def main(which: str, rest: list[str]) -> int:
    wanted = [oldest(line) for line in ranges()] if which == "oldest" else ranges()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts/python.exe" if os.name == "nt" else "bin/python")
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        upgrade = ["--upgrade", "--upgrade-strategy=eager"] if which == "newest" else []
        done = subprocess.run([python, "-m", "pip", "install", "-q", *upgrade, *wanted, "-e", "."], cwd=ROOT, env=variables, check=False)
        if done.returncode:
            return done.returncode
        subprocess.run([python, "-m", "pip", "list", "--format=freeze"], cwd=ROOT, env=variables, check=True)
        return subprocess.run([python, "-m", "pytest", *rest], cwd=ROOT, env=variables, check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:2] not in (["oldest"], ["newest"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
