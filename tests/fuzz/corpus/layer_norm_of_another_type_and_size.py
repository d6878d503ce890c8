# ruff: noqa
mg.manual_seed(0); m0 = mg.nn.LayerNorm(3)
v0 = m0(mg.ones(2, dtype=mg.float64))
v1 = m0(mg.tensor([[False], [False]]))
v2 = m0(mg.ones(2))
