"""Which parameters of a model get no gradient, and why: ``audit(net, loss)``, for minigrad and PyTorch."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .program import Call, is_accumulator, is_tensor, nodes_of
from .recorder import Recorder

_last: list[Recorder] = []          # what ``with record():`` watched last


@dataclass(frozen=True)
class Finding:
    """A parameter without a gradient: its `name`, `why`, and the `line` and `source` that cut it off, where they are known."""

    name: str
    why: str
    line: int | None = None
    source: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.why}" + (f" (line {self.line}: {self.source})" if self.source else "")


class Audit(list):
    """The findings; shows itself as sentences."""

    def __init__(self, findings: list[Finding], total: int, recorded: bool) -> None:
        super().__init__(findings)
        self.total, self.recorded = total, recorded

    def __str__(self) -> str:
        if not self:
            return f"All {self.total} parameters get a gradient."
        lines = [f"{len(self)} of {self.total} parameters get no gradient:", *(f"  {finding}" for finding in self)]
        if not self.recorded:
            lines.append("To see the lines that cut them off, give audit() a function that computes the loss, or compute it inside "
                         "\"with picture.record():\".")
        return "\n".join(lines)

    __repr__ = __str__


def remember_last(recorder: Recorder) -> None:
    """Let `audit` know what ``with record():`` watched."""
    _last[:] = [recorder]


def audit(net: Any, loss: Any) -> Audit:
    """Find the parameters of `net` that a backward pass from `loss` does not reach.

    Parameters
    ----------
    net : Module
        Or anything with ``named_parameters()``.
    loss : Tensor or function
        A function that computes it is run and watched, so that the line that cut a parameter off can be named; so is a tensor
        that was computed inside ``with record():``.
    """
    recorder = next((r for r in _last if is_tensor(loss) and r.knows(loss)), None)
    if not is_tensor(loss):
        if not isinstance(loss, Callable):
            raise TypeError(f"audit() takes the loss or a function that computes it, not {type(loss).__name__}")
        recorder = Recorder()
        with recorder:
            loss = loss()
    reached = _reached(loss)
    parameters = list(net.named_parameters())
    findings = []
    for name, parameter in parameters:
        if id(parameter) not in reached:
            findings.append(_why(name, parameter, loss, recorder))
        elif not parameter.requires_grad:
            findings.append(Finding(name, "its requires_grad was switched off after it was used, so what arrives is dropped"))
    return Audit(findings, len(parameters), recorder is not None or not findings)


def _reached(loss: Any) -> set[int]:
    """The leaves (by id) that a backward pass from here reaches."""
    return ({id(node.variable) for node in nodes_of(loss) if is_accumulator(node)}
            | ({id(loss)} if loss.requires_grad and loss.grad_fn is None else set()))


def _why(name: str, parameter: Any, loss: Any, recorder: Recorder | None) -> Finding:
    if not parameter.requires_grad:
        return Finding(name, "its requires_grad is False: it is frozen")
    if recorder is None:
        return Finding(name, "no recorded path leads from the loss to it")
    live, dead = {id(parameter)}, {}             # tensors that depend on it: with a recorded path to it, or by which call without
    for call in recorder.calls:
        inputs = [*call.inputs, *call.inner]
        carrying = [slot for slot in inputs if id(slot.tensor) in live]
        if not carrying and not any(id(slot.tensor) in dead for slot in inputs):
            continue
        cut = next((dead[id(slot.tensor)] for slot in inputs if id(slot.tensor) in dead), None)
        for out in call.outputs:
            if carrying and out.tensor.requires_grad and call.nodes:
                live.add(id(out.tensor))
            else:
                dead[id(out.tensor)] = cut if not carrying else call
    if id(loss) in dead:
        call = dead[id(loss)]
        return Finding(name, _reason(call), call.line, call.source)
    used = id(parameter) in {id(slot.tensor) for call in recorder.calls for slot in call.inputs}
    if not used:
        return Finding(name, "the loss does not use it")
    last = next((call for call in reversed(recorder.calls) if any(id(s.tensor) in live for s in call.inputs)), None)
    return Finding(name, f"the loss does not use what was computed from it, last by `{last.text}`", last.line, last.source)


def _reason(call: Call) -> str:
    """Why an operation recorded nothing although an input of it requires grad."""
    if call.cut:
        return f"`{call.text}` cuts it off: the same numbers without history"
    if call.block is not None:
        return f"`{call.text}` ran while recording was off: {call.block[1].rstrip(':')}"
    if not any(out.tensor.is_floating_point() for out in call.outputs):
        return f"`{call.text}` has no derivative: its result is not of a floating-point type"
    return f"`{call.text}` records nothing"
