"""The table of operations: every one states its notation, its derivatives and its NumPy kernel, once.

`minigrad.function` says how a declaration reads. Derivatives are PyTorch's (its derivatives.yaml is the source of what is
saved and of the conventions at ties and kinks). Plain functions beside the blocks choose between operations, as PyTorch's do;
what has a name of PyTorch's is a function, a Tensor method or both, as PyTorch's signatures say.
A module here uses only those above it in this list: choices, elementwise, views, rearranging, joining, indexing, ordering,
reductions, linalg.
"""
from ..arguments import table
from ..function import PUBLIC
from ..tensor import Tensor
from . import choices, elementwise, indexing, joining, linalg, ordering, rearranging, reductions, views

MODULES = (choices, elementwise, views, rearranging, joining, indexing, ordering, reductions, linalg)
IN_PYTHON = {"broadcast_shapes", "einsum", "is_tensor", "split", "tensordot", "Tensor.norm"}      # PyTorch writes these without a signature


def _publish() -> None:
    """Give the modules' functions their places, by name."""
    known = {*table(), *IN_PYTHON}
    for module in MODULES:
        for name, function in vars(module).items():
            if getattr(function, "__module__", "") == module.__name__:
                if f"Tensor.{name}" in known and name not in vars(Tensor):      # or a module has put something else there itself
                    setattr(Tensor, name, function)
                if name in known:
                    PUBLIC.setdefault(name, function)
    for name in known:
        if "." not in name and hasattr(Tensor, name):      # relu_(x) is x.relu_()
            PUBLIC.setdefault(name, getattr(Tensor, name))


_publish()


def __getattr__(name):
    """``from minigrad.ops import stack``: an operation, from whichever module declares it."""
    for module in MODULES:
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'minigrad.ops' has no attribute '{name}'")
