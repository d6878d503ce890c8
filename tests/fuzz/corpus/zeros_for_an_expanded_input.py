# ruff: noqa
v0 = mg.tensor([[[1.0, 1.0]], [[1.0, 1.0]]], requires_grad=True)
with mg.no_grad(): v1 = v0.expand(2, -1, -1, -1)
v2 = mg.autograd.grad(v1.sum(), v1, materialize_grads=True)[0]
v3 = v2 * 2
look()
