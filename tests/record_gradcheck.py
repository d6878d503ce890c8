"""Write tests/records/gradcheck.json and functional.json: what PyTorch answers to two tables of questions. Needs torch.

    python tests/record_gradcheck.py

A case is one function of the library, ``torch`` or ``minigrad``; `outcome` says what came of it, the same way for both.
"""
from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).parent / "records"
Case = Callable[[Any], Any]


def leaf(t: Any, *values: float, dtype: str = "float64") -> Any:
    """A tensor to differentiate by: three numbers unless others are given."""
    return t.tensor(list(values) or [0.5, 1.5, -2.0], dtype=getattr(t, dtype), requires_grad=True)


def function(t: Any, forward: Callable, backward: Callable) -> Callable:
    """A function with a backward of its own: ``forward(ctx, x)``, ``backward(ctx, grad)``."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Own", (t.autograd.Function,), methods).apply


def saving(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x * x


def half_square(t: Any) -> Callable:
    """x * x with half its derivative."""
    return function(t, saving, lambda ctx, grad: grad * ctx.saved_tensors[0])


def constant_square(t: Any) -> Callable:
    """x * x with its derivative, which does not know that it depends on x: the second derivative is wrong."""
    return function(t, saving, lambda ctx, grad: grad * 2 * ctx.saved_tensors[0].detach())


def biased(t: Any, by: float) -> Callable:
    """The identity, whose backward adds to the gradient."""
    return function(t, lambda ctx, x: x * 1, lambda ctx, grad: grad + by)


def unsteady(t: Any) -> Callable:
    """The identity, whose backward gives a little more each time."""
    runs = []
    return function(t, lambda ctx, x: x * 1, lambda ctx, grad: grad * (1 + runs.append(0) or 1 + len(runs) * 1e-9))


def proud(t: Any, answer: Callable) -> Callable:
    """The identity, which is told when no gradient arrives and then gives ``answer(ctx)``."""
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1
    return function(t, forward, lambda ctx, grad: answer(grad) if grad is None else grad)


def refuse(grad: None) -> None:
    raise RuntimeError("no gradient, no answer")


def growing(limit: float) -> Callable:
    """A function whose result has more elements beyond a limit."""
    return lambda x: x[x > limit]


def check(f: Callable[[Any], Callable], *values: float, dtype: str = "float64", **options: Any) -> Case:
    """gradcheck of ``f(library)`` at a leaf."""
    return lambda t: t.autograd.gradcheck(f(t), (leaf(t, *values, dtype=dtype),), **options)


def check_two(f: Callable, **options: Any) -> Case:
    """gradcheck of a function of two tensors."""
    return lambda t: t.autograd.gradcheck(f, (leaf(t), leaf(t, 2.0, -0.25, 4.0)), **options)


def check_twice(f: Callable[[Any], Callable], *values: float, weights: list | None = None, **options: Any) -> Case:
    """gradgradcheck of ``f(library)`` at a leaf, with random or given gradients to start from."""
    def run(t):
        t.manual_seed(0)
        given = () if weights is None else (leaf(t, *weights),)
        return t.autograd.gradgradcheck(f(t), (leaf(t, *values),), *given, **options)
    return run


def plain(f: Callable) -> Callable[[Any], Callable]:
    """A function that needs nothing of the library."""
    return lambda t: f


GRADCHECK: dict[str, Case] = {
    "right": check(plain(lambda x: (x * x).sin())),
    "right for a matrix": lambda t: t.autograd.gradcheck(
        lambda x: (x @ x).sin(), leaf(t, 1.0, 2.0, 3.0, 4.0).view(2, 2)),
    "wrong": check(half_square),
    "wrong, no exception": check(half_square, raise_exception=False),
    "right within a wide tolerance": check(half_square, 0.001, atol=0.01),
    "wrong for one input": lambda t: t.autograd.gradcheck(
        lambda x, y: half_square(t)(y) * x, (leaf(t), leaf(t, 1.0, 2.0, 3.0))),
    "wrong for one output": check(lambda t: lambda x: (x * 2, half_square(t)(x))),
    "a scalar": check(lambda t: lambda x: half_square(t)(x[0]), 2.0),
    "a 0-d input": lambda t: t.autograd.gradcheck(half_square(t), t.tensor(1.5, dtype=t.float64, requires_grad=True)),
    "float32": check(plain(lambda x: (x * x).sin()), dtype="float32"),
    "float32 and exact": check(plain(lambda x: x * 2), dtype="float32", eps=0.125),
    "float32 and float64": lambda t: t.autograd.gradcheck(
        lambda x, y: x.detach() * x * y, (leaf(t, 1.0, 2.0, 4.0), leaf(t, 1.0, 0.5, 0.25, dtype="float32")), eps=0.125),
    "float64 of float32": check(lambda t: lambda x: x.to(t.float64) * 2, dtype="float32", eps=0.125),
    "a kink": check(lambda t: t.relu, 0.0, 1.0),
    "an infinite slope": check(lambda t: t.sqrt, 0.0, 1.0),
    "an infinite slope, fast": check(lambda t: t.sqrt, 0.0, 1.0, fast_mode=True),
    "an infinite value": check(lambda t: t.log, 0.0, 1.0),
    "a kink in the middle": check(lambda t: t.abs, 0.0, 1.0),
    "two inputs": check_two(lambda x, y: x * y),
    "a list of inputs": lambda t: t.autograd.gradcheck(lambda x, y: x / y, [leaf(t), leaf(t, 2.0)]),
    "an input not used": check_two(lambda x, y: x * 2),
    "an input wrongly not used": check_two(lambda x, y: x * y.detach()),
    "an input without requires_grad": lambda t: t.autograd.gradcheck(lambda x, y: x * y, (leaf(t), leaf(t).detach())),
    "integers among the inputs": lambda t: t.autograd.gradcheck(lambda x, n: x * n, (leaf(t), t.tensor([1, 2, 3]))),
    "a number among the inputs": lambda t: t.autograd.gradcheck(lambda x, n: x ** n, (leaf(t), 3)),
    "the same tensor twice": lambda t: (lambda x: t.autograd.gradcheck(lambda a, b: a * b, (x, x)))(leaf(t)),
    "no input requires grad": lambda t: t.autograd.gradcheck(lambda x: x * 2, leaf(t).detach()),
    "only integers": lambda t: t.autograd.gradcheck(lambda x: x * 2, (t.tensor([1, 2]),)),
    "only a number": lambda t: t.autograd.gradcheck(lambda x: x * 2, 3.0),
    "a list in the tuple": lambda t: t.autograd.gradcheck(lambda x: x[0] * 2, ([leaf(t)],)),
    "expanded": lambda t: t.autograd.gradcheck(lambda x: x * 2, (leaf(t), leaf(t, 1.0).expand(3))),
    "expanded from one to one": lambda t: t.autograd.gradcheck(lambda x: x * 2, leaf(t, 1.0).expand(1)),
    "transposed": lambda t: t.autograd.gradcheck(lambda x: x * x, leaf(t, 1.0, 2.0, 3.0, 4.0).view(2, 2).t()),
    "transposed and wrong": lambda t: t.autograd.gradcheck(half_square(t), leaf(t, 1.0, 2.0, 3.0, 4.0).view(2, 2).t()),
    "every other element": lambda t: t.autograd.gradcheck(half_square(t), leaf(t, 1.0, 2.0, 3.0, 4.0)[::2]),
    "no element": lambda t: t.autograd.gradcheck(lambda x: x * 2, t.ones(0, dtype=t.float64, requires_grad=True)),
    "the input itself": check(plain(lambda x: x)),
    "two outputs": check(plain(lambda x: (x * 2, x * x))),
    "a list of outputs": check(plain(lambda x: [x * 2, x * x])),
    "a constant output": check(lambda t: lambda x: (t.ones(2, dtype=t.float64), x * x)),
    "an integer output": check(lambda t: lambda x: (x * x, t.tensor([1, 2]))),
    "a bool output": check(plain(lambda x: (x * x, x > 0))),
    "detached": check(plain(lambda x: x.detach() * 2)),
    "detached, no exception": check(plain(lambda x: x.detach() * 2), raise_exception=False),
    "constant": check(lambda t: lambda x: t.ones(2, dtype=t.float64)),
    "only an integer output": check(plain(lambda x: (x > 0).long())),
    "None": check(plain(lambda x: None)),
    "a number as output": check(plain(lambda x: (x, 1.0))),
    "more elements after a move": check(plain(growing(0.5))),
    "another dtype after a move": check(lambda t: lambda x: x.to(t.float32) if x[0] > 0.5 else x),
    "written in place": check(plain(lambda x: x.clone().mul_(x))),
    "a leaf written in place": check(plain(lambda x: x.mul_(2))),
    "unsteady": check(unsteady),
    "unsteady within tolerance": check(unsteady, nondet_tol=1e-6),
    "unsteady, no exception": check(unsteady, raise_exception=False),
    "not multiplied": check(lambda t: function(t, lambda ctx, x: x * 1, lambda ctx, grad: t.ones_like(grad)), 2.0),
    "nearly not multiplied": check(lambda t: biased(t, 1e-9)),
    "nearly not multiplied, masked": check(lambda t: biased(t, 1e-9), masked=True),
    "undefined": check(lambda t: proud(t, lambda grad: None)),
    "undefined refused": check(lambda t: proud(t, refuse)),
    "undefined refused, no exception": check(lambda t: proud(t, refuse), raise_exception=False),
    "undefined refused, not checked": check(lambda t: proud(t, refuse), check_undefined_grad=False),
    "undefined is not zero": check(lambda t: proud(t, lambda grad: t.ones(3, dtype=t.float64))),
    "undefined and careless": check(lambda t: proud(t, lambda grad: grad * 2)),
    "undefined in one of two": check(lambda t: lambda x: (x * 2, proud(t, refuse)(x))),
    "nothing to check": check(plain(lambda x: x), check_backward_ad=False),
    "batched forward without forward": check(plain(lambda x: x), check_batched_forward_grad=True),
    "dtypes checked": check(plain(lambda x: x * 2), check_grad_dtypes=True),
    "fast": check(plain(lambda x: x * x * x), fast_mode=True),
    "fast and wrong": check(half_square, fast_mode=True),
    "fast and wrong in float32": check(half_square, 1.0, 2.0, dtype="float32", eps=0.125, fast_mode=True),
    "fast and wrong for one of each": lambda t: t.autograd.gradcheck(
        lambda x, y: (x * y, half_square(t)(y) * x), (leaf(t), leaf(t, 1.0, 2.0, 3.0)), fast_mode=True),
    "fast and nearly right": check(lambda t: function(
        t, lambda ctx, x: x * t.tensor([1000.0, -1000.0], dtype=t.float64),
        lambda ctx, grad: grad * t.tensor([1000.5, -1000.0], dtype=t.float64)), 1.0, 2.0, fast_mode=True),
    "fast and detached": check(plain(lambda x: x.detach() * 2), fast_mode=True),
    "fast and constant": check(lambda t: lambda x: t.ones(2, dtype=t.float64), fast_mode=True),
    "fast and unsteady": check(unsteady, fast_mode=True),
    "fast and more elements after a move": check(plain(growing(0.5)), fast_mode=True),
    "fast, no element": lambda t: t.autograd.gradcheck(
        lambda x: x * 2, t.ones(0, dtype=t.float64, requires_grad=True), fast_mode=True),
}

GRADCHECK |= {
    "twice": check_twice(plain(lambda x: x * x * x)),
    "twice, linear": check_twice(plain(lambda x: x * 2)),
    "twice, two inputs": lambda t: t.autograd.gradgradcheck(
        lambda x, y: (x * y).exp(), (leaf(t), leaf(t, 1.0, 2.0, -1.0))),
    "twice, two outputs": check_twice(plain(lambda x: (x * x, x.exp()))),
    "twice, wrong the second time": check_twice(constant_square, weights=[1.0, 2.0, 3.0]),
    "twice, wrong the second time, random": check_twice(constant_square),
    "twice, wrong the second time, random with gaps": check_twice(constant_square, gen_non_contig_grad_outputs=True),
    "twice, wrong the second time, no exception": check_twice(constant_square, raise_exception=False),
    "twice, wrong the second time, fast": check_twice(constant_square, fast_mode=True),
    "once, wrong the second time": check(constant_square),
    "twice, unsteady": check_twice(unsteady, weights=[1.0, 1.0, 1.0]),
    "twice, with gaps": check_twice(plain(lambda x: x * x * x), gen_non_contig_grad_outputs=True),
    "twice, one weight for three": check_twice(plain(lambda x: x * x), weights=[1.0]),
    "twice, weights without requires_grad": lambda t: t.autograd.gradgradcheck(
        lambda x: x * x * x, leaf(t), leaf(t).detach()),
    "twice, a 0-d output": lambda t: (t.manual_seed(0), t.autograd.gradgradcheck(
        constant_square(t), t.tensor(1.5, dtype=t.float64, requires_grad=True), gen_non_contig_grad_outputs=True)),
    "twice, detached": check_twice(plain(lambda x: x.detach())),
    "twice, no input requires grad": lambda t: t.autograd.gradgradcheck(lambda x: x * x, leaf(t).detach()),
    "twice, float32": lambda t: t.autograd.gradgradcheck(
        lambda x: x * x, leaf(t, 1.0, dtype="float32"), leaf(t, 1.0, dtype="float32"), eps=0.125),
    "twice, nothing to check": check_twice(plain(lambda x: x), check_rev_over_rev=False),
    "twice, undefined without reverse": check_twice(
        plain(lambda x: x), check_fwd_over_rev=True, check_rev_over_rev=False),
    "twice, batched without reverse": check_twice(
        plain(lambda x: x), check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False,
        check_batched_grad=True),
}


def ask(name: str, f: Callable, *values: Any, **options: Any) -> Case:
    """A function of ``autograd.functional`` at one or several points; a tuple of numbers stands for a tensor."""
    return lambda t: getattr(t.autograd.functional, name)(f, *(tensors(t, v) for v in values), **options)


def tensors(t: Any, value: Any) -> Any:
    """``(1.0, 2.0)`` as a tensor, ``((1.0,), (2.0,))`` as a tuple of tensors, anything else as it is."""
    if not isinstance(value, tuple):
        return value
    if all(isinstance(v, tuple) for v in value):
        return tuple(tensors(t, v) for v in value)
    return t.tensor(value, requires_grad=True) if all(isinstance(v, float) for v in value) else t.tensor(value)


def cube(x: Any) -> Any:
    return x * x * x


def product(x: Any, y: Any) -> Any:
    return x * y


POINT, OTHER, ONES = (0.5, 1.5, -2.0), (2.0, -0.25, 4.0), (1.0, 1.0, 1.0)
TWO = (POINT, OTHER)

# The same questions to each function, each with a point and, where it takes one, a vector.
FUNCTIONAL: dict[str, Case] = {}
for name, scalar, vector in [("vjp", False, True), ("jvp", False, True), ("jacobian", False, False),
                             ("hessian", True, False), ("vhp", True, True), ("hvp", True, True)]:
    def sized(f: Callable, scalar: bool = scalar) -> Callable:
        return (lambda *args: f(*args).sum()) if scalar else f

    v = (OTHER,) if vector else ()
    v2 = ((TWO if name != "vjp" else OTHER),) if vector else ()
    FUNCTIONAL |= {f"{name} {what}": case for what, case in {
        "of one input": ask(name, sized(cube), POINT, *v),
        "of one input, with graph": ask(name, sized(cube), POINT, *v, create_graph=True),
        "of one input, strict": ask(name, sized(cube), POINT, *v, strict=True),
        "of one input, strict with graph": ask(name, sized(cube), POINT, *v, strict=True, create_graph=True),
        "of two inputs": ask(name, sized(product), TWO, *v2),
        "of two inputs, with graph": ask(name, sized(product), TWO, *v2, create_graph=True),
        "of two inputs, strict": ask(name, sized(product), TWO, *v2, strict=True),
        "of two inputs, strict with graph": ask(name, sized(product), TWO, *v2, strict=True, create_graph=True),
        "of a tuple of one": ask(name, sized(cube), (POINT,), *v),
        "of a list": ask(name, sized(cube), [1.0], *v),
        "of a tuple with a number": lambda t, name=name: getattr(t.autograd.functional, name)(cube, (t.ones(1), 2.0)),
        "of integers": ask(name, sized(cube), (1, 2, 3), *v),
        "linear": ask(name, sized(lambda x: x * 2), POINT, *v),
        "linear, with graph": ask(name, sized(lambda x: x * 2), POINT, *v, create_graph=True),
        "linear, strict": ask(name, sized(lambda x: x * 2), POINT, *v, strict=True),
        "linear, strict with graph": ask(name, sized(lambda x: x * 2), POINT, *v, strict=True, create_graph=True),
        "quadratic, strict": ask(name, sized(lambda x: x * x), POINT, *v, strict=True),
        "quadratic, strict with graph": ask(name, sized(lambda x: x * x), POINT, *v, strict=True, create_graph=True),
        "not of its input": ask(name, sized(lambda x: x.detach() * 2), POINT, *v),
        "not of its input, strict": ask(name, sized(lambda x: x.detach() * 2), POINT, *v, strict=True),
        "not of one input": ask(name, sized(lambda x, y: cube(x)), TWO, *v2),
        "not of one input, strict": ask(name, sized(lambda x, y: cube(x)), TWO, *v2, strict=True),
        "linear in one input, strict": ask(name, sized(lambda x, y: cube(x) + y), TWO, *v2, strict=True),
        "linear in one input, strict with graph": ask(
            name, sized(lambda x, y: cube(x) + y), TWO, *v2, strict=True, create_graph=True),
        "of a number": ask(name, lambda x: "text", POINT, *v),
        "of a tuple of numbers": ask(name, lambda x: (x.sum(), 1.0), POINT, *v),
        "of two outputs": ask(name, lambda x: (cube(x), x * 2), POINT, *(((OTHER, ONES),) if name == "vjp" else v)),
        "of two outputs, strict": ask(name, lambda x: (x.detach(), x * 2), POINT, *v, strict=True),
        "of a tuple with one output": ask(name, lambda x: (cube(x),), POINT, *v),
        "of three numbers": ask(name, cube, POINT, *v),
        "of one number": ask(name, cube, (3.0,), *(((2.0,),) if vector else ())),
    }.items()}
    if vector:
        FUNCTIONAL |= {f"{name} {what}": case for what, case in {
            "without v": ask(name, sized(cube), POINT),
            "of one number without v": ask(name, cube, (3.0,)),
            "of one number without v, with graph": ask(name, cube, (3.0,), create_graph=True),
            "with a v too short": ask(name, sized(cube), POINT, (1.0, 2.0)),
            "with too many v": ask(name, sized(cube), POINT, TWO),
            "with too few v": ask(name, sized(product), TWO, POINT),
            "with a v too short among two": ask(
                name, (lambda x, y: (x * y).sum()) if scalar else (lambda x, y: (x, y)), TWO, (POINT, (1.0,))),
            "with a number for v": ask(name, sized(cube), POINT, 1.0),
            "with a text among v": lambda t, name=name, sized=sized: getattr(t.autograd.functional, name)(
                sized(cube), leaf(t), (leaf(t), "text")),
        }.items()}

FUNCTIONAL |= {
    "jacobian of a matrix": lambda t: t.autograd.functional.jacobian(lambda x: x @ x, t.ones(2, 2)),
    "jacobian of a 0-d tensor": lambda t: t.autograd.functional.jacobian(lambda x: x.exp() * 0 + x * x, t.tensor(3.0)),
    "jacobian of no element": lambda t: t.autograd.functional.jacobian(lambda x: x * 2, t.ones(0)),
    "jacobian, vectorized": ask("jacobian", cube, POINT, vectorize=True),
    "jacobian, vectorized and strict": ask("jacobian", cube, POINT, vectorize=True, strict=True),
    "jacobian, another strategy": ask("jacobian", cube, POINT, strategy="sideways"),
    "hessian, vectorized": ask("hessian", lambda x: cube(x).sum(), POINT, vectorize=True),
    "hessian, vectorized and strict": ask("hessian", lambda x: cube(x).sum(), POINT, vectorize=True, strict=True),
    "hessian, another strategy": ask("hessian", lambda x: cube(x).sum(), POINT, outer_jacobian_strategy="sideways"),
    "hessian of a matrix": lambda t: t.autograd.functional.hessian(lambda x: (x @ x).sum(), t.ones(2, 2)),
    "the input from outside": lambda t: (lambda x: t.autograd.functional.jacobian(lambda y: x * y, x))(leaf(t)),
    "the input from outside, with graph": lambda t: (lambda x: t.autograd.functional.jacobian(
        lambda y: x * y, x, create_graph=True))(leaf(t)),
    "the result differentiated": lambda t: (lambda x: t.autograd.grad(
        t.autograd.functional.jacobian(cube, x, create_graph=True).sum(), x))(leaf(t)),
    "the product differentiated": lambda t: (lambda x: t.autograd.grad(
        t.autograd.functional.hvp(lambda y: cube(y).sum(), x, t.ones_like(x), create_graph=True)[1].sum(), x))(leaf(t)),
    "under no_grad": lambda t: t.no_grad()(t.autograd.functional.vhp)(
        lambda x: cube(x).sum(), leaf(t), t.ones_like(leaf(t))),
    "under no_grad, with graph": lambda t: t.no_grad()(t.autograd.functional.jvp)(
        cube, leaf(t), t.ones_like(leaf(t)), create_graph=True),
}


def outcome(case: Case, library: Any) -> dict[str, Any]:
    """What came of a case: its result as it prints or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            answer = {"result": repr(case(library))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
    texts = [f"{w.category.__name__}: {w.message}" for w in seen]
    return answer | ({"warnings": texts} if texts else {})


def record(cases: dict[str, Case]) -> dict[str, Any]:
    """PyTorch's answers, as they stand in a file."""
    torch = importlib.import_module("torch")
    answers = {name: outcome(case, torch) for name, case in cases.items()}
    return {"torch": torch.__version__.split("+")[0], "cases": answers}


def main() -> None:
    """Write the files, a case per line, so that a change shows as the lines it changes."""
    for name, cases in {"gradcheck": GRADCHECK, "functional": FUNCTIONAL}.items():
        recorded = record(cases)
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(answer)}" for key, answer in recorded["cases"].items())
        text = f'{{"torch": "{recorded["torch"]}", "cases": {{\n{lines}\n}}}}\n'
        (RECORDS / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(cases)} cases of torch {recorded['torch']}")


if __name__ == "__main__":
    main()
