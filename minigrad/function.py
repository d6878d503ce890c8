"""``@op``: make a differentiable operation out of one NumPy kernel and one formula per input.

A declaration is compiled, as a dataclass is, to straight-line functions: the operation itself, its in-place twin, and the
node's ``apply``. ``print(mg.mul.op.source)`` shows what became of ``mul``. How a declaration reads::

    @op("__mul__", "__rmul__", tex=r"{self} \\odot {other}", promote="same", inplace=True,
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self)
    def mul(self, other):
        return self * other

Above the ``def`` the names are Tensors, below it ndarrays. The formulas' parameters decide what the node saves: ``grad`` comes
in; ``result`` (or the name of another output), an argument, ``self_sym_sizes`` and what else `generate.DERIVED` lists. A tensor that
only one formula uses is saved only if that formula will be needed, as in PyTorch; one that the declaration ``saves`` by name,
always. A plain value whose name begins with ``_`` is not shown as ``_saved_…``: PyTorch does without it. A formula consists
of operators and of other operations, so it runs on ndarrays when no graph of the backward pass is wanted and on Tensors when
one is: it is never written twice. An operation that is called without any Tensor just runs its kernel.
"""
from __future__ import annotations

import functools
import itertools
import linecache
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy import asarray, generic, ndarray  # noqa: F401 - the generated code uses this module's names, here and below

from . import dtype as dtypes
from . import reasons
from .arguments import NUMBERS_AS_TENSORS
from .dtype import in_single
from .generate import apply_source, forward_source, inplace_source
from .grad_mode import state
from .graph import LAST_SEQUENCE_NR, Node, next_sequence, saved_hooks, special, version_of  # noqa: F401
from .inplace import alias, check_apart, check_inplace, check_memory, check_result, check_write, view_of, write  # noqa: F401
from .strides import arranged, strides_of  # noqa: F401
from .tensor import Tensor, gradient_node, wrap  # noqa: F401

new = object.__new__
ARRAY = (np.ndarray, np.generic)
Operand = Any           # in a kernel's signature: a tensor or a number without a derivative; ``Tensor``: a tensor, not a number
OPS: dict[str, Op] = {}
PUBLIC: dict[str, Callable] = {}        # what `minigrad` exports as functions


def keep_quiet() -> None:
    """Put the filter that silences the kernels before those that the user has set since.

    NumPy warns of 1 / 0 and its like, PyTorch does not. ``np.errstate`` around each operation would cost as much as the
    operation; a look at the first filter does not show in a measurement.
    """
    global quiet
    if not warnings.filters or warnings.filters[0] is not quiet:
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")
        quiet = warnings.filters[0]


quiet = None
keep_quiet()


class _Watch:
    """The one observer of operations; None costs a test per operation."""

    def __init__(self) -> None:
        self.callback: Callable | None = None       # of the object, not of its class, which would be looked up anew each time


class _Formula:
    """Is a backward formula running on Tensors? Its numbers then make nodes of their own, as C++'s do: MulBackward1."""

    def __init__(self) -> None:
        self.running = False


watch, formula = _Watch(), _Formula()


class _SavedFloat(float):
    """A number that the user's operation saved in a tensor's place: no number of the formula's own."""


class _SavedInt(int):
    """The same for a whole number."""


def saved_number(value: Any) -> Any:
    """Mark a saved Python number as the user's."""
    return _SavedFloat(value) if value.__class__ is float else _SavedInt(value) if value.__class__ is int else value


def run_formula(apply: Callable, node: Node, grad: Any, nodes: tuple) -> tuple:
    """A node's `apply` with the mark set."""
    formula.running = True
    try:
        return apply(node, grad, True, nodes)
    finally:
        formula.running = False


def composite(function: Callable) -> Callable:
    """A function that PyTorch has in C++, made of operations: its numbers make nodes of their own, too."""
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        before, formula.running = formula.running, True
        try:
            return function(*args, **kwargs)
        finally:
            formula.running = before
    return call


@contextmanager
def observe(callback: Callable[[Op, tuple, tuple, bool], None]) -> Iterator[None]:
    """Call ``callback(op, args, outputs, recorded)`` after every operation, recorded in the graph or not."""
    before, watch.callback = watch.callback, callback
    try:
        yield
    finally:
        watch.callback = before


class Op:
    """A declared operation: what pictures, formulas and tests can know about it."""

    def __init__(self, kernel: Callable, formulas: dict[str, Callable], *, tex: str = "", node: str | None = None,
                 view: bool | str = False, inplace: bool | str = False, promote: str | None = None,
                 outputs: tuple[str, ...] | type[tuple] | str = ("result",), saves: tuple[str, ...] = ()) -> None:
        self.name, self.kernel, self.formulas, self.notation = kernel.__name__, kernel, formulas, tex
        self.view, self.inplace, self.promote, self.result_type = view, inplace, promote, tuple
        if isinstance(outputs, type):
            self.result_type, outputs = outputs, outputs.__match_args__
        self.outputs = outputs
        self.params, self.keyword_only, self.defaults = _parameters(kernel)
        self.several = outputs == "list" or len(outputs) > 1
        self.number_form = self.number = self.plain = self.node_name = self.original = None
        self.number_always, self.saves = False, saves
        self.write: Callable[[], str] = str
        if formulas:
            self.node_name = node or "".join(part.title() for part in self.name.strip("_").split("_")) + "Backward0"

    # The rest is worked out when it is first asked for: an import pays for no operation that it does not use.

    @functools.cached_property
    def title(self) -> str:
        """PyTorch's name of the function."""
        return re.sub(r"^_|_(all|dims?|numbers?|tensors?|scalar|rounded)_?$", "", self.kernel.__name__)

    @functools.cached_property
    def tensor_params(self) -> list[str]:
        """The arguments that may be tensors."""
        return [n for n in self.params if n in self.formulas or self.kernel.__annotations__.get(n) in ("Tensor", "Operand")]

    @functools.cached_property
    def tex(self) -> str:
        """Its notation; what has none is named, with its dimension below and its tensors in parentheses."""
        below = "_{{{dim}}}" if "dim" in self.params else ""
        name, tensors = self.title.replace("_", r"\_"), ", ".join(f"{{{n}}}" for n in self.tensor_params)
        return self.notation or rf"\operatorname{{{{{name}}}}}{below}({tensors})"

    @functools.cached_property
    def strict(self) -> list[str]:
        """The arguments after the first that must be tensors."""
        return [n for n in self.params[1:] if self.kernel.__annotations__.get(n) == "Tensor"]

    @functools.cached_property
    def uses(self) -> dict[str, list[str]]:
        """What each formula needs."""
        return {arg: ["grad", *f.op.params[1:]] if hasattr(f, "op") else _parameters(f)[0] for arg, f in self.formulas.items()}

    @functools.cached_property
    def needed(self) -> list[str]:
        """What the node keeps."""
        return list(dict.fromkeys([*(n for names in self.uses.values() for n in names), *self.saves]))

    @functools.cached_property
    def output_of(self) -> dict[str, int]:
        """The outputs' places by name."""
        return {} if isinstance(self.outputs, str) else {n: i for i, n in enumerate(self.outputs)}

    @functools.cached_property
    def saved(self) -> list[str]:
        """The tensors among it (freed, version-checked), in PyTorch's order: inputs by name, then outputs.

        It decides whose version error is raised.
        """
        return sorted((n for n in self.needed if n in self.output_of or n in self.tensor_params and n != self.plain),
                      key=lambda n: (n in self.output_of or n.startswith(("result", "buffer")), n))

    @functools.cached_property
    def attributes(self) -> list[str]:
        """The plain values among it."""
        return [n for n in self.needed if n not in self.saved and n not in ("grad", "grads")]

    @functools.cached_property
    def saved_for(self) -> dict[str, str]:
        """PyTorch saves an input tensor unconditionally, unless one formula alone of several uses it: that one."""
        if len(self.formulas) == 1 or "tensors" in self.formulas:
            return {}
        users = {n: [arg for arg, names in self.uses.items() if n in names] for n in self.saved
                 if n not in self.saves and n not in self.output_of}
        return {n: args[0] for n, args in users.items() if len(args) == 1}

    @functools.cached_property
    def node_class(self) -> type[Node] | None:
        """The class of its nodes; an in-place operation's are the original's."""
        return self.original.node_class if self.original else _node_class(self) if self.formulas else None

    @property
    def source(self) -> str:
        """The text of the function that the declaration became."""
        return self.write()

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def _parameters(function: Callable) -> tuple[list[str], list[str], dict[str, Any]]:
    """Names of all parameters, of those by keyword only, and the defaults (`inspect.signature` would double the import's time)."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code, defaults = function.__code__, function.__defaults__ or ()
    names = list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])
    positional = names[:code.co_argcount]
    return names, names[code.co_argcount:], {
        **dict(zip(positional[len(positional) - len(defaults):], defaults)), **(function.__kwdefaults__ or {})}


def op(*names: str, tex: str = "", node: str | None = None, view: bool | str = False, inplace: bool = False,
       promote: str | None = None, outputs: tuple[str, ...] | type[tuple] | str = ("result",), saves: tuple[str, ...] = (),
       check: Callable | None = None, check_target: Callable | None = None, in_steps: bool = False, symmetric: bool = False,
       number: str = "", scalar: str = "", **formulas: Callable) -> Callable[[Callable], Callable]:
    """Declare an operation; the module's text says how a declaration reads.

    Parameters
    ----------
    *names : str
        More names: aliases, ``__mul__``, ``__rmul__`` (called with the arguments as they come). The operation becomes a function and
        a Tensor method; not if its own name begins with an underscore.
    tex : str
        The operation as LaTeX, with ``{argument}`` in its place, where it is not its name with its tensors in parentheses.
    node : str, optional
        The node's name where PyTorch's is not ``<Name>Backward0``.
    view : bool or "alias"
        The kernel returns a window on its input's memory; "alias": the whole of it, as a tensor without history.
    inplace : bool or "overlapping"
        Make ``<name>_`` too; "overlapping": which may write where one place in memory stands for several elements.
    promote : {"same", "float"}, optional
        Elementwise: cast the tensor arguments to their common type (``"float"``: never an integer) and explain
        shapes that do not broadcast.
    outputs : tuple of str, return_type or "list"
        Names of several outputs (a `return_type` names the tuple, too), or that the kernel returns a list of any length (the
        formula then takes ``grads``).
    saves : tuple of str
        Further names that PyTorch's node shows as ``_saved_<name>`` though the formula here does not need them.
    check, check_target : callable
        Checks the arguments as they came, before they are cast to one type; `check_target` only those of an in-place write.
    in_steps : bool
        The kernel computes in several steps, and float16 is to be rounded once, at the end.
    symmetric : bool
        It is linear in its first argument, as what a backward pass computes is in the gradient, by a symmetric matrix: the
        gradient there is the operation itself, of the gradient.
    number, scalar : str
        The node's name with a number as the last argument, where PyTorch has an operation of its own for that: ``scalar``
        always, ``number`` only in a backward formula (a user's ``x * 3`` makes a tensor of the 3).
    **formulas
        For each differentiable argument, its gradient: a function of ``grad`` and of what else its parameters name, or an
        operation, whose first argument is the gradient.
    """
    facts: dict[str, Any] = {"tex": tex, "view": view, "promote": promote, "outputs": outputs, "saves": saves}

    def declare(kernel: Callable) -> Callable:
        kernel = in_single(kernel) if in_steps else kernel
        kernel.check, kernel.check_target = check, check_target
        first = dict.fromkeys(_parameters(kernel)[0][:1]) if symmetric else {}
        operation = Op(kernel, {**first, **formulas}, node=node, **facts)
        if number or scalar:
            _add_number_form(operation, number or scalar, forward_source, always=not number)
        call = compile_operation(operation, forward_source)
        operation.formulas.update(dict.fromkeys(first, call))
        OPS[operation.name] = operation
        special_names = [n for n in names if n.startswith("__")]
        plain_names = [n for n in names if not n.startswith("__")]
        for name in special_names:
            setattr(Tensor, name, compile_operation(operation, forward_source, "return NotImplemented"))
        if not operation.name.startswith("_"):
            for name in (operation.name, *plain_names):
                setattr(Tensor, name, call)
                PUBLIC[name] = call
        if inplace:
            twin = Op(kernel, formulas, node=operation.node_name, inplace=inplace, **facts)
            twin.name, twin.original = operation.name + "_", operation
            OPS[twin.name] = twin
            if scalar:
                _add_number_form(twin, scalar, inplace_source, always=True)
            write_in_place = compile_operation(twin, inplace_source)
            for name in (operation.name, *plain_names):
                setattr(Tensor, name + "_", write_in_place)
            for name in special_names:
                if not name.startswith("__r"):
                    setattr(Tensor, "__i" + name.removeprefix("__"), compile_operation(twin, inplace_source, "return NotImplemented"))
        return call
    return declare


def _add_number_form(operation: Op, node: str, text: Callable[[Op, str | None], str], always: bool) -> None:
    """Give an operation its form with a number as the last argument: the same kernel and formulas, but for that argument's."""
    last = [n for n in operation.params if n not in operation.keyword_only][-1]
    form = Op(operation.kernel, {n: f for n, f in operation.formulas.items() if n != last}, node=node, tex=operation.notation,
              inplace=operation.inplace, promote=operation.promote if always else None)
    form.name = operation.name
    if form.promote:
        form.tensor_params, form.plain = operation.tensor_params, last      # the number takes part in the promotion
    operation.number, operation.number_always = last, always
    operation.number_form = compile_operation(form, text)
    OPS[f"{form.name} of a number"] = form


# Compiling a declaration ---------------------------------------------------------------------------------------------------

def compile_operation(operation: Op, text: Callable[[Op, str | None], str], reject: str | None = None) -> Callable:
    """Make the function whose text `text` returns, in the namespace that the generated code needs."""
    def source() -> str:
        return re.sub(r"\bself(_?)\b", r"input\1", text(operation, reject))     # PyTorch's name of it in a call

    operation.write = source
    function = _deferred(operation.name, source, f"<op {operation.name}>", lambda: dict(
        kernel=operation.kernel, op=operation, number_form=operation.number_form, NodeClass=operation.node_class,
        result_type=operation.result_type,
        **{f"default_{n}": v for n, v in operation.defaults.items()}))
    function.__doc__, function.__module__, function.op = operation.kernel.__doc__, operation.kernel.__module__, operation
    function.__wrapped__ = operation.kernel     # for inspect.signature and help()
    return function


_serial = itertools.count()


def _deferred(name: str, source: Callable[[], str], filename: str, constants: Callable[[], dict[str, Any]]) -> Callable:
    """A function that is written and compiled when it is first called, so that an import pays for no operation it does not use.

    Its globals are this module's. What is its own (`constants`) stands there too, under names that no text can spell: the
    compiled code is given those names in place of the plain ones.
    """
    tag = f"{filename} {next(_serial)} "

    def build() -> Callable:
        text, own = source(), {**constants(), "itself": function}
        place = dict(own)
        exec(compile(text, filename, "exec"), globals(), place)
        made = place[name]
        globals().update({tag + n: value for n, value in own.items()})
        function.__code__ = _renamed(made.__code__, {n: tag + n for n in own})
        function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)     # for tracebacks
        return function

    function = FunctionType(_renamed(_first_call.__code__, {"build": tag + "build"}), globals(), name)
    function.__qualname__ = name        # Python's own texts on missing arguments say this one
    globals()[tag + "build"] = build
    return function


def _first_call(*args: Any, **kwargs: Any) -> Any:
    return build()(*args, **kwargs)  # noqa: F821 - each deferred function has a `build` of its own


def _renamed(code: CodeType, names: dict[str, str]) -> CodeType:
    return code.replace(co_names=tuple(names.get(n, n) for n in code.co_names))


def _node_class(operation: Op) -> type[Node]:
    """The node's class."""
    apply = _deferred("apply", lambda: apply_source(operation), f"<{operation.node_name}>",
                      lambda: {f"formula_{arg}": f for arg, f in operation.formulas.items()})
    empty = {"_saved": (), "_versions": ()} if not operation.saved else {}      # no instance needs a place for them
    if not operation.attributes:
        empty["_attributes"] = ()
    return type(operation.node_name.rsplit("::")[-1], (OpNode,), {
        "__slots__": (), "apply": apply, "op": operation, "saved_names": tuple(operation.saved),
        "saved_outputs": tuple(None if n == "indices" else operation.output_of.get(n) for n in operation.saved),
        "attribute_names": tuple(operation.attributes), "__module__": "builtins", **empty})        # as <class 'MulBackward0'> is printed


class OpNode(Node):
    """A node made from a declaration; ``node.op`` is the operation."""

    __slots__ = ()

    def name(self) -> str:
        return self.op.node_name

    def _shown(self, i: int) -> Any:
        value = Node._shown(self, i)
        if isinstance(value, (bool, int, float)):
            # A number in a tensor's place, as in x * 3; of itself NumPy makes an int32 where Python is a 32-bit one.
            return wrap(asarray(value, np.int64 if type(value) in (int, _SavedInt) else None))
        return value


# What the generated functions call -----------------------------------------------------------------------------------------

def unpacked(node: Node, place: int, graph: bool) -> Any:
    """What a node saved. A user's unpack hook is no part of the formula: its numbers make no nodes of their own."""
    before, formula.running = formula.running, False
    try:
        return node.unpack(place, graph)
    finally:
        formula.running = before


def as_tensor(value: Any) -> Tensor:
    """A number or ndarray as a tensor, for calls like ``mg.mul(2, x)``."""
    return wrap(np.asarray(value, dtypes.number_dtype(value) if isinstance(value, (bool, int, float)) else None))


def wants_grad(tensor: Any, *others: Any) -> bool:
    """Whether an in-place operation on these is to be recorded."""
    return state.recording is True and any(isinstance(t, Tensor) and t.requires_grad for t in (tensor, *others))


def wrong_type(operation: Op, name: str, value: Any) -> TypeError:
    """The error for what cannot be that argument."""
    return TypeError(f"{operation.title}(): argument '{'input' if name == 'self' else name}' "
                     f"(position {operation.params.index(name) + 1}) must be Tensor, not {type(value).__name__}")


def wrong_operand(operation: Op, *values: Any) -> TypeError:
    """The error for the first of the last arguments that is neither a tensor nor a number."""
    names = operation.tensor_params[-len(values):]
    name, value = next((n, v) for n, v in zip(names, values) if not isinstance(v, (Tensor, np.generic, int, float)))
    return wrong_type(operation, name, value)


def reject(operation: Op, first: Any) -> None:
    """Refuse a call without any tensor or array, but for two numbers where PyTorch takes a number for a tensor."""
    if not (operation.title.rstrip("_") in NUMBERS_AS_TENSORS and isinstance(first, (int, float))):
        raise wrong_type(operation, operation.params[0], first)


def operand_error(error: Exception, *arrays: np.ndarray, into: Tensor | None = None) -> Exception:
    """What is wrong with the operands of a kernel that failed: first of all their shapes, then that there is no such kernel."""
    if into is not None:
        try:
            check_result(into, *arrays)
        except RuntimeError as earlier:
            return earlier
    if isinstance(error, MemoryError):
        return reasons.too_large(error)
    text = str(shape_error(*arrays))
    return RuntimeError(text) if isinstance(error, ValueError) or "non-singleton" in text else error


def shape_error(*arrays: np.ndarray) -> RuntimeError:
    """The error for shapes that do not broadcast."""
    shapes = [a.shape for a in arrays if isinstance(a, np.ndarray)]
    return RuntimeError(reasons.sizes_differ(*shapes) or f"shapes {[list(s) for s in shapes]} do not broadcast")


def expect(node: Node, results: tuple[Tensor, ...]) -> None:
    """Shapes and dtypes of the outputs that can have a gradient."""
    arrays = [t.array for t in results if t.array.dtype.kind == "f"]
    node.expect([a.shape for a in arrays], [a.dtype for a in arrays])


def attach(results: tuple[Tensor, ...], node: Node) -> None:
    """Make the floating-point results the outputs of a node."""
    for i, result in enumerate(r for r in results if r.array.dtype.kind == "f"):
        result._requires_grad, result._edge = True, (node, i)


def fill(node: Node, grads: Any, graph: bool) -> list | None:
    """One gradient per output of a node with a list of outputs: zeros where none arrived; None if nothing did at all."""
    grads = grads if isinstance(grads, list) else [grads]
    if all(g is None for g in grads):
        return None
    zeros = [np.zeros(*node.expects(i)) if g is None else None for i, g in enumerate(grads)]
    return [(wrap(z) if graph else z) if g is None else g for g, z in zip(grads, zeros)]
