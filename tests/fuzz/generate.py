"""Write random programs, one line at a time, knowing the tensors that the lines before have made.

A line is one statement on the names ``mg`` (the library), ``log`` (for hooks) and ``v0, v1, …``. Most lines are valid; some are
wrong on purpose or by chance, since an error and the state after it are compared too.
"""
from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from . import training, wider
from .look import address

SHAPES = [(), (1,), (2,), (3,), (4,), (2, 3), (3, 2), (2, 2), (1, 3), (2, 1), (2, 1, 2), (2, 2, 3), (4, 2), (0,), (2, 0)]
UNARY = ("neg abs exp log sqrt sin cos tanh sigmoid relu square reciprocal sign log1p expm1 rsqrt floor round atan erf "
         "softplus silu").split()
REDUCE = "sum mean prod amax amin var std norm logsumexp cumsum max min argmax any all median cumprod softmax".split()
IN_PLACE = ("zero_() neg_() exp_() tanh_() sigmoid_() relu_() sqrt_() abs_() square_() fill_(2.0) clamp_(-1.0, 1.0) mul_(2) add_(1) "
            "sub_(0.5) div_(2) pow_(2) reciprocal_() unsqueeze_(0) squeeze_() t_()").split(") ")
Statement = Callable[["Writer"], str]


class Writer:
    """Writes statements about the live tensors in `names` (PyTorch's, so that shapes are known)."""

    def __init__(self, rng: random.Random, names: dict[str, Any]) -> None:
        self.rng, self.names, self.count = rng, names, 0
        self.double = rng.choice([0.2, 0.2, 0.2, 0.2, 1.0])     # how often a new tensor is a float64
        self.made: set[str] = set()         # names of tensors made from numbers; asking .is_leaf would renew a view's history

    # Parts of a statement ---------------------------------------------------------------------------------------------

    def pick(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def new(self) -> str:
        self.count += 1
        return f"v{self.count - 1}"

    def tensor(self, good: Callable[[Any], bool] = lambda t: True) -> str:
        """A live tensor, mostly one for which `good` holds, mostly a recent one."""
        live = [n for n, t in self.names.items() if n[0] == "v" and hasattr(t, "untyped_storage")]
        fitting = [n for n in live if good(self.names[n])] if self.chance(0.95) else live
        fitting = fitting or live
        return self.rng.choice(fitting[-3:] if self.chance(0.5) else fitting)

    def floating(self) -> str:
        return self.tensor(lambda t: t.dtype.is_floating_point)

    def recorded(self) -> str:
        return self.tensor(lambda t: t.requires_grad)

    def computed(self) -> str:
        made = {id(t) for n, t in self.names.items() if n in self.made}
        return self.tensor(lambda t: t.requires_grad and id(t) not in made)

    def leaf(self) -> str:
        made = {id(t) for n, t in self.names.items() if n in self.made}
        return self.tensor(lambda t: t.requires_grad and id(t) in made)

    def like(self, name: str) -> str:
        """A tensor that broadcasts with another one."""
        shape = self.names[name].shape
        return self.tensor(lambda t: all(a == b or 1 in (a, b) for a, b in zip(t.shape[::-1], shape[::-1])))

    def shares_memory(self, name: str) -> bool:
        """Whether another live tensor looks into the same memory."""
        begin = address(self.names[name])
        return self.names[name]._base is not None or any(
            n != name and address(t) == begin for n, t in self.names.items()
            if n[0] == "v" and hasattr(t, "untyped_storage"))

    def shares(self, name: str, other: str) -> bool:
        """Whether two tensors share memory, and at least one does not fill its part: what a write reads then is left open."""
        a, b = self.names[name], self.names.get(other)
        return (b is not None and a is not b and address(a) == address(b)
                and not (a.is_contiguous() and b.is_contiguous()))

    def number(self) -> str:
        return self.pick("2", "0.5", "-1.5", "3.0", "1", "-2")

    def dim(self, name: str) -> str:
        n = self.names[name].dim()
        return str(self.rng.randrange(-n, n) if n and self.chance(0.96) else self.pick(0, -1, 1, 2, 5))

    def literal(self, shape: tuple[int, ...], make: Callable[[], str]) -> str:
        return f"[{', '.join(self.literal(shape[1:], make) for _ in range(shape[0]))}]" if shape else make()

    def index(self, name: str) -> str:
        shape, parts = tuple(self.names[name].shape), []
        for n in shape[:self.rng.randint(1, 2)]:
            i = self.rng.randrange(-n, n) if n else 0
            parts.append(self.pick(str(i), f"{self.rng.randint(0, 1)}:", f":{self.rng.randint(0, n)}", ":", "::2", "None", "...",
                                   f"[{i}, {i}]", f"mg.tensor([{i}])", str(i), f"{abs(i)}:{abs(i) + 1}",
                                   "9" if self.chance(0.1) else "0"))
        masks = [m for m, t in self.names.items() if m[0] == "v" and hasattr(t, "untyped_storage") and str(t.dtype) == "torch.bool"
                 and tuple(t.shape) == shape]
        return self.rng.choice(masks) if masks and self.chance(0.5) else ", ".join(parts) or "..."

    def view(self, name: str) -> str:
        """An expression for a view of a tensor (or a copy in its shape)."""
        t, d = self.names[name], self.dim(name)
        n = max(t.numel(), 1)
        rows = t.shape[int(d)] if t.dim() and -t.dim() <= int(d) < t.dim() else 1
        order = list(range(t.dim()))
        self.rng.shuffle(order)
        start = self.rng.randint(0, max(rows - 1, 0))
        return name + self.pick(
            ".view(-1)", f".view({n})", ".reshape(-1)", f".reshape({n}, 1)", ".t()", f".transpose({d}, {self.dim(name)})",
            f".select({d}, {start})", f".narrow({d}, {start}, 1)", f".unsqueeze({d})", ".squeeze()", f".squeeze({d})",
            f".expand({', '.join(str(k if k != 1 else 2) for k in t.shape) or 2})", f".expand(2, {', '.join(['-1'] * t.dim()) or 1})",
            f".permute({', '.join(map(str, order))})" if order else ".permute(())", f".unbind({d})[0]", f".split(1, {d})[-1]",
            f".chunk(2, {d})[0]", ".diagonal()", f"[{self.index(name)}]", f"[{self.index(name)}]", ".flatten()", ".contiguous()",
            ".detach()", ".view_as(" + name + ")", ".T" if t.dim() == 2 else ".t()", ".movedim(0, -1)", ".data", ".expand_as(" + name + ")")

    def expression(self) -> str:
        """An expression that makes a new tensor."""
        return self.rng.choices(list(EXPRESSIONS), list(EXPRESSIONS.values()))[0](self)

    # Statements -------------------------------------------------------------------------------------------------------

    def line(self) -> str:
        """The next line of the program."""
        statement = self.simple()
        if self.chance(0.14):
            more = f"; {self.simple()}" if self.chance(0.3) else ""
            entered = "mg.no_grad()" if self.chance(0.6) else self.pick("mg.enable_grad()", wider.context(self), wider.context(self))
            if "manual_seed" in statement + more:
                entered = "mg.no_grad()"
            if entered == "mg.inference_mode()":     # what PyTorch records of a leaf made inside follows its dispatcher
                leaf = r", requires_grad=True|\.requires_grad(_\(\)| = True)|(?<== )copy\.(deep)?copy|\.__deepcopy__\({}\)"
                statement, more = (re.sub(leaf, "", part) for part in (statement, more))
            statement = f"with {entered}: {statement}{more}"
        return statement

    def simple(self) -> str:
        if len([n for n in self.names if n[0] == "v"]) < 2:
            return create(self)
        return self.rng.choices(list(STATEMENTS), list(STATEMENTS.values()))[0](self)


def create(w: Writer) -> str:
    kind = w.pick("float", "float", "float", "float", "int", "bool")
    shape = w.rng.choice(SHAPES)
    flag = ", requires_grad=True" if kind == "float" and w.chance(0.7) else ""
    dtype = ", dtype=mg.float64" if kind == "float" and w.chance(w.double) else ""
    make = {"float": lambda: str(w.rng.randint(-6, 6) / 2), "int": lambda: str(w.rng.randint(-3, 3)),
            "bool": lambda: str(w.chance(0.5))}[kind]
    sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    data = w.literal(shape, make)
    dtype = dtype or (f", dtype=mg.{kind.replace('int', 'int64')}" if 0 in shape and kind != "float" else "")
    made = w.pick(f"tensor({data}{dtype}{flag})", f"tensor({data}{dtype}{flag})", f"tensor({data}{dtype}{flag})",
                  f"full(({sizes}), 1.5{dtype}{flag})" if kind == "float" else f"tensor({data}{dtype})",
                  f"ones(({sizes}){dtype}{flag})", f"zeros(({sizes}){dtype}{flag})")
    name = w.new()
    w.made.add(name)
    return f"{name} = mg.{made}"


def binary(w: Writer) -> str:
    a = w.tensor()
    b = w.like(a) if w.chance(0.7) else w.number()
    if w.chance(0.7):
        left, right = (a, b) if w.chance(0.8) else (b, a)
        return f"{left} {w.pick('+', '-', '*', '*', '/', '**')} {right}"
    return w.pick(f"mg.maximum({a}, {w.like(a)})", f"mg.where({a} > 0, {a}, {b})", f"{a} {w.pick('>', '<', '==', '>=', '!=')} {b}",
                  f"mg.minimum({a}, {w.like(a)})", f"mg.add({a} * 1.0, {b}, alpha=2)", f"mg.sub({a}, {b})",
                  f"mg.atan2({a}, {w.like(a)})",
                  f"{a}.masked_fill({a} > 0, {w.number()})", f"mg.lerp({a}, {w.like(a)}, 0.5)", f"{a} // 2", f"{a} % 2")


def reduce(w: Writer) -> str:
    a = w.floating() if w.chance(0.8) else w.tensor()
    op, d = w.rng.choice(REDUCE), w.dim(a)
    keep = ", keepdim=True" if w.chance(0.3) else ""
    if op in ("cumsum", "cumprod", "softmax"):
        return f"{a}.{op}({d})"
    if op in ("max", "min", "median"):
        if op == "median" and 0 in w.names[a].stride():     # which of equal numbers is the median has a rule only where each has a place
            a += ".contiguous()"
        return f"{a}.{op}()" if w.chance(0.4) else f"{a}.{op}({d}{keep})[{w.pick(0, 0, 1)}]"
    if op == "logsumexp":
        return f"{a}.{op}({d}{keep})"
    if op == "norm":
        return f"{a}.norm()"
    return f"{a}.{op}()" if w.chance(0.4) else f"{a}.{op}({d}{keep})"


def matmul(w: Writer) -> str:
    a = w.tensor(lambda t: t.dtype.is_floating_point and t.dim() > 0)
    last = w.names[a].shape[-1:]
    b = w.tensor(lambda t: t.dtype.is_floating_point and t.dim() > 0 and t.shape[-2:][:1] == last)
    m = w.tensor(lambda t: t.dim() == 2 and t.dtype.is_floating_point)
    return w.pick(f"{a} @ {b}", f"{a} @ {b}", f"{a}.matmul({b})", f"{m}.mm({m}.t())", f"{m} @ {m}.T", f"{m}.mv({m}[0])",
                  f"mg.outer({a}, {b})", f"{a}.dot({a})", f"mg.addmm({w.like(m)}, {m}, {m}.t())",
                  f"mg.bmm({a}, {b})", f"mg.einsum('ij,kj->ik', {m}, {m})")


def join(w: Writer) -> str:
    a = w.tensor()
    same = w.tensor(lambda t: t.shape == w.names[a].shape)
    d, sortable = w.dim(a), a if w.names[a].numel() <= 16 else f"{a}[:1]"      # beyond 16, PyTorch's order of equals has no rule
    return w.pick(f"mg.cat([{a}, {same}], {d})", f"mg.stack([{a}, {same}], {d})", f"mg.stack([{a}, {same}])",
                  f"mg.cat([{a}, {w.tensor()}])", f"{a}.gather({d}, mg.zeros_like({a}, dtype=mg.int64))", f"{a}.repeat(2, 1)",
                  f"{a}.flip({d})", f"{a}.index_select({d}, mg.tensor([0, 0]))", f"{sortable}.sort({d})[0]",
                  f"{a}.tril()", f"{a}.clamp(min=0.5)",
                  f"{a}.clamp(-1, 1)")


def convert(w: Writer) -> str:
    a = w.tensor()
    return w.pick(f"{a}.clone()", f"{a}.detach()", f"{a}.data", f"{a}.detach().clone()", f"{a}.double()", f"{a}.float()",
                  f"{a}.to(mg.float64)",
                  f"mg.zeros_like({a})", f"mg.ones_like({a}, requires_grad=True)", f"{a}.clone().detach().requires_grad_()",
                  f"{a}.grad", f"{a}.long()", f"{a}.type_as({w.tensor()})", f"{a}.float().requires_grad_()", f"{a} * 1")


EXPRESSIONS: dict[Statement, int] = {
    lambda w: f"{w.floating()}.{w.rng.choice(UNARY[:-2])}()": 6,
    binary: 10, reduce: 7, matmul: 3, join: 3, convert: 5,
    lambda w: w.view(w.tensor()): 10,
    lambda w: f"{w.tensor()} * {w.number()}": 4, **wider.EXPRESSIONS, **training.EXPRESSIONS,
}


def several(w: Writer) -> str:
    a = w.tensor()
    d = w.dim(a)
    op = w.pick(f"unbind({d})", f"split(1, {d})", f"chunk(2, {d})", f"max({d})", f"min({d})",
                f"sort({d})" if w.names[a].numel() <= 16 else "unbind()")
    return f"{w.new()}, {w.new()} = {a}.{op}"


def in_place(w: Writer) -> str:
    a = w.tensor() if w.chance(0.3) else w.computed()
    b, value = w.like(a), w.number()
    b = value if w.shares(a, b) else b
    if w.chance(0.3):
        return w.pick(f"{a} += {b}", f"{a} *= {b}", f"{a} -= {value}", f"{a} /= {value}")
    call = w.rng.choice(IN_PLACE).removesuffix(")") + ")"
    call = w.pick(call, call, f"mul_({b})", f"add_({b})", f"copy_({b})", f"sub_({b})", f"fill_({value})", f"sub_({b}, alpha=2)",
                  f"masked_fill_({a} > 0, {value})", f"div_({b})")
    apart = b == value or address(w.names[a]) != address(w.names[b])
    return f"{w.view(a) if apart and w.chance(0.4) else a}.{call}"


def assign(w: Writer) -> str:
    a = w.tensor() if w.chance(0.3) else w.computed()
    value = w.tensor() if w.chance(0.5) else w.number()
    if value in w.names and address(w.names[a]) == address(w.names[value]):
        value = w.number()
    if not w.names[a].dtype.is_floating_point:
        value = w.number()                  # PyTorch would make a bool tensor require grad
    operator = w.pick("=", "=", "=", "+=", "*=")
    return f"{a}[{w.index(a)}] {operator} {value}"


def flags(w: Writer) -> str:
    a = w.tensor()
    # Versions after .data = are minigrad's own where another tensor looks into the old memory.
    # After retain_grad() and detach_() PyTorch 2.13.0 itself goes wrong: INTERNAL ASSERT FAILED, and perhaps its crashes.
    d = w.pick(a, w.computed())
    detach = f"{d}.retain_grad()" if w.names[d].retains_grad else f"{d}.detach_()"
    other = w.tensor()
    strange = any(w.names[n].is_inference() for n in (a, other))
    exchange = f"{a}.data.mul_(2)" if a not in w.made or w.shares_memory(a) or strange else f"{a}.data = {other}"
    return w.pick(f"{a}.requires_grad_()", f"{a}.requires_grad_(False)", f"{a}.requires_grad = True", f"{a}.requires_grad = False",
                  detach, detach, f"{w.computed()}.retain_grad()", f"{w.recorded()}.retain_grad()",
                  f"{w.computed()}.retain_grad()", f"{a}.grad = None", f"{w.leaf()}.grad = None", f"{a}.grad.zero_()",
                  exchange, f"{a}.data.mul_(2)", f"{a}.grad = {w.tensor()}", f"del {a}", f"{a}.detach().zero_()")


def hook(w: Writer) -> str:
    a, c = w.recorded(), w.computed()
    return w.pick(f"{a}.register_hook(lambda g: log('{a}', g))", f"{a}.register_hook(lambda g: g * 2)",
                  f"{c}.register_hook(lambda g: log('{c}', g))", f"{c}.grad_fn.register_hook(lambda i, o: log('{c}', i, o))",
                  f"{c}.grad_fn.register_prehook(lambda o: log('{c}', o))", f"{c}.grad_fn.register_hook(lambda i, o: i)",
                  f"{w.leaf()}.register_post_accumulate_grad_hook(lambda t: log(t.grad))", f"{a}.register_hook(lambda g: g.sum())",
                  f"{c}.grad_fn.register_prehook(lambda o: (o[0] * 2,))",
                  f"h = mg.autograd.graph.register_multi_grad_hook(({a}, {c}), lambda g: log('all', g))",
                  f"h = mg.autograd.graph.register_multi_grad_hook(({a}, {c}), lambda g: log('any', g), mode='any')",
                  f"h = {a}.register_hook(lambda g: -g)", "h.remove()")


def backward(w: Writer) -> str:
    a = w.computed() if w.chance(0.9) else w.tensor()
    keep = w.pick("", "", "retain_graph=True", "create_graph=True", f"inputs=[{w.recorded()}]", "retain_graph=True")
    if w.chance(0.6):
        return f"{a}.sum().backward({keep})" if w.chance(0.8) else f"{a}.backward({keep})"
    # A copy, since PyTorch may keep the very tensor that it is given as a .grad, and add into it later.
    start = w.pick(f"mg.ones_like({a})", f"{w.tensor()}.detach().clone()", f"{a}.detach() * 2")
    return f"{a}.backward({start}{', ' if keep else ''}{keep})"


def gradient(w: Writer) -> str:
    a, b, c = w.computed(), w.recorded(), w.recorded()
    more = w.pick("", "", ", create_graph=True", ", create_graph=True", ", retain_graph=True", ", allow_unused=True",
                  ", create_graph=True, allow_unused=True", ", materialize_grads=True")
    if w.chance(0.3):
        return f"{w.new()}, {w.new()} = (g.clone() for g in mg.autograd.grad({a}.sum(), [{b}, {c}]{more}))"
    start = w.pick(f"{a}.sum(), {b}", f"{a}, {b}", f"{a}, {b}, mg.ones_like({a})", f"({a} * {a}).sum(), {b}")
    return f"{w.new()} = mg.autograd.grad({start}{more})[0].clone()"       # PyTorch's own may be expanded: see known


STATEMENTS: dict[Statement, int] = {
    create: 6, several: 3, in_place: 12, assign: 6, flags: 7, hook: 5, backward: 8, gradient: 4,
    lambda w: (lambda expression: f"{w.new()} = {expression}")(w.expression()): 40, **wider.STATEMENTS, **training.STATEMENTS,
}


def program(rng: random.Random, names: dict[str, Any]) -> Callable[[], list[str]]:
    """A function that gives the next lines: mostly a statement and a look; in some programs looks are rare.

    A look renews the history of stale views, as ``.grad_fn`` does, so programs without looks see other things happen.
    """
    writer, looks = Writer(rng, names), rng.choice([1.0, 1.0, 0.2])
    return lambda: [writer.line()] + (["look()"] if rng.random() < looks else [])
