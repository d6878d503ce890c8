"""The nine examples of the article that the suite grew out of, to the letter."""
from __future__ import annotations

import re

from ..harness import attempt, show, tree


def _flagged(mg, x_flag=False, y_flag=False):
    return mg.tensor([2.0], requires_grad=x_flag), mg.tensor([3.0], requires_grad=y_flag)


def example_1_requires_grad_at_creation(mg):
    x = mg.tensor([2.0], requires_grad=True)
    print(x, x.requires_grad, x.is_leaf, x.grad_fn, x.grad)
    print(mg.tensor([2.0]), mg.tensor([2.0]).requires_grad)
    print(repr(mg.tensor([2.0], requires_grad=False)), type(x).__name__, x.dtype, x.shape, x.device, x.layout)


def example_2_requires_grad_changed_later(mg):
    x = mg.tensor([2.0], requires_grad=True)
    print(x.requires_grad_(False) is x, x.requires_grad, x)
    x.requires_grad = True
    print(x.requires_grad, x)
    x.requires_grad = False
    print(x.requires_grad, x)
    print(x.requires_grad_(), x.requires_grad)


def example_2_refused_on_a_computed_tensor(mg):
    x = mg.tensor([2.0], requires_grad=True)
    z = x * 2
    show(attempt(lambda: z.requires_grad_(False)))
    show(attempt(lambda: setattr(z, "requires_grad", False)))
    show(attempt(lambda: setattr(z, "requires_grad", True)))
    print(z.requires_grad_(True) is z, z.requires_grad, z)
    free = (x.detach() * 2)
    free.requires_grad = True
    print(free, free.is_leaf)


def example_3_propagation(mg):
    for flags in [(False, False), (True, False), (False, True), (True, True)]:
        x, y = _flagged(mg, *flags)
        z = x * y
        print(*flags, z.requires_grad, z.is_leaf, z)


def example_4_grad_fn(mg):
    for flags, operation in [((False, False), lambda x, y: x * y), ((True, False), lambda x, y: x / y),
                             ((False, True), lambda x, y: x + y), ((True, True), lambda x, y: x - y),
                             ((True, True), lambda x, y: x * y), ((True, True), lambda x, y: x ** 2),
                             ((True, True), lambda x, y: -x), ((True, True), lambda x, y: x @ y)]:
        x, y = _flagged(mg, *flags)
        z = operation(x, y)
        print(*flags, z, z.shape, z.requires_grad, z.grad_fn)
        if z.grad_fn is not None:
            print(" ", z.grad_fn.name(), re.sub("0x[0-9a-f]+", "0x…", str(z.grad_fn.next_functions)))
            print(" ", tree(z, {id(x): "x", id(y): "y"}))


def example_4_one_accumulate_grad_a_leaf(mg):
    x, y = _flagged(mg, True, True)
    a, b = x * y, x + 1
    print(a.grad_fn.next_functions[0][0] is b.grad_fn.next_functions[0][0])
    print(a.grad_fn.next_functions[0][0] is a.grad_fn.next_functions[1][0])
    print(a.grad_fn.next_functions[0][0].variable is x, a.grad_fn is a.grad_fn, x.grad_fn)
    node, number = b.grad_fn.next_functions[0]
    print(type(node).__name__, node.name(), node, number, node.next_functions)


def example_5_no_grad(mg):
    x, y = _flagged(mg, True, True)
    with mg.no_grad():
        z = x + y
        print(mg.is_grad_enabled(), x.requires_grad, z.requires_grad, z.grad_fn, z.is_leaf, z)
        w = mg.tensor([1.0], requires_grad=True)
        print(w.requires_grad, (w * 2).requires_grad)
    print(mg.is_grad_enabled(), z.requires_grad, (z * 2).requires_grad, (z * x).requires_grad)


def example_6_backward_outside_the_graph(mg):
    x, y = _flagged(mg, True, True)
    with mg.no_grad():
        z = x + y
    show(attempt(z.backward))
    show(attempt(_flagged(mg)[0].backward))
    print(x.grad, y.grad)


def example_7_is_leaf(mg):
    x = mg.tensor([2.0], requires_grad=True)
    linear = mg.nn.Linear(1, 1)
    y = x * 2
    print(x.is_leaf, linear.weight.is_leaf, linear.bias.is_leaf, y.is_leaf)
    print(linear, repr(linear), linear.weight.requires_grad, type(linear.weight).__name__, linear.weight.shape,
          linear.bias.shape)
    print(mg.tensor([1.0]).is_leaf, (mg.tensor([1.0]) * 2).is_leaf, x.detach().is_leaf, y.detach().is_leaf)
    print(linear(x).grad_fn, tree(linear(x), {id(x): "x", id(linear.weight): "weight", id(linear.bias): "bias"}))


def example_8_retain_grad(mg):
    x = mg.tensor([2.0], requires_grad=True)
    y = x**2
    z = y**2
    t = z**2
    print(x, y, z, t)
    print(z.retains_grad, y.retains_grad, x.retains_grad)
    print(z.retain_grad(), z.retains_grad)
    t.backward()
    print(x.grad)
    print(y.grad)
    print(z.grad, t.is_leaf, z.is_leaf)
    show(attempt(mg.tensor([2.0]).retain_grad))
    print(x.retain_grad(), x.retains_grad)


def example_9_detach(mg):
    x = mg.tensor([2.0], requires_grad=True)
    y = x.detach()
    z_1 = y**2
    z_2 = x**2
    print(x, y, y.requires_grad, y.grad_fn, y.is_leaf)
    print(z_1.requires_grad, z_1.grad_fn, z_2.requires_grad, z_2.grad_fn)
    show(attempt(z_1.backward))
    z_2.backward()
    print(x.grad, y.grad)
    print(id(x) == id(y), x.storage().data_ptr() == y.storage().data_ptr())
    print(x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr(), x.data_ptr() == y.data_ptr())


def example_9_writing_through_detach(mg):
    x = mg.tensor([2.0], requires_grad=True)
    y = x.detach()
    z = x**2
    print(x._version, y._version)
    y.zero_()
    print(x, y, x._version, y._version)
    show(attempt(z.backward))
    print(x.grad)
