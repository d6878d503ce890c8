# ruff: noqa
# A pass for some inputs runs no formula that leads elsewhere.
v0 = mg.tensor(1.0, requires_grad=True)
v1 = mg.tensor([True, True, False, True])
v2 = v0 ** v1
v2.grad_fn.register_hook(lambda i, o: log(i, o))
v2.backward(mg.ones_like(v2), inputs=[v2])
look()
