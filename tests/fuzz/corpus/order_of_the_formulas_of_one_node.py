# ruff: noqa
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
v1 = v0 / v0
v2 = mg.autograd.grad((v1 * v1).sum(), v0, create_graph=True)[0]
v3 = v2[0]
v3.sum().backward(inputs=(v0, v2), create_graph=True)
look()
v4 = mg.tensor([0.5, 1.5], requires_grad=True)
v5 = mg.autograd.grad((v0 ** v4).sum() + mg.lerp(v0, v4, v0).sum() + v0.xlogy(v4).sum(), [v0, v4], create_graph=True)[0].clone()
v6 = mg.autograd.grad(v5.sum(), v4, create_graph=True)[0].clone()
look()
