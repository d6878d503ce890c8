# ruff: noqa
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
v1 = v0.double()
log(v1.grad_fn(mg.ones_like(v1)))
v2 = mg.autograd.grad(v1.sum(), v0, create_graph=True)[0].clone()
look()
