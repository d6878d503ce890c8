# ruff: noqa
v0 = mg.ones(2, 2, requires_grad=True)
v1 = mg.nn.functional.cross_entropy(v0, mg.zeros(v0.shape[0], dtype=mg.int64))
v1.index_fill_(0, mg.tensor([0]), 1.0)
v2 = mg.autograd.grad((v1 * v1).sum(), v0, materialize_grads=True)[0].clone()
look()
