"""Fixtures: one JupyterLab and one browser for all browser tests, one page for each.

They end with this folder: while Playwright lives, nothing else can run an event loop in this thread.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from .jupyter import Lesson, find_browser, jupyterlab, launch_flags


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        say = "no Chrome, Chromium or Edge found (MINIGRAD_BROWSER can name one): JupyterLab was not driven"
        pytest.fail(say) if os.environ.get("CI") else pytest.skip(say)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=launch_flags())
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as server:
        yield server


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    yield context.new_page()
    context.close()


@pytest.fixture
def lesson(page: Page, server: tuple[str, str]) -> Callable[[str], Lesson]:
    return lambda name: Lesson(page, server, name)
