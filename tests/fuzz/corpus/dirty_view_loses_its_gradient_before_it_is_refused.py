# ruff: noqa
v0 = mg.tensor([[1.0], [1.0]], dtype=mg.float64, requires_grad=True)
v1 = v0.tensor_split(2, -2)[0]
mg.autograd.backward(v1, mg.ones_like(v1), inputs=[v1])
v2 = mg.tensor(1.0, requires_grad=True)
look()
v3 = type('G', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x, y: (ctx.mark_dirty(y), y.copy_(x))[1]), 'backward': staticmethod(lambda ctx, g: (g, None))}).apply(v2, v1)
look()
v4 = v0[0]
v4.backward(mg.ones_like(v4), inputs=[v4])
v5 = type('G', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x, y: (ctx.mark_dirty(y), y.copy_(x))[1]), 'backward': staticmethod(lambda ctx, g: (g, None))}).apply(v2, v4)
look()
