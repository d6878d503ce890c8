"""minigrad prints what PyTorch 2.13.0 printed; and the records are still what PyTorch prints, where it is installed."""
from __future__ import annotations

import json
import re

import pytest

import minigrad

from .differences import DIFFERENCES, NOT_OFFERED, PENDING
from .harness import RECORDS, THEMES, TORCH, cases_of, compare, recorded, run, same_line
from .pytorch_names import TIER_1, TIER_2

ALL = [(theme, name) for theme in THEMES for name in cases_of(theme)]


def expected(theme: str, name: str) -> list[str]:
    """The recorded lines of a case, with minigrad's deliberate differences put in."""
    lines = recorded(theme)[name]
    own = DIFFERENCES[f"{theme}::{name}"].lines if f"{theme}::{name}" in DIFFERENCES else {}
    assert set(own) <= set(lines), "a difference names a line that PyTorch does not print"
    return [own.get(line, line) for line in lines]


@pytest.fixture(autouse=True)
def every_warning():
    minigrad.set_warn_always(True)      # the records hold the warnings that PyTorch gives once in a process, too
    yield
    minigrad.set_warn_always(False)


@pytest.mark.parametrize("theme, name", [
    pytest.param(theme, name, id=f"{theme}::{name}", marks=[pytest.mark.xfail(strict=True, reason="not yet as PyTorch does it")]
                 if f"{theme}::{name}" in PENDING else []) for theme, name in ALL])
def test_prints_what_pytorch_printed(theme, name):
    lines = run(cases_of(theme)[name], minigrad)
    missing = NOT_OFFERED.get(f"{theme}::{name}")
    if missing is not None:
        assert lines[-1].startswith("ended by AttributeError:") and lines[-1].endswith(f"has no attribute '{missing}'"), \
            f"{missing} is offered now: take the case off the list"
        return
    difference = compare(expected(theme, name), lines)
    assert not difference, "\n".join(difference)


@pytest.mark.parametrize("theme", THEMES)
def test_records_are_whole(theme):
    data = json.loads((RECORDS / f"{theme}.json").read_text(encoding="utf-8"))
    assert data["torch"] == TORCH
    assert list(data["cases"]) == list(cases_of(theme))
    assert all(data["cases"].values()), "a case that prints nothing shows nothing"


def claims(case) -> list[str]:
    """The tests of PyTorch whose behaviour a case states, by its docstring."""
    said = re.search(r"PyTorch: ([^\"]*)", case.__doc__ or "") if hasattr(case, "__name__") else None
    return re.findall(r"[\w.]*test_\w+", said[1]) if said else []


@pytest.mark.parametrize("tier", [TIER_1, TIER_2], ids=["tier 1", "tier 2"])
def test_pytorchs_own_tests_are_stated(tier):
    claimed = {name for theme, case in ALL for name in claims(cases_of(theme)[case])}
    assert len(claimed) > 100
    assert sorted(set(tier) - claimed) == []


def test_differences_differ():
    assert set(NOT_OFFERED) <= {f"{theme}::{name}" for theme, name in ALL}
    for case, (reason, lines) in DIFFERENCES.items():
        assert case in {f"{theme}::{name}" for theme, name in ALL}
        assert reason and lines
        assert not any(same_line(torch, own) for torch, own in lines.items())


@pytest.mark.parametrize("theme", THEMES)
def test_records_are_pytorch(theme):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: the records are not checked against it")
    if torch.__version__.split("+")[0] != TORCH:
        pytest.skip(f"the records are PyTorch {TORCH}'s, and {torch.__version__} is installed")
    want = recorded(theme)
    wrong = {name: difference for name, case in cases_of(theme).items()
             if (difference := compare(want[name], run(case, torch)))}
    assert not wrong


@pytest.mark.parametrize("line, other", [
    ("value float64 (1,) [0.30000000000000004]", "value float64 (1,) [0.30000000000001]"),
    ("value float32 (1,) [0.1]", "value float64 (1,) [0.1]"),
    ("tensor([0.3333])", "tensor([0.3334])"),
    ("graph MulBackward0(x, None)", "graph MulBackward0(x, y)"),
    ("is at version 1; expected version 0 instead", "is at version 2; expected version 0 instead"),
    ("value float64 (1,) [1.0]", "value float64 (1,) [nan]"),
])
def test_a_difference_is_found(line, other):
    assert compare(["first", line], ["first", other]) == ["line 2", f"  want {line}", f"  got  {other}"]
    assert compare([line], [line, other]) and compare([line, other], [line])


def test_last_digits_may_differ():
    assert not compare(["float64 (2,) [1.0, 0.1]"], ["float64 (2,) [1.0, 0.10000000000000003]"])
    assert compare(["float64 (1,) [0.1]"], ["float64 (1,) [0.1000000000000005]"])
    assert not compare(["float32 (1,) [0.1]"], ["float32 (1,) [0.1000001]"])


def test_a_wrong_library_is_found(monkeypatch):
    """The whole way from a case to its verdict can fail."""
    case, want = cases_of("ops_elementwise")["mul_number"], recorded("ops_elementwise")["mul_number"]
    assert not compare(want, run(case, minigrad))
    monkeypatch.setattr(minigrad.Tensor, "__mul__", minigrad.Tensor.__add__)
    assert compare(want, run(case, minigrad))
