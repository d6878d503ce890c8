# ruff: noqa
v0 = mg.zeros(2, 0)
v0[1, [0, 0]]
v1 = mg.ones(1, 3)
v1[None, -2]
v1[0, ..., 5]
v1.index_select(0, mg.tensor([2]))
v1.index_select(1, mg.tensor([3]))
v0.index_select(-1, mg.tensor([0, 0]))
mg.ones(()).index_select(0, mg.tensor([0, 0]))
mg.ones(()).prod(2)
v0.amax(-1)
mg.cat([mg.ones(2), mg.ones(2, 2)])
mg.cat([mg.zeros(0, dtype=mg.float64), mg.ones(2)]).dtype
