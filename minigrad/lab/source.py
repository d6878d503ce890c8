"""The switches of a program: every flag that its text sets, and the same text with some of them set the other way.

A switch is found in the syntax tree and edits the text at the tree's positions, so a program keeps its comments, its
layout and every line that no switch touches. The state is the set of switches that are flipped: each text is made from
the original, so flipping twice gives the original bytes whatever happened in between. What cannot be edited safely
(``requires_grad=flag``, ``**options``, a ``with`` of several items) is not offered.
"""
from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

__all__ = ["Program", "Switch", "Text", "find"]

KINDS = ("requires_grad", "no_grad", "detach", "retain_grad", "backward")
CREATORS = frozenset(
    "tensor zeros ones empty full eye arange linspace rand randn zeros_like ones_like empty_like full_like rand_like"
    " randn_like Parameter".split())
LIBRARIES = ("minigrad", "torch")
RESULTS = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Attribute, ast.Subscript)    # what may give a tensor
CONTROLS = {"requires_grad_": "requires_grad", "backward": "backward", "retain_grad": "retain_grad"}


@dataclass(frozen=True)
class Switch:
    """One flag of the program.

    `key` names it (``"x.requires_grad"``), `name` and `kind` are its parts, `line` to `last` is where it stands in the
    original program, and `on` is what the original program says.
    """

    key: str
    kind: str
    name: str
    line: int
    last: int
    on: bool


@dataclass(frozen=True)
class Text:
    """A program with some switches flipped: its `lines`, where each original line is now, and which lines differ."""

    lines: tuple[str, ...]
    line_of: dict[int, int]
    changed: frozenset[int]

    @property
    def source(self) -> str:
        return "".join(self.lines)


@dataclass
class _Changes:
    """What flipped switches do: edits inside lines, and changes of whole lines, which meet in one indentation."""

    edits: list[tuple[int, int, str]] = field(default_factory=list)         # start, end, text
    wrap: list[tuple[int, int]] = field(default_factory=list)               # lines put under no_grad
    unwrap: list[ast.With] = field(default_factory=list)                    # blocks taken out of no_grad
    after: list[tuple[int, int, str]] = field(default_factory=list)         # line, line to indent like, statement

    def add(self, other: _Changes) -> None:
        for mine, theirs in zip(vars(self).values(), vars(other).values()):
            mine += theirs


def find(switches: Iterable[Switch], key: str, line: int | None = None) -> Switch:
    """Return the switch called `key`; the part before ``(line …)`` is enough where it, or `line`, decides.

    Raises
    ------
    KeyError
        With the names of the switches there are.
    """
    switches = list(switches)
    hits = [s for s in switches if (s.key == key or s.key.startswith(key + " (line ")) and line in (None, s.line)]
    if len(hits) != 1:
        names = ", ".join(s.key for s in hits or switches) or "none"
        raise KeyError(f"{'several switches are' if hits else 'no switch is'} called {key!r}; there are: {names}")
    return hits[0]


class _Places:
    """Line and column of the syntax tree (which counts UTF-8 bytes) as an index into the text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", source)   # as Python counts lines
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def _at(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        return self.starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def start(self, node: ast.AST) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: ast.AST) -> int:
        return self._at(node.end_lineno, node.end_col_offset)

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place, hi=len(self.lines))

    def indent(self, line: int) -> str:
        return re.match(r"[ \t\f]*", self.lines[line - 1]).group()

    def newline(self, line: int) -> str:
        ends = (re.search(r"[\r\n]*\Z", text).group() for text in (self.lines[line - 1], self.lines[0], "\n"))
        return next(filter(None, ends))

    def past_parentheses(self, place: int, stop: int) -> int:
        """Step over the parentheses that close an expression: the tree does not count them as part of it."""
        closing = re.compile(r"(?:\s|\\|#[^\r\n]*)*\)")
        while found := closing.match(self.source, place, stop):
            place = found.end()
        return place


class Program:
    """A program's text and its switches.

    Parameters
    ----------
    source
        The text. Raises SyntaxError if it is not Python.
    library
        Names that mean minigrad or PyTorch (``mg``), or one of their functions; the program's own imports are added.
    """

    def __init__(self, source: str, library: Iterable[str] = ("mg",)) -> None:
        self.source = source
        self._tree = ast.parse(source)
        self._places = _Places(source)
        self._library = [*_imported(self._tree), *library]
        self._in_string = {line for node in ast.walk(self._tree) if isinstance(node, (ast.Constant, ast.JoinedStr))
                           for line in range(node.lineno + 1, node.end_lineno + 1)}
        self._switches: dict[str, Switch] = {}
        self._changes: dict[str, _Changes] = {}
        found = sorted(self._find(), key=lambda item: (item[0].line, KINDS.index(item[0].kind)))
        bases = Counter(switch.key for switch, _ in found)
        for switch, changes in found:
            key = switch.key
            if bases[key] > 1 or switch.kind == "no_grad":
                key += f" (line {switch.line})"
            if twins := sum(other.startswith(key) for other in self._switches):
                key += f" #{twins + 1}"
            self._switches[key], self._changes[key] = replace(switch, key=key), changes
            # The last word is the parser's: a switch whose edit does not give another program is not offered.
            if not self._works(key):
                del self._switches[key], self._changes[key]

    @property
    def switches(self) -> tuple[Switch, ...]:
        """The switches in the order of the program."""
        return tuple(self._switches.values())

    def text(self, flipped: Collection[str] = ()) -> Text:
        """Return the program with the switches in `flipped` set the other way than the original has them."""
        places, do = self._places, _Changes()
        for key in self._switches:
            if key in flipped:
                do.add(self._changes[key])
        edits: dict[int, list[tuple[int, int, str]]] = {}
        for start, end, text in sorted(do.edits, key=lambda edit: edit[0]):
            line = places.line(start)
            edits.setdefault(line, []).append((start - places.starts[line - 1], end - places.starts[line - 1], text))
        wrapped = {line for first, last in do.wrap for line in range(first, last + 1) if line not in self._in_string}
        headers = {first for first, _ in do.wrap}
        cuts, opened = self._unwrapped(do.unwrap)

        def indent(line: int) -> str:
            return "".join(mark for i, mark in enumerate(places.indent(line)) if i not in cuts.get(line, ()))

        out, line_of, changed = [], {}, set()
        for number, original in enumerate(places.lines, 1):
            body, newline = original, places.newline(number)
            for start, end, text in reversed(edits.get(number, [])):
                body = body[:start] + text + body[end:]
            if number in opened:
                body = body[opened[number]:]
                body = indent(number) + body if body.strip() else ""
            elif number in wrapped or number in cuts:
                deeper = ("\t" if "\t" in places.indent(number) else "    ") if number in wrapped else ""
                body = indent(number) + deeper + body[len(places.indent(number)):]
            now = [f"{indent(number)}with {self._no_grad()}:{newline}"] if number in headers else []
            line_of[number] = len(out) + len(now) + 1
            now += [body] if body else []
            # What belongs deeper inside comes first: a statement behind a block ends the block.
            for line, model, statement in sorted(do.after, key=lambda added: -len(places.indent(added[1]))):
                if line == number:
                    # Only a program's last line can lack its newline; the statement that follows it lacks it instead.
                    closed = now[-1].endswith(("\r", "\n"))
                    now[-1] += "" if closed else newline
                    now.append(indent(model) + statement + (newline if closed else ""))
            changed |= {len(out) + i for i, line in enumerate(now, 1) if line.rstrip("\r\n") != original.rstrip("\r\n")}
            out += now
        return Text(tuple(out), line_of, frozenset(changed))

    def _works(self, key: str) -> bool:
        try:
            return ast.dump(ast.parse(self.text({key}).source)) != ast.dump(self._tree)
        except SyntaxError:
            return False

    def _no_grad(self) -> str:
        used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        modules = [name for name in self._library if name not in CREATORS | {"no_grad", "nn"}] or ["mg"]
        return next((name for name in modules if name in used), modules[0]) + ".no_grad()"

    def _unwrapped(self, blocks: Iterable[ast.With]) -> tuple[dict[int, set[int]], dict[int, int]]:
        """Return the columns of indentation that each line loses, and where the text behind each ``with`` begins."""
        places, cuts, opened = self._places, {}, {}
        for block in blocks:
            first = block.body[0]
            if first.lineno == block.lineno:
                opened[block.lineno] = places.start(first) - places.starts[block.lineno - 1]
                continue
            end = places.past_parentheses(places.end(block.items[0].context_expr), len(self.source))
            end = re.compile(r"[ \t]*:[ \t]*").match(self.source, end).end()
            opened[block.lineno] = end - places.starts[block.lineno - 1]
            inner, end = places.indent(first.lineno), block.end_lineno
            while end < len(places.lines) and places.lines[end].startswith(inner + "#"):    # the block's last comments
                end += 1
            for line in range(block.lineno + 1, end + 1):
                if line not in self._in_string and places.lines[line - 1].startswith(inner):
                    cuts.setdefault(line, set()).update(range(len(places.indent(block.lineno)), len(inner)))
        return cuts, opened

    # ---- finding the switches

    def _find(self) -> Iterator[tuple[Switch, _Changes]]:
        names = dict(_targets(self._tree))
        blocks = [node for node in ast.walk(self._tree) if isinstance(node, ast.With) and self._is_no_grad(node)]
        under = {line for block in blocks for line in range(block.body[0].lineno, block.end_lineno + 1)}
        retained = {ast.unparse(s.value.func.value) for s in ast.walk(self._tree) if _control(s) == "retain_grad"}
        for block in blocks:
            yield _switch("no_grad", "", block, block, True), _Changes(unwrap=[block])
        # Not the seed of a backward call; nor what stands in an f-string, whose places Python 3.11 miscounts.
        closed = {id(part) for node in ast.walk(self._tree) if _control(node) or isinstance(node, ast.JoinedStr)
                  for part in ast.walk(node)}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and id(node) not in closed:
                if self._creates(node) and (flag := self._flag(node)):
                    yield _switch("requires_grad", names.get(id(node)) or _shown(node), node, node, flag[0]), flag[1]
                elif _is_detach(node) and (cut := self._cut(node)):
                    yield _switch("detach", names.get(id(node)) or _shown(node.func.value), node, node, True), cut
            for statements in _blocks(node):
                yield from self._in_block(statements, under, retained)
        yield from self._backward_at_the_end()

    def _in_block(self, statements: list[ast.stmt], under: set[int],
                  retained: set[str]) -> Iterator[tuple[Switch, _Changes]]:
        groups: list[list[ast.stmt]] = []                       # statements that share a line, with semicolons
        for statement in statements:
            if groups and groups[-1][-1].end_lineno == statement.lineno:
                groups[-1].append(statement)
            else:
                groups.append([statement])
        only_controls = all(_control(statement) for statement in statements)
        for group in groups:
            line = group[0].lineno
            own_line = self._places.start(group[0]) == self._places.starts[line - 1] + len(self._places.indent(line))
            if own_line and line not in under and any(self._may_record(statement) for statement in group):
                yield _switch("no_grad", "", group[0], group[-1], False), _Changes(wrap=[(line, group[-1].end_lineno)])
            for statement in group:
                if kind := _control(statement):
                    if changes := self._controlled(statement, kind, group, only_controls or not own_line):
                        yield changes
                elif target := self._result(statement):
                    if not _is_detach(statement.value):
                        yield _switch("detach", target, statement, statement, False), self._detached(statement)
                    if target not in retained:
                        call = f"{target}.retain_grad()"
                        if own_line and len(group) == 1:
                            changes = _Changes(after=[(statement.end_lineno, line, call)])
                        else:
                            changes = self._insert(self._places.end(statement), "; " + call)
                        yield _switch("retain_grad", target, statement, statement, False), changes

    def _controlled(self, statement: ast.stmt, kind: str, group: list[ast.stmt],
                    needs_pass: bool) -> tuple[Switch, _Changes] | None:
        """The switch of a statement that sets a flag or starts a backward pass."""
        places = self._places
        if kind == "requires_grad":
            value = statement.value
            if isinstance(statement, ast.Assign):
                target, flag = statement.targets[0].value, (value.value, self._replace(value, str(not value.value)))
            else:
                target, flag = value.func.value, self._flag(value, method=True)
            return flag and (_switch(kind, _shown(target), statement, statement, flag[0]), flag[1])
        if statement is not group[-1]:
            changes = self._replace(statement, "pass") if statement.lineno == statement.end_lineno else None
        else:
            changes = self._insert(places.start(statement), "pass  # " if needs_pass and len(group) == 1 else "# ")
            for line in range(statement.lineno + 1, statement.end_lineno + 1):
                changes.add(self._insert(places.starts[line - 1] + len(places.indent(line)), "# "))
        return changes and (_switch(kind, _shown(statement.value.func.value), statement, statement, True), changes)

    def _backward_at_the_end(self) -> Iterator[tuple[Switch, _Changes]]:
        """The switch of a walk that the program does not do: from its last result, or from one of which it makes no use."""
        results = [target for statement in self._tree.body if (target := self._result(statement))]
        if any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in ast.walk(self._tree)):
            used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
            results = [target for target in results if target.isidentifier() and target not in used]
        if results:
            last = self._tree.body[-1]
            yield (_switch("backward", results[-1], last, last, False),
                   _Changes(after=[(last.end_lineno, last.lineno, f"{results[-1]}.backward()")]))

    def _result(self, statement: ast.stmt) -> str | None:
        """The name a statement gives to something computed, or None."""
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        if (not isinstance(statement, (ast.Assign, ast.AnnAssign)) or len(targets) != 1
                or not isinstance(targets[0], (ast.Name, ast.Attribute)) or self._creates(statement.value)
                or not isinstance(statement.value, RESULTS)):
            return None
        return ast.unparse(targets[0])

    def _may_record(self, statement: ast.stmt) -> bool:
        value = getattr(statement, "value", None)
        return (isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return))
                and not isinstance(value, (ast.Constant, ast.Name, type(None)))
                and not (_control(statement) or _is_detach(value) or self._creates(value)))

    def _member(self, node: ast.AST | None) -> str | None:
        """The last name of ``mg.nn.Parameter`` or of a bare ``tensor``, if it belongs to the library."""
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
        while isinstance(node, ast.Attribute):
            node = node.value
        return name if isinstance(node, ast.Name) and node.id in self._library else None

    def _creates(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Call) and self._member(node.func) in CREATORS

    def _is_no_grad(self, node: ast.With) -> bool:
        call = node.items[0].context_expr
        return (len(node.items) == 1 and node.items[0].optional_vars is None and isinstance(call, ast.Call)
                and self._member(call.func) == "no_grad" and call.end_lineno == node.lineno)

    # ---- changes

    def _insert(self, place: int, text: str) -> _Changes:
        return _Changes(edits=[(place, place, text)])

    def _replace(self, node: ast.AST, text: str) -> _Changes:
        return _Changes(edits=[(self._places.start(node), self._places.end(node), text)])

    def _flag(self, call: ast.Call, method: bool = False) -> tuple[bool, _Changes] | None:
        """What a call says about requires_grad, and how to say the opposite; None if only a run can tell."""
        places, arguments = self._places, [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(isinstance(a, ast.Starred) for a in call.args) or any(keyword.arg is None for keyword in call.keywords):
            return None
        flags = [keyword.value for keyword in call.keywords if keyword.arg == "requires_grad"]
        parameter = not method and self._member(call.func) == "Parameter"
        if method and call.args or parameter and len(call.args) > 1:
            flags = call.args[-1:]
        if flags:
            on = _bool(flags[0])
            return None if on is None else (on, self._replace(flags[0], str(not on)))
        on, end = method or parameter, places.end(call) - 1
        text = str(not on) if method else f"requires_grad={not on}"
        if not arguments:
            return on, self._insert(end, text)
        return on, self._insert(places.past_parentheses(max(map(places.end, arguments)), end), ", " + text)

    def _cut(self, call: ast.Call) -> _Changes | None:
        """Take ``.detach()`` away, unless a line break or a comment stands within it."""
        start = self._places.past_parentheses(self._places.end(call.func.value), self._places.end(call))
        end = self._places.end(call)
        return None if re.search(r"[\r\n]", self.source[start:end]) else _Changes(edits=[(start, end, "")])

    def _detached(self, statement: ast.Assign | ast.AnnAssign) -> _Changes:
        value, end = statement.value, self._places.end(statement)
        # A value in parentheses, and what binds as tightly as a dot, needs no parentheses of its own.
        if self._places.end(value) < end or isinstance(value, (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
            return self._insert(end, ".detach()")
        changes = self._insert(self._places.start(value), "(")
        changes.add(self._insert(end, ").detach()"))
        return changes


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.asname or alias.name for alias in node.names if alias.name in LIBRARIES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in LIBRARIES:
            yield from (alias.asname or alias.name for alias in node.names)


def _targets(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Which name each assigned expression gets: pairs of ``id(expression)`` and the name."""
    pairs = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            pairs += [(target, node.value) for target in reversed(node.targets)]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            pairs.append((node.target, node.value))
    for target, value in pairs:
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            pairs += zip(target.elts, value.elts) if len(target.elts) == len(value.elts) else []
        elif isinstance(target, (ast.Name, ast.Attribute)):
            yield id(value), _shown(target)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value


def _control(statement: ast.AST) -> str | None:
    """The kind of a statement that does nothing but set a flag, keep a gradient or start a backward pass."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Attribute) and target.attr == "requires_grad" and _bool(statement.value) is not None:
            return "requires_grad"
    call = statement.value if isinstance(statement, ast.Expr) else None
    return CONTROLS.get(call.func.attr) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def _is_detach(node: ast.AST) -> bool:
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach"
            and not node.args and not node.keywords)


def _bool(node: ast.AST | None) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 32 else text[:31] + "…"


def _switch(kind: str, name: str, first: ast.AST, last: ast.AST, on: bool) -> Switch:
    return Switch(f"{name}.{kind}" if name else kind, kind, name, first.lineno, last.end_lineno, on)
