# ruff: noqa
v0 = mg.zeros((2, 0), requires_grad=True)
v1 = v0.prod()
mg.autograd.backward([v1.sum(), v1.sum()], create_graph=True)
look()
