"""JupyterLab on the loopback address, a browser that is already installed, and a lesson open in it."""
from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Locator, Page

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60                               # seconds for one thing to happen on a busy machine
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},                    # every cell is on the page
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": True},                      # as the set-up has it
}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge",
         "microsoft-edge-stable", "msedge")
MAC = ("Google Chrome", "Chromium", "Microsoft Edge")
WINDOWS = ("Google/Chrome/Application/chrome.exe", "Chromium/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe")
FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-default-apps", "--disable-dev-shm-usage"]


def find_browser(environment: Mapping[str, str] = os.environ, which: Callable[[str], str | None] = shutil.which,
                 exists: Callable[[Path], bool] = Path.exists) -> str | None:
    """Return the path of an installed Chrome, Chromium or Edge (MINIGRAD_BROWSER names another), or None."""
    places = [Path(environment["MINIGRAD_BROWSER"])] if environment.get("MINIGRAD_BROWSER") else []
    places += [Path(found) for found in map(which, NAMES) if found]
    for folder in (Path("/Applications"), Path(environment.get("HOME", "/")) / "Applications"):
        places += [folder / f"{name}.app/Contents/MacOS/{name}" for name in MAC]
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        places += [Path(environment[variable]) / tail for tail in WINDOWS if environment.get(variable)]
    return next((str(place) for place in places if exists(place)), None)


def launch_flags() -> list[str]:
    """Return the browser's flags; its sandbox needs rights that root and containers do not have."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return FLAGS + (["--no-sandbox"] if root or os.environ.get("CI") else [])


@contextmanager
def jupyterlab(home: Path) -> Iterator[tuple[str, str]]:
    """Serve a copy of the lessons, with all configuration in ``home``; yield the address and its token."""
    shutil.copytree(ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name, settings in SETTINGS.items():
        file = home / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")
    places = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython",
              "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, **{name: str(home / place) for name, place in places.items()}, "PYTHONPATH": path}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
               "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={home / 'notebooks'}",
               "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"]
    address = f"http://127.0.0.1:{port}"

    def ask(what: str, method: str) -> None:
        headers = {"Authorization": f"token {token}"}
        urllib.request.urlopen(urllib.request.Request(address + what, method=method, headers=headers), timeout=5).close()

    with open(home / "jupyterlab.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    ask("/api/status", "GET")
                    break
                except OSError:
                    if server.poll() is not None or time.monotonic() > end:
                        raise RuntimeError((home / "jupyterlab.log").read_text(encoding="utf-8")) from None
                    time.sleep(0.2)
            yield address, token
            ask("/api/shutdown", "POST")    # ends the kernels too, on every system
            server.wait(PATIENCE)
        finally:
            server.kill()
            server.wait()


class Lesson:
    """A notebook that is open in JupyterLab.

    Parameters
    ----------
    name
        Its file name, such as ``"01_flags.ipynb"``.
    """

    def __init__(self, page: Page, server: tuple[str, str], name: str) -> None:
        self.page = page
        self.problems: list[str] = []       # what the browser's console calls an error
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._heard)
        address, token = server
        page.goto(f"{address}/lab/tree/{name}?reset&token={token}", wait_until="domcontentloaded")
        page.wait_for_function("window.jupyterapp")
        page.evaluate("jupyterapp.started.then(() => true)")
        page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell")
        page.wait_for_function("jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"{message.text} ({message.location.get('url', '')})")

    def run_all(self) -> None:
        """Run all cells; return when the last one has run."""
        # the command's promise ends at the first error, also one that a tag allows; the kernel answers in order, so ask it last
        self.page.evaluate("""async () => {
            await jupyterapp.commands.execute('notebook:run-all-cells')
            const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session
            await kernel.requestExecute({ code: 'pass', store_history: false }).done }""")

    def code_cells(self) -> list[dict]:
        """Return ``{source, count, errors, tags}`` of each code cell as JupyterLab holds it now."""
        return self.page.evaluate("""() => jupyterapp.shell.currentWidget.content.widgets
            .filter(cell => cell.model.type === 'code')
            .map(({ model }) => ({ source: model.sharedModel.source, count: model.executionCount,
                tags: model.getMetadata('tags') ?? [],
                errors: model.outputs.toJSON().filter(o => o.output_type === 'error').map(o => `${o.ename}: ${o.evalue}`) }))""")

    def locate(self, selector: str) -> Locator:
        """Return what matches in the notebook that is shown."""
        return self.page.locator(f".jp-NotebookPanel:not(.lm-mod-hidden) {selector}")

    def set_theme(self, name: str) -> None:
        """Change JupyterLab's theme: ``"JupyterLab Light"`` or ``"JupyterLab Dark"``."""
        dark = name.endswith("Dark")
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
        self.page.wait_for_selector(f"body[data-jp-theme-light='{'false' if dark else 'true'}']", state="attached")

    def too_wide(self) -> list[str]:
        """Return the beginning of each output that is wider than its place and cannot be scrolled."""
        return self.page.evaluate("""() => [...document.querySelectorAll(
                '.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output, .jp-NotebookPanel:not(.lm-mod-hidden) .jp-MarkdownOutput')]
            .filter(e => e.scrollWidth > e.clientWidth + 1 && !['auto', 'scroll'].includes(getComputedStyle(e).overflowX))
            .map(e => e.textContent.trim().slice(0, 60))""")

    def photograph(self, folder: Path, name: str) -> None:
        """Write the whole notebook, screen by screen, to ``folder/name-1.png``, ``-2.png``, …"""
        folder.mkdir(parents=True, exist_ok=True)
        self.page.evaluate("document.activeElement.blur()")
        panel = self.locate(".jp-WindowedPanel-outer")
        height, screen = panel.evaluate("e => [e.scrollHeight, e.clientHeight]")
        for number, top in enumerate(range(0, height, screen), 1):
            panel.evaluate("(e, top) => { e.scrollTop = top }", top)
            self.page.wait_for_timeout(150)
            panel.screenshot(path=str(folder / f"{name}-{number}.png"))
