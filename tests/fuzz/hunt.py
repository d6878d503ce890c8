"""The hunt: programs in lockstep in both libraries, until one differs."""
from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from . import known
from .compare import Difference, Run, first_difference, parted, step
from .generate import program
from .shrink import shrink

NOTHING: Callable[[Any], None] = lambda value: None


class Found(NamedTuple):
    """A program that differs, with the first difference."""

    lines: list[str]
    difference: Difference


class Hunt:
    """Runs programs and keeps one example of each kind of difference.

    `tell` hears every line before it runs: PyTorch may end the process, and somebody else should know where.
    """

    def __init__(self, torch: Any, ours: Any, tell: Callable[[str], None] = NOTHING) -> None:
        self.torch, self.ours, self.tell = torch, ours, tell
        self.found: dict[str, Found] = {}
        # How many programs, lines and lines that raised; programs by kind of difference; and by known difference.
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.known: Counter[str] = Counter()

    def one(self, seed: str, length: int = 14) -> Found | None:
        """Write and run the program of a seed; the first unknown difference ends it."""
        runs = Run(self.torch), Run(self.ours)
        more = program(random.Random(seed), runs[0].names)
        lines: list[str] = []
        self.counts["programs"] += 1
        already: set[str] = set()       # a known difference is counted once per program
        for _ in range(length):
            for line in more():
                lines.append(line)
                self.tell(line)
                found = step(runs, line, len(lines) - 1)
                self.counts["lines"] += 1
                self.counts["raised"] += runs[0].outcome["error"] is not None
                reasons = [known.reason(difference.kind, lines) for difference in found]
                if None in reasons:
                    return Found(lines, found[reasons.index(None)])
                self.known.update(set(reasons) - already)
                already.update(reasons)
                if parted(line, found):
                    return None
        return None

    def next(self, seed: str) -> Found | None:
        """Run the program of a seed; if it differs, count its kind. The program, if it is the first of its kind."""
        found = self.one(seed)
        if found is None:
            return None
        kind = found.difference.kind
        self.kinds[kind] += 1
        if kind in self.found:
            return None
        self.found[kind] = found
        return found

    def run(self, seed: int, programs: int, kinds: int) -> None:
        """Run programs until there were so many, or so many kinds of difference."""
        for i in range(programs):
            if len(self.found) < kinds:
                self.next(f"{seed}:{i}")

    def shrunk(self, found: Found, better: Callable[[Found], None] = NOTHING) -> Found:
        """The same kind of difference from a smaller program; `better` hears of each that was found on the way."""
        best = found

        def fails(lines: list[str]) -> bool:
            nonlocal best
            difference = first_difference(lines, self.torch, self.ours)
            if difference is None or difference.kind != found.difference.kind or "NameError" in f"{difference.torch}{difference.ours}":
                return False
            best = Found(lines, difference)
            better(best)
            return True

        shrink(found.lines, fails)
        return best
