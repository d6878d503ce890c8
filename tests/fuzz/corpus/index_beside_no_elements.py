# ruff: noqa
# Indexing a tensor without elements leaves the index alone; the shapes are looked at before the numbers.
v0 = mg.zeros(2, 0)
v1 = mg.tensor([5])
v2 = v0[v1]
v0[v1] = 1.0
look()
v3 = mg.ones((1, 3))
v3[None, mg.tensor([2])] = mg.ones(2)
v3[None, mg.tensor([2])] = mg.ones(3)
