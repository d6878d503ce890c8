"""Differences that are known: the fuzzer counts them and goes on."""
from __future__ import annotations

import re

# A pattern for Difference.kind (numbers are 0 there, names #), and what differs. What PyTorch does by chance of its implementation
# stays here; what begins with "to do" is a bug of minigrad's that is not mended yet.
KNOWN: dict[str, str] = {
    r"^look.tensors.#(.grad)?._base [|] (None|unnamed 0) [|] (None|#|unnamed 0)": "a gradient that is a view of an inner tensor in PyTorch",
    r"^error [|] RuntimeError: (Can't detach views in-place|A view was created in no_grad mode and is) [^|]*[|] (?!RuntimeError: A view)":
        "a gradient that is a view of an inner tensor in PyTorch",
    r"^error [|] RuntimeError: unsupported operation: more than one element[^|]*[|] None":
        "a gradient that is expanded in PyTorch",
    r"^look.tensors.#.name [|] # [|] #": "a gradient that two inputs share, which is one tensor in PyTorch",
    r"^(look|error)[^|]* [|] RuntimeError: one of the variables ([^|]*) [|] RuntimeError: one of the variables \2$":
        "the version of a gradient in a text, which depends on how it was added up",
    r"^error [|] RuntimeError: (Output 0 of|A view was created)[^|]*its base or another view[^|]*[|] (?!None)":
        "which of two errors of one line is raised",
    r"INTERNAL ASSERT FAILED": "a bug of PyTorch, which asks to report it",
    r"^look.second": "the graph of a backward pass: the same value by other operations",
    r"^error [|] [^|]*Subtraction, the `-`": "to do: subtraction with bool",
    r"^error [|] (None [|] )?NotImplementedError: ": "to do: integer or bool dtypes for which PyTorch has no kernel",
    r"^error [|] (None [|] )?RuntimeError: (expected dtype|expected scalar|self and mat|addmv input|expected m0 and m0|Index put requires)":
        "to do: checks of mixed dtypes",
    r"^error .*(can't be cast to the desired output|Integers to negative integer powers)": "to do: dtypes of in-place results, int powers",
    r"_sym_(sizes|strides)|_saved_ord": "to do: names of saved sizes",
    r"^error [|] IndexError: ": "to do: texts and checks of dimensions and indices",
    r"^error [|] RuntimeError: (zero-dim|Tensors must|expand[(]|The expanded|narrow|chunk|split|index_select|shape mismatch)":
        "to do: texts and checks of dimensions and indices",
    r"^error .*(doesn't match the broadcast shape|ValueError: operands|t_?[(][)] expects|permute[(]sparse|non-singleton)":
        "to do: texts about shapes",
    r"^error [|] .*unsupported operation: (more|some)": "to do: overlapping memory in fill_, copy_, masked_fill_ and index_put",
    r"^look.nodes.#.next [|] \[\['#', 0\]\] [|] \[\['#', 0\], \[None, 0\]\]": "to do: edges of floor division",
    r"^look.nodes.#.name [|] AsStridedBackward0 [|]": "to do: squeeze_ and its like of a view, unrecorded",
    r"^look.*[.]stride": "to do: layouts of copies of expanded and transposed tensors",
    r"^look.tensors.#.storage [|] # [|] None": "to do: layouts again, since a reshape of another layout copies",
    r"detached in-place, i.e. with .detach_[(][)]": "to do: detach_ of a tensor that a node has saved",
}


def reason(kind: str) -> str | None:
    """Why a kind of difference is known, or None for a new one."""
    return next((why for pattern, why in KNOWN.items() if re.search(pattern, kind)), None)
