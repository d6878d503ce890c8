"""The adapters themselves: code made for PyTorch runs on minigrad, and a difference is found and named."""
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: peers compare with it")

import minigrad  # noqa: E402
from tests.peers import opinfo, translate  # noqa: E402
from tests.peers.report import Report, note  # noqa: E402

table = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).t()


def twisted(x):
    def inner(y):
        return torch.cat([y, table[:2, 0].to(torch.float64)])       # a global tensor, a dtype, a nested function
    return inner(x.exp() * 2)


def test_a_function_made_for_pytorch_runs_on_minigrad():
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    shown = opinfo.observe(minigrad, translate.ours(twisted), (translate.ours(x),), {})
    assert shown["result"]["grad_fn"] == "CatBackward0" and shown["result"]["values"].tolist()[2:] == [1.0, 2.0]
    assert set(shown) == {"result", "gradient", "second gradient"}
    assert opinfo.compare_calls(twisted, (x,), {}) is None


def test_layout_and_sharing_are_translated():
    part = table[1:, :]
    a, b = translate.ours((part, part))
    assert a is b and a.stride() == part.stride() and a.storage_offset() == part.storage_offset() and a.is_leaf
    assert a.tolist() == part.tolist()


@pytest.mark.parametrize("broken, said", [
    (lambda x: (x + 0.001).exp(), "result: values"), (lambda x: -x, "result: grad_fn: ExpBackward0 and ours NegBackward0"),
    (lambda x: x.exp().detach(), "result: requires_grad: True and ours False"),
    (lambda x: x.exp()[0], "result: shape: (2,) and ours ()"), (lambda x: x.exp(1, 2), "ours raises TypeError")])
def test_a_broken_operation_is_found(monkeypatch, broken, said):
    monkeypatch.setattr(minigrad, "exp", broken)
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    assert opinfo.compare_calls(torch.exp, (x,), {}).startswith(said)


def test_what_minigrad_lacks_is_no_failure():
    report = Report("lacks")
    note(report, "fft", lambda: opinfo.compare_calls(torch.fft.fft, (torch.ones(2),), {}))
    note(report, "exp", lambda: opinfo.compare_calls(torch.exp, (torch.ones(2),), {}))
    note(report, "bad", lambda: "values: 3 and ours 4")
    assert (report.passed, dict(report.missing), dict(report.failed)) == (
        ["exp"], {"torch.fft": 1}, {"values: # and ours #": ["bad"]})
    assert "1 passed, 1 failed, 1 ask for what minigrad does not offer" in str(report)
