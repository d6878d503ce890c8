"""Printing is PyTorch's to the letter: a recorded table, and PyTorch itself where it is installed."""
from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from minigrad.printing import array_repr, set_printoptions, tensor_repr

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "records" / "printing.json").read_text(encoding="utf-8"))
CASES = RECORDED["cases"]


@pytest.fixture(autouse=True)
def usual_options():
    yield
    set_printoptions(profile="default")


def stand_in(array: np.ndarray, grad: str | None = None, kind: str = "Tensor") -> Any:
    """What printing asks of a tensor: an array, a flag, a node with a name."""

    def grad_fn(self: Any) -> Any:
        if grad == "Invalid":
            raise RuntimeError("A view was created in no_grad mode and …")
        return None if grad in (None, "leaf") else SimpleNamespace(name=lambda: grad)

    return type(kind, (), {"array": array, "requires_grad": grad is not None, "grad_fn": property(grad_fn)})()


def printed(case: dict[str, Any]) -> str:
    array = np.resize(np.array(case["values"], dtype=case["dtype"]), case["shape"])
    set_printoptions(**case.get("options", {}))
    tensor = stand_in(array, case.get("grad"), case.get("type", "Tensor"))
    text = tensor_repr(tensor, case.get("default_dtype", "float32"))
    set_printoptions(profile="default")
    return text


def disagreements(cases: list[dict[str, Any]]) -> list[str]:
    # The line above a parameter's numbers is written by Parameter.__repr__, in PyTorch too.
    wanted = [case["repr"].removeprefix("Parameter containing:\n") for case in cases]
    return [f"{case}\n{text}" for case, want in zip(cases, wanted) if (text := printed(case)) != want]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_prints_what_pytorch_printed(dtype):
    cases = [case for case in CASES if case["dtype"] == dtype]
    assert len(cases) >= 10
    assert disagreements(cases) == []


def test_the_comparison_can_fail():
    case = {"values": [1.0], "dtype": "float32", "shape": [1], "repr": "tensor([1.0])"}
    assert len(disagreements([case])) == 1


def test_a_node_of_pytorchs_namespace_prints_its_last_name():
    tensor = stand_in(np.ones(1, "float32"), grad="torch::autograd::CopySlices")
    assert tensor_repr(tensor) == "tensor([1.], grad_fn=<CopySlices>)"


def test_strided_views_print_their_elements():
    array = np.arange(6).reshape(2, 3).T[::-1]
    assert array_repr(array) == "tensor([[2, 5],\n        [1, 4],\n        [0, 3]])"


def test_options_are_kept_but_the_choice_of_exponents_is_not():
    set_printoptions(precision=2, sci_mode=True)
    assert array_repr(np.float32([1.5])) == "tensor([1.50e+00])"
    set_printoptions(linewidth=100)
    assert array_repr(np.float32([1.5])) == "tensor([1.50])"


def test_a_summary_reads_only_what_it_shows():
    array = np.broadcast_to(np.arange(4.0)[:, None, None], (4, 10**6, 10**6))  # reading it all would need 32 TB
    set_printoptions(edgeitems=1)
    line = "[{0}.,  ..., {0}.]"
    block = "[" + line + ",\n         ...,\n         " + line + "]"
    text = "tensor([" + block.format(0) + ",\n\n        ...,\n\n        " + block.format(3) + "], dtype=torch.float64)"
    assert array_repr(array) == text


def test_the_record_is_what_pytorch_prints_now():
    torch = pytest.importorskip("torch", reason="PyTorch itself is not installed")
    if torch.__version__.split("+")[0] != RECORDED["torch"]:
        pytest.skip(f"the record is of PyTorch {RECORDED['torch']}, {torch.__version__} is installed")
    now = runpy.run_path(str(HERE / "record_printing.py"))["record"]()
    # Compared as text, in which nan equals nan.
    assert json.dumps(now) == json.dumps(RECORDED)


INF, NAN = float("inf"), float("nan")
NUMBERS = [0.0, -0.0, 1.0, 0.5, -2.5, 1e-4, 9.999e-5, 1e3, 1001.0, 6e4, 0.99995, NAN, INF, -INF]
OPTIONS = st.fixed_dictionaries({}, optional={
    "precision": st.integers(0, 8),
    "threshold": st.sampled_from([0, 5, 20, INF]),
    "edgeitems": st.integers(0, 4),
    "linewidth": st.integers(1, 120),
    "profile": st.sampled_from(["default", "short", "full"]),
    "sci_mode": st.booleans(),
})


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(sorted({case["dtype"] for case in CASES}))))
    elements = hnp.from_dtype(dtype)
    if dtype.kind == "f":
        # Everyday numbers too: with a random exponent in it, nearly every array would print in scientific notation.
        whole, fraction = st.integers(-2000, 2000).map(float), st.integers(-4000, 4000).map(lambda n: n / 16)
        kinds = [whole, fraction, st.sampled_from(NUMBERS).map(lambda x: float(dtype.type(x))), elements]
        elements = st.one_of(*draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique_by=id)))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=8))
    return draw(hnp.arrays(dtype, shape, elements=elements))


@given(array=arrays(), options=OPTIONS, default_dtype=st.sampled_from(["float32", "float64"]))
@settings(max_examples=300, deadline=None)
def test_prints_what_pytorch_prints_now(array, options, default_dtype):
    torch = pytest.importorskip("torch", reason="PyTorch itself is not installed")
    usual = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, default_dtype))
    torch.set_printoptions(**options)
    set_printoptions(**options)
    try:
        assert array_repr(array, default_dtype=default_dtype) == repr(torch.from_numpy(array))
    finally:
        torch.set_default_dtype(usual)
        torch.set_printoptions(profile="default")
        set_printoptions(profile="default")
