# ruff: noqa
v0 = mg.tensor([1.5, 0.0, -2.0])
v1 = v0 * -2
v2 = [v1.relu().reciprocal(), v1.clamp(0).reciprocal(), v1.clamp(max=0.0).reciprocal(), mg.maximum(v1, v0).reciprocal()]
log(v2)
v1.relu_()
v3 = v1.reciprocal()
look()
