# ruff: noqa
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
v1, v2 = (v0 * 1).chunk(2)
F0 = type('F0', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1]), 'backward': staticmethod(lambda ctx, g: g * 2)})
v3 = F0.apply(v1)
with mg.no_grad(): v4 = v0[0]
v5 = mg.autograd.grad(v0.sum(), mg.autograd.graph.get_gradient_edge(v4))[0]
look()
