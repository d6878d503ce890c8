# ruff: noqa
v0 = mg.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
v1 = v0 * 2
v1.pow_(v1)
look()
v2 = v0 * 2
v2.mul_(v2)
look()
v1.sum().backward()
