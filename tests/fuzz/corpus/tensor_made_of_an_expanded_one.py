# ruff: noqa
v0 = mg.tensor([[[1.0, 1.0]], [[1.0, 1.0]]])
v1 = mg.tensor(v0.expand(2, 2, 2))
v2 = mg.tensor(v0.expand(2, 3, 2).permute(2, 0, 1))
v3 = mg.tensor(mg.tensor([1.0, 2.0]).expand(2, -1))
v3.view(-1).copy_(mg.ones(2))
look()
