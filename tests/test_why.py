"""``why``: the right rule in every state of a small program, with the names and lines that did it."""
import contextlib
import itertools
import re

import pytest
from IPython.core.interactiveshell import InteractiveShell

import minigrad as mg
from minigrad.lab.run import Snapshot, run
from minigrad.lab.source import Program
from minigrad.picture import Recorder
from minigrad.reasons import NO_GRAPH_NOTE, NOT_RECORDED, RULES
from minigrad.why import explained, lines_of, why

SQUARE = "x = mg.tensor([2.0], requires_grad=True)\ny = mg.tensor([3.0])\nz = x * y\nt = z ** 2\nt.backward()\n"
PROGRAM = Program(SQUARE)
KEYS = [switch.key for switch in PROGRAM.switches]
ON = {switch.key: switch.on for switch in PROGRAM.switches}
INPUTS = {"z": ("x", "y"), "t": ("z",)}
LINE = {"z": 3, "t": 4}


def states():
    """All settings of the program's nine switches."""
    for size in range(len(KEYS) + 1):
        yield from map(frozenset, itertools.combinations(KEYS, size))


def expected(name, attribute, on, asks, ran, raised):
    """The rule that must explain it, told from the switches alone; `asks` are the flags that follow from them."""
    leaf = not asks[name] or name in "xy"
    cut = {n: on[f"{n}.detach"] or on[f"no_grad (line {LINE[n]})"] for n in "zt"}
    if attribute == "grad" and asks[name]:
        if not ran:
            return "no backward yet"
        if raised:
            return "backward raised"
        passes = {"t": True, "z": asks["t"] and asks["z"], "x": asks["t"] and asks["z"], "y": asks["t"] and asks["z"]}[name]
        kept = leaf or on[f"{name}.retain_grad"]
        return "not reached" if not passes else "not kept" if not kept else "collected" if leaf else "kept"
    if attribute == "is_leaf":
        return "result" if not leaf else "asked" if asks[name] else "no history"
    if attribute == "retains_grad":
        return "leaf" if leaf else "asked" if on[f"{name}.retain_grad"] else "not asked"
    if asks[name]:
        return {"requires_grad": "leaf asks" if leaf else "comes from", "grad_fn": "leaf" if leaf else "recorded"}[attribute]
    if name in "xy":
        return "never asked"
    if on[f"{name}.detach"]:
        return "detached"
    return "recording was off" if cut[name] and any(asks[n] for n in INPUTS[name]) else "no input asks"


def test_every_state_of_a_small_program():
    counted = {}
    snapshot = Snapshot(SQUARE, {"mg": mg})
    for flipped in states():
        text = PROGRAM.text(flipped)
        outcome = run(text.source, snapshot, "<program>", Recorder("<program>"))
        on = {key: value ^ (key in flipped) for key, value in ON.items()}
        asks = {"x": on["x.requires_grad"], "y": on["y.requires_grad"]}
        for name, inputs in INPUTS.items():
            cut = on[f"{name}.detach"] or on[f"no_grad (line {LINE[name]})"]
            asks[name] = not cut and any(asks[n] for n in inputs)
        names, lines = outcome.namespace, lines_of(text.source)
        failed = outcome.failure
        for name in set(asks) & set(names):
            tensor = names[name]
            assert tensor.requires_grad == asks[name]
            # retain_grad() on a tensor without history stops the program before its backward pass
            before = failed is not None and "backward" not in text.lines[failed.line - 1]
            for attribute in RULES:
                if before and attribute in ("grad", "retains_grad"):
                    continue
                found = explained(tensor, attribute, name, names, lines, failed.text if failed else "")
                assert found.rule == expected(name, attribute, on, asks, on["t.backward"], bool(failed)), (text.source, found)
                assert "{" not in repr(found) and "None of" not in found.because
                for number, code in re.findall(r"`([^`]*)` \(line (\d+)\)", found.because):
                    assert text.lines[int(code) - 1].strip() == number                 # a line that is named says what is quoted
                counted[attribute, found.rule] = counted.get((attribute, found.rule), 0) + 1
    assert len(counted) > 20 and not {rule for _, rule in counted} & {"unknown", "not recorded", "not arrived"}


def test_a_sentence_and_its_mend():
    x = mg.tensor([2.0], requires_grad=True)
    y = x.detach()
    z = y * 3
    assert re.fullmatch(r"z\.requires_grad is False: `z = y \* 3` \(line \d+\) was computed from y, which does not require "
                        r"grad\. Set the flag where an input is made: requires_grad=True\.", repr(why(z, "requires_grad")))
    assert why(y).rule == "detached" and "`y = x.detach()` (line " in why(y).because


def told(source, name, attribute="grad"):
    names = {"mg": mg}
    exec(source, names)
    return explained(names[name], attribute, name, names, lines_of(source))


@pytest.mark.parametrize("source, name, attribute, rule, part", [
    ("i = mg.tensor([1, 2])", "i", "requires_grad", "no slope", "torch.int64"),
    ("x = mg.ones(1, requires_grad=True)\nb = x > 0", "b", "requires_grad", "no slope", "torch.bool"),
    ("x = mg.ones(1, requires_grad=True)\nx.requires_grad_(False)", "x", "requires_grad", "switched off", "(line 2)"),
    ("x = mg.ones(1, requires_grad=True)\ny = x * 2\ny.detach_()", "y", "requires_grad", "switched off", "`y.detach_()` (line 3)"),
    ("x = mg.ones(1)\ny = x * 2\nx.requires_grad_()", "y", "requires_grad", "flag came late", "`x.requires_grad_()` (line 3)"),
    ("x = mg.ones(1)\ny = x * 2\nx.requires_grad = True", "y", "grad", "flag came late", "does not require grad, so"),
    ("mg.set_grad_enabled(False)\nx = mg.ones(1, requires_grad=True)\ny = x * 2\nmg.set_grad_enabled(True)", "y", "requires_grad",
     "recording was off", "`mg.set_grad_enabled(False)`, line 1"),
    ("@mg.no_grad()\ndef f(a):\n    return a * 2\nx = mg.ones(1, requires_grad=True)\ny = f(x)", "y", "requires_grad",
     "not recorded", "although x requires grad"),
    ("x = mg.ones(2, requires_grad=True)\nwith mg.no_grad():\n    v = x[0]", "v", "requires_grad", "view shows the flag", "line 2"),
    ("x = mg.ones(1, requires_grad=True)\ny = x * 2\ny.backward()\ny.retain_grad()", "y", "grad", "asked too late", "(line 4)"),
    ("x = mg.ones(1, requires_grad=True)\n(x * 2).backward()\nx.grad = None", "x", "grad", "cleared", "`x.grad = None` (line 3)"),
    ("x = mg.ones(1, requires_grad=True)\nw = mg.ones(1, requires_grad=True)\nt = x.detach() * w\nt.backward()", "x", "grad",
     "not reached", "`t = x.detach() * w` (line 3) cuts it off"),
    ("x = mg.ones(1, requires_grad=True)\ny = x * 2", "x", "grad", "no backward yet", "None, not 0"),
    ("net = mg.nn.Linear(2, 1)\ny = net(mg.ones(2))", "y", "requires_grad", "comes from", "`y = net(mg.ones(2))` (line 2)"),
    ("x = mg.ones(1, requires_grad=True) * 0.1", "x", "is_leaf", "result", "so the graph goes on"),
    ("x = mg.ones(1, requires_grad=True)\nt = (x.detach() - 1) ** 2", "t", "requires_grad", "value only", "`x.detach()` has no history"),
    ("x = mg.ones(1, requires_grad=True)\nt = mg.tensor((x * 2).item())", "t", "grad", "value only", "`(x * 2).item()` has no history"),
    ("x = mg.ones(1, requires_grad=True)\ng, = mg.autograd.grad(x ** 2, x)", "g", "requires_grad", "a gradient", "create_graph=True"),
    ("a = b = mg.ones(1)\na, b = b, a", "a", "requires_grad", "no input asks", "from b"),
])
def test_rules_by_program(source, name, attribute, rule, part):
    found = told(source, name, attribute)
    assert found.rule == rule and part in repr(found), found


def test_a_tensor_of_unknown_origin():
    found = explained(mg.ones(1), "grad", "", {}, [])
    assert found.rule == "unknown" and NO_GRAPH_NOTE in found.because          # the text of the error's note
    assert all(rule.holds and rule.because for rules in (*RULES.values(), NOT_RECORDED) for rule in rules)


@pytest.mark.parametrize("source, note", [
    ("w = mg.tensor([1.0])\nloss = (w * 2) ** 2\nloss.backward()",
     "loss.requires_grad is False: `loss = (w * 2) ** 2` (line 2) was computed from w, which does not require grad."),
    ("x = mg.ones(1, requires_grad=True)\nwith mg.no_grad():\n    z = x + 1\nt = z * 3\nt.backward()",
     "z.requires_grad is False: `z = x + 1` (line 3) ran while the recording was off (`with mg.no_grad()`, line 2)."),
    ("x = mg.ones(1, requires_grad=True)\ny = x.detach()\nt = y * y\nt.backward()",
     "y.requires_grad is False: `y = x.detach()` (line 2) shares the memory and leaves the history behind."),
    ("def step(w):\n    loss = w ** 2\n    loss.backward()\nstep(mg.ones(1))",
     "loss.requires_grad is False: `loss = w ** 2` (line 2) was computed from w, which does not require grad."),
    ("n = mg.ones(2, requires_grad=True).argmax()\nn.backward()",
     "This tensor holds torch.int64, and only floating point numbers can have a gradient."),
    ("mg.ones(1).backward()", NO_GRAPH_NOTE),                                    # nothing has a name
])
def test_the_note_of_a_backward_without_a_road_names_its_cause(source, note):
    assert run(source, Snapshot(source, {"mg": mg}), "<cause>", contextlib.nullcontext()).failure.notes.startswith(note)


def test_what_cannot_be_explained():
    with pytest.raises(TypeError, match="not int"):
        why(3)
    with pytest.raises(ValueError, match="grad_fn, is_leaf, retains_grad, grad, not 'shape'"):
        why(mg.ones(1), "shape")


def test_the_magic(capsys, tmp_path):
    shell = InteractiveShell.instance(ipython_dir=str(tmp_path), colors="nocolor")
    try:
        for cell in ("%load_ext minigrad.lab", "import minigrad as mg", "x = mg.ones(1)\ny = x * 2", "%why y.requires_grad", "%why x"):
            assert shell.run_cell(cell, store_history=True).success
    finally:
        InteractiveShell.clear_instance()
    first, second = capsys.readouterr().out.strip().splitlines()[-2:]
    assert first.startswith("y.requires_grad is False: `y = x * 2` (line 2 of cell 3) was computed from x")
    assert second.startswith("x.grad is None: x does not require grad")


def test_on_pytorch():
    torch = pytest.importorskip("torch")
    source = SQUARE + "n = z.detach()\nwith mg.no_grad():\n    k = x * 2\n"
    names = {"mg": torch}
    exec(source, names)
    lines = lines_of(source)
    rules = {f"{n}.{a}": explained(names[n], a, n, names, lines).rule for n in "xyztnk" for a in ("requires_grad", "grad")}
    names = {"mg": mg}
    exec(source, names)
    assert rules == {f"{n}.{a}": explained(names[n], a, n, names, lines).rule for n in "xyztnk" for a in ("requires_grad", "grad")}
    assert rules["x.grad"] == "collected" and rules["n.grad"] == "detached" and rules["k.grad"] == "recording was off"


def test_a_block_without_recording_is_no_cause_where_nothing_would_have_been_recorded():
    x = mg.tensor([2.0])
    with mg.no_grad():
        z = x + 1
    assert why(z).rule == "no input asks"
    x.requires_grad_()
    with mg.no_grad():
        z = x + 1
    assert why(z).rule == "recording was off"
