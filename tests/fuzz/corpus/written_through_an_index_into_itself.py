# ruff: noqa
v0 = mg.tensor([[1, 0], [0, 1]])
v1 = v0[0]
v0[v1] = 2
v0[v1, v1] = 2
v1[v1] = v1
v1[[0, 1]] = v1
v1[[0, 1]] = v1.flip(0)
v0.scatter_(0, v0, 3)
v0.index_add_(0, mg.tensor([0, 1]), v0)
v1.index_copy_(0, v1, v1)
v1.index_fill_(0, v1, 2)
v0.clamp_(min=v0[1])
v2 = v0 > 0
v2[v2] = False
v2[v2[0]] = True
v2.masked_fill_(v2[0], True)
look()
