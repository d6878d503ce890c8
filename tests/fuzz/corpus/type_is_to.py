# ruff: noqa
v0 = mg.tensor([1.5, 2.0], requires_grad=True)
v1 = v0.type(mg.float32)
v2 = v0.type(mg.int64)
look()
v0.sum(dtype=mg.int64)
