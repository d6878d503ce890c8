# ruff: noqa
# from_numpy makes a storage of its own: no write overlaps.
v0 = mg.tensor([1.0, 2.0])
v1 = mg.from_numpy(v0.numpy())
v1.sub_(v0[1:])
look()
