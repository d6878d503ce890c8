"""``torch.autograd`` for minigrad: backward and grad, the user's own Function, hooks on graphs, gradcheck, jacobian and its kin."""
from .. import grad_mode
from ..grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import function, functional, graph
from .backward_pass import Variable, backward, detect_anomaly, grad, set_detect_anomaly
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = ["Function", "GradcheckError", "Variable", "backward", "detect_anomaly", "enable_grad", "function", "functional",
           "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad", "set_detect_anomaly",
           "set_grad_enabled"]
