# ruff: noqa
# Several roots are the children of one node: none of them runs, and no hook, if nothing that is asked for lies below.
v0 = mg.tensor(1.0, requires_grad=True)
v1 = v0 * 2
v2, v3 = v0.min(-1); v1.sum().backward(inputs=[v1])
v0.register_hook(lambda g: log('v0', g))
v4 = mg.autograd.grad([v1, v0], v2, [mg.ones_like(v1), None])[0]
look()
v5 = mg.autograd.grad(v0, v2, mg.ones_like(v0))[0]
look()
