"""tinygrad's tests of operations: what they ask of PyTorch is asked of minigrad, and compared.

Their `helper_test_op` gets a function that uses PyTorch and one that uses tinygrad. Ours runs the first one twice, on PyTorch
and, rebound, on minigrad. tinygrad itself is only imported; tests that ask it alone are left out.
"""
from __future__ import annotations

import importlib.util
import sys
import unittest
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from .opinfo import compare_calls
from .report import Report
from .translate import NotOffered

MARK = "test/test_ops.py"


class Differs(Exception):
    """The libraries do not agree."""


def inputs(shapes: list | None, values: list | None, low: float, high: float, forward_only: bool) -> list[torch.Tensor]:
    """The numbers that their tests run on."""
    np.random.seed(0)
    arrays = values if shapes is None else [np.random.uniform(low, high, shape).astype(np.float32) for shape in shapes]
    made = [torch.tensor(array) for array in arrays]
    return [t.requires_grad_(not forward_only and t.is_floating_point()) for t in made]


def run(folder: Path, verbose: bool = False) -> list[Report]:
    report = Report("tinygrad's test_ops.py, its PyTorch functions on minigrad")
    asked = []      # of the running test: whether the libraries were compared at all

    def check(function: Callable, tensors: list) -> None:
        asked.append(function)
        problem = compare_calls(function, tuple(tensors), {}, rtol=1e-4, atol=1e-5)
        if problem:
            raise Differs(problem)

    def helper_test_op(shapes: Any, function: Callable, *rest: Any, vals: Any = None, low: float = -2, high: float = 2,
                       forward_only: bool = False, **tolerances: Any) -> None:
        check(function, inputs(shapes, vals, low, high, forward_only))

    def helper_test_exception(self: Any, shapes: Any, function: Callable, *rest: Any, vals: Any = None, low: float = -1.5,
                              high: float = 1.5, forward_only: bool = False, **expected: Any) -> None:
        check(function, inputs(shapes, vals, low, high, forward_only))

    spec = importlib.util.spec_from_file_location("tinygrad_test_ops", folder / MARK)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.object(sys, "path", [str(folder), *sys.path]):
        spec.loader.exec_module(module)
    module.helper_test_op = helper_test_op
    warnings.simplefilter("ignore")
    for case in list(vars(module).values()):
        if not (isinstance(case, type) and issubclass(case, unittest.TestCase)):
            continue
        if hasattr(case, "helper_test_exception"):
            case.helper_test_exception = helper_test_exception
        for name in unittest.TestLoader().getTestCaseNames(case):
            asked.clear()
            try:
                getattr(case(name), name)()
            except NotOffered as missing:
                report.add(name, str(missing), missing=True)
            except Differs as problem:
                report.add(name, str(problem))
                if verbose:
                    print(name, problem, flush=True)
            except Exception:
                if asked:           # what comes after our comparisons is tinygrad's own affair
                    report.add(name)
            else:
                if asked:
                    report.add(name)
    return [report]
