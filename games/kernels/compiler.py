"""`@kernel`: an ordinary Python function that Numba compiles to native code.

A kernel is compiled at its first use and kept on disk, so that a second process starts at once.
Three things are added to Numba's own cache, each for a trap that it does not cover (and a fourth
in `games.kernels.cache`):

* the cache entry is named by a *fingerprint* of the function and of everything that it refers to,
  so that an edited kernel also recompiles its callers in other files (numba issue 8396);
* reference counting is switched off, because kernels do not own the arrays that they read and
  write, and counting references to them costs more than the work of a typical feature;
* a kernel that calls itself needs a signature, because a recursive function with two
  specialisations can crash when it is read back from the cache (numba issue 6061).

This module, `games.kernels.bits`, `games.kernels.cache`, `games.kernels.memory` and
`search.native` are the only places that know Numba's private names.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import importlib
import sys
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.typeinfer import register_dispatcher
from numba.np import linalg

from games.kernels.cache import SharedCacheFile

__all__ = [
    "check_callees",
    "compiled",
    "describe",
    "fingerprint",
    "is_kernel",
    "kernel",
    "kernel_again",
    "kernel_parts",
    "toolchain",
    "uncompiled",
]

Function = TypeVar("Function", bound=Callable[..., Any])

#: False under NUMBA_DISABLE_JIT=1, when every kernel stays the Python function that it is.
compiled: bool = not numba.config.DISABLE_JIT

#: The module of generated code; Numba's cache imports it when it reads a function back.
GENERATED = "plysmith_generated"

#: Every kernel by its fingerprint, so that a kernel sent by another process is recognised.
_known: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()

OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}

# With its first function Numba imports those of arrays, and these SciPy, to see whether it has a
# BLAS. That takes 0.2 s, and a function that calculates with matrices looks again.
_ensure, linalg.ensure_blas = linalg.ensure_blas, lambda: None
importlib.import_module("numba.np.arraymath")
linalg.ensure_blas = _ensure


class _Recursive(CPUDispatcher):  # type: ignore[misc]
    """A kernel that calls itself: compiled at its first use, and only for its own signature."""

    def compile(self, sig: Any) -> Any:
        with global_compiler_lock:
            if self._can_compile:
                with register_dispatcher(self):
                    super().compile(self.asked[0])
                self.disable_compile()
            return next(iter(self.overloads.values())).entry_point


@overload
def kernel(function: Function) -> Function: ...


@overload
def kernel(*, signature: Any = None, fastmath: bool = False) -> Callable[[Function], Function]: ...


def kernel(
    function: Function | None = None, *, signature: Any = None, fastmath: bool = False
) -> Function | Callable[[Function], Function]:
    """Mark a function of numbers, tuples and arrays as a kernel, which runs at native speed.

    The function keeps its name and is called as before. It must not create arrays, lists or other
    objects: it writes its results into arrays that it is given, or returns numbers and tuples.
    Kernels that it calls must be defined before it. Elements of arrays narrower than 64 bits must
    be converted by `float()` or `int()`, because uncompiled NumPy calculates with their few bits.

    function: the function.
    signature: a Numba signature, needed only by a function that calls itself; it is then compiled
        for no other.
    fastmath: allow sums of floating-point numbers to be reordered.

    Raises TypeError if a recursive function has no signature, and NameError if a function uses a
    name that is not defined yet.
    """
    if function is None:
        return lambda f: kernel_of(f, signature, fastmath)
    return kernel_of(function, signature, fastmath)


def kernel_of(function: Function, signature: Any, fastmath: bool) -> Function:
    """Returns the kernel made from a function, see `kernel`."""
    if is_kernel(function):
        raise TypeError(f"{function.__name__} is a kernel already")
    name = function.__name__
    if signature is None and _calls_itself(function):
        raise TypeError(
            f"kernel {name} calls itself: give its types, as in"
            " @kernel(signature='int64(int64, int64)')"
        )
    if function.__module__ not in sys.modules:
        # as in a file loaded by its path: Numba would give it a new name in each process
        sys.modules.setdefault(GENERATED, types.ModuleType(GENERATED))
        function.__module__ = GENERATED
    options = {**OPTIONS, "fastmath": fastmath}
    how = f"{signature} {sorted(options.items())}"
    mark = _digest(function, how)
    if not compiled:
        function.fingerprint = mark  # type: ignore[attr-defined]
        function.how = how  # type: ignore[attr-defined]
        function.asked = (signature, fastmath)  # type: ignore[attr-defined]
        return function
    # Numba names the cache file after the qualified name, and takes its last part for the name by
    # which the function calls itself. The letter keeps the cache of generated code apart, which
    # can only be read with its module.
    stem = f"{'k' if function.__module__ != GENERATED else 'g'}{mark[:16]}"
    original, function.__qualname__ = function.__qualname__, f"{stem}.{name}"
    dispatcher = numba.njit(**options)(function)
    try:
        dispatcher.enable_caching()
        dispatcher._cache._cache_file.__class__ = SharedCacheFile
    except RuntimeError as error:
        if not cannot_cache(error):
            raise
    if signature is not None:
        dispatcher.__class__ = _Recursive
    dispatcher.fingerprint = mark
    dispatcher.how = how
    dispatcher.asked = (signature, fastmath)
    dispatcher.__qualname__ = original
    _known[mark] = dispatcher
    return dispatcher  # type: ignore[no-any-return]


def kernel_parts(kernel: Any) -> tuple[types.FunctionType, str, Any, bool]:
    """Returns the arguments of `kernel_again`, but for the fingerprint, for a compiled kernel."""
    function = kernel.py_func
    name, scope = function.__name__, function.__globals__
    if scope.get(name) is kernel and name in _global_names(function.__code__):
        # a kernel that calls itself must not be sent within itself
        others = {key: value for key, value in scope.items() if key != name}
        copy = types.FunctionType(
            function.__code__, others, name, function.__defaults__, function.__closure__
        )
        copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
        function = copy
    signature, fastmath = kernel.asked
    return function, kernel.__qualname__, signature, fastmath


def kernel_again(
    mark: str, function: Any, qualname: str, signature: Any, fastmath: bool
) -> Callable[..., Any]:
    """Returns the kernel with fingerprint `mark`, made from its parts unless it exists already.

    mark: the fingerprint.
    function: the Python function.
    qualname: its qualified name.
    signature: as in `kernel`.
    fastmath: as in `kernel`.

    Raises ValueError if the parts make another kernel, as under another version of Python.
    """
    if mark in _known:
        return _known[mark]  # type: ignore[no-any-return]
    function.__qualname__ = qualname
    made = kernel_of(function, signature, fastmath)
    if fingerprint(made) != mark:
        raise ValueError(
            f"kernel {function.__name__}: expected fingerprint {mark[:16]}, found"
            f" {fingerprint(made)[:16]}; processes that share work need the same versions of"
            " Plysmith, Python and Numba"
        )
    if signature is not None:
        function.__globals__.setdefault(function.__name__, made)
    return made  # type: ignore[no-any-return]


def cannot_cache(error: RuntimeError) -> bool:
    """Returns whether Numba found no folder to write to; it then compiles for this process only."""
    return "cannot cache" in str(error)


def is_kernel(function: object) -> bool:
    """Returns whether a function was marked with `@kernel`."""
    return hasattr(function, "fingerprint") and callable(function)


def fingerprint(function: Any) -> str:
    """Returns 64 hexadecimal digits that change if a kernel or anything that it calls changes.

    Raises TypeError if the function is not a kernel.
    """
    if not is_kernel(function):
        raise TypeError(f"expected a function marked with @kernel, found {function!r}")
    return str(function.fingerprint)


def check_callees(kernel: Any) -> None:
    """Raises TypeError if a name that a kernel uses has changed its value since its definition.

    In an interactive session a function may be redefined while its caller stays. The caller's
    fingerprint then still describes the old function, and the new one must not be cached under it.
    """
    pending, seen = [kernel], set()
    while pending:
        function = pending.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        source = _python(function)
        if _digest(source, function.how) != function.fingerprint:
            raise TypeError(
                f"kernel {function.__name__}: something that it uses was defined anew after it;"
                " define it again as well"
            )
        used = [source.__globals__.get(name) for name in source.__code__.co_names]
        used += [cell.cell_contents for cell in source.__closure__ or ()]
        pending += filter(is_kernel, used)


def uncompiled(function: Any, _twins: dict[int, Any] | None = None) -> Any:
    """Returns a kernel's Python function, in which every kernel that it calls is uncompiled too.

    It is used to test compiled code against its own source, and to run the search over games and
    evaluators that are not kernels.
    """
    twins = {} if _twins is None else _twins
    if id(function) in twins:
        return twins[id(function)]
    source = _python(function)
    scope = dict(source.__globals__)
    twin = types.FunctionType(
        source.__code__, scope, source.__name__, source.__defaults__, source.__closure__
    )
    twins[id(function)] = twin
    for name in source.__code__.co_names:
        if is_kernel(scope.get(name)):
            scope[name] = uncompiled(scope[name], twins)
    return twin


def _python(function: Any) -> types.FunctionType:
    return function.py_func if isinstance(function, Dispatcher) else function  # type: ignore[no-any-return]


def _calls_itself(function: Any) -> bool:
    name = function.__name__
    if name not in _global_names(function.__code__):
        return False
    other = function.__globals__.get(name)
    if other is None:
        return not hasattr(builtins, name)
    # an earlier definition of the same name is replaced by this one before it is called
    return bool(getattr(other, "__qualname__", None) == function.__qualname__)


@functools.cache
def toolchain() -> str:
    """Returns a digest of the compile layer's own code, which is part of every fingerprint."""
    here = Path(__file__)
    files = [here, here.with_name("memory.py"), here.with_name("bits.py")]
    return " ".join([*map(_file_mark, files), f"bounds {bool(numba.config.BOUNDSCHECK)}"])


@functools.cache
def _file_mark(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "no source"


def _module_mark(name: str) -> str:
    """Returns a digest of a module's source, because a function does not contain its overloads."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return f"{name} {_file_mark(Path(file)) if file else 'no source'}"


def _digest(function: Any, how: str) -> str:
    parts = [toolchain(), how, *_function_parts(function, frozenset())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _function_parts(function: Any, seen: frozenset[int]) -> list[str]:
    """Returns texts that determine what a function does: code, defaults and values of its names."""
    code = function.__code__
    defaults = (function.__defaults__ or (), sorted((function.__kwdefaults__ or {}).items()))
    parts = [function.__name__, *_code_parts(code), repr(defaults)]
    names = _names(code)
    scope = function.__globals__
    for name in _global_names(code):
        if name == function.__name__:
            continue
        if name in scope:
            parts.append(f"{name}={describe(scope[name], names, seen)}")
        elif not hasattr(builtins, name):
            raise NameError(
                f"kernel {function.__name__} uses the name {name}, which is not defined yet:"
                " define the kernels that it calls before it"
            )
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            raise NameError(
                f"kernel {function.__name__} uses the local name {name}, which is not defined yet:"
                " define it before, and a kernel that calls itself at the top of a module"
            ) from None
        parts.append(f"{name}={describe(value, names, seen)}")
    return parts


def _code_parts(code: types.CodeType) -> list[str]:
    parts = [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            parts.extend(_code_parts(constant))
        else:
            parts.append(repr(constant))
    return parts


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


@functools.cache
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """Returns the names that the code looks up in its module, in order."""
    found = {
        str(i.argval)
        for i in dis.get_instructions(code)
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= set(_global_names(constant))
    return tuple(sorted(found))


def describe(value: Any, names: set[str], seen: frozenset[int] = frozenset()) -> str:
    """Returns a text for a value that a kernel uses, which changes if the value does.

    value: the value of a global name.
    names: the names that the kernel uses, some of them as attributes of modules.
    seen: `id` of the objects that are being described already.
    """
    if is_kernel(value):
        return str(value.fingerprint)
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return "(" + ",".join(describe(item, names, seen) for item in value) + ")"
    if isinstance(value, (bool, int, float, complex, str, np.generic)):
        return repr(value)
    if id(value) in seen:
        return ""
    seen |= {id(value)}
    if isinstance(value, types.ModuleType):
        members = sorted(n for n in names if n in vars(value))
        return value.__name__ + "".join(
            f".{n}:{describe(getattr(value, n), names, seen)}" for n in members
        )
    if isinstance(value, Dispatcher):  # of numba.njit
        return "\n".join(_function_parts(value.py_func, seen))
    name = str(getattr(value, "__qualname__", None) or value)
    if isinstance(value, types.FunctionType):
        name = "\n".join([name, *_code_parts(value.__code__)])
    if callable(value) and not isinstance(value, (type, types.BuiltinFunctionType)):
        return f"{name} of {_module_mark(getattr(value, '__module__', ''))}"
    return name
