"""PyTorch's way to print a tensor, on NumPy arrays: `tensor_repr` and `set_printoptions`.

All elements shown share one format: whether the numbers are whole, whether they need an exponent and how wide they are
is decided once. Hence ``tensor([1., 2.])`` but ``tensor([1.0000, 2.5000])``, and a single 1e-5 turns every
neighbour into ``1.0000e+00``.

Source: PyTorch 2.13.0, torch/_tensor_str.py.
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["array_repr", "set_printoptions", "tensor_repr"]

_DEFAULT = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80}
_PROFILES: dict[str, dict[str, Any]] = {
    "default": _DEFAULT,
    "short": _DEFAULT | {"precision": 2, "edgeitems": 2},
    "full": _DEFAULT | {"threshold": math.inf},
}
_options: dict[str, Any] = _DEFAULT | {"sci_mode": None}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed; what is None keeps its value.

    Parameters
    ----------
    precision
        Digits after the point (4).
    threshold
        A tensor of more elements is printed with its middle left out (1000).
    edgeitems
        Items kept at each end of a dimension whose middle is left out (3).
    linewidth
        Characters per line (80).
    profile
        ``"default"``, ``"short"`` or ``"full"`` set the four above at once; those also given win.
    sci_mode
        True prints floats with an exponent, False without. As in PyTorch, None does not keep the value but returns the
        choice to each tensor.
    """
    _options.update(_PROFILES.get(profile or "", {}))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


def tensor_repr(tensor: Any, default_dtype: str = "float32") -> str:
    """The text of ``repr(tensor)``.

    Parameters
    ----------
    tensor
        Has ``array``, ``requires_grad`` and ``grad_fn`` (None or a node with ``name()``).
    default_dtype
        NumPy's name of the dtype that goes without saying.
    """
    suffixes = []
    try:
        node = tensor.grad_fn
        name = node and node.name().rsplit("::", 1)[-1]
    except RuntimeError:
        # A view made under no_grad whose base was then changed in place has no history to show, and says so when asked.
        name = "Invalid"
    if name:
        suffixes.append(f"grad_fn=<{name}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    kind = type(tensor).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else f"{kind}("
    return array_repr(tensor.array, suffixes, prefix=prefix, default_dtype=default_dtype)


def array_repr(
    array: np.ndarray, suffixes: Iterable[str] = (), *, prefix: str = "tensor(", default_dtype: str = "float32"
) -> str:
    """Print an array as PyTorch prints a tensor.

    ``array_repr(np.array([1, 2]))`` is ``tensor([1, 2])``, and of uint8 ``tensor([1, 2], dtype=torch.uint8)``.

    Parameters
    ----------
    array
        Of booleans, integers or floats, any shape.
    suffixes
        What to say behind the numbers, the size and the dtype: ``["requires_grad=True"]``.
    prefix
        How the text begins; its length is the indentation of further lines.
    default_dtype
        NumPy's name of the dtype that goes without saying.
    """
    # Numbers show their size, and show int64 and bool by their look; an empty pair of brackets shows neither.
    empty, name = array.size == 0, array.dtype.name
    facts = []
    if array.ndim != 1 if empty else not _options["edgeitems"]:
        facts.append(f"size={array.shape}")
    if name != default_dtype and (empty or name not in ("int64", "bool")):
        facts.append(f"dtype=torch.{name}")

    indent = len(prefix)
    text = prefix + ("[]" if empty else _contents(array, indent))
    # PyTorch counts two characters more than the last line has, so a line ends there that could have held the suffix.
    column = len(text) - text.rfind("\n") + 1
    for suffix in [*facts, *suffixes]:
        fits = column + 2 + len(suffix) <= _options["linewidth"]
        text += (", " if fits else ",\n" + " " * indent) + suffix
        column = (column + 2 if fits else indent) + len(suffix)
    return text + ")"


def _contents(array: np.ndarray, indent: int) -> str:
    """The numbers with their brackets; the first bracket stands in column `indent`."""
    edge, ndim = _options["edgeitems"], array.ndim
    summarize = array.size > _options["threshold"]
    if summarize and ndim and not edge:
        return "[...]"

    # Only what is shown is read: the cost of printing a summary does not grow with the array.
    cut = [summarize and n > 2 * edge for n in array.shape]
    kept = [np.r_[:edge, n - edge:n] if left_out else np.arange(n) for n, left_out in zip(array.shape, cut)]
    parts, width = _elements(array[np.ix_(*kept)])
    per_line = max(1, (_options["linewidth"] - indent - (ndim - 1)) // (width + 2))

    # From the innermost dimension outwards, neighbours are joined into one text, until a single text is left.
    for dim in reversed(range(ndim)):
        innermost = dim == ndim - 1
        separator = "," + "\n" * max(1, ndim - 1 - dim) + " " * (indent + dim + 1)
        count, joined = len(kept[dim]), []
        for start in range(0, len(parts), count):
            group = parts[start:start + count]
            if cut[dim]:
                group.insert(edge, " ..." if innermost else "...")
            if innermost:
                group = [", ".join(group[i:i + per_line]) for i in range(0, len(group), per_line)]
            joined.append("[" + separator.join(group) + "]")
        parts = joined
    return parts[0]


def _elements(shown: np.ndarray) -> tuple[list[str], int]:
    """The text of each element, in order and padded, and their common width."""
    values = shown.ravel().tolist()
    if shown.dtype.kind == "f":
        # Zeros and non-finite values decide neither format nor width: a nan may stick out of its column.
        deciding = [value for value in values if value and math.isfinite(value)]
        spec = _float_spec(deciding)
        texts = [format(value, spec) for value in values]
        width = max((len(format(value, spec)) for value in deciding), default=1)
    else:
        texts = [str(value) for value in values]
        width = max(map(len, texts))
    return [text.rjust(width) for text in texts], width


def _float_spec(numbers: list[float]) -> str:
    """The format specification for floats of which the finite nonzero ones are `numbers`."""
    whole = "#.0f"  # the # keeps the point: 2.
    if not numbers:
        return whole
    smallest, largest = min(map(abs, numbers)), max(map(abs, numbers))
    scientific = _options["sci_mode"]
    if scientific is None:
        scientific = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    if scientific:
        return f".{_options['precision']}e"
    return whole if all(map(float.is_integer, numbers)) else f".{_options['precision']}f"
