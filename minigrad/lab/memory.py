"""The storage map: which tensors share memory, what each of them sees of it, and what a write would touch."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..picture import Recorder
from ..picture.program import memory_of, named_tensors, node_name
from ..strides import strides_of
from .html import Html, tag

__all__ = ["Store", "Window", "memory_html", "stores"]

MOST_CELLS = 24                # elements of one storage that are drawn
MOST_STORES = 12


@dataclass
class Window:
    """One name's view of a storage."""

    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    version: str
    made: str = ""

    @cached_property
    def cells(self) -> list[int]:
        """The elements that it covers, as far as they are drawn."""
        cells = np.array([self.offset])
        for size, step in zip(self.shape, self.stride, strict=True):
            cells = np.unique(np.add.outer(cells, np.arange(size) * step).ravel())
            cells = cells[cells < MOST_CELLS]
        return cells.tolist()


@dataclass
class Store:
    """One storage: its elements (and how many `more` there are), who looks at it, which nodes remember something."""

    cells: list[str]
    nbytes: int
    windows: list[Window] = field(default_factory=list)
    remembered: list[str] = field(default_factory=list)
    more: int = 0


def stores(recorder: Recorder, names: Mapping[str, Any]) -> list[Store]:
    """Every storage that a name leads to, those that are shared first."""
    found: dict[int, Store] = {}
    memories: dict[int, np.ndarray] = {}
    made = {id(slot.tensor): call.text for call in recorder.calls for slot in call.outputs if not call.inplace}
    for name, tensor in named_tensors(names):
        key = memory_of(tensor)
        if key not in found:
            memories[key] = memory = tensor.untyped_storage().elements()
            elements = [f"{v:.4g}" for v in memory.tolist()]
            found[key] = Store(elements[:MOST_CELLS], memory.nbytes, more=max(0, len(elements) - MOST_CELLS))
        found[key].windows.append(Window(name, tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(),
                                         f"v{tensor._version}", made.get(id(tensor), "")))
    arrays = {name: value for name, value in names.items() if isinstance(value, np.ndarray) and not name.startswith("_")}
    for name, array in arrays.items():
        for key, memory in memories.items():
            if np.shares_memory(array, memory):
                offset = (array.ctypes.data - memory.ctypes.data) // memory.itemsize
                found[key].windows.append(Window(name, array.shape, strides_of(array), offset, "NumPy counts no versions", "an ndarray"))
    for call in recorder.calls:
        for saved in call.saved:
            tensor = saved.slot.tensor if saved.slot is not None else None
            if tensor is not None and (store := found.get(memory_of(tensor))):
                was, now = saved.versions
                name = saved.slot.name or "a result"
                state = (f"at v{was}, it is v{now} now: its backward raises" if was != now else
                         "freed by its backward" if call.freed else "a write would spoil it")
                store.remembered.append(f"{node_name(saved.node)} remembers {name}: {state}")
    for store in found.values():
        store.remembered = list(dict.fromkeys(store.remembered))
    return sorted(found.values(), key=lambda store: len(store.windows) < 2)[:MOST_STORES]


def memory_html(found: list[Store]) -> Html:
    """The map as tables: a row per name, a column per element."""
    return tag("div", *(_store(store, number) for number, store in enumerate(found)) if found
               else ["No tensor has a name here."],
               class_="mg-stores")


def _store(store: Store, number: int) -> Html:
    head = tag("tr", tag("th", f"one storage · {store.nbytes:,} bytes", scope="col"),
               *(tag("td", cell, class_="mg-cell") for cell in store.cells),
               tag("td", f"and {store.more} more") if store.more else "",
               *(tag("th", text, scope="col") for text in ("shape", "stride", "offset", "version", "a write touches")))
    return tag("table", head, *(_window(store, window) for window in store.windows),
               *(tag("tr", tag("td", text, colspan=len(store.cells) + 6, class_="mg-belief"))
                 for text in store.remembered),
               class_="mg-table mg-store", key=f"store-{number}")


def _window(store: Store, window: Window) -> Html:
    touched = [other.name for other in store.windows if other is not window and set(other.cells) & set(window.cells)]
    covered = [i in window.cells for i in range(len(store.cells))]
    return tag("tr", tag("th", tag("code", window.name), f" = {window.made}" if window.made else "", scope="row"),
               *(tag("td", "■" if here else "", class_="mg-cell" + " mg-covered" * here) for here in covered),
               tag("td", "") if store.more else "",
               *(tag("td", tag("code", text)) for text in (window.shape, window.stride, window.offset, window.version)),
               tag("td", ", ".join(touched) or "nobody else"), key=window.name)
