"""Write the API reference: every public name with its signature and docstring, as pages in a folder.

    python -m tests.reference FOLDER    # needs pdoc: python -m pip install -e ".[docs]"
"""
from __future__ import annotations

import inspect
import sys
import typing
import warnings
from pathlib import Path

import minigrad

MODULES = ["minigrad", "minigrad.autograd", "minigrad.autograd.functional", "minigrad.autograd.graph", "minigrad.linalg", "minigrad.nn",
           "minigrad.nn.functional", "minigrad.nn.init", "minigrad.nn.utils", "minigrad.optim", "minigrad.optim.lr_scheduler",
           "minigrad.random", "minigrad.picture", "minigrad.lab", "minigrad.why"]
# They have the name of a function or class that is documented where it is public.
HOMES = ["!minigrad.tensor", "!minigrad.dtype", "!minigrad.autograd.function$", "!minigrad.autograd.gradcheck", "!minigrad.picture.",
         "!minigrad.lab."]


def main(folder: Path) -> None:
    """Write the pages."""
    import pdoc

    for method in vars(minigrad.Tensor).values():       # in its class "bool" is a method, and pdoc would take it for the type
        function = inspect.unwrap(getattr(method, "fget", method))
        if inspect.isfunction(function) and function.__annotations__:
            function.__annotations__ = typing.get_type_hints(function)
    pdoc.render.configure(docformat="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # names that stand in annotations alone
        pdoc.pdoc(*MODULES, *HOMES, output_directory=folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
