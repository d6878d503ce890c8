# ruff: noqa: B023 -- lambdas made in a loop here are called in the same turn
"""NumPy and minigrad share memory, and what autograd sees of it."""
from __future__ import annotations

import warnings

import numpy as np

from ..harness import attempt, show


def shared_memory(mg):
    array = np.array([1.0, 2.0])
    t = mg.from_numpy(array)
    array[0] = 5.0
    show(t, t._version)
    t[1] = 7.0
    show(array, t._version)
    back = t.numpy()
    back[0] = 9.0
    show(t, array, t._version, np.shares_memory(back, array))
    show(mg.as_tensor(array).data_ptr() == t.data_ptr(), mg.tensor(array).data_ptr() == t.data_ptr(),
         mg.asarray(array).data_ptr() == t.data_ptr())


def dtypes(mg):
    for name in ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"]:
        t = mg.from_numpy(np.ones(1, dtype=name))
        show(name, t.dtype, t.numpy().dtype, mg.tensor(np.ones(1, dtype=name)).dtype)
    show(mg.tensor(np.float32(1.5)), mg.tensor(np.int64(2)), mg.tensor(np.float64(2.5)),
         mg.tensor([np.float32(1), np.float32(2)]), mg.tensor(np.bool_(True)))
    show(attempt(lambda: mg.from_numpy(np.array(["a"]))))


def strides(mg):
    array = np.arange(6.0).reshape(2, 3)
    t = mg.from_numpy(array.T)
    show(t.stride(), t.is_contiguous(), t.t().numpy().strides)
    show(attempt(lambda: mg.from_numpy(array[:, ::-1])), attempt(lambda: mg.tensor(array[:, ::-1])))
    show(mg.from_numpy(array[:, ::2]).stride(), mg.from_numpy(np.array(3.0)))


def read_only(mg):
    array = np.ones(2)
    array.flags.writeable = False
    t = mg.from_numpy(array)
    show(t)


def invisible_writes(mg):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    x.detach().numpy()[0] = 100.0
    y.sum().backward()
    show(x.grad, x._version)


def functions_of_numpy(mg):
    t = mg.tensor([1.0, 4.0])
    show(np.asarray(t), np.array(t, dtype=np.float64), type(np.sqrt(t)).__name__, np.sqrt(t), np.mean(t.numpy()),
         len(np.array(t)))
    show(np.array([1.0, 2.0]) * t.numpy(), type(t * np.array([1.0, 2.0], dtype=np.float32)).__name__)
    show(t * np.float32(2), t + np.float64(1), np.float32(2) * t)
    show(mg.tensor([1, 2]).numpy().dtype, t.tolist(), mg.tensor([[1], [2]]).tolist(), mg.tensor(2.5).tolist(),
         mg.tensor(True).tolist())


def conversions(mg):
    x = mg.tensor([1.5, -2.5])
    show(x.int(), x.long(), x.bool(), x.double().dtype, x.half().dtype, x.float() is x, x.to(mg.int32),
         x.type(mg.float64).dtype)
    show(x.to(mg.tensor(1, dtype=mg.int64)).dtype, x.to("cpu") is x, x.to(mg.float32, copy=True) is x, x.type(),
         x.cpu() is x)
    show(x.type_as(mg.tensor(1)).dtype, x.is_floating_point(), mg.is_floating_point(mg.tensor(1)),
         x.int().is_floating_point())


def operators_with_arrays(mg):
    """``==`` takes an array, ``!=`` compares objects; ``**`` leaves an array to NumPy."""
    x = mg.tensor([1.0, 2.0])
    for array in (np.array([1.0, 3.0]), np.array([1, 2, 3]), np.array(["a", "b"]), np.array([[1.0], [2.0]]), np.array(2.0)):
        show(attempt(lambda: x == array), attempt(lambda: array == x), x != array, array != x, attempt(lambda: x < array))
    with warnings.catch_warnings():     # PyTorch's __array_wrap__ is older than NumPy's
        warnings.simplefilter("ignore", DeprecationWarning)
        show(x ** np.array([0.0, 3.0]), attempt(lambda: x.requires_grad_() ** np.array([0.0, 3.0])))
    for number in (np.int64(2), np.float32(2), np.float64(2)):
        y = number ** x
        show(y, y.grad_fn, x ** number, (x ** number).grad_fn, number ** mg.tensor([1, 2]))
        show([z.grad_fn for z in (number - x, x % number, x.clamp(min=number), x.clone().fill_(number), x.masked_fill(x > 1, number),
                                  x.lerp(x, number))])
    show(hash(x) == id(x))


def a_list_of_arrays_is_slow(mg):
    show(mg.tensor([np.array([1.0, 2.0]), np.array([3.0, 4.0])]))
    show(mg.tensor([np.array([1.0, 2.0])]))      # the warning is given once


def arrays_of_a_tensor(mg):
    """Each array is another object on the same memory."""
    x = mg.tensor([3.0, 1.0, 2.0, 4.0])
    array = x.numpy()
    show(array is x.numpy(), np.shares_memory(array, x.numpy()))
    array.shape = 2, 2
    array[0, 1] = 7.0
    show(array, x)
    show(np.isnan(x), np.sqrt(x), np.greater(x, 1), attempt(lambda: np.ones(4) % x))
    for wrong in (np.array([1, 2], dtype=">i4"), np.float64(1)):
        show(attempt(lambda: mg.from_numpy(wrong)), attempt(lambda: mg.tensor(wrong)))
