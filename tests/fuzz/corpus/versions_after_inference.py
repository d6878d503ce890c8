# ruff: noqa
# .data and detach() of a tensor of inference mode have a version; a view of it is none.
with mg.inference_mode(): v0 = mg.tensor([1.0, 1.0])
v1 = v0.detach().zero_()
v2 = v0.data
v2.add_(1)
v3 = v0[0]
v0.add_(1)
look()
with mg.no_grad(), mg.inference_mode(False): v4 = mg.ones(1, requires_grad=True) * 2
look()
