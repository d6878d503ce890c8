"""``torch.nn`` for minigrad: `Module` and `Parameter`, layers, activations, losses and containers."""
from . import functional, init, modules, parameter
from .module import Module
from .modules import Linear, MSELoss, ReLU, Sequential
from .parameter import Parameter

__all__ = ["Linear", "MSELoss", "Module", "Parameter", "ReLU", "Sequential", "functional", "init", "modules", "parameter"]
