# ruff: noqa
# The views of chunk made under no_grad are views made under no_grad.
v0 = mg.ones(2, 2, requires_grad=True)
v1 = v0 * 2
with mg.no_grad(): v2 = v1.chunk(2, -2)[0]
v1.reciprocal_()
look()
v2.mul_(2)
