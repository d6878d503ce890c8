"""Break the engine in one place and see whether a test notices: what the tests cannot see.

    python -m tests.hardening.mutants [150] [--seed 7] [--only engine.py:186]

Each mutant is a copy of the package with one change: a comparison turned round, a condition negated, a number one higher, a
result dropped, a call left out. A mutant is killed if a test fails or the tests hang. Survivors are printed; those whose change
makes no difference that anybody could see stand in `EXPLAINED`, with the reason.
"""
from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ["engine.py", "graph.py", "function.py"]
# The quickest first, since most mutants die there; the last word have programs that a fuzzer found, and those under load.
STAGES = [
    ["tests/truth"],
    ["tests/test_engine.py", "tests/test_function.py", "tests/test_functional.py", "tests/test_gradcheck.py", "tests/test_ops.py",
     "tests/test_nn.py", "tests/test_optim.py", "tests/fuzz/test_fuzz.py", "tests/test_lab_traceback.py", "tests/test_why.py",
     "-k", "not new_difference and not within_a_minute"],
    ["tests/hardening/test_load.py", "tests/test_memory.py", "-k", "not ten_thousand and not million"],
]
MEMORY = 6 * 2**30          # a mutant may ask for ever more
TURNED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
          ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
          ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Mod: ast.Add, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And}

# Changes that make no difference which a test could see: {(the line of code, what becomes of the changed part): why}.
EXPLAINED: dict[tuple[str, str], str] = {
    ("IN_PLACE_FROM = 512    # below so many elements adding into an array costs more than making a new one", "513"): "costs time",
    ("self.active = False", "True"): "costs time: a new node looks once more whether a mode is on, and none is",
    ("return 0", "1"): "the version of a number in a tensor's place; numbers are not written, so nobody compares it",
    ("if value._node is None and value._detached > self._number and not shown:", "value._detached >= self._number"):
        "both numbers are drawn from one counter, so they are never equal",
    ("if made_by is None and shown and tensor._detached > self._number:", "tensor._detached >= self._number"): "the same",
}


class Site(NamedTuple):
    """A place that can be changed, and what becomes of it."""

    file: str
    number: int     # among all nodes of the file
    line: int
    code: str       # that line
    before: str
    after: str


def passive(tree: ast.Module) -> set[ast.AST]:
    """What is not run, or cannot be seen: docstrings, annotations, and `zip` that checks lengths which are equal."""
    roots: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
            roots += [s for s in node.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)]
        if isinstance(node, ast.FunctionDef):
            roots += [*(a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg)), node.returns]
        if isinstance(node, ast.AnnAssign):
            roots.append(node.annotation)
        if isinstance(node, ast.keyword) and node.arg == "strict":
            roots.append(node.value)
    return {inner for node in roots if node is not None for inner in ast.walk(node)}


def changed(node: ast.AST) -> ast.AST | None:
    """The node with one change, or None if this kind has none."""
    match node:
        case ast.Compare(left, [operator, *others], right) if type(operator) in TURNED:
            return ast.Compare(left, [TURNED[type(operator)](), *others], right)
        case ast.BinOp(left, operator, right) if type(operator) in TURNED:
            return ast.BinOp(left, TURNED[type(operator)](), right)
        case ast.BoolOp(operator, values):
            return ast.BoolOp(TURNED[type(operator)](), values)
        case ast.AugAssign(target, operator, value) if type(operator) in TURNED:
            return ast.AugAssign(target, TURNED[type(operator)](), value)
        case ast.UnaryOp(ast.Not(), operand):
            return ast.Call(ast.Name("bool", ast.Load()), [operand], [])
        case ast.If(test, body, orelse):
            return ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(int() as value):
            return ast.Constant(value + 1)
        case ast.Return(ast.expr()):
            return ast.Return(ast.Constant(None))
        case ast.Expr(ast.Call()):
            return ast.Pass()
        case ast.Continue():
            return ast.Pass()


class Put(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else self.generic_visit(node)


def head(node: ast.AST) -> str:
    """A node as one line of text; of an ``if`` the first."""
    return ast.unparse(ast.fix_missing_locations(node)).partition("\n")[0]


def sites(file: str, source: str) -> list[Site]:
    """Every change of a file."""
    tree = ast.parse(source)
    skip = passive(tree)
    found = [(i, node, changed(node)) for i, node in enumerate(ast.walk(tree)) if node not in skip]
    lines = source.splitlines()
    return [Site(file, i, node.lineno, lines[node.lineno - 1].strip(), head(node), head(new)) for i, node, new in found if new is not None]


def mutant(source: str, number: int) -> str:
    """The file with one change."""
    tree = ast.parse(source)
    node = list(ast.walk(tree))[number]
    return ast.unparse(ast.fix_missing_locations(Put(node, changed(node)).visit(tree)))


def limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(stage: list[str], folder: Path, seconds: float) -> str:
    """Run some tests on a copy: "killed" if one fails, "hangs" if they do not end in time, else "survives"."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:nbval",
               "-o", "addopts=--import-mode=importlib", *stage]
    try:
        done = subprocess.run(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds,
                              preexec_fn=limit_memory if os.name == "posix" else None, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    return "killed" if done.returncode else "survives"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.mutants")
    parser.add_argument("count", nargs="?", type=int, default=150, help="so many mutants, drawn from all")
    parser.add_argument("--seed", type=int, default=7, help="draw others")
    parser.add_argument("--only", default="", help="those of one place: engine.py:186, or of a file")
    options = parser.parse_args(arguments)
    sources = {file: (ROOT / "minigrad" / file).read_text(encoding="utf-8") for file in FILES}
    found = [site for file, source in sources.items() for site in sites(file, source)]
    chosen = [site for site in found if f"{site.file}:{site.line}:".startswith(options.only + ":"[:bool(options.only)])]
    random.Random(options.seed).shuffle(chosen)
    chosen = chosen[:options.count]
    print(f"{len(chosen)} of {len(found)} changes", flush=True)
    results: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "my_notebooks", "__pycache__"))
        limits = []
        for stage in STAGES:
            begin = time.monotonic()
            if run(stage, folder, 3600) != "survives":
                sys.exit(f"Without any change these fail: {' '.join(stage)}")
            limits.append(30 + 6 * (time.monotonic() - begin))
        for site in chosen:
            place, source = folder / "minigrad" / site.file, sources[site.file]
            place.write_text(mutant(source, site.number), encoding="utf-8")
            outcomes = (run(stage, folder, limit) for stage, limit in zip(STAGES, limits))
            result = next((outcome for outcome in outcomes if outcome != "survives"), "survives")
            place.write_text(source, encoding="utf-8")
            if result == "survives" and (site.code, site.after) in EXPLAINED:
                result = "makes no difference"
            results[result] += 1
            print(f"{result:20s}{site.file}:{site.line}   {site.before[:110]}   →   {site.after[:110]}", flush=True)
    killed, total = results["killed"] + results["hangs"], results.total() - results["makes no difference"]
    print(dict(results), f"{100 * killed / max(total, 1):.1f} % of those that make a difference are killed")
    return results["survives"] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
