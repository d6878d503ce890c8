"""What the recorder asks of the library that runs: minigrad, or PyTorch where the program has imported it (never we)."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ..grad_mode import is_grad_enabled
from ..graph import next_sequence
from .program import is_tensor, version_of

SEQUENCES = {               # the number of the node that was made last
    "minigrad": next_sequence,
    "torch": lambda: sys.modules["torch"]._C._autograd._get_sequence_nr() - 1 if "torch" in sys.modules else 0,
}
ENABLED = {"minigrad": is_grad_enabled, "torch": lambda: sys.modules["torch"].is_grad_enabled()}
SHARING = ("data", "T", "mT", "H", "mH", "real", "imag")       # PyTorch's properties that make a tensor


@dataclass
class Event:
    """One operation that ran; `node` is the name its node has or would have had, `written` what it wrote in place."""

    library: str
    name: str
    node: str
    args: Iterable[Any]
    outputs: Iterable[Any]
    written: Iterable[Any]
    recorded: bool


def tensors_in(values: Iterable[Any]) -> Iterator[Any]:
    """The tensors among values and among the items of lists."""
    for value in values:
        if is_tensor(value):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


def torch_mode(happened: Callable[[Event], None]) -> AbstractContextManager:
    """Call ``happened(event)`` after every PyTorch function that takes a tensor and makes or writes one."""
    torch = sys.modules["torch"]

    class Watch(torch.overrides.TorchFunctionMode):

        def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            name = getattr(func, "__name__", "")
            if name == "__get__":
                name = getattr(func.__self__, "__name__", "")
                if name not in SHARING:
                    return func(*args, **(kwargs or {}))
            given = list(tensors_in([*args, *(kwargs or {}).values()]))
            versions = list(map(version_of, given))
            result = func(*args, **(kwargs or {}))
            known = set(map(id, given))
            outputs = [t for t in tensors_in([result]) if id(t) not in known]
            written = [t for t, version in zip(given, versions, strict=True) if version_of(t) != version]
            if given and (outputs or written):
                happened(Event("torch", name, "", args, outputs, written, torch.is_grad_enabled()))
            return result
    return Watch()
