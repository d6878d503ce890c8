"""Optimizers move parameters as PyTorch's do, and say the same to mistakes."""
from __future__ import annotations

from functools import partial

import pytest

import minigrad
from minigrad import picture
from tests.recorded import cases_in, differences_from_pytorch, recorded
from tests.truth.harness import attempt, compare, run, show

SGD = [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
       {"momentum": 0.9, "nesterov": True},
       {"maximize": True, "weight_decay": 0.2}]
ADAM = [("Adam", {}), ("Adam", {"weight_decay": 0.1, "amsgrad": True}), ("AdamW", {}),
        ("AdamW", {"weight_decay": 0.3, "maximize": True, "betas": (0.5, 0.7), "eps": 1e-3}),
        ("Adam", {"decoupled_weight_decay": True})]


def walk(mg, name, options):
    """Some steps down a bowl: where they lead, what the version counts, what is remembered."""
    p = mg.tensor([1.0, 2.0, -3.0], dtype=mg.float64, requires_grad=True)
    optimizer = getattr(mg.optim, name)([p], lr=0.1, **options)
    for _ in range(4):
        optimizer.zero_grad()
        (p**2).sum().backward()
        optimizer.step()
    return p, optimizer


def case_sgd(mg):
    for options in SGD:
        p, optimizer = walk(mg, "SGD", options)
        show(p, p._version, optimizer.state_dict()["state"])


def case_adam(mg):
    for name, options in ADAM:
        p, optimizer = walk(mg, name, options)
        show(name, p, p._version, optimizer.state_dict()["state"])


def case_printed(mg):
    p = mg.ones(1, requires_grad=True)
    for optimizer in (mg.optim.SGD([p], lr=0.5), mg.optim.Adam([p]), mg.optim.AdamW([{"params": [p], "lr": 3}])):
        print(optimizer)


def case_groups(mg):
    p, q, r = (mg.ones(1, requires_grad=True) for _ in range(3))
    optimizer = mg.optim.SGD([{"params": [p]}, {"params": q, "lr": 0.5}], lr=0.1, momentum=0.9)
    optimizer.add_param_group({"params": [r], "momentum": 0})
    show([(g["lr"], g["momentum"], len(g["params"])) for g in optimizer.param_groups])
    optimizer.param_groups[0]["lr"] = 1.0
    (p + q + r).sum().backward()
    optimizer.step()
    show(p, q, r, [list(state) for state in optimizer.state.values()])
    named = mg.optim.SGD([("first", p)], lr=1)
    show(named.param_groups[0]["param_names"], named.param_groups[0]["params"][0] is p)


def case_mistakes(mg):
    optim, p, q = mg.optim, mg.ones(1, requires_grad=True), mg.ones(1, requires_grad=True)
    for make in (lambda: optim.SGD([p], lr=-1), lambda: optim.SGD([p], momentum=-1),
                 lambda: optim.SGD([p], weight_decay=-1),
                 lambda: optim.SGD([p], nesterov=True), lambda: optim.Adam([p], eps=-1),
                 lambda: optim.Adam([p], betas=(1.0, 0)),
                 lambda: optim.Adam([p], betas=(0.1, 1)), lambda: optim.Adam([p], weight_decay=-1),
                 lambda: optim.SGD([], lr=1),
                 lambda: optim.SGD(p, lr=1), lambda: optim.SGD([p * 2], lr=1), lambda: optim.SGD([3], lr=1),
                 lambda: optim.SGD([{"params": {p}}], lr=1), lambda: optim.SGD([{"params": [p]}, {"params": [p]}],
                                                                               lr=1),
                 lambda: optim.SGD([p], lr=1).add_param_group(3), lambda: optim.SGD([("a", p), q], lr=1),
                 lambda: optim.SGD([p], lr=1).load_state_dict(optim.SGD([{"params": [p]}, {"params": [q]}],
                                                                        lr=1).state_dict()),
                 lambda: optim.SGD([p], lr=1).load_state_dict(optim.SGD([p, q], lr=1).state_dict())):
        show(attempt(make))


def case_calls_that_do_not_fit(mg):
    w, optim = mg.ones(1, requires_grad=True), mg.optim
    for optimizer in (optim.SGD([w]), optim.Adam([w]), optim.AdamW([w], foreach=True)):
        print(optimizer.state_dict())
        show(attempt(partial(optimizer.step, 1, 2)), attempt(partial(optimizer.step, foo=1)), attempt(partial(optimizer.zero_grad, 1, 2)))
    for make in (lambda: optim.SGD([w], lr="a"), lambda: optim.SGD([w], momentum=None), lambda: optim.Adam([w], lr="a"),
                 lambda: optim.Adam([w], betas=(0.9,)), lambda: optim.Adam([w], betas=1), lambda: optim.Adam([w], eps="a"),
                 lambda: optim.Optimizer([w], {}).step(), lambda: optim.SGD([w], capturable=True)):
        show(attempt(make))


def case_an_optimizer_of_ones_own(mg):
    class Signs(mg.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def step(self):
            with mg.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        p -= group["lr"] * p.grad.sign()

    w = mg.tensor([1.0, -2.0], requires_grad=True)
    optimizer = Signs([w], 0.25)
    optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: show("before", len(args), kwargs))
    optimizer.register_step_post_hook(lambda optimizer, args, kwargs: show("after", w))
    (w**2).sum().backward()
    optimizer.step()
    show(w, w._version, attempt(lambda: optimizer.step(None)))


SCHEDULES = {"StepLR": {"step_size": 2}, "LambdaLR": {"lr_lambda": lambda epoch: 0.5**epoch}}


def scheduled(mg, name):
    w = mg.ones(2, requires_grad=True)
    optimizer = mg.optim.SGD([{"params": [w]}, {"params": [mg.ones(1)], "lr": 0.5}], lr=0.1)
    return w, optimizer, getattr(mg.optim.lr_scheduler, name)(optimizer, **SCHEDULES[name])


def case_learning_rates(mg):
    for name in SCHEDULES:
        w, optimizer, scheduler = scheduled(mg, name)
        for _ in range(9):
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()
            scheduler.step()
            print([round(rate, 12) for rate in scheduler.get_last_lr()], round(optimizer.param_groups[1]["lr"], 12))
        show(w, list(scheduler.state_dict()), list(optimizer.state_dict()["param_groups"][0]))
        _, _, twin = scheduled(mg, name)
        twin.load_state_dict(scheduler.state_dict())
        show(twin.last_epoch, twin.get_last_lr() == scheduler.get_last_lr(), twin.base_lrs, twin.optimizer is optimizer)
    print(optimizer)


def case_mistakes_with_schedulers(mg):
    schedules, optimizer = mg.optim.lr_scheduler, mg.optim.SGD([mg.ones(1)], lr=1.0)
    for name in SCHEDULES:
        _, _, scheduler = scheduled(mg, name)
        scheduler.step()
        scheduler.step()
        show([round(rate, 12) for rate in scheduler.get_lr()])
    for make in (lambda: schedules.StepLR(3, 2), lambda: schedules.LambdaLR(optimizer, [abs, abs]), lambda: schedules.StepLR(optimizer),
                 lambda: schedules.LRScheduler(optimizer)):
        show(attempt(make))


def case_state_is_taken_over(mg):
    for name in ("SGD", "Adam"):
        p, old = walk(mg, name, {"momentum": 0.9} if name == "SGD" else {})
        q = p.detach().clone().requires_grad_()
        new = getattr(mg.optim, name)([q], lr=3.0)
        new.load_state_dict(old.state_dict())
        for t, optimizer in ((p, old), (q, new)):
            optimizer.zero_grad()
            (t**2).sum().backward()
            optimizer.step()
        show(mg.equal(p, q), new.param_groups[0]["lr"], new.state[q].keys() == old.state[p].keys())


def case_gradients(mg):
    """None is skipped, zero is not; a closure is called with recording on; the graph of before cannot be used after."""
    p, q = mg.ones(2, requires_grad=True), mg.ones(2, requires_grad=True)
    optimizer = mg.optim.SGD([p, q], lr=0.5, weight_decay=0.5)
    p.grad = mg.zeros(2)
    optimizer.step()
    show(p, q, p._version, q._version)
    optimizer.zero_grad(set_to_none=False)
    show(p.grad, q.grad)
    optimizer.zero_grad()
    show(p.grad)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with mg.no_grad():
        show(optimizer.step(closure), p.grad)
    y = (p * p).sum()
    optimizer.step()
    show(attempt(y.backward))


def case_hooks(mg):
    p = mg.ones(1, requires_grad=True)
    optimizer = mg.optim.SGD([p], lr=1)
    before = optimizer.register_step_pre_hook(lambda o, args,
                                              kwargs: print("before", o is optimizer, len(args), kwargs))
    optimizer.register_step_post_hook(lambda o, args, kwargs: print("after", p.item()))
    p.grad = mg.ones(1)
    optimizer.step()
    before.remove()
    optimizer.step()


CASES = cases_in(globals())


@pytest.mark.parametrize("name", CASES)
def test_moves_as_pytorch_did(name):
    assert not compare(recorded("optim")[name], run(CASES[name], minigrad))


def test_the_record_is_pytorch():
    assert not differences_from_pytorch("optim", CASES)


def test_a_wrong_step_is_found(monkeypatch):
    monkeypatch.setattr(minigrad.optim.SGD, "_update", lambda self, p, grad, group: p.array.__isub__(grad))
    assert compare(recorded("optim")["sgd"], run(CASES["sgd"], minigrad))


@pytest.mark.parametrize("mode", ["fused", "differentiable", "capturable"])
def test_a_mode_that_minigrad_lacks_is_refused(mode):
    with pytest.raises(NotImplementedError, match=f"do not have {mode}=True"):
        minigrad.optim.AdamW([minigrad.ones(1, requires_grad=True)], **{mode: True})


def test_a_recorded_picture_shows_what_a_step_moved():
    w, still = minigrad.tensor([1.0, 2.0], requires_grad=True), minigrad.ones(1, requires_grad=True)
    optimizer = minigrad.optim.SGD([w, still], lr=0.5)
    with picture.record() as recorder:
        (w * w).sum().backward()
        optimizer.step()
    first, step = recorder.calls[0], recorder.calls[-1]
    assert (first.inputs[0].card.value, step.outputs[0].card.value) == ("[1., 2.]", "[0., 0.]")
    assert (step.text, step.inplace, step.block) == ("optimizer.step()", True, (0, "recording is off"))
    assert [slot.tensor for slot in step.outputs] == [w]
