"""Storage: the memory that a tensor, its views and its detached aliases share, with one version counter.

The version tells a node whether a tensor it remembers is still what it was. Without it this program would quietly compute a
wrong gradient, since ``exp`` remembers its result::

    y = x.exp()
    y.add_(1)                # writes into what exp remembers; the version goes from 0 to 1
    y.sum().backward()       # RuntimeError: ... is at version 1; expected version 0 instead
"""
from __future__ import annotations

import sys
from types import CodeType, FrameType

import numpy as np

from . import dtype as dtypes
from .reasons import DEPRECATED_STORAGE, warn_once


class Storage:
    """A buffer with its version; ``.data`` makes a second Storage over the same buffer, which is why it escapes the check."""

    __slots__ = ("buffer", "version", "writer")

    def __init__(self, buffer: np.ndarray, version: int = 0) -> None:
        self.buffer = buffer
        self.version = version
        self.writer: tuple[CodeType, int] | None = None    # (code, line) of the last in-place write

    def bump(self, writer: tuple[CodeType, int] | None = None) -> None:
        """Count a write and remember the line that made it; who writes often can find that once."""
        self.version += 1
        self.writer = writer or line_outside()


def line_outside() -> tuple[CodeType, int] | None:
    """The line outside this package that is running (never its frame: it would keep memory)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("minigrad"):
        frame = frame.f_back
    return (frame.f_code, frame.f_lineno) if frame is not None else None


class UntypedStorage:
    """The bytes under a tensor, as ``tensor.untyped_storage()`` shows them."""

    def __init__(self, buffer: np.ndarray) -> None:
        self._buffer = buffer

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return np.lib.array_utils.byte_bounds(self._buffer)[0]

    def nbytes(self) -> int:
        """The size in bytes."""
        low, high = np.lib.array_utils.byte_bounds(self._buffer)
        return high - low

    def size(self) -> int:
        """The number of elements; of an untyped storage, of bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.size()

    def __repr__(self) -> str:
        values = "\n".join(f" {x}" for x in self.elements().view(np.uint8).tolist())
        return f"{values}\n[torch.storage.UntypedStorage(device=cpu) of size {self.size()}]"

    def elements(self) -> np.ndarray:
        """All elements in memory order, sharing the memory."""
        return np.lib.stride_tricks.as_strided(
            self._buffer, (self.nbytes() // self._buffer.itemsize,), (self._buffer.itemsize,))


class TypedStorage(UntypedStorage):
    """The elements under a tensor, as the deprecated ``tensor.storage()`` shows them."""

    def __init__(self, buffer: np.ndarray) -> None:
        warn_once(DEPRECATED_STORAGE, stacklevel=4, heeds_always=False)
        super().__init__(buffer)

    dtype = property(lambda self: dtypes.of_numpy[self._buffer.dtype])

    def size(self) -> int:
        return self.nbytes() // self._buffer.itemsize

    def __repr__(self) -> str:
        values = "\n".join(f" {x}" for x in self.elements().tolist())
        return f"{values}\n[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {self.size()}]"

    def tolist(self) -> list:
        """All elements as Python numbers, in memory order."""
        return self.elements().tolist()

    def __getitem__(self, index: int) -> float | int | bool:
        return self.elements()[index].item()

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self._buffer)
