"""Who keeps a gradient, and what shares what: retain_grad, detach, detach_, data, clone, deepcopy, storage."""
from __future__ import annotations

import copy
import gc
import weakref

from ..harness import attempt, show, tree


def retain_grad(mg):
    """PyTorch: test_retain_grad"""
    x = mg.tensor([1.0, 3.0], requires_grad=True)
    h = x * x
    out = (h * h).sum()
    show(h.grad, h.retains_grad)
    h.retain_grad()
    h.retain_grad()
    show(h.retains_grad)
    out.backward(retain_graph=True)
    show(h.grad)
    out.backward(retain_graph=True)
    show(h.grad, x.grad)
    x.retain_grad()
    x.retain_grad()
    out.backward()
    show(h.grad, x.grad, x.retains_grad)


def retain_grad_keeps_no_tensor_alive(mg):
    """PyTorch: test_retain_grad_cycle"""
    x = mg.ones(5, requires_grad=True)

    def run():
        y = x * 2
        y.retain_grad()
        return y / 2, weakref.ref(y)

    z, ref = run()
    gc.collect()
    show(ref() is None)
    z.sum().backward()
    show(x.grad)


def retain_grad_and_in_place(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    show(y.retains_grad)
    y.sum().backward()
    show(y.grad, x.grad)
    z = x * 2
    z.mul_(3)
    z.retain_grad()
    z.sum().backward()
    show(z.grad)


def retain_grad_and_no_grad_backward(mg):
    x = mg.tensor([1.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y * 3
    z.retain_grad()
    z.backward()
    show(y.grad, z.grad, x.grad, y.grad.requires_grad)
    w = y.detach()
    show(w.retains_grad, w.grad)


def retained_grad_is_its_own(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x + 0
    y.retain_grad()
    y.sum().backward()
    y.grad.mul_(10)
    show(y.grad, x.grad)
    (x * 1).sum().backward()
    show(x.grad, y.grad)


def grad_of_nonleaf_warns(mg):
    """PyTorch: test_nonleaf_grad"""
    x = mg.tensor([1.0], requires_grad=True)
    y = x * 2
    show(y.grad)
    y.retain_grad()
    show(y.grad)
    y.backward()
    show(y.grad)
    z = (x * 2).detach()
    show(z.grad, mg.tensor([1.0]).grad)


def detach(mg):
    """PyTorch: test_detach"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x + 2
    y = y.detach()
    z = y * 4 + 2
    show(y.requires_grad, z.requires_grad, y.grad_fn, y.is_leaf)
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y = y.detach()
    show(y.requires_grad, y.grad_fn)
    z = x + y
    z.sum().backward()
    show(x.grad, y.grad)


def detach_inplace(mg):
    """PyTorch: test_detach"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    show(y.detach_() is y, y.requires_grad, y.grad_fn, y.is_leaf)
    z = x * y
    z.sum().backward()
    show(x.grad)
    show(attempt(lambda: x.detach_()), x.requires_grad)
    w = x.view(2)
    show(attempt(lambda: w.detach_()))
    a, b = (y * 2).split(1)
    show(attempt(lambda: a.detach_()))


def detached_views(mg):
    """PyTorch: test_detach_base"""
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    view = (x * 2).narrow(0, 0, 2)
    show(attempt(lambda: view.detach_()))
    y = mg.ones(3)
    part = y.narrow(0, 0, 2)
    y.requires_grad_()
    show(part.requires_grad, attempt(lambda: part.detach_()))
    base = mg.ones(3, requires_grad=True)
    row = base.narrow(0, 0, 2)
    base.detach_()
    show(base.requires_grad, row.requires_grad, row.grad_fn is not None, row._base is base)
    plain = mg.ones(3, requires_grad=True)
    row = plain[:2]
    detached = plain.detach()
    show(row.requires_grad, detached.requires_grad, detached._base is None, row.detach()._base is None,
         plain.view(3).detach()._base is None)


def detach_shares(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    d, e = x.detach(), x.data
    show(d.data_ptr() == x.data_ptr(), e.data_ptr() == x.data_ptr(), d._version, e._version)
    d.add_(1)
    show(x, d, e, x._version, d._version, e._version)
    e.add_(1)
    show(x, d, e, x._version, d._version, e._version)
    show(d._base, e._base, d.is_leaf, e.is_leaf, d.requires_grad, e.requires_grad)


def data_hides_from_the_version(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.data.zero_()
    y.sum().backward()
    show(x.grad, x._version)


def set_data(mg):
    """PyTorch: test_set_data_preserve_pyobj"""
    a, b = mg.tensor([1.0, 2.0]), mg.tensor([3.0, 4.0])
    identity = id(b)
    b.data = a
    show(id(b) == identity, b, b.data_ptr() == a.data_ptr())
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.data = mg.tensor([5.0, 6.0])
    show(x, x.is_leaf, x._version)
    y.sum().backward()
    show(x.grad)
    x.data = mg.tensor([1.0, 2.0, 3.0])
    show(x, x.shape, x.grad)
    show(attempt(lambda: setattr(x, "data", mg.tensor([1]))))


def clone(mg):
    """PyTorch: TestTorchDeviceType.test_clone_zero_stride_dim"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    show(y.requires_grad, y.is_leaf, y.data_ptr() == x.data_ptr(), y._version)
    y.add_(1)
    show(x, y)
    y.sum().backward()
    show(x.grad)
    t = mg.arange(6.0).view(2, 3).t()
    show(t.clone().stride(), t.clone().is_contiguous(), t.contiguous().stride())
    wide = mg.arange(2.0)[:, None].expand(2, 3)
    show(wide.stride(), wide.clone().stride(), wide.clone())
    show(mg.arange(4.0).view(4, 1, 1).expand(4, 1, 3)[:, :, 0].clone().stride())


def clone_and_detach_order(mg):
    x = mg.tensor([1.0], requires_grad=True)
    a, b = x.clone().detach(), x.detach().clone()
    show(a.requires_grad, b.requires_grad, a._base, b._base, a._version, b._version)


def deepcopy(mg):
    """PyTorch: TestTorch.test_deepcopy_parameter, TestTorch.test_deepcopy_gradient"""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    show(y, y.grad, y.is_leaf, y.data_ptr() == x.data_ptr(), y.grad.data_ptr() == x.grad.data_ptr(), y._version)
    show(attempt(lambda: copy.deepcopy(x * 2)))
    z = copy.copy(x)
    show(z is x, z.data_ptr() == x.data_ptr(), z)
    layer = mg.nn.Linear(1, 1)
    twin = copy.deepcopy(layer)
    show(type(twin.weight).__name__, mg.equal(twin.weight, layer.weight), twin.weight is layer.weight,
         twin.weight.requires_grad)
    kept, plain = layer.state_dict(keep_vars=True), layer.state_dict()
    show(type(kept["weight"]).__name__, type(plain["weight"]).__name__, type(copy.deepcopy(kept)["weight"]).__name__,
         type(copy.deepcopy(plain)["weight"]).__name__, kept["weight"].requires_grad, plain["weight"].requires_grad)
    pair = copy.deepcopy([x, x, x.detach()])
    show(pair[0] is pair[1], pair[0].data_ptr() == pair[2].data_ptr())
    p = mg.nn.Parameter(mg.tensor([1.0]), requires_grad=False)
    show(type(copy.deepcopy(p)).__name__, copy.deepcopy(p).requires_grad)


def storage(mg):
    x = mg.arange(6.0)
    v = x.view(2, 3)[1, 1:]
    s = x.untyped_storage()
    show(s.nbytes(), len(s), v.storage_offset(), v.stride(), v.untyped_storage().nbytes(), v.data_ptr() - x.data_ptr())
    show(v.untyped_storage().data_ptr() == x.untyped_storage().data_ptr(), v.data_ptr() == x.data_ptr())
    show(x.storage().size(), v.storage()[1], x.storage().tolist())
    show(x.clone().untyped_storage().data_ptr() == s.data_ptr(), x.expand(3, 6).untyped_storage().nbytes())
    show(x.detach().untyped_storage().data_ptr() == s.data_ptr(), mg.zeros(0).untyped_storage().nbytes())
    y = x.double()
    show(y.untyped_storage().nbytes(), y.element_size(), x.t().storage_offset())


def versions_are_shared(mg):
    """PyTorch: test_version_counter"""
    x = mg.ones(2, 2)
    show(x._version)
    x[0] = 2.0
    show(x._version)
    v = x[0]
    v.add_(1)
    show(x._version, v._version, x.t()._version)
    d = x.detach()
    d.mul_(2)
    show(x._version, v._version, d._version)
    c = x.clone()
    show(c._version, x.data._version, (x + 1)._version)
    with mg.no_grad():
        x.zero_()
    show(x._version, d._version)
    x += 1
    show(x._version)
    x.requires_grad_()
    show(x._version)
    y = x * 2
    y.t_()
    show(y._version)
    y.squeeze_()
    y.unsqueeze_(0)
    show(y._version)
    y.detach_()
    show(y._version)
    z = mg.zeros(2)
    z.copy_(mg.ones(2))
    z.fill_(1)
    z[0] = z[1] = 5
    show(z._version)
    z[mg.tensor([0, 1])] = 1.0
    z[z > 0] = 0.0
    show(z._version)
    z.grad = mg.zeros(2)
    z.uniform_()
    show(z._version, z.data._version)


def optimizer_like_update(mg):
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        (w * w).sum().backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
            w.grad.zero_()
    show(w, w._version, w.grad, w.is_leaf)
    w = w - w.grad
    show(w.is_leaf, w.requires_grad, tree(w))


def straight_through(mg):
    x = mg.tensor([0.25, 0.75], requires_grad=True)
    y = x + (x.round() - x).detach()
    y.sum().backward()
    show(y, x.grad, tree(y))
