"""What the explorer's tabs say, each a pure function of a run: changes, the backward stepper, the storage map, the time line."""
import re
from contextlib import nullcontext

import numpy as np
import pytest

import minigrad as mg
from minigrad.function import OPS
from minigrad.lab.changes import changes, state
from minigrad.lab.formula import derivative
from minigrad.lab.mathml import SIGNS, mathml
from minigrad.lab.memory import memory_html, stores
from minigrad.lab.run import Snapshot, run
from minigrad.lab.stepper import moment, stepper_html
from minigrad.lab.timeline import MOST, Moments, timeline_html
from minigrad.picture import Recorder
from minigrad.why import lines_of

SQUARE = "x = mg.tensor([2.0], requires_grad=True)\ny = mg.tensor([3.0])\nz = x * y\nt = z ** 2\nt.backward()\n"


def ran(source):
    recorder = Recorder("<program>")
    outcome = run(source, Snapshot(source, {"mg": mg, "np": np}), "<program>", recorder)
    assert outcome.failure is None, outcome.failure
    return recorder, outcome.namespace


# ---- what changed, and why

@pytest.mark.parametrize("line, now, said", [
    (1, "y = mg.tensor([3.0], requires_grad=True)",
     ["y.requires_grad is True now, not False. y is a leaf, and its flag is on: `y = mg.tensor([3.0], requires_grad=True)` (line 2). "
      "y.grad is [24.] now, not None."]),
    (2, "z = (x * y).detach()",
     ["x.grad is None now, not [36.]. Nothing has called backward() yet; a gradient that was not computed is None, not 0.",
      "z.requires_grad is False now, not True. `z = (x * y).detach()` (line 3) shares the memory and leaves the history behind.",
      "t.requires_grad is False now, not True. `t = z ** 2` (line 4) was computed from z, which does not require grad."]),
    (3, "t = z ** 3", ["x.grad is [324.] now, not [36.]. `z = x * y` (line 3) brings [324.] to it now, not [36.].",
                       "t is [216.] now, not [36.]."]),
    (3, "t = z ** 2\nz.retain_grad()",
     ["z.grad is [12.] now, not None. z is a result, but z.retain_grad() asked to keep its gradient."]),
    (1, "y = 3.0", ["y is not there any more."]),
])
def test_each_change_is_said_with_its_reason(line, now, said):
    before = state(*reversed(ran(SQUARE)))
    lines = SQUARE.splitlines()
    lines[line] = now
    source = "\n".join(lines if "detach" not in now else lines[:-1])
    for text, expected in ((source, said), (SQUARE, [])):
        recorder, names = ran(text)
        assert changes(before, state(names, recorder), names, lines_of(text)) == expected


ROADS = "x = mg.tensor([2.0], requires_grad=True)\ny = x * 3\nwith mg.no_grad():\n    z = y + 1\nt = z * x\nt.backward()"


@pytest.mark.parametrize("source, now, said", [
    (ROADS, ROADS.replace("with mg.no_grad():\n    z", "z"), "`y = x * 3` (line 2) brings [6.] to it now."),
    (ROADS.replace("with mg.no_grad():\n    z", "z"), ROADS, "Nothing comes through `y = x * 3` any more, it brought [6.]."),
    (SQUARE, SQUARE.replace("t.backward()", "t.backward(retain_graph=True)\nt.backward()"),
     "`z = x * y` (line 3) brings [36.] and [36.] to it now, not [36.]."),
])
def test_a_gradient_that_changed_names_the_lines_it_came_through(source, now, said):
    before, (recorder, names) = state(*reversed(ran(source))), ran(now)
    told = next(text for text in changes(before, state(names, recorder), names, lines_of(now)) if text.startswith("x.grad is"))
    assert told.endswith(f". {said}")


# ---- the backward stepper

def test_the_steps_of_a_backward_pass():
    recorder, names = ran(SQUARE.replace("z ** 2", "z ** 2 + x"))
    before, add, power, product, leaf = (moment(recorder, names, k) for k in range(5))
    assert before.ready == ["AddBackward0 of t"] and before.node == ""
    assert (add.ready, add.waiting, add.received) == (["AddBackward0 of t"], [], "[1.]")
    assert [sent.to for sent in add.sent] == ["PowBackward0 of z ** 2", "x"]
    assert (power.ready, power.waiting) == (["PowBackward0 of z ** 2"], ["AccumulateGrad of x (1 of 2)"])
    assert [(s.to, s.tex, s.numbers, s.value) for s in power.sent] == [
        ("z", r"\bar{z} = \mathrm{grad} \odot (2 \cdot z)", "1 × 12 = 12", "[12.]")]
    assert power.freed == ["z"] and product.freed == ["y"]
    assert product.sent[0].tex == r"\bar{x} = \bar{z} \odot y"
    assert leaf.total == "None + [37.] = [37.]" and leaf.node == "AccumulateGrad of x" and not leaf.sent
    assert moment(recorder, names, None) == moment(ran("x = mg.ones(1)")[0], {}, 0) and not moment(recorder, names,
                                                                                                   None).ready


def test_a_second_pass_adds_and_retain_graph_frees_nothing():
    recorder, names = ran(SQUARE.replace("t.backward()",
                                         "z.retain_grad()\nt.backward(retain_graph=True)\nt.backward(retain_graph=True)"))
    assert moment(recorder, names, 6).total == "[36.] + [36.] = [72.]"
    assert moment(recorder, names, 5).kept == ["z"] and moment(recorder, names, 5).freed == []
    assert moment(recorder, names, 4).ready == ["PowBackward0 of t"]


def test_the_queue_is_the_engines():
    """Whatever is first in the queue is what the engine runs next."""
    recorder, names = ran("x = mg.ones(2, requires_grad=True)\na = x * 2\nb = x.exp()\nc = a * b + a.sin()\n"
                          "(c.sum() + b.mean()).backward()")
    for step in range(1, recorder.steps + 1):
        now = moment(recorder, names, step)
        assert now.ready[0] == now.node and "<table" in stepper_html(now, step, recorder.steps)


def test_nodes_inside_a_module_are_named_by_its_call():
    recorder, names = ran("net = mg.nn.Sequential(mg.nn.Linear(2, 2), mg.nn.Tanh(), mg.nn.Linear(2, 1))\nout = net(mg.ones(1, 2))\n"
                          "out.sum().backward()")
    said = [moment(recorder, names, step).node for step in range(1, recorder.steps + 1)]
    assert said[:2] == ["SumBackward0 of out.sum()", "AddmmBackward0 of out"] and "TanhBackward0 inside net(…)" in said
    assert "AccumulateGrad of net.0.weight" in said


def test_derivatives_come_from_the_operations_own_formulas():
    plain = {"self_sym_sizes": (2, 2), "self_sym_strides": (2, 1), "mat2_sym_sizes": (2, 2), "mat2_sym_strides": (2, 1)}
    names = {"grad": "g", "self": "a", "other": "b", "result": "y", "exponent": 3} | plain
    tex = {f"{op.name}.{argument}": derivative(op, argument, names) for op in OPS.values() for argument in op.formulas}
    assert tex["mul.self"] == r"g \odot b" and tex["div.self"] == r"\frac{g}{b}" and tex["sub.other"] == "-g"
    assert tex["_pow_scalar.self"] == r"g \odot (3 \cdot a^{2})" and tex["exp.self"] == r"g \odot y"
    assert tex["mm.self"] == r"g \mathrm{mat2}^\top" and tex["mm.mat2"] == r"a^\top g" and tex["log.self"] == r"\frac{g}{a}"
    written = [t for t in tex.values() if t]
    # the rest ask for values: a formula with an if has no one text
    assert len(written) > 0.85 * len(tex)
    common = "add sub mul div neg _pow_scalar exp log sin cos tanh sigmoid relu sqrt mm mv dot clone expand _log_softmax".split()
    assert [key for key, t in tex.items() if key.partition(".")[0] in common and not t] == []
    for t in written:
        assert t.count("{") == t.count("}") and "Symbol" not in t and "0x" not in t
        commands = set(re.findall(r"\\([A-Za-z]+)", t)) - {"frac", "sqrt", "bar", "operatorname", "mathrm"}
        assert commands <= set(SIGNS) | {"arctan", "sin", "cos", "sinh", "cosh", "ln", "max", "min", "tan", "tanh",
                                         "log"}, t


def test_mathml():
    assert mathml(r"\bar{x} = \frac{a^{2}}{\operatorname{f\_g}(b)}") == (
        '<math><mrow><mover accent="true"><mrow><mi>x</mi></mrow><mo>¯</mo></mover><mo>=</mo><mfrac><mrow><msup><mi>a</mi><mrow><mn>2'
        '</mn></mrow></msup></mrow><mrow><mi mathvariant="normal">f_g</mi><mo>(</mo><mi>b</mi><mo>)</mo></mrow></mfrac></mrow></math>')
    assert "<img" not in mathml(r"\mathrm{<img src=x onerror=alert(1)>} <img>")
    for broken in (r"\frac{a", "^", "a^", r"\mathrm{", "}}", "\\"):
        mathml(broken)


# ---- the storage map

def test_who_shares_memory():
    source = ("x = mg.arange(6.0)\nm = x.view(2, 3)\nc = m[:, 1]\nd = m.detach()\nk = m.clone()\nn = m.numpy()\n"
              "w = mg.ones(2, requires_grad=True)\np = w.exp()\np.detach().add_(1)\n")
    recorder, names = ran(source)
    found = stores(recorder, names)
    shared = {w.name: w for w in found[0].windows}
    assert list(shared) == ["x", "m", "c", "d", "n"] and [[w.name for w in s.windows] for s in found[1:]] == [["k"],
                                                                                                              ["w"],
                                                                                                              ["p"]]
    assert shared["c"].cells == [1, 4] and shared["c"].stride == (3,) and shared["c"].offset == 1
    assert shared["n"].cells == [0, 1, 2, 3, 4, 5] and shared["n"].version == "NumPy counts no versions"
    assert found[3].remembered == ["ExpBackward0 remembers p: at v0, it is v1 now: its backward raises"]
    page = memory_html(found)
    assert "a write touches" in page and ">x, m, d, n<" in page.replace("<code>", "").replace("</code>", "")


def test_windows_that_do_not_overlap_do_not_touch():
    recorder, names = ran("x = mg.zeros(4)\na = x[:2]\nb = x[2:]")
    assert ">x<" in memory_html(stores(recorder, {"x": names["x"], "a": names["a"], "b": names["b"]}))
    row = next(r for r in memory_html(stores(recorder, names)).split("<tr") if ' data-id="a"' in r)
    assert row.endswith("<td>x</td></tr>")


# ---- the time line

def told(source):
    moments = Moments(["x", "y", "z", "t", "i"])
    run(source, Snapshot(source, {"mg": mg}), "<program>", nullcontext(), moments.watch)
    return moments


def test_the_state_after_every_line():
    rows = told(SQUARE + "x.requires_grad_(False)\n").rows
    assert [row.line for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row.states.get("x") for row in rows] == ["[2.] · leaf · requires_grad True"] * 4 + [
        "[2.] · leaf · requires_grad True · grad [36.]", "[2.] · leaf · requires_grad False · grad [36.]"]
    assert rows[5].states["z"] == "[6.] · MulBackward0 · requires_grad True"       # a graph that exists does not change


def test_a_loop_is_told_turn_by_turn_up_to_a_bound():
    moments = told("x = mg.ones(1)\nfor i in range(3):\n    x = x * 2\nx.add_(1)")
    assert [(row.line, row.turn) for row in moments.rows] == [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3),
                                                              (2, 4), (4, 1)]
    assert moments.rows[-1].states["x"] == "[9.] · leaf · requires_grad False · v1"
    moments = told("x = mg.ones(1)\nfor i in range(100):\n    x = x * 2")
    assert len(moments.rows) == MOST and moments.left_out == 202 - MOST
    assert f"and {202 - MOST} lines more" in timeline_html(moments.rows, ["x", "for", "x"], moments.left_out)


def test_a_program_that_fails_is_told_up_to_there():
    assert [row.line for row in told("x = mg.ones(1)\ny = x * 2\ny.backward()\nz = 1").rows] == [1, 2, 3]


def test_functions_are_one_line():
    assert [row.line for row in told("def f(a):\n    b = a * 2\n    return b\nx = f(mg.ones(1))").rows] == [1, 4]


def test_the_time_line_begins_without_what_other_cells_called_so():
    moments, source = Moments(["x", "y", "w"]), "x = mg.ones(1)\nw.mul_(2)\ny = x * 2\n"
    namespace = {"mg": mg, "x": mg.zeros(3), "y": mg.zeros(3), "w": mg.ones(2)}
    run(source, Snapshot(source, namespace), "<cell>", nullcontext(), moments.watch)
    assert [sorted(row.states) for row in moments.rows] == [["w", "x"], ["w", "x"], ["w", "x", "y"]]
