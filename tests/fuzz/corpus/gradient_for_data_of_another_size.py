# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1 = mg.tensor([])
v2 = v0[0]
v0.data = v1 * 2
v3 = v2 * 2
v3.sum().backward()
log(v0.grad)
