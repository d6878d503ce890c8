# ruff: noqa
v0 = mg.tensor([3.0], requires_grad=True)
v1 = v0 // 2
v2 = 7 // v0
look()
v2.sum().backward()
