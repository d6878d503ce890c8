# ruff: noqa
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
F0 = type('F0', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x: x), 'backward': staticmethod(lambda ctx, g: g * 2)})
with mg.no_grad(): v1 = F0.apply(v0)
v2 = F0.apply(v0)
look()
F1 = type('F1', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1]), 'backward': staticmethod(lambda ctx, g: g * 2)})
with mg.no_grad(): v3 = v0[0]
v4 = F1.apply(v3)
