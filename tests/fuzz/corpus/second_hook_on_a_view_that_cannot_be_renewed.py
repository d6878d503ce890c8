# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1, v2 = v0.chunk(2, 0)
v0.detach().zero_()
v1.register_hook(lambda g: log('v1', g))
v1.register_hook(lambda g: log('v1', g))
h = mg.autograd.graph.register_multi_grad_hook((v1, v1), lambda g: log('any', g), mode='any')
