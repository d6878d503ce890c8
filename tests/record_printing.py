"""Write tests/records/printing.json: what PyTorch prints for a table of tensors. Needs torch.

    python tests/record_printing.py
"""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

RECORD = Path(__file__).parent / "records" / "printing.json"
INF, NAN = float("inf"), float("nan")

# A case cycles through its values until its shape is full.
FLOATS = [
    [1.0, 2.0, -3.0],
    [0.0, -0.0],
    [NAN, INF, -INF],
    [1.0, NAN, -0.0, -INF],
    [0.5, NAN, -INF, 0.0],
    [12345.0, INF, 7.0],
    [0.25, -1.5, 3.75, 10.0],
    [0.00005, 0.99995, 0.12345],
    [1.0, 1000.0],
    [1.0, 1001.0],
    [0.5, 500.0],
    [0.5, 500.5],
    [0.0001, 0.0002],
    [0.00012, 0.0, NAN],
    [1e8, 99999999.0],
    [1.00000008e8],
    [1e-45, 5e-324, 1e-7],
    [65504.0, 3.4e38, 1.7e308],
    [-1e-5, 1.0, 0.0, NAN],
    [0.1, 0.2, 0.30000000000000004],
]
INTEGERS = {
    "bool": [[False], [True], [True, False, True]],
    "uint8": [[0, 1], [255, 7, 10]],
    "int8": [[1, 2, 3], [-128, 127, 0]],
    "int16": [[5], [-32768, 32767, 9]],
    "int32": [[1, 20, 300], [-(2**31), 2**31 - 1]],
    "int64": [[1, 2, 3], [0, -1, 100], [-(2**63), 2**63 - 1, 0]],
}
SHAPES = [(), (1,), (7,), (3, 2), (2, 1, 4)]
LAYOUTS = [
    (40,), (999,), (1000,), (1001,), (1, 30), (30, 1), (3, 26), (2, 2, 2, 2), (1, 1, 1, 1, 1), (2, 3, 1, 2, 2),
    (1001, 1), (1, 1001), (40, 40), (5, 300), (300, 5), (6, 200), (7, 150), (12, 12, 12), (2, 7, 100), (2, 2, 2, 2, 80),
    (8, 1, 8, 1, 20),
]
EMPTY = [(0,), (0, 3), (3, 0), (2, 0, 4), (0, 0), (1, 1, 0, 1)]
OPTIONS: list[dict[str, Any]] = [
    *({"precision": n} for n in (0, 1, 2, 8)),
    *({"linewidth": n} for n in (1, 20, 37, 120)),
    *({"threshold": n} for n in (0, 5, 6, 11, INF)),
    *({"threshold": 5, "edgeitems": n} for n in (0, 1, 2, 4)),
    *({"profile": name} for name in ("default", "short", "full")),
    *({"sci_mode": choice} for choice in (True, False)),
    {"edgeitems": 0},
    {"threshold": 0, "edgeitems": 0},
    {"profile": "short", "precision": 6, "sci_mode": True},
    {"profile": "full", "linewidth": 50, "sci_mode": False},
]


def described_cases() -> list[dict[str, Any]]:
    """The table without PyTorch's answers; what a case leaves out is ordinary."""
    cases: list[dict[str, Any]] = []

    def add(values: list, dtype: str, shape: tuple[int, ...], **special: Any) -> None:
        with np.errstate(over="ignore", under="ignore"):
            held = np.array(values).astype(dtype).tolist()  # so that reading the record rounds nothing
        cases.append({"values": held, "dtype": dtype, "shape": list(shape), **special})

    for dtype in ("float32", "float64", "float16"):
        for values in FLOATS:
            for shape in SHAPES:
                add(values, dtype, shape)
    for dtype, tables in INTEGERS.items():
        for values in tables:
            for shape in SHAPES:
                add(values, dtype, shape)
    for shape in LAYOUTS:
        add(list(range(11)), "int64", shape)
        add([0.5, -12.25, 100.125, 3.0], "float32", shape)
        add([True, False, False], "bool", shape)
        add([-5.0, NAN, 12.0], "float64", shape, grad="leaf")
    for values in ([0.0], [NAN], [0.0, -INF, 2.0]):
        add(values, "float32", (40,))
    for shape in EMPTY:
        for dtype in ("float32", "float64", "int64", "bool", "uint8"):
            add([1], dtype, shape)
        add([1], "float32", shape, grad="MulBackward0")
    for options in OPTIONS:
        for shape in ((), (7,), (3, 8), (2, 3, 4)):
            add([0.125, -1.0, 22.5, INF], "float32", shape, options=options)
            add([3.0, NAN, -150.0], "float64", shape, options=options, grad="leaf")
            add([1, -22, 333], "int64", shape, options=options)
    for choice in (True, False):
        for values in ([1e-5, 2.0, 0.0], [1e9, 1.0], [0.0, NAN], [1e-5, 1.5, INF]):
            add(values, "float32", (5,), options={"sci_mode": choice})
    for default in ("float64", "float16"):
        for dtype in ("float32", default, "int64"):
            for shape in ((3,), (0,)):
                add([1.0], dtype, shape, default_dtype=default)
    for grad in ("leaf", "MulBackward0", "CloneBackward0", "CopySlices", "Invalid", "SquareBackward"):
        for dtype in ("float32", "float64"):
            for shape in ((), (2,), (2, 2)):
                add([1.5, -2.0], dtype, shape, grad=grad)
    # Around the width at which a suffix moves to the next line, for numbers on the first line and on a later one.
    for length in range(34, 50):
        add([1.0], "float32", (2,), grad="A" * length + "Backward")
        add([1.0], "float32", (2, 2), grad="A" * length + "Backward")
        add([1.0], "float64", (2, 2), grad="A" * (length - 22) + "Backward", options={"linewidth": 79})
    for width in range(26, 50):
        add([1.0], "float64", (2, 2), grad="leaf", options={"linewidth": width})
        add([1.0], "float64", (0, 2), grad="leaf", options={"linewidth": width})
    for kind in ("Parameter", "Weight"):
        for shape in ((), (3,), (2, 3), (0, 2)):
            add([0.5, 1.0], "float32", shape, grad="leaf", type=kind)
            add([0.5, 1.0], "float64", shape, grad="leaf", type=kind, options={"linewidth": 30})
    return cases


def torch_tensor(case: dict[str, Any]) -> torch.Tensor:
    """The tensor a case describes, with the history its ``grad`` names."""
    array = np.resize(np.array(case["values"], dtype=case["dtype"]), case["shape"])
    leaf = torch.from_numpy(array)
    grad, kind = case.get("grad"), case.get("type")
    if kind == "Parameter":
        return torch.nn.Parameter(leaf)
    if kind:
        leaf = leaf.as_subclass(type(kind, (torch.Tensor,), {}))
    if grad is None:
        return leaf
    leaf.requires_grad_()
    if grad == "leaf":
        return leaf
    if grad == "MulBackward0":
        return leaf * 1
    if grad == "CloneBackward0":
        return leaf.clone()
    if grad == "CopySlices":
        result = leaf.clone()
        result.view(-1).mul_(1)
        return result
    if grad == "Invalid":
        base = leaf.detach().clone()
        with torch.no_grad():
            view = base.view(base.shape)
        base.mul_(torch.ones((), requires_grad=True))
        return view
    function = type(grad.removesuffix("Backward"), (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: x.clone()),
        "backward": staticmethod(lambda ctx, grad: grad),
    })
    return function.apply(leaf)


def torch_repr(tensor: torch.Tensor, options: dict[str, Any], default_dtype: str = "float32") -> str:
    """``repr(tensor)`` under the print options and the default dtype, which are put back."""
    usual = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, default_dtype))
    torch.set_printoptions(**options)
    try:
        return repr(tensor)
    finally:
        torch.set_default_dtype(usual)
        torch.set_printoptions(profile="default")


def record() -> dict[str, Any]:
    """The table with PyTorch's answers, as it stands in the file."""
    cases = described_cases()
    for case in cases:
        case["repr"] = torch_repr(torch_tensor(case), case.get("options", {}), case.get("default_dtype", "float32"))
    return {"torch": torch.__version__.split("+")[0], "cases": cases}


def main() -> None:
    """Write the file, a case per line, so that a change shows as the lines it changes."""
    recorded = record()
    lines = ",\n".join(json.dumps(case) for case in recorded["cases"])
    text = f'{{"torch": "{recorded["torch"]}", "cases": [\n{lines}\n]}}\n'
    RECORD.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(recorded['cases'])} cases of torch {recorded['torch']}")


if __name__ == "__main__":
    main()
