"""Parameter: a tensor that a Module registers when it is assigned as an attribute."""
from __future__ import annotations

from ..creation import finish
from ..tensor import Tensor, wrap


class Parameter(Tensor):
    """A leaf over the memory of another tensor that requires grad, also if it is made under ``no_grad()``.

    Raises
    ------
    RuntimeError
        "Only Tensors of floating point and complex dtype can require gradients"
    """

    __slots__ = ()
    torch_name = "torch.nn.parameter.Parameter"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if not isinstance(requires_grad, bool):
            raise TypeError(f"_make_subclass(): argument 'require_grad' (position 3) must be bool, not {type(requires_grad).__name__}")
        data = Tensor(0) if data is None else data if isinstance(data, Tensor) else data.detach()
        data._check_inference(requires_grad)
        parameter = wrap(data.array, data._storage, cls)
        if parameter._inference is not data._inference:     # whatever the mode now
            parameter._inference = data._inference
        parameter._requires_grad = finish(data.array, requires_grad)._requires_grad
        return parameter

    def __deepcopy__(self, memo: dict) -> Parameter:
        # As in PyTorch, the gradient stays behind.
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        text = super().__repr__()
        return "Parameter containing:\n" + (text if type(self) is Parameter else f"Parameter({text})")
