"""What is observed of one operation: its value, its nodes, what they save, who may be overwritten, its derivatives."""
from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

from .harness import attempt, clean, nodes, saved, show, tree

LETTERS = "xyzuvw"


def values(shape: tuple[int, ...], start: int = 0) -> Any:
    """Distinct nonzero sixteenths between -2 and 2, in no order, as nested lists: exact, no ties, no kinks."""
    numbers = ((37 * i + 11 * start) % 61 - 30 for i in itertools.count())
    flat = list(itertools.islice(((n + (0.5 if n == 0 else 0)) / 16 for n in numbers), math.prod(shape)))
    return nested(flat, shape)


def positive(*shape: int, start: int = 0) -> Any:
    """Like `values`, between 1/32 and 2."""
    flat = [abs(value) for value in flatten(values(shape, start))]
    seen: set[float] = set()
    for i, value in enumerate(flat):
        while value in seen:
            value += 1 / 64
        seen.add(value)
        flat[i] = value
    return nested(flat, shape)


def unit(*shape: int, start: int = 0) -> Any:
    """Like `values`, between -1 and 1."""
    return nested([value / 2 for value in flatten(values(shape, start))], shape)


def flatten(value: Any) -> list[float]:
    return [number for part in value for number in flatten(part)] if isinstance(value, list) else [value]


def nested(flat: list[float], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    step = math.prod(shape[1:])
    return [nested(flat[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


class Op:
    """A case: an operation and its inputs.

    Parameters
    ----------
    name : str
        The case's name.
    function : callable
        Of the inputs, in order; a first parameter `mg` gets the library.
    inputs
        A tuple is a shape, filled by `values`; other values go to ``mg.tensor``, and those of float64 require grad.
    second : bool
        Whether second derivatives are observed.
    """

    def __init__(self, name: str, function: Callable, *inputs: Any, second: bool = True) -> None:
        self.name, self.function, self.second = name, function, second
        self.inputs = [values(given, i) if isinstance(given, tuple) else given for i, given in enumerate(inputs)]
        self.wants_library = list(inspect.signature(function).parameters)[:1] == ["mg"]

    def apply(self, mg: Any, inputs: list) -> Any:
        return self.function(mg, *inputs) if self.wants_library else self.function(*inputs)

    def make(self, mg: Any, grad: set[int] | None = None) -> list:
        """The inputs as leaves; `grad`: which of them require grad (None: all that can)."""
        tensors = [mg.tensor(given, dtype=mg.float64) if isinstance(flatten(given)[0], float) else mg.tensor(given)
                   for given in self.inputs]
        for i, tensor in enumerate(tensors):
            if tensor.is_floating_point() and (grad is None or i in grad):
                tensor.requires_grad_()
        return tensors

    def __call__(self, mg: Any) -> None:
        inputs = self.make(mg)
        able = [i for i, tensor in enumerate(inputs) if tensor.requires_grad]
        self.observe_graph(mg, inputs, values_too=True)
        if len(able) > 1:
            for i in able:
                show(f"only {LETTERS[i]} requires grad")
                self.observe_graph(mg, self.make(mg, {i}), values_too=False)
        if able:
            self.observe_writes(mg)
            self.observe_second_pass(mg)
            self.observe_derivatives(mg, able)
            self.observe_other_inputs(mg, able)

    def observe_other_inputs(self, mg: Any, able: list[int]) -> None:
        """The same in float32, and with inputs whose last two dimensions lie the other way round in memory."""
        inputs = [mg.tensor(given, dtype=mg.float32).requires_grad_() if i in able else mg.tensor(given)
                  for i, given in enumerate(self.inputs)]
        outputs = attempt(lambda: self.outputs(self.apply(mg, inputs)))
        if isinstance(outputs, Exception):
            show("in float32:", outputs)
        else:
            show("in float32:", *[output.detach() for output in outputs])
            outputs = [output for output in outputs if output.requires_grad]
            if outputs:
                weights = [mg.tensor(values(tuple(output.shape), 3 + i)).to(output.dtype) for i, output in enumerate(outputs)]
                wanted = [inputs[i] for i in able]
                show("in float32, derivatives:", *mg.autograd.grad(outputs, wanted, weights, allow_unused=True))
        if any(mg.tensor(given).dim() > 1 for given in self.inputs):
            turned = [tensor.detach().mT.contiguous().mT.requires_grad_(tensor.requires_grad)
                      if tensor.dim() > 1 else tensor for tensor in self.make(mg)]
            usual = self.outputs(self.apply(mg, self.make(mg)))
            outputs = attempt(lambda: self.outputs(self.apply(mg, turned)))
            # The values are the same but for the order in which sums are added up; the result's strides are not.
            show("turned inputs:", outputs if isinstance(outputs, Exception) else
                 [(tuple(output.stride()), mg.allclose(output, same, equal_nan=True)) for output, same in zip(outputs, usual)])

    def outputs(self, result: Any) -> list:
        return list(result) if isinstance(result, (tuple, list)) else [result]

    def observe_graph(self, mg: Any, inputs: list, values_too: bool) -> None:
        names = {id(tensor): letter for tensor, letter in zip(inputs, LETTERS)}
        result = self.apply(mg, inputs)
        outputs = self.outputs(result)
        for output in outputs:
            if values_too:
                base = next((letter for tensor, letter in zip(inputs, LETTERS) if output._base is tensor), None)
                show("value", output, f"strides {tuple(output.stride())}" if output.dim() > 1 else "",
                     f"view of {base}" if base else "")
            show("graph", tree(output, names) if output.grad_fn is not None else "None")
        seen: list = []
        for output in outputs:
            for node in nodes(output):
                if not any(node is other for other in seen) and not hasattr(node, "variable"):
                    seen.append(node)
                    kinds = [f"{name}={kind}" for name, kind in saved(node).items()]
                    show(f"  {type(node).__name__} saved", ", ".join(kinds) or "nothing")

    def observe_writes(self, mg: Any) -> None:
        """Write into each input and into the result before the backward pass: who notices?"""
        for i, letter in enumerate(LETTERS[:len(self.inputs)]):
            inputs = [tensor.clone() for tensor in self.make(mg)]
            result = self.apply(mg, inputs)
            with mg.no_grad():
                inputs[i].zero_()
            show(f"{letter} overwritten, then backward:", self.verdict(mg, result))
        result = self.apply(mg, [tensor.clone() for tensor in self.make(mg)])
        first = self.outputs(result)[0]
        if first.requires_grad:
            written = attempt(lambda: first.mul_(2))
            if isinstance(written, Exception):
                show("result overwritten:", first_sentences(written))
            else:
                show("result overwritten:", tree(first), "then backward:", self.verdict(mg, result))

    def verdict(self, mg: Any, result: Any) -> str:
        outcome = attempt(lambda: self.total(mg, result).backward())
        return "fine" if outcome is None else first_sentences(outcome)

    def total(self, mg: Any, result: Any) -> Any:
        return sum(output.sum() for output in self.outputs(result) if output.requires_grad)

    def observe_second_pass(self, mg: Any) -> None:
        inputs = self.make(mg)
        result = self.apply(mg, inputs)
        outputs = [output for output in self.outputs(result) if output.requires_grad]
        ones = [mg.ones_like(output) for output in outputs]
        if outputs:
            mg.autograd.backward(outputs, ones)
            again = attempt(lambda: mg.autograd.backward(outputs, ones))
            show("second backward:", "fine" if again is None else first_sentences(again))

    def observe_derivatives(self, mg: Any, able: list[int]) -> None:
        inputs = self.make(mg)
        wanted = [inputs[i] for i in able]
        outputs = [output for output in self.outputs(self.apply(mg, inputs)) if output.requires_grad]
        if not outputs:
            return
        weights = [mg.tensor(values(tuple(output.shape), 3 + i), dtype=mg.float64).requires_grad_()
                   for i, output in enumerate(outputs)]
        first = mg.autograd.grad(outputs, wanted, weights, create_graph=self.second, allow_unused=True)
        for i, gradient in zip(able, first):
            show(f"d/d{LETTERS[i]}", gradient)
        if not self.second:
            return
        products = [(gradient * mg.tensor(values(tuple(gradient.shape), 7 + i), dtype=mg.float64)).sum()
                    for i, gradient in enumerate(first) if gradient is not None and gradient.requires_grad]
        if products:
            second = mg.autograd.grad(sum(products), [*wanted, *weights], allow_unused=True)
            labels = [f"d/d{LETTERS[i]}" for i in able] + [f"d/dw{i}" for i in range(len(weights))]
            for label, gradient in zip(labels, second):
                show("second", label, gradient)


def first_sentences(error: Exception) -> str:
    """An error without the advice that always follows."""
    message = clean(str(error)).split(" Hint:")[0].split(" Saved intermediate values")[0]
    return f"{type(error).__name__}: {message}"


def table(*ops: Op) -> dict[str, Op]:
    """The ops by name; a name given twice is an error."""
    named = {op.name: op for op in ops}
    if len(named) != len(ops):
        raise ValueError(f"a name is used twice: {sorted(op.name for op in ops)}")
    return named


