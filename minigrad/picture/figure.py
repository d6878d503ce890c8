"""A picture as an object: what a notebook shows, and the same content in other forms."""
from __future__ import annotations

import importlib
import itertools
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import graphviz

from .describe import describe
from .fold import fold
from .graphviz_wasm import LayoutError
from .ink import SIZES, to_svg
from .layout import to_dot
from .model import DETAILS, VERSIONS, Model
from .pen import escape, style

LEAST = 0.68        # of its own size: how far a picture shrinks in a narrow cell before it scrolls
MOST_DRAWN = 30, 8      # operations in one picture; fewer, if Graphviz does not finish in time
_numbers = itertools.count(1)


_default = {"detail": VERSIONS}


def chosen_detail() -> str:
    """What `set_detail` said last."""
    return DETAILS[_default["detail"]]


def set_detail(detail: str) -> None:
    """Say how much the pictures from here on show: a stage of `DETAILS`, each with all that those before it show."""
    _default["detail"] = stage(detail)


def stage(detail: str | None) -> int:
    """The place of a stage in `DETAILS`; None: what `set_detail` said last."""
    if detail is None:
        return _default["detail"]
    if detail not in DETAILS:
        raise ValueError(f"detail is one of {', '.join(DETAILS)}, not {detail!r}")
    return DETAILS.index(detail)


class Drawing:
    """What has ``.svg`` and ``.describe()``: shown as a picture, printed as sentences."""

    def __repr__(self) -> str:
        return self.describe()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return bundle(self.svg, self.describe())


def svg_of(parts: list[str], title: str, width: float, height: float) -> str:
    """A drawing of these parts, for light and dark pages."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" class="mg-picture" width="{width}" height="{height}" font-size="12" '
            f'viewBox="0 0 {width} {height}" role="img"><title>{escape(title)}</title><style>{style()}</style>{"".join(parts)}</svg>')


class Figure(Drawing):
    """A picture of a model.

    Parameters
    ----------
    model : Model
        What to show; where it is too large, operations that belong together become one, and a note says so.
    prefix : str, optional
        Begins all ids of the drawing; by default each figure has its own.
    size : {"notebook", "projector"}
        13 or 18 pixel text; for the projector, what nodes remember is left to the tooltips.
    caption, legend : bool
        Whether to write the step's caption, and what the elements mean, under the picture.
    detail : str, optional
        How much to show: one of `DETAILS`; by default what `set_detail` said.
    """

    def __init__(self, model: Model, prefix: str = "", size: str = "notebook", caption: bool = False, legend: bool = False,
                 detail: str | None = None) -> None:
        if size not in SIZES:
            raise ValueError(f"size is one of {', '.join(SIZES)}, not {size!r}")
        self.model = fold(model, MOST_DRAWN[0]).staged(stage(detail), size == "projector")
        self.prefix, self._how = prefix or f"mg{next(_numbers)}", {"size": size, "caption": caption, "legend": legend}

    @property
    def svg(self) -> str:
        """The drawing, for light and dark pages."""
        return self._draw("auto")

    def _draw(self, theme: str) -> str:
        for most in MOST_DRAWN:
            try:
                return to_svg(fold(self.model, most), self.prefix, theme, **self._how)
            except LayoutError as error:
                wrong = error
        return to_svg(Model(note=f"No picture: {wrong}. The graph in words: .describe()"), self.prefix, theme)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file: its ending says how, ".svg", ".dot" or ".png" (light, twice the size; needs resvg_py).

        Raises
        ------
        ValueError
            If the ending is another one.
        ModuleNotFoundError
            If a ".png" is wanted and the package that draws it is not installed.
        """
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        elif path.suffix == ".dot":
            path.write_text(self.dot.source, encoding="utf-8")
        elif path.suffix == ".png":
            try:
                resvg = importlib.import_module("resvg_py")
            except ModuleNotFoundError:
                raise ModuleNotFoundError("a .png needs the package resvg_py: pip install resvg-py; .svg and .dot need nothing") from None
            path.write_bytes(bytes(resvg.svg_to_bytes(svg_string=self._draw("light"), zoom=2)))
        else:
            raise ValueError(f"the ending says what to write: .svg, .dot or .png, not {path.suffix or 'none'}")

    @property
    def dot(self) -> graphviz.Digraph:
        """The graph as an object of the `graphviz` package; ``print(figure.dot.source)`` shows the DOT text."""
        return to_dot(self.model)

    def describe(self) -> str:
        """The same in sentences."""
        return describe(self.model)


def bundle(svg: str, text: str) -> dict[str, str]:
    """Return a drawing as a notebook stores and shows it, `text` for whoever cannot see it."""
    # An <img> survives in a notebook that is not trusted, where inline SVG does not. What is too wide shrinks, then scrolls.
    width = int(re.search(r' width="(\d+)"', svg)[1])
    image = (f'<div style="overflow-x:auto"><img alt="{escape(text)}" '
             f'style="max-width:100%;min-width:{width * LEAST:.0f}px;height:auto" '
             f'src="data:image/svg+xml,{quote(svg, safe=" =:/;,")}"></div>'.replace("\n", " "))
    return {"text/html": image, "image/svg+xml": svg, "text/plain": text}
