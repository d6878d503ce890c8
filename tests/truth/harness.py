"""Run a case with either library, and compare what it printed with the record.

A case is a function ``case(mg)`` in a file of ``cases/``: it prints, and its lines are the observations. `show`
prints tensors with all their digits, nodes by name and errors with their text; warnings appear
among the lines where they were given.
"""
from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import io
import json
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import cases

RECORDS = Path(__file__).parent / "records"
TORCH = "2.13.0"
THEMES = sorted(module.name for module in pkgutil.iter_modules(cases.__path__) if not module.name.startswith("_"))
Case = Callable[[Any], None]

# A number counts as equal within so many units in the last place of the largest number on its line: sums are added in
# another order than PyTorch adds them, and NumPy's exp is not PyTorch's.
ULPS = 16
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]\d+)?(?![\w.])|(?<![\w.])-?\d+e[-+]\d+(?![\w.])")
ADDRESS = re.compile(r"0x[0-9a-f]+")
BUILD_PATH = re.compile(r"\s*\(Triggered internally at [^)]*\)")
FRAME = re.compile(r' *File "([^"]*)", line \d+, in (.*)\n?((?:    .*\n?)?)')


# What a case may use -------------------------------------------------------------------------------------------------

def show(*things: Any) -> None:
    """Print `things` on one line, exactly."""
    print(*[thing if isinstance(thing, str) else text(thing) for thing in things])


def text(thing: Any) -> str:
    """One line that says everything about a value which both libraries must agree on."""
    if isinstance(thing, (tuple, list)):
        inner = ", ".join(map(text, thing))
        return f"({inner})" if isinstance(thing, tuple) else f"[{inner}]"
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{key}: {text(value)}" for key, value in thing.items()) + "}"
    if isinstance(thing, BaseException):
        return f"{type(thing).__name__}: {clean(str(thing))}"
    if is_node(thing):
        return type(thing).__name__
    if hasattr(thing, "untyped_storage"):
        return tensor_text(thing)
    if isinstance(thing, np.ndarray):
        return f"array {thing.dtype} {thing.shape} {thing.tolist()}"
    if isinstance(thing, str):
        return thing
    return repr(thing)


def tensor_text(tensor: Any) -> str:
    """Type, shape, values with all digits, and the flag."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    # PyTorch's zero gradients may have no memory until they are copied.
    values = np.array(tensor.detach().clone().tolist(), dtype=dtype)
    flag = " requires_grad" if tensor.requires_grad else ""
    # A NumPy float32 prints the shortest digits that tell it from its neighbours.
    shortest = json.dumps(values.tolist()) if dtype != "float32" else str(_nested(values)).replace("'", "")
    shortest = shortest.replace("NaN", "nan").replace("Infinity", "inf")
    return f"{dtype} {tuple(tensor.shape)} {shortest}{flag}"


def _nested(values: np.ndarray) -> Any:
    return [_nested(row) for row in values] if values.ndim else str(values)


def attempt(do: Callable[[], Any]) -> Any:
    """The result of `do`, or the exception it raised."""
    try:
        return do()
    except Exception as error:
        return error


def is_node(thing: Any) -> bool:
    return hasattr(thing, "next_functions") and hasattr(thing, "register_prehook")


def tree(tensor_or_node: Any, leaves: dict[int, str] | None = None) -> str:
    """The graph under a tensor: ``MulBackward0(x, SplitBackward0#1(None))``; `leaves` names leaf tensors by id.

    A node met again is written ``=Name``; ``#1`` is the number of the output that the edge comes from.
    """
    node = tensor_or_node if is_node(tensor_or_node) else tensor_or_node.grad_fn
    seen: list[Any] = []

    def write(node: Any, number: int) -> str:
        if node is None:
            return "None"
        tail = f"#{number}" if number else ""
        if hasattr(node, "variable"):
            return (leaves or {}).get(id(node.variable), "AccumulateGrad") + tail
        if any(node is other for other in seen):
            return f"={type(node).__name__}{tail}"
        seen.append(node)
        inner = ", ".join(write(*edge) for edge in node.next_functions)
        return f"{type(node).__name__}{tail}({inner})"

    return write(node, getattr(tensor_or_node, "output_nr", 0))


def nodes(tensor: Any) -> list[Any]:
    """The nodes under `tensor`, each once, depth first."""
    found: list[Any] = []

    def walk(node: Any) -> None:
        if node is not None and not any(node is other for other in found):
            found.append(node)
            for following, _ in node.next_functions:
                walk(following)

    walk(tensor.grad_fn)
    return found


def saved(node: Any) -> dict[str, str]:
    """What a node saved: name and kind; an unreadable one gives the error's text."""
    names = node._remembered() if hasattr(node, "_remembered") else [
        name.removeprefix("_saved_") for name in dir(node) if name.startswith("_saved_") and name != "_saved_tensors"]
    return {name: kind(attempt(lambda name=name: getattr(node, f"_saved_{name}"))) for name in sorted(names)}


def kind(value: Any) -> str:
    if isinstance(value, BaseException):
        return text(value)
    if value is None:
        return "None"
    if hasattr(value, "untyped_storage"):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(kind, value))})"
    return type(value).__name__


def clean(message: str) -> str:
    """An error or warning text without what differs from build to build and from run to run."""
    return ADDRESS.sub("0x…", BUILD_PATH.sub("", FRAME.sub(_own_frame, message))).rstrip()


def _own_frame(frame: re.Match) -> str:
    """A frame of a traceback without its line number, if it is in a case; the runner's and the library's frames go."""
    return f"  in {frame[2]}\n{frame[3]}" if Path(frame[1]).parent.name == "cases" else ""


# Running and comparing -----------------------------------------------------------------------------------------------

def cases_of(theme: str) -> dict[str, Case]:
    """The cases of a file: its public functions of one argument `mg`, or the dictionary `CASES` if it has one."""
    module = importlib.import_module(f"{cases.__name__}.{theme}")
    if hasattr(module, "CASES"):
        return module.CASES
    return {name: function for name, function in vars(module).items() if inspect.isfunction(function)
            and not name.startswith("_") and list(inspect.signature(function).parameters) == ["mg"]}


@contextlib.contextmanager
def warnings_among_the_lines() -> Iterator[None]:
    """Print each warning where it was given."""
    def print_warning(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        print(f"{category.__name__}: {clean(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # PyTorch 2.13 has not learnt NumPy 2's protocol yet.
        warnings.filterwarnings("ignore", "__array", DeprecationWarning)
        warnings.showwarning = print_warning
        yield


def warn_anew(mg: Any) -> None:
    """Forget the warnings that are given once in a process: a case must not depend on those before it."""
    mg.set_warn_always(True)
    if mg.__name__ == "torch":
        mg.storage._warn_typed_storage_removal.has_warned = False
    else:
        mg.reasons._warned.clear()


def run(case: Case, mg: Any) -> list[str]:
    """The lines that a case prints with library `mg`; an exception that ends it is its last line."""
    out = io.StringIO()
    warn_anew(mg)
    with contextlib.redirect_stdout(out), warnings_among_the_lines():
        try:
            case(mg)
        except Exception as error:
            print("ended by", text(error))
    if not mg.is_grad_enabled():
        print("left grad mode off", file=out)
    # A case that ended early must not change what the next one sees.
    mg.set_grad_enabled(True)
    mg.autograd.set_detect_anomaly(False)
    mg.set_default_dtype(mg.float32)
    mg.set_warn_always(False)
    return [clean(line) for line in out.getvalue().splitlines()]


@functools.cache
def recorded(theme: str) -> dict[str, list[str]]:
    """What PyTorch printed for each case of a theme."""
    return json.loads((RECORDS / f"{theme}.json").read_text(encoding="utf-8"))["cases"]


def compare(want: list[str], got: list[str]) -> list[str]:
    """The first lines that differ, as ``want …`` and ``got …``; empty if all agree."""
    for i in range(max(len(want), len(got))):
        left, right = (lines[i] if i < len(lines) else "<nothing>" for lines in (want, got))
        if not same_line(left, right):
            return [f"line {i + 1}", f"  want {left}", f"  got  {right}"]
    return []


def same_line(want: str, got: str) -> bool:
    """Equal to the letter but for the last digits of numbers written in full."""
    if want == got:
        return True
    if NUMBER.sub("#", want) != NUMBER.sub("#", got):
        return False
    left, right = (NUMBER.findall(line) for line in (want, got))
    epsilon = 2.0 ** -23 if "float32" in want else 2.0 ** -52
    size = max(abs(float(number)) for number in left)
    return all(a == b or (in_full(a) and in_full(b) and abs(float(a) - float(b)) <= ULPS * epsilon * size)
               for a, b in zip(left, right))


def in_full(number: str) -> bool:
    """Is this how Python writes the number? PyTorch's own rounded digits must agree to the letter."""
    return repr(float(number)) == number or str(np.float32(number)) == number
