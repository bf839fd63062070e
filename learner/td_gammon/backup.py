"""Exact backups: outcomes of positions, averaged over all rolls with the best reply to each.

GNU Backgammon's 1-ply is the average over the rolls of the static outcomes after the reply with the
best static value (its 0-ply). Many positions are backed up at a time: the search lists the
replies to all rolls that a prefilter leaves, and whatever gives outcomes values these together,
so that it may be a network on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.kernels import kernel
from games.kinds import Kind
from search.evaluators.evaluator import KernelEvaluator, Prefilter, rows_of
from search.expectiminimax.native import dice_addresses, known_address
from search.expectiminimax.search import Expectiminimax, ExpectiminimaxOptions
from search.lookups.lookup import Lookup
from search.native import call_float, call_int

__all__ = ["WITH_OUTCOMES", "Backed", "Backups", "check_compiled", "lambda_returns"]

#: The games whose outcomes are backed up.
WITH_OUTCOMES = Kind(
    "one with dice and outcomes whose rules are kernels, such as backgammon",
    lambda game: bool(game.dice and game.outcomes and game.rules),
)

#: Gives the outcomes [positions, outcomes] of positions [positions, integers].
Source = Callable[[NDArray[np.int64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Backed:
    """Positions that were backed up, and the replies that were compared for it.

    outcomes: backed-up probabilities for the side to move, [positions, outcomes].
    replies: positions after the replies, position by position and roll by roll, [replies,
        integers].
    found: their probabilities, [replies, outcomes].
    known: whether these are exact, because the game is over or a lookup knows it, [replies].
    best: index of the best reply, [positions, rolls].
    firsts: index of the first reply, and behind the last roll's the number of replies, [positions *
        rolls + 1].
    """

    outcomes: NDArray[np.float64]
    replies: NDArray[np.int64]
    found: NDArray[np.float64]
    known: NDArray[np.bool_]
    best: NDArray[np.int64]
    firsts: NDArray[np.int64]


class Backups:
    """Backs up positions of a game with dice from one ply ahead.

    game: the game.
    source: gives the outcomes of positions that are not finished and that `exact` does not know;
        it also decides between replies.
    exact: lookup of exact outcomes (default: none).
    prefilter: only the replies that it keeps are valued (default: all).

    Raises TypeError for a lookup that gives only values, and ValueError for a game without dice,
    outcomes or kernels, and if nothing is compiled. It must not be used by two threads at once.
    """

    def __init__(
        self,
        game: Any,
        source: Source,
        *,
        exact: Lookup | None = None,
        prefilter: Prefilter | None = None,
    ) -> None:
        WITH_OUTCOMES.expect(game, where="game")
        check_compiled()
        if exact is not None and exact.outcomes is None:
            raise TypeError("exact: expected a lookup that knows outcomes, found one of values")
        self.game: Any = game
        self._source = source
        addresses, known_at, data = dice_addresses(self.game), 0, (0, 0, None)
        if exact is not None:
            known_at = known_address(exact, len(game.start()), len(game.outcomes or ()))
            data = exact.native(game)
        self._tables = data[2]  # which native code reads
        self._addresses = addresses["outcome_at"], addresses["finished_at"], known_at, data[1]
        ranking = KernelEvaluator(game, _nothing)
        ranking.prefilter = prefilter
        self._search = Expectiminimax(
            self.game, ranking, ExpectiminimaxOptions(),
            lookup=None, table_mib=0, threads=1, seed=None,
        )  # fmt: skip
        self._chances = np.array(self.game.rolls, dtype=np.float64)
        self._base, self._turned = _turning(self.game)

    def outcomes(self, positions: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Returns the outcomes of positions, [positions, outcomes], and whether they are exact."""
        rows = rows_of(self.game, positions)
        values = np.zeros((len(rows), len(self.game.outcomes)))
        exact = np.zeros(len(rows), dtype=np.bool_)
        sizes = 8 * rows.shape[1], 8 * values.shape[1]
        _tell(*self._addresses, rows.ctypes.data, values.ctypes.data, *sizes, exact)
        others = np.flatnonzero(~exact)
        if len(others):
            values[others] = self._source(rows[others])
        return values, exact

    def __call__(self, positions: Any) -> Backed:
        """Returns the positions backed up over all rolls, with the best reply to each.

        No game may be over at them. Raises the errors of the prefilter's evaluator.
        """
        rows = rows_of(self.game, positions)
        replies, counts = self._search.afters(rows)
        owners = np.repeat(np.arange(counts.size), counts.ravel())
        found, known = self.outcomes(replies)
        best = np.full((len(rows), len(self._chances)), -1, dtype=np.int64)
        _choose(owners, self.game.outcomes.values(found), best.reshape(-1))
        places = np.arange(best.size + 1)
        mean = np.einsum("r,prk->pk", self._chances, found[best])
        return Backed(
            np.clip(self._base + mean @ self._turned, 0.0, 1.0),
            replies, found, known, best, np.searchsorted(owners, places),
        )  # fmt: skip


def lambda_returns(
    game: Game,
    static: NDArray[np.float64],
    backups: NDArray[np.float64],
    follows: NDArray[np.bool_],
    lambda_: float,
) -> NDArray[np.float64]:
    """Returns luck-adjusted lambda-returns: static outcomes corrected by later positions.

    The correction of a position is the difference between its backup and its static outcomes: what
    all rolls together say. The return is the static outcomes, plus the position's own correction,
    plus those of the positions that follow, each times `lambda_` once more (TD(lambda), Sutton
    1988, with expected errors in place of sampled ones, as in expected Sarsa). With `lambda_` 1 it
    is the luck-adjusted result of the game; with 0 it is the backup.

    static: static outcomes of the positions of games, one game after the other, [positions,
        outcomes].
    backups: their outcomes backed up from a ply ahead, [positions, outcomes].
    follows: whether the next position is the one after the best reply, [positions].
    lambda_: from 0 to 1.

    The result lies between 0 and 1, [positions, outcomes].
    """
    _, turned = _turning(game)
    later = np.ascontiguousarray(backups - static)
    _sum_up(later, np.ascontiguousarray(lambda_ * turned), np.ascontiguousarray(follows))
    return np.clip(static + later, 0.0, 1.0)


def check_compiled() -> None:
    """Raise ValueError where kernels are not compiled."""
    if not kernels.compiled:
        raise ValueError("expected compiled kernels, found NUMBA_DISABLE_JIT set")


def _turning(game: Game) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns base and matrix: `base + probabilities @ matrix` are those of the other side."""
    assert game.outcomes is not None
    turn = kernels.uncompiled(game.outcomes.turn)
    # turning is affine
    rows = np.concatenate([np.zeros((1, len(game.outcomes))), np.eye(len(game.outcomes))])
    for row in rows:
        turn(row)
    return rows[0], rows[1:] - rows[0]


@kernel
def _nothing(position):  # type: ignore[no-untyped-def]
    """Returns the value of a position of an evaluator that nothing asks."""
    return 0.0


@kernel
def _tell(outcome_at, finished_at, known_at, tables, source, target, width, size, exact):  # type: ignore[no-untyped-def]
    """Write the outcomes of finished and known positions to `target`, and which these are."""
    for i in range(len(exact)):
        value = call_float(outcome_at, (source,))
        if value == value:
            call_int(finished_at, (source, target))
            exact[i] = True
        elif known_at != 0:
            exact[i] = call_int(known_at, (tables, source, target)) != 0
        source += width
        target += size


@kernel
def _sum_up(corrections, turned, follows):  # type: ignore[no-untyped-def]
    """Add to each correction the later ones, as `turned` has them for the other side."""
    count = corrections.shape[1]
    for i in range(len(corrections) - 2, -1, -1):
        if follows[i]:
            for k in range(count):
                for j in range(count):
                    corrections[i, k] += corrections[i + 1, j] * turned[j, k]


@kernel
def _choose(owners, values, best):  # type: ignore[no-untyped-def]
    """Write the first reply of each owner with the least value for the other side to `best`."""
    for i in range(len(owners)):
        before = best[owners[i]]
        if before < 0 or values[i] < values[before]:
            best[owners[i]] = i
