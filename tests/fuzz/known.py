"""Differences that are known: the fuzzer counts them and goes on."""
from __future__ import annotations

import re

# A pattern for Difference.kind, and why it differs.
KNOWN: dict[str, str] = {
    r"^look.tensors.#(.grad)?._base \\| unnamed 0 \\| None": "a gradient that is a view of an inner tensor in PyTorch",
    r"^look.second": "a graph made by a backward pass: other operations of the same value",
    r"^look.tensors.#.grad.storage \| # \| #.grad": "PyTorch may keep the very tensor that backward() was given",
    r"indices with equal values": "which of several equal elements",
}


def reason(kind: str) -> str | None:
    """Why a kind of difference is known, or None for a new one."""
    return next((why for pattern, why in KNOWN.items() if re.search(pattern, kind)), None)
