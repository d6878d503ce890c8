"""The LaTeX of our formulas as MathML, which browsers draw by themselves. It knows the commands that operations use."""
from __future__ import annotations

import re
from collections.abc import Iterator

from .html import Html, tag

__all__ = ["mathml"]

SIGNS = {"odot": "⊙", "cdot": "·", "top": "⊤", "sum": "∑", "prod": "∏", "sigma": "σ", "Phi": "Φ", "Gamma": "Γ",
         "psi": "ψ", "pi": "π",
         "partial": "∂", "le": "≤", "ge": "≥", "ne": "≠", "lVert": "‖", "rVert": "‖", "lceil": "⌈", "rceil": "⌉",
         "lfloor": "⌊",
         "rfloor": "⌋", "bmod": "mod", "land": "∧", "lor": "∨", "lnot": "¬", "times": "×", "infty": "∞", "quad": " ",
         "to": "→"}
NAMES = ("operatorname", "mathrm", "text")                   # a group of letters that stay upright
TOKEN = re.compile(r"\\([A-Za-z]+)|\\(.)|(\d+(?:\.\d*)?(?:e[+-]?\d+)?)|([A-Za-z]+)|\s+|(.)", re.DOTALL)


def mathml(tex: str) -> Html:
    """Translate; what is not known is shown as text."""
    tokens = [(kind, found[kind]) for found in TOKEN.finditer(tex) if (kind := found.lastindex)]
    return tag("math", _row(iter(tokens), ""))


def _row(tokens: Iterator[tuple[int, str]], end: str) -> Html:
    """Everything up to `end`, with what follows ``^`` and ``_`` set on the element before it."""
    parts: list[Html] = []
    for token in tokens:
        if token == (5, end) and end:
            break
        if token[0] == 5 and token[1] in "^_" and parts:
            parts.append(tag({"^": "msup", "_": "msub"}[token[1]], parts.pop(),
                             _element(next(tokens, (5, "")), tokens)))
        else:
            parts.append(_element(token, tokens))
    return tag("mrow", *parts)


def _element(token: tuple[int, str], tokens: Iterator[tuple[int, str]]) -> Html:
    kind, text = token
    if kind == 1:
        return _command(text, tokens)
    if kind == 3:
        return tag("mn", text)
    if kind == 4:
        return tag("mi", text)
    if kind == 5 and text == "{":
        return _row(tokens, "}")
    return tag("mo" if kind == 5 else "mi", text)


def _command(name: str, tokens: Iterator[tuple[int, str]]) -> Html:
    def argument() -> Html:
        return _element(next(tokens, (5, "")), tokens)

    if name == "frac":
        return tag("mfrac", argument(), argument())
    if name == "sqrt":
        return tag("msqrt", argument())
    if name == "bar":
        return tag("mover", argument(), tag("mo", "¯"), accent="true")
    if name in NAMES:
        next(tokens, None)                                    # its opening brace
        letters = []
        while (token := next(tokens, (5, "}"))) != (5, "}"):
            letters.append(token[1])
        return tag("mi", "".join(letters), mathvariant="normal")
    if name in SIGNS:
        return tag("mo", SIGNS[name])
    return tag("mi", name)                                    # \\sin, \\max and whatever else is its own name
