"""The switches of a program's text: where they are, what flipping one writes, and that nothing else changes."""
import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigrad.lab.source import Program, find

EDITS = {
    "flag given": (
        "x = mg.tensor([2.0], requires_grad=True)", "x.requires_grad", "x = mg.tensor([2.0], requires_grad=False)"),
    "flag absent": (
        "x = mg.tensor([2.0])  # two", "x.requires_grad", "x = mg.tensor([2.0], requires_grad=True)  # two"),
    "no argument": ("x = mg.zeros()", "x.requires_grad", "x = mg.zeros(requires_grad=True)"),
    "argument in parentheses": ("x = mg.zeros((2))", "x.requires_grad", "x = mg.zeros((2), requires_grad=True)"),
    "trailing comma": (
        "x = mg.zeros(\n    2,  # rows\n)", "x.requires_grad", "x = mg.zeros(\n    2, requires_grad=True,  # rows\n)"),
    "comment before the parenthesis": (
        "x = mg.zeros((2  # )\n))", "x.requires_grad", "x = mg.zeros((2  # )\n), requires_grad=True)"),
    "Parameter defaults to True": (
        "w = mg.nn.Parameter(x)", "w.requires_grad", "w = mg.nn.Parameter(x, requires_grad=False)"),
    "Parameter's second argument": ("w = mg.nn.Parameter(x, False)", "w.requires_grad", "w = mg.nn.Parameter(x, True)"),
    "two at once": (
        "x, y = mg.ones(1), mg.ones(2)", "y.requires_grad", "x, y = mg.ones(1), mg.ones(2, requires_grad=True)"),
    "without a name": ("y = mg.ones(2) * 3", "mg.ones(2).requires_grad", "y = mg.ones(2, requires_grad=True) * 3"),
    "characters of several bytes": (
        's = "é✓𝒙"; ÿ = mg.ones(2)', "ÿ.requires_grad", 's = "é✓𝒙"; ÿ = mg.ones(2, requires_grad=True)'),
    "requires_grad_()": ("x.requires_grad_()", "x.requires_grad", "x.requires_grad_(False)"),
    "requires_grad_(False)": ("x.requires_grad_(False)", "x.requires_grad", "x.requires_grad_(True)"),
    "requires_grad = …": ("x.requires_grad = False", "x.requires_grad", "x.requires_grad = True"),
    "of a parameter": (
        "net.weight.requires_grad = False", "net.weight.requires_grad", "net.weight.requires_grad = True"),
    "a line under no_grad": ("z = x + y  # sum\nw = z", "no_grad", "with mg.no_grad():\n    z = x + y  # sum\nw = z"),
    "in-place under no_grad": ("w -= 0.1 * w.grad", "no_grad", "with mg.no_grad():\n    w -= 0.1 * w.grad"),
    "semicolons under no_grad": ("y = x**2; z = y**2", "no_grad", "with mg.no_grad():\n    y = x**2; z = y**2"),
    "several lines under no_grad": ("z = f(x,\n  y)", "no_grad", "with mg.no_grad():\n    z = f(x,\n      y)"),
    "a string of several lines": (
        'z = f(x, """a\n  b""")', "no_grad", 'with mg.no_grad():\n    z = f(x, """a\n  b""")'),
    "indented by tabs": ("if x:\n\tz = x + y", "no_grad", "if x:\n\twith mg.no_grad():\n\t\tz = x + y"),
    "block opened": ("with mg.no_grad():\n    z = x + y\n    # why\nw = z", "no_grad", "z = x + y\n# why\nw = z"),
    "block's comment kept": ("with mg.no_grad():  # off\n    z = x + y", "no_grad", "# off\nz = x + y"),
    "block on one line": ("with mg.no_grad(): z = x + y", "no_grad", "z = x + y"),
    "block in a block": (
        "for i in r:\n  with mg.no_grad():\n      z = x\n  w = z", "no_grad", "for i in r:\n  z = x\n  w = z"),
    "detach added": ("z = x * y  # product", "z.detach", "z = (x * y).detach()  # product"),
    "detach added to parentheses": ("z = (x * y)", "z.detach", "z = (x * y).detach()"),
    "detach added to two parentheses": ("z = (x) * (y)", "z.detach", "z = ((x) * (y)).detach()"),
    "detach added to a call": ("z = f(x)", "z.detach", "z = f(x).detach()"),
    "detach removed": ("y = x.detach()", "y.detach", "y = x"),
    "detach removed from parentheses": ("y = (x * 2).detach()", "y.detach", "y = (x * 2)"),
    "detach removed inside": ("y = a.detach() * b", "a.detach", "y = a * b"),
    "retain_grad added": ("def f(x):\n    z = x * 2\n    return z", "z.retain_grad",
                          "def f(x):\n    z = x * 2\n    z.retain_grad()\n    return z"),
    "retain_grad added after the last line": ("z = x * 2", "z.retain_grad", "z = x * 2\nz.retain_grad()"),
    "retain_grad among semicolons": ("y = x**2; z = y**2", "y.retain_grad", "y = x**2; y.retain_grad(); z = y**2"),
    "retain_grad behind a colon": ("if x: y = x**2", "y.retain_grad", "if x: y = x**2; y.retain_grad()"),
    "retain_grad after several lines": (
        "if x:\n    z = f(\n x)\n", "z.retain_grad", "if x:\n    z = f(\n x)\n    z.retain_grad()\n"),
    "retain_grad removed": ("z = x\nz.retain_grad()  # keep", "z.retain_grad", "z = x\n# z.retain_grad()  # keep"),
    "retain_grad removed before a semicolon": ("z.retain_grad(); print(z)", "z.retain_grad", "pass; print(z)"),
    "backward off": ("z = x\nz.backward()", "z.backward", "z = x\n# z.backward()"),
    "backward off after a semicolon": ("z = x; z.backward()", "z.backward", "z = x; # z.backward()"),
    "backward off alone in its block": ("if x:\n    z.backward()", "z.backward", "if x:\n    pass  # z.backward()"),
    "backward off behind a colon": ("if x: z.backward()", "z.backward", "if x: pass  # z.backward()"),
    "backward off over several lines": ("z = x\nz.backward(\n  s)", "z.backward", "z = x\n# z.backward(\n  # s)"),
    "backward at the end": ("for i in r:\n    z = x\ny = x * 2\nif y:\n    print(y)", "y.backward",
                            "for i in r:\n    z = x\ny = x * 2\nif y:\n    print(y)\ny.backward()"),
    "CRLF": ("x = mg.ones(1)\r\ny = x * 2\r\n", "y.retain_grad", "x = mg.ones(1)\r\ny = x * 2\r\ny.retain_grad()\r\n"),
    "the program's own import": (
        "import torch\nz = x * 2", "no_grad", "import torch\nwith torch.no_grad():\n    z = x * 2"),
    "a long name": ("self.encoder.layers.hidden_state_of_it = f(x)",
                    "self.encoder.layers.hidden_state_of_it.retain_grad",
                    "self.encoder.layers.hidden_state_of_it = f(x)\nself.encoder.layers.hidden_state_of_it.retain_grad()"),
    "a continued line": ("z = x \\\n    + y", "z.detach", "z = (x \\\n    + y).detach()"),
}


@pytest.mark.parametrize("before, key, after", EDITS.values(), ids=EDITS)
def test_flipping_one_switch(before, key, after):
    program = Program(before)
    switch = find(program.switches, key)
    assert program.text({switch.key}).source == after
    assert program.text().source == before


@pytest.mark.parametrize("source", [
    "x = np.zeros(3) if n else 0", "x = mg.ones(2, requires_grad=flag)", "x = mg.ones(*sizes)",
    "x = mg.ones(2, **options)",
    "x = mg.tensor(a for a in b)", "n = 3", "import os", "print('x.backward()')", "s = 'with mg.no_grad():'",
    "with mg.no_grad(), open(p) as f:\n    pass", "def f(): pass", "z.backward(\n); pass", "print(f'{mg.ones(2)}')",
])
def test_what_cannot_be_edited_safely_is_not_offered(source):
    kinds = {switch.kind for switch in Program(source).switches}
    assert "requires_grad" not in kinds and "backward" not in kinds and "retain_grad" not in kinds


def test_switches_stand_in_the_order_of_the_program():
    program = Program("x = mg.ones(1, requires_grad=True)\ny = x**2\nwith mg.no_grad():\n    z = y + x\ny.backward()\n")
    assert [(s.key, s.line, s.on) for s in program.switches] == [
        ("x.requires_grad", 1, True), ("no_grad (line 2)", 2, False), ("y.detach", 2, False),
        ("y.retain_grad", 2, False), ("no_grad (line 3)", 3, True), ("z.detach", 4, False),
        ("z.retain_grad", 4, False), ("y.backward", 5, True)]


def test_a_name_may_stand_for_several_switches():
    program = Program("x = mg.ones(1)\nx = mg.ones(2)\n")
    assert find(program.switches, "x.requires_grad", line=2) is find(program.switches, "x.requires_grad (line 2)")
    with pytest.raises(KeyError, match="several switches are called 'x.requires_grad'; there are: x.requires_grad"):
        find(program.switches, "x.requires_grad")
    with pytest.raises(KeyError, match="no switch is called 'y.detach'"):
        find(program.switches, "y.detach")


def test_lines_are_found_again():
    program = Program("x = mg.ones(1)\ny = x * 2\nz = y * 3\nz.backward()\n")
    text = program.text({"no_grad (line 2)", "y.retain_grad"})
    assert text.source.splitlines() == [
        "x = mg.ones(1)", "with mg.no_grad():", "    y = x * 2", "y.retain_grad()", "z = y * 3", "z.backward()"]
    assert text.line_of == {1: 1, 2: 3, 3: 5, 4: 6}
    assert text.changed == {2, 3, 4}


def test_a_program_that_is_not_python_is_a_syntax_error():
    with pytest.raises(SyntaxError, match="was never closed"):
        Program("x = mg.tensor([2.0]\n")


NAMES = st.sampled_from(["x", "y", "ÿ", "变量", "𝒙", "net.w"])
STATEMENTS = st.sampled_from([
    "{a} = mg.tensor([2.0], requires_grad=True)", "{a} = mg.zeros((2))", "{a}, {b} = mg.ones(1,), mg.ones( 2 )",
    "{a} = mg.nn.Parameter(mg.randn(2))", "{a} = {b} * 'é✓'", "{a} = ({b} + {a})", "{a} = {b}.detach()",
    "{a} = ({b} - 1).detach() * {a}", "{a} = {b} @ \\\n  {a}", "{a} = f({b}, # ) é\n  '''\n {a}\n''')", "{a} *= {b}",
    "{a}.retain_grad()", "{a}.backward()", "{a}.backward(\n  mg.ones(1))", "{a}.requires_grad_()",
    "{a}.requires_grad = False", "print({a}.detach())", "{a}: object = -{b}", "{a} = {b} = {a} + 1",
    "{a} = mg.ones(2).detach()", "pass"])
HEADS = st.sampled_from([
    "with mg.no_grad():", "with mg.no_grad():  # é", "for i in r:", "if {a}:", "def f(g=1):", "with open('é') as g:"])


@st.composite
def blocks(draw, indent="", depth=0):
    step, lines = draw(st.sampled_from(["    ", "  ", "\t"])), []
    for _ in range(draw(st.integers(1, 3))):
        names = {"a": draw(NAMES), "b": draw(NAMES)}
        comment = draw(st.sampled_from(["", "  # ✓ why", " "]))
        statement = "; ".join(draw(st.lists(STATEMENTS, min_size=1, max_size=3))).format(**names)
        if depth < 3 and draw(st.integers(0, 2)) == 0:
            head = draw(HEADS).format(**names)
            if draw(st.booleans()) and "#" not in head:
                lines.append(f"{indent}{head} {statement}{comment}")
            else:
                lines += [indent + head, draw(blocks(indent + step, depth + 1))]
        else:
            lines.append(f"{indent}{statement}{comment}")
    return "\n".join(lines)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(source=blocks(), end=st.sampled_from(["", "\n", "\n\n# end"]),
       newline=st.sampled_from(["\n", "\r\n", "\r"]), data=st.data())
def test_any_set_of_switches_gives_a_program(source, end, newline, data):
    source = (source + end).replace("\n", newline)
    program = Program(source)
    keys = [switch.key for switch in program.switches]
    flipped = data.draw(st.sets(st.sampled_from(keys))) if keys else set()
    text = program.text(flipped)
    ast.parse(text.source)
    original, lines = (re.split(r"\r\n|\r|\n", t) for t in (source, text.source))     # one line has no newline to go by
    untouched = {old: now for old, now in text.line_of.items() if now not in text.changed}
    assert [lines[now - 1] for now in untouched.values()] == [original[old - 1] for old in untouched]
    assert text.source.count("✓ why") == source.count("✓ why")
    assert program.text(set()).source == source


@settings(max_examples=60, deadline=None, derandomize=True)
@given(source=blocks())
def test_a_flipped_switch_reads_as_flipped(source):
    program = Program(source)
    for switch in program.switches:
        if switch.kind == "requires_grad":
            lines = Program(program.text({switch.key}).source).switches
            assert sum(s.on for s in lines if s.kind == "requires_grad") - sum(
                s.on for s in program.switches if s.kind == "requires_grad") == (-1 if switch.on else 1)


@pytest.mark.parametrize("end", ["", "\n"])
def test_what_is_added_behind_a_block_comes_after_what_is_added_inside(end):
    program = Program("x = mg.ones(1) * 2\nif x:\n    x = x * 2" + end)
    text = program.text({"x.backward", "x.retain_grad (line 3)"}).source
    assert text == "x = mg.ones(1) * 2\nif x:\n    x = x * 2\n    x.retain_grad()\nx.backward()" + end


@pytest.mark.parametrize("source", ["x: object = -x", "x = mg.ones(1) * 2"])
def test_what_is_added_behind_a_line_without_newline(source):
    assert Program(source).text({"x.retain_grad"}).source == f"{source}\nx.retain_grad()"


def test_a_walk_is_offered_from_a_result_that_the_program_does_not_use():
    program = "w = mg.ones(1, requires_grad=True)\nh = w ** 2\na = h * 3\nb = h * 5\na.backward()\n"
    switches = {switch.key: switch for switch in Program(program).switches}
    assert not switches["b.backward"].on and "h.backward" not in switches and switches["a.backward"].on
    assert Program(program).text({"b.backward"}).source == program + "b.backward()\n"
    assert "a.backward" not in {s.key for s in Program("a = mg.ones(1) * 2\nb = a * 3\nb.backward()").switches}
