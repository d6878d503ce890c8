"""The text of the functions that a declaration becomes: the operation, its in-place twin, and its nodes' ``apply``.

Only text is made here. `function` compiles it, in its own namespace: what the text calls is found there.
"""
from __future__ import annotations

from collections.abc import Iterable
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .function import Op

# What a node can keep of an argument instead of the tensor itself, by the ending of its name.
DERIVED = {"_sym_sizes": "{}_.shape", "_sym_strides": "strides_of({}_)", "_sym_numel": "{}_.size", "_sym_argsize_0": "len({}_)",
           "_dim": "{}_.ndim", "_dtype": "{}_.dtype"}

NOT_IMPLEMENTED = "torch::autograd::NotImplemented"     # the node that only says so; it keeps those edges that are wanted


def _function(operation: Op, *blocks: str) -> str:
    """The text of a function with the operation's name and parameters."""
    parts = [f"{n}=default_{n}" if n in operation.defaults else n for n in operation.params]
    if operation.keyword_only:
        parts.insert(len(parts) - len(operation.keyword_only), "*")
    if operation.number_always:
        n = operation.number
        blocks = (f"if isinstance({n}, generic) and isinstance({operation.params[0]}, Tensor):\n    {n} = {n}.item()\n"  # NumPy's, too
                  f"if isinstance({n}, (int, float)):\n    return {_call(operation, 'number_form', ())}\n", *blocks)
    body = "\n".join(block.strip("\n") for block in blocks if block)
    return f"def {operation.name}({', '.join(parts)}):\n" + indent(body, "    ") + "\n"


def _tuple(parts: Iterable[str]) -> str:
    """The text of a tuple."""
    return "(" + "".join(f"{part}, " for part in parts).rstrip() + ")"


def _is_tensor(name: str) -> str:
    """A test of an argument; the usual case is cheaper than `isinstance`."""
    return f"{name}.__class__ is Tensor or isinstance({name}, Tensor)"


def _kinds(operation: Op) -> str:
    """Ask once which of the arguments after the first are tensors."""
    return "".join(f"{n}_is_tensor = {_is_tensor(n)}\n" for n in operation.tensor_params if n != operation.params[0])


def _arguments(operation: Op, reject: str | None) -> tuple[str, str]:
    """Take the arrays out of the tensor arguments; and, which may fail when edges and saved tensors are there, find their common type."""
    first, *others = operation.tensor_params
    if first == "tensors":
        return "tensors_ = [t.array for t in tensors]", ""
    text = f"{first}_ = {first}.array\n"
    refuse = reject or f"raise wrong_operand(op, {', '.join(others or [first])})"
    for n in others:
        text += f"if {n}_is_tensor:\n    {n}_ = {n}.array\n"
        if n in operation.strict:
            text += f"elif not isinstance({n}, ARRAY):\n    raise wrong_type(op, '{n}', {n})\n"
        elif operation.promote:
            numbers = f" and {n}.dtype.kind not in 'biuf'" if reject and operation.name == "eq" else ""      # x == array takes arrays
            text += f"elif isinstance({n}, ndarray){numbers}:\n    {refuse}\n"
        text += f"else:\n    {n}_ = {n}\n"
    if not operation.promote:
        return text, ""
    arrays = [f"{n}_" for n in operation.tensor_params]
    same = [f"{n}_.__class__ is ndarray and {n}_.dtype is {first}_.dtype" for n in others]
    if operation.promote == "float":
        same.append(f"{first}_.dtype.kind == 'f'")
    if not same:
        return text + "same = True\n", ""
    text += f"same = {' and '.join(same)}\n"
    if operation.number and not operation.number_always:
        text += (f"if not same and formula.running and {operation.number}.__class__ in (int, float):\n"
                 f"    return number_form({first}, {operation.number})\n")
    cast = "if not same:\n"
    if operation.kernel.check:
        cast += f"    kernel.check({', '.join(arrays)})\n"
    cast += (f"    common = dtypes.promote({', '.join(arrays)}, floating={operation.promote == 'float'})\n"
             f"    if common is None:\n        {refuse}\n"
             f"    {_tuple(arrays)[1:-1]} = common\n")
    if operation.inplace:
        cast += f"    check_memory({', '.join(operation.tensor_params)})\n    check_result({first}, {', '.join(arrays)})\n"
    return text, cast


def _call(operation: Op, function: str, arrays: Iterable[str]) -> str:
    """The text of a call with all arguments: the arrays of those, the others as they are."""
    return function + "({})".format(", ".join(
        f"{n}={n}" if n in operation.keyword_only else f"{n}_" if n in arrays else n for n in operation.params))


def _run(operation: Op) -> str:
    """Run the kernel, in silence."""
    call = f"array = {_call(operation, 'kernel', operation.tensor_params)}\n"
    text = "if not warnings.filters or warnings.filters[0] is not quiet:\n    keep_quiet()\n"
    failed = "MemoryError as error:\n    raise reasons.too_large(error) from None\n"
    if operation.promote:
        arrays = ", ".join(f"{n}_" for n in operation.tensor_params)
        target = f", into={operation.params[0]}" if operation.inplace else ""
        failed = f"(ValueError, NotImplementedError, MemoryError) as error:\n    raise operand_error(error, {arrays}{target}) from None\n"
    text += f"try:\n    {call}except {failed}"
    if not operation.several:
        text += "if array.__class__ is not ndarray:\n    array = asarray(array)\n"
    if operation.promote and not operation.inplace:
        arrays = [f"{n}_" for n in operation.tensor_params]
        text += (f"if array.ndim > 1 and not ({' and '.join(f'{a}.flags.c_contiguous' for a in arrays)}):\n"
                 f"    array = arranged(array, *[t.array for t in {_tuple(operation.tensor_params)} if isinstance(t, Tensor)])\n")
    return text


def _next(operation: Op) -> str:
    """Find the node that the gradient of each differentiable argument goes to; the usual cases without a call."""
    text = ""
    for i, n in enumerate(operation.formulas):
        if n == "tensors":
            return "nodes = tuple([gradient_node(t) for t in tensors])\n"
        node = (f"({n}._node or {n}._accumulator and {n}._accumulator() or gradient_node({n}) if {n}._requires_grad else None) "
                f"if {n}._view is None else gradient_node({n})")
        text += f"next_{i} = {node if n == operation.params[0] else f'({node}) if {n}_is_tensor else None'}\n"
    return text


def _wants_grad(operation: Op) -> str:
    """Is the operation to be recorded? (A view made under no_grad may require grad, as its base does, without an edge.)"""
    if "tensors" in operation.formulas:
        return "any(t.requires_grad for t in tensors)"
    return " or ".join([f"next_{i} is not None" for i in range(len(operation.formulas))] + [
        f"{'' if n == operation.params[0] else f'{n}_is_tensor and '}{n}._view is not None and {n}.requires_grad"
        for n in operation.formulas])


def _node(operation: Op) -> str:
    """Make the node (without a call of its class, for speed): its edges, and the arguments that it saves, as they are now."""
    number = "LAST_SEQUENCE_NR" if operation.node_name == NOT_IMPLEMENTED else "next_sequence()"
    text = f"node = new(NodeClass)\nnode.hooks = None\nnode._number = {number}\n"
    if "tensors" in operation.formulas:
        text += "node._next = nodes\nnode._next_nrs = tuple([t._output_nr for t in tensors])\n"
    elif operation.node_name == NOT_IMPLEMENTED:
        text += (f"wanted = [t for t in {_tuple(operation.formulas)} if isinstance(t, Tensor) and t.requires_grad]\n"
                 "node._next = tuple([gradient_node(t) for t in wanted])\nnode._next_nrs = tuple([t._output_nr for t in wanted])\n")
    else:
        numbers = [f"next_{i} is not None and {n}._output_nr" for i, n in enumerate(operation.formulas)]
        text += (f"node._next = {_tuple(f'next_{i}' for i in range(len(operation.formulas)))}\n"
                 f"if {' or '.join(numbers)}:\n    node._next_nrs = {_tuple(f'{n} or 0' for n in numbers)}\n")
    for i, n in enumerate(operation.saved):
        value = "None" if n in operation.output_of else f"{n}.clone()" if operation.inplace and n == operation.params[0] else n
        user = operation.saved_for.get(n)
        if user is not None:
            value += f" if next_{list(operation.formulas).index(user)} is not None else None"
        text += f"saved_{i} = {value}\n"
    if all(n in operation.output_of for n in operation.saved) and not (operation.inplace and operation.saved):
        return text + f"if special.active:\n    node._saved = node._versions = (None,) * {len(operation.saved)}\n    node.finish()\n"
    return text + _save(operation) + "if special.active:\n    node.finish()\n"


def _save(operation: Op) -> str:
    """Let the node remember what was saved, and the versions."""
    names = [f"saved_{i}" for i in range(len(operation.saved))]
    return f"node._saved = {_tuple(names)}\n" + "node._versions = {}\n".format(_tuple(
        f"(0 if {n}._store is None else {n}._store.version) if {n}.__class__ is Tensor and not {n}._inference else version_of({n})"
        for n in names)) if names else ""


def _outcome(operation: Op, array: str, result: str) -> str:
    """What the node keeps of the outcome: how gradients of it look, plain values, and results.

    A hook on saved tensors gets the very result; else the node saves one without the way back to itself.
    """
    text = f"expect(node, {result})\n" if operation.several else f"node.shape = {array}.shape\nnode.dtype = {array}.dtype\n"
    text += f"node.alike = {'same' if operation.promote else False}\n"
    if operation.attributes:
        text += f"node._attributes = {_tuple(_attribute(operation, n) for n in operation.attributes)}\n"
    results = {i: f"{result}[{operation.output_of[n]}]" if operation.several else result
               for i, n in enumerate(operation.saved) if n in operation.output_of}
    if operation.inplace:
        text += "".join(f"node.remember_result({i}, {made} if saved_hooks else alias({made}))\n" for i, made in results.items())
    elif results:
        text += "if saved_hooks:\n" + "".join(f"    node.remember_result({i}, {made})\n" for i, made in results.items()) + "else:\n"
        for i, made in results.items():     # indices have no way back
            text += f"    saved_{i} = " + (f"{made}\n" if operation.saved[i] == "indices" else f"alias({made})\n")
        text += indent(_save(operation), "    ")
    return text


def _attribute(operation: Op, name: str) -> str:
    """The text of a plain value that the node keeps: an argument, or something of its array."""
    if name == "_tensors_sym_sizes":
        return "[t.shape for t in tensors_]"
    for ending, expression in DERIVED.items():
        argument = name.removesuffix(ending).removeprefix("_")
        if name.endswith(ending) and argument in operation.tensor_params:
            value = expression.format(argument)
            if ending == "_sym_strides":        # PyTorch keeps these only where a gradient may be asked for
                value += f" if isinstance({argument}, Tensor) and {argument}.requires_grad else ()"
            return value
    return name


def _observe(operation: Op, outputs: str, recorded: str) -> str:
    return f"if watch.callback is not None:\n    watch.callback(op, {_tuple(operation.params)}, {outputs}, {recorded})\n"


# `tensor.wrap`, without the call.
WRAP = """\
result = new(Tensor)
result.array = array
result._store = result._node = result._view = None
result._requires_grad = False
result._inference = recording is None
result._output_nr = 0
"""


def forward_source(operation: Op, reject: str | None = None) -> str:
    """The text of the operation."""
    first = operation.params[0]
    plain = _call(operation, "kernel", ())
    if first == "tensors":
        entry = f"if not any(isinstance(t, Tensor) for t in tensors):\n    return {plain}\n"
    else:
        others = " or ".join(f"isinstance({n}, Tensor)" for n in operation.tensor_params[1:])
        is_array = " or ".join(f"isinstance({n}, ARRAY)" for n in operation.tensor_params)
        entry = (f"if not ({_is_tensor(first)}):\n" + (f"    if not ({others}):\n    " if others else "") +
                 f"    if {first}.__class__ is ndarray or {is_array}:\n"
                 f"        {'    ' * bool(others)}return {plain}\n    {'    ' * bool(others)}reject(op, {first})\n" +
                 (f"    {first} = as_tensor({first})\n" if others else ""))
    inline = not operation.view and not operation.several and operation.formulas
    if operation.view == "alias":
        made = f"result = alias({first})"
    elif operation.several:
        made = "result = result_type([{} for array in array])".format(
            f"view_of({first}, asarray(array), True)" if operation.view else "wrap(asarray(array))")
    else:
        made = f"result = view_of({first}, array)" if operation.view else WRAP if inline else "result = wrap(array)"
    check = ("if array.dtype.kind != 'f':\n    raise RuntimeError('Autograd not support dtype: ' + dtypes.scalar_type(array))\n"
             if "dtype" in operation.params else "")
    outputs = "result" if operation.several else "(result,)"
    arguments, cast = _arguments(operation, reject)
    parts = [arguments, cast, _run(operation), made]
    if operation.formulas:      # before the operation can fail, edges are asked for, which renews the history of stale views
        node = f"recording = {_wants_grad(operation)}\nif recording:\n{indent(_node(operation), '    ')}"
        parts = [arguments, "recording = state.recording", "if recording:", indent(_next(operation) + node, "    "),
                 *parts[1:], "if recording:",
                 indent(check + ("attach(result, node)\n" if operation.several else "result._requires_grad = True\nresult._node = node\n")
                        + _outcome(operation, "array", "result"), "    ")]
    recorded = "bool(recording)" if operation.formulas else "False"
    return _function(operation, entry, _kinds(operation), *parts, _observe(operation, outputs, recorded), "return result")


def _guard(operation: Op) -> str:
    """The text of the check that an operation's in-place twin needs: elementwise, or beside an index; a number's memory is free."""
    first, *others = operation.tensor_params
    arguments = ", ".join(operation.tensor_params)
    if operation.promote or operation.name == "_copy_":
        return f"check_memory({arguments})" if operation.promote else f"check_memory({arguments}, copies=True)"
    if operation.name == "_index_put_":
        return "fills = kernel.fills(indices, values_, accumulate)\ncheck_apart(self, *indices, None if fills else values, whole=not fills)"
    indexed = "index" in others
    seen = [n for n in others if indexed and n != "value" or n in ("mask", "min", "max") and "source" not in others]
    return f"check_apart({first}, {', '.join(seen)}, whole={indexed})" if seen else ""


def inplace_source(operation: Op, reject: str | None = None) -> str:
    """The text of the in-place twin: nothing is changed before everything that can fail has passed."""
    first = operation.params[0]
    tensors = ", ".join(operation.tensor_params)
    arguments, cast = _arguments(operation, reject)
    node = f"\nif recorded:\n{indent(_next(operation) + _node(operation), '    ')}" if operation.formulas else ""
    checks = [f"check_inplace({first}, recorded)\n{arguments}{node}",
              f"recorded = recorded and {first}.array.dtype.kind == 'f'"]
    parts = [_kinds(operation), f"recorded = {f'wants_grad({tensors})' if operation.formulas else 'False'}",
             *(reversed(checks) if operation.name == "_copy_" else checks),     # integers copied from a recorded tensor are not recorded
             cast, *(_call(operation, f"kernel.{name}", operation.tensor_params)
               for name in ("check", "check_target") if getattr(operation.kernel, name)),
             _guard(operation), _run(operation), f"check_write({first}, array, {operation.inplace == 'overlapping'})"]
    if operation.formulas:
        parts += [f"write({first}, array)", "if recorded:",
                  indent(f"{first}._rebase_history(node)\n" + _outcome(operation, f"{first}.array", first), "    ")]
    else:
        parts.append(f"write({first}, array)")
    return _function(operation, *parts, _observe(operation, f"({first},)", "recorded"), f"return {first}")


def apply_source(operation: Op) -> str:
    """The text of a node's `apply`: it runs the formulas of the inputs that want a gradient."""
    text = ("def apply(node, grad, graph, nodes):\n"
            "    if graph and not formula.running:\n        return run_formula(itself, node, grad, nodes)\n")
    if operation.saved:
        text += "    if node._saved is None:\n        node._refuse_freed()\n"
    for i, n in enumerate(operation.saved):
        text += (f"    {n} = node._saved[{i}]\n"
                 f"    if not graph and ({_is_tensor(n)}) and ({n}._store is None or {n}._store.version == node._versions[{i}])"
                 f"{'' if n in operation.output_of else f' and ({n}._node is not None or {n}._detached < node._number)'}:\n"
                 f"        {n} = {n}.array\n    else:\n        {n} = unpacked(node, {i}, graph)\n")
        if n not in operation.output_of:
            text += f"        if graph:\n            {n} = saved_number({n})\n"
    if operation.node_name == NOT_IMPLEMENTED:
        return text + "    return formula_self(grad)\n"
    # What was saved is looked at first, as in PyTorch: its errors come even if no gradient has arrived.
    if any("grads" in names for names in operation.uses.values()):
        text += "    grads = fill(node, grad, graph)\n    if grads is None:\n"
    else:
        text += ("    if grad.__class__ is list:\n        grad = grad[0]\n" if operation.several else "") + "    if grad is None:\n"
    text += "        return (None,) * len(node._next)\n"
    if operation.attributes:
        text += f"    {_tuple(operation.attributes)[1:-1]} = node._attributes\n"
    if "tensors" in operation.formulas:
        text += "    if all(child is None for child in nodes):\n        return (None,) * len(nodes)\n"
        return text + f"    return formula_tensors({', '.join(operation.uses['tensors'])})\n"
    calls = {arg: f"formula_{arg}({', '.join(operation.uses[arg])}) if nodes[{i}] is not None else None"
             for i, arg in enumerate(operation.formulas)}
    if list(calls) == sorted(calls):
        return text + f"    return {_tuple(calls.values())}\n"
    # PyTorch's order, which decides in a graph of the backward pass what runs first.
    text += "".join(f"    of_{arg} = {calls[arg]}\n" for arg in sorted(calls))
    return text + f"    return {_tuple(f'of_{arg}' for arg in calls)}\n"
