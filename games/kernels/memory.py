"""Generated native functions over positions that lie in memory.

Kernels take and return tuples. The native search keeps the positions of its line in memory, eight
bytes for each integer, and enters rules and evaluators by address. An adapter of a few generated
lines for each game and each evaluator connects them: it reads a tuple, calls the kernel (which the
compiler inlines) and writes the result. Addresses are plain integers, so that the search itself is
compiled once for all games and evaluators.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic
from numba.np.arrayobj import get_cfarray_intrinsic
from platformdirs import user_cache_dir

from games.kernels.cache import SharedCacheFile
from games.kernels.compiler import (
    GENERATED,
    OPTIONS,
    cannot_cache,
    check_callees,
    describe,
    is_kernel,
    toolchain,
)
from games.kernels.compiling import counting

__all__ = [
    "generated_file",
    "load_float",
    "load_int",
    "native_function",
    "prefetch",
    "read_arrays",
    "read_position",
    "store_int",
]

WORD = ir.IntType(64)


def _pointer(builder: Any, address: Any, index: Any, kind: Any) -> Any:
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [index])


@intrinsic
def load_int(typingctx: Any, address: Any, index: Any) -> Any:
    """Returns the 64-bit integer at place `index` behind an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, arguments[0], arguments[1], WORD))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def load_float(typingctx: Any, address: Any, index: Any) -> Any:
    """Returns the 64-bit float at place `index` behind an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, arguments[0], arguments[1], ir.DoubleType()))

    return types.float64(types.int64, types.int64), codegen


@intrinsic
def store_int(typingctx: Any, address: Any, index: Any, value: Any) -> Any:
    """Write a 64-bit integer at place `index` behind an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _pointer(builder, arguments[0], arguments[1], WORD)
        builder.store(arguments[2], place)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), codegen


@intrinsic
def store_float(typingctx: Any, address: Any, index: Any, value: Any) -> Any:
    """Write a 64-bit float at place `index` behind an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _pointer(builder, arguments[0], arguments[1], ir.DoubleType())
        builder.store(arguments[2], place)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.float64), codegen


@intrinsic
def prefetch(typingctx: Any, address: Any, index: Any) -> Any:
    """Start loading the cache line with place `index` behind an address into the cache."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _pointer(builder, arguments[0], arguments[1], WORD)
        kind = ir.FunctionType(ir.VoidType(), [place.type] + [ir.IntType(32)] * 3)
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, near, data = (ir.Constant(ir.IntType(32), number) for number in (0, 3, 1))
        builder.call(function, [place, read, near, data])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), codegen


def _pointer_cast(kind: Any) -> Any:
    @intrinsic
    def as_pointer(typingctx: Any, address: Any) -> Any:
        target = types.CPointer(kind)

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(target))

        return target(types.int64), codegen

    return as_pointer


POINTERS = {
    str(kind): _pointer_cast(kind)
    for kind in (types.int8, types.int16, types.int32, types.int64, types.float32, types.float64)
}


@intrinsic
def call_python(typingctx: Any, function: Any, source: Any, width: Any) -> Any:
    """Call a Python object with a tuple of integers, and return its result as a float.

    function: the object's address (`id`); the caller keeps the object alive. It must not raise.
    source: address of the integers.
    width: number of integers, a literal.

    It works in any thread, whether or not the thread holds the interpreter lock.
    """
    if not isinstance(width, types.IntegerLiteral):
        return None
    size = width.literal_value

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        api = context.get_python_api(builder)
        lock = api.gil_ensure()
        items = [
            api.long_from_longlong(
                builder.load(_pointer(builder, arguments[1], ir.Constant(WORD, i), WORD))
            )
            for i in range(size)
        ]
        position = api.tuple_pack(items)
        for item in items:
            api.decref(item)
        called = builder.inttoptr(arguments[0], api.pyobj)
        result = api.call_function_objargs(called, (position,))
        api.decref(position)
        value = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), 0.0))
        with builder.if_then(cgutils.is_not_null(builder, result)):
            builder.store(api.float_as_double(result), value)
            api.decref(result)
        api.gil_release(lock)
        return builder.load(value)

    return types.float64(types.int64, types.int64, width), codegen


def read_position(width: int, source: str = "source") -> str:
    """Returns text that reads a tuple of `width` integers from the address named `source`."""
    return "(" + "".join(f"load_int({source}, {i}), " for i in range(width)) + ")"


def native_function(
    name: str, source: str, scope: Mapping[str, Any], signature: str, *, fastmath: bool = False
) -> int:
    """Compile generated source text to a C function and return its address.

    name: the name of the function.
    source: text that defines this one function.
    scope: the kernels and constants that the text refers to, by name.
    signature: a Numba signature of plain numbers.
    fastmath: allow sums of floating-point numbers to be reordered.

    The text is kept as a file in the user's cache directory, because Numba caches only functions
    that have a file; if it cannot be written, the function is compiled for this process only. The
    code lives as long as the process.
    """
    marks = [f"{key}={describe(value, set())}" for key, value in sorted(scope.items())]
    parts = [toolchain(), source, signature, str(fastmath), *marks]
    mark = hashlib.sha256("\n".join(parts).encode())
    return _compile(name, source, mark.hexdigest(), _Scope(scope), signature, fastmath)


class _Scope(dict[str, Any]):
    """Names for generated code; all compare equal, because the fingerprint distinguishes them."""

    def __hash__(self) -> int:  # type: ignore[override]
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Scope)

    def __ne__(self, other: object) -> bool:
        return not self == other


# numba.carray itself returns a counted reference; the intrinsic beneath it does not
array_at = get_cfarray_intrinsic("C", None)

_MEMORY = {
    "array_at": array_at,
    "load_int": load_int,
    "load_float": load_float,
    "store_int": store_int,
    "store_float": store_float,
    "call_python": call_python,
    **{f"{kind}_pointer": cast for kind, cast in POINTERS.items()},
}
_kept: list[Any] = []  # compiled code is freed with its Python object


@functools.cache
def _compile(
    name: str, source: str, mark: str, scope: _Scope, signature: str, fastmath: bool
) -> int:
    for kernel in filter(is_kernel, scope.values()):
        check_callees(kernel)
    path = generated_file(f"{name}_{mark[:24]}.py", source)
    sys.modules.setdefault(GENERATED, ModuleType(GENERATED))
    names = {**_MEMORY, **scope, "__name__": GENERATED}
    exec(compile(source, str(path or f"<generated {name}>"), "exec"), names)
    options = {**OPTIONS, "fastmath": fastmath}
    try:
        function = _callback(names[name], signature, options, cached=path is not None)
    except RuntimeError as error:
        if not cannot_cache(error):
            raise
        function = _callback(names[name], signature, options, cached=False)
    _kept.append(function)
    return int(function.address)


def _callback(function: Any, signature: str, options: dict[str, Any], *, cached: bool) -> Any:
    """As `numba.cfunc`, with `SharedCacheFile` in place of Numba's own cache."""
    made: Any = CFunc(function, normalize_signature(signature), locals={}, options=options)
    if cached:
        made.enable_caching()
        made._cache._cache_file.__class__ = SharedCacheFile
    with counting(made):
        made.compile()
    return made


def generated_file(name: str, text: str) -> Path | None:
    """Write generated source to the cache directory. Returns None if it cannot be written."""
    configured = numba.config.CACHE_DIR
    folder = Path(configured or user_cache_dir("plysmith", appauthor=False)) / "generated"
    path = folder / name
    try:
        if path.exists() and path.read_text() == text:
            return path
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        return None
    return path


def read_arrays(arrays: Any, data: str = "data") -> tuple[np.ndarray[Any, Any], str]:
    """Let native code read an array, or a tuple of arrays, that Python owns.

    Returns a block of integers (address and shape of each array), to be kept alive with the arrays,
    and source text that reads the same array or tuple of arrays from the address named `data`.
    Raises TypeError if an array is not contiguous or its type is not int8 to int64, float32 or
    float64.
    """
    single = isinstance(arrays, np.ndarray)
    block: list[int] = []
    parts: list[str] = []
    for array in (arrays,) if single else arrays:
        kind = str(array.dtype)
        if kind not in POINTERS or not array.flags.c_contiguous or array.ndim == 0:
            raise TypeError(
                f"expected contiguous arrays of {', '.join(POINTERS)}, found {kind} of shape"
                f" {array.shape}"
            )
        place = len(block)
        block += [array.ctypes.data, *array.shape]
        shape = "".join(f"load_int({data}, {place + 1 + i}), " for i in range(array.ndim))
        parts.append(f"array_at({kind}_pointer(load_int({data}, {place})), ({shape}))")
    text = parts[0] if single else "(" + "".join(f"{part}, " for part in parts) + ")"
    return np.array(block or [0], dtype=np.int64), text
