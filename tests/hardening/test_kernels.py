"""Real kernels on their worst day: interrupted while they compute or draw, restarted in the middle, two at once."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120
BEGIN = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import minigrad as mg
from minigrad.picture import draw
%load_ext minigrad.lab
x = mg.ones(3, requires_grad=True)
"""


class Kernel:
    """A kernel and its client: `run` gives what a cell printed, or raises with the error's name."""

    def __init__(self, manager) -> None:
        self.manager = manager
        self.connect()

    def connect(self) -> None:
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)
        self.run(BEGIN)

    def start(self, source: str) -> str:
        return self.client.execute(source)

    def finish(self, asked: str) -> str:
        printed, failed = "", ""
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream" and content["name"] == "stdout":
                printed += content["text"]
            elif kind == "error":
                failed = content["ename"]
            elif kind == "status" and content["execution_state"] == "idle":
                if failed:
                    raise RuntimeError(failed)
                return printed.strip()

    def run(self, source: str) -> str:
        return self.finish(self.start(source))

    def interrupted(self, source: str, after: float) -> str:
        """Press the stop button; the name of the error that the cell ends with."""
        asked = self.start(source)
        while True:         # a stop that comes before the cell runs stops nothing
            message = self.client.get_iopub_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") == asked and message["msg_type"] == "execute_input":
                break
        time.sleep(after)
        self.manager.interrupt_kernel()
        with pytest.raises(RuntimeError) as ended:
            self.finish(asked)
        return str(ended.value)


@contextlib.contextmanager
def a_kernel() -> Iterator[Kernel]:
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.start_kernel()
    kernel = None
    try:
        kernel = Kernel(manager)
        yield kernel
    finally:
        if kernel is not None:
            kernel.client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel():
    with a_kernel() as kernel:
        yield kernel


WORKS = "x.grad = None; (x * 2).sum().backward(); print(x.grad.tolist(), mg.is_grad_enabled(), len(draw(x * 2).svg) > 500)"
FINE = "[2.0, 2.0, 2.0] True True"


@pytest.mark.parametrize("after", [0.3, 0.55])
def test_interrupted_while_it_trains(kernel, after):
    loop = "while True:\n    with mg.no_grad():\n        x * 2\n    (x * 2).sum().backward()"
    assert kernel.interrupted(loop, after) == "KeyboardInterrupt"
    assert kernel.run(WORKS) == FINE


def test_interrupted_while_it_draws(kernel):
    assert kernel.interrupted("while True:\n    draw((x * 2).exp().sum()).svg", 1.5) == "KeyboardInterrupt"
    assert kernel.run(WORKS) == FINE


def test_a_restart_in_the_middle_forgets_all_and_says_so(kernel):
    kernel.run("y = x * 2")
    kernel.client.stop_channels()
    kernel.manager.restart_kernel(now=True)
    kernel.connect()
    with pytest.raises(RuntimeError, match="NameError"):
        kernel.run("y.sum().backward()")
    assert kernel.run(WORKS) == FINE


def test_two_at_once_do_not_meet(kernel):
    with a_kernel() as other:
        asked = [(k, k.start(WORKS)) for k in (kernel, other)]
        assert [k.finish(a) for k, a in asked] == [FINE, FINE]
        kernel.run("mg.set_grad_enabled(False)")
        assert other.run("print(mg.is_grad_enabled())") == "True"
        kernel.run("mg.set_grad_enabled(True)")
