"""``python -m tests.bench``: the table of our times and memory beside hand-written NumPy's and PyTorch's.

The peers take turns within each round, and a ratio is the median over the rounds of the two times in one round: what else
the machine does then hits both. The clock is CPU time; each peer has one process, one core, one thread. The command ends
with 1 if a target is missed.
"""
from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from typing import Any

from . import work, worker

PEERS = ("numpy", "torch", "minigrad")
LIMIT = 300                             # seconds for one answer
SMALL = {"sizes": [64, 128, 64, 10], "batch": 64, "steps": 28, "lr": 0.1}        # scikit-learn's digits, an epoch
LARGE = {"sizes": [784, 512, 256, 10], "batch": 256, "steps": 4, "lr": 0.01}


@dataclass
class Timed:
    """A row whose number is a time: `target` says how many times PyTorch's it may be."""

    title: str
    method: str
    args: dict
    unit: str
    scale: float            # from seconds to the unit
    target: float
    fresh: bool = False     # each round in new processes, which also tell the memory

    def __str__(self) -> str:
        return self.title


TIMED = [
    Timed("1,000 operations on shape (1,), forward", "chain", {"n": 1000, "mode": "forward"}, "µs/op", 1e3, 1.0),
    Timed("the same under no_grad", "chain", {"n": 1000, "mode": "no_grad"}, "µs/op", 1e3, 0.8),
    Timed("the same, forward + backward", "chain", {"n": 1000}, "µs/op", 1e3, 0.9),
    Timed("wide graph, 1,000 products", "wide", {"n": 1000}, "µs/op", 500, 0.9),
    Timed("MLP 64-128-64-10, batch 64, epoch of 28", "mlp", SMALL, "ms", 1e3, 0.8),
    Timed("MLP 784-512-256-10, batch 256, step", "mlp", LARGE, "ms", 250, 1.15),
    Timed("broadcasting, n = 256", "broadcasting", {"n": 256}, "µs", 1e6, 1.0),
    Timed("chain of 1,000,000", "chain", {"n": 1_000_000}, "µs/node", 1, 0.9, fresh=True),
]
NODE_BYTES, PEAK, AFTER, IMPORT = 700, 205, 3, 25       # the targets that are no ratios


class Peer:
    """A process that does the work of one peer."""

    def __init__(self, name: str, core: int | None) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=worker.main, args=(theirs, name, core), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, method: str, **arguments: Any) -> Any:
        """The worker's answer.

        Raises
        ------
        RuntimeError
            What went wrong there.
        """
        self.connection.send((method, arguments))
        if not self.connection.poll(LIMIT):
            raise RuntimeError(f"no answer within {LIMIT} s")
        answer = self.connection.recv()
        if isinstance(answer, RuntimeError):
            raise answer
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


@contextmanager
def peers(names: list[str], core: int | None, **environment: str) -> Iterator[dict[str, Peer]]:
    """A new process for each peer."""
    before = dict(os.environ)
    os.environ.update(environment)
    started = {name: Peer(name, core) for name in names}
    try:
        yield started
    finally:
        os.environ.clear()
        os.environ.update(before)
        for peer in started.values():
            peer.close()


def agree(results: dict[str, list]) -> None:
    """Stop if a peer did other work than NumPy by hand."""
    for name in results:
        if said := work.disagreement(results[name], results["numpy"]):
            raise SystemExit(f"{name} did other work than numpy: {said}")


def median_ratio(samples: dict[str, list[float]], base: str) -> float | None:
    """Median over the rounds of minigrad's time by another's in the same round."""
    if base not in samples:
        return None
    return statistics.median(a / b for a, b in zip(samples["minigrad"], samples[base]))


def once_each(row: Timed, names: list[str], core: int | None) -> tuple[dict, dict]:
    """CPU seconds and memory of the work, in new processes."""
    answers = {}
    for name in names:
        with peers([name], core) as started:
            answers[name] = started[name].ask("once", name=row.method, args=row.args)
    agree({name: answer[0] for name, answer in answers.items()})
    return {name: answer[1] for name, answer in answers.items()}, {name: answer[2] for name, answer in answers.items()}


def time_row(row: Timed, names: list[str], options: argparse.Namespace) -> tuple[dict[str, list[float]], dict]:
    """CPU seconds of each peer in each round; and memory, where it is told."""
    samples: dict[str, list[float]] = {name: [] for name in names}
    kept: dict[str, int | None] = {}
    if row.fresh:
        for _ in range(min(options.rounds, 3)):
            seconds, kept = once_each(row, names, options.core)
            for name in names:
                samples[name].append(seconds[name])
        return samples, kept
    with peers(names, options.core) as started:
        agree({name: peer.ask("prepare", key=str(row), name=row.method, args=row.args, seconds=options.seconds)
               for name, peer in started.items()})
        for _ in range(options.rounds):
            for name, peer in started.items():
                samples[name].append(peer.ask("sample", key=str(row)))
    return samples, kept


def import_time(module: str, folder: str) -> float:
    """CPU milliseconds of an import where NumPy is there already; compiled files come from `folder`."""
    code = f"import time, numpy; start = time.process_time(); import {module}; print(time.process_time() - start)"
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    answer = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True, encoding="utf-8")
    return float(answer) * 1e3


class Table:
    """Markdown, a line as soon as it is known."""

    def __init__(self) -> None:
        self.missed = 0
        self.line("work", "NumPy by hand", "PyTorch", "minigrad", "× NumPy", "× PyTorch", "target", "met")
        self.line("---", *["---:"] * 6, "---")

    def line(self, *cells: str) -> None:
        print("| " + " | ".join(cells) + " |", flush=True)

    def row(self, title: str, unit: str, values: dict[str, float], target: str, met: bool | None,
            ratios: tuple[float | None, float | None] = (None, None)) -> None:
        self.missed += met is False
        numbers = [f"{number(values[name])} {unit}" if name in values else "" for name in PEERS]
        self.line(title, *numbers, *("" if r is None else f"{r:.2f}" for r in ratios), target,
                  {None: "", True: "yes", False: "**no**"}[met])


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def measure(names: list[str], options: argparse.Namespace) -> int:
    """Print the table; the answer is how many targets were missed."""
    table = Table()
    for row in TIMED:
        if options.only not in row.title:
            continue
        samples, kept = time_row(row, names, options)
        by_numpy, by_torch = median_ratio(samples, "numpy"), median_ratio(samples, "torch")
        best = {name: min(seconds) * row.scale for name, seconds in samples.items()}
        met = None if by_torch is None else by_torch <= row.target
        table.row(row.title, row.unit, best, f"≤ {row.target:g} × PyTorch", met, (by_numpy, by_torch))
        if kept.get("minigrad"):
            per_node = {name: size / row.args["n"] for name, size in kept.items()}
            table.row("its memory", "B/node", per_node, f"≤ {NODE_BYTES} B", per_node["minigrad"] <= NODE_BYTES)
    title = "200 layers of 1000 × 1000, tanh: peak"
    if options.only in title and worker.CLEAR.exists():
        # With fixed thresholds malloc hands freed arrays back at once, so that resident memory tells.
        with peers(names, options.core, MALLOC_MMAP_THRESHOLD_="262144", MALLOC_TRIM_THRESHOLD_="262144") as started:
            seen = {name: peer.ask("layers", n=200, size=1000) for name, peer in started.items()}
        agree({name: answer[0] for name, answer in seen.items()})
        for place, (text, limit) in enumerate(((title, PEAK), ("after backward, loss alive", AFTER)), 1):
            values = {name: answer[place] for name, answer in seen.items()}
            table.row(text, "arrays", values, f"≤ {limit} arrays", round(values["minigrad"]) <= limit)
    title = "import beyond NumPy"
    if options.only in title:
        with tempfile.TemporaryDirectory() as folder:
            modules = [name for name in names if name != "numpy"]
            best = {}
            for _ in range(1 + options.rounds):        # the first one compiles
                for name in modules:
                    best[name] = min(import_time(name, folder), best.get(name, 1e9))
        table.row(title, "ms", best, f"≤ {IMPORT} ms", best["minigrad"] <= IMPORT)
    return table.missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Our time and memory beside our peers'.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.05, help="the length of a sample")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose title contains this")
    options = parser.parse_args()
    options.core = max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ[name] = "1"
    names = [name for name in PEERS if importlib.util.find_spec(name)]
    versions = ", ".join(f"{name} {version(name)}" for name in names if name != "minigrad")
    print(f"Python {platform.python_version()}, {versions}, {platform.machine()}; one thread, {options.rounds} rounds. "
          "Times: the best round; ratios: the median of all.\n")
    return 1 if measure(names, options) else 0


if __name__ == "__main__":
    sys.exit(main())
