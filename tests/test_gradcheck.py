"""gradcheck and gradgradcheck say what PyTorch's do, and can fail."""
from __future__ import annotations

import inspect
import json
import re
import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function, GradcheckError, gradcheck, gradgradcheck

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "records" / "gradcheck.json").read_text(encoding="utf-8"))
RECORDER = runpy.run_path(str(HERE / "record_gradcheck.py"))
CASES = RECORDER["GRADCHECK"]
NUMBER = re.compile(r"-?\b\d+\.\d*(?:e[+-]\d+)?")


def same(answer: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Equal texts; numbers may differ in their last digits, since sums are added up in another order."""
    texts = [json.dumps(a) for a in (answer, wanted)]
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in texts]
    # A padded column is as wide as its longest number, which may be a rounding error on one side.
    skeletons = [re.sub(r" +", " ", NUMBER.sub("#", text)) for text in texts]
    return skeletons[0] == skeletons[1] and np.allclose(*numbers, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_says_what_pytorch_said(name):
    answer, wanted = RECORDER["outcome"](CASES[name], mg), RECORDED["cases"][name]
    assert same(answer, wanted), f"{json.dumps(answer)}\n{json.dumps(wanted)}"


def test_the_comparison_can_fail():
    assert same({"result": "tensor([0.30000001])"}, {"result": "tensor([0.3])"})
    assert not same({"result": "tensor([0.31])"}, {"result": "tensor([0.3])"})
    assert not same({"error": "ValueError: no"}, {"error": "RuntimeError: no"})
    assert not same({"result": "True"}, {"result": "True", "warnings": ["UserWarning: beware"]})


def test_the_record_is_what_pytorch_says_now():
    torch = pytest.importorskip("torch", reason="PyTorch itself is not installed")
    if torch.__version__.split("+")[0] != RECORDED["torch"]:
        pytest.skip(f"the record is of PyTorch {RECORDED['torch']}, {torch.__version__} is installed")
    now = RECORDER["record"](CASES)["cases"]
    assert list(now) == list(RECORDED["cases"])
    assert [name for name in now if not same(now[name], RECORDED["cases"][name])] == []


def test_takes_the_arguments_that_pytorch_takes():
    torch = pytest.importorskip("torch", reason="PyTorch itself is not installed")
    for function in (gradcheck, gradgradcheck):
        ours, theirs = (inspect.signature(getattr(library.autograd, function.__name__)) for library in (mg, torch))
        assert [p.replace(annotation=p.empty) for p in ours.parameters.values()] == [
            p.replace(annotation=p.empty) for p in theirs.parameters.values()]


class WrongFormula(Function):
    """exp with the derivative of exp at a point beside it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, grad_output):
        x, = ctx.saved_tensors
        return grad_output * (x * 1.01).exp()


class WrongSecondTime(Function):
    """exp with the right derivative, taken for a constant."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y.detach().clone())
        return y

    @staticmethod
    def backward(ctx, grad_output):
        y, = ctx.saved_tensors
        return grad_output * y


def point() -> mg.Tensor:
    return mg.tensor([0.5, 1.5, -2.0], dtype=mg.float64, requires_grad=True)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_rejects_a_wrong_formula(fast_mode):
    assert gradcheck(mg.exp, point(), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0 with respect to input 0,\nnumerical:"):
        gradcheck(WrongFormula.apply, point(), fast_mode=fast_mode)
    assert not gradcheck(WrongFormula.apply, point(), fast_mode=fast_mode, raise_exception=False)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_rejects_a_wrong_double_backward(fast_mode):
    assert gradgradcheck(mg.exp, point(), fast_mode=fast_mode)
    assert gradcheck(WrongSecondTime.apply, point(), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0 with respect to input 0,\nnumerical:"):
        gradgradcheck(WrongSecondTime.apply, point(), fast_mode=fast_mode)


def test_rejects_one_wrong_operation_of_the_table(monkeypatch):
    node = type(mg.sin(point()).grad_fn)
    right = node.apply
    monkeypatch.setattr(node, "apply", lambda self, *args: tuple(g * 1.01 for g in right(self, *args)))
    assert not gradcheck(mg.sin, point(), raise_exception=False)
    monkeypatch.undo()
    assert gradcheck(mg.sin, point())


def test_leaves_the_input_as_it_was():
    x = point()
    calls = []

    def func(x):
        calls.append(x.tolist())
        if len(calls) == 4:
            raise KeyError("in the middle")
        return x * x

    with pytest.raises(KeyError):
        gradcheck(func, x)
    assert calls[0] == [0.5, 1.5, -2.0] and calls[3] == [0.5, 1.5 - 1e-6, -2.0]
    assert x.tolist() == calls[0] and x._version == 0 and x.grad is None


def test_outputs_before_the_checked_one_do_not_shift_the_comparison():
    # PyTorch compares the wrong pair here, or says that sizes do not fit.
    assert gradcheck(lambda x: (mg.tensor([1, 2]), x * x), point())
    assert gradcheck(lambda x: (mg.ones(2, dtype=mg.float64), x * x), point(), fast_mode=True)


@pytest.mark.parametrize("options", [{"check_forward_ad": True}, {"check_batched_grad": True},
                                     {"check_forward_ad": True, "check_backward_ad": False}])
def test_refuses_what_minigrad_does_not_have(options):
    with pytest.raises(NotImplementedError, match="^minigrad has neither forward-mode AD nor batched gradients"):
        gradcheck(mg.exp, point(), **options)
    with pytest.raises(NotImplementedError, match="^minigrad has neither forward-mode AD nor batched gradients"):
        gradgradcheck(mg.exp, point(), check_fwd_over_rev=True)


def test_the_warning_is_about_the_callers_line():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gradcheck(lambda x: x * 2, mg.ones(2, requires_grad=True), eps=0.125)
    assert [w.filename for w in seen] == [__file__]
