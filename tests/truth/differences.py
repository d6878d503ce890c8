"""Where minigrad differs from PyTorch on purpose.

An entry is ``"theme::case": Difference(reason, {line of PyTorch: line of minigrad})``. The case must still
print the rest as PyTorch does, and these lines as written here: an entry that no longer differs fails.
"""
from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """Lines of one case that minigrad prints in its own way."""

    reason: str
    lines: dict[str, str]


DIFFERENCES: dict[str, Difference] = {}

# Cases of what minigrad leaves out, ``"theme::case": name``: they end by saying that there is no such name.
NOT_OFFERED: dict[str, str] = {}
