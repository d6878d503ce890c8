"""Pictures of a computation graph: ``draw(z)`` for what was recorded, ``with record():`` for everything that ran.

A picture is a `Figure`: it shows itself in a notebook, and has ``.svg``, ``.dot``, ``.describe()`` and ``.model``.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .audit import audit, remember_last
from .curve import curve
from .describe import describe
from .figure import Figure, set_detail
from .graphviz_wasm import warm_up
from .ink import to_svg
from .layout import to_dot
from .model import DETAILS, Model
from .program import MOST_WALKED, is_tensor, named_modules, named_tensors
from .recorder import Recorder
from .sheet import table

__all__ = [
    "DETAILS", "Figure", "Model", "Recorder", "audit", "curve", "describe", "draw", "draw_names", "record", "set_detail", "table",
    "to_dot", "to_svg",
]

MOST_READ = 1000      # nodes of an existing graph that are looked at
ONLY_RECORDED = ("Drawn from the recorded graph alone: it does not know what was not recorded. To see that too, run the code "
                 "inside \"with record():\".")

warm_up()


def draw(*tensors: Any, model: Any = None, names: Mapping[str, Any] | None = None, **look: Any) -> Figure:
    """Draw the recorded graph behind some tensors, with the names that the caller's variables give.

    Parameters
    ----------
    *tensors : Tensor
        Where to start.
    model : Module, optional
        Names its parameters by their path in it, "0.weight", whatever the caller calls it.
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
    if model is not None:
        names = {**dict(model.named_parameters()), **names}
    recorder = _walked(tensors, names)
    recorder.module_names = {id(module): name for name, module in named_modules(names)}
    known = {id(slot.tensor) for call in recorder.calls for slot in (*call.inputs, *call.outputs)} | set(map(id, tensors))
    drawn = recorder.model({name: t for name, t in named_tensors(names) if id(t) in known})
    if recorder.unknown or any(t.grad_fn is None and not t.requires_grad for t in tensors):
        drawn.note = f"{drawn.note} {ONLY_RECORDED}".strip()
    if recorder.earlier + len(recorder.calls) >= MOST_WALKED:
        drawn.note = f"The counting ended at {MOST_WALKED:,} nodes. {drawn.note}".strip()
    return Figure(drawn, **look)


def draw_names(namespace: Mapping[str, Any], **look: Any) -> Figure:
    """Draw every tensor that a namespace has a name for, with the graph behind it and the memory that they share.

    A tensor that several names lead to has the first. ``draw_names(globals())`` in a notebook shows where it stands.
    """
    tensors = {id(t): t for _, t in named_tensors(namespace)}
    return Figure(_walked(list(tensors.values()), namespace).model(namespace), **look)


def _walked(tensors: Iterable[Any], names: Mapping[str, Any]) -> Recorder:
    recorder = Recorder()
    recorder.adopt(tensors, names, MOST_READ)
    recorder.finish()
    return recorder


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
        remember_last(recorder)
        recorder.module_names = {id(module): name for name, module in named_modules(frame.f_locals)}
        recorder.names = {name: t for name, t in named_tensors(frame.f_locals)
                          if recorder.knows(t) or before.get(name) != id(t)}
        if show and "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
            sys.modules["IPython"].display.display(recorder.figure(**look))
