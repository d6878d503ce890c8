"""Labs: the parts of minigrad that one can touch. ``%load_ext minigrad.lab`` makes the magics known."""
from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from .explore import Explorer, explore, last
from .gate import Gate, gate
from .live import LiveGraph, livegraph
from .notebook import answers, check, explain_line, export
from .traceback import install

__all__ = ["Explorer", "Gate", "LiveGraph", "answers", "check", "export", "gate", "last"]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What ``%load_ext minigrad.lab`` calls: the magics, and tracebacks that end at the cell's own line."""
    install(shell)
    shell.register_magic_function(explore, "cell")
    shell.register_magic_function(livegraph, "line")
    shell.register_magic_function(explain_line, "line", "why")
