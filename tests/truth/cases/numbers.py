# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""What elementwise operations make of numbers, masks, zeros and NaN."""
from __future__ import annotations

from ..harness import attempt, show


def signs_of_zero(mg):
    """A remainder of zero has the dividend's sign."""
    for a in [2, -2.0, 0.5, 0.0, -0.0]:
        for b in [0.5, -0.5, 2.0, -float("inf")]:
            show(a, b, *[1 / r for r in (a % mg.tensor(b), mg.tensor(float(a)) % b, mg.tensor(float(a)).fmod(b), mg.tensor(float(a)) // b)])


def zeros_at_a_bound(mg):
    """Of 0.0 and -0.0 neither is larger: the result is the one that was there."""
    x, zero = mg.tensor([-0.0, 0.0]), mg.zeros(2)
    for y in (x, x.double()):
        zeros = zero.to(y.dtype)
        show(y.relu(), y.clamp(min=0), y.clamp(0, 1), y.clamp(max=0.0), y.clamp(min=zeros), mg.nn.functional.hardtanh(y, 0, 1),
             mg.maximum(y, zeros), mg.maximum(zeros, y), mg.minimum(y, zeros), mg.minimum(zeros, y))


def two_numbers(mg):
    """A few functions take a number for a tensor, most do not."""
    show(mg.add(1, 2), mg.sub(2, 3.5), mg.mul(True, 3), mg.div(2, 3), mg.floor_divide(5, 3), mg.div(5, 3, rounding_mode="trunc"),
         mg.add(1, 2, alpha=3), attempt(lambda: mg.exp(2)), attempt(lambda: mg.pow(2, 3)), attempt(lambda: mg.rsub(1, 2)))
    x = mg.tensor([1.0, 2.0])
    for name in ["add", "div", "pow", "remainder", "xlogy", "bitwise_and", "maximum", "eq", "lt", "fmod", "atan2", "logical_and", "hypot",
                 "heaviside", "rsub", "logaddexp", "dist", "lerp", "mm"]:
        show(name, attempt(lambda: getattr(mg, name)(2, x)))


def masks_as_numbers(mg):
    x, mask = mg.tensor([1.5, 2.0], requires_grad=True), mg.tensor([True, False])
    for name, f in {"atan2": lambda: mg.atan2(mask, x), "atan2 of": lambda: mg.atan2(x, mask), "pow": lambda: x ** mask,
                    "pow of": lambda: mask ** x, "true to": lambda: True ** mask, "both": lambda: mask ** mask, "number": lambda: 2 ** mask,
                    "square": lambda: mask ** 2}.items():
        y = attempt(f)
        show(name, y, attempt(lambda: mg.autograd.grad(y.sum(), x)))


def closeness(mg):
    x, y = mg.tensor([1.0, float("nan"), float("inf")]), mg.tensor([1.0 + 2e-6, float("nan"), float("inf")])
    for options in [{}, {"equal_nan": True}, {"rtol": 0}, {"rtol": 0, "atol": 0}, {"rtol": -1}, {"atol": -1.5}]:
        results = [attempt(lambda: mg.isclose(a, b, **options)) for a, b in ((x, y), (x.long(), y.long()), (x > 1, y > 1))]
        show(str(options), *results, [getattr(result, "_version", None) for result in results])
    show(attempt(lambda: mg.isclose(x, y.double())), attempt(lambda: mg.isclose(x, y[:2])), mg.allclose(x, y, equal_nan=True))


def nan_to_num_in_memory(mg):
    x = mg.tensor([[[1.0, 1.0]], [[1.0, 1.0]]])
    show(x.expand(2, -1, -1, -1).nan_to_num().stride(), mg.arange(6).view(2, 3).t().nan_to_num().stride())


def old_signatures(mg):
    """A number before the tensor that it scales, as in old programs; the first one warns."""
    x, g, m = mg.ones(2), mg.tensor([1.0, 2.0]), mg.eye(2)
    show(x.add_(-0.5, g), mg.add(x, 2, g), x.sub(2, g), mg.addcmul(x, 2, g, g), x.addcdiv_(-0.5, g, g),
         m.addmm(2, m, m), mg.addmm(2, m, 3, m, m))
    show(attempt(lambda: x.add(g, 2)), attempt(lambda: x.add_("a", g)), x.requires_grad_().add(2, g).grad_fn)


def number_and_small_type(mg):
    x = mg.tensor([200], dtype=mg.uint8)
    show(-1 // x, 300 // x, -1 % x, 300 - x, 2.5 // x, -1 & x, 300 | x, 1 << x, 256 >> x)


def results_in_memory(mg):
    """The steps of a result, of expanded and of turned inputs."""
    inputs = [mg.tensor([True, False]).expand(2, -1), mg.tensor([1.0, 2.0]).expand(2, -1), mg.arange(6.0).view(2, 3).t(),
              mg.arange(24.0).view(2, 3, 4).permute(2, 0, 1)]
    for name, f in {"clamp": lambda x: x.clamp(0, 1), "clamp_min": lambda x: x.clamp_min(0),
                    "index_fill": lambda x: x.index_fill(0, mg.tensor([0]), 1),
                    "masked_fill": lambda x: x.masked_fill(x > 0, 1), "masked_scatter": lambda x: x.masked_scatter(x > 0, x.clone()),
                    "rot90": lambda x: mg.rot90(x), "rot90 0": lambda x: mg.rot90(x, 0), "rot90 2": lambda x: mg.rot90(x, -2),
                    "flip": lambda x: x.flip(0), "where": lambda x: mg.where(x > 0, x, 0), "abs": lambda x: x.abs(),
                    "pow": lambda x: x ** 2,
                    "logit": lambda x: x.logit(), "cumsum": lambda x: x.cumsum(0), "clone": lambda x: x.clone(),
                    "topk": lambda x: x.topk(1, 0)[0]}.items():
        results = [attempt(lambda x=x, f=f: f(x)) for x in inputs]
        show(name, *[result if isinstance(result, Exception) else result.stride() for result in results])


def squeezed_in_part(mg):
    """Only the dimensions that were taken away come back."""
    x = mg.zeros(1, 1, 2, 1, requires_grad=True)
    for dims in [(3, 0), (-1, 0), (1, 2), (), (0, 1, 3)]:
        y = x.squeeze(dims)
        grad, = mg.autograd.grad(y, x, mg.ones_like(y), create_graph=True)
        show(dims, y.shape, grad.shape)
    show(mg.autograd.grad(x.squeeze().sum(), x)[0].shape)


def float16_rounded_once(mg):
    """What is computed in several steps is rounded at the end only; the last digits stand as whole numbers."""
    x = mg.tensor([0.3, 0.7, -1.2, 5.0, -3.0], dtype=mg.float16, requires_grad=True)
    for name, f in {"sigmoid": lambda: x.sigmoid(), "tanh": lambda: x.tanh(), "softmax": lambda: x.softmax(0), "mean": lambda: x.mean(),
                    "var": lambda: x.var(), "norm": lambda: x.norm(), "cumsum": lambda: x.cumsum(0), "cumprod": lambda: x.cumprod(0),
                    "pow": lambda: x ** 3}.items():
        y = f()
        show(name, (y.double() * 4096).long().tolist(), (mg.autograd.grad(y.sum(), x)[0].double() * 512).long().tolist())
    show(x.mean(dtype=mg.float32).dtype, x.cumsum(0, dtype=mg.float64).dtype, mg.var_mean(x)[0].dtype)


def ranges_near_zero(mg):
    """What rounding leaves of a zero in the middle."""
    for dtype in (mg.float32, mg.float64):
        show(mg.linspace(-1, 1, 21, dtype=dtype)[10])
        show(mg.linspace(-0.7, 0.7, 15, dtype=dtype)[7])
        show(mg.arange(-1, 1, 0.1, dtype=dtype)[10])
        show(mg.arange(-0.3, 0.3, 0.1, dtype=dtype)[3])
        show(mg.arange(-2, 2, 0.1, dtype=dtype)[20])
        show(mg.arange(0, 7, 1 / 3, dtype=dtype)[15] - 5)
    print(mg.linspace(-1, 1, 21))
    print(mg.arange(-1, 1, 0.1))


def range_with_its_end(mg):
    show(mg.range(0, 3), mg.range(0, 3, requires_grad=True), mg.range(1, 2, 0.3), mg.range(3, 0, -1), mg.range(0.5, 3.2), mg.range(2, 2),
         mg.range(1, 5, 2, dtype=mg.int32))
    for wrong in ((3,), (0, 3, 0), (3, 0), (0, float("inf")), (), ("a",), (0, 3, 1, 2)):
        show(attempt(lambda: mg.range(*wrong)))
