"""Exact backups: outcomes of positions, averaged over all rolls with the best reply to each.

GNU Backgammon's 1-ply is the average over the rolls of the static outcomes after the reply with the
best static value (its 0-ply). Many positions are backed up at a time: native code lists the
replies to all rolls, a prefilter leaves the promising ones, and whatever gives outcomes values
these together, so that it may be a network on a GPU.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.kernels import kernel
from games.kernels.memory import native_function, read_arrays, read_position
from games.kernels.vectors import stack_block
from games.kinds import Kind
from search.evaluators.evaluator import MOST_KEPT, Fail, Prefilter, rows_of
from search.expectiminimax.replies import ranking
from search.lookups.lookup import Lookup
from search.native import call_float

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
        self._tables, text = read_arrays(exact.tables if exact else (), "tables")
        self._known = _known(
            game.rules, game.outcomes, len(game.start()), exact.outcomes if exact else None, text
        )
        self._exact = exact
        self._errors: list[BaseException] = []
        self._expand = _Expander(self.game, prefilter, self._errors.append)
        self._chances = np.array(self.game.rolls, dtype=np.float64)
        self._base, self._turned = _turning(self.game)

    def outcomes(self, positions: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Returns the outcomes of positions, [positions, outcomes], and whether they are exact."""
        rows = rows_of(self.game, positions)
        values = np.zeros((len(rows), len(self.game.outcomes)))
        exact_rows = np.zeros(len(rows), dtype=np.int64)
        self._known(
            len(rows), rows.ctypes.data, values.ctypes.data, exact_rows.ctypes.data,
            self._tables.ctypes.data,
        )  # fmt: skip
        others = np.flatnonzero(exact_rows == 0)
        if len(others):
            values[others] = self._source(rows[others])
        return values, exact_rows != 0

    def __call__(self, positions: Any) -> Backed:
        """Returns the positions backed up over all rolls, with the best reply to each.

        No game may be over at them. Raises the errors of the prefilter's evaluator.
        """
        rows = rows_of(self.game, positions)
        replies, owners = self._expand(rows)
        if self._errors:
            raise self._errors[0]
        found, known = self.outcomes(replies)
        best = np.full((len(rows), len(self._chances)), -1, dtype=np.int64)
        _choose(owners, self.game.outcomes.values(found), best.reshape(-1))
        places = np.arange(best.size + 1)
        # rolls with probability 0 have no replies
        after = np.where(best[..., None] >= 0, found[best], 0.0)
        mean = np.einsum("r,prk->pk", self._chances, after)
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


# --- generated code --------------------------------------------------------------------------


class _Expander:
    """Lists the replies to all rolls of positions, those that a prefilter keeps."""

    def __init__(self, game: Any, prefilter: Prefilter | None, fail: Fail) -> None:
        most = int(getattr(game, "most_moves", 256))
        self._width, self._rolls = len(game.start()), len(game.rolls)
        self._most = most
        self._moves = np.zeros(most, dtype=np.int64)
        self._values = np.zeros(most + MOST_KEPT)
        margin = prefilter.margin if prefilter else np.inf
        self._numbers = np.array([margin, *game.rolls], dtype=np.float64)
        native: Any = prefilter.evaluator.native(fail) if prefilter else (0, 0, None)
        self._cheap_at, self._cheap, self._held = native
        self._keep = prefilter.keep if prefilter else most
        self._code = _expand(game.rules, self._width, most, self._rolls, prefilter is not None)
        #: replies of a position that there is room for at first
        self._room = self._rolls * min(self._keep + 2, 20)

    def __call__(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the positions after the replies, and for each rolls * position + roll."""
        room = len(rows) * self._room + self._most
        while True:
            target = np.empty((room, self._width), dtype=np.int64)
            owners = np.empty(room, dtype=np.int64)
            made = self._code(
                len(rows), rows.ctypes.data, self._moves.ctypes.data, self._cheap_at, self._cheap,
                self._values.ctypes.data, self._keep, self._numbers.ctypes.data,
                target.ctypes.data, owners.ctypes.data, room,
            )  # fmt: skip
            if made >= 0:
                return target[:made], owners[:made]
            room *= 2


@functools.cache
def _expand(rules: Any, width: int, most: int, rolls: int, filtered: bool) -> Any:
    """Returns code that writes replies and owners; the number of replies, or -1 without room."""
    cheap = "call_float(cheap_at, (cheap, block))"
    lines = [
        "def expand_at(count, source, stack, cheap_at, cheap, room_at, keep, numbers, target,"
        " owners, room):",
        f"    moves = array_at(int64_pointer(stack), ({most},))",
        f"    values = array_at(float64_pointer(room_at), ({most},))",
        f"    kept = array_at(float64_pointer(room_at + {8 * most}), ({MOST_KEPT},))",
        "    margin = load_float(numbers, 0)",
        f"    block = stack_block({8 * width})",
        "    made = 0",
        "    for which in range(count):",
        f"        position = {read_position(width)}",
        f"        for roll in range({rolls}):",
        "            if load_float(numbers, roll + 1) <= 0.0:",
        "                continue",
        "            legal = int(legal_moves(position, roll, moves))",
        "            if made + legal > room:",
        "                return -1",
        "            least = -1e300",
        *(["            if legal > 1:", *ranking(width, "legal", cheap, " " * 16)]
          if filtered else []),
        "            for i in range(legal):",
        *(["                if legal > 1 and values[i] < least:", "                    continue"]
          if filtered else []),
        "                after = play(position, moves[i])",
        *(f"                store_int(target, {i}, int(after[{i}]))" for i in range(width)),
        f"                store_int(owners, made, {rolls} * which + roll)",
        f"                target += {8 * width}",
        "                made += 1",
        f"        source += {8 * width}",
        "    return made",
    ]  # fmt: skip
    scope = {
        "legal_moves": rules.legal_moves, "play": rules.play, "outcome": rules.outcome,
        "call_float": call_float, "stack_block": stack_block,
    }  # fmt: skip
    kinds = ", ".join(["int64"] * 11)
    address = native_function("expand_at", "\n".join(lines), scope, f"int64({kinds})")
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 11)(address)


@functools.cache
def _known(rules: Any, outcomes: Any, width: int, exact: Any, tables: str) -> Any:
    """Returns code that writes the outcomes of known positions, and whether each is known."""
    count = len(outcomes)
    lines = [
        "def known_at(count, source, target, flags, tables):",
        "    for i in range(count):",
        f"        position = {read_position(width)}",
        f"        probabilities = array_at(float64_pointer(target), ({count},))",
        "        ended = float(outcome(position))",
        "        if ended == ended:",
        "            finished(position, probabilities)",
        "            store_int(flags, i, 1)",
        *([f"        elif known({tables}, position, probabilities):",
           "            store_int(flags, i, 1)"] if exact else []),
        f"        source += {8 * width}",
        f"        target += {8 * count}",
    ]  # fmt: skip
    scope = {"outcome": rules.outcome, "finished": outcomes.finished, "known": exact}
    address = native_function(
        "known_at", "\n".join(lines), {k: v for k, v in scope.items() if v is not None},
        f"void({', '.join(['int64'] * 5)})",
    )  # fmt: skip
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)(address)
