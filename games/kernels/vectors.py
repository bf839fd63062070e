"""Sums over rows of numbers in memory, as vector instructions of generated native code.

A row of a matrix is read as whole vectors, whose lanes are independent sums, so that the sums stay
in registers while the rows are added up. Sums of float32 have the same order of additions on every
machine: results equal, bit for bit, those of NumPy code that adds row by row. Sums of integers are
the same in any order, as long as the result fits its type.

All addresses are 64-bit integers and all sizes literals. Rows follow one another without gaps, and
their widths are multiples of `LANES`, or for int16 of `SHORT_LANES`; callers pad rows with zeros.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "LANES",
    "SHORT_LANES",
    "add_products",
    "clip_products",
    "clip_shorts",
    "dot",
    "dot_shorts",
    "stack_block",
    "sum_rows",
    "sum_shorts",
]

#: Widths of rows of float32 are multiples of this.
LANES = 8
#: Widths of rows of int16 are multiples of this.
SHORT_LANES = 16
#: Greatest number of lanes that are summed together: eight registers of 256 bits.
MOST_LANES = 64
#: The same for int16 (eight registers), and for sums of products of int16 (sixteen registers).
MOST_SHORTS, MOST_SUMS = 128, 128
#: Inputs whose signs one integer holds.
WORD_BITS = 64

FLOAT, WORD = ir.FloatType(), ir.IntType(64)
SHORT, INTEGER = ir.IntType(16), ir.IntType(32)
FLOAT_BYTES, WORD_BYTES = 4, 8


def _number(value: int) -> Any:
    return ir.Constant(WORD, value)


def _literals(*sizes: Any) -> bool:
    return all(isinstance(size, types.IntegerLiteral) for size in sizes)


def _place(builder: Any, address: Any, offset: Any, kind: Any) -> Any:
    """Returns a pointer to a `kind` at `offset` bytes behind an address."""
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())


def _load(builder: Any, address: Any, index: Any, lanes: int) -> Any:
    """Returns the `lanes` floats that begin at place `index` behind an address."""
    offset = builder.mul(index, _number(FLOAT_BYTES))
    return builder.load(_place(builder, address, offset, ir.VectorType(FLOAT, lanes)), align=4)


def _store(builder: Any, address: Any, index: int, vector: Any) -> None:
    place = _place(builder, address, _number(FLOAT_BYTES * index), vector.type)
    builder.store(vector, place, align=4)


def _chunks(width: int, most: int = MOST_LANES) -> list[tuple[int, int]]:
    """Returns (first place, length) of the pieces in which a row is processed."""
    return [(first, min(most, width - first)) for first in range(0, width, most)]


def _row(builder: Any, rows: Any, index: Any, width: int, first: int, lanes: int) -> Any:
    place = builder.add(builder.mul(index, _number(width)), _number(first))
    return _load(builder, rows, place, lanes)


def _stack_block(typingctx: Any, size: Any) -> Any:
    """Returns the address of `size` bytes on the stack, which last until the function returns.

    Their content is undefined. Each place in the text that calls this has a block of its own.
    """
    if not _literals(size):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.ArrayType(ir.IntType(8), size.literal_value)
        block = cgutils.alloca_once(builder, kind)
        block.align = 64  # a cache line
        return builder.ptrtoint(block, WORD)

    return types.int64(size), codegen


def _sum_rows(
    typingctx: Any, target: Any, bias: Any, rows: Any, places: Any, count: Any, width: Any
) -> Any:
    """Write bias + rows[places[0]] + ... + rows[places[count - 1]] to `target`.

    target, bias: addresses of `width` floats each.
    rows: address of rows of `width` floats.
    places: address of `count` 64-bit integers, the numbers of the rows.
    count: number of rows to add.
    width: number of floats in a row, a literal.
    """
    if not _literals(width):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, bias, rows, places, count, _ = arguments
        for first, lanes in _chunks(width.literal_value):
            total = cgutils.alloca_once_value(builder, _load(builder, bias, _number(first), lanes))
            with cgutils.for_range(builder, count) as loop:
                offset = builder.mul(loop.index, _number(WORD_BYTES))
                place = builder.load(_place(builder, places, offset, WORD))
                row = _row(builder, rows, place, width.literal_value, first, lanes)
                builder.store(builder.fadd(builder.load(total), row), total)
            _store(builder, target, first, builder.load(total))
        return context.get_dummy_value()

    five = (types.int64,) * 5
    return types.none(*five, width), codegen


def _add_products(
    typingctx: Any,
    target: Any, bias: Any, rows: Any, inputs: Any, length: Any, width: Any, positive: Any,
) -> Any:  # fmt: skip
    """Write bias + inputs[0] * rows[0] + ... + inputs[length - 1] * rows[length - 1] to `target`.

    Inputs that are 0 are skipped. With a literal 1 as `positive` all inputs that are not above 0
    are skipped, so that the inputs are read through a ReLU. Products are rounded before they are
    added.
    """
    if not _literals(length, width, positive):
        return None
    size, columns = length.literal_value, width.literal_value

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, bias, rows, inputs = arguments[:4]
        words = _chunks(size, WORD_BITS)
        masks = cgutils.alloca_once(builder, ir.ArrayType(WORD, len(words)))
        for word, (first, count) in enumerate(words):
            vector = _load(builder, inputs, _number(first), count)
            zero = ir.Constant(vector.type, [0.0] * count)
            compare = builder.fcmp_ordered if positive.literal_value else builder.fcmp_unordered
            used = compare(">" if positive.literal_value else "!=", vector, zero)
            mask = builder.zext(builder.bitcast(used, ir.IntType(count)), WORD)
            builder.store(mask, cgutils.gep_inbounds(builder, masks, 0, word))
        for first, lanes in _chunks(columns):
            total = cgutils.alloca_once_value(builder, _load(builder, bias, _number(first), lanes))
            with cgutils.for_range(builder, _number(len(words))) as loop:
                mask = builder.load(cgutils.gep_inbounds(builder, masks, 0, loop.index))
                base = builder.mul(loop.index, _number(WORD_BITS))
                with _each_bit(builder, mask) as bit:
                    index = builder.add(base, bit)
                    value = _load(builder, inputs, index, 1)
                    # one lane to all lanes
                    spread = builder.shuffle_vector(
                        value, ir.Constant(value.type, ir.Undefined),
                        ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes),
                    )  # fmt: skip
                    row = _row(builder, rows, index, columns, first, lanes)
                    more = builder.fadd(builder.load(total), builder.fmul(spread, row))
                    builder.store(more, total)
            _store(builder, target, first, builder.load(total))
        return context.get_dummy_value()

    four = (types.int64,) * 4
    return types.none(*four, length, width, positive), codegen


class _each_bit:
    """A loop over the numbers of the bits set in a mask, lowest first; its body is a context."""

    def __init__(self, builder: Any, mask: Any) -> None:
        self.builder = builder
        self.rest = cgutils.alloca_once_value(builder, mask)

    def __enter__(self) -> Any:
        builder = self.builder
        self.test = builder.append_basic_block("bits")
        body = builder.append_basic_block("bits.body")
        self.end = builder.append_basic_block("bits.end")
        builder.branch(self.test)
        builder.position_at_end(self.test)
        rest = builder.load(self.rest)
        builder.cbranch(builder.icmp_unsigned("!=", rest, _number(0)), body, self.end)
        builder.position_at_end(body)
        builder.store(builder.and_(rest, builder.sub(rest, _number(1))), self.rest)
        return builder.cttz(rest, ir.Constant(ir.IntType(1), 1))

    def __exit__(self, *failure: object) -> None:
        self.builder.branch(self.test)
        self.builder.position_at_end(self.end)


def _dot(typingctx: Any, inputs: Any, weights: Any, length: Any, positive: Any) -> Any:
    """Returns the sum of inputs[i] * weights[i], a float32; with `positive` 1, through a ReLU.

    Products are added up in `LANES` sums, one for each i modulo `LANES`. Then the second half of
    the sums is added to the first, until one is left.
    """
    if not _literals(length, positive):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        inputs, weights = arguments[:2]
        zero = ir.Constant(ir.VectorType(FLOAT, LANES), [0.0] * LANES)
        total = zero
        for first, lanes in _chunks(length.literal_value, LANES):
            value = _load(builder, inputs, _number(first), lanes)
            if positive.literal_value:
                value = builder.select(builder.fcmp_ordered(">", value, zero), value, zero)
            product = builder.fmul(value, _load(builder, weights, _number(first), lanes))
            total = builder.fadd(total, product)
        lanes = LANES
        while lanes > 1:
            lanes //= 2
            low, high = (
                builder.shuffle_vector(
                    total, ir.Constant(total.type, ir.Undefined),
                    ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(at, at + lanes))),
                )
                for at in (0, lanes)
            )  # fmt: skip
            total = builder.fadd(low, high)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return types.float32(types.int64, types.int64, length, positive), codegen


# --- integers --------------------------------------------------------------------------------


def _integers(builder: Any, address: Any, index: Any, kind: Any, lanes: int) -> Any:
    """Returns the `lanes` integers of a kind that begin at place `index` behind an address."""
    width = kind.width // 8
    place = _place(builder, address, builder.mul(index, _number(width)), ir.VectorType(kind, lanes))
    return builder.load(place, align=width)


def _some_lanes(builder: Any, vector: Any, lanes: Any) -> Any:
    """Returns a vector of the lanes with these numbers of another vector."""
    numbers = ir.Constant(ir.VectorType(INTEGER, len(lanes)), list(lanes))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), numbers)


def _pair_sums(builder: Any, first: Any, second: Any) -> Any:
    """Returns first[0] * second[0] + first[1] * second[1] and so on, of int16, as int32.

    Written like this, compilers use one instruction for a register where the machine has it
    (pmaddwd, vpdpwssd), and other machines can still run the code.
    """
    lanes = first.type.count
    wide = ir.VectorType(INTEGER, lanes)
    products = builder.mul(builder.sext(first, wide), builder.sext(second, wide))
    return builder.add(
        _some_lanes(builder, products, range(0, lanes, 2)),
        _some_lanes(builder, products, range(1, lanes, 2)),
    )


def _clip(builder: Any, vector: Any, shift: int, most: int) -> Any:
    """Returns vector >> shift, clipped to 0 to `most`."""
    lanes = vector.type.count
    down, low, high = (ir.Constant(vector.type, [x] * lanes) for x in (shift, 0, most))
    value = builder.ashr(vector, down)
    value = builder.select(builder.icmp_signed(">", value, low), value, low)
    return builder.select(builder.icmp_signed("<", value, high), value, high)


def _sum_shorts(
    typingctx: Any, target: Any, bias: Any, rows: Any, places: Any, count: Any, width: Any
) -> Any:
    """As `sum_rows`, for int16: bias + rows[places[0]] + ... + rows[places[count - 1]].

    Sums are modulo 2**16, so only the final sum must fit.
    """
    if not _literals(width):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, bias, rows, places, count, _ = arguments
        size = width.literal_value
        for first, lanes in _chunks(size, MOST_SHORTS):
            start = _integers(builder, bias, _number(first), SHORT, lanes)
            total = cgutils.alloca_once_value(builder, start)
            with cgutils.for_range(builder, count) as loop:
                offset = builder.mul(loop.index, _number(WORD_BYTES))
                place = builder.load(_place(builder, places, offset, WORD))
                place = builder.add(builder.mul(place, _number(size)), _number(first))
                row = _integers(builder, rows, place, SHORT, lanes)
                builder.store(builder.add(builder.load(total), row), total)
            place = _place(builder, target, _number(2 * first), ir.VectorType(SHORT, lanes))
            builder.store(builder.load(total), place, align=2)
        return context.get_dummy_value()

    five = (types.int64,) * 5
    return types.none(*five, width), codegen


def _clip_shorts(
    typingctx: Any, target: Any, source: Any, width: Any, shift: Any, most: Any
) -> Any:
    """Write source[i] >> shift, clipped to 0 to `most`, to `target`; all numbers are int16."""
    if not _literals(width, shift, most):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source = arguments[:2]
        for first, lanes in _chunks(width.literal_value, MOST_SHORTS):
            value = _integers(builder, source, _number(first), SHORT, lanes)
            value = _clip(builder, value, shift.literal_value, most.literal_value)
            place = _place(builder, target, _number(2 * first), value.type)
            builder.store(value, place, align=2)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, width, shift, most), codegen


def _clip_products(
    typingctx: Any,
    target: Any, bias: Any, rows: Any, inputs: Any,
    length: Any, width: Any, shift: Any, most: Any,
) -> Any:  # fmt: skip
    """Write (bias + sum of inputs[i] * rows[i]) >> shift, clipped to 0 to `most`, to `target`.

    Inputs, rows and `target` are int16, `bias` and sums int32. The rows stand in pairs: the
    numbers [0, 0], [1, 0], [0, 1], [1, 1] to [1, width - 1], then those of rows 2 and 3.
    """
    if not _literals(length, width, shift, most):
        return None
    size, columns = length.literal_value, width.literal_value

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, bias, rows, inputs = arguments[:4]
        for first, lanes in _chunks(columns):
            # several sums at a time, because each addition waits for the one before
            step = max(1, MOST_SUMS // lanes)
            while size // 2 % step:
                step //= 2
            start = _integers(builder, bias, _number(first), INTEGER, lanes)
            zero = ir.Constant(start.type, [0] * lanes)
            totals = [
                cgutils.alloca_once_value(builder, zero if part else start) for part in range(step)
            ]
            with cgutils.for_range(builder, _number(size // 2 // step)) as loop:
                for part, total in enumerate(totals):
                    pair = builder.add(builder.mul(loop.index, _number(step)), _number(part))
                    both = _integers(builder, inputs, pair, INTEGER, 1)
                    spread = _some_lanes(builder, both, [0] * lanes)
                    spread = builder.bitcast(spread, ir.VectorType(SHORT, 2 * lanes))
                    place = builder.add(builder.mul(pair, _number(2 * columns)), _number(2 * first))
                    row = _integers(builder, rows, place, SHORT, 2 * lanes)
                    more = builder.add(builder.load(total), _pair_sums(builder, spread, row))
                    builder.store(more, total)
            value = builder.load(totals[0])
            for total in totals[1:]:
                value = builder.add(value, builder.load(total))
            value = _clip(builder, value, shift.literal_value, most.literal_value)
            value = builder.trunc(value, ir.VectorType(SHORT, lanes))
            place = _place(builder, target, _number(2 * first), value.type)
            builder.store(value, place, align=2)
        return context.get_dummy_value()

    four = (types.int64,) * 4
    return types.none(*four, length, width, shift, most), codegen


def _dot_shorts(typingctx: Any, inputs: Any, weights: Any, length: Any) -> Any:
    """Returns the sum of inputs[i] * weights[i], of int16 as int32."""
    if not _literals(length):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        inputs, weights = arguments[:2]
        total = None
        for first, lanes in _chunks(length.literal_value, SHORT_LANES):
            parts = (
                _integers(builder, address, _number(first), SHORT, lanes)
                for address in (inputs, weights)
            )
            sums = _pair_sums(builder, *parts)
            total = sums if total is None else builder.add(total, sums)
        lanes = SHORT_LANES // 2
        while lanes > 1:
            lanes //= 2
            total = builder.add(
                _some_lanes(builder, total, range(lanes)),
                _some_lanes(builder, total, range(lanes, 2 * lanes)),
            )
        return builder.extract_element(total, ir.Constant(INTEGER, 0))

    return types.int32(types.int64, types.int64, length), codegen


stack_block = intrinsic(_stack_block)
sum_rows = intrinsic(_sum_rows)
add_products = intrinsic(_add_products)
dot = intrinsic(_dot)
sum_shorts = intrinsic(_sum_shorts)
clip_shorts = intrinsic(_clip_shorts)
clip_products = intrinsic(_clip_products)
dot_shorts = intrinsic(_dot_shorts)
