# ruff: noqa
# Setting the flag does not renew the history of a stale view; asking for is_leaf does.
v0 = mg.ones(2, 2, requires_grad=True)
with mg.no_grad(): v1 = v0.squeeze(0); v0 += v0
v1.requires_grad_(False)
look()
