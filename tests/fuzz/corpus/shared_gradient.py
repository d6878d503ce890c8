# ruff: noqa
# Inputs that are the same get one gradient; detach_ forgets no retain_grad.
v0 = mg.tensor(1.0, requires_grad=True)
v1 = v0 * v0
v2, v3 = mg.autograd.grad(v1.sum(), [v0, v0], create_graph=True)
v2.retain_grad()
v3.detach_()
look()
