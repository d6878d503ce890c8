"""``torch.optim.lr_scheduler``: learning rates that change from epoch to epoch.

A scheduler writes ``group["lr"]`` of its optimizer's groups: once when it is made, then in each `step`, which belongs behind
the optimizer's own.

Source: PyTorch 2.13.0, torch/optim/lr_scheduler.py.
"""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "LRScheduler", "LambdaLR", "StepLR"]


class LRScheduler:
    """The base of all schedulers; a subclass says in `get_lr` what the rates are at ``last_epoch``.

    Raises
    ------
    TypeError, KeyError
        "int is not an Optimizer"; for a `last_epoch` to go on from, while the groups do not have their ``initial_lr``.
    """

    _get_lr_called_within_step = _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        if not hasattr(optimizer, "_opt_called"):
            optimizer._opt_called = False
            optimizer.register_step_pre_hook(_remember_the_call)
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rates at ``last_epoch``, for `step`; to look at them there is `get_last_lr`."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rate of each group as `step` has set it last."""
        return self._last_lr

    def step(self) -> None:
        """Go to the next epoch."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them "
                "in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch "
                "skipping the first value of the learning rate schedule. See more details at "
                "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate", stacklevel=2)
        self._step_count += 1
        self.last_epoch += 1
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self._rates()

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", stacklevel=3)

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where another scheduler was."""
        self.__dict__.update(state_dict)


def _remember_the_call(optimizer: Optimizer, args: tuple, kwargs: dict[str, Any]) -> None:
    optimizer._opt_called = True


class StepLR(LRScheduler):
    """Times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch: of one function for all groups, or of a list with one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows but the optimizer; of a function nothing, of another callable its attributes."""
        state = super().state_dict()
        functions = state.pop("lr_lambdas")
        return {**state, "lr_lambdas": [None if isinstance(f, FunctionType) else f.__dict__.copy() for f in functions]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where another scheduler was, with this one's functions."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if attributes is not None:
                function.__dict__.update(attributes)


class CosineAnnealingLR(LRScheduler):
    """Down from the first rate to `eta_min` in `T_max` epochs, along half a cosine.

    Source: Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        self._warn_outside_step()
        low, period, epoch = self.eta_min, self.T_max, self.last_epoch
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and epoch > 0:
            return [low + (base - low) * (1 + math.cos(epoch * math.pi / period)) / 2 for base in self.base_lrs]
        if (epoch - 1 - period) % (2 * period) == 0:        # up again: from the lowest rate there is no factor
            return [rate + (base - low) * (1 - math.cos(math.pi / period)) / 2
                    for base, rate in zip(self.base_lrs, self._rates(), strict=True)]
        factor = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
        return [factor * (rate - low) + low for rate in self._rates()]
