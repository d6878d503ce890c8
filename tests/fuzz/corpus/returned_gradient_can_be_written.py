# ruff: noqa
# What autograd.grad returns can be written.
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
v1, v2 = mg.autograd.grad(v0.prod(), [v0, v0])
v1[0] = 5
v1.mul_(2)
v0.sum().backward()
v0.grad.mul_(3)
look()
