# ruff: noqa
v0 = mg.zeros((1,), dtype=mg.float64, requires_grad=True)
v1 = v0[0]
v0.data = mg.tensor(1.0)
v2 = v0 * 2
look()
v2.backward()
look()
