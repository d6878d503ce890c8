# ruff: noqa
v0 = mg.tensor([-3, 0])
v1 = mg.tensor([1.0, 2.0], requires_grad=True)
with mg.inference_mode(): v2 = v0[0]
v2.div_(v1)
v0.div_(v1)
v0.copy_(v1)
look()
