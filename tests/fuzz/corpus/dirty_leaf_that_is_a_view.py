# ruff: noqa
v0 = mg.tensor([1.0, 2.0])
F0 = type('F0', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1]), 'backward': staticmethod(lambda ctx, g: g * 2)})
v1 = v0.reshape(-1).requires_grad_()
v2 = F0.apply(v1)
v3 = mg.tensor([1.0, 2.0])
v4 = v3[0]
v3.requires_grad_()
v5 = F0.apply(v4)
look()
