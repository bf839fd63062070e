"""Results of endgames without lengths: a tenth of the bytes of a database, for fast probes.

The results of a slice are in blocks of `BLOCK` numbers. A block is a sequence of bytes: one below
81 holds the results of the next four numbers, any other a result and the length of a run of it.
Positions in which the side to move must capture are not looked up, because searches go beyond
captures; they prolong any run (Schaeffer et al. 2003, who compress by runs too). A block of one
result has no bytes of its own: its place says which.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from games.checkers.endgame.building import endgame
from games.checkers.endgame.database import Endgame
from games.checkers.endgame.numbering import (
    Material,
    black_to_move,
    material_of,
    number_of,
    position_of,
    positions_of,
    slices,
    zeros,
)
from games.checkers.endgame.retrograde import EXACT_DEPTH, probe
from games.checkers.rules import jumpers
from games.kernels import kernel, popcount
from games.values import RESULT_ONLY
from programs.whole_files import write_atomically

__all__ = ["FILE", "PIECES", "packed", "probe_results", "tables", "unpacked", "write"]

FILE = Path(__file__).parents[3] / "data" / "checkers" / "endgame5.results.safetensors"
#: Pieces of every position in the file.
PIECES = 5

#: Positions of a block.
BLOCK = 512
#: A byte from here on is a run: its result plus three times the place of its length.
RUNS = 81
_MIXED = -1
#: Lengths of runs: all up to 32, then by about a ninth more up to a block.
LENGTHS = np.array(
    [*range(5, 33), *(round(32 * (BLOCK / 32) ** (i / 29)) for i in range(1, 30))], dtype=np.int64
)


@kernel
def result_at(places, codes, first, number):
    """Returns the result of a number of a slice: 0 for a draw, 1 for a win, 2 for a loss.

    places: the place of each block in `codes`; -1 minus the result for a block of one result.
    first: the slice's first block.
    """
    place = places[first + number // BLOCK]
    if place < 0:
        return -1 - place
    rest = number % BLOCK
    while True:
        code = int(codes[place]) & 255
        place += 1
        if code < RUNS:
            if rest < 4:
                for _ in range(rest):
                    code //= 3
                return code % 3
            rest -= 4
        else:
            length = LENGTHS[(code - RUNS) // 3]
            if rest < length:
                return (code - RUNS) % 3
            rest -= length


@kernel
def _run(results, begin, end, result):
    """Returns the length of the run of `result` from `begin` on; captures count as any result."""
    at = begin
    while at < end and (results[at] == result or results[at] == _MIXED):
        at += 1
    return at - begin


@kernel
def _compress(values, material, results, places, codes):
    """Fill `places` and `codes` from the values of a slice; returns the number of codes."""
    own_men, own_kings, his_men, his_kings = material
    count = len(values)
    for number in range(count):
        value = values[number]
        results[number] = 1 if value > 0 else 2 if value < 0 else 0
        if jumpers(position_of(number, own_men, own_kings, his_men, his_kings)):
            results[number] = _MIXED
    used = 0
    for block in range(len(places)):
        at = block * BLOCK
        end = min(at + BLOCK, count)
        places[block] = used
        for result in range(3):
            if _run(results, at, end, result) == end - at:
                places[block] = -1 - result
        if places[block] < 0:
            continue
        while at < end:
            best = 0
            longest = 0
            for result in range(3):
                length = _run(results, at, end, result)
                if length > longest:
                    best, longest = result, length
            if longest >= 5:
                index = len(LENGTHS) - 1
                while LENGTHS[index] > longest:
                    index -= 1
                codes[used] = RUNS + 3 * index + best
                at += LENGTHS[index]
            else:
                code = 0
                for i in range(3, -1, -1):
                    result = max(0, results[at + i]) if at + i < end else 0
                    code = 3 * code + result
                codes[used] = code
                at += 4
            used += 1
    return used


def packed(whole: Endgame) -> dict[str, NDArray[Any]]:
    """Returns the results of all positions of `whole.pieces` pieces as `places` and `codes`."""
    parts: list[tuple[NDArray[np.int32], NDArray[np.int8]]] = []
    begin = 0
    for material in _slices(whole.pieces):
        values = whole.slice_values(material)
        places = np.zeros(-(-len(values) // BLOCK), dtype=np.int32)
        codes = np.zeros(len(values) // 4 + len(places) + 1, dtype=np.uint8)
        used = _compress(values, material, np.zeros(len(values), dtype=np.int8), places, codes)
        places[places >= 0] += begin
        begin += used
        parts.append((places, codes[:used].view(np.int8).copy()))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return dict(zip(("places", "codes"), columns, strict=True))


def write(path: Path) -> None:
    """Write a file such as `FILE` from the database of `PIECES` pieces.

    Raises EndgameMissing if that database does not exist.
    """
    write_atomically(path, safetensors.numpy.save(packed(endgame(PIECES))))


def _slices(pieces: int) -> list[Material]:
    return [material for material in slices(pieces) if sum(material) == pieces]


def unpacked(arrays: Mapping[str, NDArray[Any]], pieces: int) -> tuple[NDArray[Any], ...]:
    """Returns the first block of each slice, as `zeros`, and the places and codes."""
    firsts, first = zeros(pieces), 0
    for material in _slices(pieces):
        firsts[material] = first
        first += -(-positions_of(material) // BLOCK)
    return firsts, arrays["places"], arrays["codes"]


@functools.cache
def tables() -> tuple[NDArray[Any], ...]:
    """Returns the arrays that `probe_results` reads, those of `endgame()` and of the file."""
    return (*endgame().tables, *unpacked(safetensors.numpy.load_file(FILE), PIECES))


@kernel
def probe_results(tables, position):
    """Returns (found, value, depth), as `search.lookups.lookup` does.

    tables: `starts` and `values` of a database, and those of `unpacked` for one piece more.

    Of the latter's pieces, positions without captures are known: draws are exact, wins and losses
    have no length. Positions of fewer pieces have the answers of `retrograde.probe`.
    """
    starts, values, firsts, places, codes = tables
    own, opponent, kings, _ = position
    count = popcount(own | opponent)
    if count < len(firsts) - 1:
        return probe((starts, values), position)
    if count >= len(firsts) or jumpers(position):
        return (False, 0.0, 0)
    first = firsts[material_of(position)]
    if first < 0:
        return (False, 0.0, 0)
    own, opponent, kings, _ = black_to_move(position)
    result = result_at(places, codes, first, number_of(own, opponent, kings))
    if result == 0:
        return (True, 0.0, EXACT_DEPTH)
    return (True, 3.0 - 2.0 * result, RESULT_ONLY)
