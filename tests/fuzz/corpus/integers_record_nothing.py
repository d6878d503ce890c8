# ruff: noqa
# Writing what requires grad into an integer tensor records nothing.
v0 = mg.tensor(1.0, requires_grad=True)
v1 = mg.tensor([[1, 2], [3, 4]])
v1.copy_(v0)
look()
