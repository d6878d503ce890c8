# ruff: noqa
v0 = mg.tensor(1.0, dtype=mg.float64, requires_grad=True)
v1 = mg.tensor(1.0)
v2 = v0 * 2
v3 = mg.nn.functional.smooth_l1_loss(v1, v2)
v2.detach_()
look()
v2 *= v0
look()
v3.backward()
