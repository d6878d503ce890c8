# ruff: noqa
v0 = mg.tensor([1.0, 1.0])
F0 = type('F0', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x: x), 'backward': staticmethod(lambda ctx, g: g * 2)})
v1 = F0.apply(v0)
v0.requires_grad_()
v1.div_(2)
with mg.no_grad(): v2 = v0[0]
v3 = copy.deepcopy(v2)
look()
