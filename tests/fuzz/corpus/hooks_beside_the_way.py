# ruff: noqa
# Hooks of what inputs= does not lead to are not called.
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
v1 = v0 * 2
v1.register_hook(lambda g: log('v1', g))
v2 = v1.unsqueeze(0)
v2.backward(mg.ones_like(v2), inputs=[v2])
look()
