"""The hunt: programs in lockstep in both libraries, until one differs."""
from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any, NamedTuple

from . import known
from .compare import Difference, Run, first_difference, parted, step
from .generate import program
from .shrink import shrink


class Found(NamedTuple):
    """A program that differs, with the first difference."""

    lines: list[str]
    difference: Difference


class Hunt:
    """Runs programs and keeps one example of each kind of difference."""

    def __init__(self, torch: Any, ours: Any) -> None:
        self.torch, self.ours = torch, ours
        self.programs = self.lines = self.raised = 0
        self.found: dict[str, Found] = {}
        self.known: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    def one(self, seed: str, length: int = 14) -> Found | None:
        """Write and run the program of a seed; the first unknown difference ends it."""
        runs = Run(self.torch), Run(self.ours)
        more = program(random.Random(seed), runs[0].names)
        lines: list[str] = []
        self.programs += 1
        already: set[str] = set()       # a known difference is counted once per program
        for _ in range(length):
            for line in more():
                lines.append(line)
                found = step(runs, line, len(lines) - 1)
                self.lines += 1
                self.raised += runs[0].outcome["error"] is not None
                reasons = [known.reason(difference.kind) for difference in found]
                if None in reasons:
                    return Found(lines, found[reasons.index(None)])
                self.known.update(set(reasons) - already)
                already.update(reasons)
                if parted(line, found):
                    return None
        return None

    def run(self, seed: int, programs: int, seconds: float, kinds: int) -> None:
        """Run programs until one of the limits is reached."""
        end = time.perf_counter() + seconds
        for i in range(programs):
            found = self.one(f"{seed}:{i}")
            if found:
                kind = found.difference.kind
                self.kinds[kind] += 1
                self.found.setdefault(kind, found)
            if time.perf_counter() > end or len(self.found) >= kinds:
                return

    def shrunk(self, found: Found) -> Found:
        """The same kind of difference from a smaller program."""
        kind = found.difference.kind

        def fails(lines: list[str]) -> bool:
            difference = first_difference(lines, self.torch, self.ours)
            return difference is not None and difference.kind == kind and "NameError" not in f"{difference.torch}{difference.ours}"

        lines = shrink(found.lines, fails)
        return Found(lines, first_difference(lines, self.torch, self.ours))
