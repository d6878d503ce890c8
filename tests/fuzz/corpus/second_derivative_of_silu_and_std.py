# ruff: noqa
v0 = mg.tensor([[1.0, 2.5], [-1.5, 0.5]], requires_grad=True)
v1 = mg.autograd.grad(mg.nn.functional.silu(v0).sum() + v0.std() + v0.var(1).sum(), v0, create_graph=True)[0].clone()
v2 = mg.autograd.grad(v1.sum(), v0, create_graph=True)[0].clone()
look()
