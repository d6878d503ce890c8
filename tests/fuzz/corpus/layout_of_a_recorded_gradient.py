# ruff: noqa
# Under create_graph a leaf's gradient is a copy in the leaf's own layout; a retained one is a clone.
v0 = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
v1 = v0.t()
v1.retain_grad()
v2 = v1 * v1
v2.sum().backward(create_graph=True)
look()
v2.backward(mg.ones_like(v2), retain_graph=True)
look()
