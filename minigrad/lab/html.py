"""HTML as text, made by functions that escape: a text becomes markup only where a `tag` says so."""
from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from ..picture import Figure
from ..picture.text import shown

__all__ = ["Html", "button", "code", "code_line", "join", "picture", "tag", "words"]

VOID = ("input", "br", "hr")
# what a sentence may mark, as in Markdown; the stars of a product (`x * y`, 2*x) mark nothing
MARKED = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])")


class Html(str):
    """Markup; any other text is escaped when it gets into it."""


def join(parts: Any) -> Html:
    """Put parts one after the other: markup as it is, everything else as text; None and False are left out."""
    there = [part for part in parts if part is not None and part is not False]
    return Html("".join(part if isinstance(part, Html) else escape(shown(str(part))) for part in there))


def tag(name: str, *children: Any, key: str = "", send: dict | None = None, **attributes: Any) -> Html:
    """Make an element; ``class_`` is the attribute class, ``aria_label`` aria-label, and None or False leaves one out.

    `key` tells the element from its siblings when the page is brought up to date (an id would have to be unique on the
    page); `send` is the message that Python gets when the element is pressed or changed (then with its ``value``).
    """
    if key:
        attributes["data_id"] = key
    if send is not None:
        attributes["data_send"] = json.dumps(send)
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}' + ("" if value is True else f'="{escape(shown(str(value)))}"')
        for key, value in attributes.items() if value is not None and value is not False)
    return Html(f"<{name}{written}>" + ("" if name in VOID else f"{join(children)}</{name}>"))


def words(sentence: str) -> Html:
    """A sentence in which `code`, **strong** and *emphasis* are marked as in Markdown.

    >>> words("`a < b` is *not* 2*a*b")
    '<code>a &lt; b</code> is <em>not</em> 2*a*b'
    """
    parts: list[Any] = []
    at = 0
    for found in MARKED.finditer(sentence):
        name = found.lastgroup or ""
        parts += [sentence[at:found.start()], tag(name, found[name])]
        at = found.end()
    return join([*parts, sentence[at:]])


def picture(figure: Figure, marked: Iterable[str] = ()) -> Html:
    """A picture in which the arrow keys walk; the parts with these ids have a broad frame."""
    svg, prefix = figure.svg, figure.prefix
    for id in marked:           # on the element itself: another notebook on the page may have the same ids
        svg = svg.replace(f'<g id="{prefix}-{id}"', f'<g data-changed="true" id="{prefix}-{id}"')
    return tag("div", Html(svg), class_="mg-scroll", data_walk=True, key="graph")


def button(text: str, send: dict | None = None, enabled: bool = True, class_: str = "mg-button",
           **attributes: Any) -> Html:
    """A button that sends a message."""
    return tag("button", text, type="button", class_=class_, send=send, disabled=not enabled, **attributes)


def code_line(number: int, text: str, *beside: Html, failed: bool = False, look: str = "", key: str = "") -> Html:
    """A line of a program, with its number and what stands beside it."""
    return tag("div", tag("span", f"✗ {number}" if failed else number, class_="mg-number", aria_hidden="true"),
               tag("code", text, class_="mg-text"), *beside, class_=f"mg-line{look}{' mg-failed' * failed}", key=key)


def code(source: str, failed: int | None = None) -> Html:
    """A program with its line numbers; the line `failed` is marked."""
    return tag("div", *(code_line(number, line, failed=number == failed)
                        for number, line in enumerate(source.rstrip().splitlines(), 1)), class_="mg-program")
