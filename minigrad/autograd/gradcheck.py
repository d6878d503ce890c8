"""``torch.autograd.gradcheck``: does backward give what finite differences give?

The Jacobian of a function is found in two ways that share no code. Numerically, by its columns: move one element of an
input by ``eps``, there and back, and see how far every output moves. Analytically, by its rows: send back a gradient
that is 1 for one element of an output and 0 for the others. Where they disagree, a derivative is wrong (or the point is
a kink, or single precision too coarse). ``fast_mode`` compares one number per Jacobian J: ``v @ J @ u`` of random u, v.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..random import Generator, rand
from ..reasons import check
from ..tensor import Tensor, wrap
from .backward_pass import grad
from .function import Function

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError"]

OVERLAP = (
    "The {}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able "
    "to compute the numerical gradients correctly. You should call .contiguous on the input before passing it to "
    "gradcheck.")
NOT_DOUBLE = (
    "Input #{} requires gradient and is not a double precision floating point or complex. This check will likely fail "
    "if all the inputs are not of double precision floating point or complex. ")
NO_INPUT = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
UNSUPPORTED = ("minigrad has neither forward-mode AD nor batched gradients: check_forward_ad, check_fwd_over_rev and "
               "check_batched_grad must be False.")
NOT_ZERO = "Numerical gradient for function expected to be zero"
NOT_REENTRANT = """\
Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different \
values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {}.

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""
MISMATCH = "Jacobian mismatch for output {} with respect to input {},\nnumerical:{}\nanalytical:{}\n"
FAST_MISMATCH = """
The above quantities relating the numerical and analytical jacobians are computed\x20
in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background\x20
about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:

Numerical:
 {}
Analytical:
{}

The max per-element difference (slow mode) is: {}.
"""
SLOW_WOULD_PASS = """\
Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:

If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `fast_mode=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_fast_mode=False`
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_fast_mode=False`"""
UNDEFINED_NEW = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    "existing callers of this function. If this is true for you, you can call this function with "
    "\"check_undefined_grad=False\" to disable the feature")
UNDEFINED_NOTES = ' Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
UNDEFINED_REFUSED = "Expected backward function to handle undefined output grads." + UNDEFINED_NOTES
UNDEFINED_NOT_ZERO = ("Expected all input grads to be undefined or zero when all output grads are undefined or zero."
                      + UNDEFINED_NOTES)


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when a gradient is not what it should be."""


class _Undefined(Function):
    """The identity, whose backward sends no gradient at all."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> None:
        return None


def _tuple(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _recorded(values: Any) -> tuple[Tensor, ...]:
    return tuple(t for t in _tuple(values) if t.requires_grad)


def _checked(values: tuple) -> list[Tensor]:
    return [t for t in values if isinstance(t, Tensor) and t.requires_grad]


def _unit_vectors(t: Tensor) -> Iterator[Tensor]:
    """One after the other, tensors like `t` that are 1 at one element and 0 elsewhere."""
    for k in range(t.numel()):
        unit = np.zeros(t.numel(), t.array.dtype)
        unit[k] = 1
        yield wrap(unit.reshape(t.shape))


def _random_unit_vector(t: Tensor, generator: Generator) -> np.ndarray:
    vector = rand(t.numel(), generator=generator).array.astype(t.array.dtype)
    return (vector / np.linalg.norm(vector)).reshape(t.shape)


def _random_gradient(t: Tensor, with_gaps: bool) -> Tensor:
    """Numbers from [-1, 1) in the shape of `t`, as PyTorch draws them, as a leaf that requires grad."""
    if with_gaps and t.numel() > 1:
        drawn = rand((*t.shape[:-1], t.shape[-1] * 2), dtype=t.dtype).array[..., 1::2]
    else:
        drawn = rand(t.shape, dtype=t.dtype).array
    drawn *= 2
    drawn -= 1
    return wrap(drawn).requires_grad_()


def _largest(difference: np.ndarray) -> np.generic:
    return np.abs(difference).max(initial=0)


class _Check:
    """A function at a point, and how exact its derivatives have to be there."""

    def __init__(self, func: Callable, inputs: tuple, eps: float, atol: float, rtol: float, nondet_tol: float) -> None:
        self.func, self.inputs = func, inputs
        self.eps, self.atol, self.rtol, self.nondet_tol = eps, atol, rtol, nondet_tol
        self.checked = _checked(inputs)
        self.results = _tuple(func(*inputs))
        self.outputs = {place: t for place, t in enumerate(self.results) if t.requires_grad}

    def moved(self, entry: np.ndarray, place: Any, step: Any, where: str = "") -> list[np.ndarray]:
        """How far all results move, per unit of `eps`, from a step back to a step forward at a place of an input."""
        before, sides = entry[place].copy(), []
        try:
            for value in (before - step, before + step):
                entry[place] = value        # past the version counter: nobody is to notice
                sides.append([wrap(t.array.copy()) for t in _tuple(self.func(*self.inputs))])
        finally:
            entry[place] = before
        for a, b in zip(*sides, strict=True):
            for what, x, y in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
                if x != y:
                    raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are "
                                         f"perturbed {where}by {self.eps}, but got: {what}s {x} and {y}.")
        return [((b - a) / (2 * self.eps)).array for a, b in zip(*sides, strict=True)]

    def numerical(self, t: Tensor) -> list[np.ndarray]:
        """The transposed Jacobian ``(t.numel(), result.numel())`` of every result, from finite differences."""
        rows = [self.moved(t.array, index, self.eps, f"on index {index} ") for index in np.ndindex(t.shape)]
        return [np.array([row[k] for row in rows], r.array.dtype if r.is_floating_point() else None)
                .reshape(t.numel(), r.numel()) for k, r in enumerate(self.results)]

    def backward(self, output: Tensor, vectors: list[Tensor]) -> list[np.ndarray]:
        """For every checked input, ``(t.numel(), len(vectors))``: what comes back for each vector sent to an output."""
        products = [np.zeros((t.numel(), len(vectors)), t.array.dtype) for t in self.checked]
        for k, vector in enumerate(vectors):
            grads = grad(output, self.checked, vector, retain_graph=True, allow_unused=True)
            for product, g in zip(products, grads, strict=True):
                if g is not None:
                    product[:, k] = g.array.reshape(-1)
        return products

    def reentrant(self, output: Tensor, vectors: list[Tensor]) -> list[np.ndarray]:
        """`backward`, run twice: the same must come back."""
        first, second = self.backward(output, vectors), self.backward(output, vectors)
        if any(_largest(a - b) > self.nondet_tol for a, b in zip(first, second, strict=True)):
            raise GradcheckError(NOT_REENTRANT.format(self.nondet_tol))
        return first

    def slow(self) -> None:
        """Compare whole Jacobians."""
        numerical = [self.numerical(t) for t in self.checked]
        if not self.outputs and any((n != 0).any() for row in numerical for n, r in zip(row, self.results, strict=True)
                                    if r.is_floating_point()):
            raise GradcheckError(NOT_ZERO)
        for i, (place, output) in enumerate(self.outputs.items()):
            for j, a in enumerate(self.reentrant(output, list(_unit_vectors(output)))):
                n = numerical[j][place]
                if not np.allclose(a, n, self.rtol, self.atol):
                    raise GradcheckError(MISMATCH.format(i, j, wrap(n), wrap(a)))

    def fast(self) -> None:
        """Compare one random combination of each Jacobian's elements."""
        generator = Generator()
        us = [_random_unit_vector(t, generator) for t in self.checked]
        vs = [_random_unit_vector(t, generator) for t in self.outputs.values()]
        numerical = [self.moved(t.array, ..., self.eps * u) for t, u in zip(self.checked, us, strict=True)]
        check(self.outputs or not any(_largest(n) > self.nondet_tol for row in numerical for n in row), NOT_ZERO, GradcheckError)
        analytical = [self.reentrant(output, [wrap(v)]) for output, v in zip(self.outputs.values(), vs, strict=True)]
        for j, u in enumerate(us):
            for i, ((place, output), v) in enumerate(zip(self.outputs.items(), vs, strict=True)):
                n, a = (v * numerical[j][place]).sum(), np.dot(analytical[i][j][:, 0], u.reshape(-1))
                if not np.allclose(a, n, self.rtol, self.atol * float(u.sum()) * float(v.sum())):
                    text = MISMATCH.format(i, j, n.item(), a.item())
                    raise GradcheckError(text + self.explained(j, place, output))

    def explained(self, j: int, place: int, output: Tensor) -> str:
        """What a failed comparison of two numbers looks like as Jacobians."""
        n, a = self.numerical(self.checked[j])[place], self.backward(output, list(_unit_vectors(output)))[j]
        text = FAST_MISMATCH.format(wrap(n), wrap(a), _largest(n - a).item())
        return text + (SLOW_WOULD_PASS if np.allclose(a, n, self.rtol, self.atol) else "")

    def scales_with_gradient(self, atol: float) -> None:
        """A gradient of zeros must come back as zeros."""
        zeros = [wrap(np.zeros_like(t.array)) for t in self.outputs.values()]
        for g in grad(tuple(self.outputs.values()), self.checked, zeros, allow_unused=True):
            if g is not None and not np.allclose(g.array, 0, 0, atol):
                raise GradcheckError("backward not multiplied by grad_output")

    def accepts_undefined(self) -> None:
        """Outputs whose gradient never arrives count as zero: all of them at once, and each alone."""
        everything = set(range(len(self.outputs)))
        for undefined in [everything, *({k} for k in everything if len(everything) > 1)]:
            outputs = _recorded(self.func(*self.inputs))
            outputs = [_Undefined.apply(t) if k in undefined else t for k, t in enumerate(outputs)]
            zeros = [wrap(np.zeros_like(t.array)) for t in outputs]
            try:
                grads = grad(outputs, self.checked, zeros, allow_unused=True)
            except RuntimeError as error:
                warnings.warn(UNDEFINED_NEW, stacklevel=4)
                raise GradcheckError(UNDEFINED_REFUSED) from error
            if any(g is not None and g.array.any() for g in grads):
                warnings.warn(UNDEFINED_NEW, stacklevel=4)
                raise GradcheckError(UNDEFINED_NOT_ZERO)


def _check_inputs(inputs: tuple) -> None:
    for i, t in enumerate(inputs):
        if not isinstance(t, Tensor) or not t.requires_grad:
            continue
        if t.array.dtype != np.float64:
            warnings.warn(NOT_DOUBLE.format(i), stacklevel=4)
        if any(stride == 0 and size > 1 for stride, size in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(OVERLAP.format(i))
    check(_checked(inputs), NO_INPUT, ValueError)


def _check(func: Callable, inputs: Any, eps: float, atol: float, rtol: float, nondet_tol: float,
           check_undefined_grad: bool, fast_mode: bool, masked: bool | None) -> None:
    inputs = _tuple(inputs)
    _check_inputs(inputs)
    check = _Check(func, inputs, eps, atol, rtol, nondet_tol)
    check.fast() if fast_mode else check.slow()
    check.scales_with_gradient(1e-8 if masked else 0)
    if check_undefined_grad:
        check.accepts_undefined()


def gradcheck(func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
              raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
              check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: bool | None = None) -> bool:
    """Compare the gradients that backward gives with finite differences.

    Parameters
    ----------
    func : callable
        Takes the inputs, returns a tensor or a tuple of tensors.
    inputs : Tensor or tuple
        The point. Tensors with requires_grad are checked; float32 is too coarse for the default tolerances.
    eps : float
        How far an element is moved, each way.
    atol, rtol : float
        A difference up to ``atol + rtol * abs(numerical)`` passes.
    raise_exception : bool
        Whether to raise `GradcheckError` where the check fails, or return False.
    nondet_tol : float
        By how much two runs of the same backward may differ.
    check_undefined_grad : bool
        Also check that an output without a gradient counts as one with a gradient of zeros.
    check_grad_dtypes : bool
        Accepted: the engine gives every gradient its input's dtype.
    check_batched_grad, check_batched_forward_grad, check_forward_ad, check_backward_ad : bool
        Refused unless left as they are: there is only the ordinary backward pass to check.
    fast_mode : bool
        Compare one random combination of the derivatives instead of each.
    masked : bool, optional
        Accept gradients within 1e-8 of zero where the gradient sent back is zero.

    Returns
    -------
    bool
        True if everything agrees.

    Raises
    ------
    GradcheckError
        "Jacobian mismatch for output 0 with respect to input 0, …"; "Backward is not reentrant, …"; "backward not
        multiplied by grad_output"; "Numerical gradient for function expected to be zero"
    ValueError
        "gradcheck expects at least one input tensor to require gradient, …"
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    check(not (check_forward_ad or check_batched_grad), UNSUPPORTED, NotImplementedError)
    try:
        with np.errstate(all="ignore"):     # differences at the edge of a domain are nan; the comparison tells
            _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, fast_mode, masked)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
                  rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
                  nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
                  check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
                  fast_mode: bool = False, masked: bool = False) -> bool:
    """Compare second derivatives with finite differences: `gradcheck` of the backward pass itself.

    The function that is checked takes inputs and gradients of the outputs, and returns the gradients of the inputs.

    Parameters
    ----------
    func, inputs
        As in `gradcheck`.
    grad_outputs : Tensor or tuple of Tensor, optional
        Gradients to send back; random numbers from [-1, 1) unless given.
    gen_non_contig_grad_outputs : bool
        Let the random ones lie in memory with gaps.
    eps, atol, rtol, raise_exception, nondet_tol, fast_mode, masked
        As in `gradcheck`.
    check_undefined_grad, check_grad_dtypes, check_batched_grad : bool
        As in `gradcheck`.
    check_fwd_over_rev, check_rev_over_rev : bool
        Refused unless left as they are.

    Returns
    -------
    bool
        True if everything agrees.

    Raises
    ------
    GradcheckError
        As `gradcheck`; here output i is the gradient of input i.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, given in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if given and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    check(not check_fwd_over_rev, UNSUPPORTED, NotImplementedError)
    inputs = _tuple(inputs)
    grad_outputs = (tuple(_random_gradient(t, gen_non_contig_grad_outputs) for t in _recorded(func(*inputs)))
                    if grad_outputs is None else _tuple(grad_outputs))
    split = -len(grad_outputs)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        point = args[:split]
        grads = grad(_recorded(func(*point)), _checked(point), args[split:], create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(gradients, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, fast_mode=fast_mode,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad, masked=masked)
