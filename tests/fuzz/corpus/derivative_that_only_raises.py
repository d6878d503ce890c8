# ruff: noqa
# A node that only raises runs as soon as it can: what others saved is still there.
v0 = mg.ones((1, 3), requires_grad=True)
v1 = v0 // 2
v2 = v0[0]
v3 = v2 ** v0
v4 = v1 * 2
mg.autograd.backward([v4.sum(), v3.sum()])
look()
v5 = v0 * 1
v5.floor_divide_(2)
v5.sum().backward()
