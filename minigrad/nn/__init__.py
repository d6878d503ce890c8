"""``torch.nn`` for minigrad: `Module` and `Parameter`, layers, activations, losses and containers."""
from . import functional, init, modules, parameter, utils
from .module import Module
from .modules import (
    ELU, GELU, SELU, BatchNorm1d, BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, Dropout, Embedding, Flatten, Hardtanh,
    HuberLoss, Identity, L1Loss, LayerNorm, LeakyReLU, Linear, LogSigmoid, LogSoftmax, ModuleDict, ModuleList, MSELoss,
    NLLLoss, ParameterList, ReLU, ReLU6, Sequential, Sigmoid, SiLU, SmoothL1Loss, Softmax, Softplus,
    Softsign, Tanh,
)
from .parameter import Parameter

_INSIDE = ("hooks", "module", "modules", "normalization", "parameter")
__all__ = [name for name in globals() if not name.startswith("_") and name not in _INSIDE]
