# ruff: noqa
# Of several overwritten tensors the first by name is reported.
v0 = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
v1 = mg.tensor([1.0, 2.0], dtype=mg.float64)
v2 = v1 ** v0
v1.zero_()
v0.detach().zero_()
v2.backward(mg.ones_like(v2))
look()
