"""The command that breaks the engine breaks it: each change is one, and a test that fails on it kills it."""
from __future__ import annotations

import ast

import pytest

from tests.hardening import mutants

SOURCE = '''
def largest(values: list[int], most: int = 9) -> int:
    """The largest value up to 9."""
    found = 0
    for value, _ in zip(values, values, strict=True):
        if value > most and not found:
            continue
        found += value
        values.sort()
    return found if found < most else most
'''


def test_every_kind_of_change_is_made():
    changes = {(site.line, site.before, site.after) for site in mutants.sites("x.py", SOURCE)}
    assert changes == {
        (2, "9", "10"), (4, "0", "1"), (6, "if value > most and (not found):", "if not (value > most and (not found)):"),
        (6, "value > most and (not found)", "value > most or not found"), (6, "value > most", "value >= most"),
        (6, "not found", "bool(found)"), (7, "continue", "pass"), (8, "found += value", "found -= value"), (9, "values.sort()", "pass"),
        (10, "return found if found < most else most", "return None"), (10, "found < most", "found <= most"),
        (10, "found if found < most else most", "most if found < most else found")}


def test_a_mutant_differs_in_one_place():
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for site in mutants.sites("x.py", SOURCE):
        changed = mutants.mutant(SOURCE, site.number).splitlines()
        assert len([1 for a, b in zip(plain, changed, strict=True) if a != b]) == 1, site


@pytest.mark.parametrize("body, result", [("assert True", "survives"), ("assert False", "killed"), ("while True: pass", "hangs")])
def test_what_becomes_of_a_mutant(tmp_path, body, result):
    (tmp_path / "test_it.py").write_text(f"def test_it():\n    {body}\n", encoding="utf-8")
    assert mutants.run(["test_it.py"], tmp_path, 60 if result != "hangs" else 5) == result


def test_what_is_explained_is_still_there():
    places = {(site.code, site.after) for file in mutants.FILES
              for site in mutants.sites(file, (mutants.ROOT / "minigrad" / file).read_text(encoding="utf-8"))}
    assert set(mutants.EXPLAINED) <= places
