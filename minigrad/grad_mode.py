"""Is the recording on? One flag per thread, and the contexts that set it.

Operations look at ``state.recording`` before they record a node; everything below only sets it.
"""
from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled"]


class _State(threading.local):
    enabled = True      # grad mode
    inference = False   # are we inside inference_mode()?
    recording: bool | None = True    # do operations record nodes? None: no, and what they make are inference tensors

    def set(self, enabled: bool, inference: bool | None = None) -> None:
        self.enabled = enabled
        if inference is not None:
            self.inference = inference
        self.recording = None if self.inference else self.enabled


state = _State()


def is_grad_enabled() -> bool:
    """Return whether operations are being recorded in this thread."""
    return state.enabled


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is inside ``inference_mode()``."""
    return state.inference


class _GradMode:
    """Set the flags on entry and restore them on exit; also a decorator of functions and generators."""

    mode = True
    prev = False        # the mode before: as in PyTorch, an object entered again before it is left forgets the first

    def __enter__(self) -> None:
        self.prev = state.enabled
        state.set(self.mode)

    def __exit__(self, *exc: object) -> None:
        state.set(self.prev)

    def clone(self) -> _GradMode:
        """Another of the same kind, for the next use as a decorator."""
        return type(self)()

    def __call__(self, function: Callable) -> Callable:
        if inspect.isclass(function):
            warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                          "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                          "the `__init__` method and nothing else.", FutureWarning, stacklevel=2)
            function.__init__ = self(function.__init__)         # type: ignore[method-assign]
            return function
        if inspect.isgeneratorfunction(function):
            return _wrap_generator(self, function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapper


def _wrap_generator(context: _GradMode, function: Callable) -> Callable:
    """Apply the mode only while the generator's own body runs, never in the loop that consumes it."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, argument = generator.send, None
        while True:
            try:
                with context.clone():
                    value = resume(argument)
            except StopIteration as stop:
                return stop.value
            try:
                argument = yield value
                resume = generator.send
            except GeneratorExit:
                with context.clone():
                    generator.close()
                raise
            except BaseException as error:    # thrown in by the consumer: the body must see it
                resume, argument = generator.throw, error

    return wrapper


class no_grad(_GradMode):
    """Stop recording: results made inside have ``requires_grad=False``. Flags of existing tensors do not change.

    A context manager, a decorator with or without parentheses, also for generators. A tensor *created* inside with
    ``requires_grad=True`` gets its flag: only results of operations are affected.
    """

    mode = False

    def __new__(cls, function: Callable | None = None) -> Any:
        context = super().__new__(cls)
        return context if function is None else context(function)


class enable_grad(no_grad):
    """Record again, also inside ``no_grad()`` (but not inside ``inference_mode()``)."""

    mode = True


class set_grad_enabled(_GradMode):
    """Switch recording on or off at once; as a context manager also restore the previous mode at the end.

    As a decorator it applies to the function only: the mode is set back when the decorator is made.
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
        self.prev, self.mode = state.enabled, mode
        state.set(mode)

    def __enter__(self) -> None:
        state.set(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self) -> set_grad_enabled:
        """Another with the same mode."""
        return type(self)(self.mode)

    def __call__(self, function: Callable) -> Callable:
        state.set(self.prev)
        return super().__call__(function)


class inference_mode(_GradMode):
    """``no_grad`` for good: tensors made inside can never take part in recording later."""

    def __new__(cls, mode: bool | Callable = True) -> Any:
        context = super().__new__(cls)
        if not isinstance(mode, bool):
            cls.__init__(context)
            return context(mode)
        return context

    def __init__(self, mode: bool = True) -> None:
        self.inference, self.mode = bool(mode), not mode      # as in PyTorch, False records even inside no_grad()
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((state.enabled, state.inference))
        state.set(self.mode, self.inference)

    def __exit__(self, *exc: object) -> None:
        state.set(*self._before.pop())

    def clone(self) -> inference_mode:
        """Another with the same mode."""
        return type(self)(bool(self.inference))
