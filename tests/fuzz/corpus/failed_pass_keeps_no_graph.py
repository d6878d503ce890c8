# ruff: noqa
v0 = mg.tensor([1.0, 1.0])
v1 = mg.zeros((1,), requires_grad=True)
h = v1.view_as(v1).grad_fn.next_functions[0][0]; h.register_prehook(lambda o: log('leaf', o))
v0.sum().backward(inputs=(v1, v1 * 1))
h = mg.autograd.graph.register_multi_grad_hook((v1, v0), lambda g: log('any', g), mode='any')
v1.backward(mg.ones_like(v1))
