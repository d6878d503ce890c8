"""A lab on the page: an anywidget that shows the HTML that Python made and reports what was pressed."""
from __future__ import annotations

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
        self._pressed, self._static = pressed, static
        self.on_msg(lambda _, message, buffers: self._heard(message))

    def _heard(self, message: dict[str, Any]) -> None:
        with self.hold_sync():                              # one message to the page, whatever it changes
            try:
                self._pressed(message)
            finally:
                self.answered += 1

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, **self._static()}, metadata
