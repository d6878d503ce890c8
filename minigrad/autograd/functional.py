"""``torch.autograd.functional``: Jacobians and Hessians of a function at a point, and their products with a vector.

Everything here is `grad`, asked several times. A Jacobian is one backward pass per output element. Its product with
a vector from the right, which a backward pass does not give, comes from two: ``u @ J`` is linear in ``u``, so the
gradient of ``(u @ J) @ v`` with respect to ``u`` is ``J @ v`` (https://j-towns.github.io/2017/06/12/A-new-trick.html).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..creation import zeros_like
from ..grad_mode import enable_grad
from ..ops import stack
from ..reasons import check
from ..tensor import Tensor
from .backward_pass import grad

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]

OUTPUTS = "outputs of the user-provided function"
STRICT = " This is not allowed in strict mode."
NOT_DIFFERENTIABLE = (
    "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.")
INDEPENDENT = "The output of the user-provided function is independent of input {}." + STRICT
CONSTANT_GRADIENT = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided function." + STRICT)
CONSTANT_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input." + STRICT + " You should ensure that your function is twice differentiable and that the "
    "jacobian depends on the inputs (this would be violated by a linear function for example).")
NO_JACOBIAN_GRAPH = (
    "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode when "
    "create_graph=True.")
NO_HESSIAN_GRAPH = NO_JACOBIAN_GRAPH.replace("jacobian", "hessian")
JVP_INDEPENDENT = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
    "backward trick to compute forward mode gradients." + STRICT)
VHP_INDEPENDENT = "The jacobian of the user-provided function is independent of input {}." + STRICT
HVP_INDEPENDENT = (
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not allowed in "
    "strict mode as it prevents from using the double backward trick to replace forward mode AD.")
ONE_OUTPUT = "the user-provided function returns a single Tensor"
ONE_INPUT = "the input to the user-provided function is a single Tensor"


def _tensors(value: Any, what: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether it is a tuple, and the tuple; anything but tensors is refused."""
    several = isinstance(value, tuple)
    tensors = value if several else (value,)
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the "
                            f"{f'value at index {i}' if several else f'given {what}'} has type {type(t)}.")
    return several, tensors


def _fresh(tensors: tuple[Tensor, ...], create_graph: bool, requires_grad: bool) -> tuple[Tensor, ...]:
    """The same values as other tensors: what `func` takes from outside must not count as its argument."""
    return tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_(requires_grad)
                 for t in tensors)


def _vector(v: Any, like: tuple[Tensor, ...], several: bool, function: str, create_graph: bool,
            one: str) -> tuple | None:
    """The given vector, checked against what it multiplies; None stands for 1 where there is only one number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {one} with a single element.")
        return None
    v = _fresh(_tensors(v, "v", function)[1], create_graph, False)
    if len(v) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}." if several else
                           "The given v should contain a single Tensor.")
    for i, (given, t) in enumerate(zip(v, like, strict=True)):
        if given.shape != t.shape:
            raise RuntimeError(f"{f'Entry {i} in ' if several else ''}v has invalid size: should be {t.shape} but got "
                               f"{given.shape}.")
    return v


def _must_be_recorded(tensors: Sequence[Tensor | None], strict: bool, message: str) -> None:
    for i, t in enumerate(tensors if strict else ()):
        if t is None or not t.requires_grad:
            raise RuntimeError((INDEPENDENT if t is None else message).format(i))


def _gradients(outputs: Sequence[Tensor | None], inputs: tuple[Tensor, ...], grad_outputs: Sequence | None = None,
               **options: bool) -> tuple[Tensor | None, ...]:
    """`grad` from those outputs that have a history; None for every input if none has."""
    if grad_outputs is None:
        grad_outputs = (None,) * len(outputs)
    pairs = [(o, g) for o, g in zip(outputs, grad_outputs, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outputs, grad_outputs = zip(*pairs, strict=True)
    return grad(outputs, inputs, grad_outputs, allow_unused=True, **options)


def _filled(grads: Sequence[Tensor | None], like: Sequence[Tensor], strict: bool, create_graph: bool, missing: str,
            no_graph: str) -> tuple[Tensor, ...]:
    """Zeros where nothing arrived. If `strict` that is an error, and so is the lack of a graph that was asked for."""
    for i, g in enumerate(grads if strict else ()):
        if g is None or create_graph and not g.requires_grad:
            raise RuntimeError((missing if g is None else no_graph).format(i))
    return tuple(zeros_like(t) if g is None else g for g, t in zip(grads, like, strict=True))


def _handed_out(tensors: Sequence[Tensor], create_graph: bool, several: bool) -> Any:
    """A tuple if a tuple was given, else its only tensor; without history unless that was asked for."""
    tensors = tuple(t if create_graph else t.detach() for t in tensors)
    return tensors if several else tensors[0]


@enable_grad()
def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """Value, and the vector-Jacobian product ``v @ J``, of a function at a point: one backward pass.

    Parameters
    ----------
    func : callable
        Takes tensors, returns a tensor or a tuple of tensors.
    inputs : Tensor or tuple of Tensor
        The point.
    v : Tensor or tuple of Tensor, optional
        In the shape of the output; 1 if that is a single number.
    create_graph : bool
        Record the computation, so that the result can be differentiated.
    strict : bool
        Raise where an output does not depend on an input, instead of giving zeros.

    Returns
    -------
    tuple
        ``func(*inputs)``, and the product in the shape of `inputs`.

    Raises
    ------
    RuntimeError
        "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
    """
    several, inputs = _tensors(inputs, "inputs", "vjp")
    inputs = _fresh(inputs, create_graph, True)
    several_out, outputs = _tensors(func(*inputs), OUTPUTS, "vjp")
    _must_be_recorded(outputs, strict, NOT_DIFFERENTIABLE)
    v = _vector(v, outputs, several_out, "vjp", create_graph, ONE_OUTPUT)
    grads = _gradients(outputs, inputs, v, create_graph=create_graph)
    product = _filled(grads, inputs, strict, create_graph, INDEPENDENT, NO_JACOBIAN_GRAPH)
    return _handed_out(outputs, create_graph, several_out), _handed_out(product, create_graph, several)


@enable_grad()
def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """Value, and the Jacobian-vector product ``J @ v``, of a function at a point: two backward passes.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As in `vjp`.
    v : Tensor or tuple of Tensor, optional
        The direction, in the shape of `inputs`; 1 if that is a single number.

    Returns
    -------
    tuple
        ``func(*inputs)``, and the product in the same shape.
    """
    several, inputs = _tensors(inputs, "inputs", "jvp")
    inputs = _fresh(inputs, create_graph, True)
    v = _vector(v, inputs, several, "jvp", create_graph, ONE_INPUT)
    several_out, outputs = _tensors(func(*inputs), OUTPUTS, "jvp")
    _must_be_recorded(outputs, strict, NOT_DIFFERENTIABLE)
    u = tuple(zeros_like(out, requires_grad=True) for out in outputs)
    grads = _gradients(outputs, inputs, u, create_graph=True)
    _must_be_recorded(grads, strict, CONSTANT_GRADIENT)
    product = _filled(_gradients(grads, u, v, create_graph=create_graph), outputs, strict, create_graph,
                      JVP_INDEPENDENT, NO_JACOBIAN_GRAPH)
    return _handed_out(outputs, create_graph, several_out), _handed_out(product, create_graph, several_out)


def _check_strategy(strategy: str, hint: str = "") -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".' + hint)
    check(strategy != "forward-mode", 'minigrad has no forward-mode AD: the strategy can only be "reverse-mode".', NotImplementedError)


@enable_grad()
def jacobian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
             strategy: str = "reverse-mode") -> Any:
    """All partial derivatives of a function at a point: one backward pass per output element.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As in `vjp`.
    vectorize : bool
        Accepted; the passes are run one after the other all the same.
    strategy : str
        "reverse-mode".

    Returns
    -------
    Tensor or (nested) tuple of Tensor
        ``J[i][j]``, output ``i`` by input ``j``, in the shape of the output followed by that of the input; an index is
        left out where there was a tensor and not a tuple.
    """
    _check_strategy(strategy, ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more '
                    'performant. Otherwise, prefer to use "reverse-mode".')
    several, inputs = _tensors(inputs, "inputs", "jacobian")
    inputs = _fresh(inputs, create_graph, True)
    several_out, outputs = _tensors(func(*inputs), OUTPUTS, "jacobian")
    _must_be_recorded(outputs, strict, NOT_DIFFERENTIABLE)
    check(not (vectorize and strict), "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are "
          "not supported together. Please either set `strict=False` or `vectorize=False`.")
    result = []
    for i, out in enumerate(outputs):
        # These two name the output, PyTorch's text for a missing graph calls it an input.
        missing = f"Output {i} of the user-provided function is independent of input {{}}." + STRICT
        no_graph = NO_JACOBIAN_GRAPH.format(i)
        rows = [_filled(_gradients((out.reshape(-1)[k],), inputs, retain_graph=True, create_graph=create_graph), inputs,
                        strict, create_graph, missing, no_graph) for k in range(out.numel())]
        blocks = [stack([row[j] for row in rows]).view(out.shape + t.shape) for j, t in enumerate(inputs)]
        result.append(_handed_out(blocks, create_graph, several))
    return tuple(result) if several_out else result[0]


def _one_number(func: Callable, inputs: tuple[Tensor, ...], strict: bool, function: str) -> Tensor:
    """The value of a function that must return one tensor with one element."""
    several, outputs = _tensors(func(*inputs), OUTPUTS, function)
    _must_be_recorded(outputs, strict, NOT_DIFFERENTIABLE)
    check(not several, lambda: f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return outputs[0]


def hessian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """All second derivatives of a function with one number as its value: the Jacobian of its gradient.

    Parameters
    ----------
    func, inputs, create_graph, strict, vectorize, outer_jacobian_strategy
        As in `jacobian`.

    Returns
    -------
    Tensor or tuple of tuples of Tensor
        ``H[i][j]``, input ``i`` by input ``j``, in the shape of the one followed by that of the other; one tensor if
        `inputs` is one.
    """
    several, inputs = _tensors(inputs, "inputs", "hessian")
    _check_strategy(outer_jacobian_strategy)

    def gradient(*point: Tensor) -> tuple[Tensor, ...]:
        grads = jacobian(lambda *args: _one_number(func, args, strict, "hessian").squeeze(), point, create_graph=True)
        _must_be_recorded(grads, strict, CONSTANT_JACOBIAN)
        return grads

    result = jacobian(gradient, inputs, create_graph, strict, vectorize)
    return result if several else result[0][0]


def _first_derivatives(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, function: str) -> tuple:
    """What `vhp` and `hvp` have in common: their arguments, checked, the value, and the recorded gradient."""
    several, inputs = _tensors(inputs, "inputs", function)
    inputs = _fresh(inputs, create_graph, True)
    v = _vector(v, inputs, several, function, create_graph, ONE_INPUT)
    output = _one_number(func, inputs, strict, function)
    grads = _gradients((output,), inputs, create_graph=True)
    _must_be_recorded(grads, strict, CONSTANT_JACOBIAN)
    return several, inputs, v, output, grads


@enable_grad()
def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """Value, and the product ``v @ H`` of a vector with the Hessian, of a function at a point: two backward passes.

    Parameters
    ----------
    func : callable
        Takes tensors, returns a tensor with one element.
    inputs, create_graph, strict
        As in `vjp`.
    v : Tensor or tuple of Tensor, optional
        In the shape of `inputs`; 1 if that is a single number.

    Returns
    -------
    tuple
        ``func(*inputs)``, and the product in the shape of `inputs`.
    """
    several, inputs, v, output, grads = _first_derivatives(func, inputs, v, create_graph, strict, "vhp")
    product = _filled(_gradients(grads, inputs, v, create_graph=create_graph), inputs, strict, create_graph,
                      VHP_INDEPENDENT, NO_HESSIAN_GRAPH)
    return _handed_out((output,), create_graph, False), _handed_out(product, create_graph, several)


@enable_grad()
def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """Value, and the product ``H @ v`` of the Hessian with a vector, of a function at a point: three backward passes.

    The Hessian of a smooth function is symmetric, so `vhp` gives the same with less work.

    Parameters
    ----------
    func, inputs, v, create_graph, strict
        As in `vhp`.

    Returns
    -------
    tuple
        ``func(*inputs)``, and the product in the shape of `inputs`.
    """
    several, inputs, v, output, grads = _first_derivatives(func, inputs, v, create_graph, strict, "hvp")
    u = tuple(zeros_like(t, requires_grad=True) for t in inputs)
    second = _gradients(grads, inputs, u, create_graph=True)
    product = _filled(_gradients(second, u, v, create_graph=create_graph), inputs, strict, create_graph,
                      HVP_INDEPENDENT, NO_HESSIAN_GRAPH)
    return _handed_out((output,), create_graph, False), _handed_out(product, create_graph, several)
