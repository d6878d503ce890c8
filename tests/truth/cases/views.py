# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""Views: shared memory and versions, ``_base``, writing through them, views made under no_grad, several outputs."""
from __future__ import annotations

import math
import weakref

from ..harness import attempt, nodes, show, tree


def _leaf(mg, *shape):
    n = 1
    for size in shape:
        n *= size
    return mg.arange(float(n)).view(*shape).clone().requires_grad_()


def _is_view(view, base):
    return view._base is base, view._is_view(), view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()


def which_ops_make_views(mg):
    """PyTorch: TestViewOps.test_T_view, TestViewOps.test_expand_view, TestViewOps.test_diagonal_view,
    TestViewOps.test_movedim_view, TestViewOps.test_unbind_view, TestViewOps.test_reshape_view,
    TestViewOps.test_flatten_nonview, TestViewOps.test_basic_indexing_slice_view,
    TestViewOps.test_basic_indexing_ellipses_view
    """
    x = mg.arange(12.0).view(3, 4).clone()
    for name, make in {"view": lambda: x.view(12), "reshape": lambda: x.reshape(2, 6),
                       "reshape copies": lambda: x.t().reshape(12), "t": lambda: x.t(), "T": lambda: x.T,
                       "mT": lambda: x.mT, "transpose": lambda: x.transpose(0, 1), "permute": lambda: x.permute(1, 0),
                       "movedim": lambda: x.movedim(0, 1), "swapaxes": lambda: x.swapaxes(0, 1),
                       "expand": lambda: x[:1].expand(3, 4), "expand_as": lambda: x[:1].expand_as(x),
                       "squeeze": lambda: x[:1].squeeze(), "unsqueeze": lambda: x.unsqueeze(0),
                       "diagonal": lambda: x.diagonal(), "narrow": lambda: x.narrow(0, 0, 2),
                       "select": lambda: x.select(0, 1), "int": lambda: x[0], "slice": lambda: x[1:],
                       "step": lambda: x[:, ::2], "ellipsis": lambda: x[..., 1], "bare ellipsis": lambda: x[...],
                       "none": lambda: x[None], "colon": lambda: x[:], "unbind": lambda: x.unbind()[0],
                       "split": lambda: x.split(2)[1], "chunk": lambda: x.chunk(2, 1)[1],
                       "flatten": lambda: x.flatten(), "flatten copies": lambda: x.t().flatten(),
                       "unflatten": lambda: x.unflatten(1, (2, 2)), "unfold": lambda: x.unfold(1, 2, 2),
                       "view_as": lambda: x.view_as(x), "detach": lambda: x.detach(),
                       "contiguous": lambda: x.contiguous(), "contiguous copies": lambda: x.t().contiguous(),
                       "to": lambda: x.to(mg.float32), "list": lambda: x[[0, 1]], "mask": lambda: x[x > 3],
                       "tensor": lambda: x[mg.tensor([0])], "clone": lambda: x.clone(), "tril": lambda: x.tril(),
                       "add 0": lambda: x + 0, "as_strided": lambda: x.as_strided((2,), (3,), 1),
                       "view of view": lambda: x.view(12)[3:], }.items():
        v = make()
        show(f"{name}:", v is x, *_is_view(v, x), tuple(v.shape), v.stride(), v.storage_offset(), v.is_contiguous())


def writing_shows_in_all_views(mg):
    x = mg.zeros(2, 3)
    v, w = x.view(6), x.t()
    v[0] = 1.0
    w[2, 1] = 2.0
    x[0, 1] = 3.0
    show(x, v, w, x._version, v._version, w._version)


def bases(mg):
    x = _leaf(mg, 4)
    v = x.view(2, 2)
    w = v[0]
    show(v._base is x, w._base is x, x._base, w.detach()._base, w.clone()._base, w.data._base)
    with mg.no_grad():
        u = x.view(2, 2)
        show(u._base is x, u[0]._base is x, u._is_view())
    plain = mg.zeros(4)
    show(plain.view(2, 2)._base is plain, plain.view(2, 2)[0]._base is plain, plain.detach().view(2, 2)._base is plain)


def in_place_on_view(mg):
    """PyTorch: test_inplace_on_view_backprop_base, test_inplace_on_view_backprop_view"""
    root = _leaf(mg, 2, 2)
    x = root.clone()
    v = x.narrow(0, 0, 1)
    show(tree(v))
    v.mul_(3)
    show(tree(x), tree(v), type(x.grad_fn).__name__, v._version, x._version)
    print(x, v, sep="\n")
    x.sum().backward()
    show(root.grad)
    root.grad = None
    x = root.clone()
    v = x.narrow(0, 0, 1)
    v.mul_(3)
    v.sum().backward()
    show(root.grad)


def in_place_on_view_that_saves(mg):
    """PyTorch: test_inplace_on_view_then_no_grad, test_inplace_on_view_saved_output"""
    root = _leaf(mg, 3)
    x = root * 2
    v = x[1:]
    v.exp_()
    show(tree(x), tree(v))
    x.sum().backward()
    show(root.grad)
    y = root * 2
    w = y.narrow(0, 0, 2)
    z = w.sigmoid()
    with mg.no_grad():
        w.zero_()
    z.sum().backward()
    show(root.grad)
    t = root.narrow(0, 0, 2).clone()
    t.view(2).sigmoid_()
    t.mul_(1)
    show(attempt(lambda: t.sum().backward()))


def in_place_on_view_frees_its_graph(mg):
    """PyTorch: test_inplace_on_view_saved_output"""
    class Mark:
        pass

    def run():
        x = _leaf(mg, 3, 3).clone()
        mark = Mark()
        x.grad_fn.metadata["mark"] = mark
        v = x.view(9)
        v.relu_()
        return weakref.ref(mark)

    ref = run()
    show(ref() is None)


def in_place_by_a_function(mg):
    """PyTorch: test_inplace_on_view_python"""
    class Add(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            x.add_(y)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    a, b = _leaf(mg, 2, 2), mg.tensor([10.0, 20.0], requires_grad=True)
    x = a.clone()
    v1 = x.narrow(0, 0, 1)
    v2 = v1.narrow(1, 1, 1)
    Add.apply(v1, b)
    Add.apply(v2, b[:1])
    show(tree(x), tree(v1), tree(v2), x._version)
    x.sum().backward()
    show(x, a.grad, b.grad)


def in_place_on_view_of_view(mg):
    """PyTorch: test_inplace_on_view_of_view"""
    root = _leaf(mg, 2, 2)
    x = root.clone()
    v1 = x.narrow(0, 0, 1)
    v2 = v1.narrow(1, 1, 1)
    v2.mul_(2)
    show(tree(x), tree(v1), tree(v2))
    x.sum().backward()
    show(root.grad)


def base_written_after_view(mg):
    """PyTorch: test_inplace_on_view_then_base (regenerated nodes)"""
    root = _leaf(mg, 4)
    x = root.clone()
    v, w = x.view(2, 2), x[1:3]
    before = v.grad_fn
    x.mul_(2)
    show(tree(x), tree(v), tree(w), v.grad_fn is before, v.grad_fn is v.grad_fn)
    (v.sum() + w.sum()).backward()
    show(root.grad)


def regenerated_node_by_view(mg):
    root = _leaf(mg, 2, 3)
    for name, make in {
        "view": lambda x: x.view(6), "t": lambda x: x.t(), "transpose": lambda x: x.transpose(0, 1),
        "permute": lambda x: x.permute(1, 0), "expand": lambda x: x[:1].expand(2, 3), "select": lambda x: x[0],
        "slice": lambda x: x[:, 1:], "unsqueeze": lambda x: x.unsqueeze(0), "diagonal": lambda x: x.diagonal(),
        "narrow": lambda x: x.narrow(1, 0,
                                     2), "flatten": lambda x: x.flatten(),
                                     "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
        "two": lambda x: x.t()[1], "unflatten": lambda x: x.view(6).unflatten(0, (3, 2)), "alias": lambda x: x[...],
    }.items():
        x = root * 1
        v = make(x)
        x.mul_(2)
        show(f"{name}:", tree(v))
        x = root * 1
        v = make(x)
        show("  written:", attempt(lambda: tree(v.mul_(2))), tree(x))


def sibling_views(mg):
    root = _leaf(mg, 4)
    x = root.clone()
    a, b = x[:2], x[2:]
    a.mul_(2)
    show(tree(a), tree(b), a._version, b._version)
    b.mul_(3)
    show(tree(x), tree(a))
    x.sum().backward()
    show(root.grad)


def write_requires_grad_into_plain(mg):
    """PyTorch: test_inplace_on_view_modify_base, test_inplace_on_view_python"""
    base, value = mg.zeros(4), mg.ones(2, requires_grad=True)
    v = base[:2]
    v.add_(value)
    show(base.requires_grad, base.is_leaf, tree(base), tree(v), v.requires_grad)
    base.sum().backward()
    show(value.grad)
    base = mg.zeros(4)
    v = base[:2]
    base.add_(mg.ones(4, requires_grad=True))
    show(v.requires_grad, tree(v))
    base = mg.zeros(2, 2)
    v = base[0]
    v[0] = value[0]
    show(tree(base), base.requires_grad, tree(v))


def buffer_filled_by_rows(mg):
    x = _leaf(mg, 3)
    out = mg.zeros(2, 3)
    for i in range(2):
        out[i] = x * (i + 1)
    show(tree(out), out, out._version)
    out.sum().backward()
    show(x.grad)


def write_into_view_of_leaf(mg):
    """PyTorch: test_leaf_assignment (in part)"""
    x = _leaf(mg, 3)
    v = x[:2]
    show(attempt(lambda: v.zero_()), attempt(lambda: x.view(3).add_(1)), x)
    with mg.no_grad():
        v.zero_()
        x[2] = 9.0
    show(x, v, x._version, v.requires_grad, v.is_leaf, tree(v))
    v.sum().backward()
    show(x.grad)


def view_made_under_no_grad(mg):
    x = _leaf(mg, 3)
    with mg.no_grad():
        v = x[:2]
        show(v.requires_grad, v.is_leaf, v.grad_fn, v._base is x)
        v.mul_(2)
    show(x, v.requires_grad)
    show(attempt(lambda: v.mul_(2)))
    y = x * 1
    with mg.no_grad():
        w = y[:2]
        show(w.requires_grad, w.grad_fn)
    show(attempt(lambda: w.mul_(2)), attempt(lambda: (w * 2).requires_grad))
    y.mul_(2)
    show(attempt(lambda: w.requires_grad), attempt(lambda: w.grad_fn))
    print(attempt(lambda: repr(w)))
    p = mg.zeros(3)
    with mg.no_grad():
        q = p[:2]
    show(q.requires_grad, q._base is p)
    p.add_(_leaf(mg, 3))
    show(attempt(lambda: q.requires_grad), attempt(lambda: q.grad_fn), attempt(lambda: q.mul_(2)))


def view_of_detached(mg):
    x = _leaf(mg, 3)
    y = x * 2
    d = y.detach()
    d[0] = 5.0
    show(y, tree(y), y._version)
    y.sum().backward()
    show(x.grad)
    z = x.exp()
    z.detach()[0] = 1.0
    show(attempt(lambda: z.sum().backward()))


def several_outputs_refuse_writes(mg):
    """PyTorch: test_inplace_on_view_multi_output_unsafe, test_inplace_on_view_multi_output_safe"""
    for name, make in {"unbind": lambda x: x.unbind(0), "split": lambda x: x.split(2),
                       "sizes": lambda x: x.split([1, 2]),
                       "chunk": lambda x: x.chunk(2), "iteration": lambda x: list(x),
                       "tensor_split": lambda x: x.tensor_split(2)}.items():
        x = _leaf(mg, 3) * 2
        show(f"{name}:", attempt(lambda: make(x)[0].add_(1)))
        with mg.no_grad():
            parts = make(x)
            show(" ", attempt(lambda: parts[0].add_(1)))
            show(" ", attempt(lambda: make(x)[0].add_(1).tolist()))
        plain = mg.zeros(3)
        show(" ", attempt(lambda: make(plain)[0].add_(1)), plain)
        show(" ", attempt(lambda: make(plain)[0].add_(mg.ones(1, requires_grad=True))))


def several_outputs_unsafe(mg):
    """PyTorch: test_inplace_on_view_multi_output_unsafe, test_inplace_multiple_output_view_of_view"""
    x = _leaf(mg, 4) * 1
    y = x.view(2, 2)
    a, b = y.unbind()
    show(attempt(lambda: a.mul_(2)))
    c, d = _leaf(mg, 4).split(2)
    e = c.view(2)
    show(attempt(lambda: e.mul_(2)), attempt(lambda: c[:1].mul_(2)))
    for name in ["unsafe_split", "unsafe_chunk"]:
        root = _leaf(mg, 4)
        x = root.clone()
        first, second = getattr(x, name)(2)
        first.mul_(2)
        show(name, first._base is None, tree(first), tree(x))
        (first.sum() + second.sum()).backward()
        show(root.grad)


def several_outputs_after_base_write(mg):
    x = _leaf(mg, 4)
    y = x * 1
    a, b = y.split(2)
    y.mul_(2)
    show(attempt(lambda: a.grad_fn), attempt(lambda: a.sum().backward()))
    y = x * 1
    a, b = y.unbind()[:2]
    with mg.no_grad():
        y.mul_(2)
    show(attempt(lambda: a.grad_fn), attempt(lambda: (a * b).backward()))


def rows_by_iteration(mg):
    x = _leaf(mg, 2, 2)
    rows = list(x)
    show(tree(rows[1]), rows[0].grad_fn is rows[1].grad_fn, rows[1].output_nr, rows[0]._base is x)
    rows[1].sum().backward()
    show(x.grad)
    for name, make in {"reversed": lambda: reversed(x), "unpacked": lambda: (lambda a, b: b)(*x)}.items():
        show(name, make())


def reversed_tensor(mg):
    """PyTorch: TestTorch.test_reversed"""
    show(reversed(mg.arange(3)), reversed(mg.arange(6).view(2, 3)), reversed(mg.tensor(3.0)))


def transposing_in_place(mg):
    x = _leaf(mg, 2, 3)
    y = x.clone()
    v = y[0]
    y.t_()
    show(y, tree(y), tree(v), y.stride(), y._version)
    y.sum().backward()
    show(x.grad)
    z = x.clone()
    z.unsqueeze_(0).squeeze_(0).transpose_(0, 1).swapaxes_(0, 1)
    show(tree(z), z.shape, z.is_contiguous(), z._version)
    show(attempt(lambda: x.t_()), attempt(lambda: x.unsqueeze_(0)), attempt(lambda: x[0].unsqueeze_(0)))
    w = mg.zeros(2, 3)
    w.transpose_(0, 1)
    show(w.shape, w.stride())


def expanded(mg):
    """PyTorch: TestOldViewOps.test_expand, TestTorchDeviceType.test_expand"""
    x = _leaf(mg, 1, 3)
    e = x.expand(2, 3)
    show(e.stride(), e._base is x, e.untyped_storage().nbytes(), tree(e))
    (e * mg.tensor([[1.0], [10.0]])).sum().backward()
    show(x.grad)
    show(attempt(lambda: e.detach().add_(1)), attempt(lambda: e.clone().add_(1)))
    t = mg.arange(3.0)
    show(attempt(lambda: t.expand(2, -1, -1)), t.expand(2, 3).shape,
         t.expand(0, 3).shape, t.expand((2, 3)).shape, t.expand(mg.Size([2, 3])).shape, mg.zeros(0).expand(2, 0).shape)
    show(mg.tensor(5.0).expand(2, 2), attempt(lambda: t.expand(4)), attempt(lambda: t.expand(2, 1)))


def empty_views(mg):
    """PyTorch: TestOldViewOps.test_empty_reshape"""
    x = mg.zeros(0, 6)
    show(x.reshape(1, 0, 6, 1, 1).shape, x.view(0, 3, 2).shape, x.reshape(0, 6, 1).shape,
         x.reshape(x.shape) is x, x.reshape(1, 0, 6).data_ptr() == x.data_ptr())
    show(attempt(lambda: x.reshape(0, -1)), attempt(lambda: x.view(-1, 0)), x.view(-1, 6).shape)


def reshape_shares_where_it_can(mg):
    """PyTorch: TestOldViewOps.test_reshape_view_semantics"""
    x = mg.arange(24.0).view(2, 3, 4).clone()
    for name, t in {"same": x.reshape(2, 3, 4), "flat": x.reshape(-1), "merge tail": x.transpose(0, 1).reshape(3, 8),
                    "split": x.transpose(0, 2).reshape(2, 2, 3, 2), "slices": x[:, :2].reshape(2, 8),
                    "slices flat": x[:, :2].reshape(16), "expanded": x[:1].expand(2, 3, 4).reshape(2, 12)}.items():
        show(name, t.untyped_storage().data_ptr() == x.untyped_storage().data_ptr(), t.stride(), t._is_view())
    show(attempt(lambda: x.transpose(0, 1).view(3, 8)), x.transpose(0, 2).view(2, 2, 3, 2).stride())


def transposes(mg):
    """PyTorch: TestOldViewOps.test_transpose_vs_numpy, TestOldViewOps.test_transposes_errors"""
    x = mg.arange(6).view(1, 2, 3)
    show(x.transpose(-1, 0).shape, x.transpose(1, 1).shape, x.swapdims(0, 2).shape, x.moveaxis(0, 2).shape,
         x.permute(-1, 0, 1).shape, x.permute((2, 0, 1)).shape, mg.tensor(1).transpose(0, -1).shape,
         mg.tensor(1).t().shape)
    show(attempt(lambda: x.transpose(0, 3)), attempt(lambda: x.t()), attempt(lambda: mg.tensor(1).transpose(0, 1)),
         attempt(lambda: x.permute(0, 1)), attempt(lambda: x.permute(0, 1, 1)), attempt(lambda: x.permute(0, 1, 3)))


def python_types_as_sizes(mg):
    """PyTorch: TestOldViewOps.test_python_types"""
    x = mg.arange(6.0)
    show(x.view((2, 3)).shape, x.view([2, 3]).shape, x.view(mg.Size([3, 2])).shape, x.reshape([2, -1]).shape,
         x.view(mg.tensor(2), 3).shape)
    show(mg.zeros(2, dtype=float).dtype, mg.zeros(2, dtype=int).dtype, mg.ones(2, dtype=bool).dtype)


def atleast(mg):
    """PyTorch: TestOldViewOps.test_atleast_gradient"""
    for n in [1, 2, 3]:
        x = mg.tensor(2.0, requires_grad=True)
        y = getattr(mg, f"atleast_{n}d")(x)
        (y * 3).sum().backward()
        show(y.shape, x.grad, tree(y))
    pair = mg.atleast_2d(mg.tensor(1.0), mg.ones(2))
    show(pair[0].shape, pair[1].shape)


def diagonal_of_expanded(mg):
    """PyTorch: test_diagonal_expanded_v"""
    value = mg.tensor(2.0)
    x = mg.zeros(3, 3, dtype=mg.float32, requires_grad=True)
    v, = mg.autograd.grad(x.diagonal(), x, value.expand(3))
    show(v)


def clone_of_a_view_and_its_base(mg):
    x = _leaf(mg, 2, 2)
    v = x.t()
    c = v.clone()
    show(c.stride(), c._base, c.is_contiguous(), tree(c))
    c.sum().backward()
    show(x.grad)


def nodes_that_copy_slices_runs(mg):
    """The node inside CopySlices runs on the view's part; a node is met once."""
    x, y = _leaf(mg, 4), _leaf(mg, 2)
    a = x * 1
    a[:2].mul_(y)
    a[1:3] += 1
    a[:2] = y
    a.view(2, 2)[1].copy_(y)
    show(tree(a), a, [type(node).__name__ for node in nodes(a)])
    (a * mg.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    show(x.grad, y.grad)


def view_in_place_then_second_backward(mg):
    x = _leaf(mg, 3)
    a = x * x
    a[0].mul_(2)
    a.sum().backward(retain_graph=True)
    a.sum().backward()
    show(x.grad, attempt(lambda: a.sum().backward()))
    b = x * x
    b[0].mul_(x[1])
    g, = mg.autograd.grad(b.sum(), x, create_graph=True)
    show(g, mg.autograd.grad(g.sum(), x))


def masked_and_indexed_writes(mg):
    x = _leaf(mg, 4)
    a = x * 1
    a[a > 1] = 0.0
    show(a, tree(a))
    a[[0, 1]] *= 2
    show(a, tree(a))
    a.sum().backward()
    show(x.grad)
    b = x * 1
    v = b[:2]
    v[[0]] = 5.0
    show(tree(b), tree(v), b)
    c = x * 1
    c.index_fill_(0, mg.tensor([1]), 9.0)
    c.masked_fill_(c > 8, -1.0)
    show(tree(c), c)


def self_assignment(mg):
    x = _leaf(mg, 4)
    a = x * 1
    a[:2] = a[2:]
    show(a, tree(a))
    a.sum().backward()
    show(x.grad)
    b = x * 1
    b[:] = b * 2
    show(b, tree(b))
    c = x * 1
    c[0] = c[1] * c[2]
    show(tree(c), attempt(lambda: c.sum().backward()), x.grad)


def augmented_assignments(mg):
    x = _leaf(mg, 3)
    a = x * 1
    first = a
    a += 1
    show(a is first, tree(a))
    a = a + 1
    show(a is first)
    a[0] -= 1
    a[1:] /= 2
    a **= 2
    show(a is first, a, tree(a))
    b = mg.arange(3)
    b //= 2
    b %= 2
    b |= 1
    b &= 3
    b ^= 1
    show(b)


def aliases_without_grad(mg):
    """PyTorch: test_inplace_not_requires_grad"""
    x = mg.zeros(3)
    v = x[:2]
    v.requires_grad_()
    show(v.is_leaf, v.requires_grad, x.requires_grad)
    show(attempt(lambda: v.add_(1)), attempt(lambda: x.add_(1)))
    show(x, v, v._version)


def in_place_functions(mg):
    """``relu_(x)`` is ``x.relu_()``."""
    x = mg.tensor([0.5, 0.25], requires_grad=True)
    for write, *rest in ((mg.relu_,), (mg.sigmoid_,), (mg.exp_,), (mg.zero_,), (mg.fill_, 3.0), (mg.clamp_, 0, 0.3), (mg.sqrt_,),
                         (mg.addmv_, mg.ones(2, 2), mg.ones(2)), (mg.detach_,)):
        y = x * 1
        z = write(y, *rest)
        show(z, z is y, z.grad_fn)
    show(attempt(lambda: mg.relu_(x)), attempt(lambda: mg.exp_(3)), attempt(mg.exp_))
    show(mg.is_inference(x), mg.is_complex(x), x[:, mg.newaxis].shape, attempt(lambda: mg.is_complex(3)))


def hooks_of_a_tensor_as_they_lie(mg):
    x = mg.ones(2, requires_grad=True)
    show(x._backward_hooks)
    handle = x.register_hook(print)
    show(len(x._backward_hooks), next(iter(x._backward_hooks.values())) is print)
    handle.remove()
    show(len(x._backward_hooks))


def diagonal_filled_in_place(mg):
    for shape in ((2, 2), (3, 2), (2, 3), (7, 2), (2, 2, 2), (0, 2), (3,), (2, 3, 2)):
        for wrap in (False, True):
            x = mg.zeros(shape, requires_grad=True)
            y = x * 1
            show(attempt(lambda: y.fill_diagonal_(3.0, wrap)), y._version, tree(y))
            y.sum().backward()
            show(x.grad)
    x = mg.zeros(2, 2)
    show(x.fill_diagonal_(-math.inf), x.int().fill_diagonal_(2.7), x.t().fill_diagonal_(True), attempt(x.fill_diagonal_))
    show(attempt(lambda: x.requires_grad_().fill_diagonal_(1)))
