# ruff: noqa
# A root whose .data was exchanged does not fit its node.
v0 = mg.ones(2, 2, requires_grad=True)
v1 = v0.view(-1)
v1.data = mg.tensor([1.0, 2.0])
v1.backward(mg.ones_like(v1))
look()
