"""Make the lessons from their sources and run them in place, so that what they store is the same at every run.

    python tests/execute.py                        # all lessons and their solutions: make, run and rewrite
    python tests/execute.py notebooks/01*.ipynb    # these
    python tests/execute.py --check                # run, write nothing, fail if a rewrite would change anything

Stubs, solutions and ``notebooks/solutions/`` come from the exercises' one source (tests/exercises.py), what stands below a question
from the question (tests/gates.py). Every check is tried: it refuses the stub and each listed wrong answer in words of its own, and
accepts the solution. A cell that talks to PyTorch (tagged ``torch``) keeps what it stores where PyTorch is not installed; the picture
of one tagged ``save-picture`` also becomes a file.

A stored traceback keeps the lesson's own frames, the error and its notes; of other files it keeps their names alone, since
line numbers of the engine change with every edit of it. A student who runs the cell sees the whole traceback.
"""
from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib.util
import re
import sys
import time
from pathlib import Path, PureWindowsPath
from queue import Empty

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets import Type

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))               # run as a script, it finds its own folder only

from tests import gates  # noqa: E402
from tests.exercises import exercises, generate, solutions, trials  # noqa: E402

NOTEBOOKS = ROOT / "notebooks"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
PASSING = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted")      # cell metadata that tools add

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
CELL_FILE = re.compile(r"""[^\s"'(]*[/\\]ipykernel_\d+[/\\]\d+\.py""")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FRAME = re.compile(r"File (.+?\.py):\d+, in (\S+)\(.*")


class PatientChannel(AsyncZMQSocketChannel):
    """A channel that never waits long: a send can eat the socket's wake-up, and nbclient then waits for ever (its issue 312)."""

    async def get_msg(self, timeout: float | None = None) -> dict:
        """Return the next message; raise Empty after ``timeout`` seconds (None: never)."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = 0.2 if end is None else min(0.2, max(0.0, end - time.monotonic()))
            if await self.socket.poll(int(left * 1000)):
                return await self._recv()
            if end is not None and time.monotonic() >= end:
                raise Empty


class PatientClient(AsyncKernelClient):
    """A kernel's client on patient channels."""

    shell_channel_class = Type(PatientChannel)
    iopub_channel_class = Type(PatientChannel)
    control_channel_class = Type(PatientChannel)


class PatientManager(AsyncKernelManager):
    """Starts a kernel of this very Python."""

    client_class = f"{__name__}.PatientClient"
    client_factory = Type(PatientClient)

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Put this Python in the place of the one that an installed kernel of the same name may point to."""
        return [sys.executable, *super().format_kernel_cmd(extra_arguments)[1:], "--log-level=ERROR"]


def run(path: Path, notebook: NotebookNode | None = None, timeout: int = 60) -> NotebookNode:
    """Return the notebook with the outputs of a fresh run; a cell that fails without its tag raises.

    Parameters
    ----------
    notebook
        What to run in the folder of `path`, if not what is stored there.
    timeout
        Seconds that one cell may take.
    """
    notebook = notebook or nbformat.read(path, as_version=4)
    stored = {cell.id: cell.outputs for cell in notebook.cells if "torch" in cell.metadata.get("tags", [])}
    client = NotebookClient(notebook, timeout=timeout, kernel_name="python3", kernel_manager_class=PatientManager,
                            record_timing=False, resources={"metadata": {"path": str(path.parent)}})
    # Windows' default loop cannot watch the kernel's sockets; the one that can is there on every system
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(client.async_execute())
    for cell in notebook.cells:
        if cell.id in stored and stored[cell.id] and importlib.util.find_spec("torch") is None:
            cell.outputs = stored[cell.id]
    return notebook


def normal(text: str) -> str:
    """Return the text without what differs from run to run: addresses, and the file that stands for a cell.

    >>> normal("<AddBackward0 object at 0x7f01ab23cd45>")
    '<AddBackward0 object at 0xADDR>'
    >>> normal("/var/ipykernel_12/345.py:1: UserWarning: no")
    '<cell>:1: UserWarning: no'
    """
    return CELL_FILE.sub("<cell>", ADDRESS.sub("0xADDR", text))


def short_frame(text: str) -> str:
    """Return a traceback's frame as it is stored: whole if it is the lesson's, else only which function of which file.

    >>> short_frame("File /home/ann/minigrad/engine.py:88, in run_backward(roots)\\n     87 ...")
    'File minigrad/engine.py, in run_backward'
    """
    match = FRAME.match(COLOUR.sub("", text))
    if not match:
        return normal(text)
    file, function = match.groups()
    if "ipykernel_" in file:
        return normal(text)
    parts = PureWindowsPath(file).parts     # which knows either slash
    start = len(parts) - 2 if "minigrad" not in parts else len(parts) - 1 - parts[::-1].index("minigrad")
    return f"File {'/'.join(parts[start:])}, in {function}"


def tidy_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Return a cell's outputs as they are stored.

    Text that goes to stdout and stderr at one time arrives in any order and in any number of pieces: each is joined, stdout first.
    """
    result: list[NotebookNode] = []
    for output in outputs:
        output.pop("transient", None)
        if output.output_type == "stream":
            streams = {output.name: output}
            while result and result[-1].output_type == "stream":
                earlier = result.pop()
                if earlier.name == output.name:
                    output.text = earlier.text + output.text
                else:
                    streams[earlier.name] = earlier
            output.text = normal(output.text)
            result += [streams[name] for name in ("stdout", "stderr") if name in streams]
            continue
        if output.output_type == "error":
            output.evalue = normal(output.evalue)
            output.traceback = [short_frame(frame) for frame in output.traceback]
        else:
            output.metadata = NotebookNode()
            output.data = NotebookNode({mime: normal(text) if isinstance(text, str) else text
                                        for mime, text in output.data.items() if mime != WIDGET_VIEW})
            if not output.data:             # a live view and nothing else: there is nothing to store
                continue
        result.append(output)
    return result


def tidy(notebook: NotebookNode) -> NotebookNode:
    """Bring an executed notebook into the form in which it is stored, and return it."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    taken: set[str] = set()
    for cell in notebook.cells:
        for key in PASSING:
            cell.metadata.pop(key, None)
        name = cell.get("id", "")
        if not 0 < len(name) <= 30 or name in taken:        # JupyterLab's own are 36 long; a copied cell keeps the id it had
            name = hashlib.sha1(f"{len(taken)} {cell.source}".encode()).hexdigest()[:8]
        cell.id = name
        taken.add(name)
        if cell.cell_type == "code":
            cell.outputs = tidy_outputs(cell.outputs)
    return notebook


def make(path: Path) -> dict[Path, str]:
    """Return the text of a lesson and of its solutions, freshly generated, tried and run, by where they are stored."""
    lesson, made = nbformat.read(path, as_version=4), {}
    notebooks = {path: lesson}
    gates.generate(lesson)
    if exercises(lesson):
        generate(lesson)
        trials(lesson, InteractiveShell.instance())
        InteractiveShell.clear_instance()
        notebooks[path.parent / "solutions" / path.name] = solutions(lesson, path.stem)
    for place, notebook in notebooks.items():
        place.parent.mkdir(exist_ok=True)
        made[place] = nbformat.writes(tidy(run(place, notebook))).rstrip("\n") + "\n"
        made |= {path.parent / f"{cell.id}.svg": cell.outputs[-1].data["image/svg+xml"] + "\n"
                 for cell in notebook.cells if "save-picture" in cell.metadata.get("tags", [])}
    return made


def main(arguments: list[str]) -> int:
    """Make what the command line names and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all lessons")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a rewrite would change anything")
    options = parser.parse_args(arguments)
    changed = 0
    for path in options.notebooks or [*sorted(NOTEBOOKS.glob("*.ipynb")), *NOTEBOOKS.glob("teacher/*.ipynb")]:
        start = time.monotonic()
        made = make(path.resolve())
        different = [place for place, text in made.items()
                     if not place.exists() or place.read_text(encoding="utf-8") != text]
        changed += len(different)
        if not options.check:
            for place in different:
                place.write_text(made[place], encoding="utf-8", newline="\n")
        print(f"{path.name}: {len(different) or 'nothing'} changed ({time.monotonic() - start:.1f} s)", flush=True)
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
