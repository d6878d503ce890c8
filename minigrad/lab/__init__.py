"""Labs: the parts of minigrad that one can touch. ``%load_ext minigrad.lab`` makes ``%%explore`` known."""
from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from .explore import Explorer, explore, last

__all__ = ["Explorer", "last"]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What ``%load_ext minigrad.lab`` calls."""
    shell.register_magic_function(explore, "cell")
