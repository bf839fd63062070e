"""Operations on 64-bit integers and floats that have machine instructions.

Each is an ordinary Python function, used as such when kernels run uncompiled; inside compiled
kernels Numba replaces it by the instruction.
"""

from __future__ import annotations

import struct
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

__all__ = ["bits_float", "float_bits", "lowest", "next_up", "popcount", "product", "reverse"]


def popcount(bits: int) -> int:
    """How many bits of a non-negative integer are set."""
    return int(bits).bit_count()


def lowest(bits: int) -> int:
    """The number of the lowest bit that is set, counted from 0; undefined for 0."""
    return int(bits & -bits).bit_length() - 1


def product(first: int, second: int) -> int:
    """The product of two signed 64-bit integers modulo 2**64, as a signed one: for hashing.

    An ordinary `*` must not overflow in a kernel: the compiler builds on its not doing so.
    """
    return (first * second + (1 << 63)) % (1 << 64) - (1 << 63)


def reverse(bits: int) -> int:
    """The 64 bits of a non-negative integer in the opposite order; bit 0 is clear."""
    return int(f"{bits:064b}"[::-1], 2)


def float_bits(value: float) -> int:
    """The 64 bits of a float as a signed integer."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def bits_float(bits: int) -> float:
    """The float that a signed 64-bit integer holds."""
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def next_up(value: float) -> float:
    """The least float above a finite value: the narrowest search window there is."""
    if value == 0.0:
        return 5e-324
    bits = float_bits(value)
    return bits_float(bits + 1 if value > 0.0 else bits - 1)


def _cast(typingctx: Any, source: Any, target: Any, build: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return build(builder, arguments[0])

    return target(source), codegen


@intrinsic
def _popcount(typingctx: Any, bits: Any) -> Any:
    return _cast(typingctx, types.int64, types.int64, lambda b, x: b.ctpop(x))


@intrinsic
def _lowest(typingctx: Any, bits: Any) -> Any:
    return _cast(
        typingctx, types.int64, types.int64, lambda b, x: b.cttz(x, ir.Constant(ir.IntType(1), 1))
    )


@intrinsic
def _product(typingctx: Any, first: Any, second: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.mul(*arguments)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _reverse(typingctx: Any, bits: Any) -> Any:
    return _cast(typingctx, types.int64, types.int64, lambda b, x: b.bitreverse(x))


@intrinsic
def _float_bits(typingctx: Any, value: Any) -> Any:
    return _cast(typingctx, types.float64, types.int64, lambda b, x: b.bitcast(x, ir.IntType(64)))


@intrinsic
def _bits_float(typingctx: Any, bits: Any) -> Any:
    return _cast(typingctx, types.int64, types.float64, lambda b, x: b.bitcast(x, ir.DoubleType()))


@overload(popcount, strict=False)
def _popcount_native(bits: Any) -> Any:
    return lambda bits: _popcount(bits)


@overload(lowest, strict=False)
def _lowest_native(bits: Any) -> Any:
    return lambda bits: _lowest(bits)


@overload(product, strict=False)
def _product_native(first: Any, second: Any) -> Any:
    return lambda first, second: _product(first, second)


@overload(reverse, strict=False)
def _reverse_native(bits: Any) -> Any:
    return lambda bits: _reverse(bits)


@overload(float_bits, strict=False)
def _float_bits_native(value: Any) -> Any:
    return lambda value: _float_bits(value)


@overload(bits_float, strict=False)
def _bits_float_native(bits: Any) -> Any:
    return lambda bits: _bits_float(bits)


@overload(next_up, strict=False)
def _next_up_native(value: Any) -> Any:
    return next_up
