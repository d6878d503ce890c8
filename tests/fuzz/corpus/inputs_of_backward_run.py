# ruff: noqa
# The node of a computed tensor in inputs= runs: its hooks, and its saved tensors are freed.
v0 = mg.ones((4,), requires_grad=True)
v1 = v0 * v0
v1.grad_fn.register_hook(lambda i, o: log(i, o))
v2 = v1 * 3
v2.backward(mg.ones_like(v2), inputs=[v1])
look()
v2.sum().backward()
