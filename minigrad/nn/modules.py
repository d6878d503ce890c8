"""The layers, activations, losses and containers: each a Module around a function of `functional`."""
from __future__ import annotations

import math
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from .. import creation
from ..tensor import Tensor
from . import functional, init
from .module import Module
from .parameter import Parameter

# Layers --------------------------------------------------------------------------------------------------------------------

class Linear(Module):
    """``x @ weight.T + bias``: ``(..., in_features) -> (..., out_features)``.

    Weight and bias start uniform in ±1/sqrt(in_features).
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(creation.empty(out_features, in_features, dtype=dtype, device=device))
        self.register_parameter("bias", Parameter(creation.empty(out_features, dtype=dtype, device=device)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


# Activations ---------------------------------------------------------------------------------------------------------------

class ReLU(Module):
    """The positive part, elementwise."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


# Losses --------------------------------------------------------------------------------------------------------------------

class _Loss(Module):
    """A loss of (input, target); ``reduction`` is "mean", "sum" or "none"."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class MSELoss(_Loss):
    """The squared error."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.mse_loss(input, target, reduction=self.reduction)


# Containers ----------------------------------------------------------------------------------------------------------------

class _Numbered(Module):
    """What `Sequential` and `ModuleList` share: children with the names "0", "1", …"""

    def _key(self, idx: int) -> str:
        """The name of child `idx`, counted from the end if negative."""
        idx, size = operator.index(idx), len(self)
        if not -size <= idx < size:
            raise IndexError(f"index {idx} is out of range")
        return list(self._modules)[idx % size]

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        for key in list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]:
            delattr(self, key)
        self._renumber(self._modules.values())

    def append(self, module: Module) -> Module:
        """Add a child at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Module:
        """Add children at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Module:
        """Add a child before another."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int | slice) -> Module:
        """Take a child out and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules applied one after the other; an OrderedDict gives them names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else {str(i): m for i, m in enumerate(args)}
        for name, module in named.items():
            self.add_module(name, module)

    def __getitem__(self, idx: int | slice) -> Module:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self).__iadd__(other)

    def __iadd__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return Sequential(*list(self) * other)

    __rmul__ = __mul__
