"""Run the same Python function on PyTorch and on minigrad: what it holds of the one becomes the other's."""
from __future__ import annotations

import math
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import torch

import minigrad


def tensor(theirs: torch.Tensor) -> minigrad.Tensor:
    """The same numbers in the same layout, in memory of its own, as a leaf."""
    for trait, offered in ((theirs.dtype, DTYPES), (theirs.layout, [torch.strided]), (theirs.device, [torch.device("cpu")])):
        if trait not in offered:
            raise NotOffered(str(trait))
    flat = theirs.detach().as_strided((theirs.untyped_storage().nbytes() // theirs.element_size(),), (1,), 0)
    ours = minigrad.tensor(flat.numpy()).as_strided(tuple(theirs.shape), theirs.stride(), theirs.storage_offset()).detach()
    return ours.requires_grad_(theirs.requires_grad)


class NotOffered(Exception):
    """minigrad has nothing of that name."""


DTYPES = {getattr(torch, name): getattr(minigrad, name) for name in
          ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")}


FUNCTIONS = BuiltinFunctionType, type(torch.Tensor.add), type(torch.Tensor.__getitem__)
PARTS = {"torch._C._nn": "nn.functional", "torch._C._linalg": "linalg", "torch._C._special": "special", "torch._C._fft": "fft"}


class Names:
    """minigrad in PyTorch's place: a name that it lacks is no fault but `NotOffered`."""

    def __init__(self, module: Any, path: str) -> None:
        self.module, self.path = module, path

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self.module, name):
            raise NotOffered(f"{self.path}.{name}")
        value = getattr(self.module, name)
        return Names(value, f"{self.path}.{name}") if isinstance(value, ModuleType) else value


OURS = Names(minigrad, "torch")


def named(path: str) -> Any:
    """minigrad's object of a dotted name behind ``torch.``."""
    found = OURS
    for name in path.split("."):
        found = getattr(found, name)
    return found


def ours(value: Any, memo: dict | None = None) -> Any:
    """What stands for a value of PyTorch's, or for a Python function that uses PyTorch."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, torch.Tensor):
        memo[id(value)] = tensor(value)
        return memo[id(value)]
    if value is torch:
        return OURS
    if isinstance(value, torch.dtype):
        if value not in DTYPES:
            raise NotOffered(str(value))
        return DTYPES[value]
    if isinstance(value, torch.Size):
        return minigrad.Size(value)
    if isinstance(value, (torch.layout, torch.memory_format)):
        return named(str(value).removeprefix("torch."))
    if isinstance(value, torch.device) and value.type == "cpu":
        return minigrad.device("cpu")
    if isinstance(value, (torch.device, torch.Generator)):
        raise NotOffered(str(value) if isinstance(value, torch.device) else "Generator")
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(ours(v, memo) for v in value)
    if isinstance(value, dict):
        return {k: ours(v, memo) for k, v in value.items()}
    if isinstance(value, FUNCTIONS) or (isinstance(value, FunctionType) and value.__module__.startswith("torch.")
                                        and "testing" not in value.__module__):
        return function(value)
    if type(value).__module__ == "torch._ops":
        raise NotOffered("torch.ops")
    if isinstance(value, ModuleType) and value.__name__.startswith("torch."):
        return named(value.__name__.removeprefix("torch."))
    if isinstance(value, FunctionType):
        return rebound(value, memo)
    return value


def function(theirs: Any) -> Any:
    """Our function of PyTorch's function; one that is not PyTorch's stays what it is."""
    name, owner = theirs.__name__, getattr(theirs, "__objclass__", None)
    if owner is not None:
        return named(f"Tensor.{name}") if owner.__module__ == "torch._C" else theirs
    home = theirs.__module__ or ""
    if home in PARTS:
        return named(f"{PARTS[home]}.{name.removeprefix(PARTS[home] + '_')}")
    if home == "torch.functional" or getattr(torch, name, None) is theirs:
        return named(name)
    if not home.startswith("torch"):
        return theirs
    if home.startswith("torch._"):
        raise NotOffered(f"{home}.{name}")
    return named(f"{home.removeprefix('torch.')}.{name}")


def names(code: CodeType) -> set[str]:
    """The global names that a function and the functions inside it use."""
    return set(code.co_names).union(*(names(c) for c in code.co_consts if isinstance(c, CodeType)))


def rebound(theirs: FunctionType, memo: dict) -> Callable:
    """The same Python code, in whose globals and closure minigrad stands for PyTorch."""
    made = FunctionType(theirs.__code__, {**theirs.__globals__}, theirs.__name__, None,
                        tuple(CellType() for _ in theirs.__closure__ or ()) or None)
    memo[id(theirs)] = made
    for name in names(theirs.__code__):
        if name in theirs.__globals__:
            value = theirs.__globals__[name]
            if value is torch or isinstance(value, (torch.Tensor, FunctionType, *FUNCTIONS)):
                made.__globals__[name] = ours(value, memo)
    for cell, old in zip(made.__closure__ or (), theirs.__closure__ or ()):
        cell.cell_contents = ours(old.cell_contents, memo)
    made.__defaults__ = ours(theirs.__defaults__, memo) if theirs.__defaults__ else None
    made.__kwdefaults__ = ours(theirs.__kwdefaults__, memo) if theirs.__kwdefaults__ else None
    return made


# What is observed, and how it differs --------------------------------------------------------------------------------------

def seen(value: Any) -> Any:
    """A result as plain data that can be compared across the libraries."""
    if isinstance(value, (torch.Tensor, minigrad.Tensor)):
        node = value.grad_fn.name() if value.grad_fn is not None else None
        return {"shape": tuple(value.shape), "dtype": str(value.dtype), "requires_grad": value.requires_grad, "grad_fn": node,
                "stride": value.stride(), "values": value.detach().numpy(force=True).copy()}
    if isinstance(value, (list, tuple)):
        return [seen(v) for v in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def difference(theirs: Any, mine: Any, rtol: float, atol: float) -> str | None:
    """In which respect two results differ, in a word or two; None if they do not."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for key in ("shape", "dtype", "requires_grad", "grad_fn"):
            if theirs[key] != mine[key]:
                return f"{key}: {theirs[key]} and ours {mine[key]}"
        a, b = theirs["values"], mine["values"]
        equal = a == b if a.dtype.kind != "f" else abs(a - b) <= atol + rtol * abs(a)
        equal = equal | ((a != a) & (b != b)) | (a == b)
        if not equal.all():
            return "values"
        sizes = theirs["shape"]
        if any(s != t for s, t, n in zip(theirs["stride"], mine["stride"], sizes) if n > 1 and 0 not in sizes):
            return "stride"
        return None
    if isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        found = (difference(a, b, rtol, atol) for a, b in zip(theirs, mine))
        return next((text for text in found if text), None)
    if isinstance(theirs, float) and isinstance(mine, float):
        close = math.isclose(theirs, mine, rel_tol=rtol, abs_tol=atol) or (theirs != theirs and mine != mine)
        return None if close else "values"
    return None if type(theirs) is type(mine) and theirs == mine else f"{theirs!r:.60} and ours {mine!r:.60}"


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """("ok", result) or ("raised", error)."""
    try:
        return "ok", call()
    except Exception as error:
        return "raised", error


def said(error: Exception) -> str:
    """An error's kind and first line."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"
