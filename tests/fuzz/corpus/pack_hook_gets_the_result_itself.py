# ruff: noqa
v0 = mg.tensor([[1.0, 2.0]], requires_grad=True)
with mg.autograd.graph.save_on_cpu(): v1 = v0.exp(); v2 = v0.softmax(1); v3 = (v0 * 1)[0].tanh_()
v1.squeeze_(0)
look()
with mg.autograd.graph.saved_tensors_hooks(lambda t: (log(t.grad_fn is None, t.is_leaf), t)[1], lambda t: t): v4 = v0.sigmoid(); v5 = (v0 * 2).sqrt_()
(v1.sum() + v2.sum() + v3.sum() + v4.sum() + v5.sum()).backward()
look()
