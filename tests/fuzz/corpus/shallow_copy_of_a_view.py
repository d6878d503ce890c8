# ruff: noqa
v0 = mg.tensor([1.0, 2.0])
v1 = v0.split(1, 0)[-1]
v2 = copy.copy(v1)
look()
log(v2.storage_offset())
v2.mul_(2)
look()
