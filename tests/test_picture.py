"""The model, the sentences and the drawing of a program, each compared whole; the drawn edges against the graph's own."""
import dataclasses
import itertools
import linecache
import math
import random
import re
import sys
import time
import traceback
import types
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

import minigrad as mg
from minigrad import picture
from minigrad.picture import DETAILS, Figure, Recorder, describe, draw, pen, record, to_svg
from minigrad.picture.figure import LEAST
from minigrad.picture.fold import fold
from minigrad.picture.geometry import Box, along
from minigrad.picture.graphviz_wasm import run_dot
from minigrad.picture.layout import WIDTH, place
from minigrad.picture.legend import entries
from minigrad.picture.model import Accumulator, Card, Edge, Model, Op, Saved
from minigrad.picture.program import is_accumulator
from minigrad.picture.rows import MARK, SLACK
from minigrad.picture.text import card_width, code_width, flags, note, note_width, tags
from tests.fuzz import generate

SVG = "{http://www.w3.org/2000/svg}"
_numbers = itertools.count()


def run(source, raises=None):
    """Run a program as a cell would, and record it."""
    name = f"<picture {next(_numbers)}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    recorder, namespace = Recorder(name), {"mg": mg}
    code = compile(source, name, "exec")
    with recorder:
        if raises:
            with pytest.raises(raises):
                exec(code, namespace)
        else:
            exec(code, namespace)
    recorder.names = {name: value for name, value in namespace.items() if isinstance(value, (mg.Tensor, mg.nn.Module))}
    return recorder


PRODUCT = "x = mg.tensor(2., requires_grad={})\ny = mg.tensor(3., requires_grad={})\nz = x * y\n"
POWERS = """x = mg.tensor([2.], requires_grad=True)
a = x ** 2
b = a ** 2
t = b ** 2
b.retain_grad()
t.backward()
"""
BLOCK = """x = mg.tensor(2., requires_grad=True)
w = mg.tensor(3., requires_grad=True)
y = w * x
with mg.no_grad():
    e = y ** 2
    u = e + w
"""
DETACH = """x = mg.tensor([1., 2., 3.], requires_grad=True)
y = x.detach()
a = x ** 2
b = y ** 2
"""
WRITE = DETACH + "y[0] = 9.\n"
SUMS = """x = mg.tensor(3., requires_grad=True)
a = x ** 2
b = x * 4
z = a + b
z.backward(retain_graph=True)
z.backward()
"""
LOOP = """w = mg.tensor([1.], requires_grad=True)
x = mg.tensor([2.])
for _ in range(2):
    loss = (w * x - 1) ** 2
    loss.backward()
    with mg.no_grad():
        w -= 0.5 * w.grad
    w.grad = None
"""
REBOUND = "x = mg.tensor([1., 2.], requires_grad=True)\nx = x.view(2, 1)\nx = x * x\n"
FROZEN = "x = mg.tensor([2.], requires_grad=True)\nz = x * 3\nx.requires_grad_(False)\nz.backward()\n"
LONG = """X = mg.tensor([[1., 2.], [3., 4.]])
W = mg.tensor([[1., 0.], [0., 1.]], requires_grad=True)
h = X @ W
p = mg.relu(h)
loss = ((p - X) ** 2).sum()
loss.backward()
"""
HOOKS = """x = mg.tensor([2.], requires_grad=True)
y = x * 3
y.register_hook(lambda grad: grad * 2)
z = y ** 2
z.grad_fn.register_hook(lambda sent, received: None)
x.register_post_accumulate_grad_hook(lambda leaf: None)
z.backward()
"""
PROGRAMS = {"product": PRODUCT.format(True, True), "one": PRODUCT.format(True, False), "none": PRODUCT.format(False, False),
            "powers": POWERS, "block": BLOCK, "detach": DETACH, "write": WRITE, "sums": SUMS, "loop": LOOP, "rebound": REBOUND,
            "frozen": FROZEN, "long": LONG, "hooks": HOOKS}


# The model -----------------------------------------------------------------------------------------------------------------

def test_model_of_a_product():
    assert run(PRODUCT.format(True, False)).model() == Model(
        cards=[
            Card("t0", "x", "2.", True, True, none="not yet", accumulator=Accumulator()),
            Card("t1", "y", "3.", False, True, none="not asked"),
            Card("t2", "z", "6.", True, False, none="not kept", op="o0")],
        ops=[Op("o0", "x * y", node="MulBackward0", inputs=["t0", "t1"], outputs=["t2"], saved=[Saved("y")], line=3, source="z = x * y")],
        edges=[Edge("e0", "o0", "t0", via=None, index=0)])


SENTENCES = {
    "product": """x = 2., leaf, requires_grad True, grad None (not yet).
y = 3., leaf, requires_grad True, grad None (not yet).
x * y makes z: recorded as MulBackward0, remembers x, y for backward, leads back to x's AccumulateGrad and y's AccumulateGrad.
z = 6., not a leaf, requires_grad True, grad None (not kept).""",
    "none": """x = 2., leaf, requires_grad False, grad None (not asked).
y = 3., leaf, requires_grad False, grad None (not asked).
x * y makes z: not recorded, grad_fn None (it would have been MulBackward0).
z = 6., leaf, requires_grad False, grad None (not asked).""",
    "block": """w = 3., leaf, requires_grad True, grad None (not yet).
x = 2., leaf, requires_grad True, grad None (not yet).
w * x makes y: recorded as MulBackward0, remembers w, x for backward, leads back to w's AccumulateGrad and x's AccumulateGrad.
y = 6., not a leaf, requires_grad True, grad None (not kept).
y ** 2 makes e: not recorded, grad_fn None (it would have been PowBackward0).
e = 36., leaf, requires_grad False, grad None (not asked), made while recording was off.
e + w makes u: not recorded, grad_fn None (it would have been AddBackward0).
u = 39., leaf, requires_grad False, grad None (not asked), made while recording was off.""",
    "write": """x = [9., 2., 3.], leaf, requires_grad True, grad None (not yet), version 1.
x.detach() makes y (before line 5): a cut, the same storage without history.
y (before line 5) = [1., 2., 3.], leaf, requires_grad False, grad None (not asked).
x ** 2 makes a: recorded as PowBackward0, x was v0, is v1 now: raises, leads back to x's AccumulateGrad.
a = [1., 4., 9.], not a leaf, requires_grad True, grad None (not kept).
y ** 2 makes b: not recorded, grad_fn None (it would have been PowBackward0).
b = [1., 4., 9.], leaf, requires_grad False, grad None (not asked).
y[0] = 9. makes y: not recorded, grad_fn None (it would have been CopyBackwards).
y = [9., 2., 3.], leaf, requires_grad False, grad None (not asked), version 1.
x and y share one storage of 12 bytes, version 1: 9 (was 1), 2, 3; written by y[0] = 9.""",
    "rebound": """x (line 1) = [1., 2.], leaf, requires_grad True, grad None (not yet).
x.view(2, 1) makes x (line 2): recorded as ViewBackward0, remembers nothing, leads back to x (line 1)'s AccumulateGrad.
x (line 2) = 2×1 (mean 1.5, std 0.5), not a leaf, requires_grad True, grad None (not kept).
x * x makes x: recorded as MulBackward0, remembers x for backward, leads back to ViewBackward0.
x = 2×1 (mean 2.5, std 1.5), not a leaf, requires_grad True, grad None (not kept).
x (line 1) and x (line 2) share one storage of 8 bytes, version 0: 1, 2.""",
    "long": """X = 2×2 (mean 2.5, std 1.1), leaf, requires_grad False, grad None (not asked).
W = 2×2 (mean 0.5, std 0.5), leaf, requires_grad True, grad norm 0.
h = X @ W: recorded as MmBackward0, freed: X, leads back to W's AccumulateGrad, backward step 5, has run.
p = relu(h): recorded as ReluBackward0, freed: p, leads back to MmBackward0, backward step 4, has run.
p - X: recorded as SubBackward0, remembers nothing, leads back to ReluBackward0, backward step 3, has run.
(…) ** 2: recorded as PowBackward0, freed: its input, leads back to SubBackward0, backward step 2, has run.
(…).sum() makes loss: recorded as SumBackward0, remembers nothing, leads back to PowBackward0, backward step 1, has run.
loss = 0., not a leaf, requires_grad True, grad None (not kept).""",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name):
    assert describe(run(PROGRAMS[name]).model()) == SENTENCES[name]


def test_block_and_memory():
    block, write = run(BLOCK).model(), run(WRITE).model()
    assert [b.title for b in block.blocks] == ["with mg.no_grad():"]
    assert [op.block for op in block.ops] == [None, "b0", "b0"]
    assert [(m.names, m.cells, m.nbytes, m.version, m.writes) for m in write.memories] == [
        (["x", "y"], [("9", "1"), ("2", ""), ("3", "")], 12, 1, ["y[0] = 9."])]


# Backward, step by step ----------------------------------------------------------------------------------------------------

CAPTIONS = {
    "powers": """Before backward: 4 steps to come.
Step 1 of 4, PowBackward0: receives ∂t/∂t = [1.], times local ∂t/∂b = 32, gives ∂t/∂b = [32.]; is kept in b.grad (retain_grad).
Step 2 of 4, PowBackward0: receives ∂t/∂b = [32.], times local ∂b/∂a = 8, gives ∂t/∂a = [256.]; passes on, a.grad stays None.
Step 3 of 4, PowBackward0: receives ∂t/∂a = [256.], times local ∂a/∂x = 4, gives ∂t/∂x = [1024.]; goes to AccumulateGrad of x.
Step 4 of 4, AccumulateGrad of x: x.grad was None, receives [1024.], becomes [1024.].""",
    "frozen": """Before backward: 2 steps to come.
Step 1 of 2, MulBackward0: receives ∂z/∂z = [1.], times local ∂z/∂x = 3, gives ∂z/∂x = [3.]; goes to AccumulateGrad of x.
Step 2 of 2, AccumulateGrad of x: receives [3.]; x does not require grad any more, x.grad stays None.""",
}


@pytest.mark.parametrize("name", CAPTIONS)
def test_captions(name):
    recorder = run(PROGRAMS[name])
    assert "\n".join(recorder.model(step=k).caption for k in range(recorder.steps + 1)) == CAPTIONS[name]


def test_a_step_shows_what_runs_what_passes_and_what_is_stored():
    recorder = run(POWERS)
    seen = []
    for k in range(recorder.steps + 1):
        model = recorder.model(step=k)
        seen.append(([op.state for op in model.ops], [op.freed for op in model.ops],
                     [(c.name, c.flow, c.gradient, c.grad) for c in model.cards if c.flow or c.grad]))
    assert seen == [
        (["idle", "idle", "idle"], [False, False, False], []),
        (["idle", "idle", "now"], [False, False, False], [("b", "arriving", "[32.]", ""), ("t", "passing", "[1.]", "")]),
        (["idle", "now", "done"], [False, False, True], [("a", "passing", "[256.]", ""), ("b", "", "", "[32.]")]),
        (["now", "done", "done"], [False, True, True],
         [("x", "arriving", "[1024.]", ""), ("a", "passing", "[256.]", ""), ("b", "", "", "[32.]")]),
        (["done", "done", "done"], [True, True, True], [("x", "", "", "[1024.]"), ("b", "", "", "[32.]")]),
    ]


def test_parts_that_meet_and_a_second_pass():
    recorder = run(SUMS)
    first, second = recorder.model(step=4), recorder.model()
    assert [(c.grad, c.total, c.accumulator.number) for c in (first.cards[0], second.cards[0])] == [
        ("10.", "", 4), ("20.", "10. + (4. + 6.) = 20.", 8)]
    assert [e.sums for e in first.edges if e.target == "t0"] == ["4. + 6.", "4. + 6."]
    assert not any(op.freed for op in first.ops)                 # retain_graph=True


def test_stages_of_a_leaf_written_in_a_loop():
    model = run(LOOP).model()
    leaves = [(c.past, c.value, c.grad, c.accumulator and c.accumulator.number) for c in model.cards if c.name == "w"]
    assert leaves == [("before line 7", "[1.]", "[4.]", 4), ("before line 7", "[-1.]", "[-12.]", 8), ("", "[5.]", "", None)]
    assert [op.text for op in model.ops if op.block] == ["0.5 * w.grad", "w -= …"] * 2


def test_hooks_are_where_they_sit():
    recorder = run(HOOKS)
    before, after = recorder.model(step=0), recorder.model()
    assert [(c.name, c.hooks, c.hooked) for c in before.cards] == [("x", 0, ""), ("y", 1, ""), ("z", 0, "")]
    assert [(c.name, c.hooks, c.hooked) for c in after.cards] == [("x", 0, ""), ("y", 1, "[12.] → [24.]"), ("z", 0, "")]
    assert [op.hooks for op in after.ops] == [0, 1] and after.cards[0].accumulator.hooks == 1
    assert [tags(after, part) for part in (*after.cards, *after.ops)] == ["hook after ⊕", "hook: [12.] → [24.]", "", "", "hook"]
    text = describe(after)
    assert "a hook changes its gradient [12.] → [24.]" in text and "with a hook" in text and "a hook after its gradient is stored" in text
    assert run(HOOKS.replace("z.backward()", "del x, y, z")).figure().svg


def test_a_gradient_with_a_graph_of_its_own():
    recorder = run("""x = mg.tensor([2.], requires_grad=True)
y = x ** 3
g, = mg.autograd.grad(y, x, create_graph=True)
z = g ** 2
z.backward()
""")
    model = recorder.model()
    assert [op.text for op in model.ops] == ["x ** 3", "grad(y, x, create_graph=True)", "g ** 2"] and model.ops[1].helpers == 2
    assert [c.name for c in model.cards] == ["x", "y", "g", "z"]
    assert check_edges(recorder) == 3
    assert model.cards[0].grad == "[288.]" and not any(edge.sums for edge in model.edges)     # the first pass stored nothing
    assert "x.grad was None, receives [288.], becomes [288.]" in recorder.model(step=recorder.steps).caption


def test_the_base_of_a_written_view_has_another_history_too():
    model = run("x = mg.tensor([1., 2.], requires_grad=True)\na = x * 2\nb = a[0]\nb.mul_(3)\ns = a.sum()\n").model()
    assert [(c.name, c.past, c.value) for c in model.cards[1:5]] == [
        ("a", "before line 4", "[2., 4.]"), ("b", "before line 4", "2."), ("b", "", "6."), ("a", "", "[6., 4.]")]
    write, total = model.ops[2], model.ops[3]
    assert write.node == "CopySlices" and write.outputs == ["t3", "t4"] and total.inputs == ["t4"]
    assert [(e.target, e.via) for e in model.edges if e.source == total.id] == [(write.id, "t4")]


REFUSED = """x = mg.ones(2)
with mg.no_grad():
    v = x[:1]
w = mg.tensor([1., 2.], requires_grad=True)
x.mul_(w)
"""


def test_a_view_whose_history_pytorch_refuses_to_tell():
    recorder = run(REFUSED)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        recorder.names["v"].grad_fn  # noqa: B018
    card = next(card for card in recorder.model().cards if card.name == "v")
    assert (card.value, card.is_leaf) == ("unreadable", False) and recorder.figure().svg
    assert [c.name for c in recorder.model().cards if c.drawn] == ["x", "v", "w", "x"]
    assert picture.draw_names(recorder.names).svg


def test_data_shares_memory_without_history():
    model = run("x = mg.tensor([1., 2.], requires_grad=True)\na = x * 2\ny = x.data\nz = y * 3\n").model()
    assert [(op.text, op.cut) for op in model.ops] == [("x * 2", False), ("shares x", True), ("y * 3", False)]
    assert model.memories[0].names == ["x", "y"]


def test_a_backward_pass_that_raises():
    recorder = run(WRITE + "a.sum().backward()\n", RuntimeError)
    model = recorder.model(step=recorder.steps)
    assert [(op.node, op.state) for op in model.ops if op.number] == [("PowBackward0", "failed"), ("SumBackward0", "done")]
    assert model.caption == ("Step 2 of 2, PowBackward0: receives ∂(a.sum())/∂a = [1., 1., 1.], and raises: "
                             "it remembers x at version 0, and x is at version 1 now.")
    assert 'role="group"' in Figure(model).svg


def test_no_such_step():
    with pytest.raises(ValueError, match="steps 0 to 4, not 5"):
        run(POWERS).model(step=5)


# Edges against the graph ---------------------------------------------------------------------------------------------------

def check_edges(recorder):
    """Every drawn backward edge is one of next_functions, and every one of them is drawn."""
    model, owner, leaf = recorder.model(), {}, {}           # a leaf that was written in place has several cards
    for op, call in zip(model.ops, recorder.calls, strict=True):
        owner.update((node, op.id) for node in call.nodes)
        leaf.update((id_, id(slot.tensor)) for slot, id_ in zip([*call.inputs, *call.outputs], [*op.inputs, *op.outputs], strict=True)
                    if model.by_id[id_].is_leaf)
    real = [(owner[node], id(child.variable) if is_accumulator(child) else owner[child])
            for node in owner for child, _ in node.next_functions if child is not None]
    drawn = [(e.source, leaf.get(e.target, e.target)) for e in model.edges]
    assert sorted(drawn, key=str) == sorted(((a, b) for a, b in real if a != b), key=str)
    return len(model.edges)


EXPRESSIONS = ["x * y", "x + x", "x ** 2 + x", "(x @ y).exp()", "x.sum() * y", "x.view(2, 1) * 2", "mg.relu(x - y).mean()",
               "x / (y + 1)", "(x.unbind()[0] * y).sum()", "mg.stack([x, y]).sum(0)", "x.detach() * y", "-x[0]", "x.clone().mul_(y)",
               "mg.cat([x, y, x])", "x * c", "c * 2"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_edges_are_next_functions(expression):
    recorder = run(f"x = mg.tensor([1., 2.], requires_grad=True)\ny = mg.tensor([3., 4.], requires_grad=True)\n"
                   f"c = mg.tensor([5., 6.])\nz = {expression}\n")
    z = recorder.names["z"]
    assert (check_edges(recorder) > 0) == z.requires_grad
    if z.requires_grad:
        drawn = draw(z, names=recorder.names).model
        nodes, seen = [z.grad_fn], {z.grad_fn}
        for node in nodes:
            for child, _ in node.next_functions:
                if child is not None and child not in seen and not is_accumulator(child):
                    seen.add(child)
                    nodes.append(child)
        assert sorted(op.node for op in drawn.ops) == sorted(n.name() for n in nodes)
        assert len(drawn.edges) == sum(child is not None for n in nodes for child, _ in n.next_functions)


# draw and record -----------------------------------------------------------------------------------------------------------

def test_draw_takes_the_callers_names():
    x = mg.tensor([2.], requires_grad=True)
    z = (x ** 2) ** 2
    assert draw(z).describe() == """x = [2.], leaf, requires_grad True, grad None (not yet).
x ** 2: recorded as PowBackward0, remembers x, exponent 2, leads back to x's AccumulateGrad.
… ** 2 makes z: recorded as PowBackward0, remembers its input, exponent 2, leads back to PowBackward0.
z = [16.], not a leaf, requires_grad True, grad None (not kept)."""
    z.backward()
    assert "grad [32.]" in draw(z).describe() and "freed: x" in draw(z).describe()


def test_draw_says_what_it_cannot_know():
    x, y = mg.tensor([2.], requires_grad=True), mg.tensor([3.])
    u, v = x + y, y * y
    assert draw(u).model.note == draw(v).model.note != ""
    assert "not recorded" in draw(v).model.note and "with record():" in draw(v).svg.replace("&quot;", '"')
    assert draw(x * y).model.note == ""                      # y is known: the node remembers it


def test_draw_after_the_numbers_are_freed():
    x, c = mg.tensor([2.], requires_grad=True), mg.tensor([1., 3.])
    y, z = x * 2, c * x
    (y + z).sum().backward()
    ops = [op for t in (y, z) for op in draw(t, names={"x": x}).model.ops]
    assert [(op.text, note(op)) for op in ops] == [("x * …", "freed: …"), ("… * x", "freed: …")]
    assert draw(y).model.note == draw(z).model.note == ""           # it was recorded, and is gone now


def test_draw_without_a_tensor():
    with pytest.raises(TypeError, match="draw\\(\\) takes tensors, not float"):
        draw(2.0)


def test_the_code_of_an_operation():
    recorder = run("""x = mg.tensor([1., 2.], requires_grad=True)
a = mg.stack([x * 2, x], dim=-1)
b = (x
     + 1) * -2
c = ((x - 1) ** 2).sum().exp()
d = -x; d[0] = 3.
""")
    assert [op.text.partition(" = ")[2] or op.text for op in recorder.model().ops] == [
        "x * 2", "stack([…, x], dim=-1)", "x + 1", "(…) * -2", "x - 1", "(…) ** 2", "(…).sum()", "….exp()", "-x", "3."]
    code = compile("z = (x.sum() * w) ** 2; x.clamp(0, 1); z.pow_(3)", "<no text>", "exec")
    with record(show=False) as plain:
        exec(code, {"x": mg.tensor([2.]), "w": mg.tensor([3.])})
    assert [op.text for op in plain.model().ops] == ["sum(x)", "… * w", "… ** 2", "clamp(x, 0, 1)", "z ** 3"]


def test_what_runs_for_the_program_but_is_not_its_forward_pass():
    recorder = run("""x = mg.tensor([2.], requires_grad=True)
x.register_hook(lambda grad: grad * 2)
linear = mg.nn.Linear(1, 1)
z = x * 3
z.backward()
""")
    assert [op.text for op in recorder.model().ops] == ["x * 3"] and recorder.lines == {4}


def test_a_module_that_is_made_is_no_operation():
    model = run("linear = mg.nn.Linear(2, 1)\nout = linear(mg.tensor([[1., 2.]]))\n").model()
    assert [op.text for op in model.ops] == ["linear(…)"] and model.blocks == model.memories == []


def test_names_of_parameters():
    linear = mg.nn.Linear(1, 1)
    out = linear(mg.tensor([[1.]]))
    assert {"linear.weight", "linear.bias", "out"} <= {c.name for c in draw(out).model.cards}


def test_record_knows_the_names_of_its_block(monkeypatch):
    x = mg.tensor([2.], requires_grad=True)
    with record() as recorder:
        w = mg.tensor([3.])
        z = x * w
    assert [c.name for c in recorder.model().cards] == ["x", "w", "z"] and z.item() == 6
    with record(z) as again:
        z.backward()
    assert again.steps == 2 and again.model().cards[0].grad == "[3.]"


def test_record_leaves_out_what_an_earlier_cell_made():
    linear, other = mg.nn.Linear(1, 1), mg.tensor([5.])
    with record() as recorder:
        x = mg.tensor([2.], requires_grad=True)
        z = x * 3
        inside = mg.nn.Linear(1, 1)
    assert [c.name for c in recorder.model().cards] == ["x", "z", "inside.weight", "inside.bias"] and z.item() == 6
    assert linear.weight is not inside.weight and other.item() == 5


def test_record_shows_itself_in_a_notebook(monkeypatch):
    import IPython
    shown = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(IPython.display, "display", shown.append)
    with pytest.raises(ZeroDivisionError), record():
        mg.tensor([2.]) * 2
        raise ZeroDivisionError
    with record(show=False):
        mg.tensor([2.]) * 2
    assert [type(figure) for figure in shown] == [Figure] and len(shown[0].model.ops) == 1


def test_looking_does_not_count_as_running():
    x = mg.tensor([2.], requires_grad=True)
    with record() as recorder:
        z = x * 2
        draw(z)
        z.backward(create_graph=False)
    assert [op.text for op in recorder.model().ops] == ["x * 2"]
    assert z.grad_fn.hooks is None or not (z.grad_fn.hooks.pre or z.grad_fn.hooks.post)       # our hooks are gone


def test_lines_are_those_of_every_frame_of_the_program():
    recorder = run("def double(a):\n    return a * 2\nx = mg.tensor([2.])\nz = double(x)\n")
    assert recorder.lines == {2, 4}


# The drawing ---------------------------------------------------------------------------------------------------------------

def every_picture():
    for name, program in PROGRAMS.items():
        recorder = run(program)
        for step in (None, *range(recorder.steps + 1)):
            yield f"{name} {step}", recorder.model(step=step)


def extent(text):
    x, width = float(text.get("x")), float(text.get("textLength") or 8)
    left = {"middle": x - width / 2, "end": x - width}.get(text.get("text-anchor"), x)
    return left, left + width


def test_words_stay_inside_their_card_and_apart_from_each_other():
    for name, model in every_picture():
        root = ET.fromstring(to_svg(model, caption=True))
        for group in root.iter(f"{SVG}g"):
            halo = next(r for r in group.iter(f"{SVG}rect") if r.get("class") == "halo" or group.get("id") is None)       # or a mark
            left, right = float(halo.get("x")) + 4, float(halo.get("x")) + float(halo.get("width")) - 4
            rows = {}
            for text in group.iter(f"{SVG}text"):
                a, b = extent(text)
                assert left - 0.5 <= a and b <= right + 0.5, (name, group.get("id"), text.text)
                rows.setdefault(round(float(text.get("y")) / 6), []).append((a, b, text.text))
            for row in rows.values():
                for (_, end, one), (start, _, other) in itertools.pairwise(sorted(row)):
                    assert end <= start + 0.5, (name, group.get("id"), one, other)


VIEWS = """x = mg.tensor([[1., 2.], [3., 4.]])
w = x.view(4)
b = w * (x ** 2).sum()
c = x[0]
d = c * 2
c.add_(1)
"""


def way(d):
    """Points along a path of lines down and Bézier curves."""
    at, found = (0, 0), []
    for letter, numbers in re.findall(r"([MCV])([^MCV]+)", d):
        values = [float(n) for n in re.split("[, ]", numbers)]
        if letter == "V":
            points = [(at[0], at[1] + (values[0] - at[1]) * k / 16) for k in range(17)]
        else:
            points = along([at] * (letter == "C") + list(zip(values[::2], values[1::2], strict=True)))
        at = points[-1]
        found += points
    return found


@pytest.mark.parametrize("source", [*PROGRAMS.values(), VIEWS])
def test_links_to_a_memory_run_over_no_words(source):
    model = run(source).model()
    root, boxes = ET.fromstring(to_svg(model)), [box for id, box in place(model).boxes.items() if id[0] in "to"]
    links = [path.get("d") for path in root.iter(f"{SVG}path") if "stroke-dasharray:1.5 3.5" in path.get("style")]
    assert len(links) == sum(len(memory.cards) for memory in model.memories)
    for d in links:
        assert not [box for box in boxes for x, y in way(d) if box.x < x < box.right and box.y < y < box.bottom - 1], d


def test_a_tensor_above_another_has_a_mark_with_the_names_of_its_memory():
    model = run(VIEWS).model()
    svg = to_svg(model, legend=True)
    assert [memory.names for memory in model.memories] == [["x", "w", "c"]]
    assert svg.count(">x, w, c<") == 2 and "where the same name stands" in svg         # over the memory, and under w
    update = run("w = mg.tensor([1.], requires_grad=True)\nl = (w * 2 - 1) ** 2\nl.backward()\nwith mg.no_grad():\n    w -= 0.1 * w.grad\n"
                 "l2 = (w * 2 - 1) ** 2\n").model()
    layout, root = place(update), ET.fromstring(to_svg(update))
    block, = (box for _, box in layout.blocks)
    title = Box(block.x + 12, block.y, code_width("with mg.no_grad():"), 20)
    marks = [Box(*(float(r.get(k)) for k in ("x", "y", "width", "height"))) for r in root.iter(f"{SVG}rect") if r.get("rx") == "4"]
    assert marks and not any(mark.meets(title) for mark in marks)


def test_everything_is_inside_the_picture():
    for name, model in every_picture():
        layout = place(model)
        for id, box in layout.boxes.items():
            assert box.x >= 0 and box.y >= 0 and box.right <= layout.width and box.bottom <= layout.height, (name, id)


def test_flags_and_steps_never_move_a_node():
    source = """x = mg.tensor([2.], requires_grad={})
y = mg.tensor([3.], requires_grad={})
a = x * y
{}
t = a ** 2
if t.requires_grad: t.backward()
"""
    layouts = []
    for one, two, keep in itertools.product((True, False), repeat=3):
        recorder = run(source.format(one, two, "a.retain_grad() if a.requires_grad else None" if keep else ""))
        layouts += [place(dataclasses.replace(recorder.model(step=k), live=True)) for k in range(recorder.steps + 1)]
    assert len(layouts) == 28 and all(layout == layouts[0] for layout in layouts)


def test_a_block_moves_nothing_where_there_is_room():
    inside = run("x = mg.tensor([2.], requires_grad=True)\na = x * 2\nwith mg.no_grad():\n    t = a ** 2\n").model()
    outside = run("x = mg.tensor([2.], requires_grad=True)\na = x * 2\nif True:\n    t = a ** 2\n").model()
    one, other = place(inside), place(outside)
    moved = {id: (one.boxes[id].x - box.x, one.boxes[id].y - box.y) for id, box in other.boxes.items()}
    assert len(set(moved.values())) == 1


HOSTILE = ["<img src=x onerror=alert(1)>", 'x" onload="alert(1)', "</text><script>alert(1)</script>", "a|b{c}\\N", "p:q:r", "<b>x</b>",
           "n\nl\x00\x1b", "x" * 300, "\u202exyz", "&lt;&quot;", "${x}", "]]>", "<!--", "x\\", '"', "'", "<svg/onload=alert(1)>",
           "javascript:alert(1)", "\ud800", "変数"]
TAGS = {"svg", "g", "rect", "path", "polygon", "circle", "text", "title", "style"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name):
    x = mg.tensor([2.], requires_grad=True)
    z = x ** 2
    figure = draw(z, names={name: x, name + "2": z})
    root, plain = ET.fromstring(figure.svg), ET.fromstring(draw(z, names={"x": x, "x2": z}).svg)

    def tree(element):
        return element.tag, sorted(set(element.attrib) - {"textLength", "lengthAdjust"}), [tree(child) for child in element]
    assert tree(root) == tree(plain)
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= TAGS
    assert not [a for e in root.iter() for a in e.attrib if a.lower().startswith("on") or "href" in a]
    run_dot(figure.dot.source)
    start_tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: start_tags.append((tag, [key for key, _ in attrs]))
    parser.feed(figure._repr_mimebundle_()["text/html"])
    assert start_tags == [("div", ["style"]), ("img", ["alt", "style", "src"])]


def test_bundle():
    x = mg.tensor([2.], requires_grad=True)
    figure = draw(x * 2)
    bundle = figure._repr_mimebundle_()
    assert list(bundle) == ["text/html", "image/svg+xml", "text/plain"]
    assert bundle["text/plain"] == figure.describe() == repr(figure) and bundle["image/svg+xml"] == figure.svg
    assert 'src="data:image/svg+xml,' in bundle["text/html"] and "<svg" not in bundle["text/html"]


def width_of(svg):
    return float(ET.fromstring(svg).get("width"))


def test_a_wide_picture_shrinks_before_it_scrolls():
    figure = run("x = mg.tensor([3.], requires_grad=True)\ny = x * 2\nz = y ** 2\n").figure()
    width, html = width_of(figure.svg), figure._repr_mimebundle_()["text/html"]
    assert width > 928 > LEAST * width
    assert f'style="max-width:100%;min-width:{LEAST * width:.0f}px;height:auto"' in html and "overflow-x:auto" in html


LESSONS = {**PROGRAMS, "chain": "x = mg.tensor([1.], requires_grad=True)\n" + "x = x * 2\n" * 9}


@pytest.mark.parametrize("name", LESSONS)
def test_a_lessons_picture_fits_its_cell(name):
    assert width_of(run(LESSONS[name]).figure().svg) <= WIDTH * SLACK + 40


RESIDUAL = """x = mg.tensor([2.], requires_grad=True)
a = x.exp()
b = a * x
c = b + a
d = c * b
e = d + x
f = e * a
f.backward()
"""


@pytest.mark.parametrize("source", [LESSONS["chain"], RESIDUAL, RESIDUAL.replace("d = c * b", "with mg.no_grad():\n    d = c * b")])
def test_what_is_cut_into_rows_keeps_its_edges(source):
    model = run(source).model()
    wide, rows = place(model, 9999), place(model)
    assert not wide.rows and len(rows.rows) > 1 and wide.curves.keys() == rows.curves.keys()
    marks = set()
    for (lane, source, target), pieces in rows.curves.items():
        start, end = rows.boxes[source], rows.boxes[target]
        row = {"value": 0, "gradient": 1}[lane]
        assert pieces[0][0] == pytest.approx((start.right, start.lane(row)), abs=1)
        assert pieces[-1][-1] == pytest.approx((end.x, end.lane(row)), abs=1)
        assert len(pieces) == 1 + (rows.row_of(source) != rows.row_of(target))
        for x, y in (point for piece in pieces for point in along(piece)):
            assert not [box for box in rows.boxes.values() if box.x + 1 < x < box.right - 1 and box.y < y < box.bottom]
        if len(pieces) == 2:
            (x, y), (u, v) = pieces[0][-1], pieces[1][0]
            marks |= {(lane, source, Box(x, y - 8, 16, MARK)), (lane, target, Box(u - 16, v - 8, 16, MARK))}
    solid = [*rows.boxes.values(), *(box for _, box in rows.blocks), *(box for _, _, box in marks)]
    assert marks and all(sum(box.meets(other) for other in solid) == 1 for _, _, box in marks)           # itself


def test_what_goes_on_in_another_row_has_one_name_at_both_ends():
    model = run(RESIDUAL).model()
    svg, rows = to_svg(model, legend=True), place(model)
    ends = Counter(source for _, source, target in rows.curves if rows.row_of(source) != rows.row_of(target))
    assert len(ends) == 3 and ends[model.cards[0].id] == 2                              # x, a, d; each in both lanes
    bold = Counter(re.findall(r'text-anchor="middle"[^>]*font-weight:600">(\w)<', svg))
    assert {name: bold[name] for name in "xad"} == {"x": 5, "a": 4, "d": 4}            # and one in the legend
    assert "where the same name stands" in svg
    assert "where the same name stands" not in to_svg(run("x = mg.ones(1)\ny = x * 2\n").model(), legend=True)


def test_two_figures_share_no_ids():
    x = mg.tensor([2.], requires_grad=True)
    one, other = (set(re.findall(r' id="([^"]+)"', draw(x * 2).svg)) for _ in range(2))
    assert one and other and not one & other
    stops = re.findall(r'tabindex="(-?\d)"', draw(x * 2).svg)
    assert stops[0] == "0" and set(stops[1:]) == {"-1"}             # one tab stop for the whole picture


def test_a_picture_for_the_projector_is_larger_and_says_less():
    notebook, projector = (run(POWERS).figure(size=size).svg for size in ("notebook", "projector"))
    scale = [float(root.get("width")) / float(root.get("viewBox").split()[2]) for root in map(ET.fromstring, (notebook, projector))]
    assert scale == pytest.approx([1, 18 / 13], abs=0.01)
    assert width_of(projector) <= WIDTH * SLACK + 60
    assert ">freed: x<" in notebook and ">freed: x<" not in projector and "freed: x," in projector      # in the tooltip
    with pytest.raises(ValueError, match="size is one of notebook, projector, not 'huge'"):
        run(POWERS).figure(size="huge")


STAGES = {                                                # from which stage on each word of the picture is there
    "x": 0, "requires_grad True": 0, "x * 3": 0, "MulBackward0": 1, ".grad": 2, "2": 2, "grad_fn None": 3, "not recorded": 3,
    "with mg.no_grad():": 3, "leaf · ": 4, "not kept": 4, "cut here": 5, "one storage · 4 bytes · version 1": 5, "freed: 3": 6, "v1": 7}


def test_each_stage_shows_what_the_one_before_does_and_more():
    recorder = run("""x = mg.tensor([2.], requires_grad=True)
y = x * 3
with mg.no_grad():
    e = y ** 2
d = x.detach()
d.zero_()
y.backward()
""")
    figures = [recorder.figure(detail=detail) for detail in DETAILS]
    for word, first in STAGES.items():
        for stage, figure in enumerate(figures):
            assert (f">{word}<" in figure.svg) == (stage >= first), (word, DETAILS[stage])
    assert figures[0].describe().splitlines()[:2] == ["x = [0.], requires_grad True.", "x * 3 makes y."]
    picture.set_detail("flags")
    try:
        assert recorder.figure().svg.count("<text") == figures[0].svg.count("<text")
    finally:
        picture.set_detail(DETAILS[-1])
    with pytest.raises(ValueError, match="detail is one of flags, .*, versions, not 'all'"):
        recorder.figure(detail="all")


def test_a_legend_names_what_is_there_and_nothing_else():
    def titles(name, **look):
        return {entry[1] for entry in entries(run(PROGRAMS[name]).figure(**look).model)}
    assert titles("none") == {"leaf, requires_grad False", "operation", "value", "grad_fn None", "not asked"}
    assert titles("none", detail="flags") == {"requires_grad False", "operation", "value"}
    assert {"storage", "version", "cut"} <= titles("write") and not {"storage", "version", "cut"} & titles("long")
    for name, model in every_picture():
        plain, svg = to_svg(model), to_svg(model, legend=True)
        for _, title, text in entries(model):
            assert svg.count(f">{title}<") > plain.count(f">{title}<") and f">{text}<" in svg, (name, title)


def test_saving(tmp_path, monkeypatch):
    figure = run(BLOCK).figure()
    figure.save(tmp_path / "graph.svg")
    figure.save(str(tmp_path / "graph.dot"))
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == figure.svg
    assert (tmp_path / "graph.dot").read_text(encoding="utf-8") == figure.dot.source
    drawn = []
    monkeypatch.setitem(sys.modules, "resvg_py", types.SimpleNamespace(
        svg_to_bytes=lambda svg_string, zoom: drawn.append(svg_string) or b"\x89PNG"))
    figure.save(tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes() == b"\x89PNG" and "var(--" not in drawn[0]       # resvg knows no variables
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ModuleNotFoundError, match="needs the package resvg_py: pip install resvg-py"):
        figure.save(tmp_path / "graph.png")
    with pytest.raises(ValueError, match="\\.svg, \\.dot or \\.png, not \\.gif"):
        figure.save("graph.gif")


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, other):
    a, b = sorted((luminance(one), luminance(other)), reverse=True)
    return (a + 0.05) / (b + 0.05)


def role(element, what):
    found = re.search(rf"(?:^|;){what}:var\(--ag-(\w+)\)", element.get("style") or "")
    return found[1] if found else None


def pairs_in_use(svg):
    """Every text's colour with that of what it stands on, every line's with that of the page or of what it lies on."""
    root = ET.fromstring(svg)
    grounds, texts, lines, disc = [], set(), set(), None
    for element in root.iter():
        if element.tag == f"{SVG}rect" and element.get("x"):
            x, y, w, h = (float(element.get(key)) for key in ("x", "y", "width", "height"))
            if role(element, "fill"):
                grounds.append((x, y, x + w, y + h, role(element, "fill")))
            if role(element, "stroke") and element.get("class") != "halo":
                lines |= {(role(element, "stroke"), ground) for ground in ("page", role(element, "fill"))
                          if ground not in (None, role(element, "stroke"))}
        elif element.tag == f"{SVG}text":
            (a, b), y = extent(element), float(element.get("y")) - 4
            under = [g for x, top, right, bottom, g in grounds if x <= (a + b) / 2 <= right and top <= y <= bottom]
            texts.add((role(element, "fill"), under[-1] if under else "page"))
        elif element.tag == f"{SVG}circle":
            disc = tuple(float(element.get(key)) for key in ("cx", "cy", "r")), role(element, "fill")
        elif element.tag == f"{SVG}path" and role(element, "stroke") != "op":              # that one only divides a card's rows
            x, y = map(float, re.match(r"M([\d.-]+),([\d.-]+)", element.get("d")).groups())
            inside = disc and math.hypot(x - disc[0][0], y - disc[0][1]) < disc[0][2]      # the cross of a ⊕
            lines.add((role(element, "stroke"), disc[1] if inside else "page"))
    return texts, lines


def test_every_pair_of_colours_in_use_can_be_told_apart():
    texts, lines = set(), set()
    for model in [*(model for _, model in every_picture()), run(WRITE + "a.sum().backward()\n", RuntimeError).model()]:
        for found, more in zip((texts, lines), pairs_in_use(to_svg(model, caption=True, legend=True)), strict=True):
            found |= more
    assert {("nowtext", "now"), ("ghosttext", "block"), ("ink", "storefill"), ("err", "surface"), ("gradtext", "gradfill")} <= texts
    for pairs, least in ((texts, 4.5), (lines, 3)):
        for one, other in pairs:
            for theme, colours in itertools.product((0, 1), (pen.PALETTE, {**pen.PALETTE, **pen.STRONG})):
                assert contrast(colours[one][theme], colours[other][theme]) >= least, (one, other, theme)


def test_forced_colours_are_the_systems_and_in_pairs():
    assert pen.SYSTEM.keys() == pen.PALETTE.keys() and set(pen.SYSTEM.values()) == {"Canvas", "CanvasText", "Highlight", "HighlightText"}
    assert "@media(forced-colors:active)" in pen.style() and "High Contrast" in pen.style() and "prefers-contrast:more" in pen.style()


def test_the_contrast_check_can_fail():
    assert contrast("#777777", "#888888") < 3 < 4.5 < contrast("#000000", "#ffffff")


# Bounds --------------------------------------------------------------------------------------------------------------------

def chain(length):
    x = mg.tensor([1.], requires_grad=True)
    z = x
    for _ in range(length):
        z = z * x
    return z


def test_a_large_graph_is_folded_and_says_so():
    z = chain(50_000)
    assert draw(chain(2)).svg                                # the first picture may have to wait for the engine
    start = time.process_time()
    figure = draw(z, names={})
    text, svg = figure.describe(), figure.svg
    assert time.process_time() - start < 3                   # about one; of this process, whatever else the computer does
    assert text.endswith("49,971 operations are folded into 1: earlier operations (49,971).")
    assert "earlier operations: recorded as 971 nodes, 49,971 operations in one" in text
    assert ">49,971 operations in one<" in svg
    assert "The counting ended at 100,000 nodes." in draw(chain(100_100), names={}).model.note
    recorder = run("x = mg.tensor([1.], requires_grad=True)\nz = x\nfor _ in range(2100): z = z * x\n")
    assert len(recorder.model().ops) == 2000
    assert "The recording ended after 2,000 operations; 100 later ones are missing." in recorder.figure().describe()


NET = """class Block(mg.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = mg.nn.Linear(2, 2), mg.nn.Linear(2, 2)
    def forward(self, x):
        return self.two(mg.relu(self.one(x))) + x
class Net(mg.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = mg.nn.ModuleList([Block() for _ in range(12)])
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
net = Net()
loss = net(mg.ones(1, 2)).sum()
loss.backward()
"""


def test_a_network_is_folded_by_its_modules():
    namespace = {"mg": mg}
    recorder = run(NET)
    exec(NET, namespace)
    recorded = recorder.figure()
    for figure in (recorded, draw(namespace["loss"], names=namespace)):
        model = figure.model
        assert [op.text for op in model.ops if op.folded] == [f"net.blocks.{i}" for i in range(12)]
        first = model.ops[0]
        assert (first.leaves, first.freed) == (4, True) and first.state == ("done" if figure is recorded else "idle")
        ends = {op.id for op in model.ops} | {card.id for card in model.cards}
        assert all(edge.source in ends and edge.target in ends for edge in model.edges)
        assert [(e.source, e.target) for e in model.edges if e.source == model.ops[1].id] == [(model.ops[1].id, first.id)]
        assert model.note.startswith(f"{12 * first.folded} operations are folded into 12: net.blocks.0 ({first.folded}), net.blocks.1")
    assert fold(figure.model, 999) is figure.model


def test_where_there_are_too_many_parameters_they_are_counted():
    recorder = run("""net = mg.nn.Sequential(*(mg.nn.Linear(2, 2) for _ in range(25)))
loss = net(mg.ones(1, 2)).sum()
loss.backward()
""")
    figure = recorder.figure()
    assert [(op.text, op.leaves) for op in figure.model.ops] == [("net(…)", 51), ("….sum()", 0)]
    assert [card.name for card in figure.model.cards if card.drawn] == ["loss"]
    assert figure.model.note == "50 parameters are counted, not drawn." and ">uses 51 leaves<" in figure.svg


def test_folding_keeps_what_has_two_ends():
    model = run("x = mg.tensor([1.], requires_grad=True)\nkept = x * 2\n" + "x = x * kept\n" * 9).model()
    small = fold(model, 3)
    assert [op.text for op in small.ops] == ["earlier operations", *(op.text for op in model.ops[-2:])]
    assert small.ops[0].folded == 8 and {small.by_id[id].name for id in small.ops[0].outputs} >= {"kept"}
    assert to_svg(small) and describe(small)


def test_a_result_of_earlier_has_room_for_its_flags():
    x = mg.tensor([1.], requires_grad=True)
    y = x * 3
    with record(show=False) as recorder:
        z = y ** 2
    card = recorder.model().cards[0]
    assert (card.name, card.is_leaf, card.op, z.item()) == ("y", False, None, 9)
    assert card_width(card, live=True) > sum(note_width(words, bold) for words, bold in flags(card)) + 20


def test_many_graph_edges_end_at_the_deadline(monkeypatch):
    x = mg.tensor([1.], requires_grad=True)
    layer = [x * i for i in range(15)]
    for _ in range(2):
        layer = [sum(layer[1:], layer[0]) for _ in layer]
    start = time.process_time()
    svg = draw(sum(layer[1:], layer[0])).svg
    assert svg.startswith("<svg") and time.process_time() - start < 6


# Any program -------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", [9, 109, 317, 349, 392, 440, *range(1000, 1012)])          # the first ones once went wrong
def test_random_programs_are_drawn(seed):
    names = {"mg": mg, "np": np, "look": lambda *args, **options: None}
    rng = random.Random(seed)
    lines, recorder = generate.program(rng, names), Recorder()
    with recorder, warnings.catch_warnings(action="ignore"):
        for _ in range(rng.randrange(4, 14)):
            try:
                exec("\n".join(lines()), names)
            except Exception as error:                         # the program's own: most random programs raise somewhere
                assert not [f for f in traceback.extract_tb(error.__traceback__) if "minigrad/picture" in f.filename.replace("\\", "/")]
    recorder.names = names
    for step in (None, *range(recorder.steps + 1)):
        assert to_svg(recorder.model(step=step)).startswith("<svg")
    check_edges(recorder)
    assert picture.draw_names(names).describe()
