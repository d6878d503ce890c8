"""Module: a tree of parameters, buffers and child modules, called like a function.

Assigning is registering: ``self.weight = Parameter(...)`` goes into ``_parameters``, ``self.layer = Linear(...)`` into
``_modules``; what is assigned to a name that is registered must be of that kind. From the registries come `parameters`,
`state_dict`, `to`, `zero_grad` and the printed tree.
"""
from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..autograd import Function
from ..grad_mode import no_grad, state
from ..graph import HookDict, RemovableHandle
from ..tensor import Tensor
from .parameter import Parameter


def typename(value: Any) -> str:
    """A value's type in PyTorch's error texts."""
    if isinstance(value, Tensor):
        return value.type()
    cls = value if isinstance(value, type) else type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


class IncompatibleKeys(NamedTuple):
    """What `Module.load_state_dict` returns: keys it wanted and did not find, and keys that it has no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"
        return "<All keys matched successfully>"


class Module:
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
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _modules={}, _non_persistent_buffers_set=set(),
            _forward_pre_hooks=HookDict(), _forward_hooks=HookDict(), _with_kwargs=set(), _always_called=set(),
            _backward_pre_hooks=HookDict(), _backward_hooks=HookDict(), _is_full_backward_hook=None,
            _state_dict_pre_hooks=HookDict(), _state_dict_hooks=HookDict(), _load_state_dict_pre_hooks=HookDict(),
            _load_state_dict_post_hooks=HookDict())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Registries -------------------------------------------------------------------------------------------------------

    def _check_name(self, kind: str, name: str, registry: str) -> None:
        if registry not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
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
        if param is not None and param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express "
                f"'{name}' as a function of another Tensor, compute the value in the forward() method.")
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
        registries = self.__dict__
        if isinstance(value, Parameter):
            self._make_room(name, "parameters", "_parameters")
            self.register_parameter(name, value)
        elif name in registries.get("_parameters", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._make_room(name, "module", "_modules")
            self._modules[name] = value
        elif name in registries.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            self._modules[name] = None
        elif name in registries.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None "
                                "expected)")
            self.register_buffer(name, value, name not in self._non_persistent_buffers_set)
        else:
            super().__setattr__(name, value)

    def _make_room(self, name: str, kind: str, home: str) -> None:
        """Take a name out of all registries but the one that it will go into."""
        if home not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
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
        return (module for _, module in self.named_children())

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
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

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
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters: what an optimizer is given."""
        return (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers with dotted names."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name; of "" this one."""
        module = self
        for name in target.split(".") if target else ():
            module = module._member(name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def _member(self, name: str) -> Any:
        if not hasattr(self, name):
            raise AttributeError(f"{self._get_name()} has no attribute `{name}`")
        return getattr(self, name)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name."""
        path, _, name = target.rpartition(".")
        param = self.get_submodule(path)._member(name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = module._member(name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

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
        """Cast all floating-point parameters and buffers to float32, in place."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Module:
        """Cast all floating-point parameters and buffers to float64, in place."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Module:
        """Cast all floating-point parameters and buffers to float16, in place."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

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
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
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

    # Calling ----------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> Any:
        result, called = None, set()
        try:
            for number, hook in list(self._forward_pre_hooks.items()):
                if number in self._with_kwargs:
                    new = hook(self, args, kwargs)
                    if new is not None:
                        if not isinstance(new, tuple) or len(new) != 2:
                            raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                                               f"{new}.")
                        args, kwargs = new
                else:
                    new = hook(self, args)
                    if new is not None:
                        args = new if isinstance(new, tuple) else (new,)
            backward = None
            if self._is_full_backward_hook or self._backward_pre_hooks:
                backward = _FullBackward(self)
                args = backward.around_inputs(args)
            result = self.forward(*args, **kwargs)
            for number, hook in list(self._forward_hooks.items()):
                called.add(number)
                new = hook(self, args, kwargs, result) if number in self._with_kwargs else hook(self, args, result)
                result = result if new is None else new
            if backward is not None:
                if not isinstance(result, (Tensor, tuple)):
                    warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                                  f"received {type(result)}", stacklevel=3)
                    return result
                result = backward.around_outputs(result)
            elif self._backward_hooks:
                self._hook_last_node(result)
            return result
        except Exception:
            for number in sorted(self._always_called - called):
                hook = self._forward_hooks.get(number)
                if hook is not None:
                    hook(*((self, args, kwargs, result) if number in self._with_kwargs else (self, args, result)))
            raise

    def _hook_last_node(self, result: Any) -> None:
        """The old kind of backward hook: on the node that made the result, whatever that is."""
        while not isinstance(result, Tensor):
            result = next(iter(result.values() if isinstance(result, dict) else result))
        if result.grad_fn is not None:
            for hook in self._backward_hooks.values():
                result.grad_fn.register_hook(lambda grads_in, grads_out, hook=hook: hook(self, grads_in, grads_out))

    def _register(self, hooks: HookDict, hook: Callable, prepend: bool = False) -> RemovableHandle:
        handle = RemovableHandle(hooks, hook)
        if prepend:
            for number in [n for n in hooks if n != handle.id]:
                hooks[number] = hooks.pop(number)
        return handle

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments."""
        handle = self._register(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._with_kwargs.add(handle.id)
        return handle

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        handle = self._register(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._with_kwargs.add(handle.id)
        if always_call:
            self._always_called.add(handle.id)
        return handle

    def _use_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is not None and self._is_full_backward_hook is not full:
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                               "one of them.")
        self._is_full_backward_hook = full

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the module's inputs are computed."""
        self._use_backward_hooks(full=True)
        return self._register(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before those gradients are computed; what it returns replaces grad_output."""
        return self._register(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """The deprecated kind: it sees the last node of forward only."""
        self._use_backward_hooks(full=False)
        return self._register(self._backward_hooks, hook)

    # State ------------------------------------------------------------------------------------------------------------

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        tensors = {**self._parameters,
                   **{n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}}
        for name, tensor in tensors.items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()

    def state_dict(self, *, destination: dict | None = None, prefix: str = "",
                   keep_vars: bool = False) -> dict[str, Tensor]:
        """All parameters and persistent buffers by dotted name, detached: they share memory with the module."""
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            if hook(self, destination, prefix, metadata) is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = {name: t for name, t in (*self._parameters.items(), *self._buffers.items())
               if t is not None and name not in self._non_persistent_buffers_set}
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                self._load_tensor(name, tensor, key, state_dict[key], local_metadata, error_msgs)
            elif strict:
                missing_keys.append(key)
        if strict:
            for key in state_dict:
                name, *rest = key.removeprefix(prefix).split(".")
                if key.startswith(prefix) and name not in (self._modules if rest else own):
                    unexpected_keys.append(key)

    def _load_tensor(self, name: str, tensor: Tensor, key: str, loaded: Any, metadata: dict,
                     error_msgs: list[str]) -> None:
        if not isinstance(loaded, Tensor):
            error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                              f"checkpoint but received {type(loaded)}")
            return
        if tensor.ndim == 0 and tuple(loaded.shape) == (1,):
            loaded = loaded[0]
        if loaded.shape != tensor.shape:
            error_msgs.append(f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the shape in "
                              f"current model is {tensor.shape}.")
            return
        if metadata.get("assign_to_params_buffers"):
            is_param = isinstance(tensor, Parameter)
            setattr(self, name, Parameter(loaded, tensor.requires_grad) if is_param else loaded)
            return
        with no_grad():
            tensor.copy_(loaded)

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
            for hook in module._load_state_dict_post_hooks.values():
                hook(module, keys)

        load(self, OrderedDict(state_dict), "")
        if strict:
            problems = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
            error_msgs[:0] = [f"{what} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in found) + ". "
                              for what, found in problems.items() if found]
        if error_msgs:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(error_msgs))
        return keys

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state is read."""
        return self._register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after it was; it may change the dict."""
        return self._register(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)`` before loading."""
        return self._register(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the lists of keys."""
        return self._register(self._load_state_dict_post_hooks, hook)

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
        if grad is None:
            continue
        if set_to_none:
            param.grad = None
            continue
        if grad.grad_fn is not None:
            grad.detach_()
        else:
            grad.requires_grad_(False)
        grad.zero_()


class BackwardHookFunction(Function):
    """The identity, as a node for hooks."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(a for a in args if not a.requires_grad))
        return args

    @staticmethod
    def backward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        return args


class _FullBackward:
    """One call of a module with full backward hooks: an identity node before its inputs, another behind its outputs.

    The outer one keeps the gradients of the outputs until the inner one has those of the inputs, and the hook gets both.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.hooks = list(module._backward_hooks.values()) if module._is_full_backward_hook else []
        self.pre_hooks = list(module._backward_pre_hooks.values())
        self.grad_outputs: tuple | None = None

    def _through(self, values: tuple, hook: Callable) -> tuple[tuple, list[int] | None]:
        places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        if not state.enabled or not any(values[i].requires_grad for i in places):
            return values, None
        passed = BackwardHookFunction.apply(*(values[i] for i in places))
        next(t.grad_fn for t in passed if t.grad_fn is not None).register_hook(hook)
        new = list(values)
        for i, t in zip(places, passed, strict=True):
            new[i] = t
        return tuple(new), places

    @staticmethod
    def _spread(places: list[int], grads: tuple, n: int) -> tuple:
        by_place = dict(zip(places, grads, strict=True))
        return tuple(by_place.get(i) for i in range(n))

    def around_inputs(self, args: tuple) -> tuple:
        """Pass the arguments through the inner node."""
        self.n_inputs = len(args)
        args, self.inputs = self._through(args, self._inputs_done)
        return args

    def around_outputs(self, result: Any) -> Any:
        """Pass the result through the outer node."""
        outputs = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(outputs)
        outputs, self.outputs = self._through(outputs, self._outputs_arrived)
        return outputs if isinstance(result, tuple) else outputs[0]

    def _outputs_arrived(self, _: tuple, grads: tuple) -> tuple | None:
        outputs = self._spread(self.outputs, grads, self.n_outputs)
        for hook in self.pre_hooks:
            new = hook(self.module, outputs)
            if new is not None:
                new = new if isinstance(new, tuple) else (new,)
                if len(new) != len(outputs):
                    raise RuntimeError(f"Backward pre hook returned an invalid number of grad_output, got {len(new)}, but expected "
                                       f"{len(outputs)}")
                outputs = new
        self.grad_outputs = outputs
        if self.inputs is None:
            self._run_without_inputs()
        return tuple(outputs[i] for i in self.outputs)

    def _run_without_inputs(self) -> None:
        warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
                      "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
                      "register_full_backward_hook for more details.", stacklevel=5)
        for hook in self.hooks:
            new = hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
            if new is not None and not (isinstance(new, tuple) and all(g is None for g in new)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or None "
                                   "for all gradients.")
        self.grad_outputs = None

    def _inputs_done(self, grads: tuple, _: tuple) -> tuple | None:
        if self.grad_outputs is None:       # a gradient that came past the module's outputs, as in double backward
            return None
        inputs = self._spread(self.inputs, grads, self.n_inputs)
        for hook in self.hooks:
            new = hook(self.module, inputs, self.grad_outputs)
            if new is not None:
                if len(new) != len(inputs):
                    raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(new)}, but expected "
                                       f"{len(inputs)}")
                inputs = new
        self.grad_outputs = None
        return tuple(inputs[i] for i in self.inputs)
