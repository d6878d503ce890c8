"""A fuzzer: random programs that PyTorch and minigrad both run, with everything observable compared.

``python -m tests.fuzz --seconds 60 --seed 1`` hunts and prints each new kind of difference, shrunk to a few lines.
Programs run in batches in child processes (`child`), since PyTorch itself ends its process now and then in long hunts.
`generate`, `wider` and `training` write programs, `look` says what can be seen of a program's tensors, `compare` runs it in both,
`shrink` makes a failing one small, `known` lists the differences that are known. Programs that once failed are in ``corpus/``
with what PyTorch says, and `test_fuzz` replays them without PyTorch.
"""
