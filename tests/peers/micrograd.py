"""micrograd's tests, which compare its engine with PyTorch: minigrad stands in PyTorch's place."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from unittest import mock

import minigrad

from .report import Report, note, verdict

MARK = "test/test_engine.py"


def run(folder: Path, verbose: bool = False) -> list[Report]:
    report = Report("micrograd's test_engine.py, minigrad as its torch")
    spec = importlib.util.spec_from_file_location("micrograd_test_engine", folder / MARK)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {"torch": minigrad}), mock.patch.object(sys, "path", [str(folder), *sys.path]):
        spec.loader.exec_module(module)
    for name, test in vars(module).items():
        if name.startswith("test_"):
            note(report, name, lambda test=test: verdict(test), verbose)
    return [report]
