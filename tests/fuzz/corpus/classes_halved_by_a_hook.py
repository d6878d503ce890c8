# ruff: noqa
v0 = mg.ones(2, 2, requires_grad=True)
with mg.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2): v1 = mg.nn.functional.cross_entropy(v0, mg.zeros(v0.shape[0], dtype=mg.int64))
v2 = mg.autograd.grad(v1.sum(), v0)[0]
v3 = mg.ones(1, 2, 1, 1, requires_grad=True)
with mg.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2): v4 = mg.nn.functional.cross_entropy(v3, mg.zeros(1, 1, 1, dtype=mg.int64))
v5 = mg.autograd.grad(v4.sum(), v3)[0]
look()
