"""Write minigrad/signatures.txt: how PyTorch's argument parser reads the functions that minigrad has too.

    python -m tests.hardening.record_signatures       needs torch, and torchgen, which comes with it

A line is ``space.name|kind|signature|signature…`` in the words of the parser; the order is that of PyTorch's own error texts.
"""
from __future__ import annotations

import collections
import dataclasses
import re
from pathlib import Path

import torch
import torchgen
import yaml
from torchgen.api import python
from torchgen.gen import parse_native_yaml
from torchgen.model import NativeFunction, SchemaKind, Variant

from minigrad.arguments import Signature
from tests.hardening.bad_inputs import surface

FILE = Path(__file__).resolve().parents[2] / "minigrad/signatures.txt"
FOLDER = Path(torchgen.__file__).parent / "packaged/ATen/native"
# What PyTorch parses by hand.
BY_HAND = {
    "mg.nn.functional.softmax": ["softmax(int64_t? dim=None, int64_t _stacklevel=3, ScalarType? dtype=None)"],
    "mg.nn.functional.log_softmax": ["log_softmax(int64_t? dim=None, int64_t _stacklevel=3, ScalarType? dtype=None)"],
    "mg.nn.functional.relu": ["relu(Tensor input)"],
    "mg.nn.functional.silu": ["silu(Tensor input)"],
    "mg.nn.functional.dropout": ["dropout(Tensor input)"],
    "mg.nn.functional.elu": ["elu(Tensor input, Scalar alpha=1.0)"],
    "mg.nn.functional.selu": ["selu(Tensor input)"],
    "mg.nn.functional.leaky_relu": ["leaky_relu(Tensor input, Scalar negative_slope=0.01)"],
    "mg.nn.functional.hardtanh": ["hardtanh(Tensor input, Scalar min_val=-1.0, Scalar max_val=1.0)"],
    "mg.nn.functional.relu6": ["relu6(Tensor input)"],
    "mg.nn.functional.cross_entropy": ["cross_entropy_loss(Tensor input, Tensor target, Tensor? weight=None)"],
    "mg.nn.functional.batch_norm": ["batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, "
                                    "Tensor? bias=None)"],
    "mg.nonzero": ["nonzero(Tensor input, *, Tensor out=None, bool as_tuple=False)"],
    "mg.Tensor.unflatten": ["unflatten(int64_t dim, SymIntArrayRef sizes)"],
    "mg.nn.functional.layer_norm": ["layer_norm(Tensor input, SymIntArrayRef normalized_shape, Tensor? weight=None, Tensor? bias=None, "
                                    "double eps=1e-05)"],
    "mg.nn.functional.nll_loss": ["nll_loss_nd(Tensor input, Tensor target, Tensor? weight=None)"],
    "mg.tensor": ["tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None, bool pin_memory=False, "
                  "bool requires_grad=False, DimnameList? names=None)"],
    "mg.range": ["range(Scalar start, Scalar end, Scalar step=1, *, Tensor out=None, ScalarType? dtype=None, Layout? layout=None, "
                 "Device? device=None, bool? pin_memory=False, bool? requires_grad=False)"],
    "mg.as_tensor": ["as_tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None)"],
    "mg.Tensor.requires_grad_": ["requires_grad_(bool requires_grad=True)"],
    "mg.Tensor.contiguous": ["contiguous(*, MemoryFormat memory_format=contiguous_format)"],
    "mg.Tensor.is_contiguous": ["is_contiguous(*, MemoryFormat memory_format=contiguous_format)"],
    "mg.Tensor.new_tensor": ["new_tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None, bool requires_grad=False)"],
    "mg.Tensor.type": ["type(PyObject* dtype=None, bool non_blocking=False)"],
    "mg.Tensor.numpy": ["numpy(*, bool force=False)"],
    "mg.Tensor.to": [
        "to(Device device=None, ScalarType dtype=None, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
        "to(ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
        "to(Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)"],
    "mg.Tensor.new": ["new(*, Device? device=None)", "new(Storage storage)", "new(Tensor other)",
                      "new(IntArrayRef size, *, Device? device=None)", "new(PyObject* data, *, Device? device=None)"],
    "mg.Tensor.copy_": ["copy_(Tensor other, bool non_blocking=False)"],
    "mg.Tensor.size": ["size(int64_t? dim=None)"],
    "mg.Tensor.stride": ["stride(int64_t? dim=None)"],
    "mg.Tensor.nonzero": ["nonzero()", "nonzero(*, bool as_tuple)"],
    "mg.Tensor.cuda": ["cuda(Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None)"],
    "mg.numel": ["numel(Tensor input)"],
    **{f"mg.Tensor.{name}": [f"{name}(*, MemoryFormat? memory_format=None)"]
       for name in ("float", "double", "half", "byte", "char", "int", "long", "short", "bool", "cpu")},
    "mg.unique": ["_unique2(Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, int64_t? dim=None)"],
    "mg.Tensor.unique": ["_unique2(bool sorted=True, bool return_inverse=False, bool return_counts=False, int64_t? dim=None)"],
    "mg.norm": ["linalg_vector_norm(Tensor input, Scalar ord=2, IntArrayRef[1]? dim=None, bool keepdim=False)"],
    **{f"mg.{name}": [f"{name}()"] for name in ("is_anomaly_enabled", "is_anomaly_check_nan_enabled", "get_default_dtype",
                                                "is_grad_enabled", "is_inference_mode_enabled")},
    **{f"mg.{name}": [f"{name}(TensorList tensors)"] for name in ("broadcast_tensors", "atleast_1d", "atleast_2d", "atleast_3d",
                                                                  "meshgrid", "block_diag", "cartesian_prod")},
    **{f"mg.Tensor.{name}": [f"{name}()"] for name in ("element_size", "ndimension", "nelement", "tolist", "untyped_storage")},
}


def groups() -> dict[tuple[str | None, str, bool], list[tuple[NativeFunction, str]]]:
    """By module, name and is-a-method: each overload, out= merged into it, with its signature."""
    functions = parse_native_yaml(str(FOLDER / "native_functions.yaml"), str(FOLDER / "tags.yaml")).native_functions
    outs = {}
    for f in functions:
        if f.func.kind() is SchemaKind.out and "generated" not in f.tags:
            outs[f.func.signature(strip_default=True)] = python.signature(f)
    found = collections.defaultdict(list)
    for f in functions:
        if f.func.kind() is SchemaKind.out or str(f.func.name.name) == "requires_grad_":        # parsed by hand
            continue
        name = str(f.func.name.name)
        if re.fullmatch(r"(add|sub|mul|div)_?\.Scalar", str(f.func.name)):        # the parser takes numbers as tensors there
            continue
        if Variant.method in f.variants:
            found[None, name, True].append(python.signature(f, method=True).signature_str(skip_outputs=True))
        if Variant.function in f.variants:
            signature, out = python.signature(f), outs.get(f.func.signature(strip_default=True))
            if out is not None:
                signature = dataclasses.replace(signature, output_args=out.output_args)
            found[f.python_module, name, False].append(signature.signature_str(skip_outputs=out is None))
    for entry in yaml.safe_load((FOLDER.parents[1] / "autograd/deprecated.yaml").read_text(encoding="utf-8")):
        name, inner = re.match(r"(\w+)\((.*)\) ->", entry["name"]).groups()
        inner = re.sub(r"\(a!\)", "", inner)
        if " out" not in inner:
            found[None, name, False].append(f"{name}({inner.replace('Tensor self', 'Tensor input')}, *, Tensor out=None)|deprecated")
            found[None, name, True].append(f"{name}({re.sub(r'Tensor self,? ?', '', inner)})|deprecated")
    return found


def in_pytorchs_order(function, is_method: bool, texts: list[str]) -> list[str]:
    """The signatures as PyTorch's own error text lists them; one that it does not list is not offered to Python."""
    x, listed = torch.ones(1), []
    for count in range(1, 16):
        try:
            function(*([x] if is_method else []), **{f"no such name {i}": i for i in range(count)})
        except TypeError as error:
            listed = listed or re.findall(r"(?:\n \* |but expected )\((.*)\)", str(error))
        except Exception:
            break               # it looked into its tensor before it looked at the names
    hidden = [text for text in texts if text.endswith("|deprecated")]
    printed = {Signature(text).printed: text for text in texts if text not in hidden}
    if listed and not set(listed) <= set(printed):
        print("not known:", function.__name__, set(listed) ^ set(printed))
    return [printed[line] for line in listed if line in printed] + hidden if listed else texts


def main() -> None:
    found, lines = groups(), []
    for full in [*surface(), "mg.empty", "mg.Tensor.new"]:        # not tried by wrong calls: of empty, right ones have no fixed answer
        if full.startswith("operator."):
            continue
        space, name = full.rsplit(".", 1)
        thing = getattr(eval(space, {"mg": torch}), name, None)
        sort = type(thing).__name__
        if sort not in ("builtin_function_or_method", "method_descriptor") and full not in BY_HAND:
            continue
        is_method = sort == "method_descriptor" or full in BY_HAND and space == "mg.Tensor"
        module = {"mg.nn.functional": "nn", "mg.linalg": "linalg"}.get(space)
        texts = BY_HAND.get(full)
        own = thing.__name__
        for key in ((module, own, is_method), (None, own, is_method), (module, own.removeprefix(f"{module}_"), is_method)):
            texts = texts or found.get(key)
        if space == "mg" and name.endswith("_"):      # relu_(x) writes into x and nowhere else
            texts = [re.sub(r"(, \*)?, Tensor out=None", "", text) for text in texts or []]
        texts = list(dict.fromkeys(texts or []))
        if not texts:
            print("nothing known of", full)
            continue
        texts = in_pytorchs_order(thing, is_method, texts)
        bare = ""
        if is_method:
            try:
                thing(torch.ones(2, 2), **{"no such name": 1})
            except TypeError as error:
                bare = "bare" if "takes no keyword arguments" in str(error) else ""
            except Exception:
                pass
        if full in BY_HAND and space == "mg.nn.functional":
            kind = "innermethod" if "softmax" in full else "inner"
        elif "TensorList tensors)" in texts[0] and sort == "function":
            kind = "tensors"
        else:
            kind = "method" + bare if is_method else "functionbare" if texts[0].endswith("()") else "function"
        lines.append("|".join([full.removeprefix("mg."), kind, *texts]))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(lines), "functions")


if __name__ == "__main__":
    main()
