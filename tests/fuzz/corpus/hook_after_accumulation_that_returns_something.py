# ruff: noqa
v0 = mg.tensor([1.0, 2.0], requires_grad=True)
h = v0.register_post_accumulate_grad_hook(lambda t: t)
v0.sum().backward()
h = v0.register_post_accumulate_grad_hook(lambda t: t * 2)
h = v0.register_post_accumulate_grad_hook(lambda t: log(t))
v0.sum().backward()
look()
