"""The lessons as pages: whole, without a kernel or a network, links that lead somewhere, answers folded away."""
from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbconvert")
pytest.importorskip("anywidget")
NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
FOLDED = re.compile(r"<details.*?</details>", re.DOTALL)


def load_pages():
    """The command's module, which lies beside the lessons and in no package."""
    spec = importlib.util.spec_from_file_location("pages", NOTEBOOKS / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    load_pages().main(folder)
    return folder


def pages(folder):
    return {path.relative_to(folder).with_suffix("").as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}


def test_there_is_a_page_for_everything(folder):
    originals = [*NOTEBOOKS.rglob("*.ipynb"), *NOTEBOOKS.rglob("*.md")]
    assert set(pages(folder)) == {path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in originals
                                  if ".ipynb_checkpoints" not in path.parts}


def test_a_page_needs_no_network(folder):
    for name, page in pages(folder).items():
        assert re.findall(r"<link\b|@import|url\(\s*['\"]?http|<(?:script|img|iframe)[^>]*\bsrc=\"(?!data:)", page) == [], name


def test_links_lead_somewhere(folder):
    for name, page in pages(folder).items():
        links = [link.partition("#")[0] for link in re.findall(r'<a [^>]*href="(?!\w+:)([^"]*)"', page)]
        assert links and [link for link in links if not (folder / name).parent.joinpath(link).exists()] == [], name


def test_every_question_is_there_and_its_answer_folded(folder):
    for name, page in pages(folder).items():
        if (NOTEBOOKS / f"{name}.ipynb").exists():
            cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4).cells
            gates, right = sum("\nlab.gate(" in cell.source for cell in cells), "</strong> is right. "
            said = [page.count("<strong>Predict</strong>"), page.count(right), FOLDED.sub("", page).count(right)]
            assert said == [gates, gates, 0], name
            assert [text for text in ("lab.gate", "Run the cell to answer") if text in page] == [], name


def test_a_page_does_not_say_what_to_press(folder):
    pressed = r"Commit|Reveal|Count hands|Shift \+ Enter|Run the cell|Run it\.|Run the next|checking cell|<!-- "
    for name, page in pages(folder).items():
        if "run_sheets" not in name:                    # which are for whoever has a live notebook
            text = re.sub(r"<(style|script)\b.*?</\1>|<head>.*?</head>", "", page, flags=re.DOTALL)
            assert re.findall(pressed, FOLDED.sub("", text), re.IGNORECASE) == [], name
        assert name.startswith("solutions/") or "# The check." not in page, name


def test_pictures_errors_formulas_and_slides_are_there(folder):
    page = pages(folder)["00_start_here"]
    assert page.count("data:image/svg+xml") >= 3
    assert [text for text in ("RuntimeError", "<mfrac>") if text not in page] == [] and page.count("frac{") == 0
    assert page.count("<section") == page.count("</section>") > 5
