"""Graphviz where Python itself runs in the browser: the same module, run by the browser, says the same."""
from __future__ import annotations

import base64
import json

import pytest
from playwright.sync_api import Page

from minigrad.picture import graphviz_wasm

RUN = f"([code, source]) => ({graphviz_wasm.JAVASCRIPT})(Uint8Array.from(atob(code), c => c.charCodeAt(0)))(source)"


@pytest.mark.parametrize("source", [
    "digraph { rankdir=LR; a [shape=record, label=\"<v> x|<g> y\"]; a:v -> b; b -> c; subgraph cluster_0 { b } }",
    "digraph { \"größer\" -> \"≥\" }",
    "digraph {" + " ".join(f"{i} -> {i + 1}; {i} -> {i + 5};" for i in range(200)) + "}",       # more memory than it begins with
])
def test_the_browser_lays_out_as_python_does(page: Page, source: str) -> None:
    code = base64.b64encode(graphviz_wasm._wasm()).decode()
    assert json.loads(page.evaluate(RUN, [code, source])) == graphviz_wasm.run_dot(source)


def test_a_graph_that_is_none_is_refused(page: Page) -> None:
    assert page.evaluate(RUN, [base64.b64encode(graphviz_wasm._wasm()).decode(), "digraph { a -> "]) == ""
