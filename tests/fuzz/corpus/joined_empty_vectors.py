# ruff: noqa
v0 = mg.tensor([])
v1 = mg.cat([v0], 2)
v2 = mg.cat([v0, mg.ones(2, 2)], 1)
v3 = mg.cat([v0, v0], -3)
v4 = mg.cat([v0, mg.ones(2, 2)], 2)
look()
