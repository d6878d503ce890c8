"""PyTorch's own samples of every operation (``torch.testing``'s OpInfo): results, graph, gradients, second derivatives, errors."""
from __future__ import annotations

import itertools
import random
import re
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import torch

import minigrad

from .report import Report, note
from .translate import NotOffered, difference, ours, outcome, said, seen

LACKS = re.compile(r"(?:'Tensor'(?: object)? has no attribute '|(?=minigrad))(.*?)(?:'|$)")    # an honest "there is none"
RTOL = ATOL = 1e-7
SAMPLES = 100           # at most, of one operation and type: a few have thousands that differ little


def operations() -> list:
    """All OpInfos; the module wants `expecttest`, of which nothing is used here."""
    if "expecttest" not in sys.modules:
        stub = types.ModuleType("expecttest")
        stub.TestCase = object
        sys.modules["expecttest"] = stub
    from torch.testing._internal.common_methods_invocations import op_db
    return op_db


def tensors(value: Any) -> list:
    """All tensors in nested results or arguments."""
    if isinstance(value, (torch.Tensor, minigrad.Tensor)):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def observe(m: Any, call: Callable, args: tuple, kwargs: dict) -> dict[str, Any]:
    """What one call shows: its result, what it did to its arguments, gradients, and gradients of those."""
    result = call(*args, **kwargs)
    shown = {"result": seen(result)}
    inputs = [t for t in tensors([args, kwargs]) if t.requires_grad and t.is_leaf]
    for key in ("gradient", "second gradient"):
        outputs = [t for t in tensors(result) if t.requires_grad and t.is_floating_point()]
        if not outputs or not inputs:
            break
        weighted = [(t * m.linspace(0.5, 1.5, t.numel(), dtype=t.dtype).reshape(t.shape)).sum() for t in outputs]
        result = m.autograd.grad(sum(weighted[1:], weighted[0]), inputs, create_graph=True, allow_unused=True)
        shown[key] = seen(result)
    return shown


def compare_calls(call: Callable, args: tuple, kwargs: dict, rtol: float = RTOL, atol: float = ATOL) -> str | None:
    """How a call differs between PyTorch, which it is made for, and minigrad; None if it does not."""
    translated = outcome(lambda: ours((args, kwargs, call)))    # before the call, which may change them
    my_kind, mine = translated
    if my_kind == "raised" and isinstance(mine, NotOffered):
        raise mine
    torch.manual_seed(0)
    kind, theirs = outcome(lambda: observe(torch, call, args, kwargs))
    minigrad.manual_seed(0)
    if my_kind == "ok":
        my_args, my_kwargs, my_call = mine
        my_kind, mine = outcome(lambda: observe(minigrad, my_call, my_args, my_kwargs))
    if my_kind == "raised" and isinstance(mine, NotOffered):
        raise mine
    if my_kind == "raised" and isinstance(mine, (AttributeError, NotImplementedError)) and LACKS.search(str(mine)):
        raise NotOffered(LACKS.search(str(mine))[1])
    if kind != my_kind:
        return f"PyTorch raises {said(theirs)}" if kind == "raised" else f"ours raises {said(mine)}"
    if kind == "raised":
        return None if said(theirs) == said(mine) else f"PyTorch raises {said(theirs)}, ours {said(mine)}"
    for key in theirs:
        if key not in mine:
            return f"no {key}"
        if text := difference(theirs[key], mine[key], rtol, atol):
            return f"{key}: {text}"
    return None


def compare(op: Any, sample: Any) -> str | None:
    """How a sample of an operation differs."""
    problem = compare_calls(op.op, (sample.input, *sample.args), sample.kwargs)
    return None if problem == "result: values" and "empty" in op.name else problem      # memory as it was found


def run(only: str = "", verbose: bool = False) -> list[Report]:
    """Run every sample of the operations that minigrad has; one report for results, one for errors."""
    results, errors = Report("PyTorch's OpInfo samples"), Report("PyTorch's OpInfo error inputs")
    warnings.simplefilter("ignore")
    for op in operations():
        if only not in op.name:
            continue
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        for dtype in (torch.float64, torch.int64, torch.bool):
            if dtype not in op.dtypes:
                continue
            torch.manual_seed(0)
            random.seed(0)
            kind, samples = outcome(lambda op=op, dtype=dtype: list(itertools.islice(op.sample_inputs(
                "cpu", dtype, requires_grad=dtype is torch.float64 and op.supports_autograd), SAMPLES)))
            if kind == "raised":
                continue
            for i, sample in enumerate(samples):
                note(results, f"{name}[{str(dtype)[6:]} {i}]", lambda op=op, sample=sample: compare(op, sample), verbose)
        if op.error_inputs_func is None:
            continue
        kind, samples = outcome(lambda op=op: list(op.error_inputs("cpu")))
        for i, sample in enumerate(samples if kind == "ok" else ()):
            note(errors, f"{name}[{i}]", lambda op=op, sample=sample: compare(op, sample.sample_input), verbose)
    return [results, errors]
