"""The random stream is PyTorch's: equal to the bit wherever it can be, and always as many words long."""
from __future__ import annotations

import numpy as np
import pytest

import minigrad
from tests.recorded import cases_in, differences_from_pytorch, recorded
from tests.truth.harness import attempt, compare, run, show


def bits(tensor) -> str:
    """The elements exactly, as integers; no last digit may differ."""
    values = np.array(tensor.tolist(), dtype=str(tensor.dtype).removeprefix("torch."))
    return str(values.view(f"i{values.itemsize}").tolist() if values.dtype.kind == "f" else values.tolist())


def place(mg) -> str:
    """Where the stream is: the number of words left before the twister turns, and the spare normal number."""
    state = bytes(mg.get_rng_state().tolist())
    return f"left {int.from_bytes(state[8:12], 'little')} spare {state[5040]} {hash_of(state)}"


def hash_of(state: bytes) -> int:
    return sum((i + 1) * byte for i, byte in enumerate(state)) % 1_000_003


def case_seeds(mg):
    for seed in (0, 1, 42, -1, 2**40 + 3, 2**63, 2**64 - 1):
        mg.manual_seed(seed)
        show(f"{seed}:", mg.initial_seed(), bits(mg.rand(2)), bits(mg.randn(3)), place(mg))
    for seed in (2**64, -2**63 - 1, "a"):
        show(attempt(lambda seed=seed: mg.manual_seed(seed)))


def case_rand(mg):
    mg.manual_seed(3)
    for dtype in (mg.float32, mg.float64, mg.float16):
        show(bits(mg.rand(2, 3, dtype=dtype)), bits(mg.rand_like(mg.ones(2, dtype=dtype))), place(mg))
        show(bits(mg.empty(4, dtype=dtype).uniform_(-0.3, 1.7)), place(mg))
    show(bits(mg.rand(())), mg.rand(0, 2).shape, mg.rand((2, 1), requires_grad=True).requires_grad)
    show(attempt(lambda: mg.rand(2, dtype=mg.int64)), attempt(lambda: mg.rand(-1)),
         attempt(lambda: mg.empty(2).uniform_(1, 0)))


def case_randn_few(mg):
    """Fewer than 16: in double precision, and the second of a pair waits."""
    mg.manual_seed(4)
    show(bits(mg.randn(5)), place(mg), bits(mg.randn(2, 2)), place(mg))
    show(bits(mg.randn(15, dtype=mg.float64)), bits(mg.randn_like(mg.ones(3))), place(mg))
    show(bits(mg.empty(6, 5).t().normal_(1.0, 2.0)), place(mg))


def case_randn_many(mg):
    """16 and more: in blocks, the last one drawn anew."""
    mg.manual_seed(5)
    for n in (16, 17, 40):
        show(mg.randn(n), place(mg))
    show(mg.randn(17, dtype=mg.float64), mg.empty(20).normal_(1.0, 2.0), place(mg))


def case_normal(mg):
    mg.manual_seed(6)
    show(mg.normal(mg.zeros(3), mg.ones(3) * 2), mg.normal(0.5, mg.ones(2)), mg.normal(mg.ones(2), 0.25),
         mg.normal(0.5, 2.0, (3,)))
    show(place(mg), attempt(lambda: mg.normal(mg.zeros(2), -mg.ones(2))), attempt(lambda: mg.empty(2).normal_(0, -1)),
         attempt(lambda: mg.empty(2, dtype=mg.int64).normal_()))


def case_integers(mg):
    mg.manual_seed(7)
    show(bits(mg.randint(10, (5,))), bits(mg.randint(-5, 10, (2, 2))), bits(mg.randint(2**40, (2,))),
         bits(mg.randint(high=3, size=(2,))))
    show(mg.randint(3, (2,), dtype=mg.float32), bits(mg.randint_like(mg.ones(3), 1, 9)), place(mg))
    for dtype in (mg.int64, mg.int32, mg.int16, mg.int8, mg.uint8, mg.bool, mg.float64, mg.float32):
        show(bits(mg.empty(3, dtype=dtype).random_()), place(mg))
    show(bits(mg.empty(3).random_(5)), bits(mg.empty(3).random_(5, 9)), attempt(lambda: mg.empty(3).random_(5, 5)))
    show(attempt(lambda: mg.randint(5, 5, (2,))), attempt(lambda: mg.randint(300, (2,), dtype=mg.uint8)))


def case_randperm(mg):
    mg.manual_seed(8)
    for n in (0, 1, 2, 30):
        show(mg.randperm(n), place(mg))
    show(mg.randperm(3, dtype=mg.int32), attempt(lambda: mg.randperm(-1)))


def case_bernoulli(mg):
    mg.manual_seed(9)
    for dtype in (mg.float32, mg.float64):
        p = mg.full((20,), 0.3, dtype=dtype)
        show(bits(mg.bernoulli(p)), bits(mg.empty(20, dtype=dtype).bernoulli_(0.3)),
             bits(mg.empty(20, dtype=dtype).bernoulli_(p)), place(mg))
    show(bits(mg.bernoulli(mg.ones(20), 0.3)), bits(mg.empty(20, dtype=mg.int64).bernoulli_()), place(mg))
    show(attempt(lambda: mg.bernoulli(mg.tensor([2.0]))), attempt(lambda: mg.empty(2).bernoulli_(2)),
         attempt(lambda: mg.bernoulli(mg.tensor([1]))))


def case_in_place_is_an_operation(mg):
    leaf = mg.ones(2, requires_grad=True)
    for name in ("uniform_", "normal_", "bernoulli_", "random_"):
        show(attempt(getattr(leaf, name)))
        x = leaf * 3
        getattr(x, name)()
        grad, = mg.autograd.grad(x.sum(), leaf)
        show(type(x.grad_fn).__name__.rstrip("0123"), x._version, grad)


def case_state(mg):
    mg.manual_seed(10)
    mg.randn(3)
    state = mg.get_rng_state()
    first = bits(mg.randn(3)), bits(mg.rand(700))
    mg.set_rng_state(state)
    show(first == (bits(mg.randn(3)), bits(mg.rand(700))), place(mg), state.dtype, state.shape)
    show(attempt(lambda: mg.set_rng_state(mg.zeros(3))), attempt(lambda: mg.set_rng_state(mg.zeros(3, dtype=mg.uint8))))
    mg.manual_seed(10)
    mg.rand(624)
    show(place(mg), bits(mg.rand(1)), place(mg))


def case_generator(mg):
    generator, twin = mg.Generator(), mg.Generator()
    show(generator.initial_seed(), generator.manual_seed(1) is generator, generator.initial_seed())
    mg.manual_seed(0)
    before = place(mg)
    show(bits(mg.rand(2, generator=generator)), bits(mg.empty(2).normal_(generator=generator)),
         bits(mg.randperm(4, generator=generator)))
    show(before == place(mg))
    twin.set_state(generator.get_state())
    show(bits(mg.randn(3, generator=twin)) == bits(mg.randn(3, generator=generator)))


def case_layers(mg):
    """Linear, Embedding and dropout draw as PyTorch's do."""
    mg.manual_seed(11)
    layer = mg.nn.Linear(3, 2)
    show(bits(layer.weight), bits(layer.bias), bits(mg.nn.Linear(4, 1, bias=False).weight))
    show(bits(mg.nn.Embedding(3, 2, padding_idx=1).weight), bits(mg.nn.functional.dropout(mg.ones(12), 0.3)), place(mg))


CASES = cases_in(globals())


@pytest.mark.parametrize("name", CASES)
def test_draws_what_pytorch_drew(name):
    assert not compare(recorded("random")[name], run(CASES[name], minigrad))


def test_the_record_is_pytorch():
    assert not differences_from_pytorch("random", CASES)


def test_a_wrong_stream_is_found(monkeypatch):
    monkeypatch.setattr(minigrad.random.Generator, "draw", lambda self, n, bits=32: np.zeros(n, np.uint64))
    assert compare(recorded("random")["rand"], run(CASES["rand"], minigrad))


def test_seed_begins_a_new_stream():
    first, second = minigrad.random.seed(), minigrad.random.seed()
    assert first != second == minigrad.initial_seed()
