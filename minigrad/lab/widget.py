"""A lab on the page: an anywidget that shows the HTML that Python made and reports what was pressed."""
from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..picture.ink import style

__all__ = ["LabWidget"]

_HERE = Path(__file__).parent


class LabWidget(anywidget.AnyWidget):
    """Shows `html`, which pure functions make of a lab's state; calls ``pressed(message)`` for each press.

    Its bundle holds what `static` returns too, so that a stored notebook shows something where no kernel runs.
    """

    _esm = (_HERE / "widget.js").read_text(encoding="utf-8")
    _css = style() + (_HERE / "widget.css").read_text(encoding="utf-8")
    html = traitlets.Unicode().tag(sync=True)
    # messages dealt with; the page waits for it before it sends more
    answered = traitlets.Int().tag(sync=True)

    def __init__(self, pressed: Callable[[dict[str, Any]], None], static: Callable[[], dict[str, str]],
                 html: str) -> None:
        super().__init__(html=html)
        self._pressed, self._static, self._thread = pressed, static, threading.get_ident()
        try:
            self._loop = asyncio.get_running_loop()             # a kernel's, which runs the cells too
        except RuntimeError:
            self._loop = None
        self.on_msg(lambda _, message, buffers: self._heard(message))

    def _heard(self, message: dict[str, Any]) -> None:
        """Answer when it is our turn: JupyterLab sends what widgets say past a running cell, to a thread of its own.

        But a lab runs programs, and these share with that cell the standard output, the random numbers, who observes operations.
        """
        if self._loop is None or self._thread == threading.get_ident():
            self._answer(message)
        else:
            self._loop.call_soon_threadsafe(self._in_turn, message)

    def _in_turn(self, message: dict[str, Any]) -> None:
        """Answer between two cells, where the kernel does not listen to its stop button by itself."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with contextlib.suppress(KeyboardInterrupt):        # the lab stays as it was
                self._answer(message)
        finally:
            signal.signal(signal.SIGINT, before)

    def _answer(self, message: dict[str, Any]) -> None:
        with self.hold_sync():                              # one message to the page, whatever it changes
            try:
                self._pressed(message)
            finally:
                self.answered += 1

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, **self._static()}, metadata
