"""Count what passed, and sort what did not into kinds."""
from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from .translate import NotOffered, said


@dataclass
class Report:
    """The results of one suite: a test is a name with its problems, none if it passed."""

    suite: str
    passed: list[str] = field(default_factory=list)
    missing: Counter = field(default_factory=Counter)                                   # names not offered: tests they stop
    failed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))     # kind of difference: tests

    def add(self, test: str, problem: str | None = None, missing: bool = False) -> None:
        """Note a test; `missing`: it asks for what minigrad does not have."""
        if problem is None:
            self.passed.append(test)
        elif missing:
            self.missing[problem] += 1
        else:
            kind = re.sub(r"(?<![A-Za-z\d])\d+(\.\d+)?(e-?\d+)?", "#", problem)       # not the digits of a name
            self.failed[kind].append(test)

    def __str__(self) -> str:
        failures, absent = sum(map(len, self.failed.values())), sum(self.missing.values())
        lines = [f"{self.suite}: {len(self.passed)} passed, {failures} failed, {absent} ask for what minigrad does not offer"]
        if self.missing:
            lines.append("  not offered: " + ", ".join(f"{name} {n}" for name, n in self.missing.most_common(60)))
        for kind, tests in sorted(self.failed.items(), key=lambda item: -len(item[1])):
            names = dict.fromkeys(test.partition("[")[0] for test in tests)
            lines.append(f"  {len(tests):4} {kind[:200]}\n       {' '.join(names)[:200]}")
        return "\n".join(lines)


def note(report: Report, test: str, check: Callable[[], str | None], verbose: bool = False) -> None:
    """Run a check, which says what is wrong or raises `NotOffered`, and note it."""
    try:
        problem = check()
    except NotOffered as missing:
        report.add(test, str(missing), missing=True)
        return
    if verbose and problem:
        print(test, problem, flush=True)
    report.add(test, problem)


def verdict(test: Callable[[], None]) -> str | None:
    """What a test of someone else's has against us: the failure that it raised; None if it passed."""
    try:
        test()
    except NotOffered:
        raise
    except (Exception, pytest.fail.Exception) as error:
        return said(error)
    return None
