# ruff: noqa
# The graph of a backward pass through a written view and a renewed one.
v0 = mg.ones(2, 3, requires_grad=True)
v1 = v0 * 1
v2 = v1[:, 1:]
v1[0].mul_(v1[1])
v3 = (v2 * v2).sum()
v3.backward(create_graph=True)
look()
v4 = v0.as_strided((2, 2), (1, 1))
v5 = mg.autograd.grad((v4 * v4).sum(), v0, create_graph=True)[0]
look()
