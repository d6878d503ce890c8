"""One peer in a process of its own: whatever else it keeps in memory burdens nobody else's garbage collector."""
from __future__ import annotations

import gc
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from . import work

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")      # Linux's word on resident memory


def memory(field: str) -> int:
    """Bytes of resident memory: "VmRSS" now, "VmHWM" at most since the last reset."""
    line = next(line for line in STATUS.read_text(encoding="utf-8").splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


class Worker:
    """What a peer can be asked to do; each answer is plain data."""

    def __init__(self, peer: str) -> None:
        self.work = work.of(peer)
        self.ready: dict[str, tuple[Any, int]] = {}

    def prepare(self, key: str, name: str, args: dict, seconds: float) -> list:
        """Do the work once, for its results; then warm up, and find how many times make a sample."""
        run, results = getattr(self.work, name)(**args)
        run()
        first = [array.copy() for array in results()]
        run()
        start = time.process_time()
        run()
        self.ready[key] = run, max(1, round(seconds / max(time.process_time() - start, 1e-6)))
        return first

    def sample(self, key: str) -> float:
        """CPU seconds of the work, from many times in a row."""
        run, times = self.ready[key]
        gc.collect()
        start = time.process_time()
        for _ in range(times):
            run()
        return (time.process_time() - start) / times

    def once(self, name: str, args: dict) -> tuple[list, float, int | None]:
        """The work's results, its CPU seconds, and by how much the resident memory grew at most."""
        getattr(self.work, name)(**{**args, "n": 100})[0]()       # what is compiled or imported at first use
        run, results = getattr(self.work, name)(**args)
        gc.collect()
        linux = CLEAR.exists()
        if linux:
            CLEAR.write_text("5", encoding="utf-8")
        before = memory("VmRSS") if linux else 0
        start = time.process_time()
        run()
        seconds = time.process_time() - start
        return results(), seconds, memory("VmHWM") - before if linux else None

    def layers(self, n: int, size: int) -> tuple[list, float, float]:
        """Results, and growth of resident memory in arrays: at the peak, and after backward while the loss is alive."""
        seen = {}

        def probe(label: str) -> None:
            gc.collect()
            if label == "start":
                CLEAR.write_text("5", encoding="utf-8")
            seen[label] = memory("VmRSS")

        results = self.work.layers(n, size, probe)
        item = 4 * size * size
        return results, (memory("VmHWM") - seen["start"]) / item, (seen["after"] - seen["start"]) / item


def main(connection: Connection, peer: str, core: int | None) -> None:
    """Answer requests ``(method, arguments)`` until None comes; an error is an answer too."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    worker = None
    while (request := connection.recv()) is not None:
        try:
            worker = worker or Worker(peer)
            method, arguments = request
            connection.send(getattr(worker, method)(**arguments))
        except Exception as error:
            connection.send(RuntimeError(f"{type(error).__name__}: {error}"))
