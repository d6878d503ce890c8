# ruff: noqa
with mg.inference_mode(): v0 = mg.ones(2)
v0.mul_(2)
log(v0.tolist())
v1 = v0 * 2
v1.mul_(2)
log(v1.tolist())
