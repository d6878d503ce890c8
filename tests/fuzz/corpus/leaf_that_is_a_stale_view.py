# ruff: noqa
v0 = mg.tensor([1.0, 2.0])
v1 = mg.tensor(1.0, requires_grad=True)
v2 = v0[0]
v0.add_(v1)
v2.mul_(2)
v2.is_leaf
v2.mul_(2)
look()
