"""`save` and `load`: tensors and the dicts, lists and numbers around them, in a file that cannot run code.

The file is NumPy's ``.npz``, a zip of one array per tensor, with the structure around them as JSON text in the entry
``structure``. PyTorch's own files are pickles; a pickle from a stranger runs what it likes when it is loaded, and this cannot.
"""
from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

import numpy as np

from .creation import finish
from .dtype import Size, of_numpy
from .nn.module import typename
from .nn.parameter import Parameter
from .reasons import check
from .tensor import Tensor

__all__ = ["load", "save"]


def save(obj: Any, f: str | os.PathLike | IO[bytes]) -> None:
    """Write tensors, and dicts, lists, tuples, numbers, texts and None around them: ``mg.save(model.state_dict(), "model.npz")``.

    Raises
    ------
    TypeError
        For anything else, such as a whole module: save its ``state_dict()``.
    """
    import json  # not above: it would be a tenth of the time of `import minigrad`

    arrays: list[np.ndarray] = []
    structure = json.dumps(_pack(obj, arrays))
    with _opened(f, "wb") as file:        # given its path, savez would add .npz to the name
        np.savez(file, structure=np.array(structure), **{f"tensor{i}": array for i, array in enumerate(arrays)})


def _opened(f: Any, mode: str) -> AbstractContextManager:
    method = "read" if mode == "rb" else "write"
    if hasattr(f, method):
        return nullcontext(f)
    if not isinstance(f, (str, os.PathLike)):
        raise AttributeError(f"expected 'f' to be string, path, or a file-like object with a '{method}' attribute")
    folder = os.path.dirname(f)
    check(mode != "wb" or not folder or os.path.isdir(folder), lambda: f"Parent directory {folder} does not exist.")
    return open(f, mode)


def load(f: str | os.PathLike | IO[bytes], *, map_location: Any = None, weights_only: bool = True) -> Any:
    """Read what `save` wrote. The other arguments are PyTorch's: everything is on the CPU, and nothing but data is read.

    Raises
    ------
    ValueError
        For a file that `save` did not write, or that is damaged.
    """
    import json

    with _opened(f, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as entries:
                return _unpack(json.loads(entries["structure"].item()), entries)
        except Exception as error:      # whatever other bytes make fail
            raise ValueError("minigrad.load reads files that minigrad.save wrote: this is something else, or damaged") from error


def _pack(obj: Any, arrays: list[np.ndarray]) -> Any:
    """An object as JSON: what JSON has not is ``{"kind": …}``."""
    if obj is None or isinstance(obj, (bool, int, float, str)):
        return obj
    if isinstance(obj, Tensor):
        arrays.append(obj.array)
        return {"kind": "Parameter" if isinstance(obj, Parameter) else "Tensor", "at": len(arrays) - 1,
                "requires_grad": obj.requires_grad}
    if isinstance(obj, dict):
        metadata = getattr(obj, "_metadata", None)
        return {"kind": "OrderedDict" if isinstance(obj, OrderedDict) else "dict",
                "items": [[_pack(k, arrays), _pack(v, arrays)] for k, v in obj.items()],
                **({} if metadata is None else {"metadata": _pack(metadata, arrays)})}
    if isinstance(obj, (list, tuple)):
        kind = "list" if isinstance(obj, list) else "Size" if isinstance(obj, Size) else "tuple"
        return {"kind": kind, "items": [_pack(x, arrays) for x in obj]}
    raise TypeError(f"minigrad.save writes tensors, dicts, lists, tuples, numbers and texts, not {typename(obj)}"
                    + ("; save its state_dict()" if hasattr(obj, "state_dict") else ""))


def _unpack(packed: Any, entries: Any) -> Any:
    if not isinstance(packed, dict):
        return packed
    kind = packed["kind"]
    if kind in ("Tensor", "Parameter"):
        array = entries[f"tensor{packed['at']}"]
        check(array.dtype in of_numpy, lambda: f"minigrad.load found an array of {array.dtype}", ValueError)
        tensor = finish(array, packed["requires_grad"])
        return Parameter(tensor, packed["requires_grad"]) if kind == "Parameter" else tensor
    if kind in ("dict", "OrderedDict"):
        result = {"dict": dict, "OrderedDict": OrderedDict}[kind]((_unpack(k, entries), _unpack(v, entries))
                                                                  for k, v in packed["items"])
        if "metadata" in packed:
            result._metadata = _unpack(packed["metadata"], entries)
        return result
    return {"list": list, "tuple": tuple, "Size": Size}[kind](_unpack(x, entries) for x in packed["items"])
