"""``autograd.functional`` gives what PyTorch's gives: values, graphs and texts."""
from __future__ import annotations

import inspect
import json
import runpy
from pathlib import Path

import pytest

import minigrad as mg
from minigrad.autograd import functional

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "records" / "functional.json").read_text(encoding="utf-8"))
RECORDER = runpy.run_path(str(HERE / "record_gradcheck.py"))
CASES = RECORDER["FUNCTIONAL"]


@pytest.mark.parametrize("name", CASES)
def test_gives_what_pytorch_gave(name):
    # The values are chosen so that every digit is exact.
    assert RECORDER["outcome"](CASES[name], mg) == RECORDED["cases"][name]


def test_the_record_is_what_pytorch_gives_now():
    torch = pytest.importorskip("torch", reason="PyTorch itself is not installed")
    if torch.__version__.split("+")[0] != RECORDED["torch"]:
        pytest.skip(f"the record is of PyTorch {RECORDED['torch']}, {torch.__version__} is installed")
    assert RECORDER["record"](CASES)["cases"] == RECORDED["cases"]


def test_takes_the_arguments_that_pytorch_takes():
    torch = pytest.importorskip("torch", reason="PyTorch itself is not installed")
    assert functional.__all__ == torch.autograd.functional.__all__
    for name in functional.__all__:
        ours, theirs = (inspect.signature(getattr(library.autograd.functional, name)) for library in (mg, torch))
        assert [(p.name, p.default) for p in ours.parameters.values()] == [
            (p.name, p.default) for p in theirs.parameters.values()]


def test_the_products_are_rows_and_columns_of_the_matrices():
    def f(x):
        return mg.stack([x[0] * x[1], x[1] * x[2], x[2] * x[0] * 2, x.exp().sum()])

    x = mg.tensor([0.5, 1.5, -2.0], dtype=mg.float64)
    jacobian = functional.jacobian(f, x)
    hessian = functional.hessian(lambda x: f(x).sum(), x)
    assert jacobian.shape == (4, 3) and hessian.shape == (3, 3)
    u = mg.tensor([1.0, -2.0, 0.5, 3.0], dtype=mg.float64)
    v = mg.tensor([2.0, -0.25, 4.0], dtype=mg.float64)
    for product, wanted in [(functional.vjp(f, x, u)[1], u @ jacobian), (functional.jvp(f, x, v)[1], jacobian @ v),
                            (functional.vhp(lambda x: f(x).sum(), x, v)[1], v @ hessian),
                            (functional.hvp(lambda x: f(x).sum(), x, v)[1], hessian @ v)]:
        assert product.tolist() == pytest.approx(wanted.tolist(), rel=1e-12)


def test_the_inputs_are_left_alone():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    plain = mg.tensor([1.0, 2.0])
    functional.hessian(lambda a, b: (a * a * b).sum(), (x, plain), create_graph=True)
    assert x.grad is None and x.requires_grad and not plain.requires_grad and plain.grad is None


def test_forward_mode_is_refused():
    for ask, option in ((functional.jacobian, "strategy"), (functional.hessian, "outer_jacobian_strategy")):
        with pytest.raises(NotImplementedError, match="^minigrad has no forward-mode AD"):
            ask(lambda x: x.sum(), mg.ones(2), vectorize=True, **{option: "forward-mode"})
