# ruff: noqa
v0 = mg.ones((4, 2))
v1 = v0.unbind(1)[0].requires_grad_()
v2 = mg.ones(2, 3).t().requires_grad_()
v1.register_hook(lambda g: g * v1)
mg.autograd.backward([v1.sum(), (v1 * v1).sum(), (v2 * v2).sum()], create_graph=True)
look()
v1.sum().backward(create_graph=True)
look()
