"""The engine: depth, memory, order, who owns a gradient. What PyTorch says in each case is recorded in tests/truth."""
import gc
import threading
import weakref

import numpy as np
import pytest

import minigrad as mg
from minigrad import engine
from minigrad.engine import can_sum_to, sum_to_size


def chain(x, n):
    for _ in range(n // 2):
        x = x * 1.0
        x = x + 0.5
    return x


def test_a_long_chain_runs_backward_and_is_freed_without_recursion():
    x = mg.tensor([1.0], requires_grad=True)
    y = chain(x, 100_000)
    last = weakref.ref(y.grad_fn)
    y.backward()
    assert x.grad.item() == 1.0
    del y
    assert last() is None


def test_saved_tensors_are_freed_as_the_pass_goes():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    a = x * 1
    array = weakref.ref(a.array)
    y = (a * a).sum() + a.exp().sum()
    del a
    assert array() is not None
    y.backward()
    assert array() is None


def test_a_training_loop_leaves_no_cycles_behind():
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def step():
        w.grad = None
        data = mg.tensor([1.0, 2.0], requires_grad=True)
        loss = ((w * data).exp().tanh()[0:1] ** 2).sum()
        loss.register_hook(lambda grad: grad)
        loss.retain_grad()
        part = w * 1
        part[0].mul_(2)
        (loss + part.sum()).backward()

    gc.collect()
    gc.disable()
    try:
        step()
        before = len(gc.get_objects())
        for _ in range(50):
            step()
        assert len(gc.get_objects()) - before < 50
    finally:
        gc.enable()


def test_leaves_never_share_a_gradient_buffer():
    x, y = mg.ones(2, requires_grad=True), mg.ones(2, requires_grad=True)
    seed = mg.ones(2)
    (x + y).backward(seed)
    arrays = [x.grad.array, y.grad.array, seed.array]
    for i, a in enumerate(arrays):
        for b in arrays[i + 1:]:
            assert not np.shares_memory(a, b)


@pytest.mark.parametrize("case", ["the user's", "a view of the user's", "a hook's", "retained", "another leaf's", "an input's"])
def test_a_leaf_keeps_no_view_of_what_others_hold(case):
    """A transposed gradient becomes ``.grad`` as it is only if nobody else looks into its memory."""
    w, v = mg.zeros(3, 4, requires_grad=True), mg.zeros(4, 3, requires_grad=True)
    if case == "the user's":
        held = mg.ones(4, 3)
        w.t().backward(held)
    elif case == "a view of the user's":
        held = mg.from_numpy(np.ones((3, 4), np.float32).T)
        w.t().backward(held)
    else:
        inner = w.t() + v
        found = []
        inner.register_hook(found.append) if case == "a hook's" else inner.retain_grad() if case == "retained" else None
        (inner.t() * mg.ones(3, 4)).sum().backward(inputs=[w, v, inner] if case == "an input's" else None)
        held = found[0] if found else v.grad if case == "another leaf's" else inner.grad
    assert not np.shares_memory(w.grad.array, held.array)
    held.add_(5)
    assert w.grad.tolist() == [[1.0] * 4] * 3


def test_a_weights_gradient_is_not_copied():
    weight, x = mg.zeros(3, 4, requires_grad=True), mg.ones(2, 4)
    (x @ weight.t()).sum().backward()
    assert weight.grad.is_contiguous() and weight.grad.array.base is not None      # the product itself, transposed back
    assert weight.grad.tolist() == [[2.0] * 4] * 3


def test_an_expanded_gradient_is_stored_in_full():
    x = mg.ones(2, 3, requires_grad=True)
    x.sum().backward()
    x.grad.add_(1)      # would be refused on overlapping memory
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_large_contributions_are_added_in_place_but_only_into_our_own_buffer():
    x = mg.ones(1000, requires_grad=True)
    y = x * 1
    (y + y + y + y).sum().backward()
    assert (x.grad.array == 4).all()


def test_nodes_run_once_in_reverse_order_of_creation_and_accumulators_first():
    order = []
    x = mg.tensor([1.0], requires_grad=True)
    a = x * 2
    b = x * 3
    c = a + b
    for name, t in {"a": a, "b": b, "c": c, "x": x}.items():
        t.register_hook(lambda grad, name=name: order.append(name))
    c.backward()
    assert order == ["c", "b", "a", "x"]


def test_sum_to_size_undoes_broadcasting():
    assert sum_to_size(np.ones((2, 3, 4)), (3, 1)).tolist() == [[8.0]] * 3
    assert can_sum_to((2, 3), (1, 3)) and not can_sum_to((2, 3), (2,)) and not can_sum_to((3,), (2, 3))


def test_grad_mode_belongs_to_a_thread():
    inside, results = threading.Event(), []

    def work():
        inside.wait()
        results.append((mg.tensor([1.0], requires_grad=True) * 2).requires_grad)

    thread = threading.Thread(target=work)
    thread.start()
    with mg.no_grad():
        inside.set()
        thread.join()
        assert not (mg.tensor([1.0], requires_grad=True) * 2).requires_grad
    assert results == [True]


@pytest.mark.parametrize("write", [
    lambda t: t.add_(mg.ones(2, 2)), lambda t: t.mul_("a"), lambda t: t.copy_(mg.ones(3)), lambda t: t.__setitem__(5, 1.0),
    lambda t: t.__setitem__(0, mg.ones(3))])
def test_an_in_place_operation_that_raises_changes_nothing(write):
    t = mg.tensor([1.0, 2.0], requires_grad=True) * 1
    node = t.grad_fn
    with pytest.raises((RuntimeError, TypeError, IndexError)):
        write(t)
    assert t.tolist() == [1.0, 2.0] and t._version == 0 and t.grad_fn is node


def test_the_version_error_names_the_line_that_wrote():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.add_(1)
    line = test_the_version_error_names_the_line_that_wrote.__code__.co_firstlineno + 3
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead") as error:
        y.sum().backward()
    note, = error.value.__notes__
    assert f"line {line} of test_engine.py" in note and "ExpBackward0 remembered its own result" in note


def test_only_what_leads_to_the_wanted_leaf_will_run():
    x, y = (mg.ones(1, requires_grad=True) for _ in range(2))
    z, w = x * 2, y * 3
    seen = []
    z.register_hook(lambda grad: seen.append([engine.current_pass().will_run(node) for node in (z.grad_fn, w.grad_fn)]))
    loss = (z * w).sum()
    mg.autograd.grad(loss, x, retain_graph=True)
    loss.backward()
    assert seen == [[True, False], [True, True]]
