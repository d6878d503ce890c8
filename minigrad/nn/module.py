"""Module: a tree of parameters, buffers and child modules, called like a function.

Assigning is registering: ``self.weight = Parameter(...)`` goes into ``_parameters``, ``self.layer = Linear(...)`` into
``_modules``; what is assigned to a name that is registered must be of that kind. From the registries come `parameters`,
`state_dict`, `to`, `zero_grad` and the printed tree. `hooks` says what happens when a module is called.
"""
from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .. import dtype as dtypes
from ..grad_mode import no_grad
from ..reasons import check
from ..tensor import Tensor
from .hooks import Hooked
from .parameter import Parameter

HOMES: dict[Any, str] = {}      # where PyTorch has a class that stands elsewhere here: its texts name the file


def typename(value: Any) -> str:
    """A value's type in PyTorch's error texts."""
    if isinstance(value, Tensor):
        return value.type()
    named = value if hasattr(value, "__qualname__") else type(value)        # a function or a generator by its own name
    module = re.sub("^minigrad", "torch", HOMES.get(named) or getattr(named, "__module__", "") or "")
    return named.__qualname__ if module in ("", "builtins") else f"{module}.{named.__qualname__}"


class IncompatibleKeys(NamedTuple):
    """What `Module.load_state_dict` returns: keys it wanted and did not find, and keys that it has no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"
        return "<All keys matched successfully>"


class Module(Hooked):
    """The base of all layers: subclass it, call ``super().__init__()`` first, write ``forward``, call the instance.

    Attributes
    ----------
    training : bool
        Set by `train` and `eval`; `Dropout` and `BatchNorm1d` behave by it.
    """

    call_super_init = False
    _version = 1
    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        if kwargs and not self.call_super_init:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if args and not self.call_super_init:
            raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        # Past __setattr__, which looks into these.
        self.__dict__.update(training=True, _parameters={}, _buffers={}, _modules={}, _non_persistent_buffers_set=set(),
                             **self._no_hooks())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input: Any) -> Any:
        """What the layer computes; calling the instance runs it, and the hooks."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Registries -------------------------------------------------------------------------------------------------------

    def _check_name(self, kind: str, name: str, registry: str) -> None:
        check(registry in self.__dict__, lambda: f"cannot assign {kind} before Module.__init__() call", AttributeError)
        check(isinstance(name, str), lambda: f"{kind} name should be a string. Got {typename(name)}", TypeError)
        check("." not in name, lambda: f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""), KeyError)
        check(name, lambda: f'{kind} name can\'t be empty string ""', KeyError)
        if hasattr(self, name) and name not in self.__dict__[registry]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name; None reserves the name.

        Raises
        ------
        TypeError, KeyError, ValueError
            With PyTorch's texts, for what is not a leaf Parameter or not a new name.
        """
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        check(param is None or not param.grad_fn, lambda: f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
              f"parameters must be created explicitly. To express '{name}' as a function of another Tensor, compute "
              "the value in the forward() method.", ValueError)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; unless `persistent`, `state_dict` leaves it out."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = module

    register_module = add_module

    def __setattr__(self, name: str, value: Any) -> None:
        for registry, kind, what, wanted in (("_parameters", Parameter, "parameter", "torch.nn.Parameter"),
                                             ("_modules", Module, "child module", "torch.nn.Module"),
                                             ("_buffers", Tensor, "buffer", "torch.nn.Buffer, torch.Tensor")):
            if isinstance(value, kind) and kind is not Tensor:      # a plain tensor is a buffer only by register_buffer
                self._make_room(name, registry)
            elif name not in self.__dict__.get(registry, ()):
                continue
            elif value is not None and not isinstance(value, kind):
                raise TypeError(f"cannot assign '{typename(value)}' as {what} '{name}' ({wanted} or None expected)")
            if isinstance(value, Parameter):
                self.register_parameter(name, value)
            else:
                self.__dict__[registry][name] = value
            return
        super().__setattr__(name, value)

    def _make_room(self, name: str, home: str) -> None:
        """Take a name out of all registries but the one that it will go into."""
        if home not in self.__dict__:
            raise AttributeError(f"cannot assign {'module' if home == '_modules' else 'parameters'} before Module.__init__() call")
        for other in (self.__dict__, self._parameters, self._buffers, self._modules):
            if other is not self.__dict__[home]:
                other.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name: str) -> Any:
        # Only called for what is no ordinary attribute.
        registries = self.__dict__
        for registry in ("_parameters", "_buffers", "_modules"):
            if registry in registries and name in registries[registry]:
                return registries[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._modules, *self._buffers]
        return sorted({name for name in names if not name[0].isdigit()})

    # Walking the tree -------------------------------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children with their names, each once."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct children, each once."""
        yield from (module for _, module in self.named_children())

    def named_modules(self, memo: set[Module] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """This module and all below it, parents first, with dotted names."""
        seen = set() if memo is None else memo
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if module in seen:
                continue
            if remove_duplicate:
                seen.add(module)
            yield path, module
            stack += [(f"{path}.{name}" if path else name, child) for name, child in reversed(module._modules.items())
                      if child is not None]

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        yield from (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def _named_members(self, registry: str, prefix: str, recurse: bool,
                       remove_duplicate: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set[Tensor] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in getattr(module, registry).items():
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield f"{path}.{name}" if path else name, member

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        """All parameters with dotted names; one that is shared comes once, under its first name."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters: what an optimizer is given."""
        yield from (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers with dotted names."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        yield from (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name; of "" this one."""
        module = self
        for name in target.split(".") if target else ():
            module = module._member(name, Module, "an nn.Module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name."""
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._member(name, Parameter, "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        return module._member(name, Tensor if name in module._buffers else (), "a buffer")

    def _member(self, name: str, kind: type | tuple, what: str) -> Any:
        check(hasattr(self, name), lambda: f"{self._get_name()} has no attribute `{name}`", AttributeError)
        member = getattr(self, name)
        check(isinstance(member, kind), lambda: f"`{name}` is not {what}", AttributeError)
        return member

    # Changing the whole tree ------------------------------------------------------------------------------------------

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        if recurse:
            for child in self.children():
                child._apply(fn)
        with no_grad():
            for param in self._parameters.values():
                for tensor in (param, None if param is None else param.grad):
                    changed = None if tensor is None else fn(tensor)
                    if changed is not tensor:
                        tensor.data = changed
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Module], None]) -> Module:
        """Call ``fn(module)`` on all modules, children first: the usual way to initialize."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Cast all floating-point parameters and buffers, in place: ``to(mg.float64)``.

        Raises
        ------
        TypeError
            "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.int64"
        """
        asked = [getattr(a, "dtype", a) for a in (*args, kwargs.get("dtype"))]
        dtype = next((d for d in asked if hasattr(d, "is_floating_point")), None)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        return self._apply(lambda t: t.to(*args, **kwargs) if t.is_floating_point() else t)

    def float(self) -> Module:
        """``to(mg.float32)``."""
        return self.to(dtypes.float32)

    def double(self) -> Module:
        """``to(mg.float64)``."""
        return self.to(dtypes.float64)

    def half(self) -> Module:
        """``to(mg.float16)``."""
        return self.to(dtypes.float16)

    def type(self, dst_type: Any) -> Module:
        """Cast all parameters and buffers, of whatever type: ``type(mg.float64)``."""
        return self._apply(lambda t: t.type(dst_type))

    def cuda(self, device: Any = None) -> Module:
        """An error, if there is a tensor to move: minigrad has the CPU only."""
        return self._apply(lambda t: t.cuda(device))

    def cpu(self) -> Module:
        """Nothing: everything is on the CPU."""
        return self

    def train(self, mode: bool = True) -> Module:
        """Set ``training`` here and in all modules below.

        Raises
        ------
        ValueError
            "training mode is expected to be boolean"
        """
        check(isinstance(mode, bool), "training mode is expected to be boolean", ValueError)
        self.training = mode
        for child in self.children():       # their own train(), which they may have overridden
            child.train(mode)
        return self

    def eval(self) -> Module:
        """``train(False)``. Recording goes on: that is what ``no_grad()`` is for."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set the flag of all parameters: False freezes them."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or make them zero."""
        clear_gradients(self.parameters(), set_to_none)

    # State ------------------------------------------------------------------------------------------------------------

    def _state(self) -> dict[str, Tensor]:
        """This module's own parameters and persistent buffers."""
        return {name: t for name, t in (*self._parameters.items(), *self._buffers.items())
                if t is not None and name not in self._non_persistent_buffers_set}

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()

    def state_dict(self, *, destination: dict | None = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """All parameters and persistent buffers by dotted name, detached: they share memory with the module."""
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Load what is this module's own; a subclass overrides it to read what older versions of it have saved."""
        own = self._state()
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                error_msgs += self._load_tensor(name, tensor, key, state_dict[key], local_metadata)
            elif strict:
                missing_keys.append(key)
        for key in state_dict if strict else ():
            name, *rest = key.removeprefix(prefix).split(".")
            if key.startswith(prefix) and name not in (self._modules if rest else own):
                unexpected_keys.append(key)

    def _load_tensor(self, name: str, tensor: Tensor, key: str, loaded: Any, metadata: dict) -> list[str]:
        """Copy a tensor, or say why not."""
        if not isinstance(loaded, Tensor):
            return [f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                    f"received {type(loaded)}"]
        if tensor.ndim == 0 and tuple(loaded.shape) == (1,):
            loaded = loaded[0]
        if loaded.shape != tensor.shape:
            return [f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the shape in current "
                    f"model is {tensor.shape}."]
        if metadata.get("assign_to_params_buffers"):
            setattr(self, name, Parameter(loaded, tensor.requires_grad) if isinstance(tensor, Parameter) else loaded)
        else:
            with no_grad():
                tensor.copy_(loaded)
        return []

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True,
                        assign: bool = False) -> IncompatibleKeys:
        """Copy tensors into the parameters and buffers of the same names (`assign`: take the tensors themselves).

        Raises
        ------
        RuntimeError
            "Error(s) in loading state_dict for Linear: …" if a shape differs or, unless ``strict=False``, a key.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys, error_msgs = IncompatibleKeys([], []), []
        metadata = getattr(state_dict, "_metadata", {})

        def load(module: Module, tensors: dict, prefix: str) -> None:
            local = {**metadata.get(prefix[:-1], {}), **({"assign_to_params_buffers": True} if assign else {})}
            module._load_from_state_dict(tensors, prefix, local, True, *keys, error_msgs)
            for name, child in module._modules.items():
                if child is not None:
                    path = f"{prefix}{name}."
                    load(child, {k: v for k, v in tensors.items() if k.startswith(path)}, path)

        load(self, OrderedDict(state_dict), "")
        if strict:
            problems = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
            error_msgs[:0] = [f"{what} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in found) + ". "
                              for what, found in problems.items() if found]
        check(not error_msgs, lambda: f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(error_msgs))
        return keys

    # Printing ---------------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What is printed of the module itself, between the parentheses."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        if not children and len(extra) < 2:
            return f"{self._get_name()}({''.join(extra)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(extra + children) + "\n)"


def clear_gradients(parameters: Any, set_to_none: bool) -> None:
    """Set every ``.grad`` to None or, in its own memory, to zero."""
    for param in parameters:
        grad = param._grad
        if grad is None or set_to_none:
            param.grad = None
        elif grad.grad_fn is not None:
            grad.detach_().zero_()
        else:
            grad.requires_grad_(False).zero_()
