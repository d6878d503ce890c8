# ruff: noqa
# A tensor without elements overlaps nothing, though its strides are 0.
v0 = mg.zeros((2, 0))
v0.add_(2)
v1 = v0.expand(3, 2, 0)
v1.div_(2)
look()
