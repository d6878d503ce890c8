# ruff: noqa
v0 = mg.tensor([[-2.5, -1.5], [1.0, -0.5]])
v0.sqrt_()
v1 = mg.nn.functional.threshold(v0, 1.0, 1.0)
v2 = mg.tensor([float('-inf'), -0.0, 4.0])
v3 = v2 ** -0.5
v4 = mg.tensor([True]).cumsum_(5)
look()
