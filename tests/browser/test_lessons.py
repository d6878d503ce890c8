"""Every lesson in JupyterLab: it runs, nothing overflows, the lab answers a switch."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from .jupyter import ROOT, find_browser

LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
RAW = """() => [...document.querySelectorAll('.jp-MarkdownOutput')].map(text => text.cloneNode(true)).filter(text => {
    text.querySelectorAll('code, details').forEach(part => part.remove())
    return /\\*\\*|\\]\\(|`/.test(text.textContent) }).map(text => text.textContent.trim().slice(0, 60))"""
PICTURES = os.environ.get("MINIGRAD_SCREENSHOTS")       # a folder: each lesson is photographed into it, light and dark


@pytest.mark.parametrize("name", LESSONS)
def test_runs_from_top_to_bottom(lesson, name):
    shown = lesson(name)
    shown.run_all()
    cells = shown.code_cells()
    assert [cell for cell in cells if bool(cell["errors"]) != ("raises-exception" in cell["tags"])] == []
    assert cells and [cell["source"] for cell in cells if not cell["count"]] == []
    assert shown.page.evaluate(RAW) == []                                   # texts that were not rendered: an HTML tag begins their line
    errors = shown.locate(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr'] pre, pre.mg-error")
    assert set(errors.evaluate_all("all => all.map(e => getComputedStyle(e).wordBreak)")) == {"normal"}     # whole words, to be read aloud
    for theme in ("Light", "Dark"):
        shown.set_theme(f"JupyterLab {theme}")
        assert shown.too_wide() == []
        if PICTURES:
            shown.photograph(Path(PICTURES), f"{Path(name).stem}-{theme.lower()}")
    assert shown.problems == []


def test_a_switch_changes_picture_and_code(lesson):
    shown = lesson("01_flags.ipynb")
    shown.run_all()
    lab = shown.locate(".mg-lab:has(.mg-switch)").first
    lab.scroll_into_view_if_needed()
    program, picture = lab.locator(".mg-program"), lab.locator("svg")
    picture.wait_for()
    code, drawing = program.inner_text(), picture.evaluate("svg => svg.outerHTML")
    assert "x = mg.tensor([2.0], requires_grad=True)" in code
    switch = lab.get_by_role("switch").first
    assert switch.get_attribute("aria-checked") == "true"
    switch.click()
    shown.page.wait_for_function("([lab, old]) => lab.querySelector('.mg-program').innerText !== old",
                                 arg=[lab.element_handle(), code])
    shown.page.wait_for_function("([lab, old]) => lab.querySelector('svg').outerHTML !== old",
                                 arg=[lab.element_handle(), drawing])
    assert "x = mg.tensor([2.0], requires_grad=False)" in program.inner_text()
    assert switch.get_attribute("aria-checked") == "false"
    assert switch.evaluate("button => button === document.activeElement")       # the focus stays where the hand is
    assert shown.problems == []


@pytest.mark.parametrize("system, environment, places, found", [
    ("Linux", {}, {"/usr/bin/chromium"}, "/usr/bin/chromium"),
    ("macOS", {"HOME": "/Users/ann"}, {"/Users/ann/Applications/Chromium.app/Contents/MacOS/Chromium"},
     "/Users/ann/Applications/Chromium.app/Contents/MacOS/Chromium"),
    ("Windows", {"PROGRAMFILES(X86)": "C:/Programs (x86)"}, {"C:/Programs (x86)/Microsoft/Edge/Application/msedge.exe"},
     "C:/Programs (x86)/Microsoft/Edge/Application/msedge.exe"),
    ("named", {"MINIGRAD_BROWSER": "/opt/b"}, {"/opt/b", "/usr/bin/chromium"}, "/opt/b"),
    ("none", {}, set(), None),
])
def test_finds_a_browser_where_systems_put_it(system, environment, places, found):
    def which(name):
        return next((place for place in places if place == f"/usr/bin/{name}"), None)
    path = find_browser(environment, which, lambda place: place.as_posix() in places)
    assert (path and Path(path).as_posix()) == found
