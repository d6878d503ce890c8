"""Pictures of a computation graph: ``draw(z)`` for what was recorded, ``with record():`` for everything that ran.

A picture is a `Figure`: it shows itself in a notebook, and has ``.svg``, ``.dot``, ``.describe()`` and ``.model``.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .curve import curve
from .describe import describe
from .figure import Figure, set_detail
from .graphviz_wasm import warm_up
from .ink import to_svg
from .layout import to_dot
from .model import DETAILS, Model
from .program import is_tensor, named_tensors
from .recorder import Recorder
from .sheet import table

__all__ = [
    "DETAILS", "Figure", "Model", "Recorder", "curve", "describe", "draw", "record", "set_detail", "table", "to_dot", "to_svg",
]

MOST_READ = 60      # nodes of an existing graph that are looked at
ONLY_RECORDED = ("Drawn from the recorded graph alone: it does not know what was not recorded. To see that too, run the code "
                 "inside \"with record():\".")

warm_up()


def draw(*tensors: Any, names: Mapping[str, Any] | None = None, **look: Any) -> Figure:
    """Draw the recorded graph behind some tensors, with the names that the caller's variables give.

    Parameters
    ----------
    *tensors : Tensor
        Where to start.
    names : mapping, optional
        Names of tensors in place of the caller's variables.
    **look
        How it looks: `size`, `detail`, `legend` of `Figure`.
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
    if recorder.unknown or any(t.grad_fn is None and not t.requires_grad for t in tensors):
        model.note = f"{model.note} {ONLY_RECORDED}".strip()
    return Figure(model, **look)


@contextmanager
def record(*tensors: Any, show: bool = True, **look: Any) -> Iterator[Recorder]:
    """Record what runs inside, then show it: also what was not recorded in the graph, cuts, blocks, and every backward step.

    Parameters
    ----------
    *tensors : Tensor
        Begin with the graph behind these, which exists already.
    show : bool
        Whether to display the picture at the end, in a notebook; an error inside is still an error.
    **look
        How it looks: `size`, `detail`, `legend` of `Figure`.
    """
    frame = sys._getframe(2)                # past contextlib's own frame
    before = {name: id(t) for name, t in named_tensors(frame.f_locals)}
    recorder = Recorder(frame.f_code.co_filename)
    recorder.adopt(tensors, frame.f_locals, MOST_READ)
    try:
        with recorder:
            yield recorder
    finally:
        recorder.names = {name: t for name, t in named_tensors(frame.f_locals)
                          if recorder.knows(t) or before.get(name) != id(t)}
        if show and "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
            sys.modules["IPython"].display.display(recorder.figure(**look))
