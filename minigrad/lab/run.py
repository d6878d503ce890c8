"""Run a program away from the notebook: in its own namespace, from a copy of what it reads, with errors as data."""
from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import io
import linecache
import random
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.random import get_rng_state, set_rng_state

from ..why import name_the_cause

__all__ = ["Failure", "Outcome", "Snapshot", "compiled", "failure", "made", "run"]


@dataclass(frozen=True)
class Failure:
    """An error as data: its `text`, the `notes` that minigrad adds, and the program's `line` that raised it, if any.

    `refused`: the program needs what cannot be copied from the notebook, so it cannot run here at all.
    """

    text: str
    notes: str = ""
    line: int | None = None
    refused: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a run left: the names, what it printed, and the error that ended it, if any."""

    namespace: dict[str, Any]
    printed: str
    failure: Failure | None


class Snapshot:
    """What a program reads from `namespace` before it runs, copied: tensors that share memory share it in the copy too.

    Functions of the notebook are rebuilt over the copy, with the names that they read. What cannot be copied (modules,
    files) is shared. A computed tensor's history belongs to the notebook: its name is in `refused`, not in the copy.
    """

    def __init__(self, source: str, namespace: dict[str, Any]) -> None:
        self.refused: set[str] = set()
        self._notebook = namespace
        names = sorted({node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)} - made(source))
        found: dict[str, Any] = {}
        for name in names:                                     # grows while it is walked: functions bring names
            if name in namespace and name not in found:
                found[name] = namespace[name]
                if isinstance(found[name], types.FunctionType) and found[name].__globals__ is namespace:
                    names += _global_names(found[name].__code__)
        self._values = self._copied(found)
        self._random = _random_state()

    def _copied(self, values: dict[str, Any]) -> dict[str, Any]:
        copies, memo = {}, {}
        for name, value in values.items():
            try:
                copies[name] = copy.deepcopy(value, memo)
            except Exception as error:                 # copying runs code of any class, which may raise anything
                if "graph leaves" in str(error):
                    self.refused.add(name)
                else:
                    copies[name] = value
        return copies

    def namespace(self) -> dict[str, Any]:
        """Return a fresh namespace to run the program in, and set the random generators to where they stood."""
        fresh: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
        fresh.update(self._copied(self._values))
        for name, value in fresh.items():
            if isinstance(value, types.FunctionType) and value.__globals__ is self._notebook:
                fresh[name] = types.FunctionType(value.__code__, fresh, value.__name__, value.__defaults__, value.__closure__)
                fresh[name].__kwdefaults__ = value.__kwdefaults__
        _set_random_state(self._random)
        return fresh


def run(source: str, snapshot: Snapshot, filename: str, recording: AbstractContextManager,
        watch: Callable[[types.FrameType, str], None] | None = None) -> Outcome:
    """Run `source` from `snapshot` in a fresh namespace, inside `recording`; printed text and errors come back as data.

    `watch` is told of each line of the program's own, before it runs ("line"), and of the end. The random
    generators and the grad mode are put back afterwards: what happens here must not reach the notebook.
    """
    # The lines are for tracebacks: of this run, and of functions that outlive it.
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    printed, failed = io.StringIO(), None
    before, enabled, show = _random_state(), mg.is_grad_enabled(), sys.displayhook
    out, err = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
    namespace = snapshot.namespace()
    sys.displayhook = lambda value: None if value is None else print(repr(value))
    try:
        with out, err, warnings.catch_warnings(), recording, _watching(watch, filename):
            for code in compiled(source, filename):
                exec(code, namespace)
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        failed = failure(error, filename)
        # A name that the program sets before it reads it was not missed.
        if isinstance(error, NameError) and error.name in snapshot.refused:
            text = f"{error.name} was computed before this cell, and its history cannot be copied"
            notes = f"Put the lines that compute {error.name} into this cell to use its switches."
            failed = replace(failed, text=text, notes=notes, refused=True)
    finally:
        sys.displayhook = show
        mg.set_grad_enabled(enabled)
        _set_random_state(before)
    return Outcome(namespace, printed.getvalue(), failed)


@contextlib.contextmanager
def _watching(watch: Callable[[types.FrameType, str], None] | None, filename: str) -> Iterator[None]:
    """Tell `watch` of the lines of the file's module, not of those of its functions."""
    def line(frame: types.FrameType, event: str, argument: Any) -> Any:
        if event in ("line", "return"):
            watch(frame, event)
        return line

    before = sys.gettrace()
    if watch is not None:
        sys.settrace(lambda frame, event, argument: line if frame.f_code.co_filename == filename
                     and frame.f_code.co_name == "<module>" else None)
    try:
        yield
    finally:
        sys.settrace(before)


def compiled(source: str, filename: str) -> Iterable[types.CodeType]:
    """Compile a program as a cell is compiled: a last expression is shown through ``sys.displayhook``."""
    tree = ast.parse(source, filename)
    last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
    return [compile(part, filename, mode, dont_inherit=True)
            for part, mode in ((tree, "exec"), (ast.Interactive(last), "single"))]


def failure(error: BaseException, filename: str) -> Failure:
    """Describe an error by its text and the innermost line of the program that led to it."""
    name_the_cause(error)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename]
    notes = "\n".join(getattr(error, "__notes__", ()))
    text = "".join(traceback.format_exception_only(error)).strip().removesuffix(notes).rstrip()
    return Failure(text, notes, lines[-1] if lines else None)


def made(source: str) -> set[str]:
    """The names that a program gives a value of its own, whatever happens, before it reads them."""
    read: set[str] = set()
    stored: set[str] = set()
    for statement in ast.parse(source).body:
        nodes = list(ast.walk(statement))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        updated = {node.target.id for node in nodes if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)}
        read |= ({name.id for name in names if isinstance(name.ctx, ast.Load)} | updated) - stored
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.With)):
            stored |= {name.id for name in names if isinstance(name.ctx, ast.Store)} - read
    return stored


def _global_names(code: types.CodeType) -> list[str]:
    names, codes = [], [code]
    for inner in codes:
        names += inner.co_names
        codes += [constant for constant in inner.co_consts if isinstance(constant, types.CodeType)]
    return names


def _random_state() -> tuple:
    return random.getstate(), np.random.get_state(), get_rng_state()


def _set_random_state(state: tuple) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])
    set_rng_state(state[2])
