"""jacobian, hessian, vjp, jvp, hvp; gradcheck and gradgradcheck."""
from __future__ import annotations

from ..harness import attempt, show


def _x(mg, *values):
    return mg.tensor(list(values), dtype=mg.float64)


def jacobian(mg):
    F = mg.autograd.functional
    x, y = _x(mg, 1.0, 2.0), _x(mg, 3.0, 4.0)
    show(F.jacobian(lambda a: a * a, x))
    show(F.jacobian(lambda a, b: a * b, (x, y)))
    show(F.jacobian(lambda a: (a.sum(), a * 2), x))
    show(F.jacobian(lambda a: a.sum(), x), F.jacobian(lambda a: mg.outer(a, a), x).shape)
    show(F.jacobian(lambda a: a * a, x, create_graph=True).requires_grad,
         F.jacobian(lambda a: a.exp(), x.requires_grad_()).requires_grad)
    show(F.jacobian(lambda a: a.detach() * 2 + a * 0, _x(mg, 1.0, 2.0)))
    show(attempt(lambda: F.jacobian(lambda a: mg.ones(2, dtype=mg.float64), x)))
    show(attempt(lambda: F.jacobian(lambda a: mg.ones(2, dtype=mg.float64), x, strict=True)))
    show(attempt(lambda: F.jacobian(lambda a: 1.0, x)), attempt(lambda: F.jacobian(lambda a: a, 1.0)))
    show(F.jacobian(lambda a: a * 3, x, vectorize=True))


def hessian(mg):
    F = mg.autograd.functional
    x, y = _x(mg, 1.0, 2.0), _x(mg, 3.0, 4.0)
    show(F.hessian(lambda a: (a ** 3).sum(), x))
    show(F.hessian(lambda a, b: (a * b).sum(), (x, y)))
    show(F.hessian(lambda a: a.sum(), x), attempt(lambda: F.hessian(lambda a: a, x)))
    show(F.hessian(lambda a: (a ** 2).sum(), x, create_graph=True).requires_grad)


def products(mg):
    F = mg.autograd.functional
    x, v = _x(mg, 1.0, 2.0), _x(mg, 1.0, 10.0)
    show(F.vjp(lambda a: a * a, x, v))
    show(F.jvp(lambda a: a * a, x, v))
    show(F.hvp(lambda a: (a ** 3).sum(), x, v))
    show(F.vhp(lambda a: (a ** 3).sum(), x, v))
    show(F.vjp(lambda a: a.sum(), x))
    show(F.vjp(lambda a, b: a * b, (x, v), v))
    show(attempt(lambda: F.vjp(lambda a: a * a, x)), attempt(lambda: F.jvp(lambda a: a * a, x)))
    show(attempt(lambda: F.vjp(lambda a: a * a, x, mg.ones(3, dtype=mg.float64))))
    show(F.vjp(lambda a: a * a, x, v, create_graph=True)[1].requires_grad)


def gradcheck(mg):
    """PyTorch: test_gradcheck_single_input"""
    check, second = mg.autograd.gradcheck, mg.autograd.gradgradcheck
    x, y = _x(mg, 0.5, 1.5).requires_grad_(), _x(mg, 2.0, 3.0).requires_grad_()
    show(check(lambda a: a.sin() * a, (x,)), check(lambda a: a * 2, x), check(lambda a, b: a * b, (x, y)))
    show(check(lambda a: (a * 2, a ** 2), x), second(lambda a: a ** 3, x), check(lambda a: a.sum(), [x]))
    show(check(lambda a, b: a * b.detach(), (x, _x(mg, 1.0, 1.0))))
    show(attempt(lambda: check(lambda a: a * 2, _x(mg, 1.0))))
    show(check(lambda a: a.detach() * 2 + a * 0, x, raise_exception=False),
         check(lambda a: a * 2, x, eps=1e-6, atol=1e-4))


def gradcheck_finds_errors(mg):
    class Wrong(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = _x(mg, 0.5, 1.5).requires_grad_()
    error = attempt(lambda: mg.autograd.gradcheck(Wrong.apply, x))
    show(type(error).__mro__[1].__name__, type(error).__name__, str(error).splitlines()[0])
    show(mg.autograd.gradcheck(Wrong.apply, x, raise_exception=False))
    show(mg.autograd.gradgradcheck(lambda a: Wrong.apply(a) * a, x, raise_exception=False))


def gradcheck_of_float32_warns(mg):
    x = mg.tensor([1.0], requires_grad=True)
    show(mg.autograd.gradcheck(lambda a: a * 2, x, raise_exception=False))
