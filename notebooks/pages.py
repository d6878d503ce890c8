"""The lessons as pages for a laptop that will not start: one file each, read without a kernel and without a network.

    python3 notebooks pages         # writes my_notebooks/pages

Each page shows what its notebook stores, light or dark as the system is; what a question hides unfolds below it. Nothing can be pressed
there: a cell's metadata say under ``page`` which words are others on a page ("press … Reveal" is all from one to the other). *As slides*
at the top shows the same page large, a section, a question or a lab at a time; page up and down (or a clicker) turn the slides.
"""
from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbformat import NotebookNode, v4

import minigrad
from minigrad import lab
from minigrad.lab.html import join, tag, words
from minigrad.lab.mathml import mathml

NOTEBOOKS = Path(__file__).resolve().parent
LINK = re.compile(r"(\]\((?!\w+:)[^)#]+)\.(?:ipynb|md)\b")
FOLD = "<details><summary>For readers only"          # what a question reveals, for GitHub: a page has it from the question itself
PRESSED = re.compile(r"<p><em>Run the cell[^<]*</em></p>")          # of a question and a lab
STILL = "\n\n*(Switches and slider are live in JupyterLab. A page shows the lab as it starts; think the tasks through.)*"
FORMULA = re.compile(r"\$\$([^$]+)\$\$")
TEMPLATE = """
{%- extends 'index.html.j2' -%}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_css %}
<style media="(prefers-color-scheme: dark)">{{ resources.dark }}</style>
<style>
:root { color-scheme: light dark }
body { background: var(--jp-layout-color0) }
main { max-width: 72rem; margin: auto }
nav, .folded { font-family: var(--jp-content-font-family); font-size: var(--jp-content-font-size1); color: var(--jp-content-font-color1) }
nav { position: absolute; top: .5rem; right: 1rem }
nav a { color: var(--jp-content-link-color) }
.folded { margin: .3rem 0 .3rem 5rem }
summary { cursor: pointer }
.jp-RenderedHTML pre { font-family: var(--jp-code-font-family) }
.jp-RenderedHTMLCommon, .highlight pre { overflow-x: auto }
a[href="#page"] { display: none }
html:has(#slides:target) section { zoom: 1.35; min-height: calc(100vh / 1.35); padding-top: 1rem; box-sizing: border-box }
html:has(#slides:target) :is(.jp-InputPrompt, .jp-OutputPrompt, a[href="#slides"]) { display: none }
html:has(#slides:target) a[href="#page"] { display: inline }
</style>
<script>
addEventListener("keydown", event => {
    const step = { PageDown: 1, ArrowRight: 1, PageUp: -1, ArrowLeft: -1 }[event.key]
    if (!step || location.hash !== "#slides") return
    event.preventDefault()
    const away = [...document.querySelectorAll("section")].map(slide => step * slide.getBoundingClientRect().top).filter(top => top > 2)
    const next = Math.min(...away)
    scrollBy(0, step * (next < innerHeight + 2 ? next : innerHeight * 0.9))
})
</script>
{% endblock %}
{% block body_header %}{{ super() }}
<nav><a href="#slides">As slides</a><a href="#page">As a page</a></nav><section id="slides">
{% endblock %}
{% block body_footer %}</section>{{ super() }}{% endblock %}
{% block any_cell %}{% if cell.metadata.slide %}</section><section>{% endif %}{{ super() }}{% endblock %}
{% block input_group %}
{%- if cell.metadata.answer %}{% elif cell.metadata.jupyter.source_hidden -%}
<details class="folded"><summary>The code</summary>{{ super() }}</details>
{%- else %}{{ super() }}{% endif %}
{% endblock %}
{% block output_group %}
{%- if cell.metadata.jupyter.outputs_hidden %}<details class="folded"><summary>What it says</summary>{{ super() }}</details>
{%- else %}{{ super() }}{% endif -%}
{{ cell.metadata.answer }}
{% endblock %}
"""


def answer(cell: NotebookNode) -> str:
    """Return what a prediction gate reveals, to be unfolded: what is right, and what each other answer believes."""
    gate = eval(cell.source.partition("\n")[2], {"mg": minigrad, "lab": lab})
    said = [tag("li", tag("strong", option.letter), " is right. " if gate.is_right(option) else " " if option.believes[:1].islower() else
                ": ", words(option.believes)) for option in gate.options]
    return tag("details", tag("summary", "The answer"),
               *(tag("p", tag("code", ask), " is ", tag("code", text)) for ask, text in gate.says.items()), tag("ul", join(said)),
               class_="folded jp-RenderedHTMLCommon")


def is_check(cell: NotebookNode) -> bool:
    """Whether a cell checks an answer that nobody can write on a page."""
    return cell.source.startswith("# The check.") and "not done yet" in str(cell.outputs).lower()


def sections(cell: NotebookNode) -> list[NotebookNode]:
    """Cut a text before its headings: each begins a slide."""
    texts = re.split(r"\n\n(?=#+ )", cell.source) if cell.cell_type == "markdown" else []
    return [v4.new_markdown_cell(text, metadata=cell.metadata.copy()) for text in texts] or [cell]


def prepare(notebook: NotebookNode) -> NotebookNode:
    """Say where slides begin and what a gate reveals; let links lead to pages, and browsers draw the formulas."""
    for cell, after in zip(notebook.cells, [*notebook.cells[1:], NotebookNode(source="")], strict=True):
        if cell.cell_type == "markdown":
            for live, still in cell.metadata.get("page", {}).items():
                pattern = ".*".join(map(re.escape, live.split(" … ")))
                cell.source, found = re.subn(pattern, lambda _, text=still: text, cell.source, flags=re.DOTALL)
                if not found:
                    raise ValueError(f"no longer in the lesson: {live}")
            cell.source += STILL * after.source.startswith("%%explore")
    there = (cell for cell in notebook.cells if not cell.source.startswith(FOLD) and not is_check(cell))
    notebook.cells = [part for cell in there for part in sections(cell)]
    short = asked = titled = False
    for number, cell in enumerate(notebook.cells):
        cell.metadata.setdefault("jupyter", {})
        is_gate = cell.source.partition("\n")[2].startswith("lab.gate(")
        is_title = cell.cell_type == "markdown" and cell.source.startswith("#")
        is_lab = cell.source.startswith("%%explore")
        cell.metadata.slide = number > 0 and (is_title or asked or is_gate and not short or is_lab and not titled)
        short = cell.cell_type == "markdown" and len(cell.source) < 400 and (short or cell.metadata.slide)     # room for a question
        asked, titled = is_gate, is_title   # what comes after a question may answer it; a lab follows its tasks
        if is_gate:
            cell.metadata.answer = answer(cell)
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = PRESSED.sub("", output.data["text/html"])
        if cell.cell_type == "markdown":
            cell.source = FORMULA.sub(lambda found: mathml(found[1].replace("\\;", " ")), LINK.sub(r"\1.html", cell.source))
    return notebook


def main(folder: Path) -> None:
    """Write every page into a folder, in the order in which the originals lie."""
    exporter = HTMLExporter(raw_template=TEMPLATE)
    dark = exporter.environment.loader.get_source(exporter.environment, "static/theme-dark.css")[0]
    print("Writing the pages: half a minute or less.", flush=True)
    for path in sorted(NOTEBOOKS.rglob("*")):
        place = folder / path.relative_to(NOTEBOOKS)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".svg":
            shutil.copyfile(path, place)
        elif path.suffix in (".ipynb", ".md") and ".ipynb_checkpoints" not in path.parts:
            notebook = (nbformat.read(path, 4) if path.suffix == ".ipynb" else
                        v4.new_notebook(cells=[v4.new_markdown_cell(path.read_text(encoding="utf-8"))]))
            title = notebook.cells[0].source.splitlines()[0].strip("# ")
            page, _ = exporter.from_notebook_node(prepare(notebook), {"dark": dark, "metadata": {"name": title}})
            place.with_suffix(".html").write_text(page, encoding="utf-8", newline="\n")
    print(f"The pages are in {folder}; begin with {folder / '00_start_here.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
