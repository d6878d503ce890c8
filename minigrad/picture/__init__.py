"""Pictures of a computation graph: ``draw(z)`` for what was recorded, ``with record():`` for everything that ran.

A picture is a `Figure`: it shows itself in a notebook, and has ``.svg``, ``.dot``, ``.describe()`` and ``.model``.
"""
from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import graphviz

from .describe import describe
from .graphviz_wasm import LayoutError, warm_up
from .ink import escape, message_svg, to_svg
from .layout import to_dot
from .model import Model
from .program import is_tensor, named_tensors
from .recorder import Recorder

__all__ = ["Figure", "Model", "Recorder", "describe", "draw", "record", "to_dot", "to_svg"]

MOST_READ = 60      # nodes of an existing graph that are looked at
ONLY_RECORDED = ("Drawn from the recorded graph alone: it does not know what was not recorded. To see that too, run the code "
                 "inside \"with record():\".")
_numbers = itertools.count(1)

warm_up()


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
        svg, text = self.svg, self.describe()
        # An <img> survives in a notebook that is not trusted, where inline SVG does not; the box scrolls what is too wide.
        image = (f'<div style="overflow-x:auto"><img alt="{escape(text)}" style="max-width:none" '
                 f'src="data:image/svg+xml,{quote(svg, safe=" =:/;,")}"></div>'.replace("\n", " "))
        return {"text/html": image, "image/svg+xml": svg, "text/plain": text}


def draw(*tensors: Any, names: Mapping[str, Any] | None = None, size: str = "notebook") -> Figure:
    """Draw the recorded graph behind some tensors, with the names that the caller's variables give.

    Parameters
    ----------
    *tensors : Tensor
        Where to start.
    names : mapping, optional
        Names of tensors in place of the caller's variables.
    size : {"notebook", "projector"}
        13 or 18 pixel text.
    """
    if not tensors or not all(map(is_tensor, tensors)):
        raise TypeError(f"draw() takes tensors, not {', '.join(type(t).__name__ for t in tensors) or 'nothing'}")
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    recorder = Recorder()
    recorder.adopt(tensors, names, MOST_READ)
    recorder.finish()
    known = {id(slot.tensor) for call in recorder.calls for slot in (*call.inputs, *call.outputs)} | set(map(id, tensors))
    model = recorder.model({name: t for name, t in named_tensors(names) if id(t) in known})
    if any(len(op.inputs) < len(call.node.next_functions) for op, call in zip(model.ops, recorder.calls, strict=False)) \
            or not model.ops:
        model.note = f"{model.note} {ONLY_RECORDED}".strip()
    return Figure(model, size=size)


@contextmanager
def record(*tensors: Any, show: bool = True) -> Iterator[Recorder]:
    """Record what runs inside, then show it: also what was not recorded in the graph, cuts, blocks, and every backward step.

    Parameters
    ----------
    *tensors : Tensor
        Begin with the graph behind these, which exists already.
    show : bool
        Whether to display the picture at the end, in a notebook; an error inside is still an error.
    """
    frame = sys._getframe(2)                # past contextlib's own frame
    before = {name: id(value) for name, value in frame.f_locals.items()}
    recorder = Recorder(frame.f_code.co_filename)
    recorder.adopt(tensors, frame.f_locals, MOST_READ)
    try:
        with recorder:
            yield recorder
    finally:
        recorder.names = {name: t for name, t in named_tensors(frame.f_locals)
                          if recorder.knows(t) or before.get(name) != id(t)}
        if show and "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
            sys.modules["IPython"].display.display(Figure(recorder.model()))
