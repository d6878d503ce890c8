# ruff: noqa
v0, v1 = mg.ones(2, 2, requires_grad=True)
v1.register_hook(lambda g: log(g))
(v0 * 3).sum().backward()
v2, v3 = mg.ones(2, 2, requires_grad=True)
v3.register_hook(lambda g: mg.ones(2))
(v2 * 3).sum().backward()
