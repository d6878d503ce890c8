"""What is kept, and what it costs, counted in bytes and calls: no clock is read, so that a busy machine says the same."""
from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref

import pytest

import minigrad as mg

MB = 2 ** 20


@pytest.fixture
def traced():
    """How many bytes are allocated now."""
    gc.collect()
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()


def chain(n):
    x = mg.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(n // 2):
        y = y * 1.0
        y = y + 0.0
    return x, y


def test_a_chain_of_a_million_runs_backward_and_is_freed():
    gc.disable()    # it would look through everything again and again, also what other tests left
    try:
        x, y = chain(1_000_000)
        last = weakref.ref(y.grad_fn)
        y.backward()
        assert x.grad.item() == 1.0
        del x, y    # a recursive destructor would end the process here
        assert last() is None
    finally:
        gc.enable()


def test_a_node_costs_the_same_memory_in_a_longer_chain(traced):
    chain(10_000)       # Python and NumPy keep some freed memory for themselves
    sizes = []
    for n in (10_000, 20_000, 30_000):
        before = traced()
        kept = chain(n)
        sizes.append(traced() - before)
        del kept
        assert traced() - before < 30 * n
    few, some, many = sizes
    assert many - some == pytest.approx(some - few, rel=0.05) and some - few < 700 * 10_000


def test_a_node_costs_the_same_calls_in_a_longer_chain():
    def calls(n):
        x, y = chain(n)
        count = 0

        def profile(frame, event, argument):
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(profile)
        try:
            y.backward()
            del x, y
        finally:
            sys.setprofile(None)
        return count

    calls(10)
    few, some, many = map(calls, (1000, 2000, 3000))
    assert many - some == pytest.approx(some - few, abs=10) and some - few < 40 * 1000


def test_saved_tensors_are_freed_while_backward_runs(traced):
    layers, x = 40, mg.full((256, 1024), 0.5, requires_grad=True)      # 1 MB each
    held = {}
    before = traced()
    y = x
    for i in range(layers):
        y = y.tanh()
        y.register_hook(lambda grad, i=i: held.__setitem__(i, traced() - before))
    loss = y.sum()
    del y
    forward = traced() - before
    assert layers * MB <= forward < (layers + 2) * MB
    tracemalloc.reset_peak()
    loss.backward()
    assert tracemalloc.get_traced_memory()[1] - before < forward + 5 * MB
    for i in range(layers):             # what the layers above had saved is gone by then
        assert held[i] < (i + 5) * MB
    assert traced() - before < 2 * MB and loss.grad_fn is not None      # the gradient of x, although the loss keeps its graph


def test_retain_graph_keeps_them(traced):
    x = mg.full((256, 1024), 0.5, requires_grad=True)
    before = traced()
    loss = x.tanh().tanh().tanh().sum()
    loss.backward(retain_graph=True)
    assert traced() - before >= 4 * MB
    loss.backward()
    assert traced() - before < 2 * MB


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("look", [
    lambda x: x.detach(), lambda x: x.data, lambda x: x.view(-1), lambda x: x.reshape(1024, 256), lambda x: x.t(), lambda x: x.T,
    lambda x: x[1:, ::2], lambda x: x[3], lambda x: x.permute(1, 0), lambda x: x.unsqueeze(0).squeeze(0), lambda x: x.flatten(),
    lambda x: x.expand(7, 256, 1024), lambda x: x.split(64), lambda x: x.chunk(4, 1), lambda x: x.unbind(), lambda x: x.diagonal(),
    lambda x: x.narrow(0, 2, 9), lambda x: x.select(1, 5), lambda x: x.view_as(x), lambda x: x.movedim(0, 1), lambda x: x.contiguous(),
    lambda x: x.float(), lambda x: x.to(mg.float32), lambda x: x.detach().numpy(), lambda x: mg.from_numpy(x.detach().numpy()),
    lambda x: mg.broadcast_to(x, (3, 256, 1024)), lambda x: x.unfold(1, 4, 2), lambda x: x.requires_grad_(x.requires_grad)])
def test_a_view_copies_nothing(traced, look, requires_grad):
    x = mg.zeros(256, 1024, requires_grad=requires_grad)
    look(x)         # what is compiled at first use
    before = traced()
    tracemalloc.reset_peak()
    kept = look(x)
    assert tracemalloc.get_traced_memory()[1] - before < MB // 4 and kept is not None


def test_a_copy_would_be_noticed(traced):
    x = mg.zeros(256, 1024)
    before = traced()
    kept = x.clone()
    assert traced() - before >= MB and kept is not x
