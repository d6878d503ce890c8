"""The labs in JupyterLab, by mouse and by keyboard: they answer at once, the focus stays, nothing is revealed too early."""
from __future__ import annotations

import json
import os
import re
import urllib.request
from pathlib import Path
from statistics import median

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SETUP = "%load_ext minigrad.lab\nimport minigrad as mg\nfrom minigrad import lab"
SQUARE = "x = mg.tensor([2.0], requires_grad=True)\ny = mg.tensor([3.0])\nz = x * y\nt = z ** 2\nt.backward()"
TABLE = f"lab.gate('''\n{SQUARE}\n''', 'x.grad', 'y.grad', 't.requires_grad', 'error', name='table')"
LETTERS = (f"lab.gate('''\n{SQUARE}\n''', 'z.grad', name='letters', options={{'None': 'A result does not keep its gradient.', "
           "'tensor([12.])': 'believes that every tensor keeps its gradient.', 'tensor([0.])': 'believes that the flag allocates one.'})")
PICTURES = os.environ.get("MINIGRAD_SCREENSHOTS")
# How long from a click to a changed picture, each time, as the page sees it.
CLICKS = """async ({ lab, times }) => {
    const body = lab.querySelector('[data-id="graph"]'), found = []
    for (let i = 0; i < times; i++) {
        const changed = new Promise((done) => {
            const watch = new MutationObserver(() => { watch.disconnect(); requestAnimationFrame(done) })
            watch.observe(body, { subtree: true, childList: true, attributes: true, characterData: true })
        })
        const start = performance.now()
        lab.querySelector('[data-id="switch-y.requires_grad"]').click()
        await changed
        found.push(performance.now() - start)
    }
    return found }"""

# Text that stands out too little from what is behind it, as the browser really draws it; what is switched off may be faint.
FAINT = """lab => {
    const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    const drawn = (colours) => {
        pixel.clearRect(0, 0, 1, 1)
        for (const colour of colours) { pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1) }
        return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255)
    }
    const light = ([r, g, b]) => [[r, .2126], [g, .7152], [b, .0722]].reduce((sum, [part, weight]) =>
        sum + weight * (part <= .03928 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4), 0)
    const found = []
    for (const element of lab.querySelectorAll('*')) {
        const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
        if (!own || element.closest('svg, :disabled') || !element.getClientRects().length) continue
        if (getComputedStyle(element).visibility === 'hidden') continue
        const behind = []
        for (let e = element; e; e = e.parentElement) behind.unshift(getComputedStyle(e).backgroundColor)
        const [low, high] = [light(drawn(behind)), light(drawn([...behind, getComputedStyle(element).color]))].sort((a, b) => a - b)
        const contrast = (high + .05) / (low + .05)
        if (contrast < 4.5) found.push(`${element.className} ${element.textContent.trim().slice(0, 30)}: ${contrast.toFixed(2)}`)
    }
    return found }"""


@pytest.fixture
def store(server):
    """Put a notebook of these cells on the server."""
    def put(name: str, *cells: dict) -> None:
        address, token = server
        notebook = {"nbformat": 4, "nbformat_minor": 5, "cells": cells, "metadata": {"kernelspec": {
            "name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}}
        request = urllib.request.Request(f"{address}/api/contents/{name}", method="PUT", headers={"Authorization": f"token {token}"},
                                         data=json.dumps({"type": "notebook", "format": "json", "content": notebook}).encode())
        urllib.request.urlopen(request, timeout=10).close()
    return put


def code_cell(number: int, source: str, outputs: tuple[dict, ...] = ()) -> dict:
    return {"id": f"c{number}", "cell_type": "code", "source": source, "metadata": {}, "outputs": list(outputs), "execution_count": None}


@pytest.fixture
def labs(lesson, store):
    """Open a notebook of these cells, run it, and return it with its labs."""
    def open_notebook(*cells: str):
        store("labs.ipynb", *(code_cell(i, source) for i, source in enumerate((SETUP, *cells))))
        shown = lesson("labs.ipynb")
        shown.run_all()
        found = shown.locate(".mg-lab")
        found.first.wait_for()
        return shown, found
    return open_notebook


def focused(page) -> str:
    """What the element with the focus is called."""
    return page.evaluate("document.activeElement.dataset.id ?? document.activeElement.tagName")


def has(page, lab, text: str) -> None:
    """Wait until the lab says this."""
    page.wait_for_function("([lab, text]) => lab.textContent.includes(text)", arg=[lab.element_handle(), text])


def test_the_explorer_by_mouse(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    lab, page = found.first, shown.page
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(page, lab, "y.requires_grad is True now, not False.")
    lab.get_by_role("tab", name="backward").click()
    lab.get_by_role("button", name="One step forward").click()
    has(page, lab, "step 1 of 4")
    has(page, lab, "PowBackward0 of t")
    assert lab.locator("math").count() == 1 and lab.locator("math").bounding_box()["height"] > 8      # the formula is drawn
    lab.get_by_role("button", name="Play").click()
    has(page, lab, "step 2 of 4")
    has(page, lab, "after backward")
    for tab, text in (("memory", "one storage"), ("time line", "requires_grad True"), ("graph", "MulBackward0")):
        lab.get_by_role("tab", name=tab).click()
        has(page, lab, text)
    lab.get_by_role("button", name="Undo").click()
    page.wait_for_function("lab => !lab.textContent.includes('is True now')", arg=lab.element_handle())    # what it changed is undone
    assert lab.get_by_role("switch", name="y.requires_grad, line 2").get_attribute("aria-checked") == "false"
    lab.get_by_role("switch", name="x.requires_grad, line 1").click()
    has(page, lab, "does not have a grad_fn")
    assert shown.problems == []


def test_labs_can_be_read_in_every_theme(labs):
    shown, found = labs("%%explore\n" + SQUARE, TABLE)
    lab, gate, page = found.nth(0), found.nth(1), shown.page
    gate.get_by_label("x.grad").fill("1")
    gate.get_by_role("group", name="t.requires_grad").get_by_text("True").click()
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    for theme in ("JupyterLab Dark", "JupyterLab Light", "JupyterLab Dark High Contrast"):
        if theme.endswith("Contrast"):
            page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        else:
            shown.set_theme(theme)
        for tab in ("graph", "backward", "memory", "time line"):
            lab.get_by_role("tab", name=tab).click()
            page.wait_for_function("([lab, tab]) => lab.querySelector(`[data-id='body-${tab}']`)", arg=[lab.element_handle(), tab])
            page.mouse.move(5, 5)
            page.wait_for_timeout(250)                          # a change of colour takes a moment
            assert lab.evaluate(FAINT) == [] and shown.too_wide() == []
        assert gate.evaluate(FAINT) == []
        if PICTURES:
            lab.screenshot(path=str(Path(PICTURES) / f"lab-{theme}.png"))
    lab.evaluate("lab => { lab.querySelector('.mg-text').style.color = 'transparent' }")
    assert len(lab.evaluate(FAINT)) == 1                        # the check can fail
    page.emulate_media(forced_colors="active")
    page.wait_for_timeout(250)
    assert shown.problems == []


def test_the_explorer_by_keyboard(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    lab, page = found.first, shown.page
    lab.get_by_role("switch").first.focus()
    page.keyboard.press("ArrowRight")
    assert focused(page) == "switch-y.requires_grad"
    page.keyboard.press("Space")
    has(page, lab, "y.requires_grad is True now")
    assert focused(page) == "switch-y.requires_grad"            # and the cell did not take the key
    page.keyboard.press("End")
    assert focused(page) == "switch-t.backward"
    page.keyboard.press("Tab")
    assert focused(page) == "back"
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    has(page, lab, "before backward")
    page.keyboard.press("ArrowRight")
    has(page, lab, "step 1 of 4")
    assert focused(page) == "slider"
    lab.get_by_role("tab", name="graph").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    has(page, lab, "receives grad")
    assert focused(page) == "tab-backward"
    assert len(shown.code_cells()) == 2 and shown.problems == []


def test_a_click_changes_the_picture_at_once(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    page, handle = shown.page, found.first.element_handle()
    page.evaluate(CLICKS, {"lab": handle, "times": 4})
    times = sorted(page.evaluate(CLICKS, {"lab": handle, "times": 40}))
    print(f"from a click to a changed picture: median {median(times):.0f} ms, p95 {times[37]:.0f} ms")
    assert median(times) < 300                                  # 100 ms on a machine that does nothing else
    assert shown.problems == []


def test_five_hundred_clicks(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    lab, page = found.first, shown.page
    handle = lab.element_handle()
    page.evaluate(CLICKS, {"lab": handle, "times": 2})
    count = "document.querySelectorAll('*').length"
    before = page.evaluate(count)
    page.evaluate("""lab => { for (let i = 0; i < 499; i++) lab.querySelector('[data-id="switch-y.requires_grad"]').click() }""", handle)
    lab.get_by_role("tab", name="memory").click()               # the kernel answers in order: when this is there, all are done
    has(page, lab, "one storage")
    assert lab.get_by_role("switch", name="y.requires_grad, line 2").get_attribute("aria-checked") == "true"
    lab.get_by_role("tab", name="graph").click()
    has(page, lab, "MulBackward0")
    assert "y = mg.tensor([3.0], requires_grad=True)" in lab.inner_text()
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(page, lab, "y.requires_grad is False now")
    assert abs(page.evaluate(count) - before) < 20 and shown.problems == []


def test_a_gate_by_mouse_keeps_its_secret(labs):
    shown, found = labs(TABLE)
    lab, page = found.first, shown.page
    assert "tensor([36.])" not in lab.inner_text() and lab.locator("svg").count() == 0
    for name, guess in (("x.grad", "36"), ("y.grad", "0")):
        lab.get_by_label(name).fill(guess)
    lab.get_by_role("group", name="t.requires_grad").get_by_text("True").click()
    lab.get_by_role("group", name="does it raise an error?").get_by_text("no error").click()
    has(page, lab, "Commit when you are sure.")
    lab.get_by_role("button", name="Commit").click()
    has(page, lab, "Committed")
    assert "tensor([36.])" not in lab.inner_text()
    shown.run_all()                                             # remembers the answer, and still reveals nothing
    has(page, lab, "Committed")
    assert "tensor([36.])" not in lab.inner_text()
    lab.get_by_role("button", name="Reveal").click()
    has(page, lab, "3 of 4 right")
    has(page, lab, "did not ask for it")                        # why y.grad is None
    assert lab.locator("svg").count() == 1 and shown.too_wide() == [] and shown.problems == []
    if PICTURES:
        lab.screenshot(path=str(Path(PICTURES) / "gate.png"))


def test_a_gate_by_keyboard_and_in_class(labs):
    shown, found = labs(LETTERS)
    lab, page = found.first, shown.page
    lab.get_by_role("button", name="tensor([12.])").focus()
    page.keyboard.press("c")
    has(page, lab, "Commit when you are sure.")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert focused(page) == "option-B"
    page.wait_for_function("document.activeElement.getAttribute('aria-pressed') === 'true'")
    lab.get_by_role("button", name="Count hands").click()
    for vote, hands in ((1, ("3", "12", "1")), (2, ("15", "1", ""))):
        for letter, count in zip("ABC", hands, strict=True):
            lab.get_by_label(f"hands for {letter}, vote {vote}").focus()
            page.keyboard.type(count)
        page.keyboard.press("Enter")
        if vote == 1:
            lab.get_by_role("button", name="Second vote").click()
    lab.get_by_role("button", name="Commit").press("Enter")
    has(page, lab, "Committed")
    assert "every tensor keeps" not in lab.inner_text()
    lab.get_by_role("button", name="Reveal").press("Enter")
    has(page, lab, "every tensor keeps its gradient")
    has(page, lab, "Your answer, B, is not what the program does. A is.")
    assert [lab.locator(".mg-vote").nth(i).inner_text() for i in range(4)] == ["3", "15", "12", "1"]
    assert shown.problems == []


def test_livegraph_follows_the_cells(labs):
    shown, found = labs("%livegraph", "x = mg.tensor([2.0], requires_grad=True)\ny = x * 3", "y.backward()")
    lab = found.first
    has(shown.page, lab, "x.grad is [3.] now, not None.")
    assert "MulBackward0" in lab.locator("svg").text_content() and shown.problems == []


# ---- the worst day: whatever happens to the kernel or the page, the lab works, or says what to do

SILENT = "Python does not answer."
KERNEL = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"


def reopened(shown):
    """The labs of the page, loaded again."""
    shown.page.evaluate("jupyterapp.shell.currentWidget.context.save()")
    shown.page.reload()
    shown.page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .mg-lab")
    return shown.locate(".mg-lab").first


def test_a_lab_whose_kernel_was_restarted_says_so_and_works_when_its_cell_ran_again(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    lab, page = found.first, shown.page
    page.evaluate(f"{KERNEL}.restart()")
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(page, lab, SILENT)
    assert "run this cell again" in lab.inner_text()
    shown.run_all()
    assert SILENT not in lab.inner_text() and found.count() == 1
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(page, lab, "y.requires_grad is True now")


def test_a_press_during_a_long_cell_waits_and_takes_nothing_of_it(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    lab, page = found.first, shown.page
    page.evaluate("""kernel => { window.printed = ''
        const cell = eval(kernel).requestExecute({ code: 'import time\\nfor i in range(50):\\n    w = x * i; print(i); time.sleep(0.1)' })
        cell.onIOPub = (message) => { window.printed += message.content.text ?? '' }
        window.ended = cell.done }""", KERNEL)
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(page, lab, SILENT)
    assert "If another cell is running, wait for it." in lab.inner_text()
    page.evaluate("window.ended")
    has(page, lab, "y.requires_grad is True now")
    assert SILENT not in lab.inner_text() and "x * i" not in lab.inner_text()
    assert page.evaluate("window.printed").split() == [str(i) for i in range(50)]
    assert shown.problems == []


def test_the_stop_button_ends_a_program_that_a_switch_made_endless(labs):
    shown, found = labs("%%explore\nx = mg.ones(1)\nwhile x.requires_grad:\n    pass\n")
    lab, page = found.first, shown.page
    lab.get_by_role("switch", name="x.requires_grad, line 1").click()
    has(page, lab, SILENT)
    page.evaluate(f"{KERNEL}.interrupt()")
    has(page, lab, "KeyboardInterrupt")
    lab.get_by_role("switch", name="x.requires_grad, line 1").click()
    page.wait_for_function("lab => !lab.textContent.includes('KeyboardInterrupt')", arg=lab.element_handle())
    assert SILENT not in lab.inner_text()


def test_a_page_that_is_loaded_again_has_its_labs_and_they_work(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    found.first.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(shown.page, found.first, "y.requires_grad is True now")
    lab = reopened(shown)
    assert "y = mg.tensor([3.0], requires_grad=True)" in lab.inner_text()                        # as it was left
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(shown.page, lab, "y.requires_grad is False now")
    assert shown.problems == []


def test_a_notebook_of_yesterday_shows_its_labs_and_says_what_to_do(labs):
    shown, found = labs("%%explore\n" + SQUARE)
    shown.page.evaluate("jupyterapp.shell.currentWidget.context.save()")
    shown.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab = reopened(shown)
    assert "MulBackward0" in lab.locator("svg").text_content()
    lab.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(shown.page, lab, SILENT)


def test_a_notebook_that_is_not_trusted_shows_its_pictures_and_keeps_the_secret(lesson, store, tmp_path):
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(ipython_dir=str(tmp_path), config=config)
    shell.run_cell(SETUP)
    shell.run_cell("%%explore\n" + SQUARE)
    gate = eval(LETTERS, shell.user_ns)
    InteractiveShell.clear_instance()
    both = shell.user_ns["lab"].last(), gate
    outputs = [{"output_type": "display_data", "metadata": {}, "data": part.widget._static()} for part in both]
    store("foreign.ipynb", *(code_cell(i, "", (output,)) for i, output in enumerate(outputs)))
    shown = lesson("foreign.ipynb")
    picture = shown.locate("img").first
    picture.wait_for()
    assert picture.bounding_box()["height"] > 100 and "MulBackward0" in picture.get_attribute("alt")
    text = " ".join(shown.locate(".jp-OutputArea").all_inner_texts())
    assert "Run the cell: then each flag of the program has a switch." in text and "Run the cell to answer." in text
    assert "believes" not in text and shown.problems == []


def test_two_notebooks_with_the_same_ids_leave_each_other_alone(labs, store):
    shown, found = labs("%%explore\n" + SQUARE)
    store("other.ipynb", *(code_cell(i, source) for i, source in enumerate((SETUP, "%%explore\n" + SQUARE))))
    shown.page.evaluate("jupyterapp.commands.execute('docmanager:open', { path: 'other.ipynb' })")
    shown.page.wait_for_function("""jupyterapp.shell.currentWidget.context.path === 'other.ipynb'
        && jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'""")
    shown.run_all()
    both = shown.page.locator(".mg-lab")
    shown.page.wait_for_function("document.querySelectorAll('.mg-lab').length === 2")
    ids = [set(re.findall(r' id="([^"]+)"', both.nth(i).inner_html())) for i in (0, 1)]
    assert ids[0] and ids[0] == ids[1]
    second = shown.locate(".mg-lab").first
    second.get_by_role("switch", name="y.requires_grad, line 2").click()
    has(shown.page, second, "y.requires_grad is True now")
    assert second.locator("g[data-changed]").count() > 0
    shown.page.evaluate("jupyterapp.commands.execute('docmanager:open', { path: 'labs.ipynb' })")
    first = shown.locate(".mg-lab").first
    first.wait_for()
    assert first.locator("g[data-changed]").count() == 0 and "y = mg.tensor([3.0])" in first.inner_text()
    assert shown.problems == []
