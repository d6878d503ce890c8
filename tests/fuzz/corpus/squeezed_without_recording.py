# ruff: noqa
v0 = mg.tensor(1.0, requires_grad=True)
v1 = v0.expand(2, 1, 2)
with mg.no_grad(): v1.squeeze_()
look()
