"""Differences that are known: the fuzzer counts them and goes on."""
from __future__ import annotations

import re

# A pattern for Difference.kind, and why it differs.
KNOWN: dict[str, str] = {
    r"^look.tensors.#(.grad)?._base [|] unnamed 0 [|] (None|#)": "a gradient that is a view of an inner tensor in PyTorch",
    r"^look.tensors.#.name [|] # [|] #": "a gradient that two inputs share, which is one tensor in PyTorch",
    r"^look.tensors.#.grad.storage [|] # [|] #.grad": "a .grad that is the very tensor which backward() was given in PyTorch",
    r"^look.second": "the graph of a backward pass: the same value by other operations",
}


def reason(kind: str) -> str | None:
    """Why a kind of difference is known, or None for a new one."""
    return next((why for pattern, why in KNOWN.items() if re.search(pattern, kind)), None)
