# ruff: noqa
# A hook on several tensors waits for those that the pass goes on to: not for its single root.
v0 = mg.ones(2, requires_grad=True)
v1 = v0 * 2
v2 = v1 * v0
h = mg.autograd.graph.register_multi_grad_hook((v0, v1, v2), lambda g: log('all', g))
v2.backward(mg.ones_like(v2), retain_graph=True)
v2.sum().backward(inputs=[v1], retain_graph=True)
mg.autograd.backward([v2.sum(), v1.sum()], retain_graph=True)
h.remove()
h = mg.autograd.graph.register_multi_grad_hook((v0, v1), lambda g: log('any', g), mode='any')
v1.sum().backward()
look()
