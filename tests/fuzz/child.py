"""A hunt in child processes: a long run of strange programs makes PyTorch itself end its process now and then."""
from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from .hunt import NOTHING, Found, Hunt

BATCH = 1000        # programs per process
_spawn = multiprocessing.get_context("spawn")


def _libraries() -> tuple[Any, Any]:
    import torch  # here, since the parent process does without it

    import minigrad

    torch.set_num_threads(1)
    return torch, minigrad


def _hunt(pipe: Connection, seed: int, start: int, stop: int, end: float, kinds: set[str]) -> None:
    """Run some programs; tell every line, every program of a new kind, and at last the counts."""
    hunt = Hunt(*_libraries(), tell=lambda line: pipe.send(("line", line)))
    for i in range(start, stop):
        if time.time() > end:
            break
        pipe.send(("program", (i, hunt.counts, hunt.kinds, hunt.known)))
        found = hunt.next(f"{seed}:{i}")
        if found and found.difference.kind not in kinds:
            pipe.send(("found", found))
    pipe.send(("done", (stop, hunt.counts, hunt.kinds, hunt.known)))


def _shrink(pipe: Connection, found: Found) -> None:
    """Shrink a program; tell every step on the way."""
    hunt = Hunt(*_libraries())
    hunt.shrunk(found, better=lambda best: pipe.send(("smaller", best)))


def _replay(pipe: Connection, lines: list[str]) -> None:
    """Run a program in PyTorch alone."""
    from .compare import Run

    run = Run(_libraries()[0])
    for line in lines:
        run.step(line)


def _messages(target: Any, *args: Any) -> Iterator[tuple[str, Any]]:
    """What a child tells, and at last ``("exit", its exit code)``, which is not 0 if PyTorch ended it."""
    receiver, sender = _spawn.Pipe(duplex=False)
    process = _spawn.Process(target=target, args=(sender, *args), daemon=True)
    process.start()
    sender.close()
    while True:
        try:
            yield receiver.recv()
        except EOFError:
            break
    process.join()
    if process.exitcode == 1:       # what Python itself ends with after an exception
        raise RuntimeError("the fuzzer failed: see above")
    yield "exit", process.exitcode


class Batches(Hunt):
    """A hunt whose batches of programs run in processes of their own; `crashes` are the programs that ended one.

    Each comes with whether PyTorch alone crashes on it; if not, the programs before it had a part in it.
    """

    def __init__(self) -> None:
        super().__init__(None, None)
        self.crashes: list[tuple[list[str], bool]] = []

    def run(self, seed: int, programs: int, kinds: int, seconds: float = 600) -> None:
        end, start = time.time() + seconds, 0
        while start < programs and time.time() < end and len(self.found) < kinds:
            stop = min(start + BATCH, programs)
            start, lines = self._batch(seed, start, stop, end)
            if lines:
                self.crashes.append((lines, self._crashes_alone(lines)))

    def _batch(self, seed: int, start: int, stop: int, end: float) -> tuple[int, list[str]]:
        """Run a batch: where the next begins, and the program that ended the process early."""
        at, counts, lines = start, (), []
        for what, value in _messages(_hunt, seed, start, stop, end, set(self.found)):
            if what in ("program", "done"):
                (at, *counts), lines = value, []
            elif what == "line":
                lines.append(value)
            elif what == "found":
                self.found.setdefault(value.difference.kind, value)
        for mine, more in zip((self.counts, self.kinds, self.known), counts):
            mine.update(more)
        if not lines:
            return stop, []
        self.counts["crashes"] += 1
        return at + 1, lines

    def _crashes_alone(self, lines: list[str]) -> bool:
        return any(what == "exit" and value for what, value in _messages(_replay, lines))

    def shrunk(self, found: Found, better: Callable[[Found], None] = NOTHING) -> Found:
        """The smallest program with the same kind of difference, or the smallest before PyTorch ended the process."""
        best = found
        for what, value in _messages(_shrink, found):
            best = value if what == "smaller" else best
        return best
