"""The table of operations: every one states its notation, its derivatives and its NumPy kernel, once.

`minigrad.function` says how a declaration reads. Derivatives are PyTorch's (its derivatives.yaml is the source of what is
saved and of the conventions at ties and kinks). Plain functions beside the blocks choose between operations, as PyTorch's do.
A module here uses only those above it in this list: choices, elementwise, views, rearranging, joining, indexing, ordering,
reductions, linalg.
"""
from ..function import PUBLIC
from . import choices, elementwise, indexing, joining, linalg, ordering, rearranging, reductions, views


def __getattr__(name):
    """``from minigrad.ops import stack``: an operation, from whichever module declares it."""
    for module in (choices, elementwise, views, rearranging, joining, indexing, ordering, reductions, linalg):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'minigrad.ops' has no attribute '{name}'")
