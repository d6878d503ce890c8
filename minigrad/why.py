"""``why(y, "grad")``: why a tensor is as it is, with the names and lines that did it, and what to write instead.

Two witnesses are asked: the tensor (its flags, and the graph by the public node protocol, so PyTorch's tensors can be
asked too) and the text of the program, which knows of what was not recorded. The rules stand in `reasons`.
"""
from __future__ import annotations

import ast
import linecache
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .picture.program import is_accumulator, is_tensor, named_tensors, node_name, nodes_of
from .reasons import NO_GRAPH_NOTE, RULES, Facts, check, explain

__all__ = ["Line", "Why", "explained", "facts", "lines_of", "name_the_cause", "notebook_lines", "why"]

OFF = re.compile(r"no_grad|inference_mode|set_grad_enabled\(False\)")
DETACHES = ("detach", "data", "numpy", "item", "tolist")


@dataclass(frozen=True)
class Line:
    """A statement of the program: its text, where it is in words, and what switched the recording off around it."""

    node: ast.stmt
    text: str
    where: str
    block: str = ""

    def __str__(self) -> str:
        return f"`{self.text}` ({self.where})"


@dataclass(frozen=True)
class Why:
    """An explanation: the `rule` that holds, `because` and how to `mend` it. Prints as a text."""

    subject: str
    rule: str
    because: str
    mend: str

    def __repr__(self) -> str:
        return f"{self.subject}: {self.because}" + (f" {self.mend}" if self.mend else "")


def why(tensor: Any, attribute: str = "grad", name: str = "") -> Why:
    """Say why a tensor's `grad`, `requires_grad`, `grad_fn`, `is_leaf` or `retains_grad` is what it is.

    Parameters
    ----------
    tensor : Tensor
        Of minigrad or of PyTorch.
    attribute : str
        What to explain.
    name : str, optional
        What the program calls the tensor; by default the caller's variable.

    Raises
    ------
    TypeError
        If it is no tensor.
    ValueError
        If there is no such attribute to explain.
    """
    frame = sys._getframe(1)
    names = {**frame.f_globals, **frame.f_locals}
    name = name or next((n for n, other in named_tensors(names) if other is tensor), "")
    return explained(tensor, attribute, name, names, _program(frame.f_code.co_filename, frame.f_lineno))


def explained(tensor: Any, attribute: str, name: str, names: Mapping[str, Any], lines: Iterable[Line],
              raised: str = "") -> Why:
    """`why` with all that it needs: the program's names, and its statements in the order in which they ran."""
    check(is_tensor(tensor), lambda: f"why() asks about a tensor, not {type(tensor).__name__}", TypeError)
    check(attribute in RULES, lambda: f"why() explains {', '.join(RULES)}, not {attribute!r}", ValueError)
    found = facts(tensor, name, names, list(lines), raised)
    value = {"grad_fn": found.node or "None", "grad": "there" if found.has_grad else "None"}.get(attribute)
    return Why(f"{found.name}.{attribute} is {value or getattr(found, attribute)}", *explain(found, attribute))


def name_the_cause(error: BaseException) -> None:
    """Put into the note of a backward() without a road which of the possible causes it was, if the program's text tells."""
    if NO_GRAPH_NOTE not in getattr(error, "__notes__", ()):
        return
    for frame, number in reversed([*traceback.walk_tb(error.__traceback__)]):
        names, lines = {**frame.f_globals, **frame.f_locals}, _lines_until(frame.f_code.co_filename, number)
        root = _called(lines[-1].node, "backward") if lines else None
        if is_tensor(names.get(root)):
            found = _end_of_the_road(names[root], root, names, lines)
            if found.rule != "unknown":
                error.__notes__[error.__notes__.index(NO_GRAPH_NOTE)] = repr(found)
            return


def _end_of_the_road(tensor: Any, name: str, names: Mapping[str, Any], lines: list[Line]) -> Why:
    """Why a tensor was not recorded; if that is so because of an input which was computed, too, why that was not."""
    found = explained(tensor, "requires_grad", name, names, lines)
    if found.rule == "no input asks":
        made = _last(lines, lambda line: name in _targets(line.node))
        inputs = [n for n in _names(made.node) if n != name and is_tensor(names.get(n))]
        deeper = [_end_of_the_road(names[n], n, names, lines[:lines.index(made)]) for n in inputs]
        return next((why for why in deeper if why.rule not in ("never asked", "unknown")), found)
    return found


# The program's text ---------------------------------------------------------------------------------------------------

def lines_of(source: str, place: str = "") -> list[Line]:
    """The statements of a program, in order; `place` says whose lines they are, " of cell 3"."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    return list(_statements(tree.body, source, place, ""))


def _statements(body: list[ast.stmt], source: str, place: str, block: str) -> Iterator[Line]:
    for node in body:
        inner = [part for field in ("body", "orelse", "finalbody", "handlers") for part in getattr(node, field, [])]
        where = f"line {node.lineno}{place}"
        if not inner:
            text = " ".join((ast.get_source_segment(source, node) or ast.unparse(node)).split())
            yield Line(node, text, where, block)
            if "set_grad_enabled(" in text:
                block = f"`{text}`, {where}" if OFF.search(text) else ""
            continue
        header = ", ".join(map(ast.unparse, getattr(node, "items", None) or getattr(node, "decorator_list", [])))
        off = f"`{'with ' * isinstance(node, ast.With)}{header}`, {where}" if OFF.search(header) else block
        yield from _statements([part for part in inner if isinstance(part, ast.stmt)], source, place, off)
        yield from _statements([s for part in inner if not isinstance(part, ast.stmt) for s in part.body], source,
                               place, off)


def _program(filename: str, line: int) -> list[Line]:
    """What ran before the caller's line: the notebook's cells so far, or the file up to here."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or "In" not in shell.user_ns:
        return lines_of("".join(linecache.getlines(filename)[:line]))
    return notebook_lines(shell.user_ns["In"])


def _lines_until(filename: str, number: int) -> list[Line]:
    """What ran before a line of a file, and that line; a cell's earlier cells before it."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    own = [line for line in lines_of("".join(linecache.getlines(filename))) if line.node.lineno <= number]
    return (notebook_lines(shell.user_ns["In"][:-1]) if shell and "In" in shell.user_ns else []) + own


def notebook_lines(cells: list[str]) -> list[Line]:
    """The statements of all cells that ran, also of those under ``%%explore``."""
    found = []
    for number, cell in enumerate(cells):
        magic = re.match(r"get_ipython\(\)\.run_cell_magic\((.*)\)\s*\Z", cell, re.DOTALL)
        if magic:
            cell = "\n" + ast.literal_eval(f"({magic[1]})")[2]
        found += lines_of(cell, f" of cell {number}")
    return found


# The facts ------------------------------------------------------------------------------------------------------------

def facts(tensor: Any, name: str, names: Mapping[str, Any], lines: list[Line], raised: str = "") -> Facts:
    """Ask both witnesses about a tensor; `raised` is what the last backward() call raised, if that is known."""
    tensors = dict(named_tensors(names))
    made = _last(lines, lambda line: name in _targets(line.node)) if name else None
    before = lines[:lines.index(made)] if made else []
    after = lines[lines.index(made) + 1:] if made else lines
    inputs = tuple(dict.fromkeys(n for n in _names(made.node) if _is_value(names.get(n)))) if made else ()
    inputs = tuple(n for n in inputs if n != name)
    if tensor.grad_fn is not None:
        requiring = tuple(n for n, t in tensors.items() if t is not tensor and _is_input(t, tensor.grad_fn)) or (
            tuple(n for n in inputs if _asks(names[n])))
    else:
        requiring = tuple(n for n in inputs if _asks(names[n]))
    backward = _last(lines, lambda line: _called(line.node, "backward") is not None)
    root = _called(backward.node, "backward") if backward else ""
    since = lines[lines.index(backward) + 1:] if backward else []
    return Facts(
        name or "this tensor", tensor.requires_grad, tensor.is_leaf, tensor.retains_grad,
        (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not None,
        tensor.is_floating_point() or tensor.is_complex(), str(tensor.dtype),
        node_name(tensor.grad_fn) if tensor.grad_fn else "",
        how=_how(made, before, inputs), without=_left_behind(getattr(made.node, "value", None)) if made else "",
        made=str(made or ""), block=made.block if made else "",
        late=_text(_first(after, lambda line: any(_sets_flag(line.node, n, True) for n in inputs))),
        off=_text(_last(after, lambda line: _sets_flag(line.node, name, False)
                        or _called(line.node, "detach_") == name)),
        inputs=inputs, requiring=requiring, backward=str(backward or ""), root=root,
        reached=_reaches(tensors[root], tensor) if root in tensors else None,
        cut=_text(_last(lines, lambda line: _cuts(line, name))),
        cleared=_text(_first(since, lambda line: f"{name}.grad" in _targets(line.node)
                             or _called(line.node, "zero_grad") is not None)),
        asked=_text(_first(since, lambda line: _called(line.node, "retain_grad") == name)), raised=raised)


def _how(made: Line | None, before: list[Line], inputs: tuple[str, ...]) -> str:
    value = getattr(made.node, "value", None) if made else None
    if value is None:
        return ""
    inner = value.func if isinstance(value, ast.Call) else value
    if isinstance(inner, ast.Attribute) and inner.attr in ("detach", "data", "grad"):
        return "gradient" if inner.attr == "grad" else "detached"
    if _left_behind(value):
        return "value"
    return "computed" if inputs or _came_in(made, before) else "made"


def _left_behind(value: ast.AST | None) -> str:
    """The part of an expression that is a value without its history: ``x.detach()``, ``loss.item()``."""
    for part in ast.walk(value) if value is not None else ():
        inner = part.func if isinstance(part, ast.Call) else part
        if isinstance(inner, ast.Attribute) and inner.attr in DETACHES:
            return ast.unparse(part)
    return ""


def _came_in(made: Line, before: list[Line]) -> bool:
    """Whether the statement reads something that the program gave a name to, not only numbers and the library."""
    read = {node.id for node in ast.walk(made.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return isinstance(made.node, ast.AugAssign) or any(read & _targets(line.node) for line in before)


def _targets(node: ast.stmt) -> set[str]:
    """The names that a statement gives a new value."""
    targets = [*getattr(node, "targets", []), *filter(None, [getattr(node, "target", None)])]
    return {ast.unparse(inner) for target in targets
            for inner in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])}


def _names(node: ast.stmt) -> Iterator[str]:
    value = getattr(node, "value", None)
    yield from (inner.id for inner in ast.walk(value) if isinstance(inner, ast.Name)) if value is not None else ()


def _called(node: ast.stmt, method: str) -> str | None:
    """The object whose `method` a statement calls, as text; None if it does not."""
    call = node.value if isinstance(node, ast.Expr) else None
    found = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method
    return ast.unparse(call.func.value) if found else None


def _sets_flag(node: ast.stmt, name: str, flag: bool) -> bool:
    if f"{name}.requires_grad" in _targets(node):
        return isinstance(node.value, ast.Constant) and node.value.value is flag
    if _called(node, "requires_grad_") != name:
        return False
    arguments = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
    return (arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else not arguments) is flag


def _cuts(line: Line, name: str) -> bool:
    """Whether a line uses the tensor where the graph does not see it."""
    if name not in _names(line.node):
        return False
    return bool(line.block) or any(isinstance(part, ast.Attribute) and part.attr in DETACHES
                                   and ast.unparse(part.value) == name
                                   for part in ast.walk(line.node))


def _is_value(value: Any) -> bool:
    return is_tensor(value) or hasattr(type(value), "named_parameters")


def _asks(value: Any) -> bool:
    return value.requires_grad if is_tensor(value) else any(p.requires_grad for p in value.parameters())


def _is_input(tensor: Any, node: Any) -> bool:
    return any(child.variable is tensor if is_accumulator(child) else child is tensor.grad_fn and nr == tensor.output_nr
               for child, nr in node.next_functions if child is not None)


def _reaches(root: Any, tensor: Any) -> bool:
    """Whether the recorded graph leads from `root` to `tensor`."""
    return root is tensor or any(node is tensor.grad_fn or is_accumulator(node) and node.variable is tensor for node in nodes_of(root))


def _last(lines: list[Line], fits: Any) -> Line | None:
    return next((line for line in reversed(lines) if fits(line)), None)


def _first(lines: list[Line], fits: Any) -> Line | None:
    return next((line for line in lines if fits(line)), None)


def _text(line: Line | None) -> str:
    return str(line or "")
