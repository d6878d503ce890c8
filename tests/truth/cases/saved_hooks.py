"""saved_tensors_hooks and anomaly mode."""
from __future__ import annotations

import gc
import warnings
import weakref

from ..harness import attempt, saved, show, tree


def _x(mg):
    return mg.tensor([1.0, 2.0], requires_grad=True)


def pack_and_unpack(mg):
    """PyTorch: test_saved_tensor_hooks"""
    x, y = _x(mg), mg.tensor([3.0, 4.0])
    seen = []

    def pack(tensor):
        seen.append(("pack", tensor.tolist(), tensor.requires_grad))
        return tensor.tolist()

    def unpack(values):
        seen.append(("unpack", values))
        return mg.tensor(values)

    with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
        z = x * y
        e = z.exp()
        s = (e + 1).sum()
    for line in seen:
        show(*line)
    seen.clear()
    s.backward()
    for line in seen:
        show(*line)
    show(x.grad)
    (x * x).sum().backward()
    show(len(seen))


def what_is_packed(mg):
    def packed(make):
        names = []
        with mg.autograd.graph.saved_tensors_hooks(lambda t: names.append(str(tuple(t.shape))) or t, lambda t: t):
            make()
        return names

    x, w = mg.ones(2, 3, requires_grad=True), mg.ones(3, 4, requires_grad=True)
    for name, make in {"mul": lambda: x * x, "mul frozen": lambda: x * mg.ones(2, 3), "number": lambda: x * 3,
                       "add": lambda: x + x, "mm": lambda: x @ w, "exp": lambda: x.exp(), "relu": lambda: x.relu(),
                       "sum": lambda: x.sum(), "pow": lambda: x ** 2, "max": lambda: x.max(1),
                       "index": lambda: x[[0, 1]], "view": lambda: x.view(6), "where": lambda: mg.where(x > 0, x, x),
                       "none": lambda: mg.ones(1) * 2, "sigmoid": lambda: x.sigmoid(), "softmax": lambda: x.softmax(1),
                       "cat": lambda: mg.cat([x, x]), "div": lambda: x / x}.items():
        show(name, packed(make))


def hooks_may_change_the_value(mg):
    x = _x(mg)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        y = x * x
    show(y.grad_fn._saved_self)
    y.sum().backward()
    show(x.grad)


def hooks_and_in_place(mg):
    """PyTorch: test_saved_variable_packing_unpacking_did_not_save_original_with_hooks"""
    x = _x(mg)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * 1
        z = y * y
    y.add_(1)
    show(attempt(lambda: z.sum().backward()), x.grad)


def nested(mg):
    """PyTorch: test_nested_saved_tensors_hooks (the inner pair wins)"""
    x = _x(mg)
    hooks = mg.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: t, lambda t: t * 10):
        with hooks(lambda t: t, lambda t: t * 100):
            a = x * x
        b = x * x
    c = x * x
    for y in (a, b, c):
        x.grad = None
        y.sum().backward()
        show(x.grad)


def wrong_hooks(mg):
    """PyTorch: test_saved_tensor_hooks_custom_error_propagaation,
    test_pack_hook_with_inplace_modification_should_fail
    """
    hooks = mg.autograd.graph.saved_tensors_hooks
    x = _x(mg)

    def fail(thing):
        raise ValueError("from hook")

    def make(pack, unpack):
        with hooks(pack, unpack):
            return x * x

    show(attempt(lambda: make(fail, lambda t: t)))
    y = make(lambda t: t, fail)
    show(attempt(lambda: y.sum().backward()))
    y = make(lambda t: t, lambda t: 1.0)
    show(attempt(lambda: y.sum().backward()), attempt(lambda: y.grad_fn._saved_self))
    show(attempt(lambda: make(lambda t: t.add_(1), lambda t: t)))
    show((x * x).requires_grad)


def disabled(mg):
    """PyTorch: test_disabling_saved_tensor_hooks, test_disabling_saved_tensor_hooks_nested"""
    graph = mg.autograd.graph
    x = _x(mg)
    with graph.disable_saved_tensors_hooks("not here"):
        show(attempt(lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()))
        with graph.disable_saved_tensors_hooks("inner"):
            show(attempt(lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()))
        show(attempt(lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()))
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t * 2):
        y = x * x
    y.sum().backward()
    show(x.grad)


def disabled_inside_hooks(mg):
    """PyTorch: test_disabling_saved_tensor_hooks"""
    graph = mg.autograd.graph

    def enter():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            with graph.disable_saved_tensors_hooks("too late"):
                pass

    show(attempt(enter))
    show((_x(mg) * 2).requires_grad)


def save_on_cpu(mg):
    x = _x(mg)
    with mg.autograd.graph.save_on_cpu():
        y = x * x
    y.sum().backward()
    show(x.grad)


def entering_during_backward(mg):
    """PyTorch: test_saved_tensor_hooks_extra_enter_during_bw_no_leak"""
    x = _x(mg)
    hooks = mg.autograd.graph.saved_tensors_hooks

    def unpack(tensor):
        with hooks(lambda t: t, lambda t: t):
            return tensor * 1

    with hooks(lambda t: t, unpack):
        y = x * x
    y.sum().backward()
    show(x.grad)
    (x * x).sum().backward()
    show(x.grad)


def in_functions(mg):
    class Square(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return 2 * x * grad

    x = _x(mg)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), mg.tensor):
        y = Square.apply(x)
    y.sum().backward()
    show(x.grad)


def in_place_detach_of_a_saved_output(mg):
    """PyTorch: test_saved_variable_saved_original_inplace_detach"""
    x = _x(mg)
    y = x.sin()
    y.detach_()
    show(y.requires_grad, y.grad_fn)
    a = x.clone()
    b = a.exp()
    node = b.grad_fn
    b.detach_()
    show(attempt(lambda: node._saved_result))
    c = x.clone()
    d = c * c
    c.detach_()
    show(attempt(lambda: d.sum().backward()), x.grad)
    saved_leaf = _x(mg)
    e = saved_leaf * saved_leaf
    saved_leaf.detach_()
    show(attempt(lambda: e.sum().backward()), saved_leaf.grad, saved_leaf.requires_grad)


def saved_outputs_make_no_cycle(mg):
    x = _x(mg)
    gc.collect()
    gc.disable()
    try:
        y = x.exp()
        ref = weakref.ref(y)
        del y
        show(ref() is None)
        z = x.sigmoid().tanh().sqrt()
        show(saved(z.grad_fn), tree(z))
    finally:
        gc.enable()


def unpacked_tensors_stand_where_they_stood(mg):
    """A leaf comes back as a leaf, a result as the result of its node, a plain tensor as a plain one."""
    x, plain = _x(mg), mg.tensor([3.0, 4.0])
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda values: mg.tensor(values)):
        leaf, result = x * x, x.exp()
        mixed = (result * 2) * plain
        product = result * result
    for node, names in ((leaf.grad_fn, ("self", "other")), (result.grad_fn, ("result",)), (mixed.grad_fn, ("other",)),
                        (product.grad_fn, ("self",))):
        for name in names:
            t = getattr(node, f"_saved_{name}")
            show(t, t.is_leaf, t.requires_grad, t.grad_fn and t.grad_fn.name(), t.output_nr)
    first, = mg.autograd.grad((leaf + product).sum(), x, create_graph=True)
    first.sum().backward()
    show(first, x.grad)


def anomaly_finds_nan(mg):
    """PyTorch: test_anomaly_detect_nan, test_anomaly_mode_no_check_nan"""
    x = mg.tensor([0.0], requires_grad=True)
    with mg.autograd.set_detect_anomaly(True):
        show(mg.is_anomaly_enabled(), mg.is_anomaly_check_nan_enabled())
        y = (x * 0).sqrt()
        error = attempt(lambda: (y * 0).sum().backward())
    print(f"{type(error).__name__}: {error}")
    show(mg.is_anomaly_enabled())
    with mg.autograd.set_detect_anomaly(True, check_nan=False):
        show(mg.is_anomaly_enabled(), mg.is_anomaly_check_nan_enabled())
        x.grad = None
        y = (x * 0).sqrt()
        (y * 0).sum().backward()
    show(x.grad)


def anomaly_as_function(mg):
    mg.autograd.set_detect_anomaly(True)
    show(mg.is_anomaly_enabled())
    mg.autograd.set_detect_anomaly(False)
    show(mg.is_anomaly_enabled())


def anomaly_induced(mg):
    """PyTorch: test_anomaly_assign_parent_cleanup, test_nested_anomaly_printstack_cleanup: what a backward pass records knows its maker."""
    x = mg.tensor([4.0], requires_grad=True)
    with mg.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        first, = mg.autograd.grad(x.sqrt(), x, create_graph=True)
        second, = mg.autograd.grad(first, x, create_graph=True)
        node = second.grad_fn
        while node is not None:
            print(node.name(), sorted(node.metadata))
            node = node.metadata.get("parent_")
        show(attempt(lambda: first.backward(mg.tensor([float("nan")]))))
    for warning in said:
        show([line for line in str(warning.message).splitlines() if line.startswith(("Error detected", "Previous calculation"))])
    show(sorted(mg.autograd.grad(x.sqrt(), x, create_graph=True)[0].grad_fn.metadata))


def anomaly_in_functions(mg):
    class NaN(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad * float("nan")

    x = _x(mg)
    (NaN.apply(x)).sum().backward()
    show(x.grad)

    def run():
        with mg.autograd.set_detect_anomaly(True):
            NaN.apply(x).sum().backward()

    error = attempt(run)
    print(f"{type(error).__name__}: {error}")


def operations_in_unpack_hooks(mg):
    """They are the user's, not the formula's."""
    x = _x(mg)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        chosen, powers = x.masked_select(x > 1), x ** 3
    show(attempt(lambda: mg.autograd.grad(chosen.sum(), x, create_graph=True)))
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (t * 2) / 2 + 1 - 1):
        cubes = x ** 3
    for y in (powers, cubes):
        grad, = mg.autograd.grad(y.sum(), x, create_graph=True)
        show(grad, tree(grad))


def saved_tensors_that_look_otherwise_later(mg):
    """A formula then makes a gradient of another shape or type, also where nothing else would ask how it looks."""
    def product(unpack=None, data=None):
        x, factor = mg.ones(2, 2, requires_grad=True), mg.ones(2, 2)
        if unpack is None:
            y = x * factor
            factor.data = data
        else:
            with mg.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
                y = x * factor
        y.backward(mg.ones(2, 2))
        return x.grad, x.grad.dtype

    for change in (lambda t: t.expand(3, *t.shape), lambda t: t.double(), lambda t: t[:1]):
        show(attempt(lambda change=change: product(unpack=change)))
        show(attempt(lambda change=change: product(data=change(mg.ones(2, 2)))))
def hooks_of_one_saved_tensor(mg):
    """PyTorch: test_register_hooks_on_saved_tensors; a node's names for what it saved."""
    x = _x(mg)
    y = x * x
    node = y.grad_fn
    show([name for name in dir(node) if name.startswith(("_saved", "_raw_saved"))])
    raw = node._raw_saved_other
    raw.register_hooks(lambda t: (show("pack", t), t.detach().numpy())[1], lambda a: (show("unpack"), mg.from_numpy(a))[1])
    show(node._saved_other)
    show(attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t)))
    show(attempt(lambda: (x * 2).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)))
    show(attempt(lambda: (x + 1).grad_fn._raw_saved_alpha))
    y.sum().backward()
    show(x.grad, attempt(lambda: node._raw_saved_self.register_hooks(lambda t: t, lambda t: t)))
    z = x.exp()
    z.grad_fn._raw_saved_result.register_hooks(lambda t: 3, lambda n: mg.full((2,), float(n)))
    z.sum().backward()
    show(x.grad)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * x
    show(attempt(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)))

    class Double(mg.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, grad):
            show(*ctx.saved_tensors)
            return grad * 2

    y = Double.apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t * 5, lambda t: t)
    y.sum().backward()


def anomaly_flags(mg):
    def flags():
        show(mg.is_anomaly_enabled(), mg.is_anomaly_check_nan_enabled())

    flags()
    with mg.autograd.set_detect_anomaly(True, check_nan=False):
        flags()
    flags()
    with mg.autograd.detect_anomaly(check_nan=False):
        flags()
    mg.autograd.set_detect_anomaly(False)
    flags()
