# ruff: noqa
v0 = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
v1 = v0.t() + mg.ones(3, 2)
v2 = mg.ones(3, 2) + v0.t()
v3 = mg.tensor([[True], [False]]).expand(2, -1, -1) * 2
v4 = v0.t().sum(0, keepdim=True)
v5 = v0.t()[[0, 0]]
v6, v7 = v0.t().sort(0)
look()
v1.view(-1)
v2.view(-1)
