"""Replay the lessons with PyTorch in minigrad's place: what each cell prints, warns of and raises, beside the record.

    python -m tests.replay               # all lessons: minigrad and, if installed, PyTorch beside what PyTorch printed when recorded
    python -m tests.replay 05 07         # these lessons; their solutions are replayed too
    python -m tests.replay --record      # write tests/records/lessons.json anew, after a lesson changed; needs torch

A difference is one of four sorts (`sort_of`). What differs in the same way is told once, with the first line that shows it, and all
of it fits on a screen: a new release of PyTorch is read here first.
"""
from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import platform
import re
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import minigrad
from tests.recorded import recorded, write
from tests.truth.harness import TORCH, compare, run

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
LESSONS = {path.relative_to(NOTEBOOKS).with_suffix("").as_posix(): path
           for folder in (NOTEBOOKS, NOTEBOOKS / "solutions") for path in sorted(folder.glob("[0-9]*.ipynb"))}
ONLY_MINIGRAD = ("setup", "setup-check", "why-magic")       # these cells import minigrad's tools and try them
SHOWN = 6                                       # so many differences, three lines each, fit on a screen of 24 lines

SORTS = ("text", "number", "layout", "environment")
TOKEN = re.compile(r"(?P<number>(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?!\w))|\w+|\S")
MACHINE = re.compile(r"(?<![\w)])(?:[A-Z]:)?[/\\][\w.-]+[/\\][\w./\\-]*|\b\d+\.\d+\.\d+[\w.+]*")     # a path; a version
MACHINE_ERROR = re.compile(r"ended by (?:ImportError|ModuleNotFoundError|OSError|PermissionError|FileNotFoundError|MemoryError):")

Said = dict[str, list[str]]                     # what the cells of a lesson said, line by line; a cell that says nothing is left out


class Difference(NamedTuple):
    """The first line of a cell that is not the recorded one."""

    library: str
    lesson: str
    cell: str
    sort: str
    want: str
    got: str


# Replaying -----------------------------------------------------------------------------------------------------------

def ask(program: str, asks: tuple[str, ...], names: dict[str, Any]) -> None:
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


def replay(path: Path, library: Any) -> Said:
    """Run a lesson's cells with one library as ``mg``, without pictures and labs."""
    figure = SimpleNamespace(record=lambda *tensors, **look: contextlib.nullcontext(), curve=lambda **series: None,
                             table=lambda title, rows: None, set_detail=lambda detail: None)
    names = {"mg": library, "picture": figure, "draw": lambda *tensors: None}
    names["lab"] = SimpleNamespace(gate=lambda program, *asks, **words: ask(program, asks, names), check=contextlib.nullcontext)
    said = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and cell["id"] not in ONLY_MINIGRAD:
            source = "".join(cell["source"]).removeprefix("%%explore\n")
            if "torch" in cell["metadata"].get("tags", []):         # as where PyTorch is not installed: the same with either library
                source = source.replace("import torch", "raise ImportError")
            lines = run(lambda mg, source=source, name=cell["id"]: exec(compile(source, name, "exec"), names), library)
            if lines:
                said[cell["id"]] = lines
    return said


# Comparing -----------------------------------------------------------------------------------------------------------

def sort_of(want: list[str], got: list[str]) -> str:
    """Which of four sorts is the difference between what a cell should say and what it says?

    environment: paths or versions alone differ, or the cell was stopped by what the machine lacks.
    layout: the same words and numbers, in other lines, with other spaces or other digits (``1.`` and ``1.0000``).
    number: the same words, other numbers. text: all else.
    """
    ours, theirs = "\n".join(got), "\n".join(want)
    if MACHINE.sub("…", ours) == MACHINE.sub("…", theirs) or MACHINE_ERROR.search(ours) or MACHINE_ERROR.search(theirs):
        return "environment"
    left, right = ([(float(match[0]) if match["number"] else match[0]) for match in TOKEN.finditer(text)] for text in (theirs, ours))
    if repr(left) == repr(right):               # as text, since nan is not equal to itself
        return "layout"
    words = ([token for token in tokens if isinstance(token, str)] for tokens in (left, right))
    return "number" if len(left) == len(right) and next(words) == next(words) else "text"


def differences(library: Any, lesson: str, want: Said) -> list[Difference]:
    """What a lesson says with a library other than what is recorded, cell by cell."""
    name = "minigrad" if library is minigrad else f"PyTorch {library.__version__}"
    got, found = replay(LESSONS[lesson], library), []
    for cell in {**want, **got}:
        sides = want.get(cell, []), got.get(cell, [])
        lines = compare(*sides)
        if lines:
            found.append(Difference(name, lesson, cell, sort_of(*sides), *(line[len("  want "):] for line in lines[1:])))
    return found


def short(lesson: str) -> str:
    """Return a lesson's number, also for its solutions."""
    return lesson.removeprefix("solutions/")[:2]


def changed(want: str, got: str) -> tuple[str, str]:
    """What stands in the place of what, without what both lines begin and end with.

    >>> changed("tensor([6.], grad_fn=<MulBackward0>)", "tensor([6.], made_by=<MulBackward0>)")
    ('grad_fn', 'made_by')
    """
    left, right = (re.findall(r"\w+|\W", line) for line in (want, got))
    for end in (0, -1):
        while left and right and left[end] == right[end]:
            del left[end], right[end]
    return "".join(left), "".join(right)


def report(found: list[Difference], width: int = 120) -> str:
    """Return the differences as a page that fits on a screen: those that are alike together, in the order of the lessons."""
    alike: dict[tuple, list[Difference]] = {}
    for one in found:
        alike.setdefault((one.library, one.sort, *changed(one.want, one.got)), []).append(one)
    page = []
    for cells in list(alike.values())[:SHOWN]:
        library, _, _, sort, want, got = cells[0]
        names = ", ".join(f"{short(one.lesson)} {one.cell}{' (solution)' * (one.lesson[:1] == 's')}" for one in cells)
        same = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        start = same - 30 if same > width - 40 else 0           # a long text is shown from where it begins to differ
        for line in (f"{sort}, {library}, {len(cells)}x: {names}", *(f"  {word} {'…' * (start > 0)}{text[start:]}"
                                                                     for word, text in (("want", want), ("got ", got)))):
            page.append(line if len(line) <= width else line[:width - 1] + "…")
    if len(alike) > SHOWN:
        page.append(f"… and {len(alike) - SHOWN} more; name lessons to see theirs: python -m tests.replay {short(found[-1].lesson)}")
    counts = Counter(one.sort for one in found)
    page.append(f"{len(found)} cells differ: " + ", ".join(f"{counts[sort]} {sort}" for sort in SORTS))
    lessons = Counter(short(one.lesson) for one in found)
    if found:
        page += ["cells by lesson: " + " ".join(f"{lesson}:{count}" for lesson, count in sorted(lessons.items())),
                 "a lesson that was changed on purpose is recorded anew, where torch is: python -m tests.replay --record"]
    return "\n".join(page)


def main(arguments: list[str]) -> int:
    """Replay what the command line names and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.replay", description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", help="their numbers; default: all")
    parser.add_argument("--record", action="store_true", help="write down what PyTorch says; needs torch")
    options = parser.parse_args(arguments)
    torch = importlib.import_module("torch") if options.record or importlib.util.find_spec("torch") else None
    if options.record:
        write("lessons", {lesson: replay(path, torch) for lesson, path in LESSONS.items()})
    chosen = [lesson for lesson in LESSONS if not options.lessons or short(lesson) in options.lessons]
    print(f"{len(chosen)} notebooks beside the record of PyTorch {TORCH}: minigrad; "
          f"{f'PyTorch {torch.__version__}' if torch else 'PyTorch is not installed'} · "
          f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()}", flush=True)
    want = recorded("lessons")
    found = [one for library in filter(None, (minigrad, torch)) for lesson in chosen
             for one in differences(library, lesson, want.get(lesson, {}))]
    print(report(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
