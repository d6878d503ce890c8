# ruff: noqa
# A node that saved nothing does not say that it was freed.
v0 = mg.tensor([1.0, 2.0])
v1 = mg.tensor([1.0, 1.0], requires_grad=True)
v2 = mg.minimum(v1, v0)
v2.addcmul_(v0, v0)
v3 = mg.autograd.grad(v2, v1, mg.ones_like(v2))[0].clone()
v2.sum().backward(inputs=(v2, v2 * 1))
look()
v2.sum().backward()
