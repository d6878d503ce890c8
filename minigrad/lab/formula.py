"""An operation's derivative as LaTeX: the operation's own formula, run on symbols instead of on numbers."""
from __future__ import annotations

import functools
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from ..function import Op

__all__ = ["derivative"]

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4           # how tightly a piece of LaTeX holds together


class Symbol:
    """A piece of LaTeX that can be computed with."""

    __iter__ = None                              # or it could be asked for its elements without end

    def __bool__(self) -> bool:
        raise TypeError("a formula that asks for a value has no symbolic form")

    def __init__(self, tex: str, tight: int = ATOM) -> None:
        self.tex, self.tight = tex, tight

    def within(self, tight: int) -> str:
        """The piece in parentheses, if it would fall apart beside something that holds tighter."""
        return self.tex if self.tight >= tight else rf"({self.tex})"

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("__"):
            raise AttributeError(name)
        return Symbol(rf"\operatorname{{{name}}}({self.tex})")

    def __getitem__(self, index: Any) -> Symbol:
        return Symbol(rf"{self.within(ATOM)}[{_plain(index)}]")

    def __call__(self, *args: Any) -> Symbol:
        return self

    def __neg__(self) -> Symbol:
        return Symbol(f"-{self.within(PRODUCT)}", SUM)


def _plain(value: Any) -> str:
    if isinstance(value, Symbol):
        return value.tex
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("_", r"\_")


def _symbol(value: Any) -> Symbol:
    if isinstance(value, Symbol):
        return value
    text = _plain(value)
    return Symbol(text, SUM if text.startswith("-") else ATOM)


def _infix(template: str, left: int, right: int, tight: int) -> Any:
    def combine(a: Any, b: Any) -> Any:
        if "^" in template and not isinstance(b, Symbol) and b == 1:
            return a
        if "odot" in template and not (isinstance(a, Symbol) and isinstance(b, Symbol)):
            return Symbol(rf"{_symbol(a).within(left)} \cdot {_symbol(b).within(right)}", tight)
        return Symbol(template.format(_symbol(a).within(left), _symbol(b).within(right)), tight)
    return combine


OPERATORS = {
    "add": _infix("{} + {}", SUM, SUM, SUM), "sub": _infix("{} - {}", SUM, PRODUCT, SUM),
    "mul": _infix(r"{} \odot {}", PRODUCT, POWER, PRODUCT), "truediv": _infix(r"\frac{{{}}}{{{}}}", 0, 0, ATOM),
    "pow": _infix("{}^{{{}}}", ATOM, 0, POWER), "matmul": _infix("{} {}", PRODUCT, POWER, PRODUCT),
    "eq": _infix("[{} = {}]", 0, 0, ATOM), "lt": _infix("[{} < {}]", 0, 0, ATOM), "gt": _infix("[{} > {}]", 0, 0, ATOM),
    "le": _infix(r"[{} \le {}]", 0, 0, ATOM), "ge": _infix(r"[{} \ge {}]", 0, 0, ATOM),
    "and": _infix(r"{} \odot {}", PRODUCT, POWER, PRODUCT),
}
for _name, _combine in OPERATORS.items():
    setattr(Symbol, f"__{_name}__", lambda self, other, combine=_combine: combine(self, other))
    if _name in ("add", "sub", "mul", "truediv", "pow", "and"):
        setattr(Symbol, f"__r{_name}__", lambda self, other, combine=_combine: combine(other, self))
Symbol.__hash__ = object.__hash__


def derivative(op: Op, argument: str, names: Mapping[str, Any]) -> str:
    """The gradient that an operation sends to `argument`, as LaTeX; "" if its formula cannot be run on symbols.

    Parameters
    ----------
    names : mapping
        For the formula's parameters LaTeX, ``{"grad": r"\\bar t", "self": "z"}``, or a number; the others keep their
        names.
    """
    formula = op.formulas[argument]
    given = [names.get(p, op.defaults.get(p, rf"\mathrm{{{p}}}".replace("_", r"\_"))) for p in op.uses[argument]]
    values = [Symbol(value) if isinstance(value, str) else value for value in given]
    run = _symbolic(formula) if formula.__name__ == "<lambda>" else _twin(formula.__name__, formula)
    try:
        return _symbol(run(*values)).tex
    except Exception:                        # a formula may ask a symbol anything: for its shape, whether it is 0
        return ""


def _symbolic(function: FunctionType) -> FunctionType:
    """The function with symbolic twins of the operations and helpers that it calls."""
    names = function.__globals__
    twins = {name: _twin(name, names[name]) for name in function.__code__.co_names if callable(names.get(name))}
    return FunctionType(function.__code__, {**names, **twins}, function.__name__, function.__defaults__,
                        function.__closure__)


def _twin(name: str, function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(a, Symbol) for a in (*args, *kwargs.values())):
            return function(*args, **kwargs)
        title = name.strip("_").replace("_backward", "")
        if title in OPERATORS or title in ("div", "mm", "mv", "bmm"):
            return OPERATORS.get(title, OPERATORS["truediv" if title == "div" else "matmul"])(*args)
        op = getattr(function, "op", None)
        if op is not None:
            given = dict(zip(op.params, args, strict=False)) | kwargs
            words = {p: _symbol(given.get(p, op.defaults.get(p, p))).within(ATOM if "^" in op.tex else POWER)
                     for p in op.params}
            return Symbol(op.tex.format(**words), PRODUCT if " " in op.tex and not op.tex.startswith("\\oper")
                          else ATOM)
        if isinstance(function, FunctionType):
            try:
                return _symbolic(function)(*args, **kwargs)           # a helper of the formula's
            except TypeError:
                pass                                                  # it looks at values: its name must do
        told = [_plain(a) for a in args if isinstance(a, (Symbol, int, float))]
        return Symbol(rf"\operatorname{{{title}}}".replace("_", r"\_") + f"({', '.join(told)})")
    return functools.wraps(function)(call) if isinstance(function, FunctionType) else call
