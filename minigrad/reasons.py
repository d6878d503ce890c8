"""The rules behind every explanation: PyTorch's own texts, and the help that minigrad adds in an exception's notes.

A message is what PyTorch 2.13.0 says, to the letter, so that a search for it finds the same pages. What a student needs
beyond it (which variable, which line) is a *note* (`BaseException.add_note`), printed under the traceback.
"""
from __future__ import annotations

import linecache
import math
import tokenize
import warnings
from collections.abc import Callable
from itertools import zip_longest
from types import CodeType
from typing import NamedTuple

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() "
    "on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. "
    "See github.com/pytorch/pytorch/pull/30531 for more information.")
DEPRECATED_STORAGE = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This "
    "should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()")
SCALAR_OF_GRAD = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first.")
NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True "
    "if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.")
HOOKS_AFTER_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True "
    "if you need to backward through the graph a second time or if you need to access saved variables after calling backward.")
NON_LEAF_FLAG = "you can only change requires_grad flags of leaf variables."
USE_DETACH = (" If you want to use a computed variable in a subgraph that doesn't require differentiation use "
              "var_no_grad = var.detach().")
LEAF_INPLACE = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW_INPLACE = "a view of a leaf Variable that requires grad is being used in an in-place operation."
NUMPY_OF_GRAD = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
PARTIAL_OVERLAP = ("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
                   "location. Please clone() the tensor before performing the operation.")
OVERLAP = ("unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
           "Please clone() the tensor before performing the operation.")
SAVED_DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
    "out-of-place `.detach()` instead")
HINT_NO_ANOMALY = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False).")
HINT_ANOMALY = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was changed "
    "in there or anywhere later. Good luck!")
DIRTY_NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace "
    "must all be outputs of the Function.")
DIRTY_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
    "Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using "
    ".clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing "
    "the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum "
    "https://discuss.pytorch.org/ if you need help to do this change.")
DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
    "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these "
    "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.")

OUT_OF_GRAD = "functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
OUT_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output shape {}. "
    "This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. You "
    "can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).")

_warned: set[str] = set()
_warn_always = [False]


def set_warn_always(always: bool) -> None:
    """Give every warning every time, also those that PyTorch gives once in a process."""
    _warn_always[0] = always


def is_warn_always_enabled() -> bool:
    """Whether `set_warn_always` is on."""
    return _warn_always[0]


def check(holds: object, text: str | Callable[[], str], error: type[Exception] = RuntimeError) -> None:
    """Raise unless something holds, as C++'s ``TORCH_CHECK`` does; a text that says values is made only when it is needed."""
    if not holds:
        raise error(text if isinstance(text, str) else text())


def warn_once(text: str, stacklevel: int = 3, heeds_always: bool = True, key: str = "") -> None:
    """Warn the first time in a process, as PyTorch's ``TORCH_WARN_ONCE`` does; its Python part ignores `set_warn_always`.

    Texts with one `key` come from one place: the first of them is the only one.
    """
    if (key or text) not in _warned or heeds_always and _warn_always[0]:
        _warned.add(key or text)
        warnings.warn(text, stacklevel=stacklevel)


def type_name(value: object) -> str:
    """A type as C calls it: NumPy's with its module."""
    cls = type(value)
    return f"{cls.__module__}.{cls.__name__}" if cls.__module__.startswith("numpy") else cls.__name__


def too_large(error: MemoryError) -> RuntimeError:
    """PyTorch's words for an array that no memory holds: NumPy's own kind of MemoryError says its shape and dtype."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    tried = f"{math.prod(shape) * dtype.itemsize} bytes" if shape is not None and dtype is not None else "too many bytes"
    return RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
                        f"allocate {tried}. Error code 12 (Cannot allocate memory)")


def sizes_differ(*shapes: tuple[int, ...]) -> str | None:
    """PyTorch's text for shapes that do not broadcast: the first against what those before it make together; None if they do."""
    a = shapes[0] if shapes else ()
    for b in shapes[1:]:
        for i in range(1, min(len(a), len(b)) + 1):
            if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
                return (f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) at non-singleton dimension "
                        f"{max(len(a), len(b)) - i}")
        sizes = zip_longest(a[::-1], b[::-1], fillvalue=1)
        a = tuple(m if n == 1 else n for m, n in sizes)[::-1]
    return None


def broadcasts_beyond(target: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """PyTorch's text for a write of what broadcasts to more than the target."""
    return f"output with shape {list(target)} doesn't match the broadcast shape {list(shape)}"


def without_comment(line: str) -> str:
    """The code of a line."""
    try:
        for token in tokenize.generate_tokens(iter([line]).__next__):
            if token.type == tokenize.COMMENT:
                return line[:token.start[1]].strip()
    except (tokenize.TokenError, SyntaxError):      # the line alone is no whole statement
        pass
    return line.strip()


def place(writer: tuple[CodeType, int] | None) -> str:
    """Say where a line is, with its text if it can be had: ``line 4, `y.zero_()`,``."""
    if writer is None:
        return "something outside Python"
    code, line = writer
    path = code.co_filename.replace("\\", "/")
    # A notebook's cell has a file name of no meaning to anybody; the line of code says more.
    name = "" if "ipykernel" in path or path.startswith("<") else f" of {path.rsplit('/', 1)[-1]}"
    text = without_comment(linecache.getline(code.co_filename, line))
    return f"line {line}{name}" + (f", `{text}`," if text else "")


def wrote_in_place(node_name: str, saved_name: str, version: int, now: int, writer: tuple[CodeType, int] | None) -> str:
    """The note under a version error."""
    what = "its own result" if saved_name == "result" else f"its input ({saved_name})" if saved_name.isidentifier() else f"its {saved_name}"
    return (f"{node_name} remembered {what} at version {version} for the backward pass; {place(writer)} then wrote "
            f"to that memory in place (it is at version {now} now). Compute a new tensor there instead of writing in place, "
            "or clone() before writing.")


def backward_twice(node_name: str) -> str:
    """The note under the error of a second backward pass."""
    return (f"{node_name} freed what it remembered when it ran backward: something from before that is used again. Compute it "
            "again; or add the losses and call backward() once; or, if it comes from an earlier round and should only be a "
            "number now, detach() it. retain_graph=True in the first call keeps everything, round after round.")


NO_GRAPH_NOTE = (
    "Nothing was recorded for this tensor: none of its inputs had requires_grad=True, or it was made under no_grad(), or it "
    "comes from detach(), or it is a gradient that was computed without create_graph=True. Its .requires_grad is False and its "
    ".grad_fn is None.")

PACK_WRITES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by "
    "in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place "
    "operations on the input to a pack hook.")
NEGATIVE_STRIDE = (
    "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. "
    "(You can probably work around this by making a copy of your array  with array.copy().) ")
READ_ONLY = (
    "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this tensor "
    "will result in undefined behavior. You may want to copy the array to protect its data or make it writable before converting "
    "it to a tensor. This type of warning will be suppressed for the rest of this program.")
DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
    "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001")
COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor).")
RANGE = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range "
    "builtin. Instead, use torch.arange, which produces values in [start, end).")
LIST_OF_ARRAYS = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
    "numpy.ndarray with numpy.array() before converting to a tensor.")
GRAD_DTYPE = (
    "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must match the tensor's "
    "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None "
    "to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
    "systems that assume they match.")
INFERENCE_FLAG = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
INFERENCE_WRITE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before "
    "doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")
INFERENCE_SAVE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked "
    "by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`.")
CREATE_GRAPH = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can "
    "cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this "
    "function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak.")
NO_FREEDOM = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by "
    "output numel).")
LIST_AS_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use x[tuple(seq)] "
    "instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], which will result either in "
    "an error or a different result")
CROSS_DIM = (
    "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply use "
    "torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a future release.")
SCATTER_REDUCE = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use "
    "torch.scatter_reduce instead for more reduction options.")
MESHGRID = "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."
NO_DIMENSIONS = "Tensor.{} is deprecated on 0-D tensors. This function is the identity in these cases."
REVERSE_T = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a "
    "future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
    "reverse the dimensions of a tensor.")


def _forbidden(block: str) -> str:
    return (" Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
            f"the view and the inplace either both inside the {block} block (if you don't want the inplace to be tracked) or both "
            "outside (if you want the inplace to be tracked).")


# How a view came to be that must not be written through, and why not.
VIEW_ORIGINS = {
    "no_grad": _forbidden("no_grad"),
    "inference": _forbidden("inference_mode"),
    "several": (" This view is the output of a function that returns multiple views. Such functions do not allow the output "
                "views to be modified inplace. You should replace the inplace operation by an out-of-place one."),
    "function": (" This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
                 "logic to handle view+inplace would override the custom backward associated with the custom Function, leading "
                 "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
                 "Function."),
}


# Why a tensor is as it is ---------------------------------------------------------------------------------------------------

class Facts(NamedTuple):
    """What `why` knows of a tensor: what it says of itself, and what the program's text says of it.

    Attributes
    ----------
    name, node, dtype : str
        Its name, its grad_fn's name ("" if it is None), its type.
    made : str
        The line that gave it its name, "`z = x * y` (line 3)"; "" if no text is known. `how` that happened: "made" from
        plain numbers, "computed", "detached", "value" (of which `without` is the part that has no history), "gradient", or ""
        (unknown).
    block, late, off : str
        What switched the recording off there; the line that gave an input its flag only afterwards; the line that took the
        tensor's own flag or history away.
    inputs, requiring : tuple of str
        The names that went in, and those of them that require grad (where the tensor does not: today, not then).
    backward, root : str
        The last line that called backward(), and on what.
    reached : bool or None
        Whether the recorded graph leads from there to this tensor; None if that is not known.
    cut, cleared, asked : str
        The line that keeps the graph away from it; one that emptied .grad; a retain_grad() behind the backward pass.
    raised : str
        What that backward() call raised.
    """

    name: str
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool = False
    has_grad: bool = False
    floating: bool = True
    dtype: str = ""
    node: str = ""
    how: str = ""
    made: str = ""
    without: str = ""
    block: str = ""
    late: str = ""
    off: str = ""
    inputs: tuple[str, ...] = ()
    requiring: tuple[str, ...] = ()
    backward: str = ""
    root: str = ""
    reached: bool | None = None
    cut: str = ""
    cleared: str = ""
    asked: str = ""
    raised: str = ""


class Rule(NamedTuple):
    """When `holds`, `because` is why; `mend` is what to write instead. Both name facts in braces."""

    name: str
    holds: Callable[[Facts], bool]
    because: str
    mend: str = ""


# Why a tensor does not require grad; the first rule that holds explains it. Its .grad and .grad_fn are None for the same reason.
NOT_RECORDED = (
    Rule("no slope", lambda f: not f.floating, "{name} holds {dtype}, and only floating point numbers can have a gradient.",
         "Make it floating point: 2.0, not 2; a comparison or an index never has a gradient."),
    Rule("switched off", lambda f: bool(f.off), "{off} took it away.", "Leave that line out."),
    Rule("detached", lambda f: f.how == "detached", "{made} shares the memory and leaves the history behind.",
         "Use the tensor itself where the gradient must pass."),
    Rule("value only", lambda f: f.how == "value", "{made} goes on with a plain value: `{without}` has no history.",
         "Use the tensor itself where the gradient must pass."),
    Rule("a gradient", lambda f: f.how == "gradient", "{made} is a gradient, and a backward pass records nothing by itself.",
         "Write create_graph=True where it is computed."),
    Rule("recording was off", lambda f: f.how == "computed" and bool(f.block) and bool(f.requiring or not f.inputs),
         "{made} ran while the recording was off ({block}).", "Move the line out of that block."),
    Rule("flag came late", lambda f: f.how == "computed" and bool(f.late),
         "{made} ran before {late}; a graph that exists does not change with a flag.", "Set the flag first, then compute."),
    Rule("no input asks", lambda f: f.how == "computed" and not f.requiring,
         "{made} was computed from {inputs}, {none_asks}.",
         "Set the flag where an input is made: requires_grad=True."),
    Rule("not recorded", lambda f: f.how == "computed",
         "{made} was not recorded, although {requiring} requires grad now.", "Compute it again, with the recording on."),
    Rule("never asked", lambda f: f.how == "made", "{made} did not ask for it, and a tensor's flag is off unless it does.",
         "Write requires_grad=True there, or {name}.requires_grad_() before it is used."),
    Rule("unknown", lambda f: True, NO_GRAPH_NOTE, "Set the flag where it is made, or compute it with the recording on."),
)
RULES: dict[str, tuple[Rule, ...]] = {
    "requires_grad": (
        Rule("view shows the flag", lambda f: f.requires_grad and f.is_leaf and bool(f.block) and f.how == "computed",
             "{made} made a view while the recording was off ({block}). Such a view shows the flag of the tensor that it looks "
             "at, and is not in the graph.", "Make the view outside that block to have it recorded."),
        Rule("leaf asks", lambda f: f.requires_grad and f.is_leaf, "{name} is a leaf, and its flag is on{by}.",
             "{name}.requires_grad_(False) switches it off."),
        Rule("comes from", lambda f: f.requires_grad, "{name} was computed{from_}; one input that requires grad is enough.",
             "{name}.detach() is the same value without history."),
    ),
    "grad_fn": (
        Rule("recorded", lambda f: bool(f.node), "{name} was computed{from_}, recorded as {node}."),
        Rule("leaf", lambda f: f.requires_grad, "{name} is a leaf: nothing that was recorded computed it. Its gradient is "
             "collected by an AccumulateGrad, and {name}.grad is where it ends."),
    ),
    "is_leaf": (
        Rule("result", lambda f: not f.is_leaf, "{name} was computed{from_}, so the graph goes on behind it.",
             "{name}.detach() is a leaf; for a parameter, set requires_grad on the finished value."),
        Rule("asked", lambda f: f.requires_grad, "{name} is where the graph ends: its flag is on, and nothing recorded made it."),
        Rule("no history", lambda f: True, "{name} does not require grad, and every such tensor is called a leaf."),
    ),
    "retains_grad": (
        Rule("asked", lambda f: f.retains_grad, "{name}.retain_grad() was called."),
        Rule("leaf", lambda f: f.is_leaf, "{name} is a leaf: a leaf that requires grad keeps its gradient anyway."),
        Rule("not asked", lambda f: True, "Nobody called {name}.retain_grad().", "Call it before backward()."),
    ),
    "grad": (
        Rule("collected", lambda f: f.has_grad and f.is_leaf,
             "{name} is a leaf, and what {backward} brought was added to {name}.grad.",
             "The next backward() adds to it: {name}.grad = None, or zero_grad(), begins anew."),
        Rule("kept", lambda f: f.has_grad, "{name} is a result, but {name}.retain_grad() asked to keep its gradient."),
        Rule("no backward yet", lambda f: f.requires_grad and not f.backward,
             "Nothing has called backward() yet; a gradient that was not computed is None, not 0.", "Call backward() on the result."),
        Rule("backward raised", lambda f: f.requires_grad and bool(f.raised), "{backward} raised, so nothing arrived.",
             "See the note under that error."),
        Rule("cleared", lambda f: f.requires_grad and bool(f.cleared), "{cleared} emptied it after {backward}.",
             "Read the gradient before it is cleared."),
        Rule("not reached", lambda f: f.requires_grad and f.reached is False,
             "{backward} did not come to {name}: no recorded path leads to it{cut}.",
             "Use {name} itself in what {root} is computed from, with the recording on."),
        Rule("asked too late", lambda f: not f.is_leaf and bool(f.asked),
             "{asked} came after {backward}, which had dropped the gradient by then.", "Call retain_grad() before backward()."),
        Rule("not kept", lambda f: f.requires_grad and not f.is_leaf and not f.retains_grad,
             "{name} is a result: backward() passes its gradient on and does not keep it.",
             "Call {name}.retain_grad() before backward()."),
        Rule("not arrived", lambda f: f.requires_grad, "Nothing has arrived: {backward} did not finish, or ran before {name} was used.",
             "Call backward() on a result that {name} goes into."),
    ),
}


def explain(facts: Facts, attribute: str) -> tuple[str, str, str]:
    """The rule's name, why a tensor's attribute is what it is, and how to mend it."""
    rules = (*RULES[attribute], *(NOT_RECORDED if attribute != "is_leaf" else ()))
    rule = next(rule for rule in rules if rule.holds(facts))
    words = facts._asdict() | {
        "none_asks": "which does not require grad" if len(facts.inputs) == 1 else "and none of them requires grad",
        "inputs": _and(facts.inputs) or "plain numbers", "requiring": _and(facts.requiring), "made": facts.made or facts.name,
        "by": f": {facts.made}" if facts.made else "", "backward": facts.backward or "backward()",
        "from_": (f" by {facts.made}" if facts.made else "") + (f" from {_and(facts.requiring)}" if facts.requiring else ""),
        "cut": f"; {facts.cut} cuts it off" if facts.cut else "", "root": facts.root or "the result"}
    because = rule.because.format(**words)
    if attribute == "grad" and rule in NOT_RECORDED:
        because = f"{facts.name} does not require grad, so no gradient is kept for it. {because}"
    return rule.name, because, rule.mend.format(**words)


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
