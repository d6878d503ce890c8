"""HIPS autograd's tests of derivatives: a small `autograd` over an engine with PyTorch's API stands in its place.

The same stand-in over PyTorch itself is the control: what fails there says nothing about minigrad. What takes complex numbers,
forward mode or containers has no counterpart and is left out by name.
"""
from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import torch

import minigrad

from .report import Report, note, verdict
from .translate import NotOffered

MARK = "tests/test_systematic.py"
FILES = ("test_binary_ops test_direct test_graphs test_jacobian test_linalg test_logic test_numpy test_scalar_ops "
         "test_systematic test_truediv test_wrappers").split()
NUMPYS = {"max": "amax", "min": "amin", "absolute": "abs", "power": "pow", "concatenate": "cat", "true_divide": "div",
          "divide": "div", "linspace": None, "array": None, "mod": "remainder", "multiply": "mul", "subtract": "sub",
          "arctan2": "atan2", "array_split": "tensor_split", "dot": "matmul", "degrees": "rad2deg", "radians": "deg2rad",
          "transpose": None, "sort": None, "expand_dims": "unsqueeze", "moveaxis": "movedim"}


class StandIn(ModuleType):
    """A module that finds names by a function."""

    def __init__(self, name: str, find: Callable[[str], Any], **names: Any) -> None:
        super().__init__(name)
        self.__dict__.update(names, find=find, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.find(name)


def absent(name: str) -> Callable:
    """A function that says that it is not offered."""
    def call(*args: Any, **kwargs: Any) -> None:
        raise NotOffered(f"autograd.{name}")
    return call


class Engine:
    """The parts of `autograd`, over a module with PyTorch's API."""

    def __init__(self, m: Any) -> None:
        self.m = m

    def tensor(self, value: Any, requires_grad: bool = False) -> Any:
        """A number or real array as a float64 tensor."""
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise NotOffered("complex numbers" if array.dtype.kind == "c" else "containers as arguments")
        return self.m.tensor(array.astype(np.float64), requires_grad=requires_grad)

    def plain(self, value: Any) -> Any:
        """Arrays as tensors, inside containers too; numbers and tensors stay."""
        if isinstance(value, np.ndarray):
            return self.m.tensor(value)
        return type(value)(map(self.plain, value)) if type(value) in (list, tuple) else value

    def holds_tensor(self, value: Any) -> bool:
        return isinstance(value, self.m.Tensor) or (isinstance(value, (list, tuple)) and any(map(self.holds_tensor, value)))

    def numpy(self, path: str) -> Callable[[str], Any]:
        """Find functions: NumPy's own for what is no tensor, the engine's of the same meaning otherwise."""
        def find(name: str) -> Any:
            module = np if not path else getattr(np, path)
            theirs = getattr(module, name)
            if not callable(theirs) or isinstance(theirs, type):
                return theirs

            def call(*args: Any, **kwargs: Any) -> Any:
                if not any(map(self.holds_tensor, (*args, *kwargs.values()))):
                    return theirs(*args, **kwargs)
                ours, home = NUMPYS.get(name, name), self.m if not path else getattr(self.m, path, None)
                if not ours or not hasattr(home, ours):
                    raise NotOffered(f"numpy.{path + '.' if path else ''}{name}")
                args, kwargs = self.plain(args), {k: self.plain(v) for k, v in kwargs.items() if not (k == "axis" and v is None)}
                return getattr(home, ours)(*args, **kwargs)
            return call
        return find

    def check_grads(self, function: Callable, argnum: Any = None, modes: Any = None, order: int = 2) -> Callable:
        """Compare first and second derivatives with differences."""
        def check(*args: Any, **kwargs: Any) -> None:
            places = range(len(args)) if argnum is None else [argnum] if isinstance(argnum, int) else argnum
            inputs = [self.tensor(args[i], True) for i in places]

            def call(*tensors: Any) -> Any:
                full = list(args)
                for i, t in zip(places, tensors):
                    full[i] = t
                result = function(*full, **kwargs)
                return result if self.holds_tensor(result) else self.m.as_tensor(result, dtype=self.m.float64)

            if not call(*inputs).requires_grad:
                return
            assert self.m.autograd.gradcheck(call, inputs)
            if order > 1:
                assert self.m.autograd.gradgradcheck(call, inputs)
        return check

    def combo_check(self, function: Callable, *rest: Any, **options: Any) -> Callable:
        """`check_grads` for all combinations of arguments."""
        def check(*args: list, **kwargs: list) -> None:
            for chosen in itertools.product(*args):
                if np.iscomplexobj(np.concatenate([np.ravel(a) for a in chosen])):
                    continue
                for values in itertools.product(*kwargs.values()):
                    self.check_grads(function, *rest, **options)(*chosen, **dict(zip(kwargs, values)))
        return check

    def grad(self, function: Callable, argnum: int = 0, elementwise: bool = False) -> Callable:
        """The gradient of a function of arrays, differentiable again."""
        def call(*args: Any, **kwargs: Any) -> Any:
            inside = self.holds_tensor(args)
            x = args[argnum] if self.holds_tensor(args[argnum]) else self.tensor(args[argnum], True)
            value = function(*args[:argnum], x, *args[argnum + 1:], **kwargs)
            if not self.holds_tensor(value) or not value.requires_grad:
                return self.m.zeros_like(x)
            result, = self.m.autograd.grad(value.sum() if elementwise else value, x, create_graph=True)
            return result if inside else result.detach().numpy()
        return call

    def modules(self) -> dict[str, ModuleType]:
        """What `import autograd` and its submodules find."""
        top = StandIn("autograd", absent, grad=self.grad, elementwise_grad=lambda f, n=0: self.grad(f, n, elementwise=True))
        tests = StandIn("autograd.test_util", absent, check_grads=self.check_grads, combo_check=self.combo_check)
        made = {f"autograd.{n}": StandIn(n, absent) for n in ("extend", "builtins", "tracer", "core", "util")}
        made |= {"autograd.numpy": StandIn("numpy", self.numpy("")), "autograd.numpy.linalg": StandIn("linalg", self.numpy("linalg")),
                 "autograd.numpy.fft": StandIn("fft", self.numpy("fft")),
                 "autograd.numpy.random": StandIn("random", lambda name: getattr(np.random, name))}
        made |= {"autograd": top, "autograd.test_util": tests}
        for name, module in made.items():
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(made[parent], last, module)
        return made


def tests(folder: Path, m: Any) -> dict[str, Callable]:
    """All test functions without arguments, over one engine."""
    found = {}
    with mock.patch.dict(sys.modules, Engine(m).modules()), mock.patch.object(sys, "path", [str(folder / "tests"), *sys.path]):
        sys.modules.pop("numpy_utils", None)
        for name in FILES:
            spec = importlib.util.spec_from_file_location(name, folder / "tests" / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            found.update({f"{name}.{n}": f for n, f in vars(module).items()
                          if n.startswith("test_") and not inspect.signature(f).parameters})
    return found


def run(folder: Path, verbose: bool = False) -> list[Report]:
    report, control = Report("HIPS autograd's tests that PyTorch passes in its place"), Report("")
    warnings.simplefilter("ignore")
    for m, into in ((torch, control), (minigrad, report)):
        for name, test in tests(folder, m).items():
            if m is torch or name in control.passed:
                np.random.seed(42)
                note(into, name, lambda test=test: verdict(test), verbose and m is minigrad)
    return [report]
