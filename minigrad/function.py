"""``@op``: make a differentiable operation out of one NumPy kernel and one formula per input.

A declaration is compiled, as a dataclass is, to straight-line functions: the operation itself, its in-place twin, and the
node's ``apply``. ``print(mg.mul.op.source)`` shows what became of ``mul``. How a declaration reads::

    @op("__mul__", "__rmul__", tex=r"{self} \\odot {other}", promote="same", inplace=True,
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self)
    def mul(self, other):
        return self * other

Above the ``def`` the names are Tensors, below it ndarrays. The formulas' parameters decide what the node saves: ``grad`` comes
in; ``result`` (or the name of another output), an argument, ``self_sym_sizes`` and what else `DERIVED` lists. A tensor that
only one formula uses is saved only if that formula will be needed, as in PyTorch; one that the declaration ``saves`` by name,
always. A plain value whose name begins with ``_`` is not shown as ``_saved_…``: PyTorch does without it. A formula consists
of operators and of other operations, so it runs on ndarrays when no graph of the backward pass is wanted and on Tensors when
one is: it is never written twice. An operation that is called without any Tensor just runs its kernel.
"""
from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy import asarray, ndarray  # noqa: F401 - the generated code uses this module's names, here and below

from . import dtype as dtypes
from . import reasons
from .grad_mode import state
from .graph import NO_EDGE, Node, forward_name, next_sequence, special, version_of  # noqa: F401
from .tensor import Tensor, View, gradient_edge, wrap

# NumPy warns of 1 / 0 and its like, PyTorch does not. (np.errstate around each operation would cost as much as the operation.)
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")

# What a node can keep of an argument instead of the tensor itself, by the ending of its name.
DERIVED = {"_sym_sizes": "{}_.shape", "_sym_strides": "strides_of({}_)", "_sym_numel": "{}_.size", "_sym_argsize_0": "len({}_)",
           "_dim": "{}_.ndim"}

new = object.__new__
Operand = Any           # in a kernel's signature: a tensor or a number without a derivative; ``Tensor``: a tensor, not a number
OPS: dict[str, Op] = {}
PUBLIC: dict[str, Callable] = {}        # what `minigrad` exports as functions


class _Watch:
    """The one observer of operations; None costs a test per operation."""

    callback: Callable | None = None


watch = _Watch()


class _Formula:
    """Is a backward formula running on Tensors? Its numbers then make nodes of their own, as C++'s do: MulBackward1."""

    running = False


formula = _Formula()


class _SavedFloat(float):
    """A number that the user's operation saved in a tensor's place: no number of the formula's own."""


class _SavedInt(int):
    """The same for a whole number."""


def saved_number(value: Any) -> Any:
    """Mark a saved Python number as the user's."""
    return _SavedFloat(value) if value.__class__ is float else _SavedInt(value) if value.__class__ is int else value


def run_formula(apply: Callable, node: Node, grad: Any) -> tuple:
    """A node's `apply` with the mark set."""
    formula.running = True
    try:
        return apply(node, grad, True)
    finally:
        formula.running = False


@contextmanager
def observe(callback: Callable[[Op, tuple, tuple, bool], None]) -> Iterator[None]:
    """Call ``callback(op, args, outputs, recorded)`` after every operation, recorded in the graph or not."""
    before, watch.callback = watch.callback, callback
    try:
        yield
    finally:
        watch.callback = before


def public(*aliases: str, method: bool = True, function: bool = True) -> Callable[[Callable], Callable]:
    """Give a function its places: a Tensor method and one of `minigrad`'s functions, under its name and aliases.

    As in PyTorch, ``axis`` and ``keepdims`` are accepted for ``dim`` and ``keepdim`` there. The module's own name stays bound
    to the function itself, for speed.
    """
    def place(raw: Callable) -> Callable:
        exposed = numpy_names(raw) if "dim" in inspect.signature(raw).parameters else raw
        for name in (raw.__name__, *aliases):
            if method or name.startswith("__"):
                setattr(Tensor, name, exposed)
            if function and not name.startswith("__"):
                PUBLIC[name] = exposed
        return raw
    return place


def numpy_names(function: Callable) -> Callable:
    """The function, which takes ``axis`` and ``keepdims`` as well."""
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for theirs, ours in (("axis", "dim"), ("keepdims", "keepdim")):
            if theirs in kwargs and ours not in kwargs:
                kwargs[ours] = kwargs.pop(theirs)
        return function(*args, **kwargs)
    return call


@functools.cache
def return_type(name: str, fields: str) -> type[tuple]:
    """PyTorch's named result of an operation with several outputs: a tuple that prints as ``torch.return_types.max(…)``."""
    names = fields.split()

    def __repr__(self: tuple) -> str:
        return f"torch.return_types.{name}(\n" + ",\n".join(f"{n}={v!r}" for n, v in zip(names, self, strict=True)) + ")"

    return type(name, (tuple,), {
        "__slots__": (), "__module__": "torch.return_types", "__repr__": __repr__,
        **{n: property(lambda self, i=i: self[i]) for i, n in enumerate(names)}})


class Op:
    """A declared operation: what pictures, formulas and tests can know about it."""

    def __init__(self, kernel: Callable, formulas: dict[str, Callable], tex: str, node: str | None, view: bool | str,
                 inplace: bool, promote: str | None, outputs: tuple[str, ...] | str, saves: tuple[str, ...] = ()) -> None:
        signature = inspect.signature(kernel)
        self.name, self.kernel, self.formulas, self.tex = kernel.__name__, kernel, formulas, tex
        self.view, self.inplace, self.promote, self.outputs = view, inplace, promote, outputs
        self.params = list(signature.parameters)
        self.defaults = {n: p.default for n, p in signature.parameters.items() if p.default is not p.empty}
        self.keyword_only = [n for n, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY]
        self.tensor_params = [n for n, p in signature.parameters.items() if n in formulas or p.annotation in ("Tensor", "Operand")]
        self.strict = [n for n, p in list(signature.parameters.items())[1:] if p.annotation == "Tensor"]
        self.title = re.sub(r"^_|_(all|dims?|numbers?|tensors?|scalar)_?$", "", self.name)     # PyTorch's name of the function
        self.number_form = self.node_name = None
        self.write: Callable[[], str] = str
        if formulas:
            self.node_name = node or "".join(part.title() for part in self.name.strip("_").split("_")) + "Backward0"
            self._plan_saving(saves)

    def _plan_saving(self, extra: tuple[str, ...]) -> None:
        """Sort what the formulas need into tensors (freed, version-checked) and plain values."""
        self.uses = {arg: list(f.__code__.co_varnames[:f.__code__.co_argcount]) for arg, f in self.formulas.items()}
        needed = list(dict.fromkeys([*(n for names in self.uses.values() for n in names), *extra]))
        outputs = () if isinstance(self.outputs, str) else self.outputs
        # In PyTorch's order, which decides whose version error is raised: inputs by name, then outputs.
        self.saved = sorted((n for n in needed if n in outputs or n in self.tensor_params), key=lambda n: (n in outputs, n))
        self.attributes = [n for n in needed if n not in self.saved and n not in ("grad", "grads")]
        self.output_of = {n: i for i, n in enumerate(outputs)}
        # PyTorch saves an input tensor unconditionally, unless one formula alone of several uses it.
        self.saved_for = {}
        for name in self.saved:
            users = [arg for arg, names in self.uses.items() if name in names]
            if name not in extra and name not in outputs and len(users) == 1 and len(self.formulas) > 1 and "tensors" not in self.formulas:
                self.saved_for[name] = users[0]

    @property
    def source(self) -> str:
        """The text of the function that the declaration became."""
        return self.write()

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def op(*names: str, tex: str = "", node: str | None = None, view: bool | str = False, inplace: bool = False,
       promote: str | None = None, outputs: tuple[str, ...] | str = ("result",), saves: tuple[str, ...] = (),
       method: bool = True, number: str = "", **formulas: Callable) -> Callable[[Callable], Callable]:
    """Declare an operation; the module's text says how a declaration reads.

    Parameters
    ----------
    *names : str
        More names of the Tensor method: aliases, ``__mul__``, ``__rmul__`` (called with the arguments as they come).
    tex : str
        The operation as LaTeX, with ``{argument}`` in its place.
    node : str, optional
        The node's name where PyTorch's is not ``<Name>Backward0``.
    view : bool or "alias"
        The kernel returns a window on its input's memory; "alias": the whole of it, as a tensor without history.
    inplace : bool
        Make ``<name>_`` too.
    promote : {"same", "float"}, optional
        Elementwise: cast the tensor arguments to their common type (``"float"``: never an integer) and explain
        shapes that do not broadcast.
    outputs : tuple of str or "list"
        Names of several outputs, or that the kernel returns a list of any length (the formula then takes ``grads``).
    saves : tuple of str
        Further names that PyTorch's node shows as ``_saved_<name>`` though the formula here does not need them.
    method : bool
        Whether it is a Tensor method too; a name with a leading underscore is neither method nor function.
    number : str
        The node's name where a backward formula calls it with a number as its second argument.
    **formulas
        For each differentiable argument, its gradient.
    """
    def declare(kernel: Callable) -> Callable:
        operation = Op(kernel, formulas, tex, node, view, False, promote, outputs, saves)
        if number:
            first = operation.params[0]
            scalar = Op(kernel, {first: formulas[first]}, tex, number, False, False, None, outputs)
            operation.number_form = _compile(scalar, lambda: _forward_source(scalar))
        call = _compile(operation, lambda: _forward_source(operation))
        OPS[operation.name] = operation
        for name in names:
            if name.startswith("__"):
                setattr(Tensor, name, _compile(operation, lambda: _forward_source(operation, "return NotImplemented")))
        if not operation.name.startswith("_"):
            public(*(n for n in names if not n.startswith("__")), method=method)(call)
        if inplace:
            twin = Op(kernel, formulas, tex, node or operation.node_name, view, True, promote, outputs, saves)
            twin.name += "_"
            twin.node_class = getattr(operation, "node_class", None)
            OPS[twin.name] = twin
            setattr(Tensor, twin.name, _compile(twin, lambda: _inplace_source(twin)))
            for name in names:
                if name.startswith("__") and not name.startswith("__r"):
                    augmented = "__i" + name.removeprefix("__")
                    setattr(Tensor, augmented, _compile(twin, lambda: _inplace_source(twin, "return NotImplemented")))
                elif not name.startswith("__"):
                    setattr(Tensor, name + "_", getattr(Tensor, twin.name))
        return call
    return declare


# Compiling a declaration ---------------------------------------------------------------------------------------------------

def _compile(operation: Op, write: Callable[[], str]) -> Callable:
    """Make the function whose text `write` returns, in the namespace that the generated code needs."""
    if operation.formulas and not hasattr(operation, "node_class"):
        operation.node_class = _node_class(operation)

    def source() -> str:
        return re.sub(r"\bself(_?)\b", r"input\1", write())     # PyTorch's name of it in a call

    operation.write = source
    function = _deferred(operation.name, source, f"<op {operation.name}>", dict(
        kernel=operation.kernel, op=operation, number_form=operation.number_form, NodeClass=getattr(operation, "node_class", None),
        **{f"default_{n}": v for n, v in operation.defaults.items()}))
    function.__doc__, function.__module__, function.op = operation.kernel.__doc__, operation.kernel.__module__, operation
    function.__wrapped__ = operation.kernel     # for inspect.signature and help()
    return function


_serial = itertools.count()


def _deferred(name: str, write: Callable[[], str], filename: str, constants: dict[str, Any]) -> Callable:
    """A function that is written and compiled when it is first called, so that an import pays for no operation it does not use.

    Its globals are this module's. What is its own (`constants`) stands there too, under names that no text can spell: the
    compiled code is given those names in place of the plain ones.
    """
    tag = f"{filename} {next(_serial)} "
    names = {n: tag + n for n in (*constants, "itself", "build")}

    def build() -> Callable:
        text, place = write(), dict(constants)
        exec(compile(text, filename, "exec"), globals(), place)
        made = place[name]
        function.__code__ = _renamed(made.__code__, names)
        function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)     # for tracebacks
        return function

    function = FunctionType(_renamed(_first_call.__code__, names), globals(), name)
    globals().update({names[n]: value for n, value in {**constants, "itself": function, "build": build}.items()})
    return function


def _first_call(*args: Any, **kwargs: Any) -> Any:
    return build()(*args, **kwargs)  # noqa: F821 - each deferred function has a `build` of its own


def _renamed(code: CodeType, names: dict[str, str]) -> CodeType:
    return code.replace(co_names=tuple(names.get(n, n) for n in code.co_names))


def _signature(operation: Op) -> str:
    parts = [f"{n}=default_{n}" if n in operation.defaults else n for n in operation.params]
    if operation.keyword_only:
        parts.insert(len(parts) - len(operation.keyword_only), "*")
    return ", ".join(parts)


def _arguments(operation: Op, reject: str | None) -> list[str]:
    """Lines that take the arrays out of the tensor arguments, cast to their common type."""
    lines = []
    for n in operation.tensor_params:
        if n == "tensors":
            lines.append("    tensors_ = [t.array for t in tensors]")
        elif n == operation.params[0]:
            lines.append(f"    {n}_ = {n}.array")
        elif n in operation.strict:
            lines += [f"    {n}_ = {n}.array if isinstance({n}, Tensor) else {n}",
                      f"    if not isinstance({n}_, (ndarray, np.generic)):",
                      f"        raise not_a_tensor(op, '{n}', {n})"]
        elif operation.promote:
            lines += [f"    if isinstance({n}, Tensor):", f"        {n}_ = {n}.array",
                      f"    elif isinstance({n}, ndarray):", f"        {reject or f'raise wrong_type(op, {n})'}",
                      "    else:", f"        {n}_ = {n}"]
        else:
            lines.append(f"    {n}_ = {n}.array if isinstance({n}, Tensor) else {n}")
    if operation.promote:
        values = ", ".join(f"{n}_" for n in operation.tensor_params)
        others = operation.tensor_params[1:]
        floating = operation.promote == "float"
        first = f"{operation.tensor_params[0]}_"
        same = " and ".join(f"{n}_.__class__ is ndarray and {n}_.dtype is {first}.dtype" for n in others) or "True"
        if floating:
            same += f" and {first}.dtype.kind == 'f'"
        reject = reject or f"raise wrong_type(op, {', '.join(others) or 'self'})"
        lines.append(f"    if not ({same}):")
        if operation.number_form is not None and not operation.inplace:
            lines += [f"        if formula.running and {others[0]}.__class__ in (int, float):",
                      f"            return number_form({operation.params[0]}, {others[0]})"]
        if hasattr(operation.kernel, "check"):
            lines.append(f"        kernel.check({values})")
        lines += [f"        common = dtypes.promote({values}, floating={floating})",
                  "        if common is None:",
                  f"            {reject}",
                  f"        {values}{',' if not others else ''} = common"]
    return lines


def _kernel_call(operation: Op, plain: bool = False) -> str:
    arrays = () if plain else operation.tensor_params
    return "kernel({})".format(", ".join(
        f"{n}={n}" if n in operation.keyword_only else f"{n}_" if n in arrays else n for n in operation.params))


def _run_lines(operation: Op, call: str) -> list[str]:
    """Lines that run the kernel. NumPy's warnings of 1 / 0 are PyTorch's silence even where warnings are made errors."""
    lines = ["    try:", f"        array = {call}", "    except RuntimeWarning:", "        with np.errstate(all='ignore'):",
             f"            array = {call}"]
    if operation.promote:
        lines += ["    except ValueError:",
                  f"        raise shape_error({', '.join(f'{n}_' for n in operation.tensor_params)}) from None"]
    return lines


def _wants_grad(operation: Op) -> str:
    """The expression: does any differentiable argument require grad?"""
    parts = []
    for n in operation.formulas:
        if n == "tensors":
            parts.append("any(t.requires_grad for t in tensors)")
        elif n == operation.params[0]:
            parts.append(f"({n}._requires_grad or {n}._view is not None and {n}.requires_grad)")
        else:
            parts.append(f"(isinstance({n}, Tensor) and ({n}._requires_grad or {n}._view is not None and {n}.requires_grad))")
    return " or ".join(parts)


def _record_lines(operation: Op, arrays: str, several: bool = False) -> list[str]:
    """Lines that make the node (without a call of its class, for speed) with its edges and plain values."""
    edges = []
    for n in operation.formulas:
        fast = f"{n}._edge if {n}._edge is not None and {n}._view is None else gradient_edge({n})"
        if n == "tensors":
            edges.append("*[gradient_edge(t) for t in tensors]")
        else:
            edges.append(f"({fast})" if n == operation.params[0] else f"({fast}) if isinstance({n}, Tensor) else NO_EDGE")
    lines = ["        node = new(NodeClass)",
             f"        node.next_functions = ({', '.join(edges)},)",
             "        node.hooks = None",
             "        node._number = next_sequence()"]
    if several:
        lines.append(f"        node.shapes, node.dtypes = shapes_of({arrays})")
    else:
        lines += [f"        node.shapes = ({arrays}.shape,)", f"        node.dtypes = ({arrays}.dtype,)"]
    attributes = [_attribute(operation, n) for n in operation.attributes]
    lines.append(f"        node._attributes = ({', '.join(attributes)}{',' if attributes else ''})")
    return lines


def _attribute(operation: Op, name: str) -> str:
    """The expression of a plain value that the node keeps."""
    if name == "_tensors_sym_sizes":
        return "[t.shape for t in tensors_]"
    for ending, expression in DERIVED.items():
        argument = name.removesuffix(ending)
        if argument != name and argument in operation.tensor_params:
            value = expression.format(argument)
            if ending == "_sym_strides":        # PyTorch keeps these only for a gradient that will be asked for
                edge = list(operation.formulas).index(argument)
                value = f"{value} if node.next_functions[{edge}][0] is not None else ()"
            return value
    return name


def _remember_lines(operation: Op, result: str) -> list[str]:
    """Lines that save tensors, with the versions they have now; the result of an in-place operation follows after the write."""
    lines, names = [], []
    for i, n in enumerate(operation.saved):
        if n in operation.output_of:
            made = result if len(operation.outputs) == 1 else f"{result}[{operation.output_of[n]}]"
            value = "None" if operation.inplace else f"alias({made})"
        else:
            value = f"{n}.clone()" if operation.inplace and n == operation.params[0] else n
            user = operation.saved_for.get(n)
            if user is not None:
                edge = list(operation.formulas).index(user)
                value = f"{value} if node.next_functions[{edge}][0] is not None else None"
        lines.append(f"        saved_{i} = {value}")
        names.append(f"saved_{i}")
    versions = [f"{n}._storage.version if {n}.__class__ is Tensor and not {n}._inference else version_of({n})" for n in names]
    return [*lines, f"        node._saved = ({', '.join(names)}{',' if names else ''})",
            f"        node._versions = ({', '.join(versions)}{',' if names else ''})",
            "        if special.active:", "            node.finish()"]


def _observer_lines(operation: Op, outputs: str, recorded: str) -> list[str]:
    return ["    if watch.callback is not None:",
            f"        watch.callback(op, ({', '.join(operation.params)},), {outputs}, {recorded})"]


def _forward_source(operation: Op, reject: str | None = None) -> str:
    """The text of the operation."""
    first = operation.params[0]
    params = ", ".join(operation.params)
    lines = [f"def {operation.name}({_signature(operation)}):"]
    if first == "tensors":
        lines += ["    if not any(isinstance(t, Tensor) for t in tensors):",
                  f"        return {_kernel_call(operation, plain=True)}"]
    else:
        lines += [f"    if not isinstance({first}, Tensor):",
                  f"        if not any_tensor({params}):",
                  f"            return {_kernel_call(operation, plain=True)} if is_array({params}) else reject(op, ({params},))",
                  f"        {first} = as_tensor({first})"]
    lines += _arguments(operation, reject)
    lines += _run_lines(operation, _kernel_call(operation))
    several = operation.outputs == "list" or len(operation.outputs) > 1
    if not several:
        lines += ["    if array.__class__ is not ndarray:", "        array = asarray(array)"]
    if operation.view == "alias":
        lines.append(f"    result = alias({first})")
    elif operation.view:
        lines.append(f"    result = [view_of({first}, a, True) for a in array]" if several else
                     f"    result = view_of({first}, array)")
    else:
        lines.append("    result = [wrap(asarray(a)) for a in array]" if several else "    result = wrap(array)")
    recorded = "False"
    if operation.formulas:
        recorded = "recorded"
        lines += [f"    recorded = state.recording and ({_wants_grad(operation)})", "    if recorded:"]
        lines += _record_lines(operation, "[t.array for t in result]" if several else "array", several)
        lines += _remember_lines(operation, "result")
        if several:
            lines += ["        attach(result, node)"]
        else:
            lines += ["        result._requires_grad = True", "        result._edge = (node, 0)"]
    if several:
        lines += ["    result = tuple(result)"]
    lines += _observer_lines(operation, "result" if several else "(result,)", recorded)
    lines.append("    return result")
    return "\n".join(lines) + "\n"


def _inplace_source(operation: Op, reject: str | None = None) -> str:
    """The text of the in-place twin: nothing is changed before everything that can fail has passed."""
    first = operation.params[0]
    wanted = f"state.recording and {first}.array.dtype.kind == 'f' and ({_wants_grad(operation)})" if operation.formulas else "False"
    lines = [f"def {operation.name}({_signature(operation)}):",
             f"    recorded = {wanted}",
             f"    check_inplace({first}, recorded)"]
    if operation.promote or operation.name == "_copy_":
        lines.append(f"    check_memory({', '.join(operation.tensor_params)})")
    lines += _arguments(operation, reject)
    lines += _run_lines(operation, f"asarray({_kernel_call(operation)})")
    lines.append(f"    check_write({first}, array)")
    if operation.formulas:
        lines += ["    if recorded:", *_record_lines(operation, f"{first}.array"), *_remember_lines(operation, first)]
    lines.append(f"    write({first}, array)")
    if operation.formulas:
        lines.append("    if recorded:")
        lines += [f"        node.remember_result({i}, alias({first}))" for i, n in enumerate(operation.saved)
                  if n in operation.output_of]
        lines.append(f"        rebase_history({first}, node)")
    lines += _observer_lines(operation, f"({first},)", "recorded")
    lines.append(f"    return {first}")
    return "\n".join(lines) + "\n"


def _apply_source(operation: Op) -> str:
    """The text of a node's `apply`: it runs the formulas of the inputs that want a gradient."""
    lines = ["def apply(node, grad, graph):", "    if graph and not formula.running:", "        return run_formula(itself, node, grad)"]
    several = operation.outputs == "list"
    if several:
        lines += ["    grads = fill(node, grad, graph)", "    if grads is None:"]
    else:
        lines += ["    if grad.__class__ is list:", "        grad = grad[0]", "    if grad is None:"]
    lines += ["        return (None,) * len(node.next_functions)",
              "    if node._saved is None:", "        raise node._freed_error()"]
    for i, n in enumerate(operation.saved):
        lines += [f"    {n} = node._saved[{i}]",
                  f"    if not graph and {n}.__class__ is Tensor and {n}._storage.version == node._versions[{i}]:",
                  f"        {n} = {n}.array",
                  "    else:",
                  f"        {n} = node.unpack({i}, graph)"]
        if n not in operation.output_of:
            lines += ["        if graph:", f"            {n} = saved_number({n})"]
    if operation.attributes:
        lines.append(f"    {', '.join(operation.attributes)}, = node._attributes")
    lines.append("    edges = node.next_functions")
    if "tensors" in operation.formulas:
        lines.append(f"    return formula_tensors({', '.join(operation.uses['tensors'])})")
    else:
        parts = [f"formula_{arg}({', '.join(operation.uses[arg])}) if edges[{i}][0] is not None else None"
                 for i, arg in enumerate(operation.formulas)]
        lines.append(f"    return ({', '.join(parts)},)")
    return "\n".join(lines) + "\n"


def _node_class(operation: Op) -> type[Node]:
    """The node's class."""
    apply = _deferred("apply", lambda: _apply_source(operation), f"<{operation.node_name}>",
                      {f"formula_{arg}": f for arg, f in operation.formulas.items()})
    return type(operation.node_name.rsplit("::")[-1], (OpNode,), {
        "__slots__": (), "apply": apply, "op": operation, "saved_names": tuple(operation.saved),
        "saved_outputs": tuple(None if n == "indices" else operation.output_of.get(n) for n in operation.saved),
        "attribute_names": tuple(operation.attributes), "__module__": __name__})


class OpNode(Node):
    """A node made from a declaration; ``node.op`` is the operation."""

    __slots__ = ()

    def name(self) -> str:
        return self.op.node_name

    def _saved_names(self) -> tuple[str, ...]:
        return tuple(n for n in Node._saved_names(self) if not n.startswith("_"))

    def __getattr__(self, name: str) -> Any:
        value = Node.__getattr__(self, name)
        if name.removeprefix("_saved_") in self.saved_names and isinstance(value, (bool, int, float)):
            return wrap(asarray(value))     # a number in a tensor's place, as in x * 3
        return value


# What the generated functions call -----------------------------------------------------------------------------------------

def any_tensor(*values: Any) -> bool:
    return any(isinstance(v, Tensor) for v in values)


def is_array(*values: Any) -> bool:
    return any(isinstance(v, (np.ndarray, np.generic)) for v in values)


def as_tensor(value: Any) -> Tensor:
    """A number or ndarray as a tensor, for calls like ``mg.mul(2, x)``."""
    return wrap(np.asarray(value, dtypes.number_dtype(value) if isinstance(value, (bool, int, float)) else None))


def wrong_type(operation: Op, *values: Any) -> TypeError:
    """The error for an argument that is neither a tensor nor a number."""
    bad = next(v for v in values if not isinstance(v, (Tensor, np.generic, int, float)))
    position = 1 + next(i for i, v in enumerate(values) if v is bad)
    shift = len(operation.tensor_params) - len(values)
    name = operation.tensor_params[position - 1 + shift].replace("self", "input")
    return TypeError(f"{operation.title}(): argument '{name}' (position {position + shift}) must be Tensor, not "
                     f"{type(bad).__name__}")


def not_a_tensor(operation: Op, name: str, value: Any) -> TypeError:
    """The error for a number in the place of an argument that must be a tensor."""
    return TypeError(f"{operation.title}(): argument '{name}' (position {operation.params.index(name) + 1}) must be "
                     f"Tensor, not {type(value).__name__}")


def reject(operation: Op, args: tuple) -> None:
    """Refuse a call without any tensor or array."""
    raise TypeError(f"{operation.title}(): argument 'input' (position 1) must be Tensor, not {type(args[0]).__name__}")


def shape_error(*arrays: np.ndarray) -> RuntimeError:
    """The error for shapes that do not broadcast."""
    shapes = [a.shape for a in arrays if isinstance(a, np.ndarray)]
    texts = [reasons.sizes_differ(shapes[0], shape) for shape in shapes[1:]]
    return RuntimeError(next((text for text in texts if text), f"shapes {[list(s) for s in shapes]} do not broadcast"))


def shapes_of(arrays: list[np.ndarray]) -> tuple[tuple, tuple]:
    """Shapes and dtypes of the outputs that can have a gradient."""
    arrays = [a for a in arrays if a.dtype.kind == "f"]
    return tuple([a.shape for a in arrays]), tuple([a.dtype for a in arrays])


def alias(tensor: Tensor) -> Tensor:
    """The tensor without its place in the graph: a node that held its own output would keep itself alive."""
    result = wrap(tensor.array, tensor._storage)
    result._inference = tensor._inference
    return result


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """Steps in elements, as PyTorch counts."""
    return tuple([s // array.itemsize for s in array.strides])


def attach(results: list[Tensor], node: Node) -> None:
    """Make the floating-point results the outputs of a node."""
    for i, result in enumerate(r for r in results if r.array.dtype.kind == "f"):
        result._requires_grad, result._edge = True, (node, i)


def fill(node: Node, grads: Any, graph: bool) -> list | None:
    """One gradient per output of a node with a list of outputs: zeros where none arrived; None if nothing did at all."""
    grads = grads if isinstance(grads, list) else [grads]
    if all(g is None for g in grads):
        return None
    zeros = [np.zeros(s, d) if g is None else None for g, s, d in zip(grads, node.shapes, node.dtypes, strict=True)]
    return [(wrap(z) if graph else z) if g is None else g for g, z in zip(grads, zeros, strict=True)]


# Views and in-place writes -------------------------------------------------------------------------------------------------

def view_of(tensor: Tensor, array: np.ndarray, one_of_several: bool = False) -> Tensor:
    """A tensor that looks into another one's memory."""
    result = wrap(array, tensor._storage)
    parent = tensor._view
    origin = "inference" if state.inference else "no_grad" if not state.enabled else "several" if one_of_several else ""
    if parent is None:
        result._view = View(tensor, origin, tensor._storage.version)
    else:
        result._view = View(parent.base, origin or parent.origin, tensor._storage.version)
    result._inference = tensor._inference
    return result


def check_view(tensor: Tensor, indirect: bool) -> None:
    """Refuse to write through a view whose history could not be kept right.

    Raises
    ------
    RuntimeError
        With PyTorch's text for views made under no_grad, by ``unbind`` and its like, or inside a custom Function.
    """
    origin = tensor._view.origin
    if not origin:
        return
    done = "its base or another view of its base has been" if indirect else "is being"
    node, output_nr = tensor._edge or (None, 0)
    if node is not None and origin not in ("no_grad", "inference"):
        text = f"Output {output_nr} of {forward_name(node)} is a view and {done} modified inplace."
    else:
        text = "A view was" if node is None else f"Output {output_nr} of {forward_name(node)} is a view of a view which was"
        text += (f" created in inference mode and {done} modified inplace in normal mode." if origin == "inference" else
                 f" created in no_grad mode and {done} modified inplace with grad mode enabled.")
    raise RuntimeError(text + reasons.VIEW_ORIGINS[origin])


def check_inplace(tensor: Tensor, recorded: bool) -> None:
    """Refuse an in-place operation that the graph could not tell the truth about."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"expected a Tensor to write into, got {type(tensor).__name__}")
    if tensor._inference and not state.inference:
        raise RuntimeError(reasons.INFERENCE_WRITE)
    if not recorded:
        return
    if tensor._view is not None:
        check_view(tensor, indirect=False)
        if tensor.requires_grad and tensor._view.base.is_leaf:
            raise RuntimeError(reasons.LEAF_VIEW_INPLACE)
    if tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(reasons.LEAF_INPLACE)


def check_write(tensor: Tensor, array: np.ndarray) -> None:
    """Refuse to write an array that does not fit: wrong shape, lossy type, memory that overlaps itself."""
    target = tensor.array
    if array.shape != target.shape and np.broadcast_shapes(array.shape, target.shape) != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape "
                           f"{list(np.broadcast_shapes(array.shape, target.shape))}")
    kinds = {"b": 0, "i": 1, "u": 1, "f": 2}
    if kinds[array.dtype.kind] > kinds[target.dtype.kind]:
        names = [dtypes.of_numpy[a.dtype].scalar_type for a in (array, target)]
        raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")
    check_overlap(target)


def check_overlap(target: np.ndarray) -> None:
    """Refuse to write where one memory place stands for several elements."""
    if 0 in target.strides and target.size and any(
            stride == 0 and size > 1 for stride, size in zip(target.strides, target.shape, strict=True)):
        raise RuntimeError(reasons.OVERLAP)


def check_memory(tensor: Tensor, *others: Any) -> None:
    """Refuse an elementwise write into memory that overlaps itself, or that another argument sees differently.

    ``x.t().sub_(x)`` would read elements that it has written already.
    """
    target = tensor.array
    check_overlap(target)
    for other in others:
        if not isinstance(other, Tensor) or other is tensor or other._storage.buffer is not tensor._storage.buffer:
            continue
        array = other.array
        if not (target.size and array.size and _dense(target) and _dense(array)):
            continue
        (low, high), (begin, end) = np.lib.array_utils.byte_bounds(target), np.lib.array_utils.byte_bounds(array)
        if low < end and begin < high and (low, high, target.strides) != (begin, end, array.strides):
            raise RuntimeError(reasons.PARTIAL_OVERLAP)


def _dense(array: np.ndarray) -> bool:
    """Whether the elements lie in memory without gaps, in any order of the dimensions."""
    expected = array.itemsize
    for stride, size in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= size
    return True


def write(tensor: Tensor, array: np.ndarray) -> None:
    """Overwrite the elements, and count it in the version that views and detached aliases share."""
    tensor.array[...] = array
    tensor._storage.bump()


def reshaping(name: str, view: Callable, node: str) -> Callable:
    """The method that makes a tensor its own view: ``t_`` of ``t``, with PyTorch's name of the node.

    Memory and base stay; the shape is new, the version counts, and the view's node is the tensor's history.
    """
    twin = Op(view.op.kernel, view.op.formulas, view.op.tex, node, True, True, None, view.op.outputs)
    twin.name = name
    operation = _compile(twin, lambda: _forward_source(twin))
    OPS[name] = twin

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        recorded = state.enabled and self.requires_grad
        check_inplace(self, recorded)
        result = operation(self, *args, **kwargs)
        self.array = result.array
        self._storage.bump()
        if recorded:
            _set_history(self, result._edge[0])
        if self._view is not None:
            self._view.version = self._storage.version
        return self

    method.__name__, method.__doc__ = name, f"`{name[:-1].strip('_')}` in place: this tensor gets the new shape."
    setattr(Tensor, name, numpy_names(method))
    return method


def rebase_history(tensor: Tensor, node: Node) -> None:
    """After a recorded in-place write: the node is this tensor's history now, or a part of its base's."""
    if tensor._view is None:
        _set_history(tensor, node)
        return
    base = tensor._view.base
    _set_history(base, CopySlices(base, tensor, node))
    tensor._renew_history()


def _set_history(tensor: Tensor, node: Node) -> None:
    old, tensor._edge, tensor._requires_grad = tensor._edge, (node, 0), True
    if tensor._retains and old is not None:
        # retain_grad() asks for the gradient of the tensor as it is now; ordinary hooks stay with its past.
        reference = old[0]._own_hooks().retain.pop(old[1], None)
        if reference is not None:
            node._own_hooks().retain[0] = reference


def _renew_history(self: Tensor) -> None:
    """Build a view's history anew after its base, or another view of it, was written in place."""
    check_view(self, indirect=True)
    base = self._view.base
    node = AsStridedBackward0((gradient_edge(base),), (self.array.shape,), (self.array.dtype,))
    node._attributes = (self.array.shape, self.stride(), self.storage_offset())
    node.geometry = Geometry(base, self)
    _set_history(self, node)
    self._view.version = self._storage.version


Tensor._renew_history = _renew_history


class Geometry:
    """Where a view lies on its base: two windows on one stretch of memory, in bytes from its beginning."""

    __slots__ = ("base", "view", "size")

    def __init__(self, base: Tensor, view: Tensor) -> None:
        low = min(np.lib.array_utils.byte_bounds(t.array)[0] for t in (base, view))
        high = max(np.lib.array_utils.byte_bounds(t.array)[1] for t in (base, view))
        self.size = (high - low) // base.array.itemsize
        self.base, self.view = (
            (t.array.shape, tuple(s // t.array.itemsize for s in t.array.strides), (t.data_ptr() - low) // t.array.itemsize)
            for t in (base, view))


def _window(flat: np.ndarray, place: tuple) -> np.ndarray:
    shape, strides, offset = place
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, [s * flat.itemsize for s in strides])


@op(self=lambda grad, geometry: _scatter(grad, geometry))
def _gather(self, geometry):
    """The part of a base (or of its gradient) that a view looks at."""
    flat = np.zeros(geometry.size, self.dtype)
    _window(flat, geometry.base)[...] = self
    return _window(flat, geometry.view).copy()


@op(self=lambda grad, geometry: _gather(grad, geometry))
def _scatter(self, geometry):
    """Zeros in the base's shape, with a view's values added in its place (twice where the view looks twice)."""
    flat = np.zeros(geometry.size, self.dtype)
    places = _window(np.arange(geometry.size), geometry.view)
    np.add.at(flat, places, self)
    return _window(flat, geometry.base).copy()


@op(self=lambda grad, geometry: _replace(grad, 0.0, geometry), values=lambda grad, geometry: _gather(grad, geometry))
def _replace(self, values, geometry):
    """The base with a view's part of it replaced."""
    flat = np.zeros(geometry.size, self.dtype)
    _window(flat, geometry.base)[...] = self
    _window(flat, geometry.view)[...] = values
    return _window(flat, geometry.base).copy()


class AsStridedBackward0(Node):
    """The renewed history of a view: a window on its base as that is now."""

    __slots__ = ("geometry",)
    name = Node.name
    attribute_names = ("size", "stride", "storage_offset")

    def apply(self, grad: Any, graph: bool) -> tuple:
        return (None if grad is None else _scatter(grad, self.geometry),)


class CopySlices(Node):
    """An in-place operation `fn` on a view, as part of the history of the view's base.

    The gradient of the base passes through unchanged, except where the view lies: there it goes through `fn`.
    """

    __slots__ = ("fn", "geometry")

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, fn: Node | None) -> None:
        super().__init__((gradient_edge(base), *fn.next_functions[1:]), (base.array.shape,), (base.array.dtype,))
        self.fn, self.geometry = fn, Geometry(base, view)

    def release(self) -> None:
        self.fn = None

    def apply(self, grad: Any, graph: bool) -> tuple:
        if self.fn is None:
            raise self._freed_error()
        if grad is None:
            return (None,) * len(self.next_functions)
        first, *others = self.fn.apply(_gather(grad, self.geometry), graph)
        return (_replace(grad, 0.0 if first is None else first, self.geometry), *others)
