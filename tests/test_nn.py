"""nn is PyTorch's: functions with both derivatives, modules as they print and behave.

What the truth suite asks of modules (registries, state_dict, containers, clipping) is not asked again here.
"""
from __future__ import annotations

import copy
import io
import math
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import minigrad
from tests.recorded import cases_in, differences_from_pytorch, recorded
from tests.truth.harness import attempt, compare, run, show, tree


def ask(mg, functions, *inputs):
    """Value, node, gradient and second derivative of functions of the same inputs; or the error."""
    for name, function in functions.items():
        y = attempt(lambda function=function: function(*inputs))
        show(f"{name}:", y)
        if not getattr(y, "requires_grad", False):
            continue
        x = next(t for t in inputs if t.requires_grad)
        weights = mg.arange(1.0, 1.0 + y.numel(), dtype=y.dtype).view(y.shape) / 8
        grad, = mg.autograd.grad((y * weights).sum(), x, create_graph=True)
        show("  ", tree(y), grad.detach())
        if grad.requires_grad:
            second, = mg.autograd.grad((grad * grad).sum(), x, allow_unused=True, materialize_grads=True)
            show("  ", second)


def rounded(tensor):
    """Without the last digits, where PyTorch adds 1e-12 to a denominator or sums in float32's way; and without -0."""
    return (tensor * 1e8).round() / 1e8 + 0.0


def numbers(mg, dtype="float64"):
    return mg.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], dtype=getattr(mg, dtype), requires_grad=True)


def case_linear(mg):
    """What PyTorch composes a linear layer of, by rank, bias and layout."""
    F = mg.nn.functional
    weight, bias = mg.ones(2, 3, requires_grad=True), mg.ones(2, requires_grad=True)
    for b in (bias, None):
        for shape in ((3,), (4, 3), (2, 4, 3), (0, 3)):
            for flag in (True, False):
                y = F.linear(mg.ones(shape, requires_grad=flag), weight, b)
                show(shape, flag, y.shape, tree(y))
    show(F.linear(mg.ones(4, 3), weight, bias)._version, F.linear(mg.ones(3), weight, bias)._version)
    y = F.linear(mg.ones(3, 4, 2).transpose(0, 2), weight, bias)
    show(y.shape, tree(y), y._version)
    vector = mg.ones(3, requires_grad=True)
    for x, w, b in ((mg.ones(3), vector, None), (mg.ones(3), vector, mg.ones(())),
                    (mg.ones(2, 2, 3), vector, mg.ones(())),
                    (mg.ones(4, 3), weight, mg.ones(4, 2)), (mg.ones(5, 4, 3), weight, mg.ones(4, 2)),
                    (mg.ones(2, 2, 3), weight, mg.ones(()))):
        show(tree(F.linear(x, w, b)))
    for x, b in ((mg.ones(4), bias), (mg.ones(4, 2), bias), (mg.ones(5, 4, 2), bias), (mg.ones(()), bias),
                 (mg.ones(4), None),
                 (mg.ones(4, 3).double(), bias), (mg.ones(4, 3).double(), None), (mg.ones(3), mg.ones(4, 2))):
        show(attempt(lambda x=x, b=b: F.linear(x, weight, b)))


def case_activations(mg):
    F = mg.nn.functional
    ask(mg, {
        "relu": F.relu, "relu6": F.relu6, "leaky_relu": lambda x: F.leaky_relu(x, 0.25),
        "elu": lambda x: F.elu(x, 0.75), "selu": F.selu,
        "hardtanh": F.hardtanh, "wide hardtanh": lambda x: F.hardtanh(x, -2, 2), "sigmoid": F.sigmoid, "tanh": F.tanh,
        "softplus": F.softplus, "straight softplus": lambda x: F.softplus(x, 2, 3), "softsign": F.softsign,
        "threshold": lambda x: F.threshold(x, 0.5, 20.0), "softmax": lambda x: F.softmax(x, 1),
        "log_softmax": lambda x: F.log_softmax(x, 0),
        "softmax of what": lambda x: F.softmax(x),
        "log_softmax of what": lambda x: F.log_softmax(x), "approximate": lambda x: F.gelu(x, approximate="foo"),
    }, numbers(mg))
    show(tree(F.softmax(numbers(mg), -1, dtype=mg.float32)), F.softmax(numbers(mg), -1, dtype=mg.float32))


def case_activations_whose_second_graph_is_composed(mg):
    """The same values; PyTorch has one node for what are several here."""
    F, x = mg.nn.functional, numbers(mg)
    for function in (F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu, F.logsigmoid):
        y = function(x)
        grad, = mg.autograd.grad(y.sum(), x, create_graph=True)
        second, = mg.autograd.grad((grad * grad).sum(), x)
        show(tree(y), y, grad.detach(), second)


def case_activations_in_place(mg):
    F = mg.nn.functional
    for function in (F.relu, F.relu6, F.leaky_relu, F.elu, F.selu, F.hardtanh, F.silu):
        x = numbers(mg)
        y = x * 2
        z = function(y, inplace=True)
        z.sum().backward()
        show(z is y, y._version, y.detach(), x.grad, attempt(lambda x=x, function=function: function(x, inplace=True)))
    for function in (F.relu_, F.leaky_relu_, lambda x: F.elu_(x, 2.0), lambda x: F.hardtanh_(x, -0.5, 0.5)):
        x = numbers(mg)
        y = function(x * 2)
        show(y, y.grad_fn, mg.autograd.grad(y.sum(), x)[0], attempt(lambda x=x, function=function: function(x)))
    for function in (lambda x: F.leaky_relu_(x, -0.5), lambda x: F.elu_(x, -0.5)):
        show(attempt(lambda function=function: function(numbers(mg) * 2).sum().backward()))
    for function in (F.relu_, F.leaky_relu_, F.elu_, F.selu, F.hardtanh_):       # a write into the result: who remembers it?
        y = function(numbers(mg) * 2, inplace=True) if function is F.selu else function(numbers(mg) * 2)
        y += 1
        show(y.grad_fn.next_functions[0][0], attempt(lambda y=y: y.sum().backward()))


def case_activations_of_unusual_numbers(mg):
    F = mg.nn.functional
    for function in (F.relu, F.elu, F.selu, F.leaky_relu, F.hardtanh, F.relu6, F.softsign, F.silu, F.gelu):
        x = mg.tensor([-mg.inf, -200.0, -0.0, 0.0, 200.0, mg.inf, mg.nan], dtype=mg.float64, requires_grad=True)
        y = function(x)
        show(y, mg.autograd.grad(y.sum(), x)[0])


def case_regression_losses(mg):
    F, target = mg.nn.functional, mg.ones(2, 3, dtype=mg.float64) * 0.75
    for reduction in ("mean", "sum", "none"):
        ask(mg, {
            "mse": lambda x, t, r=reduction: F.mse_loss(x, t, reduction=r), "l1": lambda x, t,
            r=reduction: F.l1_loss(x, t, reduction=r),
            "smooth_l1": lambda x, t, r=reduction: F.smooth_l1_loss(x, t, reduction=r, beta=0.5),
            "huber": lambda x, t, r=reduction: F.huber_loss(x, t, reduction=r, delta=0.75)}, numbers(mg), target)
    ask(mg, {
        "mse by target": lambda t, x: F.mse_loss(x, t), "huber by target": lambda t, x: F.huber_loss(x, t, delta=0.75),
        "mse of a row": lambda x, t: F.mse_loss(x, t[0]), "l1 of a row": lambda x, t: F.l1_loss(x, t[0]),
        "mse of what": lambda x, t: F.mse_loss(x, t[0, :2]), "sharp": lambda x, t: F.smooth_l1_loss(x, t, beta=0.0),
        "beta": lambda x, t: F.smooth_l1_loss(x, t, beta=-1.0), "delta": lambda x, t: F.huber_loss(x, t, delta=0.0),
        "reduction": lambda x, t: F.mse_loss(x, t, reduction="avg"), "mixed": lambda x, t: F.mse_loss(x, t.float()),
        "whole": lambda x, t: F.mse_loss(x, t.long())}, numbers(mg), target)


def case_cross_entropy(mg):
    F, target = mg.nn.functional, mg.tensor([0, 1])
    weight = mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64)
    for reduction in ("mean", "sum", "none"):
        ask(mg, {
            "plain": lambda x, r=reduction: F.cross_entropy(x, target, reduction=r),
            "weighted": lambda x, r=reduction: F.cross_entropy(x, target, weight, reduction=r),
            "ignored": lambda x, r=reduction: F.cross_entropy(x, target, ignore_index=1, reduction=r),
            "nll": lambda x, r=reduction: F.nll_loss(x, target, weight, ignore_index=0, reduction=r)}, numbers(mg))
    ask(mg, {
        "vector": lambda x: F.cross_entropy(x[0], mg.tensor(1)), "bytes": lambda x: F.nll_loss(x, target.to(mg.uint8)),
        "all ignored": lambda x: F.cross_entropy(x, target * 0 + 1, ignore_index=1),
        "empty": lambda x: F.nll_loss(x[:0], target[:0]),
        "empty sum": lambda x: F.nll_loss(x[:0], target[:0], reduction="sum"),
        "no weight": lambda x: F.nll_loss(x, target * 0, weight - 1),
        "out": lambda x: F.cross_entropy(x, mg.tensor([0, 5])),
        "below": lambda x: F.cross_entropy(x, mg.tensor([0, -1])),
        "batch": lambda x: F.cross_entropy(x, mg.tensor([0, 1, 2])),
        "floats": lambda x: F.nll_loss(x, mg.tensor([0.0, 1.0])),
        "weights": lambda x: F.nll_loss(x, target, mg.ones(2)),
        "weight dtype": lambda x: F.nll_loss(x, target, mg.ones(3)),
        "columns": lambda x: F.nll_loss(x, mg.tensor([[0], [1]])),
        "scalar": lambda x: F.nll_loss(x.sum(), mg.tensor(0)),
        "smoothing": lambda x: F.cross_entropy(x, target, label_smoothing=1.5)}, numbers(mg))


def case_cross_entropy_composed(mg):
    """Label smoothing, probabilities, more dimensions: the same values, some node names of PyTorch's C++ differ."""
    F, x, weight = mg.nn.functional, numbers(mg), mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64)
    classes, shares = mg.tensor([0, 1]), mg.tensor([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]], dtype=mg.float64)
    for reduction in ("mean", "sum", "none"):
        for loss in (F.cross_entropy(x, classes, label_smoothing=0.25, reduction=reduction),
                     F.cross_entropy(x, shares, reduction=reduction),
                     F.cross_entropy(x, classes, weight, ignore_index=1, label_smoothing=0.25, reduction=reduction),
                     F.cross_entropy(x, shares, weight, label_smoothing=0.25, reduction=reduction),
                     F.cross_entropy(x[:, :, None], classes[:, None], weight, reduction=reduction)):
            show(loss, mg.autograd.grad(loss.sum(), x)[0])


def case_binary_cross_entropy(mg):
    F, target = mg.nn.functional, mg.tensor([[0.25, 1.0, 0.5], [0.0, 0.75, 1.0]], dtype=mg.float64)
    weight, x = mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64), numbers(mg)
    for reduction in ("mean", "sum", "none"):
        for w in (None, weight):
            for loss in (F.binary_cross_entropy(x.sigmoid(), target, w, reduction=reduction),
                         F.binary_cross_entropy_with_logits(x, target, w, reduction=reduction),
                         F.binary_cross_entropy_with_logits(x, target, pos_weight=w, reduction=reduction)):
                grad, = mg.autograd.grad(loss.sum(), x, create_graph=True)
                show(type(loss.grad_fn).__name__, loss, grad.detach(),
                     rounded(mg.autograd.grad(grad.exp().sum(), x)[0]))
    by_target = target.clone().requires_grad_()
    show(mg.autograd.grad(F.binary_cross_entropy(x.detach().sigmoid(), by_target), by_target)[0],
         mg.autograd.grad(F.binary_cross_entropy_with_logits(x.detach(), by_target, pos_weight=weight), by_target)[0])
    sure = mg.tensor([0.0, 1.0])
    show(F.binary_cross_entropy(sure, 1 - sure), F.binary_cross_entropy_with_logits(sure * 2000 - 1000, sure))
    for wrong in (lambda: F.binary_cross_entropy(x, target), lambda: F.binary_cross_entropy(sure, sure * 3),
                  lambda: F.binary_cross_entropy(sure, target), lambda: F.binary_cross_entropy(sure, sure.long()),
                  lambda: F.binary_cross_entropy_with_logits(sure, target),
                  lambda: F.binary_cross_entropy_with_logits(sure, sure.long())):
        show(attempt(wrong))


def case_norms(mg):
    """Values and first derivatives by every argument; second ones by the input."""
    F, x = mg.nn.functional, numbers(mg)
    weight, bias = (mg.tensor(v, dtype=mg.float64, requires_grad=True) for v in ([1.0, 2.0, 0.5], [0.0, 1.0, -1.0]))
    mean, var = mg.tensor([1.0, 0.0, 2.0], dtype=mg.float64), mg.tensor([1.0, 4.0, 0.25], dtype=mg.float64)
    long = (x[:, :, None] * mg.tensor([1.0, 2.0, 4.0], dtype=mg.float64)).detach().requires_grad_()
    for y, wrt in ((F.layer_norm(x, (3,), weight, bias), (x, weight, bias)), (F.layer_norm(x, (2, 3), eps=0.5), (x,)),
                   (F.batch_norm(x, None, None, weight, bias, True, eps=0.5), (x, weight, bias)),
                   (F.batch_norm(x, mean, var, weight, bias), (x, weight, bias)),
                   (F.batch_norm(long, mean.clone(), var.clone(), weight, bias, True, eps=0.5), (long, weight, bias)),
                   (F.batch_norm(long, mean, var, weight, bias), (long, weight, bias))):
        grads = mg.autograd.grad((y**3).sum(), wrt, create_graph=True)
        show(tree(y), y, *[g.detach() for g in grads])
        show(rounded(mg.autograd.grad((grads[0] ** 2).sum(), wrt[0])[0]))
    show(F.normalize(x), F.normalize(x, p=1.0, dim=0))
    for wrong in (lambda: F.layer_norm(x, (2,)), lambda: F.batch_norm(x[:1], None, None, training=True)):
        show(attempt(wrong))


def case_batch_norm_module(mg):
    layer, x = mg.nn.BatchNorm1d(3).double(), numbers(mg)
    show(layer(x).detach(), layer.running_mean, layer.running_var, layer.num_batches_tracked)
    layer(x * 2)
    layer.eval()
    show(layer(x).detach(), layer.running_mean, layer.running_var, layer.num_batches_tracked, list(layer.state_dict()))
    show(attempt(lambda: layer(x[0])), attempt(lambda: layer(x[:, :2])))


def case_embedding(mg):
    F, x = mg.nn.functional, numbers(mg)
    for y in (F.embedding(mg.tensor([0, 1, 1]), x), F.embedding(mg.tensor([[0, 1], [1, 1]]), x, padding_idx=-1)):
        weights = mg.arange(1.0, 1.0 + y.numel(), dtype=mg.float64).view(y.shape)
        show(tree(y), y.detach(), mg.autograd.grad((y * weights).sum(), x)[0])
    show(attempt(lambda: F.embedding(mg.tensor([0, 2]), x)), attempt(lambda: F.embedding(mg.tensor([0.0]), x)),
         attempt(lambda: F.embedding(mg.tensor([0]), x, padding_idx=2)))
    show(F.one_hot(mg.tensor([0, 2, 1])), F.one_hot(mg.tensor([[0], [2]]), 4).shape)
    for numbers_, n in (([0, 5], 3), ([-1], 3), ([1.0], 3)):
        show(attempt(lambda numbers_=numbers_, n=n: F.one_hot(mg.tensor(numbers_), n)))
    show(attempt(lambda: F.one_hot(mg.ones(0).long())), F.one_hot(mg.ones(0).long(), 3).shape)


def case_dropout(mg):
    F, x = mg.nn.functional, mg.ones(8, requires_grad=True)
    mg.manual_seed(0)
    y = F.dropout(x, 0.25)
    show(tree(y), y, mg.autograd.grad(y.sum(), x)[0])
    show(F.dropout(x, 0.5, training=False) is x, F.dropout(x, 0.0) is x, F.dropout(x, 1.0),
         attempt(lambda: F.dropout(x, 1.5)))
    layer = mg.nn.Dropout(0.5)
    show(layer(x), layer.eval()(x) is x, attempt(lambda: mg.nn.Dropout(-1)))
    show(attempt(lambda: F.dropout(mg.ones(2).long())), attempt(lambda: F.dropout(3.0)), attempt(lambda: F.dropout(x, "a")))


def case_initialization(mg):
    init = mg.nn.init
    mg.manual_seed(1)
    for fill in (init.zeros_, init.ones_, init.eye_, lambda t: init.constant_(t, 3), init.uniform_,
                 lambda t: init.normal_(t, 1, 2),
                 init.xavier_uniform_, lambda t: init.xavier_normal_(t, 2.0), init.kaiming_uniform_,
                 lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu")):
        parameter = mg.nn.Parameter(mg.empty(2, 3))
        show(fill(parameter) is parameter, parameter, parameter._version)
    for wrong in (lambda: init.kaiming_uniform_(mg.empty(3)), lambda: init.kaiming_uniform_(mg.empty(2, 2), mode="foo"),
                  lambda: init.calculate_gain("foo"), lambda: init.eye_(mg.empty(3)),
                  lambda: init.kaiming_uniform_(mg.empty(0, 3))):
        show(attempt(wrong))
    show([init.calculate_gain(n) for n in ("linear", "tanh", "relu", "selu", "leaky_relu")],
         init.calculate_gain("leaky_relu", 2.0))


def case_printed_modules(mg):
    nn = mg.nn
    for module in (
            nn.LeakyReLU(0.25, True), nn.ELU(), nn.SELU(), nn.GELU(), nn.SiLU(True), nn.Softplus(2, 3), nn.Softmax(),
            nn.LogSoftmax(1),
            nn.Hardtanh(), nn.ReLU6(), nn.Sigmoid(), nn.Tanh(), nn.LogSigmoid(), nn.Softsign(), nn.Identity(3, a=4),
            nn.Dropout(),
            nn.Embedding(10, 3, padding_idx=-1), nn.LayerNorm((2, 3), bias=False), nn.LayerNorm(4, 1e-3, False),
            nn.BatchNorm1d(4, affine=False),
            nn.Flatten(), nn.Linear(2, 1, bias=False),
            nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Linear(1, 1))),
            nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Sequential(nn.Tanh(), nn.Tanh())]), nn.ModuleList(),
            nn.ModuleDict({"a": nn.ReLU()}),
            nn.ParameterList([mg.ones(2)]), nn.ParameterList([mg.ones(2), mg.ones(2, 3)]),
            nn.CrossEntropyLoss(ignore_index=3), nn.BCEWithLogitsLoss(pos_weight=mg.ones(2)),
            nn.SmoothL1Loss(beta=2.0)):
        print(module)
    show(attempt(lambda: nn.Module()(3)), attempt(lambda: nn.Module(3)), attempt(lambda: nn.Module(a=3)),
         attempt(lambda: nn.Module().foo))


def case_module_losses(mg):
    nn, x, target = mg.nn, numbers(mg), mg.ones(2, 3, dtype=mg.float64) * 0.75
    weight = mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64)
    for loss in (nn.MSELoss(), nn.L1Loss(reduction="sum"), nn.SmoothL1Loss(beta=0.5), nn.HuberLoss(delta=0.5),
                 nn.BCEWithLogitsLoss(weight, pos_weight=weight)):
        show(loss(x, target))
    for loss in (nn.CrossEntropyLoss(weight, ignore_index=0, label_smoothing=0.25),
                 nn.NLLLoss(weight, reduction="none")):
        show(loss(x, mg.tensor([0, 1])), [name for name, _ in loss.named_buffers()])
    show(nn.BCELoss()(x.sigmoid(), target))


def case_parameter(mg):
    source = mg.ones(2)
    p = mg.nn.Parameter(source)
    source.add_(1)
    show(p, p._version, p._base is None, p.is_leaf, mg.nn.Parameter(source.requires_grad_() * 2).is_leaf)
    with mg.no_grad():
        show(mg.nn.Parameter(mg.ones(1)).requires_grad)
    p.grad = mg.ones(2)
    twin = copy.deepcopy(p)
    show(type(twin) is type(p), twin.requires_grad, twin.grad, type(p + 1) is mg.Tensor, type(p.detach()) is mg.Tensor)
    print(p, pickle.loads(pickle.dumps(mg.nn.Parameter(mg.ones(1), requires_grad=False))))
    show(attempt(lambda: mg.nn.Parameter(mg.ones(2, dtype=mg.int64))),
         mg.nn.Parameter(mg.ones(2, dtype=mg.int64), requires_grad=False),
         mg.nn.Parameter().shape)


def case_full_backward_hooks(mg):
    layer = mg.nn.Linear(2, 2).double()
    with mg.no_grad():
        layer.weight.copy_(mg.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.bias.zero_()
    layer.register_full_backward_hook(lambda m, grad_in, grad_out: show("hook", type(m).__name__, grad_in, grad_out))
    twice = layer.register_full_backward_hook(lambda m, grad_in, grad_out: (grad_in[0] * 2,), prepend=True)
    layer.register_full_backward_pre_hook(lambda m, grad_out: (grad_out[0] * 10,))
    x = mg.ones(1, 2, dtype=mg.float64, requires_grad=True)
    y = layer(x)
    show(tree(y))
    y.sum().backward()
    show(x.grad, layer.weight.grad)
    twice.remove()
    layer(x.detach()).sum().backward()
    show(attempt(lambda: layer.register_backward_hook(print)))
    with mg.no_grad():
        show(layer(x).grad_fn)
    wrong = mg.nn.ReLU()
    wrong.register_full_backward_hook(lambda m, grad_in, grad_out: (None, None))
    show(attempt(lambda: wrong(x).sum().backward()))
    old = mg.nn.ReLU()
    old.register_backward_hook(lambda m, grad_in, grad_out: show("old", grad_in, grad_out))
    old(x * 2).sum().backward()


def case_forward_hooks_with_keywords(mg):
    class Scale(mg.nn.Module):
        def forward(self, x, *, by=1.0):
            if by == 0:
                raise ValueError("by nothing")
            return x * by

    module, x = Scale(), mg.ones(1)
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True)
    module.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["by"], with_kwargs=True)
    module.register_forward_hook(lambda m, args, out: show("plain", args, out))
    show(module(x, by=2.0), attempt(lambda: module(x, by=-1.0)))
    module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    show(attempt(lambda: module(x, by=2.0)))


def case_loading_mistakes(mg):
    nn = mg.nn
    layer = nn.Linear(2, 3)
    for state in (nn.Linear(3, 2).state_dict(), {"weight": mg.ones(3, 2), "x": mg.ones(1)},
                  {"weight": 3, "bias": mg.ones(3)}, 3):
        show(attempt(lambda state=state: layer.load_state_dict(state)))
    show(layer.load_state_dict({"weight": mg.ones(3, 2), "x": mg.ones(1)}, strict=False),
         layer.load_state_dict(nn.Linear(2, 3).state_dict()))
    new = nn.Linear(2, 3).state_dict()
    layer.load_state_dict(new, assign=True)
    show(type(layer.weight) is nn.Parameter, layer.weight.data_ptr() == new["weight"].data_ptr(),
         layer.weight.requires_grad)


def case_mistakes_with_containers(mg):
    nn, layer = mg.nn, mg.nn.Linear(1, 1)
    for mistake in (
            lambda: nn.ModuleList(layer), lambda: nn.ModuleList(3), lambda: nn.ModuleList(["a"]), lambda: nn.ModuleList().append(3),
            lambda: nn.ModuleList([layer])(1), lambda: nn.ModuleList([layer])[3], lambda: nn.ModuleList([layer])["a"],
            lambda: nn.Sequential(layer)[1], lambda: nn.Sequential([layer, layer]), lambda: nn.Sequential({"a": layer}),
            lambda: nn.Sequential().extend(3), lambda: nn.ModuleDict(3), lambda: nn.ModuleDict([3]),
            lambda: nn.ModuleDict([(1, 2, 3)]), lambda: nn.ModuleDict([("a", 3)]), lambda: nn.ModuleDict({1: layer}),
            lambda: nn.ModuleDict({"a.b": layer}), lambda: nn.ModuleDict({"": layer}), lambda: nn.ModuleDict({"keys": layer}),
            lambda: nn.ModuleDict({"a": layer})["b"], lambda: nn.ModuleDict()(1), lambda: nn.ModuleDict().pop("x"),
            lambda: nn.ParameterList(mg.ones(2)), lambda: nn.ParameterList(3), lambda: nn.ParameterList([mg.ones(1)])[2]):
        show(attempt(mistake))


def case_mistakes_with_constructors(mg):
    nn, wide = mg.nn, 2**40
    for mistake in (
            lambda: nn.Linear("a", 2), lambda: nn.Linear(2, "a"), lambda: nn.Linear(2, 3.0), lambda: nn.Linear(None, 2),
            lambda: nn.Linear(2), lambda: nn.Linear(2, 3, foo=1), lambda: nn.Linear(wide, wide), lambda: nn.Linear(wide, 2**22),
            lambda: nn.Linear(2, 3, dtype=3), lambda: nn.Linear(2, 3, dtype=mg.int64), lambda: nn.Linear(2, 3, device="foo"),
            lambda: nn.Embedding(2, "a"), lambda: nn.Embedding(wide, wide), lambda: nn.Embedding(3, 2, -4), lambda: nn.LayerNorm("a"),
            lambda: nn.LayerNorm(None), lambda: nn.BatchNorm1d(2.0), lambda: nn.Dropout("a"), lambda: nn.Dropout(2), lambda: nn.ReLU(1, 2),
            lambda: nn.Tanh(1), lambda: nn.ELU(foo=1), lambda: nn.Hardtanh(2, 1), lambda: nn.HuberLoss(foo=1),
            lambda: nn.CrossEntropyLoss([1.0]),
            lambda: nn.Parameter(mg.ones(1), "a"), lambda: nn.Parameter(3.0), lambda: nn.Parameter(mg.ones(1), True, 3)):
        show(attempt(mistake))


def case_containers(mg):
    """What of a list's ways each of them has."""
    nn, layers = mg.nn, [mg.nn.ReLU(), mg.nn.Tanh(), mg.nn.Sigmoid()]
    for make in (lambda: nn.Sequential(*layers), lambda: nn.ModuleList(layers)):
        for change in (lambda s: s.insert(1, nn.ReLU()), lambda s: s.insert(9, nn.ReLU()), lambda s: s.insert(-1, nn.ReLU()),
                       lambda s: s.insert(0, 3), lambda s: s.insert("a", nn.ReLU()), lambda s: s.pop(0), lambda s: s.pop(-1),
                       lambda s: s.__delitem__(slice(1, None)), lambda s: s[::-1], lambda s: s.__iadd__([nn.ReLU()]), lambda s: s.extend(3),
                       lambda s: s + make(), lambda s: s + 3, lambda s: s.append(nn.ReLU()), lambda s: len(s.extend(make()))):  # noqa: B023
            container = make()
            result = attempt(lambda change=change, container=container: change(container))
            print(str(result).replace("minigrad.nn.module.", "torch.nn.modules.module."), container, list(container._modules))
    values = nn.ParameterList([mg.ones(2), mg.zeros(1)])
    values += [mg.ones(3)]
    values[0] = mg.zeros(4)
    show(values, values[-1], values[:2], [type(p) is nn.Parameter for p in values], attempt(lambda: values("x")),
         attempt(lambda: values["a"]), attempt(lambda: values.__setitem__(7, mg.ones(1))))


def case_mistakes_with_layers(mg):
    nn, F, layer = mg.nn, mg.nn.functional, mg.nn.Linear(1, 1)

    class NoSuper(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(1, 1)

    class NoForward(nn.Module):
        pass

    for mistake in (
            lambda: layer(3), lambda: layer(np.ones((1, 1))), lambda: layer(mg.ones(1, 1, dtype=mg.int64)), lambda: layer([1.0]),
            lambda: layer(mg.ones(3, 2)), lambda: nn.Linear(-1, 2), lambda: nn.Embedding(3, 2)(mg.ones(1)),
            lambda: nn.Embedding(3, 2)(mg.tensor([3])), lambda: nn.Embedding(3, 2)(mg.tensor([-1])), lambda: nn.Embedding(3, 2)(1),
            lambda: F.embedding(mg.ones(3, 2), mg.tensor([1])), lambda: F.embedding(mg.tensor([0]), mg.tensor(1.0)),
            lambda: nn.Dropout(1.5), lambda: F.dropout(mg.ones(2), -1), lambda: nn.BatchNorm1d(3)(mg.ones(2, 2)),
            lambda: nn.BatchNorm1d(3)(mg.ones(3)), lambda: nn.BatchNorm1d(3)(mg.ones(1, 3)), lambda: F.hardtanh(mg.ones(1), 2, 1),
            NoSuper, lambda: NoForward()(1), lambda: NoForward().x, lambda: NoForward().train(1), lambda: nn.Parameter([1.0]),
            lambda: setattr(layer, "weight", mg.ones(1, 1)), lambda: layer.to(mg.int64), lambda: layer.to("cuda"),
            lambda: nn.init.xavier_uniform_(mg.ones(2)), lambda: nn.init.calculate_gain("foo"), lambda: F.relu("a"),
            lambda: nn.init.kaiming_normal_(mg.ones(2, 2), mode="x"), lambda: nn.ReLU()([1.0]), lambda: nn.Flatten()(mg.ones(3)),
            lambda: F.softmax(mg.ones(2), 5), lambda: F.softmax(mg.ones(2, dtype=mg.int64), 0)):
        show(attempt(mistake))


def case_mistakes_with_losses(mg):
    F, x, labels = mg.nn.functional, mg.ones(2, 3), mg.tensor([0, 1])
    for mistake in (
            lambda: F.cross_entropy(x, mg.zeros(3).long()), lambda: F.cross_entropy(x, mg.zeros(2)),
            lambda: F.cross_entropy(x, mg.zeros(2, 3).long()), lambda: F.cross_entropy(x, mg.ones(2, 4)),
            lambda: F.cross_entropy(mg.tensor(1.0), mg.tensor(0)), lambda: F.cross_entropy(x, mg.tensor([0, 3])),
            lambda: F.cross_entropy(x.long(), labels), lambda: F.cross_entropy(x, [0, 1]), lambda: F.cross_entropy([[1.0]], labels),
            lambda: F.cross_entropy(x, labels.int()), lambda: F.cross_entropy(x, labels, label_smoothing=2),
            lambda: F.cross_entropy(x, x, ignore_index=1), lambda: F.mse_loss(mg.ones(2), labels), lambda: F.mse_loss(labels, labels),
            lambda: F.mse_loss(mg.ones(2), 1.0), lambda: mg.nn.MSELoss()(mg.ones(2), [1.0, 1.0]),
            lambda: F.mse_loss(mg.ones(2), mg.ones(3)), lambda: F.binary_cross_entropy(mg.tensor([2.0]), mg.tensor([1.0])),
            lambda: F.binary_cross_entropy(mg.tensor([0.5]), mg.tensor([1])), lambda: F.binary_cross_entropy(x, x[0]),
            lambda: F.binary_cross_entropy_with_logits(mg.tensor([0.5]), mg.tensor([1])), lambda: F.mse_loss(x, x, reduction="avg")):
        show(attempt(mistake))


def case_forgotten_arguments(mg):
    nn, x = mg.nn, mg.ones(2)
    for call in (lambda: nn.MSELoss()(x), lambda: nn.CrossEntropyLoss()(), lambda: nn.BCELoss()(x, x, x), lambda: nn.L1Loss()(x, foo=1),
                 lambda: nn.ReLU()(), lambda: nn.ReLU()(x, 2), lambda: nn.Flatten()(), lambda: nn.Linear(2, 2)(),
                 lambda: nn.Sequential()(), lambda: nn.Softmax(0)(input=x)):
        show(attempt(call))


def case_moved_and_cast_modules(mg):
    net, tensor = mg.nn.Sequential(mg.nn.Linear(1, 1)), mg.ones(2)
    show(net.to(mg.float64)[0].weight.dtype, net.float()[0].weight.dtype, tensor.type("torch.IntTensor"))
    show(mg.nn.ReLU().cuda())
    for call in (net.cuda, lambda: net.to("cuda"), lambda: tensor.type("foo"), lambda: tensor.type(float), lambda: tensor.type([1])):
        show(attempt(call))
    found = {"a": 1}
    show(list(net.state_dict(destination=found, prefix="p.", keep_vars=True)), list(net.state_dict(destination=found)))


def case_what_backward_hooks_return(mg):
    for hook in (lambda m, into, out: (out[0], out[0]), lambda m, into, out: 3, lambda m, into, out: [out[0] * 2],
                 lambda m, into, out: (3,), lambda m, into, out: "ab", lambda m, into, out: (None,)):
        for name in ("register_full_backward_hook", "register_full_backward_pre_hook"):
            layer, x = mg.nn.Flatten(0), mg.ones(2, requires_grad=True)
            getattr(layer, name)((lambda m, out, hook=hook: hook(m, None, out)) if "pre" in name else hook)
            show(name, attempt(layer(x).sum().backward), x.grad)


def case_what_old_backward_hooks_miss(mg):
    class Module(mg.nn.Module):
        def __init__(self, forward):
            super().__init__()
            self.forward = forward

    x = mg.ones(2, requires_grad=True) * 1
    for forward, args in ((lambda x: (x + 1).exp(), (x,)), (lambda x: x.relu(), (x,)), (lambda x: {"a": x * 2}, (x,)),
                          (lambda x: [x * 2], (x,)), (lambda x: (x * 2, x * 3), (x,)), (lambda x: x, (x,)), (lambda x, n: x * n, (x, 3))):
        module = Module(forward)
        module.register_backward_hook(lambda module, into, out: None)
        show(module(*args))
    show(attempt(lambda: Module(lambda x: 3)(x)))


def case_copies_keep_attributes(mg):
    x = mg.ones(2, requires_grad=True)
    x.note = [1]
    deep, flat, unpickled = copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))
    show(deep.note, deep.note is x.note, flat.note is x.note, flat.data_ptr() == x.data_ptr(), unpickled.note, unpickled)
    computed, buffer = pickle.loads(pickle.dumps(x * 2)), io.BytesIO()
    mg.save(x * 2, buffer)
    buffer.seek(0)
    show(computed, computed.is_leaf, mg.load(buffer))
    show(attempt(lambda: mg.save(mg.ones(1), "nowhere/there/a.pt")), attempt(lambda: mg.save(mg.ones(1), 3)))


def case_printed_kinds(mg):
    class P(mg.nn.Parameter):
        pass

    print(P(mg.ones(2)), P(mg.ones(2), requires_grad=False), P(mg.ones(2)).detach())
    for limits in (*map(mg.finfo, (mg.float16, mg.float32, mg.float64)), *map(mg.iinfo, (mg.uint8, mg.int16, mg.int32, mg.int64))):
        print(limits, limits == mg.finfo(mg.float32), limits.bits)
    show(mg.finfo(mg.float32).resolution)


def case_pretrained_embedding(mg):
    Embedding, rows = mg.nn.Embedding, mg.arange(6.0).view(3, 2)
    frozen, learning = Embedding.from_pretrained(rows), Embedding.from_pretrained(rows, freeze=False, padding_idx=-1)
    print(frozen, learning)
    show(frozen.weight, learning.weight, frozen(mg.tensor([0, 2])), frozen.weight.data_ptr() == rows.data_ptr())
    for make in (lambda: Embedding.from_pretrained(rows[0]), lambda: Embedding.from_pretrained([[1.0]]),
                 lambda: Embedding.from_pretrained(rows, padding_idx=9)):
        show(attempt(make))


def case_legacy_reductions(mg):
    """What reductions were called before PyTorch 0.4, and where they stand in a call."""
    nn, F = mg.nn, mg.nn.functional
    x, y, z, labels = mg.tensor([1.0, 3.0]), mg.zeros(2), mg.tensor([[1.0, 2.0], [0.5, 0.0]]), mg.tensor([0, 1])
    for old in ({"size_average": False}, {"reduce": False}, {"size_average": True, "reduce": True, "reduction": "none"}):
        show(F.mse_loss(x, y, **old), F.l1_loss(x, y, **old), F.smooth_l1_loss(x, y, **old), F.cross_entropy(z, labels, **old))
        show(nn.MSELoss(**old).reduction, nn.CrossEntropyLoss(**old)(z, labels), nn.BCEWithLogitsLoss(**old)(x, y))
    show(nn.MSELoss(None, None, "sum")(x, y), F.mse_loss(x, y, None, None, "none"), F.huber_loss(x, y, "sum", 0.5))
    show(F.nll_loss(z, labels, None, None, 0, None, "sum"), nn.NLLLoss(None, None, 1, None, "none")(z, labels))
    show(nn.BCELoss(mg.ones(2), None, None, "sum")(x / 4, y), nn.SmoothL1Loss(None, None, "mean", 2.0)(x, y), "size_average" in
         vars(nn.MSELoss()))


def case_a_class_for_each_pixel(mg):
    F = mg.nn.functional
    for shape in ((2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 2, 2), (0, 3, 4)):
        x = mg.arange(float(math.prod(shape)), dtype=mg.float64).reshape(shape).sin().requires_grad_()
        target = mg.arange(math.prod(shape) // 3).reshape(shape[:1] + shape[2:]) % 3
        for reduction in ("mean", "sum", "none"):
            loss = F.nll_loss(x, target, mg.tensor([1.0, 2.0, 0.5], dtype=mg.float64), ignore_index=2, reduction=reduction)
            show(loss, tree(loss, {id(x): "x"}), mg.autograd.grad(loss.sum(), x)[0])
    loss = F.nll_loss(x4 := mg.ones(1, 2, 1, 1, requires_grad=True), mg.zeros(1, 1, 1, dtype=mg.int64))
    show(tree(mg.autograd.grad(loss, x4, mg.ones((), requires_grad=True), create_graph=True)[0]))
    line, picture = mg.ones(2, 3, 4), mg.ones(2, 3, 4, 5)
    for x, target in ((line, mg.zeros(2, 5)), (line, mg.zeros(2)), (picture, mg.zeros(2, 4, 4)), (picture, mg.zeros(2, 4)),
                      (picture, mg.full((2, 4, 5), 7))):
        show(attempt(lambda x=x, target=target: F.nll_loss(x, target.long())))
    show(attempt(lambda: F.nll_loss(picture, mg.zeros(2, 4, 5, dtype=mg.int64), mg.ones(2))),
         attempt(lambda: F.nll_loss(picture, mg.zeros(2, 4, 5))))


def case_mixed_types(mg):
    """Data from NumPy is float64, a module's parameters are float32."""
    F, x, f, d = mg.nn.functional, mg.tensor([[1.0, 2.0], [3.0, 5.0]]), mg.ones(2), mg.ones(2, dtype=mg.float64)
    for norm in (lambda: F.batch_norm(x, d, d), lambda: F.batch_norm(x, f, d), lambda: F.batch_norm(x, f, f, d, f),
                 lambda: F.batch_norm(x, f, f, f, d), lambda: F.batch_norm(x.double(), f, f), lambda: mg.nn.LayerNorm(2)(x.double()),
                 lambda: F.layer_norm(x, (2,), d, d), lambda: F.layer_norm(x, (2,), f, d), lambda: F.batch_norm(x.long(), f, f),
                 lambda: F.layer_norm(x.long(), (2,)), lambda: F.batch_norm(x, None, None), lambda: F.batch_norm(x, f[:1], f),
                 lambda: F.layer_norm(x, (2,), f[:1]), lambda: F.layer_norm(x, ()), lambda: mg.nn.Linear(2, 1)(x.double()),
                 lambda: F.cross_entropy(x, mg.tensor([0, 1]), d)):
        show(attempt(norm))
    norm = mg.nn.BatchNorm1d(2)
    norm(x)
    show(norm.running_mean._version, norm.num_batches_tracked._version, norm.running_mean, norm.running_var)


def case_graphs_of_gradients(mg):
    """The nodes of a gradient's own graph, one derivative further."""
    F = mg.nn.functional
    x, t = (mg.tensor(v, dtype=mg.float64, requires_grad=True) for v in ([0.25, 0.5, 0.125], [1.0, 0.25, 0.0]))
    weight = mg.tensor([2.0, 3.0, 1.0], dtype=mg.float64)
    names = {id(x): "x", id(t): "t"}
    functions = [lambda x, t, n=n, **k: getattr(F, n)(x, **k) for n in (
        "logsigmoid", "leaky_relu", "elu", "selu", "hardtanh", "softplus", "gelu", "softsign", "relu")]
    functions += [lambda x, t, n=n, r=r: getattr(F, n)(x, t, reduction=r) for r in ("mean", "sum") for n in (
        "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits")]
    functions += [lambda x, t: F.binary_cross_entropy(x, t.detach(), weight),
                  lambda x, t: F.binary_cross_entropy_with_logits(x, t, weight, pos_weight=weight),
                  lambda x, t: F.gelu(x, approximate="tanh")]
    for function in functions:
        y = function(x, t)
        g = mg.ones_like(y).requires_grad_()
        for gradient in mg.autograd.grad(y, [x, t], g, create_graph=True, allow_unused=True):
            show("none" if gradient is None else tree(gradient, {**names, id(g): "g"}))
            if gradient is not None:
                show(mg.autograd.grad(gradient.sum(), [x, g], allow_unused=True, retain_graph=True))


def case_loading_wrong_keys(mg):
    """Strict or not, in a tree, and what has been copied by then."""
    nn = mg.nn
    model = nn.Sequential(OrderedDict(body=nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), head=nn.Linear(2, 1)))
    good = {key: mg.full_like(value, 3) for key, value in model.state_dict().items()}
    wrapped = {f"module.{key}": value for key, value in good.items()}
    other_shape = {**good, "body.0.bias": mg.full((2,), 5.0), "head.weight": mg.ones(1, 3), "head.bias": mg.full((1,), 7.0)}
    no_buffers = {key: value for key, value in good.items() if "running" not in key}
    deeper = {**good, "head.weight.more": mg.ones(1), "nowhere.weight": mg.ones(1), "body.2.weight": mg.ones(1)}
    for state in (wrapped, other_shape, no_buffers, deeper, {}):
        for strict in (True, False):
            show(strict, attempt(lambda state=state, strict=strict: model.load_state_dict(state, strict=strict)))
    show(model.body[0].bias.detach(), model.head.bias.detach(), model.body[1].num_batches_tracked)
    show(attempt(lambda: model.load_state_dict(good)), all(bool((p == 3).all()) for p in model.state_dict().values()))
    show(attempt(lambda: model.load_state_dict([("a", mg.ones(1))])), attempt(lambda: model.load_state_dict(None)))
    frozen = nn.Linear(1, 1).requires_grad_(False)
    frozen.load_state_dict({"weight": mg.ones(1, 1, requires_grad=True), "bias": mg.ones(1, dtype=mg.float64)})
    show(frozen.weight, frozen.bias, [p.grad_fn for p in frozen.parameters()])


CASES = cases_in(globals())


@pytest.mark.parametrize("name", CASES)
def test_prints_what_pytorch_printed(name):
    assert not compare(recorded("nn")[name], run(CASES[name], minigrad))


def test_the_record_is_pytorch():
    assert not differences_from_pytorch("nn", CASES)


def test_only_pytorchs_names_are_public():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for ours, theirs in ((minigrad.nn.functional, torch.nn.functional), (minigrad.nn.init, torch.nn.init), (minigrad.nn, torch.nn),
                         (minigrad.nn.utils, torch.nn.utils), (minigrad.optim, torch.optim)):
        names = {n for n, value in vars(ours).items() if not n.startswith("_") and callable(value)
                 and getattr(value, "__module__", "").startswith("minigrad.nn" if ours is not minigrad.optim else "minigrad.optim")}
        assert names and not {n for n in names if not hasattr(theirs, n)}


def test_a_wrong_loss_is_found(monkeypatch):
    monkeypatch.setattr(minigrad.nn.functional, "_averaged", lambda grad, x, reduction: grad)
    assert compare(recorded("nn")["regression_losses"], run(CASES["regression_losses"], minigrad))
