"""The corpus: programs that once differed, each with what PyTorch said after every line."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .compare import Difference, Run, differences

FOLDER = Path(__file__).parent / "corpus"
# The names are given by whoever runs the program, so a checker of undefined names has nothing to say here.
HEAD = "# ruff: noqa\n"


def programs() -> list[Path]:
    """The files of the corpus."""
    return sorted(FOLDER.glob("*.py"))


def lines_of(path: Path) -> list[str]:
    """The statements of a program."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def keep(name: str, lines: list[str]) -> Path:
    """Add a program to the corpus."""
    path = FOLDER / f"{name}.py"
    path.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path


def record(path: Path) -> None:
    """Write down what PyTorch says to a program."""
    import torch  # here, since whoever replays does without it

    run = Run(torch)
    outcomes = [run.step(line) for line in lines_of(path)]
    text = json.dumps({"torch": str(torch.__version__).partition("+")[0], "outcomes": outcomes}, default=_to_json, indent=1)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8", newline="\n")


def replay(path: Path, ours: Any) -> Difference | None:
    """Run a program of the corpus in minigrad: the first difference from the record."""
    recorded = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"), object_hook=_from_json)["outcomes"]
    run, lines = Run(ours), lines_of(path)
    if len(lines) != len(recorded):
        raise ValueError(f"{path.name} has changed: record it anew with `python -m tests.fuzz --record`")
    for i, (line, outcome) in enumerate(zip(lines, recorded, strict=True)):
        found = differences(outcome, run.step(line), run.unit(i))
        if found:
            return Difference(i, *found[0])
    return None


def _to_json(value: Any) -> Any:
    return {"dtype": str(value.dtype), "shape": value.shape, "values": value.ravel().tolist()}


def _from_json(value: dict) -> Any:
    return np.array(value["values"], value["dtype"]).reshape(value["shape"]) if set(value) == {"dtype", "shape", "values"} else value
