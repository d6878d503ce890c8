"""More statements for random programs: the user's own Functions, hooks on saved tensors, other modes, copies, NumPy, losses."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .look import array_of

if TYPE_CHECKING:
    from .generate import Writer

# A user's Function in one line: what forward does, and what backward does.
FUNCTIONS = [
    ("(ctx.save_for_backward(x), x ** 2)[1]", "g * 2 * ctx.saved_tensors[0]"),
    ("x * 3", "g * 3"), ("x.clone()", "None"), ("x", "g * 2"), ("x.view_as(x)", "g"),
    ("(ctx.mark_dirty(x), x.mul_(2))[1]", "g * 2"),
    ("(ctx.save_for_backward(y := x.exp()), y)[1]", "g * ctx.saved_tensors[0]"),
    ("(ctx.mark_non_differentiable(y := x > 0), y)[1]", "g"), ("x.sum()", "g"), ("x.detach()", "g.expand(2, 2)"),
    ("(x * 1, x + 1)", "g + h"), ("(x[0], x)", "h"),
]
LOSSES = "mse_loss l1_loss smooth_l1_loss binary_cross_entropy_with_logits".split()
ACTIVATIONS = "gelu silu softplus elu leaky_relu hardtanh relu6 selu softsign".split()


def function(w: Writer) -> str:
    """A line that declares a Function, or applies one that was declared."""
    declared = [n for n in w.names if n[0] == "F"]
    if not declared or w.chance(0.3):
        forward, backward = w.rng.choice(FUNCTIONS)
        name = f"F{len(declared)}"
        return (f"{name} = type('{name}', (mg.autograd.Function,), {{'forward': staticmethod(lambda ctx, x: {forward}), "
                f"'backward': staticmethod(lambda ctx, g{', h' if 'h' in backward else ''}: {backward})}})")
    return f"{w.new()} = {w.rng.choice(declared)}.apply({w.floating()})"


def context(w: Writer) -> str:
    """What a ``with`` may enter besides ``no_grad``."""
    hooks = w.pick("lambda t: t, lambda t: t", "lambda t: (log('pack', t.shape), t)[1], lambda t: t",
                   "lambda t: t.detach().numpy().copy(), mg.from_numpy", "lambda t: t * 2, lambda t: t / 2", "lambda t: 0, lambda t: 0")
    return w.pick("mg.inference_mode()", "mg.inference_mode(False)", "mg.set_grad_enabled(False)", "mg.set_grad_enabled(True)",
                  f"mg.autograd.graph.saved_tensors_hooks({hooks})", f"mg.autograd.graph.saved_tensors_hooks({hooks})",
                  "mg.autograd.graph.save_on_cpu()")


def functional(w: Writer) -> str:
    """A call of ``nn.functional``."""
    a, f = w.floating(), "mg.nn.functional."
    same = w.tensor(lambda t: t.shape == w.names[a].shape and t.dtype == w.names[a].dtype)
    same = same if w.names[same].dtype == w.names[a].dtype else a
    m = w.tensor(lambda t: t.dim() == 2 and t.dtype.is_floating_point and t.numel() > 0)
    b = w.tensor(lambda t: t.dim() == 1 and t.dtype.is_floating_point)
    if not w.names[a].dtype.is_floating_point or not w.names[a].numel():
        return f"{a} * 2"
    if w.names[m].dim() != 2 or not w.names[m].dtype.is_floating_point or not w.names[m].numel():
        return f"{f}{w.rng.choice(LOSSES)}({a}, {same})"
    reduction = w.pick("", "", ", reduction='sum'", ", reduction='none'")
    finite = np.isfinite(array_of(w.names[a])).all()        # oneDNN's gelu of an infinity is not a number
    activation = w.rng.choice(ACTIVATIONS if finite else ACTIVATIONS[1:])
    return w.pick(f"{f}{activation}({a})", f"{f}{w.rng.choice(LOSSES)}({a}, {same}{reduction})",
                  f"{f}linear({m}, {w.pick(m, m + '.detach()')}{w.pick('', f', {b}')})", f"{f}dropout({a}, 0.0)",
                  f"{f}dropout({a}, 0.5, training=False)",
                  f"{f}cross_entropy({m}, mg.zeros({m}.shape[0], dtype=mg.int64))",
                  f"{f}log_softmax({a}, {w.dim(a)})", f"{f}normalize({a}, dim={w.dim(a)})", f"{f}pad({a}, (1, 0))",
                  f"{f}embedding(mg.tensor([0, 0]), {m})", f"{f}threshold({a}, 0.5, 1.0)")


def index(w: Writer) -> str:
    """An operation that takes indices or a mask."""
    a = w.tensor(lambda t: t.dim() > 0 and t.numel() > 0)
    d, b = w.dim(a), w.like(a)
    zeros = f"mg.zeros_like({a}, dtype=mg.int64)"
    source = w.tensor(lambda t: t.shape == w.names[a].shape and t.dtype == w.names[a].dtype)
    t, s = w.names[a], w.names[source]
    if not t.numel() or not t.dim() or s.dtype != t.dtype or s.shape != t.shape:
        return f"{a}.clone()"
    return w.pick(f"{a}.scatter({d}, {zeros}, {source})", f"{a}.scatter({d}, {zeros}, 2.0)", f"{a}.scatter_add({d}, {zeros}, {source})",
                  f"{a}.index_add({d}, mg.tensor([0]), {source})", f"{a}.index_fill({d}, mg.tensor([0]), 2.0)",
                  f"{a}.index_copy({d}, mg.tensor([0]), {source})", f"{a}.masked_select({a} > 0)", f"{a}.take(mg.tensor([0]))",
                  f"{a}.nonzero()", f"{a}.roll(1, {d})", f"{a}.triu()", f"{a}.diag()" if w.names[a].dim() < 3 else f"{a}.triu()",
                  f"mg.where({a} > 0, {a}, 0.0)", f"{a}.index_put((mg.tensor([0]),), {b})", f"{a}.repeat_interleave(2, {d})",
                  f"{a}.unflatten(0, (-1, 1))", f"{a}.swapaxes(0, -1)", f"{a}.unfold({d}, 1, 1)", f"{a}.tensor_split(2, {d})[0]",
                  f"{a}.diff()", f"{a}.as_strided((1, 2), (1, 0))", f"{a}.split([1, {a}.shape[0] - 1])[0]")


def promote(w: Writer) -> str:
    """Numbers and dtypes that meet."""
    a, b = w.tensor(), w.pick("2", "2.5", "True", "0", "-1")
    dtype = w.pick("int32", "uint8", "int8", "float16", "bool", "float64", "int64", "float32")
    return w.pick(f"{b} - {a}", f"{b} / {a}", f"{b} * {a}", f"{b} + {a}", f"{a} ** {b}", f"{b} ** {a}", f"{a} * {b}", f"{a} + {b}", f"-{a}",
                  f"abs({a})", f"{a}.sum(dtype=mg.{dtype})" if dtype != "float16" else f"{a}.sum()", f"{a}.to(mg.{dtype})",
                  f"{a}.to({w.tensor()})", f"{a} & {w.like(a)}", f"~{a}", f"{a} == {b}", f"{b} < {a}", f"{b} // {a}", f"{b} % {a}",
                  f"{a}.new_zeros(2)", f"{a}.new_ones((1, 2), requires_grad=True)", f"{a}.type(mg.{dtype})",
                  f"mg.logical_and({a}, {w.like(a)})", f"{a}.clamp(max=0)", f"{a}.nan_to_num()")


def copied(w: Writer) -> str:
    """Other ways to a tensor: copies, NumPy, aliases."""
    a = w.tensor()
    return w.pick(f"copy.deepcopy({a})", f"mg.from_numpy({a}.detach().numpy())", f"mg.as_tensor({a})", a,
                  f"mg.tensor({a}.tolist())", f"{a}.detach().requires_grad_()", f"mg.from_numpy({a}.detach().numpy().copy())",
                  f"mg.full_like({a}, 2)", f"mg.empty_like({a}).fill_(1)", f"mg.nn.Parameter({a})",
                  f"{a}.numpy()", f"{a}.new_tensor([1.0])", f"mg.tensor([{a}.numel()])", f"{a}.reshape(-1).requires_grad_()")


def asked(w: Writer) -> str:
    """What can be asked of a tensor besides what a look sees."""
    made = sorted(w.made & set(w.names))
    a = w.rng.choice(made) if made else w.tensor()
    return "log({})".format(w.pick(
        f"str({a})", f"repr({a})", f"{a}.tolist()", f"{a}.item()", f"float({a})", f"int({a})", f"bool({a})", f"len({a})",
        f"{a}.is_contiguous()", f"{a}.size()", f"{a}.nelement()", f"{a}.type()", f"mg.equal({a}, {w.tensor()})",
        f"{a}.is_inference()", f"{a}._is_view()",
        f"[x.shape for x in {a}]", f"{a}.is_floating_point()", f"{a}.element_size()", f"list({a}.shape)"))


def several_roots(w: Writer) -> str:
    """A pass from several tensors, or for several."""
    a, b, c, d = w.computed(), w.computed(), w.recorded(), w.recorded()
    d = c + " * 1" if d == c else d
    keep = w.pick("", ", retain_graph=True", ", create_graph=True")
    return w.pick(f"mg.autograd.backward([{a}.sum(), {b}.sum()]{keep})", f"mg.autograd.backward({a}, mg.ones_like({a}), inputs=[{c}, {d}])",
                  f"{a}.sum().backward(inputs=({c}, {d}){keep})",
                  f"{w.new()} = mg.autograd.grad([{a}, {b}], {c}, [mg.ones_like({a}), None]{keep})[0].clone()",
                  f"{w.new()} = mg.autograd.grad({a}.sum(), mg.autograd.graph.get_gradient_edge({c}){keep})[0].clone()")


def in_place(w: Writer) -> str:
    """More operations that write."""
    a = w.tensor() if w.chance(0.3) else w.computed()
    if not w.names[a].numel():
        return f"{a}.zero_()"
    b, d = w.like(a), w.dim(a)
    b = "2.0" if w.shares(a, b) else b
    zeros = f"mg.zeros_like({a}, dtype=mg.int64)"
    return f"{a}." + w.pick(f"scatter_({d}, {zeros}, 2.0)", f"index_fill_({d}, mg.tensor([0]), 2.0)", "clamp_(min=0)",
                            f"addcmul_({b}, {b})", "transpose_(0, -1)", "squeeze_(0)", "swapaxes_(0, -1)", "tril_()", "cumsum_(0)",
                            "round_()", "floor_()", f"masked_fill_({a} > 0, mg.tensor(2.0))",
                            "index_put_((mg.tensor([0]),), mg.tensor(1.0))",
                            "sign_()", "nan_to_num_()", "logical_not_()", f"pow_({b})", f"atan2_({b})", "remainder_(2)",
                            "floor_divide_(2)", "detach().numpy().fill(1)")


EXPRESSIONS: dict[Callable[[Writer], str], int] = {functional: 4, index: 5, promote: 4, copied: 3}
STATEMENTS: dict[Callable[[Writer], str], int] = {function: 5, asked: 2, several_roots: 4, in_place: 4}
