# ruff: noqa
# fill_() may write into an expanded view, but its gradient cannot.
v0 = mg.tensor([1.0], requires_grad=True)
v1 = v0 * 1
v1.expand(2).fill_(3.0)
v1.sum().backward()
look()
