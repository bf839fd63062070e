"""Whether a thread waits for compilations, or runs kernels uncompiled meanwhile.

Usually a call of a kernel compiles it and waits. A program for people calls `hurry`: from then on
Python's functions run in place of kernels that are not compiled yet, and threads in the background
compile them. Work that needs the speed waits all the same, in a block of `patiently`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from numba.core import types
from numba.core.dispatcher import OmittedArg
from numba.core.registry import CPUDispatcher

from games.kernels.compiler import compiled, is_kernel, uncompiled

__all__ = ["Meanwhile", "hurry", "patiently", "runs_compiled"]

_hurried = threading.Event()
_thread = threading.local()
_compile_and_wait = CPUDispatcher._compile_for_args


def hurry(on: bool = True) -> None:
    """Let no thread of this process wait for a compilation from now on, but for `patiently`."""
    (_hurried.set if on else _hurried.clear)()
    CPUDispatcher._compile_for_args = _compile_meanwhile if on else _compile_and_wait


def runs_compiled() -> bool:
    """Returns whether this thread runs compiled code only, and waits until it is compiled."""
    return compiled and (not _hurried.is_set() or getattr(_thread, "patient", False))


@contextlib.contextmanager
def patiently(on: bool = True) -> Iterator[None]:
    """Let this thread wait for compilations during a block; nothing changes if `on` is false."""
    before = getattr(_thread, "patient", False)
    _thread.patient = before or on
    try:
        yield
    finally:
        _thread.patient = before


class Meanwhile:
    """The result of a function that compiles in a thread of its own.

    function: the function, without arguments.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function, self._result = function, None
        self._error: BaseException | None = None
        self._done = threading.Event()
        # a daemon, because a program that ends does not wait for what nobody needs any more
        threading.Thread(target=self._run, daemon=True, name="compile").start()

    def _run(self) -> None:
        try:
            with patiently():
                self._result = self._function()
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def ready(self, seconds: float | None = 0.0) -> bool:
        """Returns whether the result is there, within `seconds`; waits for it if that is None."""
        return self._done.wait(seconds)

    def result(self) -> Any:
        """Waits for the function; returns its result or raises its error."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result


def _compile_meanwhile(self: Any, *arguments: Any) -> Any:
    """Returns the function to call where no compiled version fits; Numba's dispatcher asks for it.

    Kernels that read a record need one of native code, for which there is only compiled code.
    """
    if runs_compiled() or not is_kernel(self):
        return _compile_and_wait(self, *arguments)
    if any(isinstance(argument, OmittedArg) for argument in arguments):
        return _compile_and_wait(self, *arguments)
    kinds = tuple(self.typeof_pyval(argument) for argument in arguments)
    if any(isinstance(kind, types.Record) for kind in kinds):
        return _compile_and_wait(self, *arguments)
    jobs = vars(self).setdefault("jobs", {})
    if kinds not in jobs:
        jobs[kinds] = Meanwhile(partial(self.compile, kinds))
    if jobs[kinds].ready():
        return jobs[kinds].result()
    if "twin" not in vars(self):
        self.twin = uncompiled(self)
    return self.twin
