# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""Hooks on tensors, nodes and leaves: order, replacement, removal."""
from __future__ import annotations

import gc
import weakref

from ..harness import attempt, show, tree


def _x(mg):
    return mg.tensor([1.0, 2.0], requires_grad=True)


def tensor_hooks(mg):
    """PyTorch: test_hooks"""
    x, y = _x(mg), _x(mg)
    z = x ** 2 + x * 2 + x * y + y
    seen = []
    x.register_hook(lambda grad: seen.append(("x", grad)))
    handle = z.register_hook(lambda grad: seen.append(("z", grad)))
    z.backward(mg.ones(2), retain_graph=True)
    show(seen)
    seen.clear()
    second = z.register_hook(lambda grad: seen.append(("second", grad)))
    z.backward(mg.ones(2), retain_graph=True)
    show([name for name, _ in seen])
    seen.clear()
    second.remove()
    z.backward(mg.ones(2), retain_graph=True)
    show([name for name, _ in seen])
    handle.remove()
    handle.remove()
    seen.clear()
    z.backward(mg.ones(2), retain_graph=True)
    show([name for name, _ in seen])
    z.register_hook(lambda grad: grad + 1)
    x.grad = y.grad = None
    z.backward(mg.ones(2), retain_graph=True)
    show(x.grad, y.grad)
    z.register_hook(lambda grad: grad * 2)
    x.grad = None
    z.backward(mg.ones(2))
    show(x.grad)


def hooks_that_change(mg):
    x = _x(mg)
    order = []
    x.register_hook(lambda grad: order.append(1) or grad * 2)
    x.register_hook(lambda grad: order.append(2) or grad + 1)
    (x * 3).sum().backward()
    show(x.grad, order)
    y = _x(mg)
    y.register_hook(lambda grad: None)
    (y * 3).sum().backward()
    show(y.grad)
    for wrong in [lambda grad: 1.0, lambda grad: mg.ones(3), lambda grad: mg.ones(2, dtype=mg.float64),
                  lambda grad: "a"]:
        w = _x(mg)
        w.register_hook(wrong)
        show(attempt(lambda: (w * 3).sum().backward()), w.grad)


def hook_that_raises(mg):
    x = _x(mg)

    def fail(grad):
        raise ValueError("from hook")

    y = x * 2
    y.register_hook(fail)
    show(attempt(lambda: y.sum().backward()), x.grad)


def hooks_see_the_whole_gradient(mg):
    x = _x(mg)
    y = x * 2
    seen = []
    y.register_hook(seen.append)
    (y + y * 3).sum().backward()
    show(seen, x.grad)


def hook_writes_in_place(mg):
    x = _x(mg)
    x.register_hook(lambda grad: grad.clone().mul_(5))
    (x * 2).sum().backward()
    show(x.grad)


def hooks_and_grad(mg):
    x = _x(mg)
    seen = []
    x.register_hook(lambda grad: seen.append("x") or grad * 10)
    y = x * 2
    y.register_hook(lambda grad: seen.append("y") or grad * 100)
    show(mg.autograd.grad(y.sum(), x), seen)
    seen.clear()
    show(mg.autograd.grad((x * 2).sum(), x), seen)
    z = x * 2
    z.register_hook(lambda grad: seen.append("z") or grad * 100)
    show(mg.autograd.grad((z * z).sum(), [z, x]), seen)
    frozen = mg.ones(1)
    show(attempt(lambda: frozen.register_hook(print)))


def hooks_and_retain_grad(mg):
    x = _x(mg)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.retain_grad()
    y.register_hook(lambda grad: grad * 100)
    y.sum().backward()
    show(y.grad, x.grad)


def hooks_under_create_graph(mg):
    x = _x(mg)
    x.register_hook(lambda grad: show("hook", grad.requires_grad) or grad * 2)
    g, = mg.autograd.grad((x * x).sum(), x, create_graph=True)
    show(g, tree(g))
    show(mg.autograd.grad(g.sum(), x))


def removing_while_running(mg):
    x = _x(mg)
    seen = []
    handles = []

    def first(grad):
        seen.append("first")
        handles[1].remove()

    handles.append(x.register_hook(first))
    handles.append(x.register_hook(lambda grad: seen.append("second")))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    show(seen)


def handle_as_context(mg):
    x = _x(mg)
    seen = []
    with x.register_hook(lambda grad: seen.append(1)):
        x.sum().backward()
    x.sum().backward()
    show(seen)


def in_place_after_hook(mg):
    """PyTorch: test_hooks_inplace, test_tensor_hooks_inplace, test_grad_nonleaf_register_hook"""
    x = _x(mg)
    seen = []
    y = x * 2
    y.register_hook(lambda grad: seen.append(("before", grad)))
    y.mul_(3)
    y.register_hook(lambda grad: seen.append(("after", grad)))
    y.sum().backward()
    show(seen, x.grad)


def hooks_of_inner_tensors(mg):
    """PyTorch: test_grad_nonleaf_register_hook"""
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    steps = [x]
    for _ in range(3):
        steps.append(steps[-1] + 1)
        steps[-1].retain_grad()
    chosen = steps[-1][1]
    seen = [0]

    def hook(grad):
        seen[0] += 1

    for step in steps:
        step.register_hook(hook)
    chosen.register_hook(hook)
    chosen.backward()
    show(seen, [step.grad for step in steps])


def in_place_over_view(mg):
    """PyTorch: test_tensor_hooks_inplace_over_view, test_hooks_inplace"""
    seen = []
    x = _x(mg)
    base = x.clone()
    view = base[:1]
    base.register_hook(lambda grad: seen.append(("base before", grad)))
    view.register_hook(lambda grad: seen.append(("view before", grad)))
    view.mul_(2)
    base.register_hook(lambda grad: seen.append(("base after", grad)))
    view.register_hook(lambda grad: seen.append(("view after", grad)))
    (view.sum() + base.sum()).backward()
    for entry in seen:
        show(*entry)
    show(x.grad)


def retain_grad_over_in_place_view(mg):
    x = _x(mg)
    base = x.clone()
    base.retain_grad()
    view = base[:1]
    view.retain_grad()
    view.mul_(2)
    base.sum().backward()
    show(base.grad, view.grad, x.grad, base.retains_grad, view.retains_grad)


def node_hooks(mg):
    x = _x(mg)
    y = x * 2
    seen = []
    handle = y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.append((grad_inputs, grad_outputs)))
    y.sum().backward(retain_graph=True)
    show(seen)
    handle.remove()
    y.sum().backward(retain_graph=True)
    show(len(seen), x.grad)
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_inputs[0] * 10, None))
    x.grad = None
    y.sum().backward()
    show(x.grad)


def node_hooks_refused(mg):
    x = _x(mg)
    for wrong in [lambda i, o: 1.0, lambda i, o: (mg.ones(2),) * 3, lambda i, o: i[0]]:
        y = x * 2
        y.grad_fn.register_hook(wrong)
        show(attempt(lambda: y.sum().backward()))


def node_prehooks(mg):
    """PyTorch: test_grad_fn_prehooks, test_grad_fn_prehooks_multiple_outputs, test_grad_fn_prehooks_remove_hooks"""
    x = _x(mg)
    y = x.clone()
    order = []
    y.grad_fn.register_prehook(lambda grads: order.append("pre 1") or (grads[0] * 2,))
    y.grad_fn.register_prehook(lambda grads: order.append("pre 2") or (grads[0] * 2,))
    y.sum().backward()
    show(x.grad, order)
    b = mg.tensor([[1.0, 3.0], [2.0, 0.5]], requires_grad=True)
    values, indices = b.max(1)
    b_handle = values.grad_fn.register_prehook(lambda grads: show("pre", grads) or (grads[0] * 2,))
    values.sum().backward(retain_graph=True)
    show(b.grad)
    b_handle.remove()
    b.grad = None
    values.sum().backward()
    show(b.grad)


def hooks_of_a_node_that_is_only_captured(mg):
    """A node whose gradient is asked for, but which need not run: its tensor's hooks are called, its own are not."""
    x, calls = mg.tensor([1.0, 2.0], requires_grad=True), []
    y = x * 2
    z = (y * y).sum()
    y.register_hook(lambda grad: calls.append("tensor"))
    y.grad_fn.register_prehook(lambda grads: calls.append("pre") or (grads[0] * 10,))
    y.grad_fn.register_hook(lambda ins, outs: calls.append("post"))
    for inputs in (y, [y, x], x):
        show(mg.autograd.grad(z, inputs, retain_graph=True), calls)
        calls.clear()


def a_node_called_by_hand(mg):
    """What a node is called with must be tensors, one for each of its outputs; None stands for no gradient."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    node, several = (x * 3).grad_fn, x.unbind()[0].grad_fn
    show(node(mg.ones(2)), node(None), several(mg.tensor(1.0), None), several(None, None))
    for arguments in (("a",), (1.0,), (), (mg.ones(2), mg.ones(2))):
        show(attempt(lambda: node(*arguments)))
    show(attempt(lambda: several(mg.tensor(1.0), "b")), attempt(lambda: several(mg.tensor(1.0))))


def prehooks_removed_while_running(mg):
    """PyTorch: test_grad_fn_prehooks_remove_hooks"""
    for remover in ["earlier", "later", "itself"]:
        x = _x(mg)
        y = x.clone()
        order, handles = [], {}

        def hook(name):
            def run(grads):
                order.append(name)
                target = {"earlier": ("c", "a"), "later": ("a", "c"), "itself": ("b", "b")}[remover]
                if name == target[0] and target[1] in handles:
                    handles.pop(target[1]).remove()
            return run

        for name in "abc":
            handles[name] = y.grad_fn.register_prehook(hook(name))
        y.sum().backward(retain_graph=True)
        order.append("again")
        y.sum().backward()
        show(remover, order)


def order_of_all_kinds(mg):
    """PyTorch: test_hook_ordering (tensor, pre, post, retain_grad)"""
    x = _x(mg)
    y = x * 2
    order = []
    y.grad_fn.register_hook(lambda i, o: order.append("node post"))
    y.grad_fn.register_prehook(lambda o: order.append("node pre"))
    y.register_hook(lambda grad: order.append("tensor"))
    y.retain_grad()
    x.register_hook(lambda grad: order.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda tensor: order.append("leaf post"))
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda grads: order.append("accumulate pre"))
    accumulate.register_hook(lambda i, o: order.append("accumulate post"))
    y.sum().backward()
    show(order)


def post_accumulate(mg):
    """PyTorch: test_post_accumulate_grad_hook_on_non_leaf, test_post_accumulate_grad_hook_multiple_hooks"""
    x = _x(mg)
    seen = []
    handle = x.register_post_accumulate_grad_hook(lambda tensor: seen.append((tensor is x, tensor.grad.clone())))
    x.register_post_accumulate_grad_hook(lambda tensor: setattr(tensor, "grad", None))
    (x * 3).sum().backward()
    show(seen, x.grad)
    handle.remove()
    (x * 3).sum().backward()
    show(len(seen), x.grad)
    show(mg.autograd.grad((x * 3).sum(), x), len(seen))
    show(attempt(lambda: (x * 2).register_post_accumulate_grad_hook(print)))
    y = _x(mg)
    y.register_post_accumulate_grad_hook(lambda tensor: 5)
    show(attempt(lambda: (y * 3).sum().backward()))


def post_accumulate_is_cleaned_up(mg):
    """PyTorch: test_post_accumulate_grad_hook_gets_cleaned_up"""
    class Thing:
        pass

    def register():
        thing = Thing()
        x = _x(mg)
        x.register_post_accumulate_grad_hook(lambda tensor, kept=thing: None)
        (x * 2).sum().backward()
        return weakref.ref(thing)

    ref = register()
    gc.collect()
    show(ref() is None)


def post_accumulate_steps(mg):
    x = _x(mg)

    def step(tensor):
        with mg.no_grad():
            tensor -= 0.5 * tensor.grad
        tensor.grad = None

    x.register_post_accumulate_grad_hook(step)
    for _ in range(2):
        (x * x).sum().backward()
    show(x, x.grad, x._version)


def multi_grad_hooks(mg):
    """PyTorch: test_multi_grad_all_hooks, test_multi_grad_any_hooks, test_multi_grad_hooks,
    test_multi_grad_hooks_invalid_mode
    """
    graph = mg.autograd.graph
    a, b, c = _x(mg), _x(mg), _x(mg)
    seen = []
    handle = graph.register_multi_grad_hook((a, b, c), lambda grads: seen.append(grads))
    ((a * b) * 2).sum().backward()
    show(seen)
    seen.clear()
    (a * b * c).sum().backward()
    show(len(seen))
    handle.remove()
    (a * b * c).sum().backward()
    show(len(seen))
    any_handle = graph.register_multi_grad_hook((a, b), lambda grad: seen.append(grad), mode="any")
    seen.clear()
    (a * b).sum().backward()
    show(len(seen))
    any_handle.remove()
    show(attempt(lambda: graph.register_multi_grad_hook((a,), lambda grads: None, mode="some")))


def hooks_on_leaves_survive_in_graphs(mg):
    x = _x(mg)
    y = x * 2
    x.register_hook(lambda grad: grad * 5)
    y.sum().backward()
    show(x.grad)
    x.requires_grad_(False)
    x.requires_grad_(True)
    (x * 2).sum().backward()
    show(x.grad)


def hook_on_a_view_of_a_leaf(mg):
    x = _x(mg)
    v = x[0]
    v.register_hook(lambda grad: grad * 7)
    v.backward()
    show(x.grad)


def hooks_are_not_copied(mg):
    x = _x(mg)
    seen = []
    x.register_hook(lambda grad: seen.append("x"))
    y = x.detach().requires_grad_()
    y.sum().backward()
    z = x.clone()
    z.sum().backward()
    show(seen, x.grad, y.grad)


def nonleaf_hook_in_nested_backward(mg):
    """PyTorch: test_reentrant_with_non_leaf_variable_hook"""
    inner = mg.ones(2, requires_grad=True)
    x = _x(mg)
    y = x * 2

    def hook(grad):
        with mg.enable_grad():
            (inner * inner).sum().backward()
        return grad * inner.grad

    y.register_hook(hook)
    y.sum().backward()
    show(x.grad, inner.grad)


def module_hooks(mg):
    """PyTorch: test_full_backward_hook_double_backward"""
    x = mg.tensor([[1.0, 2.0]], dtype=mg.float64, requires_grad=True)
    loss = mg.nn.MSELoss()
    seen = []
    loss.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append((grad_in, grad_out)))
    y = loss(x, mg.zeros(1, 2, dtype=mg.float64))
    g, = mg.autograd.grad(y, x, create_graph=True)
    show(len(seen), seen[0] if seen else None)
    g.sum().backward()
    show(x.grad, len(seen))


def many_leaves_at_once(mg):
    """Leaves that get their gradients together leave the engine's heap in an order of its own."""
    seen = []
    for n in (3, 4, 6, 9):
        xs = [mg.ones(1, requires_grad=True) for _ in range(n)]
        for i, x in enumerate(xs):
            x.register_hook(lambda grad, i=i: seen.append(i))
        for run in (lambda: mg.stack(xs).sum().backward(), lambda: (mg.cat(xs) * mg.cat(xs[::-1])).sum().backward(),
                    lambda: mg.autograd.backward([*[x * 2 for x in xs], *xs]), lambda: mg.autograd.grad(mg.stack(xs).sum(), xs[1:]),
                    lambda: (mg.stack(xs) * mg.stack([x * 2 for x in xs])).sum().backward(inputs=xs[::2])):
            run()
            show(seen)
            seen.clear()
