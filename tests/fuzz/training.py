"""Still more statements: modules, their hooks, optimizers, Functions of several arguments, hooks on leaves, functional derivatives."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .generate import Writer

# A user's Function of several arguments: their names, what forward does, the gradients' names, what backward does, and what it is
# applied to ({a}: a tensor, {b}: one that broadcasts with it).
FUNCTIONS = [
    ("x, y", "(ctx.save_for_backward(x, y), x * y)[1]", "g", "(g * ctx.saved_tensors[1], g * ctx.saved_tensors[0])", "{a}, {b}"),
    ("x, y", "x + y", "g", "(log(ctx.needs_input_grad), (g, g * 2))[1]", "{a}, {b}"), ("x, y", "x - y", "g", "(g, None)", "{a}, {b}"),
    ("x, n", "(setattr(ctx, 'n', n), x * n)[1]", "g", "(g * ctx.n, None)", "{a}, 3"),
    ("x", "(ctx.set_materialize_grads(False), (x * 2, x * 3))[1]", "g, h", "(log(g, h), h if g is None else g)[1]", "{a}"),
    ("x", "(x * 2, 5, None)", "g, h, i", "(log(h, i), g)[1]", "{a}"), ("x", "x.mul_(2)", "g", "g * 2", "{a}"),
    ("x", "(ctx.mark_dirty(x), x.add_(1), (x, x * 2))[2]", "g, h", "g + h", "{a}"),
    ("x, y", "(ctx.mark_dirty(y), y.copy_(x))[1]", "g", "(g, None)", "{a}, {b}"),
    ("x", "(setattr(ctx, 'x', x), x * x)[1]", "g", "g * 2 * ctx.x", "{a}"), ("x", "x.sort(-1)", "g, h", "(log(h), g)[1]", "{a}"),
    ("x", "(ctx.mark_non_differentiable(i := x > 0), x * i, i)[1:]", "g, h", "(log(h), g)[1]", "{a}"),
    ("x", "x * 2", "g", "(log(ctx.saved_tensors), g.sum())[1]", "{a}"),
    ("*xs", "xs[0] * 2", "g", "(g * 2, *[None] * (len(ctx.needs_input_grad) - 1))", "{a}, {b}, 1"),
    ("x", "(ctx.save_for_backward(x), x.exp())[1]", "g", "mg.autograd.grad((x := ctx.saved_tensors[0]) * 2, x, g)[0]", "{a}"),
]
SPLIT = ("'forward': staticmethod(lambda x: x * 2), 'setup_context': staticmethod(lambda ctx, inputs, output: ctx.save_for_backward("
         "inputs[0], output)), 'backward': staticmethod(lambda ctx, g: g * ctx.saved_tensors[1])")
LAYERS = ["Linear({n}, 2)", "Linear({n}, 1, bias=False)", "Sequential(mg.nn.Linear({n}, 2), mg.nn.Tanh())", "LayerNorm({n})", "ReLU()",
          "Sequential(mg.nn.Linear({n}, {n}), mg.nn.ReLU(inplace=True))", "Flatten(0)", "Dropout(0.0)", "Softmax(-1)", "MSELoss()"]
OPTIMIZERS = ["SGD({p}, lr=0.5)", "SGD({p}, lr=0.5, momentum=0.5)", "SGD({p}, lr=0.5, momentum=0.5, nesterov=True, weight_decay=0.5)",
              "Adam({p}, lr=1)", "AdamW({p}, lr=0.5, amsgrad=True)", "SGD({p}, lr=1, maximize=True)", "RMSprop({p}, lr=0.5, momentum=0.5)"]
FUNCTIONALS = ["jacobian({f}, {a})", "hessian(lambda x: ({f})(x).sum(), {a})", "vjp({f}, {a}, mg.ones_like(({f})({a})))[1]",
               "jacobian({f}, {a}, create_graph=True)", "hvp(lambda x: ({f})(x).sum(), {a}, mg.ones_like({a}))[1]",
               "jvp({f}, {a}, mg.ones_like({a}))[1]"]


def numbered(w: Writer, letter: str) -> list[str]:
    """The program's names that are a letter and a number."""
    return [n for n in w.names if n[0] == letter and n[1:].isdigit()]


def function(w: Writer) -> str:
    """A Function of several arguments, and what it gives."""
    names, forward, grads, backward, given = w.rng.choice(FUNCTIONS)
    body = (f"'forward': staticmethod(lambda ctx, {names}: {forward}), 'backward': staticmethod(lambda ctx, {grads}: {backward})")
    several = "," in grads and w.chance(0.9)
    if w.chance(0.1):
        body, given, several = SPLIT, "{a}", False
    a = w.floating()
    given = given.format(a=a, b=w.like(a))
    return f"{w.new()} = type('G', (mg.autograd.Function,), {{{body}}}).apply({given}){'[0]' * several}"


def module(w: Writer) -> str:
    """A line that makes a module, or does something with one that there is."""
    modules = numbered(w, "m")
    a = w.tensor(lambda t: t.dim() > 0 and t.dtype.is_floating_point and t.numel() > 0 and t.element_size() > 2)    # no mixed half
    if not modules or w.chance(0.25):
        m, n = f"m{len(modules)}", w.names[a].shape[-1] if w.names[a].dim() else 1
        double = ".double()" if str(w.names[a].dtype) == "torch.float64" else ""
        parameter = f"; {w.new()} = list({m}.parameters())[0]" if w.chance(0.5) else ""
        return f"mg.manual_seed(0); {m} = mg.nn.{w.rng.choice(LAYERS).format(n=n)}{double}{parameter}"
    m = w.rng.choice(modules)
    if w.chance(0.6):
        target = f", {w.like(a)}" if type(w.names[m]).__name__ == "MSELoss" else ""
        return f"{w.new()} = {m}({a}{target})" if target or w.chance(0.8) else f"{m}({m}({a})).sum().backward()"
    return f"{m}." + w.pick(
        "eval()", "train()", "zero_grad()", "zero_grad(set_to_none=False)", f"requires_grad_({w.pick('', 'False')})",
        f"eval(); {m} = copy.deepcopy({m}).double()",
        f"eval(); log([n for n, p in {m}.named_parameters()], repr({m}))", f"train(); log(list({m}.state_dict().values()))",
        f"load_state_dict({{k: t * 2 for k, t in {m}.state_dict().items()}})", f"copy = copy.deepcopy({m})", "weight.data.fill_(0.5)",
        f"norm = mg.nn.utils.clip_grad_norm_({m}.parameters(), 1.0); log({m}.norm)", f"weight = mg.nn.Parameter({a}.detach())",
        f"register_buffer('b', {a}.detach()); log(list({m}.buffers()))", f"train(); log([p.grad for p in {m}.parameters()])",
        "register_forward_hook(lambda m, i, o: log('forward', i, o))", "register_forward_hook(lambda m, i, o: o * 2)",
        "register_forward_pre_hook(lambda m, i: log('pre', i))", "register_forward_pre_hook(lambda m, i: (i[0] * 2, *i[1:]))",
        "register_full_backward_hook(lambda m, i, o: log('full', i, o))", "register_full_backward_hook(lambda m, i, o: (i[0] and None,))",
        "register_full_backward_pre_hook(lambda m, o: log('full pre', o))",
        "register_full_backward_hook(lambda m, i, o: tuple(g if g is None else g * 2 for g in i))")


def optimizer(w: Writer) -> str:
    """A line that makes an optimizer, or lets one step."""
    optimizers, modules = numbered(w, "o"), numbered(w, "m")
    if not optimizers or w.chance(0.25):
        parameters = f"{w.rng.choice(modules)}.parameters()" if modules and w.chance(0.4) else f"[{w.leaf()}]"
        return f"o{len(optimizers)} = mg.optim.{w.rng.choice(OPTIMIZERS).format(p=parameters)}"
    o = w.rng.choice(optimizers)
    if w.chance(0.5):
        return f"{o}.step()"
    return w.pick(f"{o}.zero_grad()", f"{o}.zero_grad(set_to_none=False)", f"{o}.param_groups[0]['lr'] = 0.25", f"log(repr({o}))",
                  f"log([list(s.values()) for s in {o}.state_dict()['state'].values()])", f"{o}.add_param_group({{'params': {w.leaf()}}})",
                  f"{o}.load_state_dict(copy.deepcopy({o}.state_dict()))", f"{o}.step(lambda: (log('closure'), {w.recorded()}.sum())[1])",
                  f"mg.optim.lr_scheduler.StepLR({o}, 1, 0.5).step(); log({o}.param_groups[0]['lr'])")


def hook(w: Writer) -> str:
    """Hooks on leaves and their nodes, hooks that do more, and nodes that are run by hand."""
    a, c, x = w.recorded(), w.computed(), w.leaf()
    same = w.tensor(lambda t: t.shape == w.names[a].shape and t.dtype == w.names[a].dtype)
    node, post = f"h = {x}.view_as({x}).grad_fn.next_functions[0][0]; ", f"{x}.register_post_accumulate_grad_hook(lambda t: "
    return w.pick(
        f"{a}.register_hook(lambda g: g * {same})", f"{a}.register_hook(lambda g: g.detach().clone())",
        f"{c}.register_hook(lambda g: log('g', g, {c}.grad))", f"h = {a}.register_hook(lambda g: (h.remove(), log('once', g))[1])",
        f"{post}setattr(t, 'grad', None))", f"{post}t.data.sub_(t.grad))", f"{post}t.data.sub_(t.grad) is None or None)", f"{post}log(t))",
        f"{node}h.register_hook(lambda i, o: log('leaf', i, o))", f"{node}h.register_prehook(lambda o: log('leaf', o))",
        f"{node}h.register_prehook(lambda o: (o[0] * 2,))", f"{node}log(h.name(), h.variable is {x})",
        f"log({c}.grad_fn(mg.ones_like({c})))", f"log({c}.grad_fn.name(), len({c}.grad_fn.next_functions), {c}.grad_fn.metadata)",
        f"{c}.sum().backward(inputs=[{a}], create_graph=True)", f"with {x}.register_hook(lambda g: g * 3): {c}.sum().backward()",
        f"log(mg.autograd.graph.get_gradient_edge({a})[1])")


def functional(w: Writer) -> str:
    """A derivative by `autograd.functional`."""
    a = w.tensor(lambda t: t.dtype.is_floating_point and 0 < t.numel() < 5)
    f = w.pick("lambda x: x * x", f"lambda x: x * {w.like(a)}", "lambda x: x.exp().sum()", "lambda x: x.sum() * 2",
               "lambda x: x.reshape(-1)[0] ** 3")
    return f"mg.autograd.functional.{w.rng.choice(FUNCTIONALS).format(f=f, a=a)}.clone()"


def converted(w: Writer) -> str:
    """Casts, copies and sums of other kinds; anomaly mode."""
    a, c = w.tensor(), w.computed()
    if w.chance(0.1):
        return w.pick(f"with mg.autograd.set_detect_anomaly(True): {c}.sum().backward()", f"[{a}.add_(1) for _ in range(3)]")
    return f"{w.new()} = " + w.pick(
        f"{a}.to(mg.{w.pick('float64', 'float32', 'int64', 'bool', 'float16')}, copy=True)", f"copy.copy({a})", f"mg.tensor({a})",
        f"{a}.clone(memory_format=mg.contiguous_format)", f"{a}.{w.pick('half', 'int', 'bool', 'short', 'byte')}()", f"mg.asarray({a})",
        f"mg.zeros_like({a}, memory_format=mg.preserve_format)", f"{a}.to({w.tensor()}.dtype)", f"sum([{a}, {w.like(a)}, {c}])",
        f"mg.cat([{a}.reshape(-1), {c}.reshape(-1)])", f"mg.stack([x.sum() for x in {a}])", f"{a}.__deepcopy__({{}})")


EXPRESSIONS: dict[Callable[[Writer], str], int] = {functional: 1}
STATEMENTS: dict[Callable[[Writer], str], int] = {function: 4, module: 5, optimizer: 4, hook: 4, converted: 3}
