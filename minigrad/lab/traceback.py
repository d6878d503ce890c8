"""Short tracebacks: in a lesson an error ends at the student's own line, not thirty lines into the engine."""
from __future__ import annotations

from types import TracebackType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from ..grad_mode import state
from ..why import name_the_cause

INSIDE = ("minigrad", "numpy", "contextlib")      # and the operations' generated code, whose globals are minigrad's


def shorten(trace: TracebackType | None) -> TracebackType | None:
    """The traceback up to the last frame that is not minigrad's or NumPy's; whole if there is no such frame."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    while frames and frames[-1].tb_frame.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        frames.pop()
    result = None
    for frame in reversed(frames):
        # An interrupt can strike where the bytecode has no line, which IPython fails to show
        line = frame.tb_lineno or frame.tb_frame.f_code.co_firstlineno
        result = TracebackType(result, frame.tb_frame, frame.tb_lasti, line)
    return result


def _show(shell: InteractiveShell, kind: type[BaseException], error: BaseException, trace: TracebackType,
          tb_offset: int | None = None) -> Any:
    name_the_cause(error)
    short = shorten(trace)
    last = short
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_globals.get("__name__", "").startswith("IPython"):
        short = trace       # nothing of the student's would be left
    return shell.showtraceback((kind, error.with_traceback(short), short), tb_offset=tb_offset)


def install(shell: InteractiveShell) -> None:
    """Show tracebacks of errors without minigrad's own frames; ``shell.set_custom_exc((), None)`` shows them again.

    And after an interrupt set the grad mode to what it was before the cell: the stop button can strike just as a
    ``no_grad`` block ends, and then nothing would be recorded any more (in PyTorch too).
    """
    shell.set_custom_exc((Exception, KeyboardInterrupt), _show)
    before = [state.enabled]

    def starts(info: Any) -> None:
        before[0] = state.enabled

    def ends(result: Any) -> None:
        if isinstance(result.error_in_exec, KeyboardInterrupt):
            state.set(before[0], False)

    shell.events.register("pre_run_cell", starts)
    shell.events.register("post_run_cell", ends)
