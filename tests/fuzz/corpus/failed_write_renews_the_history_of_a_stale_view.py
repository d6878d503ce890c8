# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1 = v0[0]
with mg.no_grad(): v1.tanh_()
v2 = mg.tensor([[3], [-3]])
v2.div_(v1)
v3 = mg.autograd.grad((v1 * v1).sum(), v1, create_graph=True)[0].clone()
look()
