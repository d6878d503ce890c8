# ruff: noqa
v0 = mg.tensor([True, False])
v1 = v0 ** True
v2 = True ** v0
v3 = 2 ** v0
look()
