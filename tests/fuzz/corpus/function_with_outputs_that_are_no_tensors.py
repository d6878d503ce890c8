# ruff: noqa
v0 = mg.tensor(1.0, requires_grad=True)
v1 = type('G', (mg.autograd.Function,), {'forward': staticmethod(lambda ctx, x: (5, x * 2, None, (y := x * 3, ctx.save_for_backward(y))[0])), 'backward': staticmethod(lambda ctx, f, g, h, i: (log(f, h, i, ctx.saved_tensors), g)[1])}).apply(v0)
v2 = v1[1]
v3 = v1[3]
v2.grad_fn.register_hook(lambda i, o: log('v2', i, o))
look()
v2.backward(mg.ones_like(v2), retain_graph=True)
v3.backward(retain_graph=True)
(v2 * v3).backward()
look()
