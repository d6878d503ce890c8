# ruff: noqa
# retain_grad() and a second register_hook() do not renew the history of a stale view.
v0 = mg.ones(2, 2, requires_grad=True)
with mg.no_grad(): v1 = v0[0]
v1.register_hook(lambda g: log('v1', g))
with mg.no_grad(): v1.mul_(2)
v1.register_hook(lambda g: log('v1', g))
v1.retain_grad()
v2 = v0.unbind()[0]
v2.sum().backward(inputs=[v2])
with mg.no_grad(): v2.mul_(2)
v2.retain_grad()
look()
