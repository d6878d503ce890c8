"""Everything public says what it is: the reference (CONTRIBUTING has the command) has no holes, and no public name is missing in it."""
from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anywidget")
from tests import reference

ROOT = Path(__file__).resolve().parent.parent


def public(module: Any) -> list[str]:
    """The names that a module offers: those of its ``__all__``, or what it defines itself."""
    return getattr(module, "__all__", None) or [name for name, value in vars(module).items() if not name.startswith("_")
                                                and getattr(value, "__module__", "") == module.__name__]


def undocumented(holder: Any, names: list[str], path: str) -> Iterator[str]:
    """What has no docstring among the functions, classes, methods and properties of a module or class."""
    for name in names:
        value = inspect.getattr_static(holder, name)
        value = getattr(value, "__func__", value)
        if not (inspect.isroutine(value) or inspect.isclass(value) or inspect.isdatadescriptor(value)) or inspect.ismemberdescriptor(value):
            continue
        if not (inspect.getdoc(value) or inspect.getdoc(getattr(holder, name))):
            yield f"{path}.{name}"
        if inspect.isclass(value) and value.__module__.startswith("minigrad"):
            yield from undocumented(value, [own for own in vars(value) if not own.startswith("_")], f"{path}.{name}")


@pytest.mark.parametrize("name", reference.MODULES)
def test_everything_public_has_a_docstring(name):
    module = importlib.import_module(name)
    assert module.__doc__ and public(module)
    assert list(undocumented(module, public(module), name)) == []


def test_a_hole_would_be_found():
    class Holed:
        """Documented, but for two of its members."""
        limit = 3

        def told(self):
            """Has one."""

        def silent(self):
            pass

        @property
        def value(self):
            pass

    assert list(undocumented(Holed, ["told", "silent", "value", "limit"], "Holed")) == ["Holed.silent", "Holed.value"]


def test_every_public_name_is_on_its_page(tmp_path):
    pytest.importorskip("pdoc", reason="pdoc is not installed: the reference is not written")
    subprocess.run([sys.executable, "-m", "tests.reference", tmp_path], cwd=ROOT, check=True)       # pdoc may load modules anew
    for name in reference.MODULES:
        page = (tmp_path / f"{name.replace('.', '/')}.html").read_text(encoding="utf-8")
        module = importlib.import_module(name)
        wanted = [own for own in public(module) if not inspect.ismodule(getattr(module, own))]
        assert [own for own in wanted if f'id="{own}"' not in page] == [], name
        assert page.count('&lt;function') == 0, name          # what pdoc makes of a type it cannot read
