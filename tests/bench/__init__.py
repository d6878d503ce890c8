"""How fast and how large, beside hand-written NumPy and PyTorch: ``python -m tests.bench``."""
