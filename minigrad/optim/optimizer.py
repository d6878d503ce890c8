"""The optimizers: SGD, RMSprop, Adam and AdamW.

An optimizer writes into its parameters in place, which counts in their versions: ``backward()`` through a graph from before
``step()`` that remembers a parameter is refused. A parameter whose ``.grad`` is None is skipped; one whose ``.grad`` is zero is
not, and momentum or weight decay still move it.
"""
from __future__ import annotations

import functools
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import numpy as np

from ..function import Op, watch
from ..grad_mode import enable_grad, no_grad
from ..graph import HookDict, RemovableHandle
from ..inplace import check_overlap
from ..nn.hooks import run_pre_hooks
from ..nn.module import clear_gradients, typename
from ..reasons import broadcasts_beyond, check, sizes_differ
from ..storage import line_outside
from ..tensor import Tensor, wrap

__all__ = ["Adam", "AdamW", "Optimizer", "RMSprop", "SGD"]


class Optimizer:
    """The base of all optimizers; a subclass says in `step` how the parameters move.

    Parameters
    ----------
    params : iterable of Tensor, of (name, Tensor) or of dict
        What to optimize; each dict is a group of ``params`` with options of its own.
    defaults : dict
        The options that a group has unless it says otherwise.

    Attributes
    ----------
    param_groups : list of dict
        The groups; ``optimizer.param_groups[0]["lr"] = 0.01`` changes the learning rate.
    state : dict
        What is remembered for each parameter, for example its momentum.
    """

    def __init_subclass__(cls) -> None:
        if "step" in vars(cls):
            cls.step = _with_hooks(cls.step)

    def __init__(self, params: Iterable, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            + typename(params))
        for mode in ("capturable", "differentiable", "fused"):      # foreach moves all parameters at once, to the same place
            if defaults.get(mode):
                raise NotImplementedError(f"minigrad's optimizers do not have {mode}=True")
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_pre_hooks, self._step_post_hooks = HookDict(), HookDict()
        groups = list(params)
        check(groups, "optimizer got an empty parameter list", ValueError)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters that are to be optimized with options of their own.

        Raises
        ------
        TypeError, ValueError
            "can't optimize a non-leaf Tensor"; "some parameters appear in more than one parameter group"; …
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        check(not isinstance(params, set), "optimizer parameters need to be organized in ordered collections, but the "
              "ordering of tensors in sets will change between runs. Please use a list instead.", TypeError)
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names and len(names) < len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            check(p.is_leaf or p.retains_grad, "can't optimize a non-leaf Tensor", ValueError)
        param_group.update({"params": params, **({"param_names": names} if names else {})})
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                          "github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
        if {p for group in self.param_groups for p in group["params"]} & set(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or make them zero: backward() adds to what is there."""
        for group in self.param_groups:
            clear_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient; a closure computes the loss anew, which is returned."""
        raise NotImplementedError

    def _move(self, closure: Callable[[], Any] | None) -> Any:
        """The `step` of an optimizer that says in ``_update(param, grad, group)`` how one parameter moves."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        line = line_outside()
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is not None:
                    grad = p._grad.array
                    check_overlap(p.array)
                    try:
                        self._update(p, -grad if group["maximize"] else grad, group)
                    except ValueError as error:
                        raise _misfit(grad, p, *self.state[p].values()) or error from None
                    p._storage.bump(line)
                    if watch.callback is not None:
                        with no_grad():
                            watch.callback(STEP, (p, p._grad), (p,), False)
        return loss

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step."""
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._step_post_hooks, hook)

    def state_dict(self) -> dict[str, Any]:
        """State and options, with a number in the place of each parameter."""
        numbers = {p: i for i, p in enumerate(dict.fromkeys(p for group in self.param_groups for p in group["params"]))}
        return {"state": {numbers[p]: values for p, values in self.state.items()},
                "param_groups": [{**{k: v for k, v in group.items() if k != "params"},
                                  "params": [numbers[p] for p in group["params"]]}
                                 for group in self.param_groups]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take state and options over; parameters are matched by their order.

        Raises
        ------
        ValueError
            "loaded state dict has a different number of parameter groups"; "loaded state dict contains a parameter group that …"
        """
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(old["params"]) != len(new["params"]) for old, new in zip(self.param_groups, saved, strict=True)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = {}
        for group, new in zip(self.param_groups, saved, strict=True):
            params.update(zip(new["params"], group["params"], strict=True))
            new["params"] = group["params"]
        self.param_groups = saved
        self.state = defaultdict(dict, {
            params[n]: {name: value.to(params[n].dtype) if isinstance(value, Tensor) and name != "step" else value
                        for name, value in values.items()} for n, values in state_dict["state"].items()})

    def __repr__(self) -> str:
        groups = ["".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params") for group in self.param_groups]
        return f"{type(self).__name__} (" + "".join(f"\nParameter Group {i}\n{text}" for i, text in enumerate(groups)) + ")"


def _misfit(grad: np.ndarray, param: Tensor, *remembered: Any) -> RuntimeError | None:
    """PyTorch's error for a gradient that does not fit what is remembered of earlier ones, or its parameter."""
    shapes = [t.array.shape for t in (*remembered, param) if isinstance(t, Tensor) and (t.ndim or t is param)]
    shape = next((shape for shape in shapes if shape != grad.shape), None)
    if shape is None:
        return None
    problem = sizes_differ(shape, grad.shape)
    if problem is None:
        whole = np.broadcast_shapes(shape, grad.shape)
        problem = broadcasts_beyond(grad.shape if shape == whole else shape, whole)
    return RuntimeError(problem)


def step_(param, grad):
    """What an observer of operations is told of each parameter that a step moves."""


STEP = Op(step_, {}, inplace=True)


def _with_hooks(step: Callable) -> Callable:
    """A class's `step`, with the hooks before and after it."""
    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        optimizer = args[0]
        args, kwargs = run_pre_hooks(optimizer._step_pre_hooks, step, optimizer, args, kwargs)
        result = step(*args, **kwargs)
        for hook in list(optimizer._step_post_hooks.values()):
            hook(optimizer, args, kwargs)
        return result
    return hooked


def _check(valid: bool, what: str, value: Any) -> None:
    check(valid, lambda: f"Invalid {what}: {value}", ValueError)


class SGD(Optimizer):
    """Stochastic gradient descent: ``p -= lr * grad``, with momentum ``buf = momentum * buf + (1 - dampening) * grad`` in
    the gradient's place.

    Source: PyTorch 2.13.0, torch/optim/sgd.py.
    """

    def __init__(self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        _check(not lr < 0.0, "learning rate", lr)
        _check(not momentum < 0.0, "momentum value", momentum)
        _check(not weight_decay < 0.0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
                                  "fused": fused})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        return self._move(closure)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * param.array
        if momentum != 0:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = wrap(grad.copy())
            else:
                buffer.array *= momentum
                buffer.array += (1 - group["dampening"]) * grad
                buffer._storage.version += 1
            grad = grad + momentum * buffer.array if group["nesterov"] else buffer.array
        param.array -= float(group["lr"]) * grad


class Adam(Optimizer):
    """Steps in units of the gradient's own size: ``p -= lr * mean / (sqrt(mean of squares) + eps)``, both means running.

    Sources: Kingma and Ba, Adam, 2014; Reddi et al. (`amsgrad`), 2018; PyTorch 2.13.0, torch/optim/adam.py.
    """

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
                 decoupled_weight_decay: bool = False) -> None:
        _check(0.0 <= lr, "learning rate", lr)
        _check(0.0 <= eps, "epsilon value", eps)
        for i in range(2):
            _check(0.0 <= betas[i] < 1.0, f"beta parameter at index {i}", betas[i])
        _check(0.0 <= weight_decay, "weight_decay value", weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        return self._move(closure)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        lr, (beta1, beta2), decay, state = float(group["lr"]), group["betas"], group["weight_decay"], self.state[param]
        if not state:
            state["step"] = wrap(np.zeros((), np.float32))
            for name in ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ())):
                state[name] = wrap(np.zeros_like(param.array))
        state["step"].array += 1
        if decay != 0 and group["decoupled_weight_decay"]:
            param.array *= 1 - lr * decay
            param._storage.bump()
        elif decay != 0:
            grad = grad + decay * param.array
        mean, square, step = state["exp_avg"].array, state["exp_avg_sq"].array, state["step"].item()
        mean += (1 - beta1) * (grad - mean)
        square *= beta2
        square += (1 - beta2) * grad * grad
        if group["amsgrad"]:
            square = np.maximum(state["max_exp_avg_sq"].array, square, out=state["max_exp_avg_sq"].array)
        deviation = np.sqrt(square)
        deviation /= math.sqrt(1 - beta2 ** step)
        deviation += group["eps"]
        param.array -= lr / (1 - beta1 ** step) * (mean / deviation)


class RMSprop(Optimizer):
    """Steps in units of the gradient's own size: ``p -= lr * grad / (sqrt(running mean of squares) + eps)``.

    Sources: Hinton, Neural Networks for Machine Learning, lecture 6e, 2012; PyTorch 2.13.0, torch/optim/rmsprop.py.
    """

    def __init__(self, params: Iterable, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
                 momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
                 maximize: bool = False, differentiable: bool = False) -> None:
        for what, value in {"learning rate": lr, "epsilon value": eps, "momentum value": momentum, "weight_decay value": weight_decay,
                            "alpha value": alpha}.items():
            _check(0.0 <= value, what, value)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        return self._move(closure)

    def _update(self, param: Tensor, grad: np.ndarray, group: dict[str, Any]) -> None:
        alpha, momentum, state = group["alpha"], group["momentum"], self.state[param]
        if not state:
            state["step"] = wrap(np.zeros((), np.float32))
            for name in ("square_avg", *(("momentum_buffer",) if momentum > 0 else ()), *(("grad_avg",) if group["centered"] else ())):
                state[name] = wrap(np.zeros_like(param.array))
        state["step"].array += 1
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * param.array
        square = state["square_avg"].array
        square *= alpha
        square += (1 - alpha) * grad * grad
        if group["centered"]:
            mean = state["grad_avg"].array
            mean += (1 - alpha) * (grad - mean)
            square = square - mean * mean
        grad = grad / (np.sqrt(square) + group["eps"])
        if momentum > 0:
            buffer = state["momentum_buffer"].array
            buffer *= momentum
            grad = np.add(buffer, grad, out=buffer)
        param.array -= float(group["lr"]) * grad


class AdamW(Adam):
    """`Adam` whose weight decay shrinks the parameter itself, ``p *= 1 - lr * weight_decay``, and not by way of the gradient.

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2017.
    """

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
                 capturable: bool = False, differentiable: bool = False, fused: bool | None = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)
