# ruff: noqa
v0 = mg.tensor([1.0, 1.0], requires_grad=True)
with mg.autograd.graph.save_on_cpu(): v1 = v0.nan_to_num()
v0.data = mg.tensor([1.0, 2.0])
look()
