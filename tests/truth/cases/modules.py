# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""nn.Module and its parts, losses and optimisers as far as PyTorch's own tests name them."""
from __future__ import annotations

import copy
import io
import pickle
from collections import OrderedDict

from ..harness import attempt, show, tree


def _net(mg):
    nn = mg.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1 = nn.Linear(2, 2)
            self.l2 = nn.Linear(2, 1)
            self.shared = self.l1
            self.block = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
            self.register_buffer("steps", mg.zeros(1))
            self.scale = nn.Parameter(mg.ones(1))

        def forward(self, x):
            return self.l2(self.block(self.l1(x))) * self.scale

    return Net()


def walking(mg):
    """PyTorch: TestNN.test_children, TestNN.test_named_children, TestNN.test_named_parameters_remove_duplicate,
    TestNN.test_modules
    """
    net = _net(mg)
    print(net)
    show([type(m).__name__ for m in net.children()], [name for name, _ in net.named_children()],
         [type(m).__name__ for m in net.modules()],
         [name for name, _ in net.named_modules()])
    show([name for name, _ in net.named_parameters()],
         [name for name, _ in net.named_parameters(remove_duplicate=False)],
         [name for name, _ in net.named_parameters(prefix="p", recurse=False)],
         [name for name, _ in net.named_buffers()], len(list(net.parameters())))
    show(list(net.state_dict()), sum(p.numel() for p in net.parameters()),
         net.get_submodule("block.0") is net.block[0], net.get_parameter("l1.weight") is net.l1.weight)


def parameter_assignment(mg):
    """PyTorch: TestNN.test_parameter_assignment, TestNN.test_assignment"""
    layer = mg.nn.Linear(2, 1)
    show(len(list(layer.parameters())))
    layer.extra = mg.nn.Parameter(mg.ones(1))
    show([name for name, _ in layer.named_parameters()])
    layer.other = mg.ones(1)
    show([name for name, _ in layer.named_parameters()])
    show(attempt(lambda: setattr(layer, "weight", mg.ones(1, 2))))
    layer.weight = None
    show([name for name, _ in layer.named_parameters()], layer.weight)
    layer.weight = mg.nn.Parameter(mg.ones(1, 2))
    show([name for name, _ in layer.named_parameters()])
    del layer.extra
    show([name for name, _ in layer.named_parameters()], attempt(lambda: layer.extra), attempt(lambda: layer.nothing))


def registries(mg):
    """PyTorch: TestNN.test_register_buffer_raises_error_if_not_tensor,
    TestNN.test_register_buffer_allows_overwriting_with_same_name,
    TestNN.test_register_parameter_allows_overwriting_with_same_name, TestNN.test_buffer_not_persistent
    """
    m = mg.nn.Module()
    show(attempt(lambda: m.register_buffer("a", 5)), attempt(lambda: m.register_parameter("p", mg.ones(1))))
    m.register_buffer("a", mg.zeros(1))
    m.register_buffer("a", mg.ones(1))
    show(m.a, list(m.state_dict()))
    m.register_buffer("b", mg.ones(2), persistent=False)
    m.register_buffer("c", None)
    show([name for name, _ in m.named_buffers()], list(m.state_dict()))
    m.register_parameter("p", mg.nn.Parameter(mg.zeros(1)))
    m.register_parameter("p", mg.nn.Parameter(mg.ones(1)))
    m.register_parameter("q", None)
    show(m.p, [name for name, _ in m.named_parameters()], m.q)
    m.taken = 5
    for name in ["", "a.b", "taken", 1]:
        show(repr(name), attempt(lambda: m.register_buffer(name, mg.zeros(1))),
             attempt(lambda: m.register_parameter(name, None)),
             attempt(lambda: m.register_module(name, mg.nn.Linear(1, 1))))
    show(attempt(lambda: m.register_parameter("r", mg.nn.Parameter(mg.ones(1)) * 2)),
         attempt(lambda: setattr(m, "a", 3.0)))


def without_super_init(mg):
    """PyTorch: TestNN.test_module_super_init"""
    class Bad(mg.nn.Module):
        def __init__(self):
            self.layer = mg.nn.Linear(1, 1)

    class BadParameter(mg.nn.Module):
        def __init__(self):
            self.p = mg.nn.Parameter(mg.ones(1))

    show(attempt(Bad), attempt(BadParameter))

    class Mixin:
        def __init__(self):
            self.mixed = True
            super().__init__()

    class Both(mg.nn.Module, Mixin):
        pass

    class Other(Mixin, mg.nn.Module):
        pass

    show(hasattr(Both(), "mixed"), hasattr(Other(), "mixed"))


def calling(mg):
    """PyTorch: TestNN.test_call_supports_python_dict_output"""
    class Out(mg.nn.Module):
        def forward(self, x, key="k"):
            return {key: x * 2}

    m = Out()
    m.register_full_backward_hook(lambda module, grad_in, grad_out: show("hook", grad_in, grad_out))
    x = mg.tensor([1.0], requires_grad=True)
    out = m(x, key="z")
    show(out)
    out["z"].backward()
    show(x.grad, attempt(lambda: mg.nn.Module()(x)))


def forward_hooks(mg):
    m = mg.nn.ReLU()
    order = []
    h1 = m.register_forward_pre_hook(lambda module, args: order.append("pre") or (args[0] * 2,))
    h2 = m.register_forward_hook(lambda module, args, out: order.append("post") or out + 1)
    show(m(mg.tensor([1.0, -1.0])), order)
    h1.remove()
    h2.remove()
    show(m(mg.tensor([1.0, -1.0])), order)


def linear_broadcasting(mg):
    """PyTorch: TestNN.test_linear_broadcasting"""
    layer = mg.nn.Linear(3, 2)
    with mg.no_grad():
        layer.weight.copy_(mg.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]]))
        layer.bias.copy_(mg.tensor([0.5, -0.5]))
    x = mg.arange(12.0).view(2, 2, 3)
    show(layer(x), layer(x.view(4, 3)).view(2, 2, 2), layer(x[0, 0]), tree(layer(x)), tree(layer(x[0])),
         tree(layer(x[0, 0])))
    show(mg.nn.Linear(3, 2, bias=False), mg.nn.Linear(3, 2, bias=False).bias, attempt(lambda: layer(mg.ones(2))))


def zeroing_and_freezing(mg):
    """PyTorch: TestNN.test_zero_grad, TestNN.test_requires_grad_"""
    net = mg.nn.Linear(2, 1)
    net.zero_grad()
    x = mg.ones(1, 2)
    net(x).sum().backward()
    show(net.weight.grad)
    net.zero_grad(set_to_none=False)
    show(net.weight.grad)
    net.zero_grad()
    show(net.weight.grad, net.bias.grad)
    show(net.requires_grad_(False) is net, [p.requires_grad for p in net.parameters()], net(x).requires_grad)
    net.requires_grad_()
    show([p.requires_grad for p in net.parameters()])
    (net(x).sum()).backward(create_graph=True)
    show(net.weight.grad.requires_grad)
    net.zero_grad(set_to_none=False)
    show(net.weight.grad, net.weight.grad.requires_grad)


def containers(mg):
    """PyTorch: TestNN.test_ModuleDict, TestNN.test_Sequential_extend, TestNN.test_Sequential_setitem_named,
    TestNN.test_container_copy,
    TestNN.test_ModuleList, TestNN.test_Sequential_getitem
    """
    nn = mg.nn
    s = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    print(s)
    show(s[1], s[-1], len(s), s[:2], [name for name, _ in s.named_children()])
    s[1] = nn.Tanh()
    s.append(nn.Sigmoid())
    s.extend(nn.Sequential(nn.ReLU()))
    s.insert(0, nn.Flatten())
    del s[2]
    print(s)
    show(attempt(lambda: s[9]), attempt(lambda: s.append(5)), attempt(lambda: s.__setitem__(9, nn.ReLU())),
         attempt(lambda: s + 1))
    named = nn.Sequential(OrderedDict([("first", nn.Linear(1, 1)), ("second", nn.ReLU())]))
    named[-1] = nn.Tanh()
    print(named)
    show(named.first is named[0], list(named.state_dict()), (s + named)[0], len(s + named))
    both = nn.Sequential(nn.ReLU()).extend(s)
    show(len(both), both[1] is s[0])
    modules = nn.ModuleList([nn.ReLU(), nn.Linear(1, 1)])
    modules += [nn.Tanh()]
    modules.insert(1, nn.Sigmoid())
    modules[0] = nn.Identity()
    print(modules)
    show(len(modules), modules[-1], modules[1:3], list(modules.state_dict()), attempt(lambda: modules(mg.ones(1))),
         modules.pop(0))
    d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
    d["c"] = nn.Tanh()
    d.update({"a": nn.Sigmoid()})
    print(d)
    show(list(d), list(d.keys()), "a" in d, len(d), d["a"], d.pop("c"), list(d.items())[0][0],
         attempt(lambda: d["zz"]), attempt(lambda: d.update(5)))
    del d["a"]
    d.clear()
    show(len(d))
    twin = copy.deepcopy(s)
    show(twin[1].weight is s[1].weight, mg.equal(twin[1].weight, s[1].weight), len(copy.copy(s)))
    p = nn.ParameterList([nn.Parameter(mg.ones(1)), nn.Parameter(mg.ones(2))])
    show(len(p), list(p.state_dict()), [type(q).__name__ for q in p])


def dir_of_modules(mg):
    """PyTorch: TestNN.test_dir, TestNN.test_dir_digit"""
    linear = mg.nn.Linear(1, 1)
    linear._test_submodule = mg.nn.Linear(1, 1)
    linear._test_parameter = mg.nn.Parameter(mg.ones(1))
    linear.register_buffer("_test_buffer", mg.ones(1))
    keys = dir(linear)
    show([name in keys for name in ("_test_submodule", "_test_parameter", "_test_buffer", "weight", "forward")])
    show("0" in dir(mg.nn.Sequential(mg.nn.Linear(1, 1))), all(name in keys for name in linear.__dict__))


def state_dicts(mg):
    """PyTorch: TestNN.test_load_state_dict, TestNN.test_load_state_dict_custom"""
    a, b = mg.nn.Linear(2, 1), mg.nn.Linear(2, 1)
    show(b.load_state_dict(a.state_dict()), mg.equal(a.weight, b.weight), a.weight is b.weight)
    print(b.load_state_dict(a.state_dict()))
    show(a.state_dict()["weight"].data_ptr() == a.weight.data_ptr(), a.state_dict()["weight"].requires_grad,
         list(a.state_dict(prefix="p.")))
    missing = a.state_dict()
    del missing["bias"]
    missing["extra"] = mg.ones(1)
    show(attempt(lambda: b.load_state_dict(missing)), b.load_state_dict(missing, strict=False))
    wrong = OrderedDict(weight=mg.ones(1, 3), bias=mg.ones(1))
    show(attempt(lambda: b.load_state_dict(wrong)), attempt(lambda: b.load_state_dict([1])))

    class Custom(mg.nn.Module):
        def __init__(self):
            super().__init__()
            self.param = mg.nn.Parameter(mg.ones(1))
            self.sub = mg.nn.Linear(1, 1)

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            destination[prefix + "serialized"] = self.param.data + 1

        def _load_from_state_dict(self, state_dict, prefix, *rest):
            self.param.data.copy_(state_dict[prefix + "serialized"] - 1)

    c = mg.nn.Sequential(Custom())
    c[0].param.data.fill_(10)
    d = mg.nn.Sequential(Custom())
    show(list(c.state_dict()), c.state_dict()["0.serialized"], d.load_state_dict(c.state_dict()), d[0].param)


def applying(mg):
    """PyTorch: TestNN.test_module_apply_inplace_op, TestNN.test_train (modes), TestNN.test_type"""
    layer = mg.nn.Linear(2, 2)
    before = layer.weight._version
    layer._apply(lambda t: t.mul_(1))
    show(layer.weight._version > before, layer.weight.requires_grad, type(layer.weight).__name__)
    seen = []
    net = mg.nn.Sequential(mg.nn.Linear(1, 1), mg.nn.ReLU())
    show(net.apply(lambda m: seen.append(type(m).__name__)) is net, seen)
    net.eval()
    show(net.training, net[0].training, net.train() is net, net[0].training)
    parameter = net[0].weight
    net.double()
    show(net[0].weight.dtype, net[0].weight is parameter, net.float()[0].weight.dtype,
         net.to(mg.float64)[0].weight.dtype)


def vectors_of_parameters(mg):
    """PyTorch: TestNN.test_parameters_to_vector, TestNN.test_vector_to_parameters"""
    convert = mg.nn.utils
    layer = mg.nn.Linear(2, 2)
    with mg.no_grad():
        layer.weight.copy_(mg.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.bias.copy_(mg.tensor([5.0, 6.0]))
    vector = convert.parameters_to_vector(layer.parameters())
    show(vector, vector.is_leaf)
    convert.vector_to_parameters(mg.arange(6.0), layer.parameters())
    show(layer.weight, layer.bias)


def clipping(mg):
    """PyTorch: TestNNDeviceType.test_clip_grad_norm, TestNNDeviceType.test_clip_grad_value"""
    utils = mg.nn.utils
    for norm_type in [0.5, 1.5, 2, 4, float("inf")]:
        layer = mg.nn.Linear(2, 2)
        layer.weight.grad, layer.bias.grad = mg.tensor([[3.0, 4.0], [0.0, 12.0]]), mg.tensor([1.0, -2.0])
        show(norm_type, utils.clip_grad_norm_(layer.parameters(), 2.0, norm_type=norm_type), layer.weight.grad,
             layer.bias.grad)
    layer.weight.grad = mg.tensor([[0.125, 0.25], [0.0, 0.5]])
    layer.bias.grad = None
    show(utils.clip_grad_norm_(layer.parameters(), 2.0), layer.weight.grad, utils.clip_grad_norm_([], 1.0),
         utils.clip_grad_norm_(layer.weight, 0.25))
    layer.weight.grad = mg.tensor([[3.0, -4.0], [0.0, 1.0]])
    utils.clip_grad_value_(layer.parameters(), 2.5)
    show(layer.weight.grad)
    layer.weight.grad = mg.tensor([[float("nan"), 1.0], [0.0, 1.0]])
    show(attempt(lambda: utils.clip_grad_norm_(layer.weight, 1.0, error_if_nonfinite=True)))


def elu_in_place_on_view(mg):
    """PyTorch: TestNN.test_elu_inplace_on_view, TestNN.test_relu_inplace_on_view"""
    v = mg.tensor([1.0, 0.0, -1.0, 1.0], requires_grad=True, dtype=mg.float64)
    x = v.clone()
    view = x.narrow(0, 1, 2)
    out = mg.nn.functional.elu(view, inplace=True)
    show(out is view, x, tree(x))
    x.sum().backward()
    show(v.grad)
    w = v.detach().clone().requires_grad_()
    y = w.clone()
    mg.nn.functional.relu(y.narrow(0, 1, 2), inplace=True)
    (y * 2).sum().backward()
    show(y, w.grad)


def hardtanh_at_its_edges(mg):
    """PyTorch: TestNN.test_hardtanh_backward, TestNN.test_hardtanh_inplace_gradgrad"""
    x = mg.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
    y = mg.nn.functional.hardtanh(x)
    y.backward(mg.arange(5.0))
    show(y, x.grad)


def bce(mg):
    """PyTorch: TestNN.test_bce_loss_size_mismatch,
    TestNN.test_bce_with_logits_gives_same_result_as_sigmoid_and_bce_loss
    """
    nn = mg.nn
    show(attempt(lambda: nn.BCELoss()(mg.full((2, 1), 0.5), mg.full((2,), 0.5))),
         attempt(lambda: nn.BCEWithLogitsLoss()(mg.zeros(2, 1), mg.zeros(2))))
    target, logits = mg.tensor([[0.25], [1.0]], dtype=mg.float64), mg.tensor([[1.5], [-0.5]], dtype=mg.float64,
                                                                             requires_grad=True)
    show(nn.BCELoss()(logits.sigmoid(), target), nn.BCEWithLogitsLoss()(logits, target))
    weight = mg.tensor([0.5], dtype=mg.float64)
    show(nn.BCELoss(weight)(logits.sigmoid(), target), nn.BCEWithLogitsLoss(weight)(logits, target),
         nn.BCEWithLogitsLoss(reduction="none")(logits, target))
    zero = mg.zeros(2, 1, dtype=mg.float64, requires_grad=True)
    nn.BCEWithLogitsLoss(reduction="sum")(zero, mg.ones(2, 1, dtype=mg.float64)).backward()
    show(zero.grad, nn.BCEWithLogitsLoss(pos_weight=mg.tensor([3.0], dtype=mg.float64))(logits, target))
    show(nn.BCEWithLogitsLoss()(mg.tensor([100.0, -100.0]), mg.tensor([0.0, 1.0])),
         nn.BCELoss()(mg.tensor([0.0, 1.0]), mg.tensor([1.0, 1.0])))


def losses_broadcast_with_a_warning(mg):
    """PyTorch: TestNN.test_pointwise_loss_broadcast"""
    x = mg.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    target = mg.tensor([1.0, 0.5])
    for name in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"]:
        for reduction in ["none", "mean", "sum"]:
            loss = getattr(mg.nn.functional, name)(x, target, reduction=reduction)
            show(name, reduction, loss, mg.autograd.grad(loss.sum(), x))


def nll_corners(mg):
    """PyTorch: TestNNDeviceType.test_nll_loss_empty_tensor_reduction_mean,
    TestNNDeviceType.test_nll_loss_empty_tensor_reduction_sum,
    TestNNDeviceType.test_nll_loss_invalid_weights, TestNNDeviceType.test_nll_loss_mismatched_batch,
    TestNNDeviceType.test_nll_loss_total_weight_is_zero, TestNNDeviceType.test_nll_loss_empty_tensor_reduction_none
    """
    F = mg.nn.functional
    empty, none = mg.zeros(0, 3, requires_grad=True), mg.zeros(0, dtype=mg.int64)
    for reduction in ["none", "sum", "mean"]:
        loss = F.nll_loss(empty, none, reduction=reduction)
        show(reduction, loss, mg.autograd.grad(loss.sum(), empty))
    x = mg.arange(15.0).view(5, 3)
    for weight in [mg.ones(4), mg.ones(5), mg.ones(3, 3)]:
        show(attempt(lambda: F.nll_loss(x, mg.tensor([0, 1, 2, 0, 1]), weight=weight)))
    y = mg.ones(10, 3, requires_grad=True)
    show(attempt(lambda: F.nll_loss(y, mg.zeros(3, dtype=mg.int64))))
    z = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for reduction in ["none", "sum", "mean"]:
        loss = F.nll_loss(z, mg.tensor([0, 1]), weight=mg.zeros(2), reduction=reduction)
        show(reduction, loss, mg.autograd.grad(loss.sum(), z))
    show(F.nll_loss(z, mg.tensor([1, 1]), ignore_index=1), F.cross_entropy(z, mg.tensor([-100, 1])),
         F.cross_entropy(z, mg.tensor([-100, -100])))


def normalising(mg):
    """PyTorch: TestNN.test_normalize, TestNN.test_layer_norm_grads_with_create_graph_flag,
    TestNNDeviceType.test_batchnorm_affine,
    TestNNDeviceType.test_batchnorm_eval
    """
    F, nn = mg.nn.functional, mg.nn
    x = mg.tensor([[3.0, 4.0], [0.0, 0.0], [1.0, -1.0]], dtype=mg.float64, requires_grad=True)
    show(F.normalize(x), F.normalize(x, p=1, dim=0), F.normalize(mg.tensor([3.0, 4.0]), dim=0),
         mg.autograd.grad(F.normalize(x[:1] * 1).sum(), x))
    layer = nn.LayerNorm(3).double()
    z = mg.tensor([[1.0, 2.0, 4.0], [4.0, -3.0, 0.5]], dtype=mg.float64, requires_grad=True)
    plain = mg.autograd.grad((layer(z) ** 3).sum(), z)
    show(plain, mg.autograd.grad((layer(z) ** 3).sum(), z, create_graph=True))
    y = mg.tensor([[1.0, 2.0], [4.0, -3.0]], dtype=mg.float64, requires_grad=True)
    print(layer, nn.BatchNorm1d(2), sep="\n")
    for affine in [True, False]:
        norm = nn.BatchNorm1d(2, affine=affine).double()
        show(norm(y), norm.running_mean, norm.running_var, norm.num_batches_tracked,
             [name for name, _ in norm.named_parameters()])
        norm.eval()
        show(norm(y), norm.num_batches_tracked, mg.autograd.grad(norm(y).sum(), y))
    show(attempt(lambda: nn.BatchNorm1d(2)(mg.ones(1, 2))))


def optimiser_hooks(mg):
    """PyTorch: TestOptim.test_pre_hook, TestOptim.test_post_hook"""
    p = mg.nn.Parameter(mg.tensor([1.0]))
    p.grad = mg.tensor([0.5])
    optimiser = mg.optim.SGD([p], lr=0.5)
    seen = []
    pre = optimiser.register_step_pre_hook(lambda opt, args, kwargs: seen.append(("pre", opt is optimiser, p.item())))
    optimiser.register_step_post_hook(lambda opt, args, kwargs: seen.append(("post", len(args), kwargs, p.item())))
    optimiser.step()
    pre.remove()
    optimiser.step()
    for line in seen:
        show(*line)


def optimisers(mg):
    for name, make in {"sgd": lambda p: mg.optim.SGD(p, lr=0.25),
                       "momentum": lambda p: mg.optim.SGD(p, lr=0.25, momentum=0.5),
                       "nesterov": lambda p: mg.optim.SGD(p, lr=0.25, momentum=0.5, nesterov=True, weight_decay=0.125),
                       "adam": lambda p: mg.optim.Adam(p, lr=0.25),
                       "adamw": lambda p: mg.optim.AdamW(p, lr=0.25, weight_decay=0.5)}.items():
        w = mg.tensor([1.0, -2.0], dtype=mg.float64, requires_grad=True)
        optimiser = make([w])
        for _ in range(3):
            optimiser.zero_grad()
            (w * w).sum().backward()
            optimiser.step()
        show(name, w, w._version, w.grad, list(optimiser.state_dict()))
    print(mg.optim.SGD([w], lr=0.1))
    show(attempt(lambda: mg.optim.SGD([w * 2], lr=0.1)), attempt(lambda: mg.optim.SGD([], lr=0.1)),
         attempt(lambda: mg.optim.SGD(w, lr=0.1)), attempt(lambda: mg.optim.SGD([w], lr=-1.0)),
         attempt(lambda: mg.optim.SGD([w], lr=0.1, nesterov=True)), attempt(lambda: mg.optim.SGD([1.0], lr=0.1)))


def pickling(mg):
    """PyTorch: TestTorch.test_pickle_parameter, TestTorch.test_pickle_parameter_no_requires_grad,
    TestTorch.test_pickle_size, TestTorch.test_pickle
    """
    for thing in [mg.nn.Parameter(mg.ones(2)), mg.nn.Parameter(mg.ones(2), requires_grad=False), mg.ones(2, 3).size(),
                  mg.ones(2, requires_grad=True),
                  mg.arange(6.0).view(2, 3).t()]:
        twin = pickle.loads(pickle.dumps(thing))
        show(type(twin).__name__, twin, getattr(twin, "requires_grad", ""),
             twin.stride() if hasattr(twin, "stride") else "")
    a = mg.ones(2)
    pair = pickle.loads(pickle.dumps([a, a, a[:1]]))
    show(pair[0] is pair[1], pair[0].untyped_storage().data_ptr() == pair[2].untyped_storage().data_ptr())
    show(attempt(lambda: pickle.loads(pickle.dumps(mg.ones(1, requires_grad=True) * 2))))


def saving(mg):
    layer = mg.nn.Linear(2, 1)
    buffer = io.BytesIO()
    mg.save(layer.state_dict(), buffer)
    buffer.seek(0)
    state = mg.load(buffer)
    show(list(state), mg.equal(state["weight"], layer.weight), state["weight"].requires_grad,
         mg.nn.Linear(2, 1).load_state_dict(state))


def training(mg):
    nn = mg.nn
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    with mg.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_((mg.arange(p.numel(), dtype=mg.float64).view(p.shape) - i) / 8)
    x = mg.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=mg.float64)
    y = mg.tensor([[0.0], [1.0], [1.0], [0.0]], dtype=mg.float64)
    optimiser = mg.optim.SGD(net.parameters(), lr=0.5)
    for _ in range(3):
        loss = nn.functional.mse_loss(net(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        show(loss)
    show(tree(loss), net[0].weight.grad)


def losses_of_types(mg):
    """Which types a loss takes, and which it gives."""
    F = mg.nn.functional
    types = {"float32": mg.tensor([0.25, 0.75]), "float64": mg.tensor([0.5, 1.0], dtype=mg.float64),
             "float16": mg.tensor([0.5, 0.25]).half(), "int64": mg.tensor([1, 0]), "bool": mg.tensor([False, True])}
    for loss in [F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.l1_loss, F.binary_cross_entropy, F.binary_cross_entropy_with_logits]:
        for a, b in [("float32", "float64"), ("float64", "float32"), ("float32", "float16"), ("float32", "int64"), ("int64", "float32"),
                     ("int64", "int64"), ("bool", "bool"), ("bool", "float32")]:
            result = attempt(lambda: loss(types[a], types[b]))
            show(loss.__name__, a, b, result if isinstance(result, Exception) else result.dtype)


def gradients_in_memory(mg):
    """The steps of a gradient: those of the value or of what arrived, whichever PyTorch's kernel looks at first."""
    F = mg.nn.functional
    x = mg.arange(6.0).view(2, 3).t().requires_grad_()
    for name in ["logsigmoid", "relu", "leaky_relu", "hardtanh", "relu6", "sigmoid", "softplus", "gelu", "elu"]:
        y = getattr(F, name)(x)
        grads = [mg.autograd.grad(y, x, grad, retain_graph=True)[0] for grad in (mg.ones(3, 2), mg.ones(2, 3).t())]
        show(name, y.stride(), *[grad.stride() for grad in grads])


def layers_of_nothing(mg):
    F = mg.nn.functional
    for shape, last in [((2, 0), 1), ((0, 2), 1), ((0, 2), 2)]:
        y = F.layer_norm(mg.ones(shape, requires_grad=True), shape[-last:])
        show(y.shape, y.grad_fn._saved_result1, y.grad_fn._saved_result2)


def linear_of_vectors(mg):
    linear, ones = mg.nn.functional.linear, mg.ones
    for shapes in [((2,), (2,), (2,)), ((2,), (2,), ()), ((2,), (3,)), ((3, 2), (2,), (3,)), ((3, 2), (2,), ()), ((4, 3, 2), (2,), ()),
                   ((3, 2), (2,)), ((3, 2), (2, 2, 2)), ((3, 2), (2, 2, 2), (2,)), ((), (2,)),
                   ((2,), (4, 2), (1,)), ((4, 3, 2), (2, 2), (3, 2))]:
        show(shapes, attempt(lambda: linear(*map(ones, shapes))))
