# ruff: noqa
# Texts name CopyBackwards in full.
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1 = v0 * 2
v2 = v1 * v1
v1.copy_(v0)
look()
v2.sum().backward()
