"""``@op``: what a declaration becomes, and that a newcomer's operation works from one block."""
import math

import numpy as np
import pytest

import minigrad as mg
from minigrad.function import OPS, observe, op
from minigrad.ops import cos


@pytest.fixture
def softsign():
    @op(tex=r"\operatorname{softsign}({self})", inplace=True, self=lambda grad, self: grad / (1 + self.abs()) ** 2
        if isinstance(self, mg.Tensor) else grad / (1 + np.abs(self)) ** 2)
    def softsign(self):
        """``x / (1 + |x|)``."""
        return self / (1 + np.abs(self))
    yield softsign
    for name in ("softsign", "softsign_"):
        del OPS[name]
        delattr(mg.Tensor, name)


def test_one_block_makes_node_method_function_and_in_place_twin(softsign):
    x = mg.tensor([1.0, -3.0], dtype=mg.float64, requires_grad=True)
    y = softsign(x)
    assert y.grad_fn.name() == "SoftsignBackward0" and y.grad_fn._saved_self is x
    assert x.softsign().tolist() == y.tolist() == [0.5, -0.75]
    z = (x * 1).softsign_()
    assert z.grad_fn.name() == "SoftsignBackward0" and z._version == 1
    assert mg.autograd.gradcheck(softsign, (x,))
    assert mg.autograd.gradgradcheck(softsign, (x,))


def test_an_operation_on_arrays_is_its_kernel():
    assert isinstance(cos(np.zeros(2)), np.ndarray)


def test_only_what_a_wanted_gradient_needs_is_saved():
    x, y = mg.tensor([2.0], requires_grad=True), mg.tensor([3.0])
    node = (x * y).grad_fn
    assert node._saved_other is y and node._saved_self is None


def test_the_generated_source_is_there_to_read():
    assert mg.mul.op.source.startswith("def mul(input, other):")


def test_observe_sees_recorded_and_unrecorded_operations_and_restores():
    seen = []
    x = mg.tensor([1.0], requires_grad=True)
    with observe(lambda operation, args, outputs, recorded: seen.append((operation.name, operation.node_name, recorded))):
        y = x * 2
        with mg.no_grad():
            y + 1
        y.detach()
        y.add_(1)
    y * 3
    assert seen == [("mul", "MulBackward0", True), ("add", "AddBackward0", False), ("detach", None, False),
                    ("add_", "AddBackward0", True)]


def test_a_name_in_the_formula_is_what_the_node_saves():
    saved = {name: sorted(OPS[name].node_class.saved_names) for name in ("exp", "log", "div", "tanh")}
    assert saved == {"exp": ["result"], "log": ["self"], "div": ["other", "self"], "tanh": ["result"]}


def test_second_derivatives_come_from_the_same_formula():
    x = mg.tensor([0.5], dtype=mg.float64, requires_grad=True)
    first, = mg.autograd.grad(x.sin(), x, create_graph=True)
    second, = mg.autograd.grad(first, x)
    assert math.isclose(second.item(), -math.sin(0.5), rel_tol=1e-15)
