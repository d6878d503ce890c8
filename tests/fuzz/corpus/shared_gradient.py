# ruff: noqa
# Inputs that share a gradient get one tensor; detach_ forgets no retain_grad.
v0 = mg.tensor(1.0, requires_grad=True)
v1 = v0 * v0
v2, v3 = mg.autograd.grad(v1.sum(), [v0, v0], create_graph=True)
v2.retain_grad()
v3.detach_()
look()
v4 = mg.tensor(2.0, requires_grad=True)
v5, v6 = mg.autograd.grad(v0 + v4, [v0, v4])
look()
