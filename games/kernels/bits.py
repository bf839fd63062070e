"""Operations on 64-bit integers and floats for which processors have instructions.

Each is an ordinary Python function, used as such when kernels run uncompiled; in compiled kernels
Numba replaces it by the instruction.

A board of 64 squares fits one integer, a *word*: 64 bare bits, of which bit 63 is the sign, so that
a word with bit 63 is negative. `&`, `|`, `^`, `~` and `==` treat words as they are, compiled or
not, and so do `shift_left`, `shift_right`, `bit`, `popcount`, `lowest` and `reverse`. Python's own
`<<` and `>>` do not: they keep bits beyond 63, and fill in copies of bit 63.
"""

from __future__ import annotations

import struct
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

__all__ = [
    "bit",
    "bits_float",
    "float_bits",
    "lowest",
    "next_up",
    "popcount",
    "product",
    "reverse",
    "shift_left",
    "shift_right",
    "word",
]

WORD = (1 << 64) - 1


def word(bits: int) -> int:
    """Returns the lowest 64 bits of an integer of any size as a word, -2**63 to 2**63 - 1.

    It is for constants such as masks; inside kernels integers are words already.
    """
    return ((int(bits) & WORD) ^ 1 << 63) - (1 << 63)


def bit(number: int) -> int:
    """Returns the word in which only bit `number`, 0 to 63, is set."""
    return word(1 << int(number))


def shift_left(bits: int, count: int) -> int:
    """Returns the word with every bit `count` (0 to 63) places higher; bits beyond 63 are lost."""
    return word(int(bits) << int(count))


def shift_right(bits: int, count: int) -> int:
    """Returns the word with every bit `count` (0 to 63) places lower, filled with zeros."""
    return word((int(bits) & WORD) >> int(count))


def popcount(bits: int) -> int:
    """Returns the number of bits of a word that are set."""
    return (int(bits) & WORD).bit_count()


def lowest(bits: int) -> int:
    """Returns the number of the lowest set bit, counted from 0; undefined for 0."""
    return int(bits & -bits).bit_length() - 1


def product(first: int, second: int) -> int:
    """Returns the product of two signed 64-bit integers modulo 2**64, signed, for hashing.

    An ordinary `*` must not overflow in a kernel, because the compiler assumes that it does not.
    """
    return (first * second + (1 << 63)) % (1 << 64) - (1 << 63)


def reverse(bits: int) -> int:
    """Returns the 64 bits of a word in the opposite order."""
    return word(int(f"{int(bits) & WORD:064b}"[::-1], 2))


def float_bits(value: float) -> int:
    """Returns the 64 bits of a float as a signed integer."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def bits_float(bits: int) -> float:
    """Returns the float whose bits a signed 64-bit integer holds."""
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def next_up(value: float) -> float:
    """Returns the smallest float above a finite value, which makes the narrowest search window."""
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
def _shift_left(typingctx: Any, bits: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.shl(*arguments)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _shift_right(typingctx: Any, bits: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.lshr(*arguments)

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


@overload(word, strict=False)
def _word_native(bits: Any) -> Any:
    return lambda bits: bits


@overload(bit, strict=False)
def _bit_native(number: Any) -> Any:
    return lambda number: _shift_left(1, number)


@overload(shift_left, strict=False)
def _shift_left_native(bits: Any, count: Any) -> Any:
    return lambda bits, count: _shift_left(bits, count)


@overload(shift_right, strict=False)
def _shift_right_native(bits: Any, count: Any) -> Any:
    return lambda bits, count: _shift_right(bits, count)


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
