"""The proof of an endgame database: every value follows from those of its moves; and its counts."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from games.checkers.endgame import Endgame, EndgameError
from games.checkers.endgame.database import CHUNK, material_text
from games.checkers.endgame.numbering import (
    Material,
    number_of,
    position_of,
    positions_of,
    slices,
)
from games.checkers.endgame.retrograde import derived
from games.checkers.rules import BLACK, LAST_ROW, MOST_MOVES, SQUARES
from games.kernels import kernel, popcount


@dataclass(frozen=True)
class ClassCounts:
    """Counts of wins, losses and draws for the side to move."""

    wins: int
    losses: int
    draws: int
    longest_win: int
    longest_loss: int

    @property
    def positions(self) -> int:
        """The number of positions."""
        return self.wins + self.losses + self.draws


def tally(endgame: Endgame, *materials: Material) -> ClassCounts:
    """Returns the wins, losses and draws of slices, and the longest in plies.

    Positions are counted with one side to move; for both sides to move there are twice as many,
    because the other half is in the slices of the other side. 0 plies: no win, or no loss other
    than of a side without a move.
    """
    parts = [endgame.slice_values(material) for material in materials]
    return ClassCounts(
        sum(int(np.count_nonzero(part > 0)) for part in parts),
        sum(int(np.count_nonzero(part < 0)) for part in parts),
        sum(int(np.count_nonzero(part == 0)) for part in parts),
        max(0, 2 * max(int(part.max()) for part in parts) - 1),
        max(0, -2 * min(int(part.min()) for part in parts) - 2),
    )


@kernel
def verify(starts, values, material, begin, end, moves):
    """Returns the first number from `begin` to `end` with a wrong value; -1 if there is none.

    A value is wrong if it does not follow from those of the moves. If all follow, all are true: a
    win or loss leads to a nearer one down to the end of the game, and a stored draw that is really
    won or lost would lead to another such draw nearer to the end. The numbering is checked as well:
    each number is that of its position, which has the right material and men only where they can
    stand.
    """
    own_men, own_kings, his_men, his_kings = material
    start = starts[own_men, own_kings, his_men, his_kings]
    for number in range(begin, end):
        position = position_of(number, own_men, own_kings, his_men, his_kings)
        own, opponent, kings, side = position
        sound = (
            side == BLACK
            and own & opponent == 0
            and (own | opponent) & ~SQUARES == 0
            and kings & ~(own | opponent) == 0
            and popcount(own & ~kings) == own_men
            and popcount(own & kings) == own_kings
            and popcount(opponent & ~kings) == his_men
            and popcount(opponent & kings) == his_kings
            and own & ~kings & LAST_ROW == 0
            and opponent & ~kings & 15 == 0
            and number_of(own, opponent, kings) == number
        )
        if not sound or derived(starts, values, position, moves) != values[start + number]:
            return number
    return -1


def check(
    endgame: Endgame,
    *,
    threads: int = 2,
    progress: Callable[[int], None] = lambda positions: None,
) -> None:
    """Derive the value of every position from those of its moves, and compare.

    This proves all values, given the rules; see `verify`. Raises EndgameError, which
    names a position, if one differs, and ValueError if `threads` is less than 1.
    """
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")

    def parts() -> Iterator[tuple[Material, int, int]]:
        for material in slices(endgame.pieces):
            size = positions_of(material)
            for begin in range(0, size, CHUNK):
                yield material, begin, min(begin + CHUNK, size)

    def one(part: tuple[Material, int, int]) -> tuple[int, Material, int]:
        material, begin, end = part
        moves = np.zeros(MOST_MOVES, dtype=np.int64)
        return verify(*endgame.tables, material, begin, end, moves), material, end - begin

    with ThreadPoolExecutor(threads) as pool:
        try:
            for wrong, material, positions in pool.map(one, list(parts())):
                if wrong >= 0:
                    raise EndgameError(
                        f"{material_text(material)}, number {wrong}: expected the value that its"
                        f" moves give, found {endgame.slice_values(material)[wrong]}"
                    )
                progress(positions)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
