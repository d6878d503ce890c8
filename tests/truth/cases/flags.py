# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""requires_grad and is_leaf at every entry point."""
from __future__ import annotations

import numpy as np

from ..harness import attempt, show


def _flags(t):
    return t.requires_grad, t.is_leaf, t.grad_fn is None


def every_factory_takes_the_flag(mg):
    """PyTorch: test_requires_grad_factory"""
    for name, make in {"tensor": lambda **k: mg.tensor([1.0], **k), "zeros": lambda **k: mg.zeros(1, **k),
                       "ones": lambda **k: mg.ones(1, **k), "full": lambda **k: mg.full((1,), 2.0, **k),
                       "empty": lambda **k: mg.empty(1, **k), "eye": lambda **k: mg.eye(1, **k),
                       "arange": lambda **k: mg.arange(1.0, **k), "linspace": lambda **k: mg.linspace(0, 1, 2, **k),
                       "rand": lambda **k: mg.rand(1, **k), "randn": lambda **k: mg.randn(1, **k),
                       "zeros_like": lambda **k: mg.zeros_like(mg.ones(1), **k),
                       "ones_like": lambda **k: mg.ones_like(mg.ones(1), **k),
                       "full_like": lambda **k: mg.full_like(mg.ones(1), 2.0, **k),
                       "rand_like": lambda **k: mg.rand_like(mg.ones(1), **k),
                       "randn_like": lambda **k: mg.randn_like(mg.ones(1), **k),
                       "empty_like": lambda **k: mg.empty_like(mg.ones(1), **k),
                       "new_zeros": lambda **k: mg.ones(1).new_zeros(1, **k),
                       "new_ones": lambda **k: mg.ones(1).new_ones(1, **k),
                       "new_full": lambda **k: mg.ones(1).new_full((1,), 2.0, **k),
                       "new_tensor": lambda **k: mg.ones(1).new_tensor([1.0], **k), }.items():
        show(name, _flags(make()), _flags(make(requires_grad=True)))


def by_dtype(mg):
    """PyTorch: test_set_requires_grad_only_for_floats"""
    for name in ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"]:
        dtype = getattr(mg, name)
        t = mg.ones(1).to(dtype)
        show(name, attempt(lambda: t.requires_grad_().requires_grad),
             attempt(lambda: setattr(t, "requires_grad", True)),
             attempt(lambda: mg.zeros(1, dtype=dtype, requires_grad=True).requires_grad), t.is_floating_point())
        t.requires_grad = False
        show(" ", t.requires_grad)


def in_place_on_flags(mg):
    """PyTorch: test_requires_grad_inplace"""
    a, b = mg.ones(2), mg.ones(2, requires_grad=True)
    a += b
    show(_flags(a), a)
    c = mg.zeros(2)
    c[0] = b[0]
    show(_flags(c), c)
    d = mg.zeros(2)
    d.copy_(b)
    show(_flags(d))
    e = mg.zeros(2)
    with mg.no_grad():
        e += b
    show(_flags(e))


def results_of_likes_do_not_inherit(mg):
    x = mg.ones(2, requires_grad=True)
    for name in ["zeros_like", "ones_like", "empty_like", "rand_like"]:
        show(name, _flags(getattr(mg, name)(x)))
    show("new_tensor", _flags(x.new_tensor([1.0])), "clone", _flags(x.clone()), "detach", _flags(x.detach()),
         "data", _flags(x.data), "to same", x.to(mg.float32) is x, "to other", _flags(x.to(mg.float64)),
         "long", _flags(x.long()), "gt", _flags(x > 0), "argmax", _flags(x.argmax()))


def tensor_of_a_tensor(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = mg.tensor(x)
    show(_flags(y), y.data_ptr() == x.data_ptr())
    z = mg.tensor(x, requires_grad=True)
    show(_flags(z), z)
    show(mg.tensor([x[0], x[1]]))
    w = mg.as_tensor(x)
    show(w is x)


def conversions_and_leaves(mg):
    """A tensor changed on its way to the user's name is no leaf."""
    a = mg.rand(2, requires_grad=True).double()
    b = mg.rand(2).double().requires_grad_()
    c = mg.rand(2, requires_grad=True).to("cpu")
    d = mg.nn.Parameter(mg.ones(2) * 2)
    e = (mg.ones(2, requires_grad=True) * 2).detach().requires_grad_()
    show(*map(_flags, (a, b, c, d, e)))


def freezing_after_the_forward_pass(mg):
    x = mg.tensor([2.0], requires_grad=True)
    z = x * 3
    x.requires_grad_(False)
    show(_flags(x), _flags(z))
    z.backward()
    show(x.grad)
    y = mg.tensor([2.0])
    w = y * 3
    y.requires_grad_()
    show(_flags(w), attempt(w.backward), (y * 3).requires_grad)


def from_numpy_has_none(mg):
    """PyTorch: test_numpy_requires_grad"""
    array = np.ones(2)
    t = mg.from_numpy(array)
    show(_flags(t))
    x = t.requires_grad_()
    show(attempt(x.numpy), attempt(lambda: np.array(x)), x.detach().numpy(), attempt(lambda: x.numpy(force=True)))
    show(attempt(lambda: (x * 2).numpy()), (x * 2).detach().numpy())
    with mg.no_grad():
        show(attempt(x.numpy), (x * 2).numpy())


def grad_attribute(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    x.grad = mg.tensor([5.0, 5.0])
    (x * 2).sum().backward()
    show(x.grad)
    x.grad = None
    show(x.grad)
    (x * 2).sum().backward()
    x.grad.zero_()
    show(x.grad)
    del x.grad
    show(x.grad)
    frozen = mg.zeros(2)
    frozen.grad = mg.ones(2)
    show(frozen.grad, frozen.requires_grad)


def shape_and_size(mg):
    """PyTorch: test_shape"""
    x = mg.ones(3, 4, requires_grad=True)
    show(len(x.shape), x.shape[0], x.size(), x.size(1), x.size(-2), x.dim(), x.ndim, x.numel(), x.nelement(), len(x))
    print(x.shape, repr(x.size()), x.shape == (3, 4), x.shape.numel(), x.shape + (1,), x.shape[:1],
          type(x.shape[:1]).__name__)
    print(x.stride(), x.stride(0), x.is_contiguous(), x.t().is_contiguous(), x.t().stride(), x.element_size(),
          x.itemsize, x.nbytes)
    show(attempt(lambda: x.size(2)))


def wrong_ways_in(mg):
    x = mg.ones(1)
    show(attempt(lambda: mg.tensor([1.0], requires_grad=1)), attempt(lambda: x.requires_grad_("yes")))
    show(attempt(lambda: x.requires_grad_(requires_grad=True).requires_grad))
    show(attempt(lambda: mg.tensor([1], requires_grad=True)))
    show(attempt(lambda: mg.tensor([True, False]).requires_grad_()), attempt(lambda: mg.arange(3, requires_grad=True)))


def parameter_and_variable(mg):
    p = mg.nn.Parameter(mg.ones(2))
    q = mg.nn.Parameter(mg.ones(2), requires_grad=False)
    show(_flags(p), _flags(q), isinstance(p, mg.Tensor), isinstance(p, mg.nn.Parameter), type(p * 2).__name__,
         type(p.data).__name__)
    print(p)
    v = mg.autograd.Variable(mg.ones(2), requires_grad=True)
    show(_flags(v), isinstance(v, mg.Tensor), mg.is_tensor(v), mg.is_tensor(1.0))


def the_flag_is_a_bool(mg):
    x = mg.ones(2)
    for flag in (1, 0, "yes", None, 1.0, [], x, np.bool_(True)):
        for make in (lambda **k: mg.tensor([1.0], **k), lambda **k: mg.zeros(1, **k), lambda **k: mg.full((1,), 2.0, **k),
                     lambda **k: mg.arange(1.0, **k), lambda **k: mg.rand(1, **k), lambda **k: mg.ones_like(x, **k),
                     lambda **k: x.new_zeros(1, **k), lambda **k: mg.eye(1, **k)):
            result = attempt(lambda: make(requires_grad=flag))
            show(result if isinstance(result, Exception) else result.requires_grad)
