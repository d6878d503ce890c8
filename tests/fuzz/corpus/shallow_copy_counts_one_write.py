# ruff: noqa
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
v1 = copy.copy(v0)
v2 = copy.copy(mg.nn.Parameter(v0))
look()
v1.data.mul_(2)
v1.detach().mul_(2)
look()
