# ruff: noqa
v0 = mg.tensor([True, False])
v0 - 1.0
v0.unbind(0)[0].sub_(v0)
v0 ** v0
v0 @ v0
v0.median()
mg.lerp(v0.long(), v0 * 1.0, 0.5)
mg.lerp(v0.long(), v0.long(), 0.5)
v0.long().clamp_(0.5)
v1 = mg.ones(2)
v1[[0, 1]] = v0.long()
v2 = v0.add(v0, alpha=2)
v3 = mg.tensor([1, -1, 2, 0]) ** mg.tensor([-1, -3, -2, 0])
v0.long().softmax(0)
v4 = mg.zeros(0, dtype=mg.int64).softmax(0)
look()
