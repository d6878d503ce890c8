# ruff: noqa
v0 = mg.ones(2, 2)
v0.index_add(0, mg.tensor([0]), v0)
v0.index_add(0, mg.tensor([0]), v0[:1, :1])
v0.index_copy(0, mg.tensor([0]), v0)
v0.index_copy(0, mg.tensor([0]), v0[:1, :1])
v0.index_copy(0, mg.tensor([0]), mg.ones(1, 2, dtype=mg.float64))
