# ruff: noqa
# After requires_grad_(False) a leaf keeps its .grad, but hooks are called; written in place since then, it is refused.
v0 = mg.ones(2, requires_grad=True)
v1 = v0 * 2
v2 = v0.movedim(0, -1)
v0.register_post_accumulate_grad_hook(lambda t: log(t.grad))
v1.sum().backward(retain_graph=True)
v0.requires_grad_(False)
v1.sum().backward(retain_graph=True)
look()
v3 = mg.ones(2, requires_grad=True)
v0.mul_(v3)
v1.sum().backward()
look()
