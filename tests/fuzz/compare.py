"""Run a program line by line in two libraries, or in one against a record, and find the first difference."""
from __future__ import annotations

import copy
import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from . import known, look

# One operation may differ in the last bits (NumPy's exp is not PyTorch's, sums are added in another order), and programs
# chain operations: a value may be off by so many units in the last place of the largest number in its tensor, per line. In a
# program with a float32 tensor these are float32's units, since a cast does not take the error away.
ULPS_PER_LINE = 16


class Difference(NamedTuple):
    """Where two runs part: after line `line` (counted from 0), at `path`, PyTorch has `torch` and minigrad `ours`."""

    line: int
    path: str
    torch: Any
    ours: Any

    @property
    def kind(self) -> str:
        """The difference without names and numbers: two programs with the same bug give the same kind."""
        what = re.sub(r"\b([vn]|second)\d+\b", "#", self.path)
        torch, ours = ["values" if isinstance(v, np.ndarray) else re.sub(r"-?\d+(\.\d+)?(, -?0)*", "0", re.sub(
            r"\b(n|v|second)\d+", "#", str(v)))[:250] for v in (self.torch, self.ours)]
        return f"{what} | {torch} | {ours}"


class Run:
    """A program in one library; each step gives the line's outcome."""

    def __init__(self, library: Any) -> None:
        self.outcome: dict[str, Any] = {}
        self.gradients: list[tuple[Any, int]] = []      # what backward passes have made, with the version it had then
        self.made_in_backward: list[range] = []
        self.single = False                             # has there been a float32 tensor?
        self.names: dict[str, Any] = {"mg": library, "copy": copy, "log": self._log, "look": self._look}

    def _log(self, *values: Any) -> None:
        self.outcome["log"].append(look.plain(values))

    def _look(self) -> None:
        self.outcome["look"] = look.look(self.tensors(), self.gradients, self.made_in_backward)

    def unit(self, line: int) -> float:
        """The relative difference that is allowed after a line."""
        self.single = self.single or any(str(t.dtype) == "torch.float32" for t in self.tensors().values())
        return ULPS_PER_LINE * (line + 1) * float(np.finfo(np.float32 if self.single else np.float64).eps)

    def _next_sequence_nr(self) -> int:
        library = self.names["mg"]
        with library.enable_grad():
            return (library.ones(1, requires_grad=True) * 1).grad_fn._sequence_nr() + 1

    def tensors(self) -> dict[str, Any]:
        """The live variables of the program that are tensors."""
        return {n: t for n, t in self.names.items() if n[0] == "v" and look.is_tensor(t)}

    def step(self, line: str) -> dict[str, Any]:
        """Run one line: the error it raised or None, what its hooks logged, and the look if it is ``look()``."""
        self.outcome = outcome = {"error": None, "log": []}
        first = self._next_sequence_nr() if "create_graph" in line else None
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                exec(line, self.names)
            except Exception as error:
                outcome["error"] = look.error_text(error)
            if first is not None:
                self.made_in_backward.append(range(first, self._next_sequence_nr()))
            if "backward(" in line or "grad(" in line:
                tensors = self.tensors()
                made = [t.grad for t in tensors.values()] + [t for n, t in tensors.items() if re.search(rf"\b{n}\b.* = .*grad\(", line)]
                known = {look.address(t) for n, t in tensors.items() if not any(t is g for g in made)}
                made = [g for g in made if look.is_tensor(g) and look.address(g) not in known]
                old = {id(g) for g, _ in self.gradients}
                self.gradients += [(g, g._version) for g in made if g.numel() and id(g) not in old and not g.is_inference()]
        return outcome


def differences(torch: Any, ours: Any, unit: float, path: str = "") -> list[tuple[str, Any, Any]]:
    """All places where two outcomes differ."""
    if isinstance(torch, dict) and isinstance(ours, dict):
        return [d for key in dict.fromkeys([*torch, *ours])
                for d in differences(torch.get(key, "absent"), ours.get(key, "absent"), unit, f"{path}.{key}".lstrip("."))]
    if isinstance(torch, np.ndarray) and isinstance(ours, np.ndarray):
        return [] if close(torch, ours, unit) else [(path, torch, ours)]
    if isinstance(torch, list) and isinstance(ours, list) and len(torch) == len(ours):
        return [d for i, (a, b) in enumerate(zip(torch, ours)) for d in differences(a, b, unit, f"{path}[{i}]")]
    return [] if type(torch) is type(ours) and torch == ours else [(path, torch, ours)]


def close(a: np.ndarray, b: np.ndarray, unit: float) -> bool:
    """The same dtype and shape, and floats within `unit` times the largest."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f" or a.size == 0:
        return bool((a == b).all())
    finite = np.isfinite(a)
    scale = max(np.abs(a[finite]).max(initial=0), 1.0)
    return bool(np.allclose(a, b, rtol=0, atol=float(scale) * unit, equal_nan=True))


def first_difference(lines: list[str], torch: Any, ours: Any) -> Difference | None:
    """Run a program in two libraries up to the first difference that is not known."""
    runs = Run(torch), Run(ours)
    for i, line in enumerate(lines):
        found = step(runs, line, i)
        new = [d for d in found if known.reason(d.kind, lines[:i + 1]) is None]
        if new or parted(line, found):
            return new[0] if new else None
    return None


def parted(line: str, found: list[Difference]) -> bool:
    """Whether only one of the libraries may have done all that a line says, or PyTorch stopped at a bug of its own."""
    return any(_is_bug(d) or d.path == "error" and (None in (d.torch, d.ours) or ";" in line) for d in found)


def _is_bug(difference: Difference) -> bool:
    """Whether PyTorch asks to report it."""
    return "INTERNAL ASSERT" in str(difference.torch)


def step(runs: tuple[Run, Run], line: str, number: int) -> list[Difference]:
    """Run one line in both and compare the outcomes."""
    torch, ours = (run.step(line) for run in runs)
    if torch["error"] is not None and torch["error"] == ours["error"]:
        for outcome in (torch, ours):
            outcome["log before the error"] = outcome.pop("log")
    found = [Difference(number, *d) for d in differences(torch, ours, runs[1].unit(number))]
    return [min(found, key=lambda d: not _is_bug(d))] if parted(line, found) else found      # the rest follows from the error
