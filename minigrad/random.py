"""PyTorch's random numbers on the CPU: after ``manual_seed(0)`` the draws are those of PyTorch.

The words come from the Mersenne twister MT19937, which NumPy has too; what is PyTorch's own is how words become numbers: a
uniform float32 takes the low 24 bits of one word, a float64 the low 53 of two; normal numbers are Box-Muller pairs, in one of
two ways: fewer than 16 (or a tensor with gaps in memory) one after the other in double precision, where the second of a pair
waits for the next call; 16 and more in blocks of 16, with the last block drawn anew if it is not full.

Sources: PyTorch 2.13.0, ATen/core/DistributionsHelper.h, ATen/native/cpu/DistributionTemplates.h, avx_mathfun.h (Cephes).
"""
from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtype as dtypes
from .creation import finish, pick_dtype, sizes_of
from .function import op
from .ops import zeros_of
from .ops.indexing import grad_zeros
from .reasons import check
from .tensor import Tensor, wrap

__all__ = ["Generator", "bernoulli", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "normal",
           "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state"]

# PyTorch's state of a CPU generator, byte for byte: `left` words are left before the twister turns, `next` is the next one.
STATE = np.dtype([
    ("initial_seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("key", "<u8", 624),
    ("normal_x", "<f8"), ("normal_y", "<f8"), ("normal_rho", "<f8"), ("normal_is_valid", "<i4"), ("unused", "<i4", 3)])
FIRST_SEED = 67280421310721        # of a Generator that was not seeded
BLOCK = 16                         # so many normal numbers are made at a time


class Generator:
    """A stream of random numbers; ``default_generator`` is the one that is used unless a ``generator=`` is given."""

    def __init__(self, device: Any = "cpu") -> None:
        if not isinstance(device, (str, dtypes.device)):
            raise TypeError(f"Generator(): argument 'device' (position 1) must be torch.device, not {type(device).__name__}")
        self.device = dtypes.device(device)
        self.manual_seed(FIRST_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Begin the stream of a seed, and return the generator.

        Raises
        ------
        ValueError
            "Overflow when unpacking long long", unless -2**63 <= seed < 2**64.
        """
        seed = int(seed)
        check(-2**63 <= seed < 2**64, "Overflow when unpacking long long", ValueError)
        self._seed, self._twister, self._spare = seed % 2**64, None, None
        return self

    def seed(self) -> int:
        """Begin a stream that nobody knows, and return its seed."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little") >> 11).initial_seed()

    def initial_seed(self) -> int:
        """The seed that the stream began with."""
        return self._seed

    def get_state(self) -> Tensor:
        """Where the stream is, as 5056 bytes: PyTorch's own layout."""
        state = np.zeros((), STATE)
        place = self._words.state["state"]
        fresh = place["pos"] == 624 and not self._drawn
        state["initial_seed"], state["seeded"], state["key"] = self._seed, 1, place["key"]
        state["left"], state["next"] = (1, 0) if fresh else (625 - place["pos"], place["pos"])
        state["normal_is_valid"], state["normal_y"] = self._spare is not None, self._spare or 0.0
        return wrap(np.frombuffer(state.tobytes(), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go to a place in the stream that `get_state` has told.

        Raises
        ------
        TypeError, RuntimeError
            "RNG state must be a torch.ByteTensor"
        """
        array = getattr(new_state, "array", None)
        check(array is not None and array.dtype == np.uint8, "RNG state must be a torch.ByteTensor", TypeError)
        check(array.size == STATE.itemsize, lambda: f"Expected a CPUGeneratorImplState of size {STATE.itemsize} but "
              f"found the input RNG state size to be {array.size}")
        state = np.frombuffer(array.tobytes(), STATE)[0]
        self.manual_seed(int(state["initial_seed"]))
        self._drawn = state["next"] != 0
        self._words.state = {"bit_generator": "MT19937", "state": {
            "key": state["key"].astype(np.uint32), "pos": 625 - int(state["left"])}}
        self._spare = float(state["normal_y"]) if state["normal_is_valid"] else None
        return self

    @property
    def _words(self) -> np.random.MT19937:
        # Made when the first word is drawn: importing numpy.random takes time.
        if self._twister is None:
            self._twister, self._drawn = np.random.MT19937(0), False
            np.random.RandomState(self._twister).seed(self._seed % 2**32)
        return self._twister

    def draw(self, n: int, bits: int = 32) -> np.ndarray:
        """The next `n` random integers of 32 or 64 bits, as uint64 ``(n)``."""
        words = self._words.random_raw(n * bits // 32)
        self._drawn = self._drawn or n > 0
        return words if bits == 32 else words[0::2] << np.uint64(32) | words[1::2]


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Begin PyTorch's stream of a seed in the default generator, and return that."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Begin a stream that nobody knows, and return its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the default generator's stream is, as bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go to a place in the default generator's stream that `get_rng_state` has told."""
    default_generator.set_state(new_state)


# From words to numbers -----------------------------------------------------------------------------------------------------

def uniform_array(generator: Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uniform numbers in [0, 1); of float16 those of float32, rounded."""
    if dtype == np.float16:
        return uniform_array(generator, shape, np.dtype(np.float32)).astype(dtype)
    digits = np.finfo(dtype).nmant + 1
    words = generator.draw(math.prod(shape), 64 if digits > 24 else 32) & np.uint64(2**digits - 1)
    return (words.astype(dtype) * dtype.type(2.0**-digits)).reshape(shape)


def _scaled(x: np.ndarray, factor: float, offset: float) -> np.ndarray:
    """``x * factor + offset``, rounded once in float32: PyTorch's code is compiled to fused multiply-add."""
    factor, offset = x.dtype.type(factor), x.dtype.type(offset)
    return (x.astype(np.float64) * np.float64(factor) + np.float64(offset)).astype(x.dtype)


def normal_array(generator: Generator, shape: tuple[int, ...], dtype: np.dtype, mean: float = 0.0, std: float = 1.0,
                 contiguous: bool = True) -> np.ndarray:
    """Normal numbers, in PyTorch's two ways."""
    n = math.prod(shape)
    if n < BLOCK or not contiguous:
        return np.array([_one_normal(generator) * std + mean for _ in range(n)]).astype(dtype).reshape(shape)
    kind = np.dtype(np.float32) if dtype == np.float16 else dtype
    values = uniform_array(generator, (n,), kind)
    whole = n - n % BLOCK
    values[:whole] = _box_muller(values[:whole], mean, std)
    if n % BLOCK:
        values[-BLOCK:] = _box_muller(uniform_array(generator, (BLOCK,), kind), mean, std)
    return values.astype(dtype, copy=False).reshape(shape)


def _one_normal(generator: Generator) -> float:
    value, generator._spare = generator._spare, None
    if value is None:
        angle, u = uniform_array(generator, (2,), np.dtype(np.float64)).tolist()
        angle, radius = 2 * math.pi * angle, math.sqrt(-2 * math.log1p(-u))
        value, generator._spare = radius * math.cos(angle), radius * math.sin(angle)
    return value


def _box_muller(uniform: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Blocks of 16 uniform numbers as blocks of 16 normal ones: 8 radii with 8 angles."""
    u, angle = uniform.reshape(-1, 2, BLOCK // 2).transpose(1, 0, 2)
    full = u.dtype.type(2 * math.pi)
    if u.dtype == np.float32:
        radius = np.sqrt(np.float32(-2) * _log(1 - u))
        sine, cosine = _sincos(full * angle)
    else:
        radius, sine, cosine = np.sqrt(-2 * np.log(1 - u)), np.sin(full * angle), np.cos(full * angle)
    return _scaled(np.stack([radius * cosine, radius * sine], 1).reshape(-1), std, mean)


def _horner(x: np.ndarray, *coefficients: float) -> np.ndarray:
    y = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        y = _fma(y, x, c)
    return y


def _fma(a: Any, b: Any, c: Any) -> np.ndarray:
    """``a * b + c`` of float32 numbers, rounded once."""
    return (np.asarray(a, np.float64) * np.asarray(np.float32(b), np.float64) + np.float32(c)).astype(np.float32)


def _log(x: np.ndarray) -> np.ndarray:
    """Cephes' logf as PyTorch vectorizes it: its last bits decide what randn gives."""
    bits = np.maximum(x, np.float32(np.finfo(np.float32).tiny)).view(np.int32)
    exponent = ((bits >> 23) - 126).astype(np.float32)
    mantissa = ((bits & ~0x7F800000) | 0x3F000000).view(np.float32)
    low = mantissa < np.float32(math.sqrt(0.5))
    exponent = exponent - low
    m = (mantissa - np.float32(1)) + np.where(low, mantissa, np.float32(0))
    square = m * m
    y = _horner(m, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
    y = _fma(exponent, -2.12194440e-4, y * m * square)
    return _fma(exponent, 0.693359375, m + _fma(-square, 0.5, y))


def _sincos(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cephes' sinf and cosf of angles not below 0: an octant, and a polynomial each in what is left of the angle."""
    octant = ((x * np.float32(4 / math.pi)).astype(np.int32) + 1) & ~1
    for part in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8):
        x = _fma(octant, part, x)
    z = x * x
    cosine = _horner(z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2) * z
    cosine = _fma(cosine, z, -(z * np.float32(0.5))) + np.float32(1)
    sine = _fma(_horner(z, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1) * z, x, x)
    swapped = (octant & 2) != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    return np.where(octant & 4, -sine, sine), np.where((octant + 2) & 4, -cosine, cosine)


def integer_array(generator: Generator, shape: tuple[int, ...], low: int, high: int, bits: int = 0) -> np.ndarray:
    """Integers from `low` up to but not including `high`, each from a word of so many bits (0: as many as it takes).

    Raises
    ------
    RuntimeError
        "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"
    """
    check(low < high, lambda: f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    words = generator.draw(math.prod(shape), bits or (32 if high - low < 2**28 else 64))
    return (words % np.uint64(high - low)).astype(np.int64).reshape(shape) + low


# Making tensors ------------------------------------------------------------------------------------------------------------

def _factory(name: str, make: Callable, text: str, error: str) -> tuple[Callable, Callable]:
    def factory(*sizes: Any, size: Any = None, generator: Generator | None = None, dtype: Any = None, device: Any = None,
                requires_grad: bool = False) -> Tensor:
        kind = _floating(pick_dtype(dtype, device), error)
        return finish(make(generator or default_generator, sizes_of(sizes, size, name), kind), requires_grad)

    def like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        kind = _floating(input.array.dtype if dtype is None else pick_dtype(dtype, device), error)
        return finish(make(default_generator, input.array.shape, kind), requires_grad)

    factory.__name__, factory.__doc__ = name, f"{text} in the given shape: ``{name}(2, 3)`` or ``{name}((2, 3))``."
    like.__name__, like.__doc__ = f"{name}_like", f"{text} in the shape and dtype of another tensor."
    return factory, like


def _floating(dtype: np.dtype, kernel: str) -> np.dtype:
    dtypes.refuse(dtype, "biu", kernel)
    return dtype


rand, rand_like = _factory("rand", uniform_array, "Uniform random numbers from [0, 1)", "check_uniform_bounds")
randn, randn_like = _factory("randn", normal_array, "Normal random numbers (mean 0, variance 1)", "normal_kernel_cpu")


def randint(low: int = 0, high: Any = None, size: Any = None, *, generator: Generator | None = None, dtype: Any = None,
            device: Any = None, requires_grad: bool = False) -> Tensor:
    """Random integers: ``randint(high, size)`` or ``randint(low, high, size)``; `high` is left out."""
    if high is None or isinstance(high, (tuple, list)):
        low, high, size = 0, low, high if size is None else size
    kind = np.dtype(np.int64) if dtype is None else pick_dtype(dtype, device)
    if kind.kind in "iu" and high - 1 > np.iinfo(kind).max:
        raise RuntimeError(f"to - 1 is out of bounds for {dtypes.of_numpy[kind].cpp_name}")
    return finish(integer_array(generator or default_generator, sizes_of((size,), name="randint"), low, high).astype(kind),
                  requires_grad)


def randint_like(input: Tensor, low: int, high: int | None = None, *, dtype: Any = None,
                 requires_grad: bool = False) -> Tensor:
    """Random integers in the shape and dtype of another tensor."""
    return randint(*((0, low) if high is None else (low, high)), tuple(input.array.shape), dtype=dtype or input.dtype,
                   requires_grad=requires_grad)


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None,
             requires_grad: bool = False) -> Tensor:
    """The integers from 0 to n - 1 in random order."""
    sizes_of((n,), name="randperm")
    order = list(range(n))
    for i, word in enumerate((generator or default_generator).draw(max(n - 1, 0)).tolist()):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return finish(np.array(order, np.int64 if dtype is None else pick_dtype(dtype, device)), requires_grad)


def normal(mean: Tensor | float, std: Tensor | float = 1.0, size: Any = None, *, generator: Generator | None = None,
           dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Normal random numbers of a mean and a standard deviation, which may be tensors (one number for each element)."""
    generator = generator or default_generator
    if size is not None:
        _check_std(std)
        return finish(normal_array(generator, sizes_of((size,), name="normal"), pick_dtype(dtype, device), mean, std), requires_grad)
    if isinstance(std, Tensor):
        return _normal_each(mean, std, generator) if isinstance(mean, Tensor) else _normal_wide(std, mean, generator)
    check(isinstance(mean, Tensor), "normal() of two numbers needs a size: normal(0.0, 1.0, (2, 3))", TypeError)
    return _normal_about(mean, std, generator)


def _noise(mean: Any, std: Any, generator: Generator, dtype: np.dtype) -> np.ndarray:
    _floating(dtype, "normal_kernel_cpu")
    if not isinstance(std, np.ndarray):
        _check_std(std)
    elif (std < 0).any():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    noise = normal_array(generator, np.broadcast_shapes(np.shape(mean), np.shape(std)), dtype)
    return np.asarray(noise * std + mean).astype(dtype, copy=False)


@op(node="NormalBackward1", tex=r"N({mean}, {std}^2)", mean=lambda grad, mean_sym_sizes: grad_zeros(grad, mean_sym_sizes))
def _normal_about(mean, std, generator):
    return _noise(mean, std, generator, mean.dtype)


@op(node="NormalBackward2", tex=r"N({mean}, {std}^2)", std=lambda grad, std_sym_sizes: grad_zeros(grad, std_sym_sizes))
def _normal_wide(std, mean, generator):
    return _noise(mean, std, generator, std.dtype)


@op(node="NormalBackward3", tex=r"N({mean}, {std}^2)",
    mean=lambda grad, mean_sym_sizes: grad_zeros(grad, mean_sym_sizes), std=lambda grad, std_sym_sizes: grad_zeros(grad, std_sym_sizes))
def _normal_each(mean, std: Tensor, generator):
    return _noise(mean, std, generator, mean.dtype)


def _check_std(std: float) -> None:
    check(not std < 0, lambda: f"normal expects std >= 0.0, but found std {std:g}")


# Filling tensors -----------------------------------------------------------------------------------------------------------
# In-place operations like any others: they count in the version, and nothing of what was there before has a gradient.

def in_memory_order(make: Callable[[tuple[int, ...]], np.ndarray], target: np.ndarray) -> np.ndarray:
    """Values for a target that get their numbers in the order in which its elements lie in memory, as PyTorch fills."""
    order = sorted(range(target.ndim), key=lambda d: -abs(target.strides[d]))
    return make(tuple(target.shape[d] for d in order)).transpose(np.argsort(order))


@op(node="UniformBackward0", inplace=True, tex=r"U({from_}, {to})", self=lambda grad: zeros_of(grad))
def _uniform(self, from_=0.0, to=1.0, generator=None):
    """Fill it with uniform numbers from [from, to), in place."""
    _floating(self.dtype, "check_uniform_bounds")
    check(not from_ > to, lambda: f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}")
    generator = generator or default_generator
    return in_memory_order(lambda shape: uniform_between(generator, shape, self.dtype, from_, to), self)


def uniform_between(generator: Generator, shape: tuple, dtype: np.dtype, low: float, high: float) -> np.ndarray:
    """Uniform numbers in [low, high)."""
    kind = np.dtype(np.float32) if dtype == np.float16 else dtype
    low, high = kind.type(low), kind.type(high)
    return _scaled(uniform_array(generator, shape, kind), high - low, low).astype(dtype, copy=False)


@op(node="NormalBackward0", inplace=True, tex=r"N({mean}, {std}^2)", self=lambda grad: zeros_of(grad))
def _normal(self, mean=0.0, std=1.0, generator=None):
    """Fill it with normal numbers, in place."""
    _floating(self.dtype, "normal_kernel_cpu")
    _check_std(std)
    generator, contiguous = generator or default_generator, self.flags.c_contiguous
    return in_memory_order(lambda shape: normal_array(generator, shape, self.dtype, mean, std, contiguous), self)


@op(inplace=True, node="RandomBackward2", self=lambda grad: zeros_of(grad))
def _random(self, from_, to, bits=0, generator=None):
    generator = generator or default_generator
    return in_memory_order(lambda shape: integer_array(generator, shape, from_, to, bits), self).astype(self.dtype)


def _random_(self: Tensor, from_: int | None = None, to: int | None = None, *,
             generator: Generator | None = None) -> Tensor:
    """Fill with random integers: from ``[from, to)``, from ``[0, from)``, or from all that the dtype can tell apart."""
    if from_ is None:
        dtype = self.array.dtype
        to = (2 if dtype.kind == "b" else np.iinfo(dtype).max + 1 if dtype.kind in "iu" else
              2**(np.finfo(dtype).nmant + 1) + 1)
        return self._random_(0, to, 64 if dtype in (np.int64, np.float64) else 32, generator)
    return self._random_(*((0, from_) if to is None else (from_, to)), 0, generator)


@op(node="BernoulliBackward0", tex=r"B({self})", self=lambda grad: zeros_of(grad))
def bernoulli(self, p=None, generator=None):
    """Ones and zeros: ones with the probability that each element of the tensor (or `p`) says."""
    p = self if p is None else np.full(self.shape, p)
    if p.dtype.kind != "f":
        _floating(p.dtype, "bernoulli_tensor_cpu_p_")
    check(((p >= 0) & (p <= 1)).all(), "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error "
          "message be improved?  If so, please report an enhancement request to PyTorch.)")
    return (uniform_array(generator or default_generator, p.shape, p.dtype) < p).astype(self.dtype)


@op(node="BernoulliBackward2", inplace=True, tex="B({p})", self=lambda grad: zeros_of(grad))
def _bernoulli(self, p=0.5, generator=None):
    """Fill it with ones, each with probability `p`, and zeros, in place."""
    if isinstance(p, (int, float)) and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    p = getattr(p, "array", p)
    kind = getattr(p, "dtype", np.dtype(np.float64))
    generator = generator or default_generator
    return (in_memory_order(lambda shape: uniform_array(generator, shape, kind), self) < p).astype(self.dtype)


Tensor.uniform_, Tensor.normal_, Tensor.bernoulli_ = Tensor._uniform_, Tensor._normal_, Tensor._bernoulli_
Tensor.random_ = _random_
