# ruff: noqa
# The graph of a backward pass: saved names and nodes of several operations.
v0 = mg.ones(2, 2, requires_grad=True)
v1 = mg.ones(1, 2, requires_grad=True)
v2 = (v0 * v1).sum() + v0.prod() + v0.square().sum() + v0.var() + v0.repeat(2, 1).sum() ** 2
v2.backward(create_graph=True)
look()
