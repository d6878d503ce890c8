# ruff: noqa
v0 = mg.full((2,), 1.5, requires_grad=True)
v1 = v0.sqrt()
v2 = v1 ** v1
v1.detach_()
look()
v2.sum().backward()
