# ruff: noqa
# deepcopy refuses a leaf whose .grad is recorded.
v0 = mg.tensor(1.0, requires_grad=True)
v0.exp().backward(create_graph=True)
v1 = copy.deepcopy(v0)
look()
