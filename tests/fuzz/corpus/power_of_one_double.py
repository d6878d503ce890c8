# ruff: noqa
# The gradient of a single float64 is not rounded to float32.
v0 = mg.full((), 1.5, dtype=mg.float64, requires_grad=True)
v1 = v0 ** v0
v1.backward()
look()
