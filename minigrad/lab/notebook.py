"""What the labs know of the notebook around them: the text of its cells, and the file beside it that keeps answers."""
from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from IPython import get_ipython

from ..why import explained, notebook_lines

__all__ = ["answers", "check", "explain_line", "export", "keep", "kept"]

FILE = "answers.json"


def _file() -> Path:
    """In the folder in which the notebook runs; MINIGRAD_ANSWERS names another place."""
    return Path(os.environ.get("MINIGRAD_ANSWERS", FILE))


def kept() -> dict[str, dict[str, Any]]:
    """What has been answered so far, by the gate's name; nothing if there is no such file, or it is not one of ours."""
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
        return found["gates"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def keep(name: str, record: dict[str, Any] | None) -> str:
    """Keep one gate's record (None: forget it). Return why that failed, or ""."""
    gates, file = kept(), _file()
    if file.exists() and not gates and '"gates"' not in file.read_text(encoding="utf-8", errors="replace"):
        return f"not kept: {file} is not a file of answers"
    gates.pop(name, None)
    if record is not None:
        gates[name] = record
    try:
        part = file.with_name(file.name + ".part")           # a crash leaves the old file whole
        part.write_text(json.dumps({"gates": gates}, indent=1), encoding="utf-8")
        part.replace(file)
    except OSError as error:
        return f"not kept: {error}"
    return ""


def answers() -> list[dict[str, Any]]:
    """What has been answered so far, a dict per gate: name, question, answer, right, of."""
    return [{"name": name, "question": record["question"],
             "answer": ", ".join(f"{ask}: {guess}" if ask else guess for ask, guess in record["guesses"].items()),
             "right": record["right"], "of": record["of"]} for name, record in kept().items()]


def export(path: str = "answers.csv") -> Path:
    """Write `answers` as one small table, to hand in or to compare."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["name", "question", "answer", "right", "of"])
        table.writeheader()
        table.writerows(answers())
    return Path(path)


@contextmanager
def check() -> Iterator[None]:
    """Run the check of an exercise: ``with lab.check():``. An error of the answer is told in a line, not as a traceback."""
    try:
        yield
    except Exception as error:                               # whatever the learner wrote
        print(f"Not yet. {type(error).__name__}: {str(error).partition(chr(10))[0]}. Does your answer give what the task asks for?")


def explain_line(line: str) -> None:
    """``%why y.grad``: say why a tensor's attribute is what it is; ``%why y`` asks about its gradient."""
    names = get_ipython().user_ns
    expression, _, attribute = line.strip().rpartition(".")
    if not expression or not hasattr(type(eval(expression, names)), "requires_grad"):
        expression, attribute = line.strip(), "grad"
    print(explained(eval(expression, names), attribute, expression, names, notebook_lines(names["In"])))
