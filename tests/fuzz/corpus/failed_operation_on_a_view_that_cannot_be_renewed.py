# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1, v2 = v0.chunk(2, 0)
v3 = v0[0]
v0.detach().zero_()
v4 = v1 + mg.ones(2, 3)
v5 = v1 @ mg.ones(2, 3)
v6 = mg.ones(2, 3) / v1
v7 = mg.cat([v1, v0.view(1, 2)])
v8 = v3 @ mg.ones(2)
look()
