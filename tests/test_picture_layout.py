"""The two Graphviz engines, their deadline and their cache; the geometry that is made of their answer."""
import shutil
import subprocess

import pytest

import minigrad as mg
from minigrad.picture import draw, graphviz_wasm, layout, text
from minigrad.picture.graphviz_wasm import LayoutError, run_dot
from minigrad.picture.layout import Box

SMALL = 'digraph{rankdir=LR;node[shape=record,width=2,height=0.9167,fixedsize=true,label="<v> |<g> |<n> "];a:v:e->b:v:w[dir=none]}'


def explosive():
    return "digraph{" + "".join(f"n{i * 7919 % 397}->n{i * 104729 % 401};" for i in range(1600)) + "}"


def test_an_engine_answers():
    answer = run_dot(SMALL)
    assert [node["name"] for node in answer["objects"]] == ["a", "b"] and answer["edges"][0]["tailport"] == "v:e"
    assert run_dot(SMALL) == answer                      # a fresh instance for every call


def test_the_deadline_holds_and_the_engine_lives_on():
    with pytest.raises(LayoutError, match="Graphviz (stopped|was stopped)"):
        run_dot(explosive(), seconds=0.2)
    assert run_dot(SMALL)["objects"]


def test_a_graph_that_graphviz_refuses():
    with pytest.raises(LayoutError):
        run_dot("digraph{")


def test_without_any_engine(monkeypatch):
    monkeypatch.setattr(graphviz_wasm, "wasmtime", None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    layout._arranged.cache_clear()
    x = mg.tensor([2.], requires_grad=True)
    figure = draw(x * 2)
    assert "No picture: no Graphviz" in figure.svg and "MulBackward0" in figure.describe()
    layout._arranged.cache_clear()


def test_the_system_program_is_the_second_engine(monkeypatch):
    calls = []

    def dot(command, **options):
        calls.append((command, options["timeout"]))
        return subprocess.CompletedProcess(command, 0, stdout=b'{"bb": "0,0,1,1"}')
    monkeypatch.setattr(graphviz_wasm, "wasmtime", None)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(subprocess, "run", dot)
    assert run_dot(SMALL, seconds=3) == {"bb": "0,0,1,1"} and calls == [(["/bin/dot", "-Tjson0"], 3)]


@pytest.mark.skipif(graphviz_wasm.wasmtime is None or shutil.which("dot") is None, reason="needs both Graphviz engines")
def test_both_engines_agree():
    one, other = (answer for answer in (graphviz_wasm._in_process(SMALL, 5), graphviz_wasm._as_program(SMALL, 5)))
    assert len(one) and len(other)


@pytest.mark.skipif(graphviz_wasm.wasmtime is None, reason="needs the WebAssembly runtime")
def test_the_compiled_module_is_kept_and_a_damaged_one_replaced(monkeypatch, tmp_path):
    monkeypatch.setattr(graphviz_wasm, "_cache_folder", lambda: tmp_path / "new")
    compiled = graphviz_wasm._compiled.__wrapped__
    compiled()
    kept, = (tmp_path / "new").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(b"damaged")
    compiled()
    assert kept.read_bytes() == whole
    monkeypatch.setattr(graphviz_wasm, "_cache_folder", lambda: kept / "not a folder")
    assert compiled()


def test_a_layout_asks_graphviz_once(monkeypatch):
    x = mg.tensor([2.], requires_grad=True)
    model = draw(x ** 2).model
    first = layout.place(model)
    monkeypatch.setattr(layout, "run_dot", None)
    model.cards[0].grad, model.ops[0].state = "[4.]", "done"
    assert layout.place(model) == first


def test_the_first_lane_is_in_program_order():
    x, y = mg.tensor([2.], requires_grad=True), mg.tensor([3.], requires_grad=True)
    a = x * y
    t = (a + x) ** 2
    placed = layout.place(draw(t, names={"x": x, "y": y, "a": a, "t": t}).model, 9999)
    assert placed.boxes["t0"].x == placed.boxes["t1"].x and placed.boxes["t0"].y < placed.boxes["t1"].y
    assert layout.START not in placed.boxes and placed.boxes["t0"].x == 10       # nothing hidden takes room


def test_points_along_a_curve():
    points = layout.along([(0, 0), (0, 8), (8, 8), (8, 0)])
    assert (points[0], points[8], points[-1]) == ((0, 0), (4, 6), (8, 0)) and len(points) == 17


def test_boxes():
    box = Box(10, 20, 30, 66)
    assert (box.right, box.bottom, box.lane(0), box.lane(1)) == (40, 86, 31, 53)
    assert box.meets(Box(39, 85, 5, 5)) and not box.meets(Box(40, 20, 5, 5))
    assert box.grown(1, 2, 3, 4) == Box(9, 18, 34, 72)


def test_text_is_measured_cut_and_cleaned():
    assert text.short("x" * 20, 14) == "x" * 13 + "…"
    assert text.shown("a\x00\u202eb") == "a\ufffd\ufffdb"
    assert text.code_width("ab") == pytest.approx(2 * 0.602 * 13)
    assert text.note_width("ab", bold=True) > text.note_width("ab") > 0
    assert text.sentence("x is 10.") == "x is 10." and text.sentence("x is 10") == "x is 10."
