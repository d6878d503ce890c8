# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1 = mg.ones(2, 2)
with mg.set_grad_enabled(False): v2 = v0[0]
with mg.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2): v3 = v2 ** v1
look()
with mg.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2): v4 = v0 * v0
v5 = mg.autograd.grad(v4.sum(), v0, create_graph=True)[0]
v5.sum().backward()
v6 = v0.grad
v7 = mg.tensor([1.0]).addcmul_(1.0, 2.0)
look()
