# ruff: noqa
mg.manual_seed(0); m0 = mg.nn.LayerNorm(3)
v0 = m0(mg.tensor([[True, False, True]]))
v1 = mg.nn.functional.layer_norm(mg.tensor([[True, False, True]]), (3,))
