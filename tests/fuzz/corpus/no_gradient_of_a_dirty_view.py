# ruff: noqa
# No gradient of a Function on a view is none of the base, not zeros.
v0 = mg.ones(2, 2, requires_grad=True)
v1 = v0 * 1
F0 = type('F0', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1]), 'backward': staticmethod(lambda ctx, g: None)})
v2 = F0.apply(v1[0])
v0.register_hook(lambda g: log('v0', g))
v1.sum().backward()
look()
