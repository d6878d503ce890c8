# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""Indexing and index assignment of every kind."""
from __future__ import annotations

import numpy as np

from ..harness import attempt, show, tree


def _table(mg, *shape):
    n = 1
    for size in shape:
        n *= size
    return mg.arange(n).view(*shape).clone()


def single_int(mg):
    """PyTorch: TestIndexing.test_single_int, TestIndexing.test_multiple_int"""
    v = _table(mg, 3, 2, 2)
    show(v[2].shape, v[-1], v[1, 0, 1], v[1][0][1], v[0, ..., 1], v[(1, 1)])


def none_and_ellipsis(mg):
    """PyTorch: TestIndexing.test_none, TestIndexing.test_multiple_none, TestIndexing.test_ellipsis"""
    v = _table(mg, 2, 3, 4)
    show(v[None].shape, v[:, None].shape, v[:, None, None].shape, v[..., None].shape, v[None, ..., 0, None].shape,
         v[...].shape,
         v[..., 1].shape, v[1, ...].shape, v[1, ..., 2].shape, v[..., 1:, :2].shape, v[(...,)].shape, v[()].shape,
         v[0, 0, 0, ...].shape, v[0, 0, 0][None].shape, v[0, 0, 0][...].shape, v[0, 0, 0][()].shape)
    show(v[...] is v, v[...].data_ptr() == v.data_ptr(), attempt(lambda: v[..., ...]))


def steps(mg):
    """PyTorch: TestIndexing.test_step, TestIndexing.test_step_assignment, TestIndexing.test_empty_slice"""
    v = mg.arange(10)
    show(v[::1], v[::2], v[::3], v[::11], v[1:6:2], v[-3:], v[:-7], v[5:2], v[20:], v[-20:2])
    w = mg.zeros(4, 4)
    w[0, 1::2] = mg.tensor([3.0, 4.0])
    show(w[0], w[1:].sum())
    u = _table(mg, 2, 3, 4)
    show(u[:, :, 4:].shape, u[:, :, 2:2].shape, u[0, 3:].shape, u[:, :, 2:2].stride(), attempt(lambda: u[:, :, ::0]))
    show(v[mg.tensor(2):mg.tensor(5)], v[np.int64(1):np.int64(3)], attempt(lambda: v[1.0:]))


def int_indices(mg):
    """PyTorch: TestIndexing.test_int_indices, TestIndexing.test_int_indices2d,
    TestIndexing.test_int_indices_broadcast
    """
    v = _table(mg, 5, 7, 3)
    show(v[[0, 4, 2]].shape, v[:, [0, 4, 2]].shape, v[:, [[0, 1], [4, 3]]].shape)
    x = _table(mg, 4, 3)
    rows, columns = mg.tensor([[0, 0], [3, 3]]), mg.tensor([[0, 2], [0, 2]])
    show(x[rows, columns], x[[0, 3]][:, [0, 2]])
    rows, columns = mg.tensor([0, 3]), mg.tensor([0, 2])
    show(x[rows[:, None], columns], x[rows, columns], x[rows, 1], x[1, columns], x[rows, :], x[rows, 1:])
    show(x[-1:, [0, -1]], x[mg.tensor([-1, -4])], x[mg.tensor([0, 1], dtype=mg.int32)], x[mg.tensor(1)],
         x[mg.tensor([[1]])].shape)
    show(x[np.array([1, 2])], x[(0, 1), (1, 2)])


def where_the_dimensions_go(mg):
    v = _table(mg, 2, 3, 4, 5)
    i, j = mg.tensor([0, 1]), mg.tensor([1, 2])
    show(v[i].shape, v[:, j].shape, v[i, j].shape, v[i, :, j].shape, v[:, j, i].shape, v[:, j, :, i].shape,
         v[i, ..., j].shape,
         v[0, :, i].shape, v[:, 0, i].shape, v[i, None, j].shape, v[None, i, j].shape, v[i, 0].shape, v[i, :, 0].shape,
         v[:, i[:, None], j].shape, v[..., i, 0].shape, v[0, i].shape, v[i[:, None], :, j].shape)


def out_of_bounds(mg):
    """PyTorch: TestIndexing.test_out_of_bound_index, TestIndexing.test_invalid_index,
    TestIndexing.test_zero_dim_index
    """
    x = _table(mg, 2, 5, 10)
    for index in [(0, 5), (4, 5), (0, 1, 15), (slice(None), slice(None), 12), (0, 0, 0, 0), -3, (0, -6)]:
        show(index, attempt(lambda: x[index]))
    for index in ([2], [[-3]], (0, [5]), (slice(None), [0, 5]), ([0, 2], [0, 1])):
        given = index if isinstance(index, tuple) else mg.tensor(index)
        show(index, attempt(lambda: x[given]))
    show(attempt(lambda: mg.tensor(1.0)[0]), attempt(lambda: x["0":"1"]))


def floats_are_refused(mg):
    """PyTorch: NumpyTests.test_index_no_floats"""
    a = mg.tensor([[[5.0]]])
    for index in [0.0, (0, 0.0), (slice(None), 0.0), (slice(None), 0.0, slice(None)), (0.0, 0), -1.4, (0, -1.4),
                  (slice(None), -1.4),
                  (0.0, 0.0), (slice(0.0, 1, None)), 1j]:
        show(index, attempt(lambda: a[index]))


def lists_and_booleans(mg):
    """PyTorch: NumpyTests.test_boolean_list_indexing, NumpyTests.test_single_bool_index,
    NumpyTests.test_single_int_index,
    NumpyTests.test_boolean_indexing_weirdness_tensors
    """
    a = _table(mg, 3, 3)
    show(a[[False, False, True]], a[[True, True, False], :], a[[True, True, True]].shape, a[(True, True, False),])
    show(a[[False, True, False], [True, False, False]])
    show(a[True], a[False], a[True].shape, a[False].shape, a[None, True].shape, a[True, None].shape)
    b = _table(mg, 2, 3, 4)
    false, true = mg.tensor(False), mg.tensor(True)
    show(b[False, True, ...].shape, b[true, [0, 1], true, true, [1], [[2]]].shape,
         attempt(lambda: b[false, [0, 1], ...].shape))
    show(b[true].shape, b[false].shape, b[mg.tensor([True, False])].shape, b[:, mg.tensor([True, False, True])].shape,
         b[mg.ones(2, 3, dtype=mg.bool)].shape, b[mg.tensor([True, False]), 1].shape)
    show(attempt(lambda: a[[True, False]]), attempt(lambda: a[:, [True]]),
         attempt(lambda: a[mg.ones(2, 3, dtype=mg.bool)]))
    show(a[mg.tensor([1, 0, 1], dtype=mg.uint8)])


def empty_fancy_index(mg):
    """PyTorch: NumpyTests.test_empty_fancy_index, TestIndexing.test_empty_index"""
    a = mg.tensor([1, 2, 3])
    show(a[[]], a[[]].dtype, a[mg.tensor([], dtype=mg.int64)], attempt(lambda: a[mg.tensor([])]),
         a[mg.zeros(0, 2, dtype=mg.int64)].shape)
    x = _table(mg, 2, 3)
    x[mg.tensor([], dtype=mg.int64)] = 5
    x[[]] = 7
    show(x, x[:, []].shape, x[[], [0]].shape)


def assignment_of_scalars_and_rows(mg):
    """PyTorch: TestIndexing.test_set_item_to_scalar_tensor, TestTorch.test_newindex, TestIndexing.test_int_assignment
    """
    m, n = 3, 2
    z, w = mg.ones(m, n), mg.tensor(1.0, requires_grad=True)
    z[:, 0] = w
    z.sum().backward()
    show(w.grad, tree(z))
    for index, value in [(0, 5.0), ((1, 1), mg.tensor(2.0)), (slice(1, 3), mg.tensor([1.0, 2.0])),
                         ((slice(None), 1), mg.tensor([1.0, 2.0, 3.0])), (mg.tensor([0, 2]), 9.0),
                         (([0, 1], [1, 0]), mg.tensor([3.0, 4.0])), (..., 0.5), ((0, ...), mg.ones(1, 1, 2)),
                         (-1, [1.0, 2.0]), ((slice(None), None), mg.ones(3, 1, 2)), ([True, False, True], 4.0),
                         (True, 3.0), (False, 8.0)]:
        x = mg.zeros(m, n)
        outcome = attempt(lambda: x.__setitem__(index, value))
        show(outcome or "stored", x, x._version)
    y = mg.zeros(3)
    y[1], y[0] = True, mg.tensor(4)
    show(y, attempt(lambda: y.__setitem__(0, mg.ones(2))), attempt(lambda: y.__setitem__(5, 1.0)),
         attempt(lambda: y.__setitem__([0, 1], mg.ones(3))))


def assignment_of_wrong_shapes(mg):
    """PyTorch: NumpyTests.test_boolean_assignment_value_mismatch"""
    a = _table(mg, 4)
    for mask, value in [([False] * 4, mg.tensor([1])), ([False] * 4, mg.tensor([1, 2])),
                        ([True, True, False, False], mg.tensor([1, 2, 3])),
                        ([True] * 4, mg.tensor([1, 2])), ([True, False, True, False], mg.tensor([[1], [2]]))]:
        x = a.clone()
        show(attempt(lambda: x.__setitem__(mg.tensor(mask), value)), x)
    x = mg.zeros(2, 3)
    show(attempt(lambda: x.__setitem__(0, mg.ones(2))), attempt(lambda: x.__setitem__((slice(None), 0), mg.ones(3))),
         attempt(lambda: x.__setitem__(0, mg.ones(2, 3))), x._version)


def accumulation(mg):
    """PyTorch: TestIndexing.test_index_put_accumulate_duplicate_indices"""
    x = mg.zeros(4)
    i = mg.tensor([1, 1, 3, 1])
    x.index_put_((i,), mg.tensor([1.0, 2.0, 3.0, 4.0]), accumulate=True)
    show(x, mg.zeros(2, 2).index_put((mg.tensor([0, 0]), mg.tensor([1, 1])), mg.tensor(1.0), accumulate=True))
    y = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y[[0, 0, 2]].sum().backward()
    show(y.grad)
    for i in range(1, 8):
        delta = mg.tensor([(3.0 * k) % 5 for k in range(i)])
        indices = mg.cumsum(delta - delta.round() + mg.ones(i) * (mg.arange(i) % 2), 0).long()
        out = mg.zeros(8).index_put((indices,), delta, accumulate=True)
        show(out)


def gradients_of_writes(mg):
    x, v = mg.tensor([1.0, 2.0, 3.0], requires_grad=True), mg.tensor([10.0, 20.0], requires_grad=True)
    for name, write in {"int": lambda a: a.__setitem__(0, v[0]), "slice": lambda a: a.__setitem__(slice(0, 2), v),
                        "list": lambda a: a.__setitem__([2, 0], v),
                        "mask": lambda a: a.__setitem__(mg.tensor([True, False, True]), v),
                        "broadcast": lambda a: a.__setitem__(slice(None), v[1]),
                        "number": lambda a: a.__setitem__(1, 0.0),
                        "put": lambda a: a.index_put_((mg.tensor([0, 0]),), v, accumulate=True)}.items():
        x.grad = v.grad = None
        a = x * 2
        write(a)
        (a * mg.tensor([1.0, 10.0, 100.0])).sum().backward()
        show(name, a, x.grad, v.grad)


def items(mg):
    """PyTorch: TestTorchDeviceType.test_item"""
    for name in ["float32", "float64", "int64", "int32", "uint8", "bool", "float16"]:
        t = mg.ones((), dtype=getattr(mg, name))
        show(name, t.item(), type(t.item()).__name__, mg.ones(1, 1, dtype=getattr(mg, name)).item())
    show(attempt(lambda: mg.ones(2).item()), mg.tensor(0.1).item(), mg.tensor(0.1, dtype=mg.float64).item(),
         mg.tensor(float("nan")).item())
    x = mg.tensor(2.0, requires_grad=True)
    show(x.item(), x.tolist(), mg.tensor([[1, 2]]).tolist(), mg.zeros(0, 2).tolist())


def constructing_scalars(mg):
    """PyTorch: TestTorch.test_tensor_ctor_scalar"""
    x = mg.tensor(mg.tensor(1.0))
    show(x, mg.tensor([mg.tensor(1.0), 2.0]), mg.tensor([[mg.tensor(1)], [2]]), mg.tensor(mg.tensor([1]).item()))
    show(mg.Tensor([1, 2]), mg.Tensor(2, 0).shape, mg.Tensor().shape, mg.FloatTensor([1]), mg.LongTensor([1]),
         attempt(lambda: mg.Tensor(2).shape))


def named_results(mg):
    """What a function with several results prints, and how it is taken apart."""
    x = mg.tensor([[1.0, 5.0], [7.0, 2.0]], requires_grad=True)
    for result in (x.max(1), x.sort(0), mg.tensor([1, 2, 2]).mode(), x.detach().topk(1, 0), x.median(1, keepdim=True)):
        print(result)
        values, indices = result
        show(result.values is values, result[1] is indices, len(result), type(result).__name__)


def searching(mg):
    x = mg.tensor([[1, 0, 2], [0, 0, 3]])
    show(x.nonzero(), x.nonzero(as_tuple=True), mg.nonzero(x > 5).shape, mg.tensor(3).nonzero().shape, mg.argwhere(x),
         mg.where(x > 1))
    show(x.unique(), mg.bincount(mg.tensor([0, 1, 1])), mg.searchsorted(mg.tensor([1, 3, 5]), mg.tensor([0, 3, 9])),
         x.flip(0, 1))


def iteration(mg):
    x = _table(mg, 2, 2)
    show(len(x), list(x), [row.tolist() for row in x], [a + b for a, b in x], 3 in x, sum(x),
         max(mg.tensor([1, 3, 2])), sorted(mg.tensor([2, 1])))
    a, b = x
    show(a, b, dict(enumerate(x)), list(zip(*x)), attempt(lambda: next(iter(mg.tensor(1)))), list(mg.zeros(0, 2)))


def nothing_to_look_up(mg):
    """A tensor without elements: PyTorch does not look at the indices."""
    x, y = mg.zeros(0, 2), mg.zeros(2, 0)
    show(x[:, [5]].shape, mg.zeros(0, 2, 3)[:, [9], [9]].shape, y[[5]].shape, y[[5], :].shape, attempt(lambda: x[[0]]),
         attempt(lambda: x.__setitem__((slice(None), [5]), 1.0)), attempt(lambda: y[[0], [0]]))


def rows_by_index(mg):
    """What fits as index and source of the operations on rows."""
    x, i, scalar, nothing = mg.zeros(3, 2), mg.tensor([0, 1]), mg.tensor(3.0), mg.zeros(0, 2)
    for name, rows, one, many in [("index_select", [], [], []), ("index_fill", [2.0], [2.0], [2.0]),
                                  ("index_copy", [mg.ones(2, 2)], [mg.tensor(1.0)], [mg.tensor([1.0, 2.0])]),
                                  ("index_add", [mg.ones(2, 2)], [mg.tensor(1.0)], [mg.tensor([1.0, 2.0])])]:
        for index in [i.int(), i.float(), i > 0, i.to(mg.uint8), i.view(1, 2), mg.tensor([9, 0]), mg.tensor([-1, 0])]:
            show(name, attempt(lambda: getattr(x, name)(0, index, *rows)))
        for index in [mg.tensor([0]), mg.tensor(0), mg.tensor([1]), mg.tensor([0, 0])]:
            show(name, attempt(lambda: getattr(scalar, name)(0, index, *one)), attempt(lambda: getattr(scalar, name)(0, index, *many)))
        show(name, attempt(lambda: getattr(x, name)(5, i, *rows)), attempt(lambda: getattr(nothing, name)(0, i, *rows)),
             attempt(lambda: getattr(x, name)(1, i, *rows)))


def scattering(mg):
    """In which order scatter looks at its arguments."""
    x, one = mg.ones(2, 3), mg.ones(1, 1).double()
    for name in ["scatter", "scatter_add", "gather"]:
        source = [one] * (name != "gather")
        for dim, index in [(0, [[0.0]]), (7, [[0]]), (0, []), (0, [0]), (0, [[9]]), (0, [[True]]), (0, [[0], [0], [0]])]:
            show(name, dim, attempt(lambda: getattr(x, name)(dim, mg.tensor(index), *source)))
    show(attempt(lambda: x.scatter_add(0, mg.tensor([[0]]), 1.0)), attempt(lambda: x.scatter(0, mg.tensor([[0]]), one.float()[0])))


def written_where_elements_overlap(mg):
    """PyTorch still lets some operations do it, with a warning."""
    x, i, mask = mg.tensor([1.0]).expand(2), mg.tensor([0]), mg.tensor([True, False])
    show(attempt(lambda: x.masked_fill_(mask, 2)), attempt(lambda: x.index_fill_(0, i, 3.0)),
         attempt(lambda: x.index_copy_(0, i, mg.ones(1))))
    x[mask] = 4.0
    x[i] = 5.0
    show(x, attempt(lambda: x.scatter_(0, i, 1.0)), attempt(lambda: x.masked_scatter_(mask, mg.ones(2))))
    for dtype in [mg.bool, mg.int64, mg.float32]:
        y = mg.tensor([1], dtype=dtype).expand(2)
        for name in ["round_", "frac_", "abs_", "neg_", "sign_", "square_", "logit_", "bitwise_not_", "exp_"]:
            show(dtype, name, attempt(lambda: getattr(y, name)()))


def masks_of_bytes(mg):
    x, mask = mg.arange(3.0), mg.tensor([1, 0, 1], dtype=mg.uint8)
    show(x[mask], mg.where(mask, x, -x), attempt(lambda: x.__setitem__(mask, 2.0)), attempt(lambda: x.masked_fill(mask, 1.0)))
    x[mask] = mg.tensor([7.0, 8.0])
    show(x, x[mg.tensor(1, dtype=mg.uint8)], attempt(lambda: x.masked_select(mask)))


def keys_that_are_none(mg):
    x = _table(mg, 3, 4)
    for key in ["a", ["a"], ["a", 1], [b"a"], b"a", (0, "a"), 10 ** 20, (0, 10 ** 20), [10 ** 20], 1.5, [1.5], 1j, {},
                np.float32(1), np.True_]:
        show(repr(key), attempt(lambda: x[key]))


def order_and_place(mg):
    """Searches, repetitions, differences, stacks and moves, with what does not fit."""
    edges, x, m = mg.tensor([1, 3, 5]), mg.tensor([3, 0]), mg.ones(2, 3, 1)
    show(mg.searchsorted(edges, x, side="right"), mg.searchsorted(edges.flip(0), x, sorter=mg.tensor([2, 1, 0])),
         attempt(lambda: mg.searchsorted(edges, x, side="middle")), attempt(lambda: mg.searchsorted(edges, x, right=True, side="left")))
    show(x.repeat_interleave(x, output_size=3), attempt(lambda: x.repeat_interleave(x, output_size=4)), mg.tensor(3).nonzero(as_tuple=True),
         mg.where(mg.tensor(True)))
    show(edges.diff(n=0, prepend=x), attempt(lambda: edges.diff(n=-1)), edges.diff(n=5),
         mg.tensor([1.25], requires_grad=True).round(decimals=0).grad_fn)
    for f in [lambda: mg.hstack([]), lambda: mg.vstack([]), lambda: mg.dstack([]), lambda: mg.movedim(m, (0, -3), (0, 1)),
              lambda: mg.movedim(m, (0, 1), (1, -2)), lambda: mg.movedim(m, (0, 1), (0, 1, -1)), lambda: mg.tensor(1).flipud(),
              lambda: mg.eye(2, -1),
              lambda: mg.vdot(mg.ones(2), mg.ones(3)), lambda: mg.vdot(m, m), lambda: mg.linalg.cross(mg.ones(3), mg.ones(1, 3)),
              lambda: mg.diagonal_copy(m, 0, 1, 1), lambda: mg.diagonal_copy(m, 0, 7), lambda: mg.zeros(0).aminmax(),
              lambda: mg.zeros(0, 2).aminmax(dim=0),
              lambda: mg.linspace(edges, x, 3), lambda: mg.logspace(0, edges, 3), lambda: mg.narrow(edges, 0, x, 1)]:
        show(attempt(f))
