"""The layers, activations, losses and containers: each a Module around a function of `functional`."""
from __future__ import annotations

import math
import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any

from .. import arguments, creation
from ..dtype import int64
from ..ops import elementwise
from ..reasons import check
from ..tensor import Tensor
from . import functional, init
from .module import HOMES, Module
from .parameter import Parameter

# Layers --------------------------------------------------------------------------------------------------------------------

_empty = arguments.dressed(creation.empty, "empty")


def _uninitialized(shape: int | tuple[int, ...], wanted: bool = True, **options: Any) -> Parameter | None:
    """A parameter for `reset_parameters` to fill, or None in the place of one that is not wanted."""
    return Parameter(_empty(shape, **options)) if wanted else None


class Linear(Module):
    """``x @ weight.T + bias``: ``(..., in_features) -> (..., out_features)``.

    Weight and bias start uniform in ±1/sqrt(in_features).
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = _uninitialized((out_features, in_features), dtype=dtype, device=device)
        self.register_parameter("bias", _uninitialized(out_features, wanted=bias, dtype=dtype, device=device))
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


class Embedding(Module):
    """A table of rows, looked up by number: ``(...) -> (..., embedding_dim)``; rows start normal, the padding row at 0."""

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, *,
                 _weight: Tensor | None = None, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else functional._padding_row(padding_idx, num_embeddings)
        if _weight is not None:
            self.weight = Parameter(_weight)
        else:
            self.weight = _uninitialized((num_embeddings, embedding_dim), dtype=dtype, device=device)
            self.reset_parameters()

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None) -> Embedding:
        """A layer whose rows are `embeddings`, in the same memory; unless `freeze`, they learn."""
        check(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional", AssertionError)
        return cls(*embeddings.shape, padding_idx, _weight=embeddings).requires_grad_(not freeze)

    def reset_parameters(self) -> None:
        """Draw the rows anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input: Tensor) -> Tensor:
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class _Normalization(Module):
    """What normalizations share: a weight that starts at 1 and a bias that starts at 0, if they are wanted."""

    def _register(self, shape: int | tuple[int, ...], weight: bool, bias: bool, **options: Any) -> None:
        self.register_parameter("weight", _uninitialized(shape, weight, **options))
        self.register_parameter("bias", _uninitialized(shape, bias, **options))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Normalization):
    """Mean 0 and variance 1 over the last dimensions, then a weight and a bias for each of their elements."""

    def __init__(self, normalized_shape: int | Iterable[int], eps: float = 1e-5, elementwise_affine: bool = True,
                 bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._register(self.normalized_shape, elementwise_affine, elementwise_affine and bias, dtype=dtype, device=device)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class BatchNorm1d(_Normalization):
    """Mean 0 and variance 1 for each of the channels, ``(n, c)`` or ``(n, c, l)``; in training over the batch, else by running
    averages of what training saw."""

    _version = 2

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum, self.affine = num_features, eps, momentum, affine
        self.track_running_stats = track_running_stats
        buffers = {"running_mean": _empty(num_features, dtype=dtype), "running_var": _empty(num_features, dtype=dtype),
                   "num_batches_tracked": creation.scalar_tensor(0, dtype=int64)}
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer if track_running_stats else None)
        self._register(num_features, affine, affine, dtype=dtype, device=device)

    def reset_running_stats(self) -> None:
        """Forget what training saw."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, no running averages."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, *rest: Any) -> None:
        if self.track_running_stats and (local_metadata.get("version") or 1) < 2:       # saved before there was a count
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def forward(self, input: Tensor) -> Tensor:
        check(input.dim() in (2, 3), lambda: f"expected 2D or 3D input (got {input.dim()}D input)", ValueError)
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            momentum = 1 / self.num_batches_tracked.item() if momentum is None else momentum
        return functional.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                                     self.training or not self.track_running_stats, momentum or 0.0, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")


class Dropout(Module):
    """In training, zero each element with probability `p` and divide the others by ``1 - p``."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check(not (p < 0 or p > 1), lambda: f"dropout probability has to be between 0 and 1, but got {p}", ValueError)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Identity(Module):
    """Its input; takes any arguments, to stand in another module's place."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


# Activations ---------------------------------------------------------------------------------------------------------------

class _Function(Module):
    """A function of tensors as a module: a subclass names it, and its options with their defaults, in its first line.

    Options become attributes; ``weight`` and its like become buffers.
    """

    function: Callable[..., Tensor]
    options: dict[str, Any] = {}

    def __init_subclass__(cls, function: Callable[..., Tensor] | None = None, **options: Any) -> None:
        if function is not None:
            name = function.__name__ if function.__module__ != functional.__name__ else f"nn.functional.{function.__name__}"
            cls.function, cls.options = staticmethod(arguments.dressed(function, name)), options
            cls.__init__, cls.forward = _copied(cls, _Function.__init__, options), _copied(cls, cls.forward, {})

    def __init__(self) -> None:
        self._begin(locals())

    def _begin(self, arguments: dict[str, Any]) -> None:
        Module.__init__(self)
        for name in self.options:
            if name.endswith("weight"):
                self.register_buffer(name, arguments[name])
            else:
                self.__dict__[name] = arguments[name]


def _copied(cls: type, method: Callable, options: dict[str, Any]) -> Callable:
    """A method as a class's own, with options as further arguments: Python's errors about a call then say ``ReLU.forward()``."""
    names = (*method.__code__.co_varnames, *options)
    code = method.__code__.replace(co_varnames=names, co_nlocals=len(names), co_argcount=method.__code__.co_argcount + len(options))
    copy = FunctionType(code, method.__globals__, method.__name__, tuple(options.values()), method.__closure__)
    copy.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
    return copy


class _Activation(_Function):
    """A function of one tensor, printed with its options."""

    def forward(self, input: Tensor) -> Tensor:
        given = self.__dict__
        return self.function(input, **{name: given[name] for name in self.options})

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.options if name != "inplace" or self.inplace)


class Flatten(_Activation, function=Tensor.flatten, start_dim=1, end_dim=-1):
    """The dimensions from `start_dim` to `end_dim` as one: ``(n, ...) -> (n, m)``."""


class ReLU(_Activation, function=functional.relu, inplace=False):
    """The positive part, elementwise."""


class ReLU6(_Activation, function=functional.relu6, inplace=False):
    """Limited to [0, 6]."""


class LeakyReLU(_Activation, function=functional.leaky_relu, negative_slope=0.01, inplace=False):
    """x where it is positive, else ``negative_slope * x``."""


class ELU(_Activation, function=functional.elu, alpha=1.0, inplace=False):
    """x where it is positive, else ``alpha * (exp(x) - 1)``."""


class SELU(_Activation, function=functional.selu, inplace=False):
    """`ELU` with the constants that keep mean 0 and variance 1."""


class GELU(_Activation, function=functional.gelu, approximate="none"):
    """``x * P(N(0, 1) < x)``."""


class SiLU(_Activation, function=functional.silu, inplace=False):
    """``x * sigmoid(x)``."""


class Softplus(_Activation, function=functional.softplus, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta * x)) / beta``, a smooth relu."""


class Hardtanh(_Activation, function=functional.hardtanh, min_val=-1.0, max_val=1.0, inplace=False):
    """Limited to [min_val, max_val]."""

    def _begin(self, arguments: dict[str, Any]) -> None:
        super()._begin(arguments)
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class Sigmoid(_Activation, function=elementwise.sigmoid):
    """``1 / (1 + exp(-x))``."""


class LogSigmoid(_Activation, function=functional.logsigmoid):
    """The logarithm of sigmoid."""


class Tanh(_Activation, function=elementwise.tanh):
    """Hyperbolic tangent."""


class Softsign(_Activation, function=functional.softsign):
    """``x / (1 + |x|)``."""


class Softmax(_Activation, function=functional.softmax, dim=None):
    """Positive numbers that add to 1 along `dim`."""


class LogSoftmax(_Activation, function=functional.log_softmax, dim=None):
    """The logarithm of softmax."""


# Losses --------------------------------------------------------------------------------------------------------------------

class _Loss(_Function):
    """A function of (input, target); ``reduction`` is "mean", "sum" or "none"."""

    def _begin(self, arguments: dict[str, Any]) -> None:
        super()._begin(arguments)
        old = self.__dict__.pop("size_average", None), self.__dict__.pop("reduce", None)
        self.reduction = functional._legacy_reduction(*old, self.reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        given = {name: getattr(self, name) for name in self.options if name not in ("size_average", "reduce")}
        return self.function(input, target, **given)


class MSELoss(_Loss, function=functional.mse_loss, size_average=None, reduce=None, reduction="mean"):
    """The squared error."""


class L1Loss(_Loss, function=functional.l1_loss, size_average=None, reduce=None, reduction="mean"):
    """The absolute error."""


class SmoothL1Loss(_Loss, function=functional.smooth_l1_loss, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """The absolute error, rounded off below `beta`."""


class HuberLoss(_Loss, function=functional.huber_loss, reduction="mean", delta=1.0):
    """Half of the squared error below `delta`, a line above."""


class NLLLoss(_Loss, function=functional.nll_loss, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Minus the log-probability at each example's class."""


class CrossEntropyLoss(_Loss, function=functional.cross_entropy,
                       weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """`NLLLoss` of `LogSoftmax`: takes scores, not probabilities."""


class BCELoss(_Loss, function=functional.binary_cross_entropy, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Cross-entropy of two classes, of probabilities."""


class BCEWithLogitsLoss(_Loss, function=functional.binary_cross_entropy_with_logits,
                        weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """Cross-entropy of two classes, of scores."""


# Containers ----------------------------------------------------------------------------------------------------------------

def _iterable(wanted: str, values: Any) -> Iterable:
    """The values, if there are several."""
    if not isinstance(values, Iterable) or isinstance(values, Tensor):
        raise TypeError(f"{wanted}, but got {type(values).__name__}")
    return values


class _List(Module):
    """What `Sequential`, `ModuleList` and `ParameterList` share: members with the names "0", "1", …"""

    _registry = "_modules"

    @property
    def _members(self) -> dict[str, Any]:
        return self.__dict__[self._registry]

    def _key(self, idx: int) -> str:
        """The name of member `idx`, counted from the end if negative."""
        idx, keys = operator.index(idx), list(self._members)
        check(-len(keys) <= idx < len(keys), lambda: f"index {idx} is out of range", IndexError)
        return keys[idx]

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members.values())

    def __getitem__(self, idx: int | slice) -> Any:
        return type(self)(list(self)[idx]) if isinstance(idx, slice) else self._members[self._key(idx)]

    def __setitem__(self, idx: int, member: Any) -> None:
        setattr(self, self._key(idx), member)

    def append(self, member: Any) -> _List:
        """Add a member at the end."""
        self.add_module(str(len(self)), member)
        return self

    def extend(self, members: Iterable[Any]) -> _List:
        """Add members at the end."""
        for member in list(members):
            self.append(member)
        return self

    def __iadd__(self, other: Iterable[Any]) -> _List:
        return self.extend(other)


class _Modules(_List):
    """What `Sequential` and `ModuleList` share."""

    def __delitem__(self, idx: int | slice) -> None:
        for key in list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]:
            delattr(self, key)
        self._modules = {str(i): module for i, module in enumerate(self)}

    def insert(self, index: int, module: Module) -> None:
        """Add a child before another."""
        for i in range(len(self), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module

    def pop(self, key: int | slice) -> Module:
        """Take a child out and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Modules):
    """Modules applied one after the other; an OrderedDict gives them names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def __getitem__(self, idx: int | slice) -> Module:
        return type(self)(OrderedDict(list(self._modules.items())[idx])) if isinstance(idx, slice) else super().__getitem__(idx)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def insert(self, index: int, module: Module) -> Sequential:
        """Add a module before another; a negative `index` counts from the end."""
        check(isinstance(module, Module), lambda: f"module should be of type: {Module}", AssertionError)
        check(-len(self) <= index <= len(self), lambda: f"Index out of range: {index}", IndexError)
        super().insert(index + len(self) if index < 0 else index, module)
        return self

    def __iadd__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self).__iadd__(other)


class ModuleList(_Modules):
    """A list of modules that are children of it; it has no forward of its own."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(() if modules is None else modules)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end."""
        return super().extend(_iterable("ModuleList.extend should be called with an iterable", modules))

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(list(self) + list(other))

    def __repr__(self) -> str:
        texts = [repr(module) for module in self]
        lines, start = [], 0
        for i in range(1, len(texts) + 1):      # equal neighbours share one entry
            if i == len(texts) or texts[i] != texts[start]:
                name = f"({start}): " if i == start + 1 else f"({start}-{i - 1}): {i - start} x "
                lines.append(name + texts[start].replace("\n", "\n  "))
                start = i
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"


class ModuleDict(Module):
    """A dict of modules that are children of it; it has no forward of its own."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        self.update({} if modules is None else modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Names and modules."""
        return self._modules.items()

    def pop(self, key: str) -> Module:
        """Take a module out and return it."""
        return self._modules.pop(key)

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add the modules of another dict, or of pairs."""
        modules = _iterable("ModuleDict.update should be called with an iterable of key/value pairs", modules)
        for i, pair in enumerate(modules.items() if hasattr(modules, "items") else modules):
            if not isinstance(pair, Iterable):
                raise TypeError(f"ModuleDict update sequence element #{i} should be Iterable; is{type(pair).__name__}")
            if len(pair) != 2:
                raise ValueError(f"ModuleDict update sequence element #{i} has length {len(pair)}; 2 is required")
            self[pair[0]] = pair[1]


class ParameterList(_List):
    """A list of parameters that are parameters of it; tensors become Parameters."""

    _registry = "_parameters"

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)

    def append(self, value: Tensor) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), _as_parameter(value))
        return self

    def extend(self, values: Iterable[Tensor]) -> ParameterList:
        """Add parameters at the end."""
        return super().extend(_iterable("ParameterList.extend should be called with an iterable", values))

    def __setitem__(self, idx: int, value: Tensor) -> None:
        super().__setitem__(idx, _as_parameter(value))

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(f"  ({name}): Parameter containing: [{p.dtype} of size {'x'.join(map(str, p.shape))}]"
                         for name, p in self._parameters.items())


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


for _home, _classes in {
        "linear": [Linear, Identity], "sparse": [Embedding], "normalization": [LayerNorm], "batchnorm": [BatchNorm1d], "dropout": [Dropout],
        "activation": _Activation.__subclasses__(), "flatten": [Flatten], "loss": _Loss.__subclasses__(), "module": [Module],
        "container": [Sequential, ModuleList, ModuleDict, ParameterList]}.items():
    HOMES.update(dict.fromkeys(_classes, f"torch.nn.modules.{_home}"))
