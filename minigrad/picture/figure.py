"""A picture as an object: what a notebook shows, and the same content in other forms."""
from __future__ import annotations

import itertools
import re
from typing import Any
from urllib.parse import quote

import graphviz

from .describe import describe
from .graphviz_wasm import LayoutError
from .ink import escape, message_svg, to_svg
from .layout import to_dot
from .model import Model

LEAST = 0.68        # of its own size: how far a picture shrinks in a narrow cell before it scrolls
_numbers = itertools.count(1)


class Figure:
    """A picture of a model.

    Parameters
    ----------
    model : Model
        What to show.
    prefix : str, optional
        Begins all ids of the drawing; by default each figure has its own.
    size : {"notebook", "projector"}
        13 or 18 pixel text.
    caption : bool
        Whether to write the step's caption under the picture.
    """

    def __init__(self, model: Model, prefix: str = "", size: str = "notebook", caption: bool = False) -> None:
        self.model = model
        self._prefix, self._size, self._caption = prefix or f"mg{next(_numbers)}", size, caption

    @property
    def svg(self) -> str:
        """The drawing, for light and dark pages."""
        try:
            return to_svg(self.model, self._prefix, size=self._size, caption=self._caption)
        except LayoutError as error:
            return message_svg(f"No picture: {error}. The graph in words: .describe()", self._prefix)

    @property
    def dot(self) -> graphviz.Digraph:
        """The graph as an object of the `graphviz` package; ``print(figure.dot.source)`` shows the DOT text."""
        return to_dot(self.model)

    def describe(self) -> str:
        """The same in sentences."""
        return describe(self.model)

    def __repr__(self) -> str:
        return self.describe()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return bundle(self.svg, self.describe())


def bundle(svg: str, text: str) -> dict[str, str]:
    """Return a drawing as a notebook stores and shows it, `text` for whoever cannot see it."""
    # An <img> survives in a notebook that is not trusted, where inline SVG does not. What is too wide shrinks, then scrolls.
    width = int(re.search(r' width="(\d+)"', svg)[1])
    image = (f'<div style="overflow-x:auto"><img alt="{escape(text)}" '
             f'style="max-width:100%;min-width:{width * LEAST:.0f}px;height:auto" '
             f'src="data:image/svg+xml,{quote(svg, safe=" =:/;,")}"></div>'.replace("\n", " "))
    return {"text/html": image, "image/svg+xml": svg, "text/plain": text}
