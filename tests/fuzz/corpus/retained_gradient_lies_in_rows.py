# ruff: noqa
v0 = mg.tensor([[1.0, 1.0], [1.0, 1.0]], requires_grad=True)
v1 = v0 * 1
v2 = v0.t()
v1.retain_grad()
with mg.inference_mode(): v1.backward(v2)
look()
log(v1.grad.stride())
