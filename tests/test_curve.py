"""Curves and tables: one line per series, names apart, the same in words, and never a number that is not there."""
import math
import re
from xml.etree import ElementTree

import pytest

from minigrad.picture import curve, table


def points(drawing):
    return [[tuple(map(float, pair.split(","))) for pair in line.split()]
            for line in re.findall(r'<polyline points="([^"]*)"', drawing.svg)]


def test_a_larger_number_stands_higher():
    (line,) = points(curve(loss=[4.0, 2.0, 3.0]))
    assert [x for x, _ in line] == sorted(x for x, _ in line)
    assert line[0][1] < line[2][1] < line[1][1]             # y counts downwards
    assert curve(loss=[4.0, 2.0, 3.0]).describe() == "loss: 3 steps, from 4 to 3, smallest 2, largest 4."


def test_a_logarithm_makes_equal_ratios_equal_steps():
    (line,) = points(curve(loss=[100.0, 10.0, 1.0], log=True))
    assert line[1][1] - line[0][1] == pytest.approx(line[2][1] - line[1][1], abs=0.2)


@pytest.mark.parametrize("values, log, marks", [
    ([0.536, 3.45], False, ["0", "1", "2", "3", "4"]), ([1.0, 1e-3], True, ["0.001", "0.01", "0.1", "1"]),
    ([7.0, 7.0], False, ["6.4", "6.6", "6.8", "7", "7.2", "7.4", "7.6"]), ([-20.0, 100.0], False, ["-50", "0", "50", "100"]),
])
def test_the_axes_have_round_numbers_and_names(values, log, marks):
    texts = [node for node in ElementTree.fromstring(curve(loss=values, log=log).svg).iter() if node.tag.endswith("text")]
    assert [node.text for node in texts if node.get("text-anchor") == "end"] == marks
    assert {"step", "value, logarithmic" if log else "value"} < {node.text for node in texts}
    steps = [node.text for node in ElementTree.fromstring(curve(loss=[1.0] * 300).svg).iter() if node.get("text-anchor") == "middle"]
    assert steps == ["0", "100", "200", "300", "step"]


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [1.0, math.nan, math.inf, 2.0], [math.nan]])
def test_odd_numbers_still_draw(values):
    drawing = curve(loss=values)
    ElementTree.fromstring(drawing.svg)
    assert "nan" not in re.sub("<title>.*?</title>", "", drawing.svg) and "inf" not in "".join(map(str, points(drawing)))


def test_the_axes_say_what_they_are():
    texts = [node.text for node in ElementTree.fromstring(curve(label="a < b", w=[1.0, 2.0]).svg).iter()]
    assert "a < b" in texts and "step" in texts


def test_names_are_text_and_stand_apart():
    drawing = curve(**{"<b>": [1.0, 2.0], "same": [1.0, 2.0]})
    texts = [node for node in ElementTree.fromstring(drawing.svg).iter() if node.text in ("<b>", "same")]
    assert len(texts) == 2 and abs(float(texts[0].get("y")) - float(texts[1].get("y"))) >= 14
    assert set(drawing._repr_mimebundle_()) == {"text/html", "image/svg+xml", "text/plain"}


@pytest.mark.parametrize("series", [{}, {"a": []}, {name: [1.0] for name in "abcde"}])
def test_nothing_to_draw_is_refused(series):
    with pytest.raises(ValueError, match="curve"):
        curve(**series)


def test_a_table_says_every_cell_as_text():
    sheet = table("Which <tool>", [["you want", "you write"], ["a copy", "`x.clone()`"]])
    texts = [node.text for node in ElementTree.fromstring(sheet.svg).iter() if node.text]
    assert {"you want", "a copy", "x.clone()"} < set(texts) and "Which <tool>" in texts
    assert sheet.describe().splitlines()[1:] == ["you want | you write", "a copy | `x.clone()`"]
    with pytest.raises(ValueError, match="rows of one length"):
        table("", [["a", "b"], ["c"]])
