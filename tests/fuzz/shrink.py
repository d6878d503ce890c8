"""Make a failing program small: delete lines and simplify what is left for as long as the difference stays."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator

SIMPLER = [(re.compile(pattern), new) for pattern, new in [
    (r"^with mg\..*?\): ", ""), (r"; .*$", ""), (r"^v\d+ = .*; (v\d+ = )", r"\1"),
    (r", requires_grad=True", ""), (r", dtype=mg\.\w+", ""), (r", keepdim=True", ""),
    (r", alpha=2", ""), (r", (create_graph|retain_graph|allow_unused)=True", ""), (r"(create_graph|retain_graph)=True", ""),
    (r"(\w+ = ).*", r"\1mg.tensor([1.0, 2.0], requires_grad=True)"), (r"(\w+ = ).*", r"\1mg.tensor([1.0, 2.0])"),
    (r"(\w+ = ).*", r"\1mg.tensor(1.0, requires_grad=True)"), (r"(\w+ = ).*\b(v\d+)\b.*", r"\1\2 * 2"),
    (r"(\w+ = ).*\b(v\d+)\b.*", r"\1\2[0]"), (r"mg\.\w+\(.*requires_grad=True\)", "mg.ones(2, 2, requires_grad=True)"),
    (r"-?\d+\.\d+", "1.0"), (r"\.(mul_|add_|copy_|sub_|div_)\(v\d+.*\)$", r".\1(2)"), (r" = v\d+$", " = 1.0"),
    (r"(\[.*\]) [-+*/]= ", r"\1 = "), (r"\.detach\(\)|\.clone\(\)|\.float\(\)", ""), (r", v\d+\]", "]"), (r"inputs=\[v\d+\]", "")]]


def candidates(lines: list[str]) -> Iterator[list[str]]:
    """Smaller or simpler programs, the shortest first."""
    for i in reversed(range(len(lines))):
        yield lines[:i] + lines[i + 1:]
    for i, line in enumerate(lines):
        for pattern, new in SIMPLER:
            simpler = pattern.sub(new, line)
            if simpler != line:
                yield lines[:i] + [simpler] + lines[i + 1:]
    yield renamed(lines)


def renamed(lines: list[str]) -> list[str]:
    """The same program with its variables numbered from 0."""
    names = dict.fromkeys(re.findall(r"\bv\d+\b", "\n".join(lines)))
    new = {name: f"v{i}" for i, name in enumerate(names)}
    return [re.sub(r"\bv\d+\b", lambda match: new[match.group()], line) for line in lines]


def shrink(lines: list[str], fails: Callable[[list[str]], bool], attempts: int = 1500) -> list[str]:
    """The smallest program found for which `fails` still holds."""
    seen = {tuple(lines)}
    smaller = True
    while smaller:
        smaller = False
        for candidate in candidates(lines):
            if tuple(candidate) in seen or attempts <= 0:
                continue
            seen.add(tuple(candidate))
            attempts -= 1
            if fails(candidate):
                lines, smaller = candidate, True
                break
    return lines
