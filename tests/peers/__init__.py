"""Other projects' tests on our engine: ``python -m tests.peers FOLDER...``, each folder their checkout or unpacked source.

Nothing of theirs lies here: their files are loaded from where the user has them. Their tests compare an engine with PyTorch, so
PyTorch must be installed; minigrad then stands in the place of the one or the other.
"""
