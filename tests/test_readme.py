"""The README says what is true: its program prints what it says, its picture shows that program, its links lead somewhere.

``python tests/test_readme.py`` draws the picture anew.
"""
from __future__ import annotations

import contextlib
import io
import re
import traceback
from pathlib import Path
from xml.etree import ElementTree

from minigrad.picture import Figure, Recorder

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "notebooks/readme.svg"
BLOCKS = re.findall(r"(?ms)^```python\n(.*?)^```", README)
SAID = re.compile(r"(?m)^(?:print\(.*\)|\w+\.backward\(\)) +# (.*)$")


def run(program: str) -> list[str]:
    """Return the lines that a program prints, and at the end the error, if one stops it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(program, "README.md", "exec"), {})
        except RuntimeError as error:
            print("".join(traceback.format_exception_only(type(error), error)).splitlines()[0])
    return printed.getvalue().splitlines()


def draw() -> str:
    """Return the picture of the README's program up to its first empty line after the imports, as SVG."""
    program, names = BLOCKS[0].split("\n\n")[:2], {}
    recorder = Recorder("README.md")
    with recorder, contextlib.redirect_stdout(io.StringIO()):
        exec(compile("\n".join(program), "README.md", "exec"), names)
    return Figure(recorder.model(names), prefix="readme").svg


def words(svg: str) -> list[str]:
    """Return what a drawing says, without where it says it."""
    return sorted(text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith(("text", "tspan"))
                  for text in element.itertext() if text.strip())


def test_programs_print_what_the_page_says():
    assert len(BLOCKS) == 1
    for program in BLOCKS:
        assert len(SAID.findall(program)) == 4
        assert run(program) == SAID.findall(program)


def test_a_wrong_result_would_be_found():
    assert run(BLOCKS[0].replace("[3.0]", "[4.0]")) != SAID.findall(BLOCKS[0])


def test_the_picture_is_of_this_program():
    stored = PICTURE.read_text(encoding="utf-8")
    assert words(stored) == words(draw())
    assert {"x", "y", "z", "t", "MulBackward0", "PowBackward0"} <= set(words(stored))


def test_links_and_names_lead_somewhere():
    for target in re.findall(r"\]\(((?!https:)[^)]+)\)", README):
        assert (ROOT / target).exists(), target
    for name in re.findall(r"`((?:tests|minigrad|notebooks|\.ci)/[\w./]*)", README):
        assert (ROOT / name).exists(), name


def test_every_lesson_is_listed():
    lessons = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert re.findall(r"^\| \[[^]]*\]\(notebooks/(\w+\.ipynb)\)", README, re.M) == lessons


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8", newline="\n")
