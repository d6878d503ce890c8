# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""What goes wrong around training loops: wrong things handed to layers, losses and optimizers."""
from __future__ import annotations

import numpy as np

from ..harness import attempt, show


def wrong_inputs(mg):
    """A tuple that a model returned, an array that nobody converted: who complains, and in which words."""
    nn, F, x = mg.nn, mg.nn.functional, mg.ones(2, 2)
    wrong = {"tuple": (x, x), "list": [1.0], "None": None, "number": 3.0, "array": np.ones((2, 2))}
    functions = [F.relu, F.leaky_relu, F.elu, F.selu, F.gelu, F.silu, F.sigmoid, F.tanh, F.softplus, F.softsign, F.logsigmoid, F.hardtanh,
                 F.relu6, F.softmax, lambda v: F.softmax(v, dim=1), lambda v: F.log_softmax(v, dim=1), F.embedding, mg.relu, mg.sigmoid,
                 nn.Linear(2, 2), nn.ReLU(), nn.LeakyReLU(), nn.ELU(), nn.SELU(), nn.GELU(), nn.SiLU(), nn.Sigmoid(), nn.Tanh(),
                 nn.Softplus(), nn.Softsign(), nn.LogSigmoid(), nn.Hardtanh(), nn.Softmax(1), nn.Dropout(), nn.LayerNorm(2),
                 nn.BatchNorm1d(2), nn.Embedding(2, 2), nn.Sequential(nn.Linear(2, 2))]
    for i, function in enumerate(functions):
        for name, value in wrong.items():
            show(i, name, attempt(lambda: function(value)))
    target = mg.tensor([0, 1])
    for loss in [F.cross_entropy, nn.CrossEntropyLoss(), nn.NLLLoss(), nn.MSELoss(), nn.BCELoss(), nn.BCEWithLogitsLoss()]:
        for name, value in wrong.items():
            show(name, attempt(lambda: loss(value, target)), attempt(lambda: loss(x, value)))


def wrong_members(mg):
    """What is no module, parameter or tensor is named as Python knows it: a function by its own name."""
    nn, F = mg.nn, mg.nn.functional

    class Plain:
        pass

    linear = nn.Linear(1, 1)
    for thing in [F.relu, print, lambda x: x, Plain, Plain(), "relu", None, True, linear.parameters(), np.ones(1), [1]]:
        show(attempt(lambda: nn.Sequential(thing)), attempt(lambda: nn.ModuleList([thing])),
             attempt(lambda: setattr(linear, "weight", thing)),
             attempt(lambda: linear.register_buffer("b", thing)), attempt(lambda: mg.optim.SGD([thing])))
    for layer in [nn.ReLU, nn.Linear(1, 1), nn.Embedding(1, 1), nn.LayerNorm(1), nn.BatchNorm1d(1), nn.Dropout(), nn.Flatten(),
                  nn.Identity(), nn.Sequential(), nn.ModuleList(), nn.ModuleDict(), nn.ParameterList(), nn.MSELoss(), nn.Softmax(1),
                  nn.Module()]:
        show(attempt(lambda: setattr(linear, "weight", layer)), attempt(lambda: mg.optim.SGD([layer])))
    for walk in ("parameters", "named_parameters", "children", "named_children", "modules", "named_modules", "buffers", "named_buffers"):
        show(repr(getattr(linear, walk)()))


def hooks_that_are_always_called(mg):
    """After an error, with the output as far as there is one; what they raise then is a warning."""
    linear = mg.nn.Linear(2, 2)

    def wrong(module, args, output):
        raise ValueError("in a hook")

    def replacing(module, args, output):
        show("replacing", output)
        return 5

    for hook, options in [(lambda m, args, kwargs, output: show("first", args, kwargs, output), {"with_kwargs": True}), (wrong, {}),
                          (replacing, {}), (lambda m, args, output: show("last", output), {})]:
        linear.register_forward_hook(hook, always_call=True, **options)
    linear.register_forward_hook(lambda *_: show("never"))
    mg.nn.init.ones_(linear.weight), mg.nn.init.ones_(linear.bias)
    show(attempt(lambda: linear(mg.ones(3))), attempt(lambda: linear(mg.ones(2))))
    linear.register_forward_pre_hook(lambda m, args: 1 / 0)
    show(attempt(lambda: linear(mg.ones(2))))


def modules_begun_wrongly(mg):
    """Without ``super().__init__()``."""
    nn = mg.nn

    class Empty(nn.Module):
        def __init__(self, member=None):
            if member is not None:
                self.member = member

    for member in (nn.Linear(1, 1), nn.Parameter(mg.ones(1)), mg.ones(1), 3):
        show(attempt(lambda: Empty(member).member))
    show(*[attempt(lambda: use(Empty())) for use in (lambda m: m(1), list, repr, lambda m: m.train(), lambda m: list(m.parameters()))])
    show(*[x.dtype for x in nn.BatchNorm1d(2).half().state_dict().values()])


def products_that_do_not_fit(mg):
    a, b = mg.ones(2, 3, 4), mg.ones(3, 2)
    for dims in (1, 2, -1, 5, ([-1], [1]), ([1, 2], [0, 1]), ([1, 2], [0]), ([5], [0])):
        show(str(dims), attempt(lambda: mg.tensordot(a, b, dims)))
    show(attempt(lambda: mg.einsum("i", 3)), attempt(lambda: mg.einsum("i,i->", mg.ones(2), [1.0, 2.0])))


def clipping_nothing(mg):
    """A generator gives its parameters once."""
    linear = mg.nn.Linear(1, 1)
    params = linear.parameters()
    show(mg.nn.utils.clip_grad_norm_(params, 1.0), mg.nn.utils.clip_grad_norm_(params, 1.0), mg.nn.utils.clip_grad_norm_([], 1.0))


def constructed_the_old_way(mg):
    """``mg.Tensor`` with the options of ``mg.tensor``."""
    for make in (mg.Tensor, mg.FloatTensor, mg.LongTensor):
        for args, options in [(([1.0],), {"requires_grad": True}), ((2, 3), {"requires_grad": True}), (([1], 3), {}),
                              ((3,), {"dtype": mg.int64}), (([2],), {"device": "cpu"})]:
            show(attempt(lambda: make(*args, **options)))
    show(mg.cuda.manual_seed(0), mg.cuda.manual_seed_all(0))


def classes_of_nodes(mg):
    x = mg.ones(2, requires_grad=True)
    y, z = x * 2, x.clone()
    view = z.view(2, 1)
    z[0] = 1.0
    show(*[str(type(node)) for node in (y.grad_fn, y.grad_fn.next_functions[0][0], z.grad_fn, view.grad_fn)])


def rmsprop(mg):
    for options in [{}, {"momentum": 0.5}, {"centered": True}, {"weight_decay": 0.5}, {"maximize": True},
                    {"alpha": 0.5, "eps": 0.25, "momentum": 0.25, "centered": True}]:
        w = mg.tensor([1.0, 3.0], dtype=mg.float64, requires_grad=True)
        optimizer = mg.optim.RMSprop([w], lr=0.125, **options)
        for _ in range(3):
            optimizer.zero_grad()
            (w ** 2).sum().backward()
            optimizer.step()
        show(str(options), w, optimizer.state_dict()["state"])
    show(repr(optimizer))
    for options in [{"lr": -1}, {"alpha": -1}, {"momentum": -1}, {"eps": -1}, {"weight_decay": -1}, {"betas": 1}]:
        show(attempt(lambda: mg.optim.RMSprop([w], **options)))


def schedules(mg):
    """Epoch after epoch; a schedule that begins in the middle, and one that is told the epoch, which is deprecated."""
    rates = mg.optim.lr_scheduler

    class Own(rates.LRScheduler):
        def get_lr(self):
            return [base / (self.last_epoch + 1) for base in self.base_lrs]

    for make in [lambda o, **k: rates.ExponentialLR(o, 0.5, **k), lambda o, **k: rates.MultiStepLR(o, [2, 4, 4], 0.5, **k),
                 lambda o, **k: rates.CosineAnnealingLR(o, 4, **k), lambda o, **k: rates.CosineAnnealingLR(o, 3, eta_min=0.125, **k),
                 lambda o, **k: rates.StepLR(o, 3, 0.5, **k), lambda o, **k: rates.LambdaLR(o, lambda e: 1 / (e + 1), **k),
                 lambda o, **k: Own(o, **k)]:
        groups = [{"params": [mg.ones(1, requires_grad=True)]}, {"params": [mg.ones(1, requires_grad=True)], "lr": 0.25}]
        optimizer = mg.optim.SGD(groups, lr=1.0)
        show(attempt(lambda: make(optimizer, last_epoch=2)))
        schedule = make(optimizer)
        seen = [schedule.get_last_lr()]
        for _ in range(9):
            optimizer.step()
            schedule.step()
            seen.append(schedule.get_last_lr())
        show(type(schedule).__name__, seen, {k: v for k, v in schedule.state_dict().items() if k != "lr_lambdas"})
        schedule = make(optimizer, last_epoch=2)
        optimizer.step()
        schedule.step()
        show(schedule.get_last_lr())
        schedule.step(7)
        show(schedule.get_last_lr(), schedule.last_epoch)


def habits_from_numpy(mg):
    """An array beside a tensor; NumPy's and Python's types as dtypes."""
    x = mg.tensor([1.0, 2.0])
    for other in [np.array([1.0, 2.0]), np.array(1.0), np.array([1, 3]), np.array([True, False]), np.array(["a", "b"]), np.ones(3),
                  [1.0, 2.0], np.float32(1)]:
        show(*[attempt(f) for f in (lambda: x == other, lambda: other == x, lambda: x != other, lambda: x < other, lambda: x.eq(other))])
    show((x.requires_grad_() == x.detach().numpy()).all())
    for dtype in [float, int, bool, np.float64, np.dtype("float64"), "float"]:
        show(*[attempt(f) for f in (lambda: x.to(dtype).dtype, lambda: x.to(dtype=dtype).dtype, lambda: mg.tensor([1.5], dtype=dtype),
                                    lambda: mg.zeros(1, dtype=dtype))])


def made_of_what_it_warns_of(mg):
    x = mg.ones(2)
    show(x.new_tensor(x), mg.tensor(x), mg.tensor([[1.0, 2.0], np.ones(2)]), mg.tensor([np.ones(2)]))


def functions_in_place(mg):
    """What a Tensor method does in place there is a function for, too."""
    x = mg.tensor([-1.0, 4.0])
    show(mg.relu_(x) is x, x, mg.exp_(mg.zeros(1)), mg.clamp_(mg.tensor([5.0]), 0, 1), mg.zero_(mg.ones(2)), mg.fill_(mg.ones(2), 3))
    show(mg.tanh_(mg.ones(1, requires_grad=True) * 2).grad_fn, attempt(lambda: mg.relu_(mg.ones(1, requires_grad=True))))
    show(attempt(lambda: mg.sigmoid_([1.0])), attempt(lambda: mg.clamp_(x)), attempt(lambda: mg.clamp_min_(x, "a")),
         attempt(lambda: mg.exp_()))


def hooks_of_a_wrong_size(mg):
    for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        for new in [(mg.ones(3),), mg.ones(3), (), 3]:
            linear = mg.nn.Linear(1, 1)
            getattr(linear, register)(lambda *_: new)
            show(register, attempt(lambda: linear(mg.ones(1, 1, requires_grad=True)).backward()))


def counts_with_weights(mg):
    numbers = mg.tensor([0, 1, 1])
    for weights in [None, mg.ones(3), mg.ones(3).double(), mg.tensor([1, 2, 3]), mg.tensor([True, True, False]), mg.ones(2)]:
        show(attempt(lambda: mg.bincount(numbers, weights)), attempt(lambda: mg.bincount(numbers, weights, minlength=4)))
    show(attempt(lambda: mg.bincount(numbers, minlength=-1)), mg.bincount(numbers[:0]), mg.bincount(numbers[:0], mg.ones(0)))


def hooks_of_a_module_that_is_gone(mg):
    """The old kind of backward hook does not keep its module alive, the full kind does."""
    class Double(mg.nn.Module):
        def forward(self, x):
            return x * 2

    x = mg.ones(1, requires_grad=True)
    for register in ("register_backward_hook", "register_full_backward_hook", "register_full_backward_pre_hook"):
        double = Double()
        getattr(double, register)(lambda module, *grads: show(type(module).__name__, len(grads)))
        y = double(x)
        y.backward()
        y = double(x)
        del double
        show(register, attempt(lambda: y.backward()))


def losses_and_layers_of_nothing(mg):
    """An empty batch: the mean is NaN, gradients are empty, running averages stay."""
    F, nn = mg.nn.functional, mg.nn
    for loss in [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits, F.binary_cross_entropy]:
        for reduction in ["mean", "sum", "none"]:
            a, b = mg.zeros(0, 3, requires_grad=True), mg.zeros(0, 3, requires_grad=True)
            value = loss(a, b, reduction=reduction)
            value.sum().backward()
            show(loss.__name__, reduction, value, a.grad, b.grad)
    a, b = mg.zeros(0, 3, requires_grad=True), mg.zeros(3, requires_grad=True)
    F.mse_loss(a, b).backward()
    norm = nn.BatchNorm1d(3)
    show(b.grad, norm(a), norm(a).grad_fn, norm.running_mean, norm.running_var, norm.num_batches_tracked)
    norm(a).sum().backward()
    show(norm.weight.grad, F.batch_norm(a, None, None, training=True).grad_fn)


def cross_products_that_do_not_fit(mg):
    for shapes in [((2, 3), (4, 3)), ((2, 3), (1, 3)), ((2, 3), (3,)), ((2, 4), (2, 4))]:
        a, b = (mg.arange(12.0)[:mg.Size(shape).numel()].view(shape) for shape in shapes)
        show(attempt(lambda: mg.linalg.cross(a, b)), attempt(lambda: mg.cross(a, b, dim=-1)))


def steps_that_do_not_fit(mg):
    """The state of another model's optimizer, data that were exchanged, a parameter that repeats one number."""
    optim = mg.optim
    for make in [lambda p: optim.SGD(p, lr=0.5, momentum=0.5), lambda p: optim.Adam(p, lr=0.5), lambda p: optim.RMSprop(p, lr=0.5)]:
        for old, new in [((2,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((1,), (3,)), ((3,), (1,))]:
            saved, w = mg.ones(old, requires_grad=True), mg.ones(new, requires_grad=True)
            saved.grad, w.grad = mg.ones(old), mg.ones(new)
            first, second = make([saved]), make([w])
            first.step()
            second.load_state_dict(first.state_dict())
            show(old, new, attempt(lambda: second.step()), w)
        expanded = mg.ones(1).expand(3).requires_grad_()
        expanded.grad = mg.ones(3)
        show(attempt(lambda: make([expanded]).step()))
    w = mg.ones(2, requires_grad=True)
    w.grad = mg.ones(2)
    for shape in [(3,), (2, 2), (1,)]:
        w.data = mg.ones(shape)
        show(attempt(lambda: optim.SGD([w], lr=0.5).step()))


def layers_of_types(mg):
    """Whole numbers, masks and float64 in layers and activations that know float32 only, and a tensor without dimensions."""
    F, nn = mg.nn.functional, mg.nn
    inputs = [mg.arange(6).view(2, 3), mg.tensor([[True, False, True]]), mg.ones(2, 3, dtype=mg.uint8),
              mg.ones(2, 3).double(), mg.tensor(1.5)]
    functions = [F.relu, F.relu6, F.leaky_relu, F.elu, F.selu, F.gelu, F.silu, F.softplus, F.softsign, F.hardtanh, F.sigmoid, F.tanh,
                 lambda x: F.gelu(x, approximate="tanh"), lambda x: F.softmax(x, -1), lambda x: F.threshold(x, 0, 1),
                 lambda x: F.dropout(x, 1.0), lambda x: F.hardtanh(x, 0, 1), lambda x: F.elu(x.clone(), inplace=True),
                 nn.LayerNorm(3), nn.LayerNorm(2),
                 nn.LayerNorm(3, elementwise_affine=False), nn.BatchNorm1d(3), nn.LayerNorm(2).double()]
    for i, function in enumerate(functions):
        results = [attempt(lambda: function(x)) for x in inputs]
        show(i, *[result if isinstance(result, Exception) else (result.dtype, result.shape) for result in results])
    show(F.logsigmoid(mg.tensor(1.5)))


def types_that_do_not_meet(mg):
    """Distances, steps and sums of products of tensors of two types; a mask as a target."""
    types = [mg.float32, mg.float64, mg.int64, mg.bool]
    for a in types:
        for b in types:
            x, y = mg.tensor([1, 0, 1]).to(a), mg.tensor([1, 1, 0]).to(b)
            show(*[attempt(f) for f in (lambda: mg.dist(x, y), lambda: mg.heaviside(x, y), lambda: mg.tensordot(x, y, 1),
                                        lambda: mg.nn.functional.binary_cross_entropy_with_logits(x, y), lambda: mg.einsum("i,i->", x, y))])
    show(attempt(lambda: mg.eye(2).bool().trace()))


def norms_of_nothing(mg):
    for shape in [(0,), (0, 3), (3, 0)]:
        for order in [float("inf"), -1, 2, 0]:
            show(*[attempt(lambda: mg.zeros(shape).norm(order, dim=dim)) for dim in (None, 0, -1)])


def class_weights_that_do_not_fit(mg):
    F, x = mg.nn.functional, (mg.arange(6.0).view(2, 3) - 2) / 2
    for scores, target in [(x, x.softmax(1)), (x[0], x[0].softmax(0)), (x, mg.tensor([0, 2])), (x[0], mg.tensor(1)), (x[0], mg.tensor([1])),
                           (x[0], mg.tensor([1, 2, 0])), (x[0], mg.tensor([[1]]))]:
        for weight in [None, mg.tensor([1.0, 2.0, 0.5]), mg.tensor([1.0, 2.0])]:
            show(attempt(lambda: F.cross_entropy(scores, target, weight)), attempt(lambda: F.nll_loss(scores, target, weight)))
