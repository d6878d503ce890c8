"""Calls that nobody should make: wrong types, shapes and dtypes into every public function, and what comes of them.

    python -m tests.hardening.bad_inputs [12]      so many calls a function on both libraries, and their differences; needs torch

A call is text, so that a finding can be pasted: ``mg.add(x, 'text')`` on fresh arguments. The functions are found by
introspection, so a new one is tried without being named anywhere. The same calls come on every machine.
"""
from __future__ import annotations

import inspect
import json
import operator
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.arguments import table
from tests.truth.harness import clean

TENSORS = [
    "mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)",
    "mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])",
    "mg.tensor([1.0, 2.0, 3.0], requires_grad=True) * 2",
    "mg.tensor(2.0)",
    "mg.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=mg.float64)",
    "mg.tensor([1, 2, 3])",
    "mg.tensor([[True, False, True], [False, True, False]])",
    "mg.tensor([[0, 1, 2]], dtype=mg.uint8)",
    "mg.tensor([1.0, float('nan'), float('inf')])",
    "mg.tensor([])",
    "mg.zeros(2, 0)",
    "mg.ones(3).expand(2, 3)",
    "mg.arange(6.0).view(3, 2).t()",
    "mg.arange(12.0).view(3, 4)[:, ::2]",
    "mg.ones(2, 1, 2, dtype=mg.float16)",
]
WRONG = [
    "None", "'text'", "b'bytes'", "object()", "[]", "[1, 'a']", "[[1.0], [2.0, 3.0]]", "{}", "{1}", "(1, 2j)", "1j", "float('nan')",
    "float('inf')", "-7", "2**70", "2**60", "True", "3.5", "len", "int", "...", "slice(1)", "range(3)", "(0, 0)", "(-9,)", "(2**60, 2)",
    "np.array(['a'])", "np.array([None])", "np.array([1j])", "np.array([1.0])", "np.float32(2)", "mg", "mg.float32",
    "mg.strided", "iter([1])",
]
PLAUSIBLE = ["0", "1", "-1", "2", "0.5", "True", "None", "(0,)", "(2, 3)", "[0, 1]", "mg.float64", "'mean'"]
OPERATORS = dict.fromkeys("add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift iadd isub imul itruediv ipow iand ior "
                          "eq ne lt ge getitem contains delitem".split(), 2) | dict.fromkeys("neg invert abs index".split(), 1)
OPERATORS["setitem"] = 3
SPACES = ["mg", "mg.Tensor", "mg.nn", "mg.nn.functional", "mg.nn.init", "mg.nn.utils", "mg.linalg", "mg.optim", "mg.autograd.functional",
          "mg.autograd"]
# What changes the process, asks the file system or the terminal, or runs what it is given; and classes meant as bases.
LEFT_OUT = re.compile(r"\.(set_\w+|manual_seed|seed|save|load|empty\w*|new_empty|initial_seed|get_rng_state|data_ptr|gradcheck|"
                      r"gradgradcheck|detect_anomaly|Function|share_memory_)$")


FAIR = ("TypeError", "RuntimeError", "ValueError", "IndexError", "NotImplementedError")
# What only minigrad's own inside, or NumPy's, has a name for.
INSIDE = re.compile(r"_first_call|<lambda>|<locals>|ufunc|could not be broadcast|[Ii]nput operand|attribute '(array|_)|too deep|"
                    r"too small depth|self_\b|could not broadcast|loop with signature|__init_subclass__")


class Call(NamedTuple):
    """One call: the text of what is called, of its arguments in order and by name."""

    function: str
    args: tuple[str, ...]
    kwargs: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.function}({', '.join([*self.args, *(f'{name}={value}' for name, value in self.kwargs)])})"


class Outcome(NamedTuple):
    """What came of a call: an exception's type and text, or the result's kind; what it changed although it failed."""

    error: str
    text: str
    changed: tuple[str, ...]
    seconds: float


def surface() -> dict[str, list[str]]:
    """Every public function, class and method, by the text that names it, with its parameters' names."""
    found = {}
    for space in SPACES:
        holder = eval(space, {"mg": minigrad})
        for name in sorted(dir(holder)):
            thing, full = getattr(holder, name), f"{space}.{name}"
            home = "minigrad" + space.removeprefix("mg") if space not in ("mg", "mg.Tensor") else ""
            ours = str(getattr(thing, "__module__", "")).startswith(home) or full.removeprefix("mg.") in table()
            if not name.startswith("_") and callable(thing) and ours and not LEFT_OUT.search(full):
                found[full] = parameters(thing)
    return found | {f"operator.{name}": ["a", "b", "c"][:count] for name, count in OPERATORS.items()}


def parameters(thing: Callable) -> list[str]:
    """The names of what it takes; empty for ``*args``."""
    try:
        return [name for name, p in inspect.signature(thing).parameters.items() if p.kind is not p.VAR_KEYWORD]
    except (TypeError, ValueError):
        return []


def calls(each: int = 16) -> Iterator[Call]:
    """So many calls of every function: one wrong argument among right ones, all wrong, too many, too few, unknown names."""
    for function, names in surface().items():
        rng = random.Random(function)
        first = rng.choice(TENSORS)
        for i in range(each):
            count = rng.randint(max(len(names) - 2, 0), len(names)) if i % 4 else rng.randint(0, len(names) + 2)
            args = [rng.choice(rng.choice([PLAUSIBLE, PLAUSIBLE, TENSORS, WRONG])) for _ in range(max(count, 1))]
            args[0] = first if i < 2 else rng.choice(TENSORS if rng.random() < 0.8 else WRONG)
            if len(args) > 1:
                args[rng.randrange(1, len(args))] = rng.choice(WRONG if i % 3 else TENSORS)
            kwargs = []
            if i % 5 == 4:
                name = rng.choice([*names[1:], "dim", "dtype", "bogus"])
                kwargs = [(name, rng.choice(WRONG))]
                args = args[:max(names.index(name), 1)] if name in names else args
            yield Call(function, tuple(args), tuple(kwargs))


def look(thing: Any) -> Any:
    """All of an argument that a failing call must leave as it was."""
    if not hasattr(thing, "untyped_storage") or isinstance(thing, type):
        return None
    plain = thing.detach()
    return {"values": str(plain.tolist()) if plain.numel() < 99 else "", "shape": tuple(thing.shape), "stride": thing.stride(),
            "dtype": str(thing.dtype), "version": thing._version, "requires_grad": thing.requires_grad, "leaf": thing.is_leaf,
            "history": id(thing.grad_fn), "grad": id(thing.grad) if thing.is_leaf else 0, "base": id(thing._base)}


def run(call: Call, mg: Any) -> Outcome:
    """Make the call with a library."""
    names = {"mg": mg, "np": np, "operator": operator}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = [eval(text, names) for text in call.args]
        kwargs = {name: eval(text, names) for name, text in call.kwargs}
        function = eval(call.function, names)
        things = [*args, *kwargs.values()]
        before, begin = [look(thing) for thing in things], time.perf_counter()
        try:
            error, text = "", kind(function(*args, **kwargs))
        except Exception as problem:
            error, text = type(problem).__name__, clean(str(problem))
        seconds = time.perf_counter() - begin
        changed = []
        for source, thing, old in zip([*call.args, *dict(call.kwargs).values()], things, before, strict=True):
            new = look(thing) if error and old is not None else {}
            changed += [f"{source}: {part} was {old[part]}, is {new[part]}" for part in new if new[part] != old[part]]
    mg.set_grad_enabled(True)
    mg.set_default_dtype(mg.float32)
    mg.manual_seed(0)
    return Outcome(error, text, tuple(changed), seconds)


def kind(result: Any) -> str:
    """The type of a result, and of a tensor what all tensors have."""
    if hasattr(result, "untyped_storage"):
        return f"{result.dtype} {tuple(result.shape)}{' requires_grad' if result.requires_grad else ''}"
    if isinstance(result, (tuple, list)) and len(result) < 20:
        return f"{type(result).__name__} of {[kind(item) for item in result]}"
    return type(result).__name__


def offered(call: Call, mg: Any) -> bool:
    """Whether a library has the function."""
    thing = {"mg": mg, "operator": operator}[call.function.partition(".")[0]]
    for name in call.function.split(".")[1:]:
        if not hasattr(thing, name):
            return False
        thing = getattr(thing, name)
    return True


def main(each: int) -> None:
    """Print what differs, kind by kind, and write which of PyTorch's own errors are of odd types."""
    import torch

    kinds, odd = {}, {}
    for call in calls(each):
        if not offered(call, torch):
            continue
        got, want = run(call, minigrad), run(call, torch)
        if want.error and (want.error not in FAIR or INSIDE.search(want.text)):
            odd[str(call)] = want.error
        kind = ("same" if got[:2] == want[:2] else "text" if got.error == want.error else "type" if got.error and want.error else
                "only minigrad raises" if got.error else "only PyTorch raises")
        kinds.setdefault(kind, []).append(f"{call}\n    minigrad: {got.error} {got.text}\n    PyTorch:  {want.error} {want.text}")
    for kind, lines in kinds.items():
        if kind != "same":
            print(f"\n## {kind}\n", *lines, sep="\n")
    print({kind: len(lines) for kind, lines in kinds.items()})
    Path(__file__).with_name("odd_errors.json").write_text(json.dumps(odd, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 12)
