# ruff: noqa
# retain_grad() stays with the node that the tensor had before transpose_(); hooks registered later join it there.
v0 = mg.ones(2, 2, requires_grad=True)
v1 = v0 * 2
v1.retain_grad()
v1.register_hook(lambda g: log('before', g))
v1.transpose_(0, -1)
v1.register_hook(lambda g: log('after', g))
v2 = mg.autograd.grad(v1.sum(), v1, materialize_grads=True, retain_graph=True)[0].clone()
look()
v1.sum().backward()
look()
