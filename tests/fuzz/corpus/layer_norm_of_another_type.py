# ruff: noqa
mg.manual_seed(0); m0 = mg.nn.LayerNorm(3).double()
v0 = m0(mg.ones(2))
v1 = m0(mg.ones(2, 3))
v2 = mg.nn.LayerNorm(3)(mg.tensor([True, False, True]))
