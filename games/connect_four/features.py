"""Terms of Connect Four: threats, lines and the centre, each for the side to move."""

from __future__ import annotations

from games.connect_four.notation import GRID
from games.connect_four.rules import ALL, BOTTOM, CENTRE, COLUMNS, DIRECTIONS, ROWS, swap_sides
from games.features import FeatureSet, Kind
from games.kernels import kernel, popcount

__all__ = ["CELLS", "LINES", "completing"]


@kernel
def completing(position):
    """The empty squares that would make a four of the side to move."""
    own, opponent, _ = position
    found = 0
    for step in DIRECTIONS:
        # X marks the square: XSSS, SXSS, SSXS and SSSX.
        pairs = own & own >> step
        threes = pairs & own >> 2 * step
        found |= threes >> step | threes << 3 * step
        found |= (own & pairs >> 2 * step) << step | (pairs & own >> 3 * step) << 2 * step
    return found & ALL & ~(own | opponent)


@kernel
def centre(position):
    """Stones in the middle column."""
    return popcount(position[0] & CENTRE)


@kernel
def near_centre(position):
    """Stones in the two columns beside it."""
    return popcount(position[0] & (CENTRE << 7 | CENTRE >> 7))


@kernel
def threats(position):
    """Empty squares that complete a four."""
    return popcount(completing(position))


@kernel
def ready(position):
    """Threats on squares that a stone can reach now."""
    stones = position[0] | position[1]
    return popcount(completing(position) & (stones + BOTTOM))


@kernel
def pairs(position):
    """Neighbouring stones, counted once for each of the four directions."""
    count = 0
    for step in DIRECTIONS:
        count += popcount(position[0] & position[0] >> step)
    return count


@kernel
def threes(position):
    """Three in line without a gap, blocked or not."""
    count = 0
    for step in DIRECTIONS:
        count += popcount(position[0] & position[0] >> step & position[0] >> 2 * step)
    return count


LINES = FeatureSet(
    "lines",
    {
        "centre": centre,
        "near_centre": near_centre,
        "threats": threats,
        "ready": ready,
        "pairs": pairs,
        "threes": threes,
    },
    swap_sides,
)


@kernel
def _their_completing(position):
    return completing(swap_sides(position))


@kernel
def _first_completing(position):
    return completing(position) if position[2] == 0 else 0


@kernel
def _their_first_completing(position):
    return _first_completing(swap_sides(position))


@kernel
def _winning(position):
    own, opponent, side = position
    stones = own | opponent
    if popcount(stones) & 1 != side:  # seen by the side that is not to move
        return 0
    return completing(position) & (stones + BOTTOM)


@kernel
def _their_winning(position):
    return _winning(swap_sides(position))


#: A threat is an empty square that completes a four. Which rows it is worth most on depends on who
#: began: a first threat is one of that side. A win is one that the side to move can take at once.
CELLS = GRID.cells(
    relations={
        "threat": Kind(completing, _their_completing),
        "first threat": Kind(_first_completing, _their_first_completing),
        "win": Kind(_winning, _their_winning),
    },
    reach=3,
    areas={
        name: [COLUMNS * row + column for row in rows for column in range(COLUMNS)]
        for name, rows in (("odd rows", range(1, ROWS, 2)), ("even rows", range(0, ROWS, 2)))
    },
)
