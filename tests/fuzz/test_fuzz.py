"""Programs that once differed stay the same; a hunt for new ones, where PyTorch is installed; and faults that it must find."""
import importlib
import os
import time

import pytest

import minigrad
from minigrad.storage import Storage

from . import corpus, known
from .compare import first_difference
from .hunt import Hunt


@pytest.fixture
def torch():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: nothing to compare new programs with")
    return importlib.import_module("torch")


@pytest.mark.parametrize("path", corpus.programs(), ids=lambda path: path.stem)
def test_a_program_of_the_corpus_does_what_pytorch_did(path):
    difference = corpus.replay(path, minigrad)
    assert difference is None, difference


def test_no_new_difference(torch):
    hunt = Hunt(torch, minigrad)
    # The same programs everywhere, however fast the machine is; FUZZ_PROGRAMS and FUZZ_SEED ask for others.
    programs = int(os.environ.get("FUZZ_PROGRAMS", "150"))
    hunt.run(seed=int(os.environ.get("FUZZ_SEED", "0")), programs=programs, kinds=3)
    assert hunt.counts["programs"] == programs
    assert not hunt.found, "\n\n".join(map(str, map(hunt.shrunk, hunt.found.values())))


def double_the_gradient(monkeypatch):
    node = minigrad.function.OPS["mul"].node_class
    apply = node.apply
    monkeypatch.setattr(node, "apply", lambda self, *args: tuple(g if g is None else g * 2 for g in apply(self, *args)))


def count_no_version(monkeypatch):
    monkeypatch.setattr(Storage, "bump", lambda self: None)


def save_a_copy_of_the_result(monkeypatch):
    monkeypatch.setattr(minigrad.function, "alias", lambda tensor: minigrad.tensor(tensor.array))


@pytest.mark.parametrize("fault", [double_the_gradient, count_no_version, save_a_copy_of_the_result])
def test_a_fault_is_found_within_a_minute(torch, fault):
    hunt, end = Hunt(torch, minigrad), time.perf_counter() + 60
    for i in range(10 ** 9):
        assert time.perf_counter() < end, "the fault was not found"
        with pytest.MonkeyPatch.context() as monkeypatch:
            fault(monkeypatch)
            found = hunt.one(f"fault:{i}")
        if found and first_difference(found.lines, torch, minigrad) is None:     # the same program is fine without the fault
            return


@pytest.mark.parametrize("kind", [
    "look.tensors.#.value | values | values", "look.tensors.#.grad.value | values | values", "look.tensors.#._version | 0 | 0",
    "look.tensors.#.stride[0] | 0 | 0", "look.tensors.#.storage_offset | 0 | 0", "look.tensors.#.grad.storage | # | None",
    "look.tensors.#._base | # | None", "look.tensors.#.name | # | None", "look.nodes.#.name | AddBackward0 | MulBackward0",
    "look.nodes.#.next | [['#', 0]] | [['#', 0], [None, 0]]", "look.nodes.#.saved._saved_self.value | values | values",
    "error | None | NotImplementedError: \"median_cpu\" not implemented for 'Bool'",
    "error | None | RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
    "error | RuntimeError: a leaf Variable that requires grad is being used in an in-place operation. | None",
    "error | RuntimeError: one of the variables needed for gradient computation | None",
    "error | RuntimeError: derivative for aten::floor_divide is not implemented | None",
    "error | RuntimeError: unsupported operation: some elements | None", "log[0][0].value | values | values",
    "log | [[\"'pack'\", []]] | []", "log before the error | [[\"'v0'\", []]] | []",
    "log before the error | [[\"'pack'\", []], [\"'v0'\", []]] | []", "log before the error | [[\"'pack'\", []]] | [[\"'v0'\", []]]",
    "look.second.#.name | MulBackward0 | AddBackward0",
    "look.second.#.saved._saved_self.value | values | values", "error | RuntimeError: Inference tensors cannot be saved | None"])
def test_a_known_difference_swallows_no_other(kind):
    assert known.reason(kind, ["v0 = mg.ones(2, requires_grad=True)", "v1 = v0.cumsum(0)"]) is None
