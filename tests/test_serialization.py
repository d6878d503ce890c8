"""Files: a state_dict comes back as it was; what is damaged, foreign or malicious is refused."""
from __future__ import annotations

import io
import json
import pickle

import numpy as np
import pytest

import minigrad


def saved_and_loaded(obj):
    buffer = io.BytesIO()
    minigrad.save(obj, buffer)
    buffer.seek(0)
    return minigrad.load(buffer)


def test_everything_around_the_tensors_comes_back(tmp_path):
    net = minigrad.nn.Sequential(minigrad.nn.Linear(2, 3), minigrad.nn.BatchNorm1d(3))
    optimizer = minigrad.optim.Adam(net.parameters())
    net(minigrad.randn(4, 2)).sum().backward()
    optimizer.step()
    path = tmp_path / "state.pt"
    around = {"epoch": 3, "loss": [float("inf"), 0.5, None, True], 7: ("a", minigrad.ones(2, 3).shape)}
    minigrad.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "around": around}, path)
    assert [p.name for p in tmp_path.iterdir()] == ["state.pt"]
    loaded = minigrad.load(path, weights_only=True)
    assert loaded["around"] == around and type(loaded["around"][7][1]) is minigrad.Size
    twin = minigrad.nn.Sequential(minigrad.nn.Linear(2, 3), minigrad.nn.BatchNorm1d(3))
    twin.load_state_dict(loaded["net"])
    assert loaded["net"]._metadata == net.state_dict()._metadata
    second = minigrad.optim.Adam(twin.parameters())
    second.load_state_dict(loaded["optimizer"])
    for model, steps in ((net, optimizer), (twin, second)):
        steps.zero_grad()
        model(minigrad.ones(4, 2) * minigrad.arange(4.0)[:, None]).pow(2).sum().backward()
        steps.step()
    assert all(minigrad.equal(a, b) for a, b in zip(net.parameters(), twin.parameters(), strict=True))


def test_tensors_keep_kind_dtype_and_flag():
    parameter = saved_and_loaded(minigrad.nn.Parameter(minigrad.ones(2, dtype=minigrad.float64)))
    assert type(parameter) is minigrad.nn.Parameter and parameter.dtype is minigrad.float64 and parameter.requires_grad
    assert saved_and_loaded(minigrad.ones(2, requires_grad=True)).requires_grad
    assert saved_and_loaded(minigrad.tensor([True])).dtype is minigrad.bool


def test_code_is_neither_written_nor_read(tmp_path):
    with pytest.raises(TypeError, match="save its state_dict"):
        saved_and_loaded(minigrad.nn.Linear(1, 1))
    ran = []
    path = tmp_path / "evil.pt"
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ValueError):
        minigrad.load(path)
    with path.open("wb") as file:
        np.savez(file, structure=np.array([Evil()], dtype=object))
    with pytest.raises(ValueError):
        minigrad.load(path)
    assert ran == Evil.ran == []


class Evil:
    """A pickle of this runs code when it is loaded."""

    ran: list = []

    def __reduce__(self):
        return Evil.ran.append, (1,)


# What is no file of ours ---------------------------------------------------------------------------------------------------

def whole_file():
    buffer = io.BytesIO()
    minigrad.save(minigrad.nn.Linear(2, 3).state_dict(), buffer)
    return buffer.getvalue()


def refused(data):
    with pytest.raises(ValueError, match="minigrad.save wrote"):
        minigrad.load(io.BytesIO(data))


@pytest.mark.parametrize("part", [0, 1, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(part, tmp_path):
    data = whole_file()
    cut = data[:int(part * len(data))] if part != 1 else data[:-1]
    refused(cut)
    path = tmp_path / "cut.pt"
    path.write_bytes(cut)
    with pytest.raises(ValueError, match="minigrad.save wrote"):
        minigrad.load(path)
    assert path.read_bytes() == cut         # and closed: Windows could not remove it otherwise
    path.unlink()


def test_a_damaged_file_is_refused():
    data = bytearray(whole_file())
    place = data.index(minigrad.load(io.BytesIO(bytes(data)))["weight"].array.tobytes())
    data[place] ^= 1                        # one bit of one weight
    refused(bytes(data))


@pytest.mark.parametrize("structure", [
    "no JSON", "{}", json.dumps({"kind": "Module"}), json.dumps({"kind": "Tensor", "at": 7, "requires_grad": False}),
    json.dumps({"kind": "Tensor"}), json.dumps({"kind": "list", "items": 3}), "[" * 100_000])
def test_a_foreign_structure_is_refused(structure):
    buffer = io.BytesIO()
    np.savez(buffer, structure=np.array(structure), tensor0=np.ones(2))
    refused(buffer.getvalue())


@pytest.mark.parametrize("array", [np.ones(2, complex), np.array(["text"]), np.ones(2, ">f4")])
def test_an_array_of_a_foreign_type_is_refused(array):
    buffer = io.BytesIO()
    structure = json.dumps({"kind": "Tensor", "at": 0, "requires_grad": False})
    np.savez(buffer, structure=np.array(structure), tensor0=array)
    refused(buffer.getvalue())


def test_files_of_others_are_refused():
    for write in (lambda f: np.save(f, np.ones(2)), lambda f: np.savez(f, a=np.ones(2)), lambda f: f.write(b"text"),
                  lambda f: f.write(pickle.dumps({"weight": [1.0]}))):
        buffer = io.BytesIO()
        write(buffer)
        refused(buffer.getvalue())


def test_no_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        minigrad.load(tmp_path / "none.pt")
