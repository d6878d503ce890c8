"""The Tensor: an array, the storage under it, its flags, its place in the graph, its gradient.

Operations are not written here: `ops` declares each in one block and attaches it as a method, and so does `autograd` for
``backward`` and `creation` the factories. What is here is what a tensor *is*.
"""
from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from . import dtype as dtypes
from . import printing, reasons
from .dtype import Size
from .grad_mode import state
from .graph import NO_EDGE, AccumulateGrad, Edge, HookDict, Node, RemovableHandle, next_sequence, special
from .reasons import check
from .storage import Storage, TypedStorage, UntypedStorage
from .strides import is_dense, laid_out, lies_like, strides_of

new = object.__new__


def read_only(getter: Callable) -> property:
    """A property that says in PyTorch's words that it cannot be set."""
    name = getter.__name__

    def refuse(self: Tensor, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return property(getter, refuse)


class View:
    """What makes a tensor a view: the tensor it looks into, and how it came to be.

    The base is never itself a view: a view of a view looks into the same base. When the base, or another view of it, is
    written in place, the view's recorded history is stale (`version` tells) and is built anew when it is next asked for.
    """

    __slots__ = ("base", "origin", "version")

    def __init__(self, base: Tensor, origin: str, version: int) -> None:
        self.base, self.version = base, version
        self.origin = origin        # "": a normal view; else one of the keys of reasons.VIEW_ORIGINS


class Tensor(metaclass=dtypes.Named):
    """An array of numbers that can record what is computed from it.

    Attributes
    ----------
    requires_grad : bool
        Is what is computed from this tensor recorded?
    grad_fn : Node or None
        The node that recorded how it was computed; None for a leaf.
    grad : Tensor or None
        The accumulated gradient, in this tensor's shape; None until a backward pass reaches it.
    is_leaf : bool
        True unless it is the recorded result of an operation.
    """

    __slots__ = ("array", "_store", "_requires_grad", "_node", "_output_nr", "_view", "_inference", "__weakref__", "__dict__")
    # What few tensors have; most results of operations live and die without.
    _grad = _accumulator = _hooks = _post_hooks = None
    _retains = False
    _counts = False     # does a tensor of inference mode have a version after all? .data and detach() give one, outside
    _detached = -1      # the number that a node would have got when detach_() took this tensor's history
    __array_priority__ = 1000   # `ndarray * tensor` is the tensor's affair
    torch_name = "torch.Tensor"

    def __hash__(self) -> int:
        return id(self)

    @property
    def _storage(self) -> Storage:
        """The storage; made when it is first asked for, since most results of operations never share their memory."""
        if self._store is None:
            self._store = Storage(self.array)
        return self._store

    @property
    def _edge(self) -> Edge | None:
        """Where this tensor stands in the graph: the node that made it, and which of its outputs it is."""
        return None if self._node is None else (self._node, self._output_nr)

    @_edge.setter
    def _edge(self, edge: Edge | None) -> None:
        self._node, self._output_nr = edge or NO_EDGE

    # Flags and the place in the graph ---------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded: on a leaf a wish, which can be set; on a computed tensor a fact."""
        return self._requires_grad or self._view is not None and self._view.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        check(isinstance(flag, bool), "requires_grad must be a bool")
        check(self._node is None, lambda: reasons.NON_LEAF_FLAG + ("" if flag else reasons.USE_DETACH))
        if flag and self.array.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._check_inference(flag)
        self._requires_grad = flag

    def _check_inference(self, flag: bool) -> None:
        check(not (flag and self._inference) or state.inference, reasons.INFERENCE_FLAG)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set the flag of a leaf, and return the tensor.

        Raises
        ------
        RuntimeError
            On a computed tensor with False; on an integer or bool tensor with True.
        """
        check(isinstance(requires_grad, bool), lambda: "requires_grad_(): argument 'requires_grad' (position 1) must "
              f"be bool, not {type(requires_grad).__name__}", TypeError)
        leaf = self._node is None        # as it was recorded last: the flag does not renew the history of a stale view
        check(leaf or requires_grad, lambda: reasons.NON_LEAF_FLAG + reasons.USE_DETACH)
        if requires_grad and self.array.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if leaf:
            self._check_inference(requires_grad)
            self._requires_grad = requires_grad
        return self

    @read_only
    def grad_fn(self) -> Node | None:
        """The node that recorded how it was made; None for a leaf."""
        view = self._view
        if view is not None and view.version != self._storage.version and (self._node is not None or view.base.requires_grad):
            self._renew_history()
        return self._node

    @read_only
    def is_leaf(self) -> bool:
        """Whether it has no recorded history; all that does not require grad is a leaf."""
        return self.grad_fn is None

    @read_only
    def output_nr(self) -> int:
        """Which of its node's outputs it is."""
        return self._output_nr

    @read_only
    def _version(self) -> int:
        check(not self._inference or self._counts, "Inference tensors do not track version counter.")
        return self._storage.version

    @read_only
    def _base(self) -> Tensor | None:
        return self._view.base if self._view is not None else None

    def _is_view(self) -> bool:
        return self._view is not None

    def is_inference(self) -> bool:
        """Whether it was made inside ``inference_mode()``."""
        return self._inference

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes added up; None until one has reached it. Asking a computed tensor that keeps none warns."""
        if self._grad is None and not self._retains and self._node is not None:
            warnings.warn(reasons.NON_LEAF_GRAD, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {reasons.type_name(value)}")
            check(value is not self, "can't assign Variable as its own grad")
            check(value.array.dtype == self.array.dtype, lambda: reasons.GRAD_DTYPE.format(value.dtype.cpp_name, self.dtype.scalar_type))
            if value.array.shape != self.array.shape:
                raise RuntimeError(f"attempting to assign a gradient of size '{list(value.array.shape)}' to a tensor of size "
                                   f"'{list(self.array.shape)}'. Please ensure that the gradient and the tensor are the same size")
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @read_only
    def retains_grad(self) -> bool:
        """Whether ``retain_grad()`` asked this computed tensor to keep its gradient."""
        return self._retains

    def retain_grad(self) -> None:
        """Keep ``.grad`` of this computed tensor in the next backward pass; on a leaf it changes nothing.

        Raises
        ------
        RuntimeError
            "can't retain_grad on Tensor that has requires_grad=False"
        """
        check(self.requires_grad, "can't retain_grad on Tensor that has requires_grad=False")
        if self._node is None or self._retains:     # as it was recorded last: this does not renew the history of a stale view
            return
        self.grad_fn._own_hooks().retain[self._output_nr] = weakref.ref(self)
        self._retains = True

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever this tensor's gradient is computed; what it returns replaces the gradient.

        Raises
        ------
        RuntimeError
            "cannot register a hook on a tensor that doesn't require gradient"
        """
        check(self.requires_grad, "cannot register a hook on a tensor that doesn't require gradient")
        if self._hooks is None:
            # Once made, the dictionary stays until a write in place gives the tensor a new history: hooks registered after
            # transpose_() join the earlier ones at the node that they were at.
            self._hooks = HookDict()        # before the history of a stale view is asked for, which may raise
            node = self.grad_fn or self._accumulator and self._accumulator()
            if node is not None:
                self._hooks = node._own_hooks().tensor.setdefault(self._output_nr, self._hooks)
        return RemovableHandle(self._hooks, hook)

    _backward_hooks = property(lambda self: self._hooks, doc="The hooks of `register_hook` by number; None if there never were any.")

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` after this leaf's ``.grad`` was added to."""
        check(self.requires_grad, "cannot register a hook on a tensor that doesn't require gradient")
        check(self.is_leaf, "post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_hooks is None:
            self._post_hooks = HookDict()
        return RemovableHandle(self._post_hooks, hook)

    def _accumulate(self, grad: Any) -> None:
        """Add a gradient to ``.grad``: in place, as PyTorch does, unless a graph of the backward pass is being recorded."""
        if isinstance(grad, Tensor):
            self._grad = (self._grad + grad if self._grad is not None else wrap(laid_out(self.array)).copy_(grad)
                          if is_dense(self.array) else grad.clone(memory_format=dtypes.contiguous_format))
        elif self._grad is None:
            grad = np.asarray(grad)
            if grad.strides != self.array.strides and not lies_like(grad, self.array):      # .grad lies in memory as its tensor does
                grad = wrap(laid_out(self.array)).copy_(wrap(grad)).array
            self._grad = wrap(grad)
        else:
            target = self._grad.array
            if grad.shape != target.shape:      # the tensor's .data was exchanged
                differ = reasons.sizes_differ(target.shape, grad.shape)
                check(not differ, differ)
                shape = np.broadcast_shapes(target.shape, grad.shape)
                check(shape == target.shape, lambda: reasons.broadcasts_beyond(target.shape, shape))
            target[...] += grad
            self._grad._count_write()

    def _count_write(self) -> None:
        """Count a write in the version. PyTorch refuses one to an inference tensor here, when it has been done already."""
        if self._inference and not (self._counts or state.inference):
            raise RuntimeError(reasons.INFERENCE_WRITE)
        self._storage.bump()

    # Other looks at the same memory -----------------------------------------------------------------------------------

    @property
    def data(self) -> Tensor:
        """The same memory with no history *and a version counter of its own*: writes through it go unnoticed."""
        result = wrap(self.array, Storage(self._storage.buffer))
        if result._inference is not self._inference:
            result._inference = self._inference
        if self._inference and not state.inference:
            result._counts = True
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {reasons.type_name(value)}")
        if self.requires_grad and value.array.dtype.kind != "f":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        if value.array.dtype != self.array.dtype:
            self._accumulator = None        # the node of the old dtype; graphs that have it keep it
        if value.array.dtype != self.array.dtype or value.array.shape != self.array.shape:
            special.exchanged = True
        self.array = value.array
        self._store = Storage(value._storage.buffer, self._storage.version)

    def detach_(self) -> Tensor:
        """Forget the history in place: the tensor becomes a leaf without requires_grad.

        Raises
        ------
        RuntimeError
            "Can't detach views in-place. …"
        """
        if state.inference:         # there PyTorch's does nothing
            return self
        check(self._view is None, reasons.DETACH_VIEW)
        if self._node is not None:
            self._detached = next_sequence()
        self._edge, self._requires_grad = None, False
        return self

    def _as_output(self, node: Node, output_nr: int) -> Tensor:
        """This (a node's saved result) as the output of that node, for a backward pass that is itself recorded."""
        result = wrap(self.array, self._storage)
        result._requires_grad, result._edge = True, (node, output_nr)
        return result

    def untyped_storage(self) -> UntypedStorage:
        """The bytes under this tensor."""
        return UntypedStorage(self._storage.buffer)

    def storage(self) -> TypedStorage:
        """The elements under this tensor (PyTorch has deprecated it for `untyped_storage`)."""
        return TypedStorage(self._storage.buffer)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.array.__array_interface__["data"][0]

    def storage_offset(self) -> int:
        """How many elements into the storage this tensor begins."""
        return (self.data_ptr() - self.untyped_storage().data_ptr()) // self.array.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """Steps in elements from one index to the next, per dimension."""
        strides = strides_of(self.array)
        return strides if dim is None else _entry(strides, dim)

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory in row-major order without gaps."""
        return self.array.flags.c_contiguous

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The same memory as an ndarray.

        Raises
        ------
        RuntimeError
            "Can't call numpy() on Tensor that requires grad. …"
        """
        check(not (self.requires_grad and state.enabled) or force, reasons.NUMPY_OF_GRAD)
        return self.array.view()        # its own: setting its shape or flags does not touch the tensor

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Tensor:
        array = np.asarray(array)       # what NumPy's functions return for a tensor; PyTorch's is older than its bool tensors
        return wrap(array.astype(np.uint8) if array.dtype == bool else array)

    # What it looks like -----------------------------------------------------------------------------------------------

    @read_only
    def shape(self) -> Size:
        """The sizes of its dimensions."""
        return Size(self.array.shape)

    @read_only
    def dtype(self) -> dtypes.dtype:
        """The type of its elements."""
        return dtypes.of_numpy[self.array.dtype]

    @read_only
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    @read_only
    def device(self) -> dtypes.device:
        """Where it lies: the CPU, always."""
        return dtypes.device()

    itemsize = property(lambda self: self.array.itemsize, doc="The size of an element in bytes.")
    nbytes = property(lambda self: self.array.nbytes, doc="The size of all elements in bytes.")
    layout = dtypes.strided
    is_cpu = True
    is_cuda = is_sparse = is_quantized = is_meta = False

    def size(self, dim: int | None = None) -> Any:
        """The shape, or its entry `dim`."""
        return self.shape if dim is None else _entry(self.array.shape, dim)

    def dim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self.array.size

    nelement = numel

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self.array.itemsize

    def is_floating_point(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        """False: minigrad has no complex numbers."""
        return False

    def type(self, dtype: Any = None) -> Any:
        """PyTorch's name of the tensor's type, for example ``torch.FloatTensor``; with a dtype or such a name, the tensor cast."""
        if dtype is None:
            return f"torch.{self.dtype.scalar_type}Tensor"
        if isinstance(dtype, dtypes.dtype):
            return self.to(dtype)
        check(isinstance(dtype, (str, type)), "dtype must be a type, str, or dtype object", TypeError)
        name = dtype if isinstance(dtype, str) else getattr(dtype, "torch_name", dtype.__name__)
        named = next((d for d in dtypes.ALL if name == f"torch.{d.scalar_type}Tensor"), None)
        check(named is not None, lambda: f"invalid type: '{name}'", ValueError)
        return self.to(named)

    def item(self) -> float | int | bool:
        """The only element as a Python number.

        Raises
        ------
        RuntimeError
            "a Tensor with 2 elements cannot be converted to Scalar"
        """
        if self.array.size != 1:
            raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
        return self.array.item()

    def tolist(self) -> Any:
        """The elements as (nested lists of) Python numbers."""
        return self.array.tolist()

    def _number(self, warns: bool = True) -> float | int | bool:
        if warns and self.requires_grad:
            reasons.warn_once(reasons.SCALAR_OF_GRAD, stacklevel=4)
        check(self.array.size == 1, "only one element tensors can be converted to Python scalars", ValueError)
        return self.array.item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number(warns=False))

    def __index__(self) -> int:
        if self.array.dtype.kind not in "iub" or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __bool__(self) -> bool:
        if self.array.size != 1:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous" if self.array.size == 0 else
                               "Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.array.item())

    def __len__(self) -> int:
        check(self.array.ndim != 0, "len() of a 0-d tensor", TypeError)
        return len(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        check(self.array.ndim != 0, "iteration over a 0-d tensor", TypeError)
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, bool)):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
        return bool((self == element).any())

    def __repr__(self) -> str:
        return printing.tensor_repr(self, dtypes.get_default_dtype().name)

    def __format__(self, spec: str) -> str:
        return format(self.array.item(), spec) if self.array.ndim == 0 and type(self) is Tensor else object.__format__(self, spec)

    def __deepcopy__(self, memo: dict) -> Tensor:
        check(self.is_leaf, reasons.DEEPCOPY)
        if id(self) in memo:
            return memo[id(self)]
        storage = memo.get(id(self._storage))        # tensors that share memory share it in the copy too
        if storage is None:
            storage = memo[id(self._storage)] = Storage(self._storage.buffer.copy(order="K"), version=1)
        copy = wrap(_same_place(self.array, self._storage.buffer, storage.buffer), storage, type(self))
        copy._requires_grad = self.requires_grad
        memo[id(self)] = copy
        if self._grad is not None:
            copy._grad = self._grad.__deepcopy__(memo)
        copy.__dict__.update(deepcopy(self._users_attributes(), memo))
        return copy

    def __copy__(self) -> Tensor:
        copy = _rebuild(type(self), self.array, self.requires_grad, self._storage.buffer)
        copy.__dict__.update(self._users_attributes())
        return copy

    def __reduce__(self) -> tuple:
        return _rebuild, (type(self), self.array, self.requires_grad), self._users_attributes() or None

    def _users_attributes(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _OWN}


_OWN = ("_grad", "_accumulator", "_hooks", "_post_hooks", "_retains", "_counts", "_detached")  # never of a copy


def wrap(array: np.ndarray, storage: Storage | None = None, cls: type[Tensor] = Tensor) -> Tensor:
    """Make a tensor of an array: a leaf without requires_grad, over `storage` or a new one."""
    tensor = new(cls)       # without calling the class: this runs once per operation
    tensor.array, tensor._store = array, storage
    tensor._requires_grad = False
    tensor._node = tensor._view = None
    tensor._output_nr = 0
    tensor._inference = state.inference
    return tensor


def _rebuild(cls: type[Tensor], array: np.ndarray, requires_grad: bool, buffer: np.ndarray | None = None) -> Tensor:
    # PyTorch sets the memory of an empty tensor, which counts as a write.
    tensor = wrap(array, Storage(array if buffer is None else buffer, version=int(cls is Tensor)), cls)
    tensor._requires_grad = requires_grad
    return tensor


def _same_place(array: np.ndarray, buffer: np.ndarray, copied: np.ndarray) -> np.ndarray:
    """The window that `array` is on `buffer`, on a copy of that buffer."""
    offset = array.__array_interface__["data"][0] - np.lib.array_utils.byte_bounds(buffer)[0]
    flat = UntypedStorage(copied).elements()
    return np.lib.stride_tricks.as_strided(flat[offset // array.itemsize:], array.shape, array.strides)


def gradient_node(tensor: Tensor) -> Node | None:
    """The node that this tensor's gradient goes to: the one that made it, or its accumulator, or none."""
    node = tensor._node if tensor._view is None else tensor.grad_fn
    if node is None and tensor._requires_grad:
        # The graph keeps the accumulator, the tensor only refers to it: otherwise leaf and accumulator were a cycle.
        node = tensor._accumulator and tensor._accumulator()
        if node is None:
            node = AccumulateGrad(tensor)
            tensor._accumulator = weakref.ref(node)
    return node


def gradient_edge(tensor: Tensor) -> Edge:
    """The same with the number of the node's output."""
    return gradient_node(tensor), tensor._output_nr


def _entry(values: tuple[int, ...], dim: int) -> int:
    """What a shape or the strides say of a dimension: a 0-d tensor has none (else it often counts as having one)."""
    check(values, lambda: f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    return values[check_dim(dim, len(values))]


def check_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front.

    Raises
    ------
    IndexError
        "Dimension out of range (expected to be in range of [-1, 0], but got 3)"
    """
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n
