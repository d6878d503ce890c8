# ruff: noqa
v0 = mg.tensor([0.0], requires_grad=True)
v0.prod().backward(create_graph=True)
v1 = mg.tensor([[2.0, 0.0]], requires_grad=True)
v1.prod(0).sum().backward(create_graph=True)
v2 = mg.tensor(2.0, requires_grad=True)
v2.prod(0).backward(create_graph=True)
look()
