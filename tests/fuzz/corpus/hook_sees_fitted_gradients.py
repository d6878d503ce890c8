# ruff: noqa
# A node's hook sees gradients in the shape of the inputs.
v0 = mg.tensor(1.0, requires_grad=True)
v1 = mg.tensor([1.0, 2.0], requires_grad=True)
v2 = v1 * v0
v2.grad_fn.register_hook(lambda i, o: log(i, o))
v2.sum().backward()
look()
