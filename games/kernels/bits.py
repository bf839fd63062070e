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
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

__all__ = [
    "bit",
    "bits_float",
    "float_bits",
    "lowest",
    "native",
    "next_up",
    "popcount",
    "product",
    "reverse",
    "shift_left",
    "shift_right",
    "word",
]

WORD = (1 << 64) - 1
#: The functions that compiled code gets in place of others.
NATIVE: dict[Any, Any] = {}


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


def native(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Marks the function, of the same parameters, that compiled code gets in place of `plain`."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        overload(plain, strict=False)(lambda *arguments: function)
        NATIVE[plain] = function
        return function

    return mark


def _instruct(function: Any, build: Any, *kinds: Any) -> Any:
    """Replace a function of one or two numbers by an instruction in compiled kernels.

    build: `build(builder, *arguments)` returns the value of the instruction.
    kinds: the types of the arguments, then that of the value.

    Returns the function that generated code calls.
    """
    *given, result = kinds

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return build(builder, *arguments)

    if len(given) == 1:
        instruction = intrinsic(lambda typingctx, bits: (result(*given), codegen))
        native(function)(lambda bits: instruction(bits))
    else:
        instruction = intrinsic(lambda typingctx, bits, other: (result(*given), codegen))
        native(function)(lambda bits, other: instruction(bits, other))
    return instruction


INT, FLOAT = types.int64, types.float64
_instruct(popcount, lambda builder, bits: builder.ctpop(bits), INT, INT)
_instruct(lowest, lambda builder, bits: builder.cttz(bits, ir.Constant(ir.IntType(1), 1)), INT, INT)
_instruct(product, lambda builder, first, second: builder.mul(first, second), INT, INT, INT)
_shift_left = _instruct(
    shift_left, lambda builder, bits, count: builder.shl(bits, count), INT, INT, INT
)
_instruct(shift_right, lambda builder, bits, count: builder.lshr(bits, count), INT, INT, INT)
_instruct(reverse, lambda builder, bits: builder.bitreverse(bits), INT, INT)
_instruct(float_bits, lambda builder, value: builder.bitcast(value, ir.IntType(64)), FLOAT, INT)
_instruct(bits_float, lambda builder, bits: builder.bitcast(bits, ir.DoubleType()), INT, FLOAT)
native(word)(lambda bits: bits)
native(bit)(lambda number: _shift_left(1, number))
native(next_up)(next_up)
