# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""autograd.Function and its ctx."""
from __future__ import annotations

import gc
import weakref

from ..harness import attempt, show, tree


def _x(mg):
    return mg.tensor([1.0, 2.0], requires_grad=True)


def _double(mg):
    class Double(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    Double.__qualname__ = "Double"      # as if it stood outside: texts say this name
    return Double


def basics(mg):
    """PyTorch: test_function"""
    class Scale(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            ctx.save_for_backward(x)
            show("in forward:", x.requires_grad, mg.is_grad_enabled(), ctx.needs_input_grad)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            show("in backward:", mg.is_grad_enabled(), grad, ctx.needs_input_grad, ctx.saved_tensors,
                 len(ctx.saved_tensors))
            return grad * ctx.factor, None

    x = _x(mg)
    y = Scale.apply(x, 3)
    show(y, tree(y), y.grad_fn.name(), y.grad_fn.next_functions[0][1], type(y.grad_fn).__name__)
    print(y)
    y.sum().backward()
    show(x.grad, attempt(lambda: y.sum().backward()))
    show(Scale.apply(mg.ones(1), 2).requires_grad)
    with mg.no_grad():
        show(Scale.apply(x, 2).requires_grad)
    show(y.grad_fn.factor if hasattr(y.grad_fn, "factor") else "none")


def several_inputs_and_outputs(mg):
    class Both(mg.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b, a + b

        @staticmethod
        def backward(ctx, product, total):
            a, b = ctx.saved_tensors
            show("got", product, total)
            return product * b + total, product * a + total

    x, y = _x(mg), _x(mg)
    p, q = Both.apply(x, y)
    show(tree(p), p.output_nr, q.output_nr, p.grad_fn is q.grad_fn)
    p.sum().backward()
    show(x.grad, y.grad)
    p, q = Both.apply(x, mg.ones(2))
    (p + q).sum().backward()
    show(x.grad)


def set_materialize_grads(mg):
    """PyTorch: test_set_materialize_non_diff_grads, test_function_returns_undefined_tensor"""
    class Both(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            show("got", a, b)
            return a if b is None else b

    x = _x(mg)
    p, q = Both.apply(x)
    q.sum().backward()
    show(x.grad)


def returns_none(mg):
    """PyTorch: test_function_returns_undefined_tensor, test_function_returns_input"""
    class Nothing(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    x = _x(mg)
    Nothing.apply(x).sum().backward()
    show(x.grad)
    Nothing.apply(x ** 2).sum().backward()
    show(x.grad)
    Nothing.apply(x).sum().backward()
    show(x.grad, mg.autograd.grad(Nothing.apply(x).sum(), x, allow_unused=True))
    show(attempt(lambda: mg.autograd.grad(Nothing.apply(x).sum(), x)))


def wrong_backwards(mg):
    """PyTorch: test_invalid_gradients, test_custom_function_exception"""
    def returning(*gradients):
        class Wrong(mg.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * y

            @staticmethod
            def backward(ctx, grad):
                return gradients

        return Wrong

    x, y = _x(mg), _x(mg)
    for gradients in [(mg.ones(2),), (mg.ones(2),) * 3, (mg.ones(2), mg.ones(2), None), (mg.ones(3), mg.ones(2)),
                      (mg.ones(2, dtype=mg.float64), mg.ones(2)), (1.0, mg.ones(2)), (mg.ones(1, 2), mg.ones(2)),
                      (mg.ones(2, 2), mg.ones(2))]:
        show([tuple(g.shape) if hasattr(g, "shape") else g for g in gradients],
             attempt(lambda: mg.autograd.grad(returning(*gradients).apply(x, y).sum(), (x, y))))
    show(attempt(lambda: returning(mg.ones(2), mg.ones(2)).apply(x, mg.ones(2)).sum().backward()), x.grad)

    class NoBackward(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    show(attempt(lambda: NoBackward.apply(x).sum().backward()))

    class NoForward(mg.autograd.Function):
        pass

    show(attempt(lambda: NoForward.apply(x)))

    class Raises(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("from backward")

    show(attempt(lambda: Raises.apply(x).sum().backward()))

    class RaisesForward(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise ValueError("from forward")

    show(attempt(lambda: RaisesForward.apply(x)))

    class ReturnsText(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return "text", x * 2, None

        @staticmethod
        def backward(ctx, *grads):
            show("got", grads)
            return grads[1]

    label, value, nothing = ReturnsText.apply(x)
    show(label, value, nothing)
    value.sum().backward()
    show(x.grad)


def mark_non_differentiable(mg):
    """PyTorch: test_mark_non_differentiable, test_mark_non_differentiable_mixed, test_mark_non_differentiable_none"""
    class Positive(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            mask = x > 0
            ctx.mark_non_differentiable(mask)
            return mask

        @staticmethod
        def backward(ctx, grad):
            return (grad * 0).to(mg.float32)

    x = mg.tensor([-1.0, 2.0], requires_grad=True)
    mask = Positive.apply(x)
    show(mask, mask.requires_grad)
    x.masked_fill(mask, 0).sum().backward()
    show(x.grad)

    class Mixed(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x + 1, x + 2
            ctx.mark_non_differentiable(a)
            return a, b

        @staticmethod
        def backward(ctx, grad_a, grad_b):
            show("got", grad_a, grad_b)
            return grad_b

    a, b = Mixed.apply(x)
    show(a.requires_grad, b.requires_grad)
    b.sum().backward()
    show(x.grad)

    class Frozen(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.clone()
            ctx.mark_non_differentiable(out)
            return out

        @staticmethod
        def backward(ctx, grad):
            return None

    show(Frozen.apply(x * x).requires_grad, mg.sum(Frozen.apply(x * x) + x).requires_grad)


def mark_dirty(mg):
    """PyTorch: test_custom_function_local_inplace, test_return_leaf_inplace, test_inplace"""
    class AddOne(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 10

    x = _x(mg)
    y = x * 2
    z = AddOne.apply(y)
    show(z is y, tree(y), y._version, y)
    y.sum().backward()
    show(x.grad)
    show(attempt(lambda: AddOne.apply(x)))
    plain = mg.zeros(2)
    show(AddOne.apply(plain) is plain, plain, plain._version)

    class Unmarked(AddOne):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            return x

    w = _x(mg) * 2
    r = Unmarked.apply(w)
    show(r is w, tree(r), tree(w), w._version)

    class Twice(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, add):
            view = x.clone()[:3]
            if add:
                view += 2
            return view

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    v = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for add in (False, True):
        out = Twice.apply(v, add)
        out.sum().backward()
        show(out, v.grad, type(out.grad_fn).__name__)


def leaf_returned_in_place(mg):
    """PyTorch: test_return_leaf_inplace"""
    class Into(mg.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            return a.add_(b), b + 2

        @staticmethod
        def backward(ctx, grad_a, grad_b):
            return grad_a, grad_a + grad_b

    x, y = mg.ones(2), _x(mg)
    q, p = Into.apply(x, y)
    show(q is x, tree(q), q.requires_grad, p)
    q.sum().backward()
    show(y.grad)


def returns_an_input(mg):
    """PyTorch: test_return_leaf, test_function_returns_input"""
    class Same(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = _x(mg)
    y = Same.apply(x)
    show(y is x, y.data_ptr() == x.data_ptr(), tree(y), y._base is x, y._is_view())
    y.sum().backward()
    show(x.grad)
    show(attempt(lambda: y.add_(1)))

    class ViewOf(Same):
        @staticmethod
        def forward(ctx, x):
            return x.view(2, 1)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(2)

    v = ViewOf.apply(x * 1)
    show(v._is_view(), tree(v), attempt(lambda: v.mul_(2)))


def saves_none(mg):
    """PyTorch: test_save_none_for_backward"""
    class Save(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(None, x, None)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            a, x, b = ctx.saved_tensors
            show(a, b)
            return 2 * x * grad

    x = _x(mg)
    Save.apply(x).sum().backward()
    show(x.grad)


def saved_tensors_are_checked(mg):
    """PyTorch: test_custom_function_saved_tensors"""
    class Square(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            show(tree(y) if y.grad_fn is not None else "no graph", x.requires_grad)
            return 2 * x * grad

    x = _x(mg)
    y = Square.apply(x)
    y.sum().backward(retain_graph=True)
    y.add_(1)
    show(attempt(lambda: y.sum().backward()))
    z = x * 1
    w = Square.apply(z)
    z.mul_(2)
    show(attempt(lambda: w.sum().backward()))
    show(attempt(lambda: w.grad_fn.saved_tensors))
    v = Square.apply(x)
    v.sum().backward()
    show(attempt(lambda: v.grad_fn.saved_tensors))

    class SaveText(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward("text")
            return x * 1

    show(attempt(lambda: SaveText.apply(x)))


def double_backward(mg):
    class Cube(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            show("grad mode", mg.is_grad_enabled())
            return grad * 3 * x * x

    x = _x(mg)
    g, = mg.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    show(g, mg.autograd.grad(g.sum(), x))
    show(mg.autograd.grad(Cube.apply(x).sum(), x))


def once_differentiable(mg):
    """PyTorch: test_once_differentiable"""
    class Square(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @mg.autograd.function.once_differentiable
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            show("grad mode", mg.is_grad_enabled())
            return 2 * x * grad

    x = _x(mg)
    Square.apply(x).sum().backward()
    show(x.grad)
    g, = mg.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    show(g, tree(g), attempt(lambda: g.sum().backward()))


def setup_context(mg):
    """PyTorch: test_custom_function_setup_context_simple, test_custom_function_setup_context_multi_output"""
    class Scale(mg.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor, x + factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            show("set up", len(inputs), type(output).__name__)
            ctx.factor = inputs[1]
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, product, total):
            return product * ctx.factor + total, None

    x = _x(mg)
    p, q = Scale.apply(x, 3)
    (p + q).sum().backward()
    show(x.grad, tree(p))


def inputs_of_all_kinds(mg):
    class Mixed(mg.autograd.Function):
        @staticmethod
        def forward(ctx, number, x, text, frozen, pair, other=None):
            show(ctx.needs_input_grad, other)
            return x * number

        @staticmethod
        def backward(ctx, grad):
            return None, grad, None, None, None, None

    x = _x(mg)
    y = Mixed.apply(2, x, "t", mg.ones(1), [x], None)
    show(tree(y))
    y.sum().backward()
    show(x.grad)
    show(attempt(lambda: Mixed.apply(2, x, "t", mg.ones(1), [x], other=None)))


def ctx_is_the_node(mg):
    class Keep(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.note = "kept"
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            show("note", ctx.note, ctx.name())
            return grad

    x = _x(mg)
    y = Keep.apply(x)
    show(y.grad_fn.note, isinstance(y.grad_fn, mg.autograd.graph.Node))
    y.sum().backward()
    show(y.grad_fn.needs_input_grad)


def freed_with_the_tensor(mg):
    """PyTorch: test_gc_in_destructor"""
    class Collector:
        def __del__(self):
            gc.collect()

    class Keep(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, thing):
            ctx.thing = thing
            return x + 1

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x = _x(mg)
    for _ in range(3):
        thing = Collector()
        ref = weakref.ref(thing)
        y = Keep.apply(x, thing)
        del thing
        y.sum().backward()
        del y
    gc.collect()
    show(ref() is None, x.grad)


def inner_graph(mg):
    class Inner(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with mg.enable_grad():
                y = x * 2
            show(y.requires_grad)
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = _x(mg)
    show(tree(Inner.apply(x)))


def called_as_an_object(mg):
    """As functions were used before 0.4: an instance, called; and today's, with arguments by name."""
    class Doubled(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor=2):
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    class Old(mg.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 2

    x = mg.ones(1, requires_grad=True)
    for call in [lambda: Doubled()(x), lambda: Doubled(3)(x), lambda: Doubled().apply(x), lambda: Old()(x), lambda: Old.apply(x),
                 lambda: Doubled.apply(x, factor=3), lambda: Doubled.apply(x, times=3)]:
        show(attempt(call))


def function_errors(mg):
    class Plain(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = _x(mg)
    show(attempt(lambda: Plain.apply()), attempt(lambda: Plain.forward(None, x)))
    show(attempt(lambda: Plain.apply(x, 1)))

    class Instance(mg.autograd.Function):
        def forward(self, x):
            return x

    show(attempt(lambda: Instance.apply(x).requires_grad))


def an_instance_of_a_function(mg):
    """How a Function was used before PyTorch 0.4."""
    show(attempt(lambda: _double(mg)()(_x(mg))))
    show(_double(mg)().apply(_x(mg)))


def names_of_classes(mg):
    """What print(type(x)) says."""
    x = mg.ones(2, requires_grad=True)
    y = x * 2
    z = x.clone()
    z[0] = 1

    for thing in (x, y, mg.nn.Parameter(x), x.shape, x.dtype, x.device, y.grad_fn, y.grad_fn.next_functions[0][0], z.grad_fn,
                  _double(mg).apply(x).grad_fn, x.max(0)):
        show(str(type(thing)))
