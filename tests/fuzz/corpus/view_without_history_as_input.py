# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
with mg.no_grad(): v1 = v0[0]
v2 = mg.tensor(1.0, requires_grad=True)
v3 = v2 * 2
v3.backward()
v4 = mg.autograd.grad(v3, v1, mg.ones_like(v3))[0]
