"""Differences that are known: the fuzzer counts them and goes on."""
from __future__ import annotations

import re
from collections.abc import Sequence

# A pattern for Difference.kind (numbers are 0 there, names #), and what differs. What PyTorch does by chance of its implementation
KNOWN: dict[str, str] = {
    r"^look.tensors.#(.grad)?._base [|] (None|unnamed 0) [|] (None|#|unnamed 0)": "a gradient that is a view of an inner tensor in PyTorch",
    r"^error [|] RuntimeError: (Can't detach views in-place|A view was created in no_grad mode and is) [^|]*[|] (?!RuntimeError: A view)":
        "a gradient that is a view of an inner tensor in PyTorch",
    r"^error [|] RuntimeError: unsupported operation: more than one element[^|]*[|] None":
        "a gradient that is expanded in PyTorch",
    r"^look.tensors.#(.grad)+.storage_offset [|] 0 [|] 0$": "a gradient that is a view of an inner tensor in PyTorch",
    r"^look.tensors.#.grad.storage [|] #.grad [|] #.grad$": "gradients that are views of one inner tensor in PyTorch",
    r"^look.tensors.#.name [|] # [|] #": "a gradient that two inputs share, which is one tensor in PyTorch",
    r"^(look|error)[^|]* [|] RuntimeError: one of the variables ([^|]*) [|] RuntimeError: one of the variables \2$":
        "the version of a gradient in a text, which depends on how it was added up",
    r"^error [|] None [|] NotImplementedError: \"cum(sum|prod)_out_cpu\" not implemented for 'Bool'$":
        "in place, a bool of no dimension or without elements, where PyTorch has nothing to compute",
    r"^error [|] RuntimeError: (Output|A view was) [^|]*its base or another [^|]*[|] (NotImplemented[^|]*bitw|RuntimeError: Given norm)":
        "the history of a stale view, which PyTorch asks for before a bitwise operation refuses its type and layer_norm its size",
    r"^error [|] RecursionError: [^|]*[|] RecursionError: [^|]*$": "in which call Python's stack ended",
    r"INTERNAL ASSERT FAILED": "a bug of PyTorch, which asks to report it",
}


# The same for programs that use an operation: the pattern, the operation, and why.
USING: list[tuple[str, str, str]] = [
    (r"^look.second\.", "atan2", "in the graph of a backward pass, what the formulas of two inputs have in common is computed for each"),
    (r"^look.second\.", "cumprod", "in the graph of a backward pass, gradients beside a zero are joined, not written into an empty tensor"),
    (r"^(look.second\.|look.tensors.#.grad.(requires_grad|is_leaf) [|] (True [|] False|False [|] True))", "LayerNorm",
     "layer_norm's backward pass is one operation in PyTorch: with create_graph the gradients of weight and bias are recorded, too"),
    (r"^look.tensors.#(.grad)*.stride", "einsum",
     "the memory order of einsum's gradient: PyTorch's product takes the operands the other way round"),
]


def reason(kind: str, lines: Sequence[str] = ()) -> str | None:
    """Why a kind of difference is known in a program, or None for a new one."""
    for pattern, word, why in USING:
        if re.search(pattern, kind) and any(word in line for line in lines):
            return why
    if kind.startswith("look.second."):
        return None
    return next((why for pattern, why in KNOWN.items() if re.search(pattern, kind)), None)
