"""PyTorch's ``torch.linalg``, as far as minigrad has it: norms and products."""
from .ops.linalg import _LinAlgError as LinAlgError
from .ops.linalg import inverse as inv
from .ops.linalg import linalg_cross as cross
from .ops.linalg import matmul
from .ops.reductions import linalg_norm as norm
from .ops.reductions import vector_norm

__all__ = ["LinAlgError", "cross", "inv", "matmul", "norm", "vector_norm"]
