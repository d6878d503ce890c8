"""backward and grad: order, accumulation, retain_graph, create_graph, inputs, and what is freed."""
from __future__ import annotations

import gc
import math
import threading
import weakref

from ..harness import attempt, saved, show, tree


class _Mark:
    """Something to hang on a node: PyTorch's nodes take no weak reference."""


def _pair(mg):
    return mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor([3.0, 4.0], requires_grad=True)


def accumulates(mg):
    x, y = _pair(mg)
    z = (x * y).sum()
    z.backward(retain_graph=True)
    show(x.grad, y.grad)
    z.backward(retain_graph=True)
    show(x.grad, y.grad)
    first = x.grad
    z.backward()
    show(x.grad, first is x.grad, first)
    x.grad = None
    show(attempt(z.backward), x.grad)


def first_gradient_is_not_aliased(mg):
    x, y = _pair(mg)
    (x + y).sum().backward()
    show(x.grad.data_ptr() == y.grad.data_ptr())
    x.grad.mul_(10)
    show(x.grad, y.grad)
    gradient = mg.ones(2)
    (x + 0).backward(gradient)
    show(gradient, x.grad)
    x.grad = None
    (x * 1).sum().backward()
    show(x.grad.stride(), x.grad.is_contiguous(), x.grad.requires_grad, x.grad.is_leaf)
    a = mg.ones(2, 3, requires_grad=True)
    a.t().sum().backward()
    show(a.grad.stride())
    b = mg.ones(2, 3).t().requires_grad_()
    (b * 1).sum().backward()
    show(b.stride(), b.grad.stride())


def with_a_gradient(mg):
    x, y = _pair(mg)
    z = x * y
    z.backward(mg.tensor([1.0, 10.0]))
    show(x.grad, y.grad)
    (x * y).backward(gradient=mg.ones(2))
    show(x.grad)
    (x * x).sum().backward(mg.tensor(3.0))
    show(x.grad)
    one = mg.tensor([2.0], requires_grad=True)
    (one * 3).backward()
    show(one.grad)
    (one * 3).backward(mg.tensor([2.0]))
    show(one.grad, attempt(lambda: (one * 3).backward(mg.tensor(2.0))))


def gradient_dtype(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).backward(mg.ones(2, dtype=mg.float64))
    show(x.grad)
    y = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    (x * y).sum().backward()
    show(x.grad, y.grad)
    show((x * y).dtype, (x + 1).dtype, (x * mg.tensor(2.0, dtype=mg.float64)).dtype)


def several_roots(mg):
    """PyTorch: test_multi_backward, test_multi_backward_no_grad"""
    x, y = _pair(mg)
    p, q = x + y, x * y
    mg.autograd.backward([p, q], [mg.ones(2), mg.tensor([10.0, 20.0])])
    show(x.grad, y.grad)
    mg.autograd.backward((x * 2).sum())
    show(x.grad)
    frozen = (mg.ones(2) * 2)
    show(attempt(lambda: mg.autograd.backward([x * y, frozen], [mg.ones(2), mg.ones(2)])), x.grad)
    mg.autograd.backward([x.sum(), x.sum()])
    show(x.grad)
    z = x * y
    mg.autograd.backward([z.sum(), (z * 2).sum()])
    show(x.grad)


def roots_that_feed_each_other(mg):
    """PyTorch: test_multi_backward (roots on one path)"""
    x, _ = _pair(mg)
    y = x * 2
    z = y * 3
    mg.autograd.backward([y, z], [mg.ones(2), mg.ones(2)])
    show(x.grad)
    root = mg.tensor([2.0], requires_grad=True)
    a = root * root
    b = a * root
    show(mg.autograd.grad([a, b], [root, a]))


def bad_calls(mg):
    """PyTorch: test_backward_badcalls"""
    x = mg.ones(1)
    show(attempt(lambda: x.backward()))


def from_a_leaf(mg):
    x = mg.tensor(2.0, requires_grad=True)
    x.backward()
    show(x.grad)
    show(mg.autograd.grad(x, x), mg.autograd.grad(x * 1, x))


def inputs(mg):
    """PyTorch: test_backward_with_inputs"""
    x, y = _pair(mg)
    (x * y + x).sum().backward(inputs=[x])
    show(x.grad, y.grad)
    (x * y).sum().backward(inputs=y)
    show(x.grad, y.grad)
    (x * y).sum().backward(inputs=(x, y))
    show(x.grad, y.grad)
    show(attempt(lambda: (x * y).sum().backward(inputs=[])),
         attempt(lambda: (x * y).sum().backward(inputs=[mg.ones(1)])))
    (x * 2).sum().backward(inputs=[y])
    show(y.grad)


def inputs_that_are_no_leaves(mg):
    """PyTorch: test_backward_with_nonleaf_inputs"""
    x, y = _pair(mg)
    n = (x * y) + 0
    out = (n * n).sum()
    out.backward(mg.tensor(1.0), inputs=[x, n], retain_graph=True)
    show(x.grad, y.grad, n.grad, n.retains_grad)
    out.backward(inputs=[n])
    show(n.grad, x.grad)


def no_unneeded_work(mg):
    """Only nodes on the way to the inputs run."""
    x, y = _pair(mg)
    a, b = x * x, y.exp()
    (a + b).sum().backward(inputs=[x])
    show(x.grad, attempt(lambda: saved(a.grad_fn)), saved(b.grad_fn))
    show(b.grad_fn._saved_result.shape)


def grad_returns(mg):
    """PyTorch: test_grad"""
    x, y = _pair(mg)
    z = x ** 2 + y * x + y ** 2
    z.backward(mg.ones(2), create_graph=True)
    first_x, first_y = 2 * x + y, x + 2 * y
    show(x.grad, y.grad, mg.equal(x.grad, first_x), mg.equal(y.grad, first_y))
    total = 2 * x.grad + y.grad
    second, = mg.autograd.grad(outputs=[total], grad_outputs=[mg.ones(2)], inputs=[x], create_graph=True)
    show(second, x.grad, y.grad)
    show(x.grad.requires_grad, x.grad.grad_fn is not None)


def backward_with_create_graph_warns(mg):
    x = mg.tensor([2.0], requires_grad=True)
    (x ** 3).backward(create_graph=True)
    show(x.grad, tree(x.grad))
    g = x.grad
    x.grad = None
    g.backward()
    show(x.grad)


def grad_of_inner_tensors(mg):
    """PyTorch: test_grad_nonleaf"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    step = x
    for _ in range(3):
        step = step + 2 * step * step
        gradient, = mg.autograd.grad(step.sum(), step)
        show(gradient)
    first = x * 2
    second = first * first
    show(mg.autograd.grad(second.sum(), [x, first, second]), first.retains_grad, x.grad)


def grad_of_several(mg):
    """PyTorch: test_grad_nonleaf_many_outputs"""
    x = mg.tensor([4.0, 2.0, 1.0, 3.0], requires_grad=True)
    a, b = x.chunk(2)
    seen = []
    x.register_hook(lambda grad: seen.append("x"))
    show(mg.autograd.grad(a + 2 * b, [a, b], mg.ones(2)), seen)


def grad_options(mg):
    x, y = _pair(mg)
    z = (x * x).sum()
    show(mg.autograd.grad(z, [x, y], allow_unused=True, retain_graph=True))
    show(mg.autograd.grad(z, [x, y], materialize_grads=True, retain_graph=True))
    show(mg.autograd.grad(z, [x, x], retain_graph=True))
    show(mg.autograd.grad(z, x, grad_outputs=mg.tensor(2.0)))
    show(attempt(lambda: mg.autograd.grad(z, x)))
    w = (x * x)
    show(mg.autograd.grad([w, w.sum()], [x], [mg.ones(2), None]))
    show(mg.autograd.grad((x * y).sum(), (x, y), create_graph=True))
    show(x.grad, y.grad)


def create_graph_keeps_the_graph(mg):
    x = mg.tensor([2.0], requires_grad=True)
    z = x ** 3
    first, = mg.autograd.grad(z, x, create_graph=True)
    again, = mg.autograd.grad(z, x)
    second, = mg.autograd.grad(first, x, create_graph=True)
    third, = mg.autograd.grad(second, x)
    show(first, again, second, third)
    show(attempt(lambda: mg.autograd.grad(z, x)))


def create_graph_without_retain(mg):
    x = mg.tensor([2.0], requires_grad=True)
    z = x ** 3
    first, = mg.autograd.grad(z, x, create_graph=True, retain_graph=False)
    show(first, attempt(lambda: mg.autograd.grad(z, x)))


def trees_of_gradients(mg):
    x, y = _pair(mg)
    for name, z in {"mul": x * y, "add": x + y, "neg": -x, "sub": x - y, "exp": x.exp(), "square": x ** 2,
                    "cube": x ** 3,
                    "sum": x.sum() * y, "view": x.view(2, 1) * y, "constant": x * 3, "sin": x.sin()}.items():
        g, = mg.autograd.grad(z.sum(), x, create_graph=True, retain_graph=True)
        show(name, tree(g, {id(x): "x", id(y): "y"}) if g.grad_fn is not None else "constant", g)


def gradient_penalty(mg):
    w = mg.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=mg.float64, requires_grad=True)
    x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    out = mg.tanh(w @ x / 4).sum()
    g, = mg.autograd.grad(out, x, create_graph=True)
    penalty = (g.norm() - 1) ** 2
    penalty.backward()
    show(g, w.grad, x.grad)


def without_saved_values_twice(mg):
    """PyTorch: test_backward_twice_without_saved_values, test_backward_twice_retained_graph_without_saved_values"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x + 2
    y.backward(mg.ones(2))
    y.backward(mg.ones(2))
    show(x.grad)
    z = (x + 1).sum()
    z.backward(retain_graph=True)
    z.backward()
    z.backward()
    show(x.grad)


def with_saved_values_twice(mg):
    """PyTorch: test_backward_twice_with_saved_values, test_backward_twice_retained_graph_with_saved_values"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    c = x * x
    c.backward(mg.ones(2))
    show(attempt(lambda: c.backward(mg.ones(2))))
    c = x * x
    c.backward(mg.ones(2), retain_graph=True)
    c.backward(mg.ones(2))
    show(attempt(lambda: c.backward(mg.ones(2))), x.grad)


def two_losses_on_one_trunk(mg):
    x = mg.tensor([2.0], requires_grad=True)
    trunk = x * x
    a, b = trunk * 3, trunk * 5
    a.backward()
    show(attempt(lambda: b.backward()), x.grad)
    trunk = x * x
    a, b = trunk * 3, trunk * 5
    a.backward(retain_graph=True)
    b.backward()
    show(x.grad)
    trunk = x + 1
    (trunk * 2).backward()
    (trunk * 3).backward()
    show(x.grad)


def what_is_freed(mg):
    """PyTorch: test_no_unnecessary_save"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = y * y
    z.sum().backward()
    show(attempt(lambda: z.grad_fn._saved_self), attempt(lambda: y.grad_fn._saved_result))
    show(saved((x + 1).grad_fn), saved(z.sum().grad_fn))
    mu, x, loss = mg.ones(1, requires_grad=True), mg.zeros(1), 0
    for i in range(3):
        x.detach_()
        x.copy_(mu + i)
        factor = mg.tensor([float(i)])
        loss = loss + (x * factor).sum()
    loss.backward()
    show(mu.grad, x._version)


def saved_values_can_be_read(mg):
    x, y = _pair(mg)
    z = x * y
    show(z.grad_fn._saved_self, z.grad_fn._saved_self is x, z.grad_fn._saved_other is y)
    e = x.exp()
    show(e.grad_fn._saved_result, e.grad_fn._saved_result is e, tree(e.grad_fn._saved_result),
         e.grad_fn._saved_result.output_nr)
    p = x ** 3
    show(p.grad_fn._saved_exponent, p.grad_fn._saved_self is x)
    s = x.sum(0, keepdim=True)
    show(s.grad_fn._saved_keepdim, s.grad_fn._saved_self_sym_sizes)
    show(attempt(lambda: z.grad_fn._saved_nothing))
    m = x * 2
    n = m * y
    show(n.grad_fn._saved_self.grad_fn is m.grad_fn)
    g = x * y.detach()
    show(g.grad_fn._saved_self, g.grad_fn._saved_other)


def memory_is_released(mg):
    """PyTorch: test_free_deep_graph, test_free_deep_graph_complicated, test_free_deep_graph_pyfunction"""
    x = mg.tensor([1.0], requires_grad=True)
    y = x.clone()
    for _ in range(20_000):
        y = y + y * 0.0001
    del y
    gc.collect()
    z = x.clone()
    for _ in range(20_000):
        z = z + 0.5
    z.backward()
    show(x.grad, z)
    t = x * 2
    u = t * t
    mark = _Mark()
    t.grad_fn.metadata["mark"] = mark
    ref, node = weakref.ref(t), weakref.ref(mark)
    del t, mark
    gc.collect()
    show(ref() is None, node() is None)
    u.backward()
    del u
    gc.collect()
    show(node() is None)


def nodes_have_identity(mg):
    x = mg.tensor([1.0], requires_grad=True)
    y = x * 2
    show(y.grad_fn is y.grad_fn, len({y.grad_fn, y.grad_fn}), y.grad_fn == y.grad_fn,
         y.grad_fn.next_functions == y.grad_fn.next_functions)
    show(y.grad_fn.metadata, isinstance(y.grad_fn, mg.autograd.graph.Node))
    z = y * 2
    show(z.grad_fn.next_functions[0][0] is y.grad_fn, attempt(lambda: y.grad_fn.__name__))


def sequence_numbers(mg):
    """PyTorch: test_set_sequence_nr"""
    x = mg.tensor([1.0], requires_grad=True)
    a = x * 2
    b = a * 2
    c = x + 1
    order = [t.grad_fn._sequence_nr() for t in (a, b, c)]
    show(order == sorted(order), order[1] - order[0], order[2] - order[1])
    a.grad_fn._set_sequence_nr(order[0] + 100)
    show(a.grad_fn._sequence_nr() - order[0])
    show(x.grad_fn, a.grad_fn.next_functions[0][0]._sequence_nr() > 10 ** 15)


def order_of_execution(mg):
    x = mg.tensor([1.0], requires_grad=True)
    seen = []
    tensors = {}

    def name(label, tensor):
        tensors[label] = tensor
        tensor.register_hook(lambda grad: seen.append(label))
        return tensor

    a = name("a", x * 2)
    b = name("b", x * 3)
    c = name("c", a * b)
    d = name("d", b + 1)
    e = name("e", c + d + a)
    e.backward()
    show(seen, x.grad)


def needed_gradients_add_up(mg):
    x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    y = x * 2
    z = y * y + y.sin() + y[0] + y.sum() + y.detach() * 3
    z.sum().backward()
    show(x.grad)


def calling_nodes(mg):
    x, y = _pair(mg)
    z = x * y
    show(z.grad_fn(mg.ones(2)))
    s = z.sum()
    show(s.grad_fn(mg.tensor(2.0)))
    z.sum().backward()
    show(attempt(lambda: z.grad_fn(mg.ones(2))))
    e = (x + 1).grad_fn
    show(e(mg.ones(2)), (x * 3).grad_fn(mg.ones(2)))


def backward_to_nodes(mg):
    """PyTorch: test_backward_to_node, test_grad_to_node, test_grad_to_node_set"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * y
    edge = mg.autograd.graph.get_gradient_edge(y)
    show(edge.output_nr, edge.node is y.grad_fn)
    show(mg.autograd.grad(z.sum(), edge, retain_graph=True))
    leaf = mg.autograd.graph.get_gradient_edge(x)
    show(type(leaf.node).__name__, mg.autograd.grad(z.sum(), leaf, retain_graph=True), x.grad)
    z.sum().backward(inputs=(leaf,), retain_graph=True)
    show(x.grad)
    show(mg.autograd.grad(mg.autograd.graph.get_gradient_edge(z), y, grad_outputs=mg.ones(2)))
    show(attempt(lambda: mg.autograd.graph.get_gradient_edge(mg.ones(1))))


def edge_of_a_leaf_outlives_its_data(mg):
    """PyTorch: test_grad_to_node_set"""
    x = mg.tensor([1.0], requires_grad=True)
    edge = mg.autograd.graph.get_gradient_edge(x)
    y = x.clone()
    with mg.no_grad():
        x.set_(mg.tensor([2.0, 3.0]))
    show(x, x._version, mg.autograd.grad(y, edge, retain_graph=True))
    show(attempt(lambda: mg.autograd.grad(y, x)))
    w = mg.tensor([1.0], requires_grad=True)
    edge = mg.autograd.graph.get_gradient_edge(w)
    y = w.clone()
    w.data = mg.tensor([2.0])
    show(mg.autograd.grad((y * w.clone()).sum(), edge))


def sharded_gradients(mg):
    """PyTorch: test_sharded_grad (a leaf's parts differentiated alone, put together by hand)"""
    leaves = [mg.zeros(5, 5, requires_grad=True) for _ in range(3)]
    middles = [i * leaf + leaf * leaf for i, leaf in enumerate(leaves)]
    loss = sum(v * i for i, v in enumerate(middles)).sum()
    gradients = mg.autograd.grad(loss, middles)
    parts = [mg.autograd.grad([m], [leaf], [g]) for m, leaf, g in zip(middles, leaves, gradients)]
    show([g.sum() for g in gradients], [p[0].sum() for p in parts])


def stride_zero_vectors(mg):
    """PyTorch: test_mv_grad_stride_0"""
    matrix = mg.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=mg.float64, requires_grad=True)
    vector = mg.tensor([2.0], dtype=mg.float64, requires_grad=True)
    out = matrix.mv(vector.expand(2))
    out.sum().backward()
    show(out, matrix.grad, vector.grad)


def from_several_threads(mg):
    """PyTorch: test_simple_backward"""
    def run():
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        y = (x + 3) * (x + 4) * 0.5
        y.sum().backward()
        results.append(mg.equal(x.grad, x.detach() + 3.5))

    results = []
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show(results)


def backward_inside_backward(mg):
    """PyTorch: test_simple_reentrant, test_reentrant_child_error"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    inner = mg.tensor([3.0, 4.0], requires_grad=True)

    class Inner(mg.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            with mg.enable_grad():
                ctx.x = value.detach().requires_grad_()
                ctx.out = ctx.x * inner.detach() + ctx.x
            return ctx.out.detach()

        @staticmethod
        def backward(ctx, grad):
            with mg.enable_grad():
                ctx.out.sum().backward()
            return ctx.x.grad * grad

    Inner.apply(x).sum().backward()
    show(x.grad)


def empty_gradients(mg):
    x = mg.zeros(0, requires_grad=True)
    (x * 2).sum().backward()
    show(x.grad, x.grad.shape)
    y = mg.ones(2, requires_grad=True)
    y[2:].sum().backward()
    show(y.grad)


def select_sum(mg):
    """PyTorch: test_select_sum"""
    x = mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64, requires_grad=True)
    value = x.select(0, 1).sum()
    show(value, mg.autograd.grad(value, x, create_graph=True))
    show(tree(value), mg.autograd.gradcheck(lambda t: t.select(0, 1).sum(), x))


def scalars(mg):
    """PyTorch: test_pyscalar_conversions"""
    x = mg.tensor(2.5)
    show(float(x), int(x), bool(x), x.item(), float(mg.tensor([7])), int(mg.tensor([[-3.9]])), bool(mg.tensor([0.0])))
    show(float(mg.tensor(float("inf"))), attempt(lambda: int(mg.tensor(float("nan")))),
         attempt(lambda: int(mg.tensor(float("inf")))))
    show(complex(mg.tensor(2.0)), [10, 20][mg.tensor(1)], range(3)[mg.tensor(2)], f"{mg.tensor(2.25):.1f}")
    show(abs(mg.tensor(-1)), bool(mg.tensor(True)), 3 in mg.tensor([1, 3]), 5 in mg.tensor([1, 3]))
    y = mg.tensor(3.0, requires_grad=True)
    show(y.item(), float(y.detach()))
    show(float(y))


def where_with_numbers(mg):
    """PyTorch: test_where_functional"""
    x = mg.tensor([-1.0, 2.0], requires_grad=True)
    y = mg.tensor([5.0, 6.0], requires_grad=True)
    out = mg.where(x > 0, x * x, y)
    out.sum().backward()
    show(out, x.grad, y.grad)
    trap = mg.tensor([0.0, 4.0], requires_grad=True)
    mg.where(trap > 0, trap.sqrt(), mg.zeros(2)).sum().backward()
    show(trap.grad)
    show(mg.where(mg.tensor([True, False])), mg.where(x > 0, 1.0, 2.0), mg.where(x > 0, 1, 0))


def out_arguments(mg):
    """PyTorch: test_out_variant_raises_when_inputs_require_grad"""
    a, b = _pair(mg)
    c = mg.zeros(2)
    show(attempt(lambda: mg.mul(a, b, out=c)), attempt(lambda: mg.mul(a.detach(), b.detach(), out=c)))
    with mg.no_grad():
        show(mg.mul(a, b, out=c) is c, c, c._version)
    d = mg.zeros(2, requires_grad=True)
    show(attempt(lambda: mg.mul(a.detach(), b.detach(), out=d)))


def no_copy_of_gradients(mg):
    """PyTorch: test_no_grad_copy"""
    seen = {}

    class Keep(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            seen["pointer"] = grad.data_ptr()
            return grad, grad

    class Fresh(Keep):
        @staticmethod
        def backward(ctx, grad):
            fresh = grad.clone()
            seen["pointer"] = fresh.data_ptr()
            return fresh, grad.clone()

    for function in (Keep, Fresh):
        x, y = _pair(mg)
        function.apply(x, y).sum().backward()
        show(x.grad.data_ptr() == y.grad.data_ptr(), x.grad, y.grad)


def custom_graph_is_not_freed_early(mg):
    """PyTorch: test_custom_autograd_no_early_free"""
    class Double(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x ** 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * (x * 2 + (y - y))

    class Double2(Double):
        @staticmethod
        def backward(ctx, grad):
            return Double.backward(ctx, grad * 0.5) * 2

    x = mg.tensor(2.0, dtype=mg.float64, requires_grad=True)
    show(mg.autograd.gradcheck(Double.apply, x), mg.autograd.gradgradcheck(Double.apply, x))
    show(mg.autograd.gradcheck(Double2.apply, x), mg.autograd.gradgradcheck(Double2.apply, x))
    first, = mg.autograd.grad(Double.apply(x), x, create_graph=True)
    show(first, mg.autograd.grad(first, x))


def extremes_among_nan(mg):
    nan, inf = math.nan, math.inf
    for values in ([1.0, nan, 3.0], [1.0, nan, nan], [nan, nan, 3.0]):
        for name, find in {"max": lambda x: x.max(), "min": lambda x: x.min(), "median": lambda x: x.median(), "amax": lambda x: x.amax(),
                           "inf": lambda x: x.norm(inf), "-inf": lambda x: x.norm(-inf), "rows": lambda x: x.view(1, 3).norm(inf, dim=1),
                           "dist": lambda x: mg.dist(x, mg.zeros(3), inf)}.items():
            x = mg.tensor(values, requires_grad=True)
            find(x).sum().backward(create_graph=name == "max")
            show(name, x.grad.detach())


def a_dict_of_inputs(mg):
    x, y = _pair(mg)
    show(mg.autograd.grad((x * y).sum(), {"x": x, "y": y}))
    (x * y).sum().backward(inputs={"y": y})
    show(x.grad, y.grad)


def batched_gradients(mg):
    x, y = _pair(mg)
    out = x * x * y
    show(mg.autograd.grad(out, (x, y), mg.eye(2), is_grads_batched=True, retain_graph=True))
    show(mg.autograd.grad([out, x.sum()], (x, y), [mg.eye(2), mg.tensor([1.0, 10.0])], is_grads_batched=True, retain_graph=True))
    show(mg.autograd.grad(out, [x, mg.ones(1, requires_grad=True)], mg.eye(2), is_grads_batched=True, allow_unused=True, create_graph=True))
    show(mg.autograd.grad(out, x, mg.eye(2), is_grads_batched=True))
    show(attempt(lambda: mg.autograd.grad(out, x, mg.eye(2), is_grads_batched=True)))


def an_edge_prints(mg):
    x, _ = _pair(mg)
    show(str(mg.autograd.graph.get_gradient_edge(x * 2)))
