# ruff: noqa
# What a node never saved is None, before and after its graph is freed.
v0 = mg.tensor(1.0, requires_grad=True)
v1 = v0 * 2
v2 = mg.tensor([1.0, 1.0]) * v0
look()
v1.backward()
v2.sum().backward()
look()
