# ruff: noqa
v0 = mg.tensor([1.0]).expand(3)
v0.fill_(2.0)
v0[0] = 3.0
v0.masked_fill_(mg.tensor([False, True, False]), 4.0)
v0.fill_(mg.tensor(5.0))
v0.mul_(2)
v0.copy_(v0)
v0.copy_(v0.clone())
look()
