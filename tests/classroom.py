"""What a class costs: start real kernels, run a lesson in each, and measure the memory they take together.

    python tests/classroom.py [30] [08_updates.ipynb]       Linux, in the environment of the lessons

Memory is counted by share (PSS): a page that several kernels use is divided among them, so the sum is what the machine needs.
"""
from __future__ import annotations

import sys
import time
from pathlib import Path
from queue import Empty

import nbformat
from jupyter_client import KernelManager

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
CELL_SECONDS = 120


def share(pid: int) -> float:
    """The memory of a process in MiB, by share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def pid_of(manager: KernelManager) -> int:
    return manager.provisioner.process.pid


def run_lesson(manager: KernelManager, notebook: nbformat.NotebookNode) -> int:
    """Run all cells; how many failed (some are meant to)."""
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=CELL_SECONDS)
    failed = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            asked = client.execute(cell.source)
            while True:
                reply = client.get_shell_msg(timeout=CELL_SECONDS)
                if reply["parent_header"].get("msg_id") == asked:
                    break
            failed += reply["content"]["status"] == "error"
            try:
                while True:                 # what it printed is of no interest, but must not pile up
                    client.get_iopub_msg(timeout=0)
            except Empty:
                pass
    client.stop_channels()
    return failed


def main(count: int, name: str) -> None:
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    managers = []
    begin = time.perf_counter()
    try:
        for i in range(count):
            manager = KernelManager(kernel_name="python3")
            manager.start_kernel(cwd=str(NOTEBOOKS))
            managers.append(manager)
            failed = run_lesson(manager, notebook)
            if i == 0:
                print(f"{name}: {failed} cells failed (as they are meant to, or not: compare with the lesson), "
                      f"{time.perf_counter() - begin:.0f} s, one kernel alone {share(pid_of(manager)):.0f} MiB", flush=True)
        sizes = sorted(share(pid_of(manager)) for manager in managers)
        each = sum(sizes) / count
        print(f"{count} kernels after {time.perf_counter() - begin:.0f} s: {sum(sizes):.0f} MiB together, {each:.0f} MiB a student "
              f"({sizes[0]:.0f} to {sizes[-1]:.0f}); 24 GiB hold {int((24 * 1024 - 2048) / each)} students, 2 GiB kept for the server")
    finally:
        for manager in managers:
            manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 30, sys.argv[2] if sys.argv[2:] else "08_updates.ipynb")
