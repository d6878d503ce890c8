"""The lessons as pages in a browser: opened as files, without a network, light and dark, and as slides."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.test_pages import NOTEBOOKS, load_pages

NAMES = [path.relative_to(NOTEBOOKS).with_suffix(".html").as_posix()
         for path in (*sorted(NOTEBOOKS.glob("*.ipynb")), *NOTEBOOKS.glob("teacher/*.*"))]
PICTURES = os.environ.get("MINIGRAD_SCREENSHOTS")
BLIND = "[...document.images].filter(image => !image.complete || !image.naturalWidth || !image.alt).length"
TOO_WIDE = """[...document.querySelectorAll('.jp-OutputArea-output, .jp-MarkdownOutput, .folded, pre')].filter(e =>
    e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'visible').map(e => e.textContent.trim().slice(0, 60))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    load_pages().main(folder)
    return folder


@pytest.fixture
def opened(browser, folder):
    """Open a page without a network; what the console says or the page asks of a network is a problem."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    page, problems = context.new_page(), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if request.url.startswith("http") else None)

    def open_page(name, fragment=""):
        page.goto((folder / name).as_uri() + fragment)
        return page, problems

    yield open_page
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_all_it_has_without_a_network(opened, name):
    page, problems = opened(name)
    for theme, background in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(17, 17, 17)")):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
        assert page.evaluate(BLIND) == 0 and page.evaluate(TOO_WIDE) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if PICTURES:
            page.screenshot(path=str(Path(PICTURES) / f"page-{Path(name).stem}-{theme}.png"), full_page=True)
    assert problems == []


def test_slides_leave_nothing_out(opened):
    page, problems = opened("09_in_place.html")
    page.get_by_role("link", name="As slides").click()
    page.wait_for_function("scrollY < 100")
    seen, end = 0, page.evaluate("document.documentElement.scrollHeight")
    tops = page.evaluate("[...document.querySelectorAll('section')].map(slide => Math.round(slide.getBoundingClientRect().top + scrollY))")
    stops = [0]
    while seen < end - 1:
        page.keyboard.press("PageDown")
        page.wait_for_timeout(50)
        top = page.evaluate("scrollY")
        assert stops[-1] < top <= max(seen, 720) + 2
        stops.append(top)
        seen = top + 720
    assert all(any(abs(stop - top) < 4 for stop in stops) for top in tops[1:-1])
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("scrollY") < stops[-1] and problems == []
