"""Same seed, same losses: whole trainings go as they go in PyTorch.

The random stream, initialization, dropout, gradients and optimizer steps all have to agree for that; the sums of a matrix
product may be added up in another order, so that losses agree to four digits and not to the last.
"""
from __future__ import annotations

import re

import pytest

import minigrad
from tests.recorded import cases_in, recorded
from tests.truth.harness import TORCH, run

DIGITS = 5e-5       # relative: four digits


def train(mg, model, optimizer, batches, epochs):
    """Print the loss of every batch."""
    for _ in range(epochs):
        for x, target in batches:
            loss = mg.nn.functional.cross_entropy(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("loss", loss.item())


def images(mg, batches):
    """Something like scikit-learn's digits: sixteen grey values, 64 pixels, and a class that one can learn."""
    templates = mg.randint(0, 17, (10, 64)).float()
    for _ in range(batches):
        target = mg.randint(0, 10, (32,))
        yield (templates[target] + 4 * mg.randn(32, 64)).clamp(0, 16) / 16, target


def case_mlp_sgd_momentum(mg):
    mg.manual_seed(0)
    nn = mg.nn
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10))
    optimizer = mg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
    train(mg, model, optimizer, list(images(mg, 8)), 4)


def case_dropout_and_norms_adam(mg):
    mg.manual_seed(1)
    nn = mg.nn
    model = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.Tanh(), nn.Dropout(0.3), nn.Linear(32, 16), nn.LayerNorm(16),
                          nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 10))
    optimizer = mg.optim.Adam(model.parameters(), lr=0.01)
    batches = list(images(mg, 8))
    train(mg, model, optimizer, batches, 3)
    model.eval()
    with mg.no_grad():
        for x, target in batches[:2]:
            print("right", (model(x).argmax(1) == target).float().mean().item())


def case_embedding_adamw(mg):
    """The next character of a text, from the two before it."""
    mg.manual_seed(2)
    nn, text = mg.nn, "the cat sat on the mat and the rat sat on the cat " * 3
    letters = sorted(set(text))
    codes = mg.tensor([letters.index(c) for c in text])
    pairs, target = mg.stack([codes[:-2], codes[1:-1]], 1), codes[2:]
    model = nn.Sequential(nn.Embedding(len(letters), 8), nn.Flatten(), nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, len(letters)))
    optimizer = mg.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.05)
    order = mg.randperm(len(target))
    train(mg, model, optimizer, [(pairs[part], target[part]) for part in order.split(37)], 8)


CASES = cases_in(globals())


def far_apart(want, got):
    """The lines whose numbers differ in the first four digits."""
    assert len(want) == len(got)
    numbers = [[float(line.split()[1]) for line in lines] for lines in (want, got)]
    assert all(re.fullmatch(r"(loss|right) \d+\.\d+(e-\d+)?", line) for line in want + got)
    return [pair for a, b, *pair in zip(*numbers, want, got, strict=True) if abs(a - b) > DIGITS * abs(a)]


@pytest.mark.parametrize("name", CASES)
def test_losses_are_pytorchs(name):
    want = recorded("training")[name]
    assert float(want[-1].split()[1]) < 0.75 * float(want[0].split()[1]) or want[-1].startswith("right"), "nothing was learnt"
    assert not far_apart(want, run(CASES[name], minigrad))


def test_the_record_is_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: the record is not checked against it")
    if torch.__version__.split("+")[0] != TORCH:
        pytest.skip(f"the record is PyTorch {TORCH}'s, and {torch.__version__} is installed")
    want = recorded("training")
    assert list(want) == list(CASES)
    assert not any(far_apart(want[name], run(case, torch)) for name, case in CASES.items())


@pytest.mark.parametrize("wrong", ["seed", "step"])
def test_a_wrong_training_is_found(wrong, monkeypatch):
    if wrong == "seed":
        monkeypatch.setattr(minigrad, "manual_seed", lambda seed: minigrad.random.manual_seed(seed + 1))
    else:
        update = minigrad.optim.SGD._update
        monkeypatch.setattr(minigrad.optim.SGD, "_update", lambda self, p, grad, group: update(self, p, grad * 1.001, group))
    assert far_apart(recorded("training")["mlp_sgd_momentum"], run(CASES["mlp_sgd_momentum"], minigrad))
