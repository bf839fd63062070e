"""Compressed endgame databases: win, draw or loss of every quiet position, in runs.

Positions keep their numbers (`numbering`), and blocks of `BLOCK` numbers are coded one by one. A
position in which a capture is pending is never asked for, because the search plays captures out;
it takes the result that lengthens the run it is in (Schaeffer and others 2003). A run is one byte
or more, each with a result and one of 85 lengths; a block of a single result has no bytes. To probe
a position is to add up the lengths of its block as far as its number.

A win is one of unknown length (`games.values.UNKNOWN_PLIES`), so its value is a lower bound, and
that of a loss an upper bound. A file may hold some of the slices alone: positions of the others are
unknown.

The tables are `starts` [own men, own kings, his men, his kings], the places where slices begin (-1
if not held, else a multiple of `BLOCK`), `blocks`, for each block the place of its codes with the
result in the two highest bits if it is the only one, and `codes`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from games.checkers.endgame.numbering import Material, position_of
from games.checkers.endgame.retrograde import EXACT_DEPTH, place_of
from games.checkers.rules import noisy
from games.kernels import kernel
from games.values import EXACT, LOWER, UNKNOWN_PLIES, UPPER, WIN

__all__ = [
    "BLOCK",
    "PLACE",
    "RESULT_NAMES",
    "differs",
    "encoded",
    "is_place",
    "probe",
    "result_at",
    "result_of",
]

#: Positions in a block; a probe reads half of its bytes, on average.
BLOCK = 1024
#: Results. `ANY`: nobody asks for the position, so that it may have each of the others.
DRAW, WON, LOST, ANY = range(4)
RESULT_NAMES = ("a draw", "a win", "a loss")
#: The bits of an entry of `blocks` that hold a place; above them is the only result, or `ANY`.
PLACE = (1 << 30) - 1


def _lengths() -> list[int]:
    """Returns 85 lengths of runs: 1 to 48, then each about a twelfth longer, up to a block."""
    lengths = list(range(1, 49))
    while len(lengths) < 85:
        left = 85 - len(lengths)
        lengths.append(round(lengths[-1] * (BLOCK / lengths[-1]) ** (1 / left)))
    return lengths


#: The run of each byte: its length, and its result.
_LENGTH = np.repeat(_lengths(), 3).astype(np.int64)
_RESULT = np.tile([DRAW, WON, LOST], 85).astype(np.int64)


#: Positions that are compressed at a time, after which Ctrl-C is heard.
_AT_ONCE = 1 << 20


@kernel
def result_of(values, material, number):
    """Returns the result of a number by the bytes of its slice; `ANY` if a capture is pending."""
    own_men, own_kings, his_men, his_kings = material
    if noisy(position_of(number, own_men, own_kings, his_men, his_kings)):
        return ANY
    value = values[number]
    return WON if value > 0 else LOST if value < 0 else DRAW


@kernel
def _classify(values, material, begin, results):
    """Write the results of the numbers of a slice from `begin` on, as many as `results` has."""
    for i in range(len(results)):
        results[i] = result_of(values, material, begin + i)
    return 0


@kernel
def _encode(results, blocks, codes):
    """Write the codes of whole blocks, and for each the place of the first; returns their number.

    The last block may be shorter. The last run of a block may be said to be longer than it is.
    """
    count = 0
    for block in range(len(blocks)):
        end = min((block + 1) * BLOCK, len(results))
        place = block * BLOCK
        blocks[block] = ANY << 30 | count
        while place < end:
            result = ANY
            begin = place
            while place < end:
                known = int(results[place])
                if known != ANY:
                    if result != ANY and result != known:
                        break
                    result = known
                place += 1
            if result == ANY:
                result = DRAW
            if place - begin == end - block * BLOCK:
                blocks[block] = result << 30
                break
            left = place - begin
            while left > 0:
                last = len(_LENGTH) // 3 - 1
                if place == end:  # the shortest length that reaches the end
                    while last > 0 and _LENGTH[3 * last - 3] >= left:
                        last -= 1
                else:
                    while _LENGTH[3 * last] > left:
                        last -= 1
                codes[count] = 3 * last + result
                count += 1
                left -= _LENGTH[3 * last]
    return count


def is_place(blocks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns which entries of blocks are places of codes, not single results."""
    return np.asarray(blocks >> 30 == ANY)


def encoded(values: NDArray[np.int8], material: Material) -> tuple[NDArray[np.int64], bytes]:
    """Returns the blocks of a slice, with places from 0 on, and their codes.

    values: the bytes of its positions, as in `retrograde`.
    """
    blocks: list[NDArray[np.int64]] = []
    codes: list[bytes] = []
    done = 0
    room = np.zeros(_AT_ONCE, dtype=np.uint8)
    for begin in range(0, len(values), _AT_ONCE):
        results = np.zeros(min(_AT_ONCE, len(values) - begin), dtype=np.int8)
        _classify(values, material, begin, results)
        part = np.zeros(-(-len(results) // BLOCK), dtype=np.int64)
        count = _encode(results, part, room)
        blocks.append(np.where(is_place(part), part + done, part))
        codes.append(room[:count].tobytes())
        done += count
    return np.concatenate(blocks), b"".join(codes)


@kernel
def result_at(blocks, codes, place):
    """Returns the result at a place: `DRAW`, `WON` or `LOST`, any of them for pending captures."""
    entry = int(blocks[place // BLOCK])
    result = entry >> 30 & 3
    if result != ANY:
        return result
    left = place % BLOCK
    at = entry & PLACE
    code = int(codes[at]) & 255
    length = _LENGTH[code]
    while length <= left:
        left -= length
        at += 1
        code = int(codes[at]) & 255
        length = _LENGTH[code]
    return _RESULT[code]


@kernel
def differs(blocks, codes, start, values, material, begin, end):
    """Returns the first number from `begin` to `end` with another result than by `values`, or -1.

    start: the place of the slice in `blocks`, in positions.
    values: the bytes of the slice, as in `retrograde`.
    """
    for number in range(begin, end):
        result = result_of(values, material, number)
        if result != ANY and result != result_at(blocks, codes, start + number):
            return number
    return -1


@kernel
def probe(tables, position):
    """Returns (found, value, depth, bound) of a position, as `search.lookups.lookup` does.

    `tables` are (starts, blocks, codes). A position with a pending capture is not found. Values
    hold for play without a rule that ends games early.
    """
    starts, blocks, codes = tables
    place = place_of(starts, position)
    if place < 0 or noisy(position):
        return (False, 0.0, 0, EXACT)
    result = result_at(blocks, codes, place)
    if result == WON:
        return (True, WIN - UNKNOWN_PLIES, EXACT_DEPTH, LOWER)
    if result == LOST:
        return (True, UNKNOWN_PLIES - WIN, EXACT_DEPTH, UPPER)
    return (True, 0.0, EXACT_DEPTH, EXACT)
