# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
v1 = mg.tensor([3])
with mg.no_grad(): v2 = v1.split(1, 0)[-1]
v2.copy_(v0)
v2.copy_(v0[0])
v2.add_(v0)
look()
