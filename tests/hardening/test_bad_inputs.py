"""Wrong calls of every public function: a clear error or a result, at once, and nothing half done."""
from __future__ import annotations

import collections
import json
from pathlib import Path

import pytest

import minigrad
from tests.hardening.bad_inputs import FAIR, INSIDE, Call, calls, look, offered, run, surface

EACH = 12
CALLS = list(calls(EACH))
OUTCOMES: dict[Call, object] = {}
# PyTorch raises these at times too (`F.mse_loss(x, 2)` says that an int has no attribute 'size'): its record says when.
RECORD = json.loads((Path(__file__).with_name("odd_errors.json")).read_text(encoding="utf-8"))


def outcomes():
    if not OUTCOMES:
        OUTCOMES.update((call, run(call, minigrad)) for call in CALLS)
    return OUTCOMES.items()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A call that writes a file writes it where it does no harm."""
    monkeypatch.chdir(tmp_path)


def test_there_are_enough_of_them():
    assert len(set(map(str, CALLS))) > 5000
    assert len(surface()) > 700
    assert {"mg.add", "mg.Tensor.add_", "mg.nn.Linear", "mg.nn.functional.relu", "operator.setitem"} <= set(surface())


def test_the_same_calls_come_every_time():
    assert [str(call) for call in calls(2)] == [str(call) for call in calls(2)]


def test_none_crashes():
    crashed = [f"{call}\n    {got.error}: {got.text}" for call, got in outcomes()
               if got.error and got.error not in FAIR and RECORD.get(str(call)) != got.error]
    assert not crashed, "If PyTorch does the same, `python -m tests.hardening.bad_inputs` writes that down.\n" + "\n".join(crashed)


def test_none_hangs():
    assert [f"{call}: {got.seconds:.1f} s" for call, got in outcomes() if got.seconds > 2] == []


def test_none_leaves_a_tensor_half_changed():
    assert [f"{call}: {got.changed}" for call, got in outcomes() if got.changed] == []


def test_every_error_says_why():
    unclear = [f"{call}\n    {got.error}: {got.text}" for call, got in outcomes() if got.error and (
        not got.text.strip() or (INSIDE.search(got.text) and str(call) not in RECORD))]
    assert not unclear, "\n".join(unclear)


def test_a_crash_or_a_half_done_write_would_be_found(monkeypatch):
    def broken(x, bad):
        x.add_(1)
        raise KeyError("dim")

    monkeypatch.setattr(minigrad, "broken", broken, raising=False)
    assert "mg.broken" in surface()
    got = run(Call("mg.broken", ("mg.tensor([1.0])", "'text'")), minigrad)
    assert got.error == "KeyError"
    assert [change.split(": ")[1].split()[0] for change in got.changed] == ["values", "version"]


def test_all_of_a_tensor_is_looked_at():
    x = minigrad.ones(2, requires_grad=True)
    before = look(x)
    for change in (lambda: x.requires_grad_(False), lambda: setattr(x, "grad", minigrad.ones(2)), lambda: x.detach().zero_(),
                   lambda: setattr(x, "data", minigrad.ones(3))):
        change()
        assert look(x) != before
        before = look(x)


def test_most_errors_are_pytorchs_own():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: its errors are not compared")
    kinds = collections.Counter()
    for call, got in outcomes():
        if offered(call, torch):
            want = run(call, torch)
            kinds["other type" if got.error != want.error else "other text" if got.text != want.text else "same"] += 1
    total = kinds.total()
    assert kinds["same"] > 0.9 * total, kinds
    assert kinds["other type"] < 0.06 * total, kinds
