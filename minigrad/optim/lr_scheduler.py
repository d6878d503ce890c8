"""``torch.optim.lr_scheduler``: learning rates that change from epoch to epoch.

A scheduler writes ``group["lr"]`` of its optimizer's groups: once when it is made, then in each `step`, which belongs behind
the optimizer's own.

Source: PyTorch 2.13.0, torch/optim/lr_scheduler.py.
"""
from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from .optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR", "StepLR"]


class LRScheduler:
    """The base of all schedulers; a subclass of yours says in `get_lr` what the rates are at ``last_epoch``.

    Those here say in ``_next`` how the rates go on from the last epoch's, and in ``_at`` what they are at any.

    Raises
    ------
    TypeError, KeyError
        "int is not an Optimizer"; of a `last_epoch` that the optimizer does not remember: "param 'initial_lr' is not specified …"
    """

    _get_lr_called_within_step = _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch != -1 and "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n1. You're trying to resume training from a checkpoint but haven't properly loaded the "
                    "optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not recommended)")
        self.base_lrs = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        if not hasattr(optimizer, "_opt_called"):
            optimizer._opt_called = False
            optimizer.register_step_pre_hook(_remember_the_call)
        self._step_count, self._is_initial = 0, True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rates at ``last_epoch``, for `step`; to look at them there is `get_last_lr`."""
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", stacklevel=2)
        return self._next()

    def _next(self) -> list[float]:
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rate of each group as `step` has set it last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch; to name it is deprecated."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them "
                "in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch "
                "skipping the first value of the learning rate schedule. See more details at "
                "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate", stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
                "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
                "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use "
                "case: https://github.com/pytorch/pytorch/issues/new/choose.", stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr() if epoch is None or not hasattr(self, "_at") else [self._at(base) for base in self.base_lrs]
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self._rates()

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

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

    def _next(self) -> list[float]:
        factor = self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1
        return [rate * factor for rate in self._rates()]

    def _at(self, base: float) -> float:
        return base * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Times `gamma` at each of the epochs `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates()]

    def _at(self, base: float) -> float:
        return base * self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ExponentialLR(LRScheduler):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        return [rate if self._is_initial else rate * self.gamma for rate in self._rates()]

    def _at(self, base: float) -> float:
        return base * self.gamma ** self.last_epoch


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave, from the first rate down to `eta_min` in `T_max` epochs, and up again in as many.

    Source: Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        low, epoch, rates = self.eta_min, self.last_epoch, self._rates()
        if self._is_initial:
            return rates
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:        # at the lowest point, where the ratio below is 0 / 0
            return [rate + (base - low) * (1 - math.cos(math.pi / self.T_max)) / 2 for base, rate in zip(self.base_lrs, rates, strict=True)]
        ratio = (1 + math.cos(math.pi * epoch / self.T_max)) / (1 + math.cos(math.pi * (epoch - 1) / self.T_max))
        return [ratio * (rate - low) + low for rate in rates]

    def _at(self, base: float) -> float:
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch: of one function for all groups, or of a list with one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        self.optimizer, groups = optimizer, len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows but the optimizer, and the functions: who goes on has these."""
        state = super().state_dict()
        functions = state.pop("lr_lambdas")
        return {**state, "lr_lambdas": [None] * len(functions)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where another scheduler was, with this one's functions."""
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})
