"""Write the teacher's pages from the lessons: a run sheet for each lesson, and the notebook of the 90-minute class.

    python tests/teacher.py          # rewrites notebooks/teacher/; then python tests/execute.py notebooks/teacher/*.ipynb

Nothing in them is written twice: polls and wrong answers come from the lessons' gates and exercises, the class's cells from the
lessons' cells.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))               # run as a script, it finds its own folder only

from minigrad.lab.gate import Gate, Option  # noqa: E402
from minigrad.picture import DETAILS  # noqa: E402
from tests.gates import gates  # noqa: E402

NOTEBOOKS = ROOT / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
PLAN = [    # minutes, title, what to do, the cells to project
    (6, "The payoff", "Run the set-up and the first cell together. Then the poll: hands for A to D, half a minute in pairs, "
     "a second vote, reveal.",
     ["00-learn", "00-gate-no-flag", "00-no-flag"]),
    (14, "Flags and how they spread", "The first poll names four lines: write them on the board. The second one is on how a flag "
     "spreads. Let somebody defend a wrong answer first.",
     ["01-example-1", "01-gate-predict-2-run", "01-gate-predict-3", "01-example-3", "01-lab"]),
    (12, "grad_fn", "Everybody draws the graph of x * y + x ** 2 on paper first, with its arrows back. Then run the cell and compare.",
     ["02-picture-title", "02-gate-predict-4", "02-walk"]),
    (14, "One backward by hand", "Run the question, but do not vote yet. Pencils: x.grad of the program. Poll. "
     "Then the lab's slider; ask for each next number first.",
     ["03-gate-predict-3", "03-by-hand", "03-lab"]),
    (3, "Break", "Leave the last picture on the wall.", []),
    (11, "no_grad", "The poll about the three answers, the error read aloud, then the silent 7.",
     ["04-gate-predict-5", "04-example-6", "04-gate-predict-6", "04-lab"]),
    (11, "Leaves and retain_grad", "A leaf is a tensor without a recorded history. Four gradients: let them write all four down, "
     "then vote.",
     ["05-example-7", "05-gate-example-8", "05-lab"]),
    (12, "detach, and a write through it", "Vote on the memory, then on the walk. In the lab switch z_2.backward() on, and "
     "read the error. Then detach() off: another error. Then no_grad on: the write is allowed, but counted, so the walk still refuses.",
     ["06-gate-write-through", "06-gate-error-version", "06-lab"]),
    (7, "Exit ticket: a bug hunt", "An exit ticket is a card that everybody hands in at the door. This is exercise 3 of "
     "[lesson 4](../04_no_grad.ipynb); hint and solution are there. Each pair mends the function and runs the check. On the card stands "
     "the cause, in one sentence.",
     ["04-ex3-task", "04-ex3", "04-ex3-check"]),
]


def lesson(number: str) -> NotebookNode:
    """Return the lesson with this number."""
    return nbformat.read(next(path for path in LESSONS if path.name.startswith(number)), 4)


def minutes(notebook: NotebookNode) -> str:
    """Return what the lesson says about its minutes and what one needs before."""
    return next(line.strip("*") for line in notebook.cells[0].source.splitlines() if line.startswith("*"))


def detail(notebook: NotebookNode) -> str:
    """Return how much the pictures of a lesson show."""
    found = re.search(r'set_detail\("(\w+)"\)', "\n".join(cell.source for cell in notebook.cells))
    return found[1] if found else DETAILS[-1]


def said(gate: Gate, option: Option) -> str:
    """Return what an option of a poll is and means, as a line of the run sheet."""
    meaning = f"**Right.** {option.believes}" if gate.is_right(option) else option.meaning("Who chooses this")
    text = option.text if option.text[-1] in ".!?" else f"{option.text}."
    return f"- **{option.letter}** · {text} {meaning}"


def told(line: str) -> str:
    """Return what a check says to a mistake as a sentence, with the row of its table in front.

    >>> told("b * c        not yet: neither has the flag."), told("Not yet: look at the sign.")
    ('`b * c`: neither has the flag.', 'Look at the sign.')
    """
    row, _, text = re.match(r"(.*?)\s*\b(not done yet|not yet|almost)[.:] *(.*)", line, re.I).groups()
    text += "" if text[-1] in ".!?)" else "."
    return f"`{row}`: {text}" if row else text[:1].upper() + text[1:] if re.match(r"[a-z]{2,} ", text) else text


def in_class(alone: str, polls: int, tasks: list[str]) -> list[str]:
    """Return how long a lesson takes in a class, as lines of its run sheet: each poll takes two minutes more than one student alone.

    >>> in_class("20 minutes. You need lesson 3.", 2, ["Exercise 1 · 3 minutes", "Exercise 2 · exit ticket, 4 minutes"])[0]
    '**In a class** 24 minutes: 2 polls of 3, exercises 7, all else 11. With the exercises at home 17.'
    """
    total = sum(map(int, re.findall(r"\d+", alone.partition(". You")[0]))) + 2 * polls
    exercises = sum(int(found[1]) for task in tasks if (found := re.match(r"Exercise.* (\d+) minutes", task)))
    return [f"**In a class** {total} minutes: {polls} poll{'s' * (polls > 1)} of 3, exercises {exercises}, "
            f"all else {total - 3 * polls - exercises}. With the exercises at home {total - exercises}.", ""] if exercises else []


def run_sheet(notebook: NotebookNode) -> str:
    """Return one lesson's run sheet as Markdown."""
    title, lines = notebook.cells[0].source.splitlines()[0].removeprefix("# "), []
    lines += [f"## {title}", "", re.sub(r"\((\d\d_\w+\.ipynb)\)", r"(../\1)", minutes(notebook)), ""]
    polls = gates(notebook)
    tasks = {cell.id: cell.source.splitlines()[0].lstrip("# ") for cell in notebook.cells if cell.id.endswith("-task")}
    lines += in_class(minutes(notebook), len(polls), list(tasks.values()))
    for number, gate in enumerate(polls.values(), 1):
        lines += [f"**Poll {number}** · {gate.question}", "", "```python", gate.program.rstrip(), "```", ""]
        lines += [*(said(gate, option) for option in gate.options), ""]
    for cell in notebook.cells:
        if "exercise" in cell.metadata:
            heard = dict.fromkeys(told(line) for wrong in cell.metadata.exercise.wrong for line in wrong.heard
                                  if not line.endswith("not done yet"))
            lines += [f"**{tasks[f'{cell.id}-task']}**. What the check says to mistakes that it knows:", ""]
            lines += [*(f"- {text}" for text in heard), ""]
    return "\n".join(lines)


def run_sheets() -> str:
    """Return all run sheets as one page."""
    head = ["# Run sheets", "",
            "For each lesson: its minutes for one student alone and in a class, the polls with their wrong answers and what these mean.",
            "Project the first picture, each question, and the lab at its end. A poll takes three minutes: hands, half a minute in pairs,",
            "hands again (*Count hands*, *Second vote*), *Reveal*. This page is made from the lessons by `python tests/teacher.py`.", "",
            "Solutions lie in the folder `solutions`, beside `teacher`.", "",
            "The class of 90 minutes has [a notebook of its own](class_90_minutes.ipynb).", "",
            "`python3 notebooks pages` writes everything as pages (`my_notebooks/pages`) for a laptop that will not start: they need no",
            "kernel and no network, and what a question hides unfolds below it. *As slides*, at the top of each, turns it into slides.", "",
            "An *exit ticket* is the last task of a class: everybody mends a small program, writes the cause on a card, in one sentence,",
            "and hands it in at the door. The cards show what to say again next time.", ""]
    return "\n".join([*head, *(run_sheet(nbformat.read(path, 4)) for path in LESSONS)])


def class_notebook() -> NotebookNode:
    """Return the notebook of the 90-minute class, not run."""
    total = sum(part[0] for part in PLAN)
    head = (f"# A class of {total} minutes\n\nFor the teacher's screen; zoom the browser to 150 %, "
            "and hide the side bar (Ctrl+B). Each question is a gate: *Count hands* "
            "takes the poll, *Second vote* the one after the talk, *Reveal* shows what the program says. What each wrong answer means "
            "is in the [run sheets](run_sheets.md). The cells are the lessons' own.")
    page = {"zoom … what the program says.": "a question's answer unfolds below it."}
    cells = [v4.new_markdown_cell(head, id="title", metadata={"page": page}), v4.new_code_cell(lesson("00").cells[1].source, id="setup")]
    lessons, start, shown = {path.name[:2]: lesson(path.name[:2]) for path in LESSONS}, 0, ""
    for number, (length, title, what, names) in enumerate(PLAN):
        folded = f"<details><summary>For the teacher</summary>\n\n{what}\n\n</details>"
        cells.append(v4.new_markdown_cell(f"## {start}–{start + length} · {title}\n\n{folded}", id=f"part-{number}",
                                          metadata={"slideshow": {"slide_type": "slide"}}))
        start += length
        for name in names:
            cell = next(c for c in lessons[name[:2]].cells if c.id == name[3:])
            if detail(lessons[name[:2]]) != shown:              # a board shows what the lesson's pictures show
                shown = detail(lessons[name[:2]])
                cells.append(v4.new_code_cell(f'picture.set_detail("{shown}")', id=f"detail-{number}"))
            copy = NotebookNode(cell, id=name, metadata=NotebookNode({k: v for k, v in cell.metadata.items() if k != "exercise"}))
            if cell.cell_type == "code":
                copy.outputs, copy.execution_count = [], None
                if not name[3:].startswith("gate-"):                    # nothing is on the wall before the cell is run
                    copy.metadata.jupyter = NotebookNode(copy.metadata.get("jupyter", {}), outputs_hidden=True)
                copy.source = copy.source.replace(' name="', ' name="class-')
            if name[3:].startswith(("gate-", "lab")):
                copy.metadata.slideshow = {"slide_type": "subslide"}
            cells.append(copy)
    return v4.new_notebook(cells=cells)


if __name__ == "__main__":
    folder = NOTEBOOKS / "teacher"
    folder.mkdir(exist_ok=True)
    (folder / "run_sheets.md").write_text(run_sheets(), encoding="utf-8", newline="\n")
    nbformat.write(class_notebook(), folder / "class_90_minutes.ipynb")
