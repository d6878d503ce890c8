"""Corners of operations that PyTorch's own samples (``python -m tests.peers opinfo``) showed to be different once."""
from __future__ import annotations

from ..harness import attempt, show, tree


def whole_numbers_from_fractions(mg):
    for args in ((0.0, -8.000001, -4.0), (-0.9, 2.1, 2.0), (2.1, -2.9, -1.0), (3.1,), (1.9, 5.5), (-1, 1.5, 0.7)):
        show(args, attempt(lambda args=args: mg.arange(*args, dtype=mg.int64)))
    show(attempt(lambda: mg.arange(0, float("inf"))), attempt(lambda: mg.arange(float("-inf"), 1)))
    show(mg.ones(2, 2).new_full((2,), 3, device="cpu"), mg.scalar_tensor(2, device="cpu"), mg.logspace(0, 1, 2, device="cpu"))


def factors_of_whole_numbers(mg):
    a, m, v = mg.arange(3), mg.arange(6).reshape(3, 2), mg.tensor([1, 2])
    show(mg.addmv(a, m, v, beta=1.7, alpha=2.6), mg.addmm(a.reshape(3, 1), m, v.reshape(2, 1), beta=1.7, alpha=2.6),
         mg.baddbmm(a.reshape(1, 3, 1), m[None], v.reshape(1, 2, 1), beta=0.2, alpha=0.6))


def _index(mg, *shape):
    return mg.zeros(shape, dtype=mg.int64)


def scatter_shapes(mg):
    for self in (mg.zeros(3, 4), mg.zeros(5), mg.zeros(())):
        for source in ((), (6,), (1,), (2, 3), (1, 1, 1)):
            for index in ((1,), (3,), (1, 1), (2, 3), (2, 5)):
                if len(index) == max(self.ndim, 1):
                    show(self.shape, source, index,
                         attempt(lambda s=self, n=source, i=index: s.scatter(0, _index(mg, *i), mg.ones(n))))
    show(attempt(lambda: mg.zeros(3, 4).scatter(0, _index(mg, 2, 5), 1.0)), attempt(lambda: mg.zeros(3, 4).gather(0, _index(mg, 2, 5))))
    show(mg.tensor(1.0).scatter_add(0, _index(mg, 3), mg.tensor([1.0, 2.0, 3.0])), mg.zeros(3).scatter(0, _index(mg), mg.tensor(2.0)))
    show(attempt(lambda: mg.zeros(2).scatter_add(0, _index(mg, 1), mg.ones(1, dtype=mg.float64))))


def scatter_that_adds_or_multiplies(mg):
    x = mg.arange(4.0, requires_grad=True)
    index = mg.tensor([0, 0, 1])
    y = x.scatter(0, index, mg.tensor([2.0, 3.0, 4.0]), reduce="multiply")
    show(y, x.detach().scatter(0, index, 5.0, reduce="add"), mg.arange(4).scatter(0, index, 2.7, reduce="add"))
    show(attempt(lambda: y.sum().backward()), attempt(lambda: x.scatter(0, index, 1.0, reduce="mean")))
    z = x.detach().clone()
    show(z.scatter_(0, index, 2.0, reduce="add") is z, z, z._version)


def indices_of_nothing(mg):
    x, nothing = mg.arange(5.0, requires_grad=True), mg.zeros(0, requires_grad=True)
    y, z = x.gather(0, _index(mg, 2, 0)), nothing.take(_index(mg, 0))
    show(y, z, mg.autograd.grad(y.sum(), x), mg.autograd.grad(z.sum(), nothing), mg.tensor(3.0).gather(0, _index(mg, 2)))
    show(attempt(lambda: mg.ones(3).masked_scatter(mg.ones(3), mg.ones(3))))
    show(mg.ones(2).masked_scatter(mg.tensor([[True, False]] * 3), mg.arange(6.0)).stride())


def dims_and_sections(mg):
    x, five = mg.ones(1, 1, requires_grad=True), mg.arange(5.0)
    show(x.squeeze(()), five.tensor_split(mg.tensor(2)), five.tensor_split(mg.tensor([1, 3])))
    for sections in (mg.tensor([[1, 3]]), mg.tensor([1.0, 3.0]), 0):
        show(attempt(lambda sections=sections: five.tensor_split(sections)))
    table = mg.arange(6.0).reshape(2, 3)
    for args in ((1, (0, 1)), ((), 0), ((1, 2),), ((1, 2), 1), (1, 5)):
        show(args, attempt(lambda args=args: table.roll(*args)))


def one_stands_for_many(mg):
    a, b = mg.ones(1, 1, 2, requires_grad=True), mg.arange(4.0).reshape(2, 1, 2).requires_grad_()
    y = mg.tensordot(a, b, ([0, 1], [2, 0]))
    show(y.shape, y.detach(), mg.autograd.grad(y.sum(), (a, b)))


def gradients_of_gradients(mg):
    x, y = mg.tensor([0.5, 0.0], requires_grad=True), mg.tensor([2.0, -1.0], requires_grad=True)
    grad, = mg.autograd.grad(mg.xlogy(x, y).sum(), x, create_graph=True)
    show(grad, tree(grad))
