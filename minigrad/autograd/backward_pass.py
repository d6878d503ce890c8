"""`backward` and `grad`: where a backward pass starts, and what is asked of it. Anomaly mode."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import engine, reasons
from ..creation import zeros_like
from ..function import keep_quiet
from ..graph import Edge, anomaly, special
from ..ops.joining import stack
from ..reasons import check
from ..tensor import Tensor, wrap
from .graph import GradientEdge, edge_of


class _VariableMeta(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableMeta):
    """What tensors with gradients were called before PyTorch 0.4: ``Variable(t, requires_grad=True)`` is t with that flag."""

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:
        if volatile:
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {reasons.type_name(data)}")
        return data.detach().requires_grad_(requires_grad)


def _tuple(values: Any) -> tuple:
    return (values,) if isinstance(values, (Tensor, GradientEdge)) else tuple(values)


def _inputs(values: Any) -> tuple:
    """What a pass is asked to give the gradients of, checked; of a dict, its values."""
    values = _tuple(values.values() if isinstance(values, dict) else values)
    for t in values:
        if not isinstance(t, (Tensor, GradientEdge)):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {reasons.type_name(t)}")
    return values


def _root_gradients(outputs: tuple[Tensor, ...], grads: tuple) -> list[Tensor]:
    """The gradients to start from: ones for scalars, or the given ones, checked."""
    if len(grads) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    result = []
    for i, (out, grad) in enumerate(zip(outputs, grads, strict=False)):    # PyTorch ignores further ones
        if not isinstance(out, (Tensor, GradientEdge)):
            raise AssertionError("Expected output to be a torch.Tensor")        # as PyTorch does
        if isinstance(out, GradientEdge):
            shape, dtype = out.node.expects(out.output_nr)
            out = wrap(np.broadcast_to(np.zeros((), dtype), shape))
        if grad is None:
            if out.requires_grad:
                if out.array.size != 1:
                    raise RuntimeError(reasons.NOT_SCALAR)
                if out.array.dtype.kind != "f":
                    raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
            result.append(wrap(np.ones_like(out.array)))
            continue
        if not isinstance(grad, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
        if grad.array.shape != out.array.shape:
            raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {grad.shape} and output[{i}] has a shape of "
                               f"{out.shape}.")
        result.append(grad)
    return result


def _no_graph(i: int, out: Tensor) -> RuntimeError:
    """Made here: a local name of the error where it is raised would keep that frame, and the graph in it, until garbage is collected."""
    error = RuntimeError(reasons.NO_GRAPH.replace("element 0", f"element {i}"))
    facts = reasons.Facts("This tensor", False, True, floating=out.is_floating_point() or out.is_complex(), dtype=str(out.dtype))
    error.add_note(reasons.explain(facts, "requires_grad")[1])
    return error


def _roots(outputs: tuple[Tensor, ...], grads: list[Tensor], create_graph: bool) -> list[tuple[Edge, Any]]:
    roots = []
    for i, (out, grad) in enumerate(zip(outputs, grads, strict=True)):
        edge = edge_of(out)
        if edge[0] is None:
            raise _no_graph(i, out)
        # Gradients travel as arrays nobody else holds, so that a leaf may keep what it gets.
        dtype = edge[0].expects(edge[1])[1]
        roots.append((edge, grad._cast(dtype) if create_graph and grad.array.dtype != dtype else
                      grad if create_graph else grad.array.astype(dtype)))
    return roots


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
             grad_variables: Any = None, inputs: Any = None) -> None:
    """Add the gradients of `tensors` to the ``.grad`` of the leaves they were computed from.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
        Where to start.
    grad_tensors : Tensor or sequence of Tensor or None, optional
        The gradient of each, in its shape; None stands for 1 and is allowed for one element only.
    retain_graph : bool, optional
        Keep what the nodes remember, so that backward can run again; the default is `create_graph`.
    create_graph : bool
        Record the backward pass itself, for higher derivatives.
    grad_variables : optional
        The old name of `grad_tensors`.
    inputs : Tensor or sequence of Tensor, optional
        Accumulate into these only.

    Raises
    ------
    RuntimeError
        "grad can be implicitly created only for scalar outputs"; "element 0 of tensors does not require grad and does not have
        a grad_fn"; "Trying to backward through the graph a second time …"; "one of the variables needed for gradient
        computation has been modified by an inplace operation …"
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        check(grad_tensors is None, "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
              "`backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    outputs = _tuple(tensors)
    inputs = None if inputs is None else _inputs(inputs)
    check(inputs is None or inputs, "`inputs` argument to `backward()` cannot be empty.")
    grads = _root_gradients(outputs, (None,) * len(outputs) if grad_tensors is None else _tuple(grad_tensors))
    if create_graph:
        reasons.warn_once(reasons.CREATE_GRAPH, stacklevel=4)
    roots = _roots(outputs, grads, create_graph)
    for t in inputs or ():
        if isinstance(t, Tensor) and not (t.is_leaf and t.requires_grad):
            t.retain_grad()
    keep_quiet()        # a slope of 1 / 0 is infinite in silence, as in PyTorch
    engine.run_backward(roots, wrap=_wrap, create_graph=create_graph,
                        retain_graph=bool(create_graph if retain_graph is None else retain_graph),
                        capture=None if inputs is None else [edge_of(t) for t in inputs])


def _wrap(grad: Any) -> Tensor:
    return grad if isinstance(grad, Tensor) else wrap(np.asarray(grad))


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
         only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple | dict:
    """Return the gradients of `outputs` with respect to `inputs`; no ``.grad`` is touched.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
        `inputs` also a dict of them.
    grad_outputs : optional
        As `backward`'s grad_tensors.
    retain_graph, create_graph : bool
        As in `backward`.
    allow_unused : bool, optional
        Give None for an input that the outputs do not depend on, instead of an error.
    is_grads_batched : bool
        Each of `grad_outputs` has one dimension more, first: a pass for each entry, whose results are stacked.
    materialize_grads : bool
        Give zeros instead of None.

    Returns
    -------
    tuple of Tensor or None
        One per input; of a dict, a dict.

    Raises
    ------
    RuntimeError, ValueError
        "One of the differentiated Tensors does not require grad"; "The differentiated Tensor at index 0 appears to not have been
        used in the graph. …"
    """
    if isinstance(inputs, dict):
        return dict(zip(inputs, grad(outputs, tuple(inputs.values()), grad_outputs, retain_graph, create_graph, only_inputs, allow_unused,
                                     is_grads_batched, materialize_grads)))
    outputs, inputs = _tuple(outputs), _inputs(inputs)
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
                      "parts of the graph, please use torch.autograd.backward.", FutureWarning, stacklevel=2)
    if is_grads_batched:        # one pass after the other
        rows = list(zip(*_tuple(grad_outputs), strict=True))
        passes = [grad(outputs, inputs, row, i < len(rows) or retain_graph, create_graph, True, allow_unused, False, materialize_grads)
                  for i, row in enumerate(rows, 1)]
        return tuple(None if grads[0] is None else stack(grads) for grads in zip(*passes, strict=True))
    check(not materialize_grads or allow_unused is not False, "Expected allow_unused to be True or not passed when "
          "materialize_grads=True, but got: allow_unused=False.", ValueError)
    check(inputs, "`inputs` argument to `grad()` cannot be empty.")
    grads = _root_gradients(outputs, (None,) * len(outputs) if grad_outputs is None else _tuple(grad_outputs))
    roots = _roots(outputs, grads, create_graph)
    if any(isinstance(t, Tensor) and not t.requires_grad for t in inputs):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep_quiet()
    found = engine.run_backward(roots, wrap=_wrap, create_graph=create_graph, accumulate=False,
                                retain_graph=bool(create_graph if retain_graph is None else retain_graph),
                                capture=[edge_of(t) for t in inputs])
    for i, g in enumerate(found):
        if g is None and not (allow_unused or materialize_grads):
            raise RuntimeError(f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                               "allow_unused=True if this is the desired behavior.")
    # One tensor for a gradient that several inputs share; one that was only broadcast becomes an array that can be written.
    made = {id(g): _wrap(g.copy() if isinstance(g, np.ndarray) and not g.flags.writeable else g) for g in found}
    return tuple((zeros_like(t) if materialize_grads else None) if g is None else made[id(g)]
                 for g, t in zip(found, inputs, strict=True))


def _tensor_backward(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
                     create_graph: bool = False, inputs: Any = None) -> None:
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_tensor_backward.__doc__, _tensor_backward.__name__, _tensor_backward.__qualname__ = backward.__doc__, "backward", "Tensor.backward"
Tensor.backward = _tensor_backward


# Anomaly mode --------------------------------------------------------------------------------------------------------------

class set_detect_anomaly:
    """Switch anomaly mode on or off, for good or as a context: nodes keep their forward traceback, backward refuses NaN."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = anomaly.enabled, anomaly.check_nan
        anomaly.enabled, anomaly.check_nan = bool(mode), bool(check_nan)
        special.update()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        anomaly.enabled, anomaly.check_nan = self._before
        special.update()


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether the backward pass looks for NaN."""
    return anomaly.check_nan


class detect_anomaly(set_detect_anomaly):
    """Anomaly mode as a context, with PyTorch's warning that it is slow."""

    def __init__(self, check_nan: bool = True) -> None:
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
                      "debugging.", stacklevel=2)
        super().__init__(True, check_nan)
