"""``torch.optim.lr_scheduler``: learning rates that change from epoch to epoch.

A scheduler writes ``group["lr"]`` of its optimizer's groups: once when it is made, then in each `step`, which belongs behind
the optimizer's own.

Source: PyTorch 2.13.0, torch/optim/lr_scheduler.py.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .optimizer import Optimizer

__all__ = ["LRScheduler", "LambdaLR", "StepLR"]


class LRScheduler:
    """The base of all schedulers; a subclass of yours says in `get_lr` what the rates are at ``last_epoch``.

    Raises
    ------
    TypeError
        "int is not an Optimizer"
    """

    _get_lr_called_within_step = _is_initial = False

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.base_lrs = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self.last_epoch = -1
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

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def _next(self) -> list[float]:
        factor = self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1
        return [rate * factor for rate in self._rates()]


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch: of one function for all groups, or of a list with one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]]) -> None:
        self.optimizer, groups = optimizer, len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer)

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
