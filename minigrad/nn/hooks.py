"""What happens when a module is called: its hooks before and after ``forward``, and those of the backward pass.

Full backward hooks want the gradients of the module's inputs and outputs, which belong to no single node: so an identity
node is put before the inputs and another behind the outputs, and the hooks run when gradients pass there.
"""
from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from ..autograd import Function
from ..grad_mode import state
from ..graph import HookDict, Node, RemovableHandle
from ..reasons import check
from ..tensor import Tensor


def _tuple(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def run_pre_hooks(hooks: HookDict, what: Any, owner: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Call ``hook(owner, args, kwargs)`` for each hook; what they return replaces the arguments."""
    for hook in list(hooks.values()):
        new = hook(owner, args, kwargs)
        if new is not None:
            if not isinstance(new, tuple) or len(new) != 2:
                raise RuntimeError(f"{what} must return None or a tuple of (new_args, new_kwargs), but got {new}.")
            args, kwargs = new
    return args, kwargs


class Hooked:
    """The part of `Module` that calls ``forward``."""

    @staticmethod
    def _no_hooks() -> dict[str, Any]:
        """The attributes that a new module begins with."""
        return {"_forward_pre_hooks": HookDict(), "_forward_hooks": HookDict(), "_backward_pre_hooks": HookDict(),
                "_backward_hooks": HookDict(), "_is_full_backward_hook": None}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._backward_hooks or self._backward_pre_hooks or self._forward_hooks or self._forward_pre_hooks:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> Any:
        result, called = None, set()
        try:
            args, kwargs = run_pre_hooks(self._forward_pre_hooks, "forward pre-hook", self, args, kwargs)
            backward = _FullBackward(self) if self._is_full_backward_hook or self._backward_pre_hooks else None
            if backward is not None:
                args = backward.around_inputs(args)
            result = self.forward(*args, **kwargs)
            for hook in list(self._forward_hooks.values()):
                called.add(hook)
                new = hook(self, args, kwargs, result)
                result = result if new is None else new
            if backward is not None:
                return backward.around_outputs(result)
            if self._backward_hooks:
                self._hook_last_node(args, result)
            return result
        except Exception:
            for hook in self._forward_hooks.values():
                if hook.always and hook not in called:
                    try:
                        new = hook(self, args, kwargs, result)
                        result = result if new is None else new
                    except Exception as error:
                        warnings.warn("module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                                      f"error was raised in forward: {error}", stacklevel=3)
            raise

    def _hook_last_node(self, args: tuple, result: Any) -> None:
        """The old kind of backward hook: on the node that made the result, whatever that is."""
        first = result
        while not isinstance(first, Tensor):
            first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
        if first.grad_fn is not None:
            alive = weakref.ref(self)

            def call(hook: Callable, *grads: tuple) -> Any:
                module = alive()
                check(module is not None, "You are trying to call the hook of a dead Module!")
                return hook(module, *grads)

            for hook in self._backward_hooks.values():
                first.grad_fn.register_hook(functools.partial(call, hook))
            missed = _missed_by_last_node(args, _tuple(result), first.grad_fn)
            if missed is not None:
                how, what = missed
                warnings.warn(f"Using {how} is deprecated and will be removed in future versions. This hook will be missing some {what}. "
                              "Please use register_full_backward_hook to get the documented behavior.", FutureWarning, stacklevel=4)

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments.

        `with_kwargs`: call ``hook(module, args, kwargs)``, which returns both.
        """
        def with_both(module: Hooked, args: tuple, kwargs: dict) -> tuple | None:
            new = hook(module, args)
            return None if new is None else (_tuple(new), kwargs)

        return _register(self._forward_pre_hooks, hook if with_kwargs else with_both, prepend)

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output.

        `with_kwargs`: call ``hook(module, args, kwargs, output)``; `always_call`: also after an error, with what there is.
        """
        def called(module: Hooked, args: tuple, kwargs: dict, output: Any) -> Any:
            return hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)

        called.always = always_call
        return _register(self._forward_hooks, called, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the module's inputs are computed."""
        self._use_backward_hooks(full=True)
        return _register(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before those gradients are computed; what it returns replaces grad_output."""
        return _register(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """The deprecated kind: it sees the last node of forward only."""
        self._use_backward_hooks(full=False)
        return _register(self._backward_hooks, hook)

    def _use_backward_hooks(self, full: bool) -> None:
        check(self._is_full_backward_hook in (None, full), "Cannot use both regular "
              "backward hooks and full backward hooks on a single Module. Please use only one of them.")
        self._is_full_backward_hook = full


def _missed_by_last_node(args: tuple, results: tuple, node: Node) -> tuple[str, str] | None:
    """Where a backward hook of the old kind misses what; None if the module is one node with tensors around it."""
    if not all(isinstance(r, Tensor) for r in results):
        return "non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors", "of the grad_output"
    if not all(isinstance(a, Tensor) for a in args):
        return "non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors", "of the grad_input"
    if len({r.grad_fn for r in results} - {None}) > 1:
        return "a non-full backward hook when outputs are generated by different autograd Nodes", "grad_output"
    if {a.grad_fn for a in args} - {None} != {following for following, _ in node.next_functions}:
        return "a non-full backward hook when the forward contains multiple autograd Nodes", "grad_input"
    return None


def _register(hooks: HookDict, hook: Callable, prepend: bool = False) -> RemovableHandle:
    earlier = list(hooks)
    handle = RemovableHandle(hooks, hook)
    for number in earlier if prepend else ():       # behind the new one
        hooks[number] = hooks.pop(number)
    return handle


class BackwardHookFunction(Function):
    """The identity, as a node for hooks."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(a for a in args if not a.requires_grad))
        return args

    @staticmethod
    def backward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        return args


def _through_identity(values: tuple, passing: Callable, which: int) -> tuple[tuple, bool]:
    """Pass the tensors among some values through a node, and say whether it was recorded.

    `passing` gets the gradients of all values (None: of what is no tensor), of the node's inputs or outputs (`which`: 0, 1).
    """
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not (state.enabled and any(values[i].requires_grad for i in places)):
        return values, False
    passed = dict(zip(places, BackwardHookFunction.apply(*(values[i] for i in places)), strict=True))

    def hook(*grads: tuple) -> tuple | None:        # texts say this name
        by_place = dict(zip(places, grads[which], strict=True))
        new = passing(tuple(by_place.get(i) for i in range(len(values))))
        return None if new is None else tuple(new[i] for i in places)

    next(t.grad_fn for t in passed.values() if t.grad_fn is not None).register_hook(hook)
    return tuple(passed.get(i, v) for i, v in enumerate(values)), True


class _FullBackward:
    """One call of a module with full backward hooks.

    The node behind the outputs keeps their gradients until the one before the inputs has theirs, and the hook gets both.
    """

    def __init__(self, module: Hooked) -> None:
        self.module = module
        self.hooks = list(module._backward_hooks.values()) if module._is_full_backward_hook else []
        self.pre_hooks = list(module._backward_pre_hooks.values())
        self.grad_outputs: tuple | None = None

    def around_inputs(self, args: tuple) -> tuple:
        """The arguments, as they are given to forward."""
        self.no_grads = (None,) * len(args)
        args, self.inputs_recorded = _through_identity(args, self._inputs_done, 0)
        return args

    def around_outputs(self, result: Any) -> Any:
        """The result, as the caller gets it."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                          f"{type(result)}", stacklevel=4)
            return result
        outputs, _ = _through_identity(_tuple(result), self._outputs_arrived, 1)
        return outputs if isinstance(result, tuple) else outputs[0]

    def _outputs_arrived(self, outputs: tuple) -> tuple:
        for hook in self.pre_hooks:
            outputs = _replaced(hook(self.module, outputs), outputs, "Backward pre hook returned an invalid number of grad_output")
        self.grad_outputs = outputs
        if not self.inputs_recorded:
            warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
                          "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
                          "register_full_backward_hook for more details.", stacklevel=5)
            for hook in self.hooks:
                new = hook(self.module, self.no_grads, outputs)
                check(new is None or isinstance(new, tuple) and all(g is None for g in new), "Backward hook for "
                      "Modules where no input requires gradient should always return None or None for all gradients.")
            self.grad_outputs = None
        return outputs

    def _inputs_done(self, inputs: tuple) -> tuple | None:
        if self.grad_outputs is None:       # a gradient that came past the module's outputs, as in double backward
            return None
        for hook in self.hooks:
            inputs = _replaced(hook(self.module, inputs, self.grad_outputs), inputs,
                               "Backward hook returned an invalid number of grad_input")
        self.grad_outputs = None
        return inputs


def _replaced(new: Any, old: tuple, problem: str) -> tuple:
    """What a hook returned in place of some gradients, unless that was None."""
    if new is None:
        return old
    check(len(new) == len(old), lambda: f"{problem}, got {len(new)}, but expected {len(old)}")
    return new
