# ruff: noqa
# A root without a graph is refused before anything is done to inputs=.
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1 = v0[0]
v2 = mg.tensor([1.0, 2.0])
v2.sum().backward(inputs=[v1])
v2.sum().backward(inputs=[v2])
look()
