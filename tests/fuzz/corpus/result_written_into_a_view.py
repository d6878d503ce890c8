# ruff: noqa
# The result of a write into a view is the view's, in texts and in the graph of a backward pass.
v0 = mg.ones(2, 2, requires_grad=True)
v1 = v0 * 1
v2 = v1.t()[0]
v2.exp_()
(v1 * v1).sum().backward(create_graph=True)
look()
v3 = v0 * 1
v4 = v3.view_as(v3)
v4.exp_()
v4 += v4
v3.backward(mg.ones_like(v3))
