"""The course as a whole: the ten mistakes are confronted, the pages around the lessons lead somewhere and say what the lessons say."""
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

pytest.importorskip("anywidget")
from tests import gates, teacher

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
each_lesson = pytest.mark.parametrize("path", teacher.LESSONS, ids=lambda path: path.stem)

# The mistakes that are made again and again in public: where a lesson confronts each.
# what people believe, lesson, gate, the letter of the belief, exercise, what its check says to the belief
MISTAKES = [
    ("rebinding keeps my leaf", "05", "gate-famous", "A", "ex2", "still computed"),
    ("a computed tensor is never a leaf", "05", "gate-predict-7", "B", "ex1", "only from data"),
    ("intermediates keep .grad", "05", "gate-example-8", "B", "ex1", "nobody called"),
    ("retain_grad() works after backward", "05", "gate-late", "B", "ex3", "The request must come before the walk"),
    ("no_grad clears flags", "04", "gate-predict-5", "A", "ex1", "does not clear"),
    ("detach() copies", "06", "gate-write-through", "A", "ex1", "seen by x"),
    ("a later detach_() rewrites the past", "09", "gate-detach-later-run", "A", "ex2", "s  not yet: the road goes from step to step"),
    ("a flag set later rewrites the past", "01", "gate-past-run", "A", "ex3", "after the walk"),
    ("w = w - lr * w.grad is an update", "08", "gate-book", "A", "ex2", "has not changed"),
    ("backward() resets", "07", "gate-twice", "A", "ex1", "p  not yet: backward() never clears"),
    ("backward() repeats freely", "07", "gate-error-second", "A", "ex1", "q  not yet: the product remembered"),
    ("retain_graph is retain_grad", "07", "gate-not-retain-grad", "A", "ex1", "v  not yet: retain_graph keeps what the steps remembered"),
    ("flags can be set anywhere", "01", "gate-predict-2-run", "B", "ex3", "you can only change requires_grad flags of leaf variables"),
    ("eval() is a kind of no_grad", "10", "gate-eval-records", "A", "ex1", "5  not yet: eval() records"),
    ("clone() cuts", "10", "gate-clone-road", "B", "ex1", "6  not yet: clone() copies"),
    ("freezing a layer puts a wall there", "10", "gate-frozen-after", "A", "ex1", "2  not yet: no_grad around"),
]


@cache
def lesson(number):
    notebook = teacher.lesson(number)
    return notebook, gates.gates(notebook)


@pytest.mark.parametrize("belief, number, gate, letter, exercise, says", MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_meets_a_gate_and_an_exercise(belief, number, gate, letter, exercise, says):
    notebook, asked = lesson(number)
    option = next(option for option in asked[gate].options if option.letter == letter)
    assert option.believes and not asked[gate].is_right(option)
    cell = next(cell for cell in notebook.cells if cell.id == exercise)
    assert says in [text for wrong in cell.metadata.exercise.wrong for text in wrong.says]


@each_lesson
def test_every_lesson_predicts_fails_tries_and_ends_on_pytorch(path):
    cells = {cell.id: cell for cell in nbformat.read(path, 4).cells}
    assert any(name.startswith("gate-") for name in cells)
    assert any("raises-exception" in cell.metadata.get("tags", []) for cell in cells.values())
    assert any(cell.source.startswith("%%explore") for cell in cells.values())
    assert {"torch", "nbval-ignore-output"} == set(cells["on-pytorch"].metadata.tags)
    said = cells["on-pytorch"].outputs[0].text.splitlines()
    assert len(said) >= 2 and said[-2].removeprefix("minigrad:") == said[-1].removeprefix("PyTorch: ").replace("PyTorch:", "")
    text = cells["title"].source
    assert "minutes" in text and "After this lesson you can" in text and "## What to remember" in cells["end"].source


@each_lesson
def test_below_a_question_stands_what_it_says_when_revealed(path):
    cells = nbformat.read(path, 4).cells
    for cell, after in zip(cells, cells[1:]):
        if cell.id.startswith("gate-"):
            gate = gates.gate_of(cell)
            assert len(gate.options) >= 3 and all(option.believes for option in gate.options), cell.id
            assert (after.id, after.source) == (gates.below(cell.id), gates.fold(gate))


@each_lesson
def test_nothing_below_a_question_answers_it_before_it_is_run(path):
    notebook = nbformat.read(path, 4)
    places = [cell.id for cell in notebook.cells]
    for name, gate in gates.gates(notebook).items():
        cells = gates.answering(notebook, name)
        assert [cell.id for cell in cells if not cell.metadata.get("jupyter", {}).get("outputs_hidden")] == []
        between = notebook.cells[places.index(name) + 2:places.index(cells[0].id) if cells else places.index(name) + 3]
        assert telling(gate, "\n".join(cell.source for cell in between if cell.cell_type == "markdown")) == [], name


def telling(gate, text):
    """Return the words of a text that answer a question: that something fails, if it does, or what is right."""
    if any(answer.raised for answer in gate.answers.values()):
        return re.findall(r"\b(?:error|rais|refus|fail)\w*", text)
    right = next(option for option in gate.options if gate.is_right(option))
    return [said for said in {right.text, *(f"`{answer}`" for answer in right.claims)} if said in text and len(said) > 3]


def test_what_answers_a_question_would_be_found():
    assert [cell.id for cell in gates.answering(lesson("04")[0], "gate-predict-6")] == ["lab"]
    assert [cell.id for cell in gates.answering(lesson("05")[0], "gate-late")] == ["on-leaf", "error-retain"]
    _, asked = lesson("00")
    assert telling(asked["gate-no-flag"], "In this course some cells fail on purpose. Read the error.") == ["fail", "error"]
    _, asked = lesson("05")
    assert telling(asked["gate-late"], "It is `None`.") == ["`None`"] and telling(asked["gate-late"], "Run it.") == []


def program_of(cell):
    """Return what a cell does, without what it prints and without the frame of a picture."""
    lines = (line.partition("  #")[0].strip() for line in cell.source.splitlines())
    return [line for line in lines if line and not line.startswith(("print(", "with picture.record(", "#"))]


@each_lesson
def test_no_cell_answers_a_question_by_running_its_program_again(path):
    cells = nbformat.read(path, 4).cells
    others = [cell for cell in cells if cell.cell_type == "code" and not cell.id.startswith(("gate-", "example-", "lab"))]
    for name, gate in gates.gates(nbformat.read(path, 4)).items():
        program = program_of(nbformat.from_dict({"source": gate.program}))
        assert [cell.id for cell in others if program_of(cell) == program] == [], name


def test_no_letter_gives_the_answer_away():
    right = [[option.letter for gate in gates.gates(nbformat.read(path, 4)).values() for option in gate.options if gate.is_right(option)]
             for path in teacher.LESSONS]
    every = "".join(map("".join, right))
    assert max(map(every.count, "ABCD")) <= 0.4 * len(every)
    assert [letters for letters in right if len(letters) > 2 and len(set(letters)) == 1] == []


@each_lesson
def test_a_lesson_ends_in_a_bug_hunt_and_fits_a_projector(path):
    cells = {cell.id: cell for cell in nbformat.read(path, 4).cells}
    tasks = [cell.source for name, cell in cells.items() if name.endswith("-task")]
    assert path.name.startswith("15") or "exit ticket" in tasks[-1] and "*Bug hunt.*" in tasks[-1]
    shown = [cell for cell in cells.values() if cell.cell_type == "code" and not cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert [(cell.id, line) for cell in shown for line in cell.source.splitlines() if len(line) > 100] == []


def test_the_contents_page_names_every_lesson_and_its_minutes():
    page = nbformat.read(teacher.LESSONS[0], 4).cells
    rows = dict(re.findall(r"\]\((\w+\.ipynb)\)[^|\n]* \| (\d+)", next(cell.source for cell in page if cell.id == "end")))
    for path in teacher.LESSONS[1:]:
        said = [int(number) for number in re.findall(r"\d+(?= minutes|, |\b)", teacher.minutes(nbformat.read(path, 4)).split(". ")[0])]
        total = {"13": sum(said), "14": 90}.get(path.name[:2], said[0])
        assert int(rows[path.name]) == total, path.name


@pytest.mark.parametrize("page", ["glossary.md", "teacher/run_sheets.md"])
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!http)([^)#]+)\)", (NOTEBOOKS / page).read_text(encoding="utf-8"))
    assert links and [link for link in links if not (NOTEBOOKS / page).parent.joinpath(link).exists()] == []


@each_lesson
def test_links_between_lessons_lead_somewhere(path):
    text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert [link for link in re.findall(r"\]\((?!http)([^)#]+)\)", text) if not (NOTEBOOKS / link).exists()] == []


def test_the_glossary_is_in_order_and_in_two_languages():
    rows = re.findall(r"^\| (.+?) \| (.+?) \|", (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8"), re.M)[2:]
    assert len(rows) > 30 and all(re.search(r"[\u4e00-\u9fff]", chinese) for _, chinese in rows)
    terms = [re.sub(r"\W|_", "", term).lower() for term, _ in rows]
    assert terms == sorted(terms)


def text_of(path):
    return "\n".join(cell.source for cell in nbformat.read(path, 4).cells)


def test_the_lesson_of_a_term_uses_the_term():
    rows = re.findall(r"^\| (.+?) \| .+? \| .+? \| (.+) \|$", (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8"), re.M)[1:]
    links = [(term.replace("`", "").removesuffix("()").lower(), *link) for term, cell in rows
             for link in re.findall(r"\[(\d+)\]\((\w+\.ipynb)\)", cell)]
    assert len(links) > 50
    assert [(term, file) for term, number, file in links if int(file[:2]) != int(number)
            or not any(re.search(rf"(?<!\w){re.escape(word)}", text_of(NOTEBOOKS / file).lower()) for word in term.split(", "))] == []


def test_the_article_s_examples_are_in_the_lessons_of_the_table():
    page = next(cell.source for cell in nbformat.read(teacher.LESSONS[0], 4).cells if cell.id == "end")
    rows = re.findall(r"^\| .+ \| ([\d, ]+) \| \[(\d+)\]\((\w+\.ipynb)\) \|$", page, re.M)
    examples = [(int(example), number, file) for examples, number, file in rows for example in examples.split(", ")]
    assert [example for example, number, file in examples] == list(range(1, 10))
    assert [row for row in examples if int(row[2][:2]) != int(row[1])
            or f"**example {row[0]}**" not in text_of(NOTEBOOKS / row[2])] == []


def test_every_line_of_the_cheat_sheet_was_tried():
    cells = {cell.id: cell for cell in nbformat.read(teacher.LESSONS[10], 4).cells}
    sheet = set(ElementTree.parse(NOTEBOOKS / "cheat_sheet.svg").getroot().itertext())
    lines = cells["cheat_sheet"].outputs[0].data["text/plain"].splitlines()[2:]
    assert cells["decide"].outputs[0].text == f"{len(lines)} lines, tried:{' yes' * len(lines)}\n" and len(lines) >= 10
    assert {cell.strip("`") for line in lines for cell in line.split(" | ")} < sheet


def test_the_teacher_s_pages_are_those_of_the_lessons():
    assert (NOTEBOOKS / "teacher/run_sheets.md").read_text(encoding="utf-8") == teacher.run_sheets()
    stored = nbformat.read(NOTEBOOKS / "teacher/class_90_minutes.ipynb", 4)
    fresh = teacher.class_notebook()
    assert [(cell.id, cell.source) for cell in stored.cells] == [(cell.id, cell.source) for cell in fresh.cells]
    assert sum(part[0] for part in teacher.PLAN) == 90


def test_a_run_sheet_is_made_of_sentences():
    page = teacher.run_sheets()
    assert "believes:" not in page and "exit ticket* is" in page
    assert [left for left in map(int, re.findall(r"all else (-?\d+)", page)) if left < 5] == []      # the exercises leave room
    for line in re.findall(r"^- (.*)", page, re.M):
        assert re.search(r"[.:?!`)\]}]$", line) and not re.match(r"[.,;]", line), line


def test_a_board_of_the_class_shows_what_the_lesson_shows():
    detail, shown = None, {}
    for cell in teacher.class_notebook().cells:
        found = re.search(r'set_detail\("(\w+)"\)', cell.source)
        detail = found[1] if found else detail
        shown.setdefault(cell.id[:2], detail)
    assert {number: shown[number] for number in ("04", "05", "06")} == {"04": "no_grad", "05": "leaf", "06": "versions"}


def test_nothing_answers_a_poll_before_the_class_has_voted():
    cells = nbformat.read(NOTEBOOKS / "teacher/class_90_minutes.ipynb", 4).cells
    shown = [cell.id for cell in cells if cell.get("outputs") and not cell.metadata.get("jupyter", {}).get("outputs_hidden")]
    assert shown and all("-gate-" in name for name in shown)
