# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""Result types: tensors with tensors, with numbers, in reductions, in place."""
from __future__ import annotations

import itertools

import numpy as np

from ..harness import attempt, show

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def pairs(mg):
    for a, b in itertools.product(NAMES, NAMES):
        x, y = mg.ones(1, dtype=getattr(mg, a)), mg.ones(1, dtype=getattr(mg, b))
        show(a, b, (x + y).dtype, (x / y).dtype, (x + y[0]).dtype, mg.promote_types(x.dtype, y.dtype),
             mg.result_type(x, y[0]))


def with_numbers(mg):
    for name in NAMES:
        x = mg.ones(2, dtype=getattr(mg, name))
        show(name, (x + 1).dtype, (x * 1.5).dtype, attempt(lambda: (x + True).dtype), (x / 2).dtype,
             attempt(lambda: (x // 2).dtype), attempt(lambda: (x ** 2).dtype), (x[0] * 1.5).dtype,
             attempt(lambda: (2 ** x).dtype))


def functions(mg):
    for name in NAMES:
        x = mg.ones(2, dtype=getattr(mg, name))
        show(name, *[attempt(lambda op=op: getattr(mg, op)(x).dtype) for op in
                     ["exp", "sqrt", "sin", "abs", "neg", "sign", "floor", "sum", "prod", "mean", "sigmoid", "relu",
                      "square"]],
             x.cumsum(0).dtype)
        show(" ", (x == x).dtype, attempt(lambda: x.max().dtype), x.argmax().dtype if name != "bool" else "",
             (x > 0).dtype,
             attempt(lambda: x.sum(dtype=mg.float64).dtype), attempt(lambda: mg.where(x > 0, x, 1.5).dtype),
             attempt(lambda: mg.cat([x, mg.ones(1)]).dtype), attempt(lambda: mg.stack([x, x]).dtype))


def factories(mg):
    show(mg.tensor(1).dtype, mg.tensor(1.0).dtype, mg.tensor(True).dtype, mg.tensor([1, 2.0]).dtype,
         mg.tensor([True, 2]).dtype, mg.tensor([]).dtype, mg.arange(3).dtype, mg.arange(3.0).dtype,
         mg.full((1,), 1).dtype, mg.full((1,), 1.0).dtype, mg.full((1,), True).dtype, mg.zeros(1).dtype,
         mg.eye(1).dtype, mg.linspace(0, 1, 2).dtype, mg.randint(3, (1,)).dtype, mg.rand(1).dtype, mg.randperm(2).dtype,
         mg.ones_like(mg.tensor(1)).dtype)
    show(mg.arange(1, 6, 2), mg.arange(0, 1, 0.25), mg.arange(5, 0, -2), mg.linspace(0, 1, 5), mg.linspace(1, 0, 1),
         mg.eye(2, 3),
         mg.full((2,), 7), mg.zeros(()), mg.ones((2, 0)), mg.zeros([2]), mg.logspace(0, 2, 3))
    show(mg.tensor(2 ** 40), mg.tensor([1.5, 2]), mg.tensor([[1, 2], [3, 4]]), mg.tensor((1, 2)), mg.tensor(range(3)),
         mg.tensor([[]]))
    show(mg.tensor([1.7], dtype=mg.int64), mg.tensor([0, 2], dtype=mg.bool), mg.tensor([300], dtype=mg.float16),
         attempt(lambda: mg.tensor([300], dtype=mg.uint8)))


def default_dtype(mg):
    show(mg.get_default_dtype())
    mg.set_default_dtype(mg.float64)
    show(mg.tensor(1.0).dtype, mg.zeros(1).dtype, (mg.tensor([1]) / 2).dtype, repr(mg.tensor([1.0])))
    mg.set_default_dtype(mg.float32)
    show(repr(mg.tensor([1.0], dtype=mg.float64)), attempt(lambda: mg.set_default_dtype(mg.int64)))


def casts_in_the_graph(mg):
    """A cast is a node, and gradients come back in each input's own type."""
    x = mg.tensor([1.5, 2.5], requires_grad=True)
    y = x.double()
    z = (y * y).sum()
    z.backward()
    show(y, x.grad, y.grad_fn.name(), x.to(mg.float32) is x)
    a = mg.tensor([1.0], requires_grad=True)
    b = mg.tensor([2.0], dtype=mg.float64, requires_grad=True)
    c = a * b
    c.backward()
    show(c, a.grad, b.grad)
    d = mg.tensor([3.0], requires_grad=True)
    (d * mg.tensor([2])).sum().backward()
    show(d.grad, (d * True).dtype)
    show(attempt(lambda: x.long().requires_grad_()), x.long().requires_grad, x.bool().grad_fn)


def in_place_casts(mg):
    i, f, h = mg.tensor([1, 2]), mg.tensor([1.0, 2.0]), mg.tensor([1.0], dtype=mg.float16)
    show(i.add_(1), f.add_(i), f.mul_(mg.tensor([2.0, 2.0], dtype=mg.float64)).dtype, h.add_(f[:1]).dtype, i.mul_(True))
    show(attempt(lambda: i.mul_(1.5)), attempt(lambda: i.add_(f)), attempt(lambda: mg.tensor([True]).add_(1)),
         attempt(lambda: i.div_(2)),
         i.floor_divide_(2), i)
    j = mg.tensor([0, 0])
    j[0] = 2.9
    j.copy_(mg.tensor([1.9, -1.9]))
    show(j, j.fill_(3.7), mg.zeros(1, dtype=mg.bool).fill_(5))


def integer_arithmetic(mg):
    a, b = mg.tensor([7, -7, 7, -7]), mg.tensor([2, 2, -2, -2])
    show(a // b, a % b, a / b, mg.fmod(a, b), mg.div(a, b, rounding_mode="trunc"), mg.div(a, b, rounding_mode="floor"),
         a ** 2, -a, abs(a))
    show(a & b, a | b, a ^ b, ~a, a << 1, a >> 1, mg.tensor([True]) & mg.tensor([False]), ~mg.tensor([True]))
    show(attempt(lambda: a // 0), attempt(lambda: a % 0), (a.float() // 0.0), mg.tensor([200], dtype=mg.uint8) + 100)
    show(mg.tensor([7.0, -7.0]) // 2, mg.tensor([7.0, -7.0]) % 2.5, mg.tensor([7.0, -7.0]) % -2.5,
         mg.tensor([5.5]) // -2)


def comparisons(mg):
    """PyTorch: TestTorch.test_equal"""
    x, y = mg.tensor([1.0, 2.0]), mg.tensor([1.0, 3.0])
    show(x == y, x != y, x < y, x <= y, x > y, x >= 1, x == 1, mg.eq(x, 1.0), mg.equal(x, x.clone()), mg.equal(x, y),
         x.equal(mg.ones(3)))
    show(mg.allclose(x, x + 1e-9), mg.allclose(x, y), mg.isclose(x, y),
         mg.tensor(float("nan")) == mg.tensor(float("nan")), mg.isfinite(x))
    show((x == y).all(), (x == y).any(), mg.equal(mg.tensor([]), mg.tensor([])),
         attempt(lambda: mg.equal(x, y.double())), mg.equal(mg.tensor([1]), mg.tensor([1])))
    show(attempt(lambda: mg.allclose(x, y.double())), x.allclose(x), attempt(lambda: mg.equal(x, 1)))


def numbers_that_do_not_fit(mg):
    mask = mg.tensor([True, False])
    show(*[attempt(lambda: mg.tensor([value], dtype=getattr(mg, name))) for value, name in [
        (-1, "uint8"), (-300, "uint8"), (300, "int8"), (2 ** 40, "int32"), (2 ** 70, "int64"), (2 ** 70, "float32"), (300.7, "uint8"),
        (1e30, "int64"), (float("nan"), "int64"), (1e39, "float32"), (70000, "float16")]])
    show(*[attempt(lambda: mg.full((1,), value, dtype=getattr(mg, name))) for value, name in [
        (-1, "uint8"), (300, "uint8"), (2 ** 40, "int32"), (1e39, "float32"), (float("inf"), "float32"),
        (float("nan"), "int64"), (2.7, "int64")]])
    show(attempt(lambda: mg.ones(2, dtype=mg.uint8).fill_(300)), attempt(lambda: mg.ones(2).fill_(1e39)),
         attempt(lambda: mg.ones(2, dtype=mg.uint8).masked_fill(mask, 300)), mg.ones(2, dtype=mg.int64).masked_fill(mask, 2.7))
    show(attempt(lambda: mg.tensor([mg.ones(1, 1), mg.tensor(2)])), attempt(lambda: mg.tensor([1, mg.ones(2)])))


def kernels_that_do_not_exist(mg):
    """Not every operation takes bool or whole numbers."""
    for name in ["floor_divide", "remainder", "fmod", "pow", "hypot", "logaddexp", "bitwise_left_shift"]:
        for dtype in [mg.bool, mg.int64]:
            x = mg.tensor([1, 0], dtype=dtype)
            show(name, attempt(lambda: getattr(mg, name)(x, x + x)))
    for name in ["median", "cummax", "mode", "logcumsumexp", "frac", "floor", "abs"]:
        show(name, *[attempt(lambda: getattr(mg.tensor([1, 0], dtype=dtype), name)(*[0] * ("cum" in name)))
                     for dtype in [mg.bool, mg.int64]])
    show(attempt(lambda: mg.lerp(mg.tensor([1]), mg.tensor([2]), 0.5)), attempt(lambda: mg.tensor([2, 3, 1]) ** mg.tensor([-1, 2, -3])),
         attempt(lambda: mg.tensor([True]) ** True), mg.tensor([1, 0], dtype=mg.uint8).any(), mg.tensor([1, 0]).all())


def devices(mg):
    show(mg.device("cpu"), mg.device("cpu", 0), str(mg.device("cpu:0")), mg.device("cpu") == mg.device("cpu:0"), mg.device("cuda:1").index,
         mg.device(mg.device("cuda")).type, mg.cuda.is_available(), mg.zeros(1, device="cpu:0").device == mg.device("cpu"))
    for name in ["nowhere", "cpu:x", "float32", "cuda"]:
        show(name, attempt(lambda: mg.ones(1, device=name)), attempt(lambda: mg.tensor(1.0).to(name)))
    show(attempt(lambda: mg.ones(1).cuda()), mg.ones(1).cpu())


def number_floor_divided(mg):
    show(*[2.5 // mg.tensor(d, dtype=getattr(mg, t)) for d in (2, [2]) for t in ("int64", "float32", "float16", "float64", "bool", "int8")])
    show(2 // mg.tensor(2, dtype=mg.int8), True // mg.tensor([2]), np.float32(2.5) // mg.tensor(2), mg.floor_divide(2.5, mg.tensor(2)))
    show(attempt(lambda: "a" // mg.tensor(2)), attempt(lambda: np.array(2.5) // mg.tensor(2)))


def numbers_in_types(mg):
    """Which numbers a type takes: where one is written, chosen or compared."""
    inf, nan = float("inf"), float("nan")
    for name, numbers in {"uint8": [-1, -1.5, 300, -300, nan], "int8": [200, -129, inf], "int64": [1e30, -2.5], "bool": [2, nan],
                          "float16": [70000, 1e39], "float32": [1e39, inf]}.items():
        dtype = getattr(mg, name)
        x, true, first = mg.tensor([1], dtype=dtype), mg.tensor([True]), mg.tensor([0])
        for number in numbers:
            show(name, repr(number), *map(attempt, [
                lambda: x.clone().fill_(number), lambda: mg.full((1,), number, dtype=dtype), lambda: mg.full_like(x, number),
                lambda: x.masked_fill(true, number), lambda: x.index_fill(0, first, number), lambda: x.scatter(0, first, number),
                lambda: x.clone().__setitem__(0, number), lambda: x.clone().__setitem__(first, number), lambda: x.clamp(max=number),
                lambda: mg.nn.functional.pad(x, (1, 0), value=number), lambda: x < number]))
    x = mg.tensor([1, 2], dtype=mg.uint8)
    show(x + 300, x - 3, x * -1, attempt(lambda: x.add(1, alpha=300)), attempt(lambda: mg.where(x > 1, x, 300)), mg.where(x > 1, x, -1))


def median_of_nothing(mg):
    for dtype in [mg.int64, mg.uint8, mg.float16, mg.bool]:
        show(mg.tensor([], dtype=dtype).median())


def running_totals_of_a_type(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    for dtype in [mg.bool, mg.int32, mg.float64]:
        for name in ["cumsum", "cumprod", "cumsum_", "cumprod_"]:
            show(name, *[attempt(lambda: getattr(y.clone(), name)(0, dtype=dtype)) for y in (x, x.detach(), x.detach() > 1)])
    show(attempt(lambda: x.norm(dtype=mg.int32)), attempt(lambda: (x > 1).cumsum_(0)), (x > 1).cumsum(0))


def ranges_of_types(mg):
    for name in ["bool", "uint8", "int64", "float16"]:
        dtype = getattr(mg, name)
        for f in [lambda: mg.linspace(0, 5, 3, dtype=dtype), lambda: mg.linspace(1, 1, 1, dtype=dtype),
                  lambda: mg.linspace(-1.5, 1.5, 3, dtype=dtype),
                  lambda: mg.arange(3, dtype=dtype), lambda: mg.arange(2.5, dtype=dtype), lambda: mg.arange(0, 1, 0.5, dtype=dtype),
                  lambda: mg.logspace(0, 1, 2, dtype=dtype), lambda: mg.eye(1, dtype=dtype)]:
            show(name, attempt(f))


def old_constructors(mg):
    """Tensor, FloatTensor, LongTensor: of sizes, of data, and as an alias of a tensor."""
    x, y = mg.ones(2, requires_grad=True), mg.arange(3)
    for alias in [mg.Tensor(x), mg.FloatTensor(x * 2), mg.Tensor(y), mg.LongTensor(y)]:
        show(alias, alias.grad_fn, alias.is_leaf)
    mg.Tensor(y)[0] = 7
    show(y, y._version, mg.Tensor(np.arange(2)), mg.Tensor(mg.Size((2, 0))).shape, mg.Tensor([[1], [2]]), mg.Tensor().shape)
    for data in [(-7,), (2, -1), (None,), (3.5,), (True,), (2, 3.5), ("a",), (np.float32(2),), (mg.zeros(1, dtype=mg.float64),)]:
        show(repr(data), attempt(lambda: mg.Tensor(*data).dtype), attempt(lambda: mg.LongTensor(*data).dtype))


def old_types_are_classes(mg):
    x, i = mg.tensor([1.0]), mg.tensor([1])
    show(isinstance(x, mg.FloatTensor), isinstance(x, mg.DoubleTensor), isinstance(i, mg.LongTensor), isinstance(3, mg.LongTensor),
         isinstance(mg.nn.Parameter(x), mg.FloatTensor), isinstance(x, (mg.IntTensor, mg.FloatTensor)))
    show(str(mg.FloatTensor), mg.FloatTensor.__name__, mg.FloatTensor.dtype, x.type(mg.LongTensor), attempt(lambda: x.type(print)))
