"""Games rolled out from a position, a block of them at a time: natively in one call at depth 0.

Results are luck-adjusted by looking one ply ahead (D. Montgomery, "Variance reduction", GammOnLine,
2000; GNU Backgammon). The luck of a roll is the value of its best move, by static values, minus the
average of this value over all rolls; the luck of a game is subtracted from its result. The average
luck of a position is 0 for any evaluator, so that the mean result stays the same; the better the
evaluator, the smaller the variance. At depth 0 looking ahead also gives the move to play.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import DiceGame
from games.kernels import NativeRecord, kernel
from games.kernels.memory import (
    load_float,
    load_int,
    store_float,
    store_int,
)
from play.rollout.dice import RolloutDice
from play.rollout.plain import CERTAIN, Block, BlockDice, RolloutTable
from search import Evaluator, Lookup
from search.expectiminimax.native import dice_addresses, known_address
from search.expectiminimax.turn import NativeTurn, best_reply, copy_position, next_roll, over
from search.native import call_float, call_int

__all__ = ["NativeTable", "rollout_table"]

ROLLOUT = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: a lookup, its tables and room for its answer; outcomes of positions, and
            # numbers for each of them and the value; the position after the best move
            "lookup_at tables answer outcomes_at outcomes_data known_at finished_at turn_at"
            " rated mean actual luck chosen"
            # number of outcomes; the longest game; whether to look ahead, for variance reduction;
            # whether the results are for the side that is not to move at the start
            " outcome_count most_plies look later"
            # addresses of the games to play: the start position, streams of random numbers, fixed
            # first rolls, results and lengths; number of games, and of fixed rolls in each
            " start streams first_rolls results plies games fixed"
        ).split()
    ],
    align=True,
)

Floats = NDArray[np.float64]


@kernel
def certain(own, place):
    """Returns whether the lookup knows the exact value of the position at an address."""
    if own.lookup_at == 0:
        return False
    if not call_int(own.lookup_at, (own.tables, place, own.answer)):
        return False
    return load_int(own.answer, 1) >= CERTAIN


@kernel
def rate(turn, own, place, value, target):
    """Write the outcomes of the position at an address, for its side to move, and its value."""
    count = own.outcome_count
    if count > 0:
        if over(turn, place):
            call_int(own.finished_at, (place, target))
        elif own.known_at == 0 or call_int(own.known_at, (own.tables, place, target)) == 0:
            call_int(own.outcomes_at, (own.outcomes_data, place, target))
    store_float(target, count, value)


@kernel
def rate_static(turn, replies, own, place):
    """Write the outcomes and the static value of the position at an address to `rated`."""
    if over(turn, place):
        value = turn.outcome
    else:
        value = call_float(replies.evaluate_at, (replies.evaluator, place))
    rate(turn, own, place, value, own.rated)


@kernel
def turn_all(own, target):
    """Change outcomes and value to those of the other side."""
    count = own.outcome_count
    if count > 0:
        call_int(own.turn_at, (target,))
    store_float(target, count, -load_float(target, count))


@kernel
def look_ahead(turn, replies, own, place, roll, later):
    """Write the position after the best reply to `chosen`; add the luck of the roll to `luck`.

    later: whether the results are for the side that waits.
    """
    numbers = own.outcome_count + 1
    for k in range(numbers):
        store_float(own.mean, k, 0.0)
    for other in range(turn.roll_count):
        chance = turn.chances[other]
        if chance > 0.0:
            value = best_reply(replies, place, other, turn.after)
            rate(turn, own, turn.after, -value, own.rated)
            turn_all(own, own.rated)
            for k in range(numbers):
                number = load_float(own.rated, k)
                store_float(own.mean, k, load_float(own.mean, k) + chance * number)
                if other == roll:
                    store_float(own.actual, k, number)
            if other == roll:
                copy_position(turn, turn.after, own.chosen)
    if later:
        turn_all(own, own.actual)
        turn_all(own, own.mean)
    for k in range(numbers):
        more = load_float(own.actual, k) - load_float(own.mean, k)
        store_float(own.luck, k, load_float(own.luck, k) + more)


@kernel
def roll_out(turn, replies, own, game):
    """Play a game from the position `here` to its end; returns its plies, -1 if it was stopped.

    `rated` is then the game's result, and `luck` its luck, both for the side of the results.
    """
    here = turn.here
    for k in range(own.outcome_count + 1):
        store_float(own.luck, k, 0.0)
    ply = 0
    while ply < own.most_plies and not over(turn, here) and not certain(own, here):
        if turn.stop != 0:
            return -1
        roll = next_roll(turn, 1)
        if ply < own.fixed and load_int(own.first_rolls, own.fixed * game + ply) >= 0:
            roll = load_int(own.first_rolls, own.fixed * game + ply)
        if own.look != 0:
            look_ahead(turn, replies, own, here, roll, (ply + own.later) % 2 != 0)
            copy_position(turn, own.chosen, here)
        else:
            best_reply(replies, here, roll, here)
        ply += 1
    rate_static(turn, replies, own, here)
    if (ply + own.later) % 2 != 0:
        turn_all(own, own.rated)
    return -1 if turn.stop != 0 else ply


@kernel
def roll_out_block(turn, replies, own):
    """Play the games of a block; returns the number played, fewer if it was stopped."""
    numbers = own.outcome_count + 1
    for game in range(own.games):
        copy_position(turn, own.start, turn.here)
        turn.state = load_int(own.streams, game)
        plies = roll_out(turn, replies, own, game)
        store_int(own.plies, game, plies)
        if plies < 0:
            return game
        for k in range(numbers):
            number = load_float(own.rated, k) - load_float(own.luck, k) + 0.0
            store_float(own.results, numbers * game + k, number)
    return own.games


class NativeTable(RolloutTable):
    """A `RolloutTable` whose games at depth 0 are played in native code, block by block."""

    def __init__(
        self, game: DiceGame, evaluator: Evaluator, lookup: Lookup | None, dice: RolloutDice
    ) -> None:
        super().__init__(game, evaluator, lookup, dice)
        self._turn = NativeTurn(game)
        self._replies = self._turn.replies(evaluator, lookup)
        self._own = NativeRecord(ROLLOUT)
        width = len(game.start())
        numbers = {name: np.zeros(self.count + 1) for name in ("rated", "mean", "actual", "luck")}
        self._own.pin(
            answer=np.zeros(8, dtype=np.int64), chosen=np.zeros(width, dtype=np.int64), **numbers
        )
        if lookup is not None:
            self._own.bind("lookup_at", "tables", lookup.native(game))
        if self.count:
            addresses = dice_addresses(game)
            self._own.bind("outcomes_at", "outcomes_data", evaluator.native_outcomes())
            self._own.put(
                outcome_count=self.count,
                finished_at=addresses["finished_at"],
                turn_at=addresses["turn_at"],
            )
            if lookup is not None and lookup.outcomes is not None:
                self._own.put(known_at=known_address(lookup, width, self.count))
        self._records = self._turn.row, self._replies.row, self._own.row

    def block(
        self, position: Any, dice: BlockDice, *, later: bool, most_plies: int, look: bool
    ) -> Block | None:
        streams, rolls = dice
        results = np.zeros((len(streams), self.count + 1))
        plies = np.zeros(len(streams), dtype=np.int64)
        self._own.put(later=int(later), most_plies=most_plies, look=int(look))
        self._own.put(games=len(streams), fixed=rolls.shape[1])
        self._own.pin(
            start=np.array(position, dtype=np.int64),
            streams=streams,
            first_rolls=rolls,
            results=results,
            plies=plies,
        )
        done = roll_out_block(*self._records)
        self._turn.check()
        return (results, plies) if done == len(streams) else None

    def ends(self, position: Any) -> bool:
        if self.game.outcome(position) is not None:
            return True
        self._turn.position = position
        return bool(certain(self._own.row, self._turn.here))

    def luck(self, position: Any, roll: int, later: bool) -> Floats:
        self._turn.position = position
        self._own.pinned["luck"][:] = 0.0
        look_ahead(*self._records, self._turn.here, roll, later)
        self._turn.check()
        return self._own.pinned["luck"].copy()

    def stop(self) -> None:
        self._turn.put(stop=1)


def rollout_table(
    game: DiceGame, evaluator: Evaluator, lookup: Lookup | None, dice: RolloutDice
) -> RolloutTable:
    """Returns a native table if possible, else one in Python."""
    native = game.rules is not None and kernels.compiled
    return (NativeTable if native else RolloutTable)(game, evaluator, lookup, dice)
