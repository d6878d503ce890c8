# ruff: noqa
# After .data = a .grad is copied into the tensor's shape, unless its steps in memory are the tensor's.
v0 = mg.ones(2, 2, 3, requires_grad=True)
v1 = v0 * 2
v0.data = mg.ones(1, 3)
v1.backward(v1 * 2)
v2 = mg.ones(1, 3, requires_grad=True)
v3 = v2 * 2
v2.data = mg.ones(2, 1)
v3.sum().backward()
look()
v4 = mg.ones(2, 2, requires_grad=True)
v5 = v4.amax()
v4.data = mg.tensor(1.0)
v6 = mg.autograd.grad(v5.sum(), v4)[0]
look()
