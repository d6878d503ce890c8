# ruff: noqa
v0 = mg.tensor([[True, False], [True, True]])
v1 = v0.expand(2, -1, -1)
v2 = v1 ** 1.0
v3 = v0.t() ** 2.5
v4 = 2 ** v1
look()
