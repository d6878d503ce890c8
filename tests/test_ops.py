"""Every differentiable operation against finite differences, first and second derivatives; views, broadcasting, silence."""
from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as mg
from minigrad.function import OPS, PUBLIC, observe
from minigrad.ops import elementwise, rearranging, views

A, V, P = (2, 3), (4,), "positive"       # a matrix, a vector, and numbers that logarithms and roots take
INDEX, MASK = mg.tensor([[0, 1, 1], [1, 0, 1]]), mg.tensor([[True, False, True], [False, True, True]])

# One line per operation: the call, then the shapes of its inputs (P: positive numbers of shape A).
TABLE = [
    (lambda x, y: x + y, A, A), (lambda x, y: mg.add(x, y, alpha=3), A, (3,)),
    (lambda x, y: mg.sub(x, y, alpha=2), A, (2, 1)), (lambda x: 2 - x, A), (lambda x, y: mg.rsub(x, y), A, A),
    (lambda x, y: x * y, A, ()), (lambda x, y: x / y, A, P), (lambda x: -x, A), (lambda x: 2 / x, P),
    (lambda x: x ** 3, A), (lambda x: x ** 2.5, P), (lambda x, y: x ** y, P, A), (lambda x: 2 ** x, A),
    (lambda x: x.square(), A), (lambda x: x % 0.7, A), (lambda x, y: x % y, A, P), (lambda x: mg.fmod(x, 0.7), A),
    (lambda x, y: mg.fmod(x, y), A, P), (mg.exp, A), (mg.exp2, A), (mg.expm1, A), (mg.log, P), (mg.log2, P),
    (mg.log10, P), (mg.log1p, P), (mg.sqrt, P), (mg.rsqrt, P), (mg.sin, A), (mg.cos, A), (mg.tan, "unit"),
    (mg.asin, "unit"), (mg.acos, "unit"), (mg.atan, A), (mg.sinh, A), (mg.cosh, A), (mg.tanh, A), (mg.asinh, A),
    (lambda x: mg.acosh(x + 1), P), (mg.atanh, "unit"), (mg.sigmoid, A), (mg.relu, A), (mg.erf, A), (mg.erfc, A),
    (mg.atan2, P, A), (mg.hypot, P, A), (mg.logaddexp, A, A), (mg.xlogy, A, P), (lambda x: mg.xlogy(x, 2), A), (mg.abs, A), (mg.sgn, A),
    (mg.sign, A), (mg.floor, A), (mg.ceil, A), (mg.round, A), (mg.trunc, A), (mg.frac, A), (mg.nan_to_num, A),
    (lambda x, y: mg.lerp(x, y, 0.3), A, A), (lambda x, y, w: mg.lerp(x, y, w), A, A, A),
    (lambda x, y, z: mg.addcmul(x, y, z, value=2), A, A, A), (lambda x, y, z: mg.addcdiv(x, y, z, value=2), A, A, P),
    (lambda x: mg.logit(x / 3), P), (lambda x: x.logit(0.2), P), (mg.maximum, A, A), (mg.minimum, A, A),
    (lambda x, y: mg.where(MASK, x, y), A, A),
    (lambda x: x.masked_fill(MASK, 3), A), (lambda x, v: x.masked_fill(MASK, v), A, ()),
    (lambda x: x.clamp(-0.5, 0.8), A), (lambda x, low, high: x.clamp(low, high), A, A, A),
    (lambda x: x.clamp_min(0.1), A), (lambda x, y: x.clamp_min(y), A, A), (lambda x: x.clamp_max(0.1), A),
    (lambda x, y: x.clamp_max(y), A, A), (lambda x, y: mg.div(x, y, rounding_mode="floor"), A, P),
    (lambda x: x.clone(), A), (lambda x: x.t().contiguous(), A), (lambda x: x.float().double() * 0 + x, A),
    (lambda x: x[:, 1:], A), (lambda x: x[1], A), (lambda x: x[None, ..., 0], A), (lambda x: x[MASK], A),
    (lambda x: x[[1, 0, 1], [0, 0, 2]], A), (lambda x: x[...], A), (lambda x: x.view(3, 2), A),
    (lambda x: x.t().reshape(6), A), (lambda x: x.t()[None].reshape(3, 2), A), (lambda x: x.t(), A),
    (lambda x: x.transpose(0, 1), A), (lambda x: x.permute(1, 0), A), (lambda x: x.unsqueeze(1), A),
    (lambda x: x[None].squeeze(), A), (lambda x: x[None].squeeze(0), A),
    (lambda x: x[None, :, None].squeeze((0, 2)), A), (lambda x: x.expand(4, 2, 3), A),
    (lambda x: x.sum_to_size(1, 3), A), (lambda x: x.diagonal(1), A), (lambda x: x.unbind(1)[2], A),
    (lambda x: x.split(2, 1)[0], A), (lambda x: x.split([1, 2], 1)[1], A), (lambda x: x.unfold(1, 2, 1), A),
    (lambda x: x.as_strided((2, 2), (3, 2)), A), (lambda x: x.flip(0, 1), A), (lambda x: x.roll(1, 1), A),
    (mg.tril, A), (lambda x: mg.triu(x, 1), A), (mg.diag_embed, A), (mg.diag, A), (lambda x: x.repeat(2, 1, 2), A),
    (lambda x, y: mg.cat([x, y], 1), A, (2, 1)), (lambda x, y: mg.stack([x, y]), A, A), (lambda x: x.sum(), A),
    (lambda x: x.sum(1), A), (lambda x: x.nansum(0), A), (lambda x: x.mean(), A), (lambda x: x.mean((0, 1), True), A),
    (lambda x: x.prod(), A), (lambda x: x.prod(1), A), (lambda x: x.cumsum(1), A), (lambda x: x.cumprod(1), A),
    (lambda x: x.max(), A), (lambda x: x.max(1).values, A), (lambda x: x.min(), A),
    (lambda x: x.min(0, True).values, A), (lambda x: x.amax(1), A), (lambda x: x.amin((0, 1)), A),
    (lambda x: x.median(), A), (lambda x: x.median(1).values, A), (lambda x: x.mode(0).values, A),
    (lambda x: x.kthvalue(2, 1).values, A), (lambda x: x.cummax(1).values, A), (lambda x: x.cummin(0).values, A),
    (lambda x: mg.aminmax(x, dim=1), A), (lambda x: x.logcumsumexp(1), A), (lambda x: x.var(), A), (lambda x: x.std(1), A),
    (lambda x: mg.var_mean(x, 1), A), (lambda x: mg.std_mean(x, 0), A), (lambda x: x.norm(), A),
    (lambda x: x.norm(3, 1), A), (lambda x: x.norm(1), A), (lambda x: x.norm(math.inf, 0), A),
    (lambda x: x.norm(1.5), A), (lambda x, y: mg.dist(x, y), A, A), (lambda x: x.logsumexp(1), A),
    (lambda x: x.softmax(1), A), (lambda x: x.log_softmax(0), A), (lambda x: x.gather(1, INDEX), A),
    (lambda x, y: x.scatter(0, INDEX[:1], y), A, (1, 3)), (lambda x: x.scatter(0, INDEX[:1], 2.5), A),
    (lambda x, y: x.scatter_add(0, INDEX, y), A, A), (lambda x: x.index_select(1, INDEX[0]), A),
    (lambda x, y: x.index_add(1, INDEX[0], y, alpha=2), A, A), (lambda x, y: x.index_copy(0, INDEX[0, :2], y), A, A),
    (lambda x: x.index_fill(0, INDEX[0, :1], 3), A), (lambda x, v: x.index_fill(0, INDEX[0, :1], v), A, ()),
    (lambda x: x.take(INDEX), A), (lambda x: x.masked_select(MASK), A),
    (lambda x, y: x.masked_scatter(MASK, y), A, A), (lambda x: x.sort(1).values, A),
    (lambda x: x.sort(stable=True).values, A), (lambda x: x.topk(2).values, A),
    (lambda x, y: x.index_put((INDEX[0, [1, 0]],), y), A, (3,)),
    (lambda x, y: x.index_put((INDEX[0],), y, accumulate=True), A, (3, 3)), (mg.dot, V, V), (mg.vdot, V, V),
    (mg.mv, (2, 4), V), (mg.mm, A, (3, 2)), (mg.bmm, (2, 2, 3), (2, 3, 2)), (mg.addmm, (2,), A, (3, 2)),
    (lambda x, y, z: mg.addmv(x, y, z, beta=2, alpha=3), (2,), A, (3,)),
    (mg.baddbmm, (2, 2, 2), (2, 2, 3), (2, 3, 2)), (mg.trace, A), (mg.matmul, (2, 1, 2, 3), (3, 3, 2)),
    (mg.matmul, (3,), (2, 3, 2)), (lambda x, y: mg.einsum("bij,bjk->ik", x, y), (2, 2, 3), (2, 3, 2)),
    (lambda x: mg.einsum("ii->i", x), (3, 3)), (lambda x, y: mg.tensordot(x, y, 1), A, (3, 2)), (mg.outer, V, (2,)),
    (lambda x: x.repeat_interleave(2, 1), A), (lambda x: x.unsafe_split(2, 1)[0], A),
    (lambda x: x.unsafe_split_with_sizes([1, 2], 1)[1], A),
    (lambda x: x.clone().zero_(), A), (lambda x: x.clone().fill_(2), A), (lambda x: x.rot90(), A),
    (lambda x: mg.nn.functional.pad(x, (1, -1, 2, 0), value=3.0), A), (lambda x: mg.round(x, decimals=1), A),
    (lambda x: mg.linalg.inv(x), (2, 3, 3)), (lambda x, y: mg.linalg.cross(x, y), A, A),
    (lambda x, v: x.clone().fill_(v), A, ()), (lambda x, y: x.clone().copy_(y), A, (3,)),
]


def values(shape, seed):
    """Random numbers that lie apart and off the kinks, so that a small step changes no order and no branch."""
    generator = np.random.default_rng(seed)
    size = math.prod(A if isinstance(shape, str) else shape)
    steps = (generator.permutation(size) + 0.35 + 0.1 * seed) / max(size, 1)
    numbers = 0.4 + steps if shape == P else 1.6 * steps - 0.85 if shape == "unit" else 3 * steps - 1.4
    return mg.tensor(numbers.reshape(A if isinstance(shape, str) else shape), requires_grad=True)


@pytest.mark.parametrize("line", range(len(TABLE)))
def test_derivatives(line):
    function, *shapes = TABLE[line]
    inputs = tuple(values(shape, seed) for seed, shape in enumerate(shapes))
    assert mg.autograd.gradcheck(function, inputs)
    assert mg.autograd.gradgradcheck(function, inputs)


def test_the_table_is_complete():
    """Every operation with a derivative is run by a line of the table, or by a backward pass of one."""
    seen = set()
    with observe(lambda op, args, outputs, recorded: seen.add(op.node_name)):
        for function, *shapes in TABLE:
            inputs = [values(shape, seed) for seed, shape in enumerate(shapes)]
            outputs = function(*inputs)
            for result in outputs if isinstance(outputs, tuple) else (outputs,):
                grads = mg.autograd.grad((result * result).sum(), inputs, create_graph=True, allow_unused=True, retain_graph=True)
                for grad in grads:
                    if grad is not None and grad.requires_grad:
                        mg.autograd.grad((grad * grad).sum(), inputs, allow_unused=True, retain_graph=True)
    ours = {op.node_name for op in OPS.values() if op.formulas and op.kernel.__module__.startswith("minigrad.ops") and not op.inplace}
    without_derivative = {"torch::autograd::NotImplemented", "Unique2Backward0", "UniqueDimBackward0"}
    assert ours - seen <= without_derivative


def test_writing_in_place_gives_the_same_derivatives():
    for name, op in sorted(OPS.items()):
        if name[0] == "_" or not (op.inplace and op.formulas and len(op.tensor_params) == 1 and len(op.params) == 1 and op.promote):
            continue
        x = values(P, 1) if name in ("log_", "sqrt_", "rsqrt_", "log2_", "log10_", "log1p_", "reciprocal_") else values("unit", 1)
        if name == "acosh_":
            x = mg.tensor([[1.5, 2.0]], dtype=mg.float64, requires_grad=True)
        written = getattr(x.clone(), name)()
        plain = getattr(x, name[:-1])()
        assert mg.equal(*(mg.autograd.grad(y.sum(), x)[0] for y in (written, plain))), name


def test_arrays_and_tensors_go_through_one_formula():
    """A formula may be given ndarrays: then its operations run their kernels only."""
    array = np.array([[0.5, 2.0], [1.0, 4.0]])
    for operation in (elementwise.exp, elementwise.log, views.t, rearranging.tril, elementwise.relu):
        assert isinstance(operation(array), np.ndarray)
        np.testing.assert_array_equal(operation(array), operation(mg.tensor(array)).numpy())


SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@given(SHAPES, st.data())
@settings(max_examples=150, deadline=None)
def test_broadcasting_is_undone(shape, data):
    """The gradient of each factor has its shape, whatever was broadcast and however it lies in memory."""
    small = tuple(1 if data.draw(st.booleans()) else n for n in shape[data.draw(st.integers(0, len(shape))):])
    x, y = mg.ones(shape[::-1], dtype=mg.float64).permute(*range(len(shape))[::-1]).detach(), mg.full(small, 2.0, dtype=mg.float64)
    x.requires_grad_(), y.requires_grad_()
    (x * y).sum().backward()
    assert x.grad.shape == x.shape and y.grad.shape == y.shape
    assert (x.grad == 2).all() and (y.grad == x.numel() // max(y.numel(), 1)).all()


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple), st.data())
@settings(max_examples=150, deadline=None)
def test_basic_indexing_is_numpys(shape, data):
    """Ints, slices, None and ``...`` give NumPy's views, and their gradient marks exactly the elements that were taken."""
    array = np.arange(float(math.prod(shape))).reshape(shape)
    key = []
    for n in shape[:data.draw(st.integers(0, len(shape)))]:
        ends = st.none() | st.integers(-n, n)
        key.append(data.draw(st.integers(-n, n - 1) | st.builds(slice, ends, ends, st.none() | st.integers(1, 2))))
    for extra in data.draw(st.lists(st.sampled_from([None, ...]), max_size=2, unique=True)):
        key.insert(data.draw(st.integers(0, len(key))) if extra is None else len(key), extra)
    key = tuple(key)
    x = mg.tensor(array, requires_grad=True)
    taken = x[key]
    np.testing.assert_array_equal(taken.detach().numpy(), array[key])
    taken.sum().backward()
    marked = np.zeros(shape)
    marked[key] = 1
    np.testing.assert_array_equal(x.grad.numpy(), marked)
    if 0 not in taken.shape:
        assert taken.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@given(st.integers(0, 5), st.integers(1, 4), st.integers(1, 4),

       st.sampled_from(["ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "ij,jk->", "ij,jk"]))
@settings(max_examples=60, deadline=None)
def test_einsum_is_numpys(i, j, k, equation):
    generator = np.random.default_rng(0)
    sizes = {"i": i, "j": j, "k": k}
    operands = [generator.standard_normal([sizes[c] for c in term]) for term in equation.split("->")[0].split(",")]
    np.testing.assert_allclose(mg.einsum(equation, *map(mg.tensor, operands)).numpy(), np.einsum(equation, *operands), atol=1e-12)


@pytest.mark.parametrize("how", ["error", "default", "always", "reset"])
def test_division_by_zero_is_silent(how):
    """PyTorch says nothing about 1 / 0, NumPy warns: whatever the user's own filters are, which stay for NumPy itself."""
    with warnings.catch_warnings(record=True) as given:
        warnings.resetwarnings()
        if how != "reset":
            warnings.simplefilter(how)
        x = mg.zeros(2, requires_grad=True)
        for y in (1 / x, x / x, x.log(), x ** -1, x.sqrt(), mg.exp(x + 1e9), x.rsqrt(), x.mean() / 0, (x * 1e38) * (x - 1e38),
                  x.float() // 0.0, mg.zeros(0).mean()):
            mg.autograd.grad(y.sum(), x) if y.requires_grad and y.grad_fn.name() != "torch::autograd::NotImplemented" else None
        assert not given
        if how == "error":
            with pytest.raises(RuntimeWarning):
                np.ones(1) / np.zeros(1)
        elif how == "always":
            np.ones(1) / np.zeros(1)
            assert len(given) == 1


def test_public_names_have_a_docstring_and_take_pytorchs_keywords():
    for name, function in PUBLIC.items():
        assert function.__doc__, name
    x = mg.tensor([[1.0, 2.0]])
    assert mg.sum(input=x, axis=1).item() == 3 and mg.mul(input=x, other=x)[0, 1].item() == 4
    assert mg.unsqueeze(input=x, dim=0).shape == (1, 1, 2) and x.max(dim=1, keepdim=True).indices.item() == 1
    assert mg.add(x, x, out=x) is x and x.tolist() == [[2.0, 4.0]] and x._version == 1


def test_a_number_is_no_tensor():
    with pytest.raises(TypeError, match=r"maximum\(\): argument 'other' \(position 2\) must be Tensor, not int"):
        mg.maximum(mg.zeros(2), 1)
    with pytest.raises(TypeError, match=r"exp\(\): argument 'input' \(position 1\) must be Tensor, not float"):
        mg.exp(1.0)


def test_a_few_numbers_come_out_to_the_last_digit():
    """What ``item()`` shows: the sums are PyTorch 2.13.0's, where NumPy's has another last digit (-2.690000057220459)."""
    x = mg.tensor([-1.66, -1.05, 1.21, 0.33, -1.62, -0.27, 0.37])
    assert x.sum().item() == -2.689999580383301
    assert x.mean().item() == mg.tensor(-2.689999580383301).div(7).item()
    for function, exact in ((mg.exp, np.exp), (mg.tanh, np.tanh), (mg.sin, np.sin), (lambda t: t.var(), lambda a: a.var(ddof=1))):
        assert function(x).tolist() == exact(x.numpy().astype(np.float64)).astype(np.float32).tolist()
