# ruff: noqa
# A saved tensor that was detached in place is refused before its version is looked at.
v0 = mg.ones(2, requires_grad=True)
v1 = v0.sum()
v2 = v1[...]
v2 *= v1
v1.detach_()
v2.backward(v2 * 2)
