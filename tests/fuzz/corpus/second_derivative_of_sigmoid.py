# ruff: noqa
v0 = mg.tensor(1.0, requires_grad=True)
v1 = v0.sigmoid()
v2 = mg.autograd.grad(v1.sum(), v0, create_graph=True)[0]
v3 = mg.autograd.grad(v2, v0, create_graph=True)[0]
look()
