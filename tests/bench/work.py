"""The work that is measured, written twice: by hand in NumPy, and for anything with PyTorch's API.

Each method prepares a piece of work and returns ``(run, results)``: ``run()`` does it once, ``results()`` lists the arrays
that it left (values, gradients, trained weights), which must be the same whoever did it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Work = tuple[Callable[[], Any], Callable[[], list[np.ndarray]]]
FLOAT = np.float32


def chain_leaves() -> list[np.ndarray]:
    """x, w, b: however often y = y * w + b is repeated, y stays at 1."""
    return [np.array([v], FLOAT) for v in (1.0, 0.999999, 1e-6)]


def wide_leaves(n: int) -> tuple[list[np.ndarray], list[tuple[int, int]]]:
    """Twenty small vectors, and which two of them each of n products takes."""
    vectors = np.random.default_rng(0).standard_normal((20, 8)).astype(FLOAT)
    return list(vectors), [(i % 10, 10 + i // 10 % 10) for i in range(n)]


def broadcasting_leaves(n: int) -> list[np.ndarray]:
    random = np.random.default_rng(1)
    return [random.standard_normal(shape).astype(FLOAT) for shape in ((n, 1), (1, n), (n, n))]


def training(sizes: list[int], batch: int, steps: int) -> tuple[list, list]:
    """Batches (input, label) and the first weights (weight, bias) of an MLP. The time does not depend on the numbers."""
    random = np.random.default_rng(2)
    batches = [(random.random((batch, sizes[0]), FLOAT), random.integers(0, sizes[-1], batch)) for _ in range(steps)]
    weights = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        shapes = (fan_out, fan_in), (fan_out,)
        weights.append([(random.uniform(-1, 1, shape) / fan_in ** 0.5).astype(FLOAT) for shape in shapes])
    return batches, weights


class ByHand:
    """Forward and backward as one writes them without any library for gradients: the limit for an engine on NumPy."""

    def chain(self, n: int, mode: str = "backward") -> Work:
        x, w, b = chain_leaves()
        left: list[np.ndarray] = []

        def forward() -> None:
            y = x
            for _ in range(n // 2):
                y = y * w
                y = y + b
            left[:] = [y]

        def backward() -> None:
            saved, y = [], x
            for _ in range(n // 2):
                saved.append(y)
                y = y * w
                y = y + b
            grad = np.ones_like(y)
            grad_w, grad_b = np.zeros_like(w), np.zeros_like(b)
            while saved:
                grad_b = grad_b + grad
                grad_w = grad_w + grad * saved.pop()
                grad = grad * w
            left[:] = [y, grad, grad_w, grad_b]

        return backward if mode == "backward" else forward, lambda: left

    def wide(self, n: int) -> Work:
        leaves, pairs = wide_leaves(n)
        left: list[np.ndarray] = []

        def run() -> None:
            total = np.zeros(8, FLOAT)
            for i, j in pairs:
                total = total + leaves[i] * leaves[j]
            value, grad = np.add.reduce(total), np.ones_like(total)
            grads = [np.zeros_like(leaf) for leaf in leaves]
            for i, j in pairs:
                grads[i] = grads[i] + grad * leaves[j]
                grads[j] = grads[j] + grad * leaves[i]
            left[:] = [value, *grads]

        return run, lambda: left

    def broadcasting(self, n: int) -> Work:
        a, b, c = broadcasting_leaves(n)
        left: list[np.ndarray] = []

        def run() -> None:
            inner = a * b
            inner += c
            value = (inner * a + b).sum()
            grad = np.ones_like(c)
            grad_b = grad.sum(0, keepdims=True)
            grad_a = (grad * inner).sum(1, keepdims=True)
            grad_c = grad * a
            grad_b += (grad_c * a).sum(0, keepdims=True)
            grad_a += (grad_c * b).sum(1, keepdims=True)
            left[:] = [value, grad_a, grad_b, grad_c]

        return run, lambda: left

    def mlp(self, sizes: list[int], batch: int, steps: int, lr: float) -> Work:
        batches, layers = training(sizes, batch, steps)
        rows, left = np.arange(batch), []

        def run() -> None:
            left.clear()
            for x, label in batches:
                inputs = [x]
                for i, (weight, bias) in enumerate(layers):
                    y = inputs[-1] @ weight.T
                    y += bias
                    if i < len(layers) - 1:
                        np.maximum(y, 0, out=y)
                    inputs.append(y)
                y = inputs.pop()
                y -= y.max(1, keepdims=True)
                grad = np.exp(y)
                total = grad.sum(1, keepdims=True)
                left.append((np.log(total[:, 0]) - y[rows, label]).mean())
                grad /= total
                grad[rows, label] -= 1
                grad *= FLOAT(1 / batch)
                for weight, bias in reversed(layers):
                    x = inputs.pop()
                    grad_weight, grad_bias = grad.T @ x, grad.sum(0)
                    if inputs:
                        grad = grad @ weight
                        grad *= x > 0
                    grad_weight *= lr
                    grad_bias *= lr
                    weight -= grad_weight
                    bias -= grad_bias

        return run, lambda: [*left, *(array for layer in layers for array in layer)]

    def layers(self, n: int, size: int, probe: Callable[[str], None]) -> list[np.ndarray]:
        """n times tanh, where every result is saved; `probe` is told how far it is."""
        x = np.full((size, size), 0.5, FLOAT)
        probe("start")
        saved, y = [], x
        for _ in range(n):
            y = np.tanh(y)
            saved.append(y)
        value, grad = y.sum(), np.ones_like(x)
        del y
        while saved:
            y = saved.pop()
            grad = grad * (1 - y * y)
        del y
        probe("after")
        return [value, grad]


class Engine:
    """The same for a module with PyTorch's API: ``Engine(minigrad)``, ``Engine(torch)``."""

    def __init__(self, module: Any) -> None:
        self.m = module

    def leaf(self, array: np.ndarray, requires_grad: bool = True) -> Any:
        return self.m.tensor(array, requires_grad=requires_grad)

    def chain(self, n: int, mode: str = "backward") -> Work:
        leaves = [self.leaf(array) for array in chain_leaves()]
        x, w, b = leaves
        left: list[Any] = []

        def forward() -> None:
            y = x
            for _ in range(n // 2):
                y = y * w
                y = y + b
            left[:] = [y.detach()]
            if mode == "backward":
                for leaf in leaves:
                    leaf.grad = None
                y.backward()
                left.extend(leaf.grad for leaf in leaves)

        def no_grad() -> None:
            with self.m.no_grad():
                forward()

        return no_grad if mode == "no_grad" else forward, lambda: [t.numpy() for t in left]

    def wide(self, n: int) -> Work:
        arrays, pairs = wide_leaves(n)
        leaves, zero = [self.leaf(array) for array in arrays], self.m.zeros(8)
        left: list[Any] = []

        def run() -> None:
            for leaf in leaves:
                leaf.grad = None
            total = zero
            for i, j in pairs:
                total = total + leaves[i] * leaves[j]
            value = total.sum()
            value.backward()
            left[:] = [value.detach(), *(leaf.grad for leaf in leaves)]

        return run, lambda: [t.numpy() for t in left]

    def broadcasting(self, n: int) -> Work:
        leaves = a, b, c = [self.leaf(array) for array in broadcasting_leaves(n)]
        left: list[Any] = []

        def run() -> None:
            a.grad = b.grad = c.grad = None
            value = ((a * b + c) * a + b).sum()
            value.backward()
            left[:] = [value.detach(), *(leaf.grad for leaf in leaves)]

        return run, lambda: [t.numpy() for t in left]

    def mlp(self, sizes: list[int], batch: int, steps: int, lr: float) -> Work:
        nn, functional = self.m.nn, self.m.nn.functional
        arrays, weights = training(sizes, batch, steps)
        batches = [tuple(self.leaf(array, False) for array in pair) for pair in arrays]
        model = nn.Sequential()
        for weight, bias in weights:
            layer = nn.Linear(weight.shape[1], weight.shape[0])
            layer.weight, layer.bias = nn.Parameter(self.leaf(weight, False)), nn.Parameter(self.leaf(bias, False))
            model.extend([layer, nn.ReLU()])
        model = model[:-1]
        optimizer = self.m.optim.SGD(model.parameters(), lr=lr)
        left: list[float] = []

        def run() -> None:
            left.clear()
            for x, label in batches:
                loss = functional.cross_entropy(model(x), label)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                left.append(loss.item())

        return run, lambda: [*map(np.float32, left), *(p.detach().numpy() for p in model.parameters())]

    def layers(self, n: int, size: int, probe: Callable[[str], None]) -> list[np.ndarray]:
        """n times tanh, where every result is saved; the loss stays alive while the memory is measured."""
        x = self.leaf(np.full((size, size), 0.5, FLOAT))
        probe("start")
        y = x
        for _ in range(n):
            y = y.tanh()
        loss = y.sum()
        del y
        loss.backward()
        probe("after")
        return [loss.detach().numpy(), x.grad.numpy()]


def of(peer: str) -> ByHand | Engine:
    """The work as "numpy", "minigrad" or "torch" does it."""
    if peer == "numpy":
        return ByHand()
    module = __import__(peer)
    if peer == "torch":
        module.set_num_threads(1)
    return Engine(module)


def disagreement(ours: list[np.ndarray], theirs: list[np.ndarray]) -> str | None:
    """Say where two lists of results differ by more than float32's rounding adds up to; None if they do not."""
    if len(ours) != len(theirs):
        return f"{len(ours)} results and {len(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if np.shape(a) != np.shape(b):
            return f"result {i} has the shapes {np.shape(a)} and {np.shape(b)}"
        if not np.allclose(a, b, rtol=1e-3, atol=1e-3 * np.abs(b).max()):
            return f"result {i} differs by {np.abs(a - b).max():.2g}"
    return None
