# ruff: noqa
mg.manual_seed(0); m0 = mg.nn.LayerNorm(3); v0 = mg.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
with mg.autograd.graph.saved_tensors_hooks(lambda t: (log('pack', t.shape), t)[1], lambda t: t): v1 = m0(v0); v2 = mg.nn.functional.logsigmoid(v0); v3 = mg.nn.functional.batch_norm(v0.repeat(2, 1), None, None, None, None, True)
look()
