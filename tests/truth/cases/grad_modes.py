"""no_grad, enable_grad, set_grad_enabled, inference_mode: as contexts, decorators, around generators, over threads."""
from __future__ import annotations

import threading

from ..harness import attempt, show


def _x(mg):
    return mg.tensor([2.0], requires_grad=True)


def contexts(mg):
    """PyTorch: test_no_grad"""
    x = _x(mg)
    with mg.no_grad():
        w = x * 2
        show(mg.is_grad_enabled(), w.requires_grad)
        with mg.enable_grad():
            show(mg.is_grad_enabled(), (x * 2).requires_grad)
        with mg.set_grad_enabled(True):
            show(mg.is_grad_enabled())
        show(mg.is_grad_enabled())
    show(mg.is_grad_enabled())
    with mg.set_grad_enabled(False):
        show(mg.is_grad_enabled(), (x * 2).requires_grad)
    show(mg.is_grad_enabled(), (w * x).requires_grad)


def left_by_an_exception(mg):
    """PyTorch: test_no_grad"""
    def fail():
        with mg.no_grad():
            raise ValueError("inside")

    show(attempt(fail), mg.is_grad_enabled())


def decorators(mg):
    """PyTorch: test_no_grad_python_function, test_enable_grad_decorator_no_paren"""
    @mg.no_grad()
    def double(x):
        """Twice x."""
        return x * 2, mg.is_grad_enabled()

    @mg.no_grad
    def bare(x):
        return x * 2, mg.is_grad_enabled()

    @mg.enable_grad
    def on(x):
        return x * 2, mg.is_grad_enabled()

    @mg.set_grad_enabled(False)
    def off(x):
        return x * 2, mg.is_grad_enabled()

    x = _x(mg)
    show(double(x), bare(x), on(x), off(x))
    with mg.no_grad():
        show(on(x), double(x))
    show(double.__name__, double.__doc__, mg.is_grad_enabled())


def set_grad_enabled_called(mg):
    show(mg.set_grad_enabled(False) is None, mg.is_grad_enabled())
    show((_x(mg) * 2).requires_grad)
    mg.set_grad_enabled(True)
    show(mg.is_grad_enabled())
    with mg.set_grad_enabled(False):
        mg.set_grad_enabled(True)
        show(mg.is_grad_enabled())
    show(mg.is_grad_enabled(), attempt(lambda: mg.set_grad_enabled("yes") and None))
    mg.set_grad_enabled(True)


def set_grad_enabled_wraps(mg):
    """PyTorch: test_set_grad_enabled_wraps"""
    for decorated in [True, False]:
        with mg.enable_grad():
            if decorated:
                @mg.set_grad_enabled(False)
                def inner(x):
                    return x.sin()
            else:
                def inner(x):
                    return x.sin()
                inner = mg.set_grad_enabled(False)(inner)
            show(mg.is_grad_enabled(), inner(_x(mg)).requires_grad, mg.is_grad_enabled())


def decorated_recursion(mg):
    @mg.enable_grad()
    def down(n):
        return [mg.is_grad_enabled()] + (down(n - 1) if n else [])

    with mg.no_grad():
        show(down(3), mg.is_grad_enabled())


def generators(mg):
    """PyTorch: test_set_grad_generator_functions, test_set_grad_generator_functions_recursive"""
    @mg.no_grad()
    def quiet():
        for i in range(2):
            show("inside", mg.is_grad_enabled())
            got = yield i
            show("got", got)

    steps = quiet()
    show(next(steps), mg.is_grad_enabled())
    show(steps.send("a"), mg.is_grad_enabled())
    show(next(steps, "end"), mg.is_grad_enabled())

    @mg.enable_grad()
    def inner():
        yield mg.is_grad_enabled()
        yield mg.is_grad_enabled()

    @mg.no_grad()
    def outer():
        yield mg.is_grad_enabled()
        yield from inner()
        yield mg.is_grad_enabled()

    show(list(outer()), mg.is_grad_enabled())


def generator_recursion(mg):
    """PyTorch: test_set_grad_generator_functions_recursive"""
    @mg.enable_grad()
    def enabled(depth):
        if depth > 0:
            show(mg.is_grad_enabled())
            yield
            yield from disabled(depth - 1)
            show(mg.is_grad_enabled())
            yield

    @mg.no_grad()
    def disabled(depth):
        if depth > 0:
            show(mg.is_grad_enabled())
            yield
            yield from enabled(depth - 1)
            show(mg.is_grad_enabled())
            yield

    for _ in enabled(4):
        show("out", mg.is_grad_enabled())


def generator_that_is_closed_or_thrown_into(mg):
    @mg.no_grad()
    def quiet():
        try:
            yield 1
        except ValueError as error:
            show("caught", error, mg.is_grad_enabled())
            yield 2
        finally:
            show("finally", mg.is_grad_enabled())

    steps = quiet()
    next(steps)
    show(steps.throw(ValueError("thrown")), mg.is_grad_enabled())
    steps.close()
    show(mg.is_grad_enabled())


def generator_without_a_decorator_leaks(mg):
    def quiet():
        with mg.no_grad():
            yield 1
            yield 2

    steps = quiet()
    next(steps)
    show(mg.is_grad_enabled())
    steps.close()
    show(mg.is_grad_enabled())


def decorated_class(mg):
    @mg.no_grad()
    class Quiet:
        def __init__(self):
            self.flag = mg.is_grad_enabled()

    show(Quiet().flag)


def one_context_used_twice(mg):
    off = mg.no_grad()
    for _ in range(2):
        with off:
            show(mg.is_grad_enabled())
        show(mg.is_grad_enabled())


def threads_have_their_own(mg):
    seen = []
    with mg.no_grad():
        thread = threading.Thread(target=lambda: seen.append(mg.is_grad_enabled()))
        thread.start()
        thread.join()
    show(seen)
    thread = threading.Thread(target=lambda: mg.set_grad_enabled(False))
    thread.start()
    thread.join()
    show(mg.is_grad_enabled())


def no_grad_does_not_touch_leaves(mg):
    """PyTorch: test_no_grad_modifies_version"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = mg.tensor([3.0, 4.0], requires_grad=True)
    z = (x * y).sum()
    with mg.no_grad():
        x *= 2
        show(x.requires_grad, x.is_leaf, x._version, x)
    show(attempt(z.backward))


def backward_under_no_grad(mg):
    """PyTorch: test_backward_no_grad"""
    x = _x(mg)
    y = x * x
    with mg.no_grad():
        y.backward()
    show(x.grad)
    z = x * x
    with mg.no_grad():
        show(attempt(lambda: mg.autograd.grad(z, x, create_graph=True)))


def creation_under_no_grad(mg):
    with mg.no_grad():
        a = mg.ones(1, requires_grad=True)
        b = mg.nn.Parameter(mg.ones(1))
        c = (a * 2).requires_grad_()
        show(a.requires_grad, b.requires_grad, c.requires_grad, c.is_leaf)
    show((a * b * c).requires_grad)


def inference_mode_flags(mg):
    x = _x(mg)
    with mg.inference_mode():
        show(mg.is_inference_mode_enabled(), mg.is_grad_enabled())
        y = x * 2
        v = x.view(1)
        n = mg.ones(1, requires_grad=True)
        show(y.requires_grad, y.is_inference(), v.requires_grad, v.is_inference(), x.is_inference(), n.requires_grad,
             n.is_leaf)
        show(attempt(lambda: y._version))
        y.add_(1)
        show((n * 2).requires_grad)
    show(mg.is_inference_mode_enabled(), mg.is_grad_enabled())
    show(attempt(lambda: y * x))
    show(attempt(lambda: y.add_(1)), attempt(lambda: y.requires_grad_()), attempt(lambda: (y * 2).requires_grad))
    show((y.clone() * x).requires_grad, y.clone().is_inference())
    show(attempt(lambda: y.backward()))


def inference_mode_switch(mg):
    with mg.inference_mode(False):
        show(mg.is_inference_mode_enabled(), (_x(mg) * 2).requires_grad)

    @mg.inference_mode()
    def quiet(x):
        return mg.is_inference_mode_enabled(), (x * 2).requires_grad

    @mg.inference_mode
    def bare(x):
        return mg.is_inference_mode_enabled()

    show(quiet(_x(mg)), bare(_x(mg)), mg.is_inference_mode_enabled())
    with mg.inference_mode(), mg.enable_grad():
        show(mg.is_grad_enabled(), (_x(mg) * 2).requires_grad)


def inference_leaf_in_place(mg):
    x = _x(mg)
    with mg.inference_mode():
        x.add_(1)
    show(x, x._version)
    y = x * x
    with mg.inference_mode():
        x.add_(1)
    show(attempt(y.backward))


def one_object_entered_twice(mg):
    """It remembers one mode before, so that the outer exit restores what the inner entry found."""
    for make in (mg.no_grad, mg.enable_grad):
        mode = make()
        with mode:
            with mode:
                show(mg.is_grad_enabled())
            show(mg.is_grad_enabled())
        show(mg.is_grad_enabled(), mg.is_inference_mode_enabled())
        mg.set_grad_enabled(True)
    show(repr(mg.set_grad_enabled(True)), repr(mg.set_grad_enabled(False)))
    mg.set_grad_enabled(True)
