# ruff: noqa
# The .grad of a leaf with gaps or overlaps lies in rows.
v0 = mg.tensor([1.0, 2.0])
v1 = v0.expand(2, -1).requires_grad_()
v2 = mg.ones(4, 6).t()[::2].requires_grad_()
v1.sum().backward(inputs=(v1, v1 * 1))
(v2 * v2).sum().backward()
look()
