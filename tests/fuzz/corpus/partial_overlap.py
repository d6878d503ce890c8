# ruff: noqa
# Memory that overlaps itself or another argument is refused before shapes are compared.
v0 = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
v0.t().sub_(v0)
v0[0].add_(v0)
v0.flatten().div_(v0)
v0.mul_(v0)
v0[0].add_(v0[1])
v0.expand(2, 2, 2).add_(1)
look()
