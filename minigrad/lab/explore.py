"""``%%explore``: run a cell as usual, then show its program with a switch per flag, its backward pass and picture."""
from __future__ import annotations

import ast
import contextlib
import itertools
import types
from dataclasses import replace
from typing import Any

from IPython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

import minigrad as mg

from ..picture import Figure, Recorder
from ..picture.figure import chosen_detail
from ..picture.model import Model
from ..why import lines_of
from .changes import changed_cards, changes, state
from .explore_view import TABS, explorer_html
from .html import Html, join, picture
from .memory import memory_html, stores
from .run import Outcome, Snapshot, compiled, failure, made, run
from .source import CREATORS, LIBRARIES, Program, Switch, find
from .stepper import moment, stepper_html
from .timeline import Moments, timeline_html
from .traceback import shorten
from .widget import LabWidget

__all__ = ["Explorer", "explore", "last"]

CALLS = ("detach", "retain_grad", "backward")
_numbers = itertools.count(1)
_explorers: dict[str, Explorer] = {}                         # by the notebook's id of the cell, in order of running


class Explorer:
    """A program that ran, and what it does with its flags set another way.

    Every control is a method here, the widget only calls them: ``e.toggle("x.requires_grad")``, ``e.step = 2``,
    ``e.reset()``. A toggle edits the program's text, runs it in a namespace of its own from what the program read when
    the cell ran, and draws it again. The notebook's names stay as the cell left them.

    Attributes
    ----------
    source : str
        The program that ran last, ready to copy.
    error : str
        What that run raised, or "".
    printed : str
        What it printed; the cell's own run prints under the cell.
    changed : list of str
        What the last toggle changed, and why, a sentence per tensor.
    tab : str
        Which of `TABS` is open.
    """

    def __init__(self, program: Program, snapshot: Snapshot, outcome: Outcome, recorder: Recorder) -> None:
        self._program, self._snapshot = program, snapshot
        self._prefix = f"explore{next(_numbers)}"           # of the picture's ids
        self._file, self._detail = f"<{self._prefix}>", chosen_detail()     # a later lesson's set_detail is not this lab's
        names = [node for node in ast.walk(ast.parse(program.source)) if isinstance(node, ast.Name)]
        names.sort(key=lambda node: (node.lineno, node.col_offset))
        self._names = list(dict.fromkeys(node.id for node in names))
        self._flipped: frozenset[str] = frozenset()         # the switches that are set the other way
        self._step: int | None = None                       # None: after the last step
        self._offered = [s for s in program.switches if _does_something(s, outcome, recorder)]
        self._text, self._outcome, self._drawn = program.text(), outcome, (recorder, self._named(outcome))
        self._state, self._failed = state(*reversed(self._drawn)), outcome.failure is not None
        self._stale, self.tab, self.changed = False, TABS[0], []
        self._told: tuple[Any, ...] = (None, None, None)    # the model that was told last, and of what
        self._marked: list[str] = []                        # ids of what the last toggle changed in the picture
        self._undo: list[frozenset[str]] = []
        self._width = 1 + max((len(line) for line in self._text.lines), default=0)      # True becomes False
        self.widget = LabWidget(self._pressed, self._static, explorer_html(self.view))

    @property
    def source(self) -> str:
        """The program as its switches stand."""
        return self._text.source

    @property
    def switches(self) -> dict[str, bool]:
        """The switches by name, in the order of the program, and how they stand."""
        return {switch.key: self._is_on(switch) for switch in self._offered}

    @property
    def step(self) -> int | None:
        """Which step of the backward pass the picture shows: 0 is before it, None after it. A pass that raised has no after."""
        past = self._step is None or self._step > self.steps
        return (self.steps if self._raised else None) if past else self._step

    @step.setter
    def step(self, step: int | None) -> None:
        if step is not None and not 0 <= step <= self.steps:
            raise ValueError(f"the backward pass has steps 0 to {self.steps}, not {step}")
        self._step = step
        self._show()

    def open(self, tab: str) -> None:
        """Open one of the tabs: "graph", "backward", "memory" or "time line"."""
        if tab not in TABS:
            raise ValueError(f"the tabs are {', '.join(TABS)}, not {tab!r}")
        self.tab = tab
        if tab == "backward" and self._step is None and self.steps:
            self._step = 0                                  # begin where there is something to step through
        self._show()

    @property
    def steps(self) -> int:
        """How many nodes the program's backward pass runs; 0 if it has none."""
        return self._drawn[0].steps

    @property
    def _raised(self) -> bool:
        """Whether the backward pass ended in one of its steps."""
        trace = self._drawn[0].trace
        return bool(trace) and not trace[-1].finished

    @property
    def _place(self) -> str:
        """Where the slider is, in words."""
        failed = self._outcome.failure
        if failed and not self._stopped_at_backward():
            return f"stopped in line {failed.line}" if failed.line else "stopped"
        if not self.steps:
            return "backward() raised" if failed else "no backward pass"
        if self._raised and self.step == self.steps:
            return f"raised in step {self.step}"
        return "after backward" if self.step is None else f"step {self.step} of {self.steps}" if self.step else "before backward"

    @property
    def error(self) -> str:
        """The error that stopped the program, with its notes; empty if none did."""
        failed = self._outcome.failure
        return "\n".join(filter(None, (failed.text, failed.notes))) if failed else ""

    @property
    def printed(self) -> str:
        """What the program printed."""
        return self._outcome.printed

    @property
    def model(self) -> Model:
        """The picture as plain data."""
        recorder, names = self._drawn
        if self._told[:2] != (recorder, self.step):          # one view asks for it several times
            self._told = recorder, self.step, replace(recorder.model(names, step=self.step), live=True)
        return self._told[2]

    @property
    def figure(self) -> Figure:
        """The picture: of this program, or of the last one that ran, if this one failed."""
        return Figure(self.model, prefix=self._prefix, caption=False, detail=self._detail)

    @property
    def caption(self) -> str:
        """What happens at this step, in a sentence."""
        return self.model.caption

    def toggle(self, key: str, line: int | None = None) -> None:
        """Set one switch the other way and run the program again.

        The ``(line …)`` of its name may be left off, or given as `line`.

        Raises
        ------
        KeyError
            With the names of the switches there are.
        """
        self._undo.append(self._flipped)
        self._run(self._flipped ^ {find(self._offered, key, line).key})

    def undo(self) -> None:
        """Take the last toggle or reset back."""
        if self._undo:
            self._run(self._undo.pop(), tell=False)

    def reset(self) -> None:
        """Set every switch as the cell has it."""
        self._undo.append(self._flipped)
        self._run(frozenset(), tell=False)

    def _is_on(self, switch: Switch) -> bool:
        return switch.on ^ (switch.key in self._flipped)

    def _named(self, outcome: Outcome) -> dict[str, Any]:
        return {name: outcome.namespace[name] for name in self._names if name in outcome.namespace}

    def _run(self, flipped: frozenset[str], tell: bool = True) -> None:
        before, model = self._state, self.model
        self._flipped, self._text, recorder = flipped, self._program.text(flipped), Recorder(self._file)
        self._outcome = run(self.source, self._snapshot, self._file, recorder)
        failed = self._outcome.failure
        self._stale = failed is not None and failed.refused
        self.changed, self._marked = [], []
        if not self._stale:
            self._drawn = recorder, self._named(self._outcome)
            self._state = state(self._drawn[1], recorder)
            end = failed.line if failed else None
            lines = [line for line in lines_of(self.source) if end is None or line.node.lineno <= end]
            raised = self.error if self._stopped_at_backward() else ""
            self.changed = tell * changes(before, self._state, self._drawn[1], lines, raised, end)
            self._step = None if self._raised else self._step           # show where
            self._marked = tell * changed_cards(model, self.model)
        self._show()

    def _stopped_at_backward(self) -> bool:
        failed = self._outcome.failure
        return failed is not None and failed.line is not None and ".backward(" in self._text.lines[failed.line - 1]

    def _pressed(self, message: dict[str, Any]) -> None:
        """What the widget's controls do."""
        if "toggle" in message:
            self.toggle(message["toggle"])
        elif "tab" in message:
            self.open(message["tab"])
        elif "step" in message:
            step = message.get("value", message["step"])
            self.step = step if step <= self.steps else None
        elif "undo" in message:
            self.undo()
        else:
            self.reset()

    def _show(self) -> None:
        self.widget.html = explorer_html(self.view)

    @property
    def view(self) -> dict[str, Any]:
        """Everything the widget shows, as plain data; the slider's last place is after it all, or where it raised."""
        failed = self._outcome.failure
        self._width = max(self._width, *map(len, self._text.lines))
        # The cell's own error stands under the cell already.
        told = failed if self._flipped else None
        return {
            "lines": self._lines(), "width": self._width, "source": self.source, "tab": self.tab, "body": self._body(),
            "caption": self.caption, "place": self._place, "step": self.steps + 1 if self.step is None else self.step,
            "last": 0 if self._stale or not self.steps else self.steps + (not self._raised),
            "error": told.text if told else "", "notes": told.notes if told else "", "printed": self.printed,
            "stale": self._stale, "ends": failed is None, "outdated": self._failed and bool(self._flipped),
            "changed": self.changed, "marked": bool(self._marked), "flipped": bool(self._flipped), "undoable": bool(self._undo),
        }

    def _body(self) -> Html:
        """What the open tab shows."""
        recorder, names = self._drawn
        if self.tab == "memory":
            return memory_html(stores(recorder, names))
        if self.tab == "time line":
            moments = Moments(self._names)
            run(self.source, self._snapshot, self._file, contextlib.nullcontext(), moments.watch)
            return timeline_html(moments.rows, list(self._text.lines), moments.left_out)
        graph = picture(self.figure, self._marked)
        if self.tab == "graph":
            return graph
        return join([stepper_html(moment(recorder, names, self.step), self.step, self.steps), graph])

    def _lines(self) -> list[dict[str, Any]]:
        original = {now: line for line, now in self._text.line_of.items()}
        failed, lines, origin, added = self._outcome.failure, [], 0, 0
        for number, text in enumerate(self._text.lines, 1):
            origin, added = (original[number], 0) if number in original else (origin, added + 1)
            here = [s for s in self._offered if self._row(s) == number]
            lines.append({
                "origin": f"{origin}+{added}", "text": text.rstrip("\r\n"), "changed": number in self._text.changed,
                "failed": failed is not None and failed.line == number,
                "switches": [self._switch(switch, here) for switch in here]})
        return lines

    def _row(self, switch: Switch) -> int:
        """The line beside which a switch stands; one that adds a ``with`` line stays where it was, beside that line."""
        return self._text.line_of[switch.line] - (switch.kind == "no_grad" and not switch.on and self._is_on(switch))

    def _switch(self, switch: Switch, beside: list[Switch]) -> dict[str, Any]:
        # The line says whose flag it is, unless there are several, or the call is still to be written.
        named = sum(other.kind == switch.kind for other in beside) > 1 or switch.kind == "backward" and not switch.on
        label = f"{switch.name}.{switch.kind}" if named and switch.name else switch.kind
        return {"key": switch.key, "kind": switch.kind, "on": self._is_on(switch),
                "flipped": switch.key in self._flipped,
                "label": label + "()" * (switch.kind in CALLS),
                "spoken": f"{switch.key.partition(' (')[0]}, line {switch.line}"}

    def _static(self) -> dict[str, str]:
        """What a stored notebook holds, where nothing can be switched."""
        bundle = self.figure._repr_mimebundle_()
        return bundle | {"text/html": f"{bundle['text/html']}<p><em>Run the cell: then each flag of the program has a switch.</em></p>"}

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        return self.widget._repr_mimebundle_(**kwargs)


def _does_something(switch: Switch, outcome: Outcome, recorder: Recorder) -> bool:
    """Whether to offer a switch: what adds to a line needs a line that computed a tensor in the cell's own run."""
    if switch.on or switch.kind == "requires_grad":
        return True
    if switch.name in outcome.namespace and not isinstance(outcome.namespace[switch.name], mg.Tensor):
        return False
    if switch.kind == "backward":
        return switch.name in outcome.namespace
    reached = outcome.failure is None or outcome.failure.line is None or switch.line < outcome.failure.line
    return not reached or not recorder.lines.isdisjoint(range(switch.line, switch.last + 1))


def _library(namespace: dict[str, Any]) -> list[str]:
    """The notebook's names for minigrad and PyTorch, the packages first, and for their functions that make tensors."""
    modules = {name: value.__name__ for name, value in namespace.items() if isinstance(value, types.ModuleType)}
    packages = [name for name, module in modules.items() if module in LIBRARIES]
    parts = [name for name, module in modules.items() if module.startswith(("minigrad.", "torch."))]
    functions = [name for name in CREATORS | {"no_grad"} if name in namespace and namespace[name] is vars(mg).get(name)]
    return packages + parts + functions


def last() -> Explorer:
    """Return the explorer of the ``%%explore`` cell that ran last."""
    if not _explorers:
        raise RuntimeError("no %%explore cell has run yet")
    return list(_explorers.values())[-1]


def explore(line: str, cell: str) -> None:
    """Run the cell as usual, then show its program with a switch per flag, and its picture.

    The names land in the notebook, and an error is the cell's error. ``%%explore e`` calls the explorer `e`, to drive
    it from Python: ``e.toggle("x.requires_grad")``; ``lab.last()`` is the one of the cell that ran last.
    """
    shell = get_ipython()
    namespace = shell.user_ns
    filename = shell.compile.cache(cell, len(shell.history_manager.input_hist_parsed) - 1)    # for a traceback's lines
    try:
        codes = compiled(cell, filename)
    except SyntaxError as wrong:
        raise _as_in_a_cell(wrong, shell) from None
    program, snapshot, recorder = Program(cell, _library(namespace)), Snapshot(cell, namespace), Recorder(filename)
    other = {name: namespace[name] for name in made(cell) if name in namespace}             # an earlier cell's
    error = None
    try:
        with recorder:
            for code in codes:
                exec(code, namespace)
    except Exception as caught:
        error = caught
    left = {name: value for name, value in namespace.items() if error is None or name not in other or value is not other[name]}
    outcome = Outcome(left, "", error and failure(error, filename))
    explorer = Explorer(program, snapshot, outcome, recorder)
    parent = getattr(shell, "get_parent", dict)()               # the message that asked to run this cell, in a kernel
    cell_id = parent.get("metadata", {}).get("cellId", explorer._prefix)
    if cell_id in _explorers:
        _explorers.pop(cell_id).widget.close()                  # its output is gone; do not keep its tensors
    _explorers[cell_id] = explorer
    if line.strip():
        namespace[line.strip()] = explorer
    display(explorer)
    if error is not None:
        _start_at(error, filename, shell)
        raise error


def _as_in_a_cell(wrong: SyntaxError, shell: InteractiveShell) -> Exception:
    """An error that reads like a cell's syntax error; of a real one IPython would show its own frames too."""
    shown = shell.SyntaxTB.structured_traceback(SyntaxError, wrong, [])
    return type("SyntaxError", (Exception,), {"_render_traceback_": lambda self: shown})(str(wrong))


def _start_at(error: Exception, filename: str, shell: InteractiveShell) -> None:
    """Let the error's traceback begin and end in the cell, as any cell's does, not in the machinery that ran it."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != filename:
        frames = frames.tb_next
    # IPython asks an exception for this method before it formats the traceback itself.
    error._render_traceback_ = lambda: shell.InteractiveTB.structured_traceback(type(error), error, shorten(frames))
