"""minigrad: a small engine on NumPy that behaves like PyTorch's autograd, down to the error texts.

``import minigrad as mg`` loads the engine alone; ``minigrad.picture`` draws the graph, ``minigrad.lab`` makes it touchable,
``minigrad.why`` explains a tensor's state.
"""
import sys as _sys
from math import e, inf, nan, pi

from . import arguments, autograd, creation, linalg, nn, ops, optim, random, serialization
from .autograd.backward_pass import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .dtype import (
    Size, bool_ as bool, contiguous_format, cuda, device, dtype, finfo, float16, float32, float64, get_default_dtype, iinfo, int8, int16,
    int32, int64, layout, memory_format, preserve_format, promote_types, set_default_dtype, strided, uint8,
)
from .dtype import float16 as half, float32 as float, float64 as double, int16 as short, int32 as int, int64 as long
from .grad_mode import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled
from .printing import set_printoptions
from .reasons import is_warn_always_enabled, set_warn_always
from .tensor import Tensor

# Every operation and factory is public under its own name; a Tensor method of the same name does the same.
globals().update(ops.PUBLIC)
globals().update({name: getattr(module, name) for module in (creation, random, serialization) for name in module.__all__})

# A call that fails by its arguments says what PyTorch says.
arguments.install({"": _sys.modules[__name__], "Tensor": Tensor, "nn.functional": nn.functional, "linalg": linalg},
                  {"Tensor": Tensor, "torch.Generator": random.Generator, "torch.memory_format": memory_format})

newaxis = None

__all__ = [name for name, value in globals().items() if not name.startswith("_")
           and (name in ("autograd", "linalg", "nn", "optim", "random") or not isinstance(value, type(_sys)))]
