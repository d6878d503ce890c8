"""Cases beside the truth suite whose answers are recorded: the same runner and comparison, one record a test module.

    python -m tests.recorded         writes tests/records/{random,nn,optim,training}.json anew; needs torch
"""
from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.truth.harness import TORCH, compare, run

RECORDS = Path(__file__).parent / "records"
Cases = dict[str, Callable[[Any], None]]


def cases_in(names: dict[str, Any]) -> Cases:
    """The cases of a test module: its functions ``case_…``, by what follows."""
    return {name.removeprefix("case_"): value for name, value in names.items() if name.startswith("case_")}


def recorded(theme: str) -> dict[str, list[str]]:
    """What PyTorch printed."""
    data = json.loads((RECORDS / f"{theme}.json").read_text(encoding="utf-8"))
    assert data["torch"] == TORCH
    return data["cases"]


def recorded_torch() -> Any:
    """The installed PyTorch, if it is the recorded one; a test that asks for another is skipped."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: the record is not checked against it")
    if torch.__version__.split("+")[0] != TORCH:
        pytest.skip(f"the record is PyTorch {TORCH}'s, and {torch.__version__} is installed")
    return torch


def differences_from_pytorch(theme: str, cases: Cases) -> dict[str, list[str]]:
    """The cases for which the record is not what the installed PyTorch prints."""
    torch, want = recorded_torch(), recorded(theme)
    assert list(want) == list(cases)
    return {name: found for name, case in cases.items() if (found := compare(want[name], run(case, torch)))}


def record(theme: str) -> None:
    """Run a test module's cases on PyTorch and write what they print."""
    import torch

    cases = cases_in(vars(importlib.import_module(f"tests.test_{theme}")))
    write(theme, {name: run(case, torch) for name, case in cases.items()})


def write(theme: str, lines: dict[str, Any]) -> None:
    """Store what the cases of a theme printed on PyTorch."""
    import torch

    if torch.__version__.split("+")[0] != TORCH:
        raise SystemExit(f"PyTorch {torch.__version__} is installed; the records are PyTorch {TORCH}'s (TORCH in tests/truth/harness.py)")
    (RECORDS / f"{theme}.json").write_text(
        json.dumps({"torch": TORCH, "cases": lines}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    print(f"{theme}: {len(lines)} written down")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("random", "nn", "optim", "training"):
        record(name)
