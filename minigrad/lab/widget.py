"""The explorer on the page: an anywidget that shows what Python says and reports what was pressed."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..picture.ink import style

__all__ = ["ExplorerWidget"]

_HERE = Path(__file__).parent


class ExplorerWidget(anywidget.AnyWidget):
    """Shows `view` (all of the explorer's state as plain data); calls ``pressed(message)`` for each press.

    Its bundle holds the static figure too, so that a stored notebook shows a picture where no kernel runs.
    """

    _esm = (_HERE / "widget.js").read_text(encoding="utf-8")
    _css = style() + (_HERE / "widget.css").read_text(encoding="utf-8")
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, pressed: Callable[[dict[str, Any]], None], figure: Callable[[], Any], **state: Any) -> None:
        super().__init__(**state)
        self._figure = figure
        self.on_msg(lambda _, message, buffers: pressed(message))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, **self._figure()._repr_mimebundle_()}, metadata
