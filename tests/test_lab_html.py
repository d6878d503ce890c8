"""The labs' HTML: hostile texts stay text, and the page's allow-list knows every element that is made."""
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import minigrad as mg
from minigrad import lab
from minigrad.lab.html import Html, code, join, tag, words

SCRIPT = Path(lab.__file__).with_name("widget.js").read_text(encoding="utf-8")
ALLOWED = set(" ".join(re.findall(r'"([^"]*)"', SCRIPT.partition("const ELEMENTS")[2].partition(";")[0])).split(" "))
HOSTILE = [
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</div></svg><script>alert(1)</script>", "<svg onload=alert(1)>",
    '" onmouseover="alert(1)', "' onfocus='alert(1)' autofocus='", "<a href='javascript:alert(1)'>x</a>", "javascript:alert(1)",
    "<iframe src=//evil></iframe>", "<style>*{display:none}</style>", "<math><mtext><img src=x></mtext></math>", "&lt;img src=x&gt;",
    "]]><img src=x>", "<!--<img src=x>-->", "<object data=x>", r"\mathrm{<img src=x>}", r"$\href{javascript:alert(1)}{x}$",
    "\u202egnp.exe", "a\x00b\x1b[31m", "{{7*7}} ${alert(1)} %s {0}",
]


class Reader(HTMLParser):
    """Collects what a browser would find."""

    def __init__(self):
        super().__init__()
        self.found, self.text = [], ""

    def handle_starttag(self, name, attributes):
        self.found.append((name, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def read(page):
    reader = Reader()
    reader.feed(page)
    for name, attributes in reader.found:
        assert name in ALLOWED, name
        for key in attributes:
            assert not re.match(r"on|.*href|src|action|formaction", key), (name, key)
    return reader


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(ipython_dir=str(tmp_path_factory.mktemp("ipython")), colors="nocolor")
    shell.run_cell("%load_ext minigrad.lab\nimport minigrad as mg\nfrom minigrad import lab")
    yield shell
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_texts_stay_text(shell, evil, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MINIGRAD_ANSWERS", str(tmp_path / "answers.json"))
    comment = " ".join(c for c in evil if c.isprintable())
    shell.run_cell(f"%%explore\nx = mg.ones(1, requires_grad=True)  # {comment}\nglobals()[{evil!r}] = x * 2\nprint({evil!r})\n"
                   f"y = x * 3\nif not x.requires_grad: raise ValueError({evil!r})\ny.backward()")
    explorer = lab.last()
    for tab in ("graph", "backward", "memory", "time line"):
        explorer.open(tab)
        read(explorer.widget.html)
        explorer.toggle("x.requires_grad")
        read(explorer.widget.html)
        explorer.undo()
    gate = lab.gate(f"x = mg.ones(1)\nraise ValueError({evil!r})", "x.requires_grad", question=evil,
                    options={"False": (evil, ["False"]), evil + " ": (evil, ["True"])})
    gate.commit("B")
    gate.reveal()
    read(gate.widget.html)
    read(gate._repr_mimebundle_()[0]["text/html"])
    panel = lab.LiveGraph(shell)
    shell.run_cell(f"globals()[{evil!r}] = mg.ones(1, requires_grad=True)", store_history=True)
    read(panel.widget.html)
    panel.close()
    del shell.user_ns[evil]


def test_the_check_can_fail():
    for page in ("<script>", "<div onclick=x>", "<img src=x>", "<svg xlink:href=x>"):
        with pytest.raises(AssertionError):
            read(page)
    assert {"svg", "math", "table", "input", "button"} <= ALLOWED and "script" not in ALLOWED and "a" not in ALLOWED


def test_markup_is_made_by_tag_alone():
    assert tag("p", "<b>", tag("b", "&"), None, False, 0, class_="a\"b", title=None, hidden=True, send={"x": "<"}) == (
        '<p class="a&quot;b" hidden data-send="{&quot;x&quot;: &quot;&lt;&quot;}">&lt;b&gt;<b>&amp;</b>0</p>')
    assert tag("input", key="k", value=0) == '<input value="0" data-id="k">' and isinstance(join(["a"]), Html)
    assert read(code("a = 1\n\nb = 2 < 3\n", failed=3)).text == "1a = 12✗ 3b = 2 < 3"
    assert str(mg.ones(1)) in tag("td", mg.ones(1))


@pytest.mark.parametrize("sentence, markup", [
    ("`a < b` is *not* **b**", "<code>a &lt; b</code> is <em>not</em> <strong>b</strong>"), ("2 * x * 3", "2 * x * 3"),
    ("a*b*c, **kwargs", "a*b*c, **kwargs"), ("`x * y` and `**`", "<code>x * y</code> and <code>**</code>"), ("a ` b", "a ` b"),
])
def test_a_sentence_marks_code_as_markdown_does(sentence, markup):
    assert words(sentence) == markup and isinstance(words(sentence), Html)
