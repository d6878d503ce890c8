"""The prediction gate: it hides what the program says until somebody has answered, and what it says is the program's word."""
import csv
import json

import pytest

import minigrad as mg
from minigrad import lab
from minigrad.lab.gate import Answer, agrees

SQUARE = """
x = mg.tensor([2.0], requires_grad=True)
y = x * 3
t = y ** 2
t.backward()
"""
WRITTEN = "x = mg.tensor([2.0], requires_grad=True)\ny = x.detach()\nz = x ** 2\ny.zero_()\nz.backward()"
FLAGS = {"True": "", "False": "believes that a result has no `flag`. It has."}


@pytest.fixture(autouse=True)
def answers_file(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGRAD_ANSWERS", str(tmp_path / "answers.json"))
    return tmp_path / "answers.json"


def table(**more):
    return lab.gate(SQUARE, "x.grad", "y.grad", "t.requires_grad", "y.requires_grad_(False)", "error", "y.grad_fn",
                    **more)


RIGHT = {"x.grad": "36", "y.grad": None, "t.requires_grad": True, "y.requires_grad_(False)": "raises",
         "error": "no error",
         "y.grad_fn": "MulBackward0"}


def test_the_program_says_what_is_right():
    assert list(table().says.values()) == [
        "tensor([36.])", "None", "True",
        "RuntimeError: you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach().",
        "no error", "MulBackward0"]


def test_each_question_is_tried_alone():
    gate = lab.gate("x = mg.ones(1)\nprint('ran')", "x.add_(1)", "x", "x.undefined")
    assert list(gate.says.values()) == ["works", "tensor([1.])",
                                        "AttributeError: 'Tensor' object has no attribute 'undefined'"]


def test_answer_then_see():
    gate = table()
    for early in (gate.reveal, gate.commit):
        with pytest.raises((RuntimeError, ValueError), match="first"):
            early()
    assert "36" not in gate.widget.html and "MulBackward0" not in gate.widget.html
    gate.commit(RIGHT | {"x.grad": 12})
    assert gate.score == (5, 6) and not gate.revealed and "tensor([36.])" not in gate.widget.html
    gate.reveal()
    assert "tensor([36.])" in gate.widget.html and "5 of 6 right" in gate.widget.html and "<svg" in gate.widget.html


def test_a_wrong_answer_names_its_belief():
    gate = table(believes={"y.grad": {"12": "every tensor keeps its gradient"}})
    gate.commit(RIGHT | {"y.grad": "[12.]"})
    assert "every tensor" not in gate.widget.html
    gate.reveal()
    assert "every tensor keeps its gradient" in gate.widget.html


def test_letters_votes_and_beliefs():
    gate = lab.gate(SQUARE, "t.requires_grad", options=FLAGS)
    assert [gate.is_right(option) for option in gate.options] == [True, False]
    gate.vote(A=3, B=20)
    gate.vote(A=21, B=2)
    assert "a result has no" not in gate.widget.html
    gate.reveal()
    assert "Who chooses this believes that a result has no <code>flag</code>. It has." in gate.widget.html
    assert gate.votes == [{"A": 3, "B": 20}, {"A": 21, "B": 2}]
    gate.again()
    gate.commit("b")
    assert gate.score == (0, 1) and not gate.revealed
    gate.reveal()
    assert "Your answer, B, is not what the program does. A is." in gate.widget.html
    for wrong in ("C", "x"):
        with pytest.raises(ValueError, match="none of A, B"):
            gate.commit(wrong)
    with pytest.raises(ValueError, match="A, B"):
        gate.vote(E=1)


def test_what_a_choice_means_is_a_sentence():
    gate = lab.gate("x = mg.ones(1)", "x.requires_grad", options={"False": "Nobody asked.", "True": "believes that it is on.",
                                                                  "`x` decides": ("`x` cannot.", ["error"])})
    assert [option.meaning("Who chooses this") for option in gate.options] == [
        "Nobody asked.", "Who chooses this believes that it is on.", "`x` cannot."]
    assert "<code>x</code> decides" in gate.widget.html and "<code>False</code>" in gate.widget.html


def test_options_in_prose_claim_an_answer_each():
    gate = lab.gate(WRITTEN, "x.grad", "error", options={
        "it raises": ("", ["None", "line 5"]), "4": ("detach copies", ["4", "no error"]),
        "0": ("the past is rewritten", ["0", "no error"])})
    assert [gate.is_right(option) for option in gate.options] == [True, False, False]


@pytest.mark.parametrize("options, said", [
    ({"True": "", "tensor(1)": ""}, "0 options agree with the program, which answers False"),
    ({"False": "", "false": ""}, "2 options agree"),
    ({"False": ("", ["False", "no error"])}, "option A must claim 1 things"),
])
def test_an_author_cannot_be_wrong(options, said):
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        lab.gate("x = mg.ones(1)", "x.requires_grad", options=options)


@pytest.mark.parametrize("guess, text, raised, same", [
    ("6", "tensor([6.])", False, True), ("[6.]", "tensor([6.])", False, True), ("6.01", "tensor([6.])", False, True),
    ("7", "tensor([6.])", False, False), ("1, 2", "tensor([1., 2.])", False, True),
    ("2, 1", "tensor([1., 2.])", False, False),
    ("none", "None", False, True), ("0", "None", False, False), ("None", "tensor([0.])", False, False),
    ("0.333", "tensor(0.3333, grad_fn=<MulBackward0>)", False, True), ("<MulBackward0>", "MulBackward0", False, True),
    ("raises", "RuntimeError: no", True, True), ("RuntimeError", "RuntimeError: no", True, True),
    ("an error", "RuntimeError: no", True, True), ("works", "RuntimeError: no", True, False),
    ("no error", "line 5", True, False), ("line 4", "line 5", True, False), ("line 5", "line 5", True, True),
    ("line 5", "no error", False, False),
])
def test_agrees(guess, text, raised, same):
    assert agrees(guess, Answer(text, raised)) is same


def test_answers_are_kept_and_never_revealed_by_running_again(answers_file, tmp_path):
    table(name="one")
    assert not answers_file.exists()                        # running a lesson answers nothing
    gate = table(name="one")
    gate.commit(RIGHT)
    gate.reveal()
    lab.gate(SQUARE, "t.requires_grad", options=FLAGS, name="two", question="Does t?").commit("B")
    again = table(name="one")
    assert again.guesses["x.grad"] == "36" and again.committed and not again.revealed and "tensor([36.])" not in again.widget.html
    assert lab.answers()[1] == {"name": "two", "question": "Does t?", "answer": "B", "right": 0, "of": 1}
    with open(lab.export(str(tmp_path / "mine.csv")), encoding="utf-8", newline="") as file:
        assert [row["right"] for row in csv.DictReader(file)] == ["6", "0"]
    again.again()
    assert list(json.loads(answers_file.read_text(encoding="utf-8"))["gates"]) == ["two"]


def test_a_file_that_is_not_ours_is_left_alone(answers_file):
    answers_file.write_text("a poem", encoding="utf-8")
    gate = lab.gate(SQUARE, "t.requires_grad", options=FLAGS)
    gate.commit("A")
    assert answers_file.read_text(encoding="utf-8") == "a poem" and "not kept" in gate.widget.html and gate.score == (1,
                                                                                                                      1)


def test_what_is_stored_is_the_same_whoever_answered():
    first = table(name="g")
    before = first._repr_mimebundle_()[0]
    first.commit(RIGHT)
    first.reveal()
    after = table(name="g")._repr_mimebundle_()[0]
    for mime in ("text/plain", "text/html"):
        assert before[mime] == after[mime] == first._repr_mimebundle_()[0][mime]
        assert "36" not in before[mime] and "x.grad" in before[mime]
    assert set(before) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}


def test_the_controls_do_what_the_methods_do():
    gate = lab.gate(SQUARE, "t.requires_grad", options=FLAGS)
    press = lambda **message: gate.widget._handle_custom_msg(message, [])
    press(guess="", value="B")
    press(do="count")
    press(hands="A", value="7")
    press(hands="B", value="")
    press(do="vote")
    press(hands="B", value="9")
    assert gate.votes == [{"A": 7, "B": 0}, {"B": 9}] and not gate.committed
    press(do="commit")
    press(guess="", value="A")                              # too late
    assert gate.guesses == {"": "B"} and gate.score == (0, 1)
    press(do="reveal")
    assert gate.revealed and gate.widget.answered == 9
    press(do="again")
    assert not gate.revealed and gate.guesses == {}


def test_hostile_texts_stay_text():
    evil = "<img src=x onerror=alert(1)>"
    gate = lab.gate(f"x = mg.ones(1)  # {evil}\nraise ValueError({evil!r})", "x.requires_grad", question=evil,
                    options={"False": (evil, ["False"]), evil: evil})
    gate.commit("A")
    gate.reveal()
    assert "<img" not in gate.widget.html + "".join(gate._repr_mimebundle_()[0]["text/html"])


def test_it_reads_the_notebook_and_leaves_it_alone():
    namespace = {"mg": mg, "lab": lab, "w": mg.ones(2, requires_grad=True)}
    exec("g = lab.gate('w.sum().backward()\\nv = 1', 'w.grad', 'v')", namespace)
    assert list(namespace["g"].says.values()) == ["tensor([1., 1.])",
                                                  "1"] and namespace["w"].grad is None and "v" not in namespace


@pytest.mark.parametrize("program, asks, marked", [
    (SQUARE, ["x.grad", "y.requires_grad_(False)"], ["x", "y"]),
    ("x = mg.ones(1, requires_grad=True)\n", ["(x * 2).requires_grad", "(x > 1).requires_grad"], ["x * 2", "x > 1"]),
    ("l = mg.nn.Linear(1, 1)\n", ["l.weight.T.is_leaf", "l.weight.is_leaf"], ["l.weight", "l.weight.T"]),
    (WRITTEN, ["x.grad", "error"], ["x"]),
    ("x = mg.ones(1)\nlong = len(x)\n", ["long", "x.tolist()[0] == 1.0"], []),
])
def test_the_revealed_picture_shows_and_marks_what_was_asked(program, asks, marked):
    gate = lab.gate(program, *asks)
    figure, ids = gate.picture()
    assert [figure.model.by_id[id].name for id in ids] == marked
    gate.commit(dict.fromkeys(asks, "?"))
    assert "data-changed" not in gate.widget.html
    gate.reveal()
    assert gate.widget.html.count("data-changed") == len(marked) == gate.widget.html.count("broad frame") * len(marked)


def test_several_questions_behind_letters_are_answered_one_by_one():
    options = {"only y": ("", ["works", "raises"]), "only x": ("", ["raises", "works"])}
    gate = lab.gate(SQUARE, "x.requires_grad_(False)", "y.requires_grad_(False)", options=options)
    row = "<li><code>y.requires_grad_(False)</code>"
    gate.commit("A")
    assert row not in gate.widget.html
    gate.reveal()
    assert f"{row} <code>RuntimeError</code></li>" in gate.widget.html
    assert "<code>x.requires_grad_(False)</code> <code>works</code>" in gate.widget.html
    one = lab.gate(SQUARE, "error", options={"line 4": "", "no error": ""})
    assert "Does the program" not in one.widget._static()["text/html"]


def test_a_last_value_is_not_echoed_and_each_answer_has_its_question():
    gate = lab.gate("x = mg.ones(1)\nz = x * 3\nx.requires_grad_(True)\n", "z.requires_grad", options={
        "Yes": ("believes in formulas", ["True"]), "No": ("is right", ["False"])})
    gate.commit("B")
    gate.reveal()
    assert gate.outcome.printed == "" and "mg-printed" not in gate.widget.html
    assert "<code>z.requires_grad</code> <code>False</code>" in gate.widget.html


def test_the_status_says_which_bar_is_which_vote():
    gate = lab.gate("x = mg.ones(1)\n", "x.requires_grad", options={"True": "dreams", "False": "is right"})
    gate.vote(A=1)
    assert "Second vote" in gate.widget.html.split("mg-caption")[1]
    gate.vote(B=1)
    assert "Grey is the first vote, blue the second." in gate.widget.html
