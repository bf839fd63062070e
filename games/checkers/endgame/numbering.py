"""The numbering of positions with few pieces.

A slice holds the positions with the same material, (own men, own kings, the opponent's men, his
kings), the side to move seen as Black; White's positions are the same with the board turned. A
position's number in its slice combines the numbers of four subsets, each of the squares that are
still free: own men, his men, own kings, his kings. Men never stand on the row where they are
    crowned. So his men have one more square for each of ours on our back row; therefore own men are
    split by that row. Every number stands for a position.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from games.checkers.rules import BLACK, FIRST_ROW, LAST_ROW, SQUARES, WHITE, turn
from games.kernels import kernel, popcount

__all__ = [
    "MOST_PIECES",
    "Material",
    "black_to_move",
    "material_of",
    "number_of",
    "pairs",
    "position_of",
    "positions_of",
    "slices",
    "turned",
    "zeros",
]

#: Own men, own kings, the opponent's men, his kings.
Material = tuple[int, int, int, int]

#: The maximum number of pieces, so that numbers fit 64 bits and each position one byte.
MOST_PIECES = 6

_MIDDLE = SQUARES & ~FIRST_ROW & ~LAST_ROW
_CHOOSE = np.array(
    [[math.comb(n, k) for k in range(MOST_PIECES + 1)] for n in range(33)], dtype=np.int64
)
#: [own men, his men, own men on the back row]: ways to place men with fewer on the back row.
_MEN_BEFORE = np.array(
    [
        [
            [
                sum(
                    math.comb(4, back) * math.comb(24, own - back) * math.comb(28 - own + back, his)
                    for back in range(min(held, own + 1))
                )
                for held in range(MOST_PIECES + 1)
            ]
            for his in range(MOST_PIECES)
        ]
        for own in range(MOST_PIECES)
    ],
    dtype=np.int64,
)


def positions_of(material: Material) -> int:
    """Returns the number of positions of a slice."""
    own_men, own_kings, his_men, his_kings = material
    men = int(_MEN_BEFORE[own_men, his_men, own_men + 1])
    free = 32 - own_men - his_men
    return men * math.comb(free, own_kings) * math.comb(free - own_kings, his_kings)


def slices(pieces: int) -> list[Material]:
    """Returns the slices of 2 to `pieces` pieces; moves from a slice lead to earlier ones.

    A slice and the one that its quiet moves lead to, (c, d, a, b) of (a, b, c, d), are neighbours.
    """
    materials: list[Material] = []
    for held in range(2, pieces + 1):
        for men in range(held + 1):
            for own in range(1, held):
                for own_men in range(max(0, men - held + own), min(men, own) + 1):
                    material = (own_men, own - own_men, men - own_men, held - own - men + own_men)
                    for side in (material, turned(material)):
                        if side not in materials:
                            materials.append(side)
    return materials


def pairs(pieces: int) -> list[list[Material]]:
    """Returns the slices of `slices`, each with the other side's slice if that is different."""
    parts: list[list[Material]] = []
    for material in slices(pieces):
        if parts and material == turned(parts[-1][0]) != parts[-1][0]:
            parts[-1].append(material)
        else:
            parts.append([material])
    return parts


def turned(material: Material) -> Material:
    """Returns the material as the other side sees it."""
    return (*material[2:], *material[:2])


def zeros(pieces: int) -> NDArray[np.int64]:
    """Returns an array [own men, own kings, his men, his kings] for `pieces`, filled with -1."""
    return np.full((pieces + 1,) * 4, -1, dtype=np.int64)


@kernel
def _subset_number(pieces, free):
    """Returns the number of a subset of the squares `free` among those of its size."""
    number = 0
    count = 0
    while pieces:
        count += 1
        number += int(_CHOOSE[popcount(free & ((pieces & -pieces) - 1)), count])
        pieces &= pieces - 1
    return number


@kernel
def _subset(number, count, free):
    """Returns the subset of `count` squares with a number: the inverse of `_subset_number`."""
    found = 0
    place = popcount(free)
    bit = 1 << 34
    while count:
        if free & bit:
            place -= 1
            below = int(_CHOOSE[place, count])
            if below <= number:
                number -= below
                count -= 1
                found |= bit
        bit >>= 1
    return found


@kernel
def material_of(position):
    """Returns the own men and kings, and the opponent's men and kings."""
    own, opponent, kings, _ = position
    return (
        popcount(own & ~kings),
        popcount(own & kings),
        popcount(opponent & ~kings),
        popcount(opponent & kings),
    )


@kernel
def black_to_move(position):
    """Returns the same position with Black to move; with White to move, the board is turned."""
    own, opponent, kings, side = position
    if side == WHITE:
        return (turn(own), turn(opponent), turn(kings), BLACK)
    return position


@kernel
def number_of(own, opponent, kings):
    """Returns the number of a position in its slice, Black to move; O(pieces)."""
    men = own & ~kings
    his_men = opponent & ~kings
    count = popcount(men)
    his_count = popcount(his_men)
    back = popcount(men & FIRST_ROW)
    number = _subset_number(men & FIRST_ROW, FIRST_ROW)
    number *= int(_CHOOSE[24, count - back])
    number += _subset_number(men & _MIDDLE, _MIDDLE)
    number *= int(_CHOOSE[28 - count + back, his_count])
    number += _subset_number(his_men, SQUARES & ~FIRST_ROW & ~men)
    number += int(_MEN_BEFORE[count, his_count, back])
    free = 32 - count - his_count
    own_kings = own & kings
    kings_count = popcount(own_kings)
    number *= int(_CHOOSE[free, kings_count])
    number += _subset_number(own_kings, SQUARES & ~(men | his_men))
    number *= int(_CHOOSE[free - kings_count, popcount(opponent & kings)])
    return number + _subset_number(opponent & kings, SQUARES & ~(own | his_men))


@kernel
def position_of(number, own_men, own_kings, his_men, his_kings):
    """Returns the position with that number, Black to move: the inverse of `number_of`."""
    free = 32 - own_men - his_men
    ways = int(_CHOOSE[free - own_kings, his_kings])
    his_kings_number = number % ways
    number //= ways
    ways = int(_CHOOSE[free, own_kings])
    own_kings_number = number % ways
    number //= ways
    back = 0
    while back < own_men and int(_MEN_BEFORE[own_men, his_men, back + 1]) <= number:
        back += 1
    number -= int(_MEN_BEFORE[own_men, his_men, back])
    ways = int(_CHOOSE[28 - own_men + back, his_men])
    his_men_number = number % ways
    number //= ways
    ways = int(_CHOOSE[24, own_men - back])
    men = _subset(number // ways, back, FIRST_ROW)
    men |= _subset(number % ways, own_men - back, _MIDDLE)
    his = _subset(his_men_number, his_men, SQUARES & ~FIRST_ROW & ~men)
    kings = _subset(own_kings_number, own_kings, SQUARES & ~(men | his))
    his_crowned = _subset(his_kings_number, his_kings, SQUARES & ~(men | his | kings))
    return (men | kings, his | his_crowned, kings | his_crowned, BLACK)
