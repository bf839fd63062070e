"""Games rolled out in Python: any game with dice, and any way to choose moves.

Results are those of native code (`play.rollout.native`); tests compare the two. Rollouts at a depth
above 0 also run here, all games of a block in step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame
from games.kernels import uncompiled
from games.kernels.chance import next_state
from play.rollout.dice import RolloutDice
from search import Engine, Evaluator, Lookup
from search.expectiminimax.line import DEEPEST_ROLLS

__all__ = [
    "CERTAIN",
    "Block",
    "BlockDice",
    "RolloutTable",
    "play_in_step",
]

#: Lookup values of at least this depth are treated as exact and end the game.
CERTAIN = DEEPEST_ROLLS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: The random streams [games] and first rolls [games, 2] of games.
BlockDice = tuple[Integers, Integers]
#: Results [games, outcomes + 1] and plies [games].
Block = tuple[Floats, Integers]


class RolloutTable:
    """The workspace of a rollout, for one thread at a time."""

    def __init__(
        self, game: DiceGame, evaluator: Evaluator, lookup: Lookup | None, dice: RolloutDice
    ) -> None:
        self.game = game
        #: number of outcomes that the evaluator gives
        self.count = len(game.outcomes) if evaluator.gives_outcomes and game.outcomes else 0
        self._probe = lookup.plain() if lookup is not None else None
        self._valued_by = evaluator, lookup
        self._dice = dice
        self._stopped = False

    @functools.cached_property
    def _engine(self) -> Engine:
        """The search at depth 0, which games of native code do not need."""
        evaluator, lookup = self._valued_by
        return Engine(self.game, evaluator, lookup=lookup, table_mib=0.001)

    def block(
        self, position: Any, dice: BlockDice, *, later: bool, most_plies: int, look: bool
    ) -> Block | None:
        """Play games with the streams and first rolls of `dice` at depth 0; None if stopped.

        later: whether the results are for the side that waits.
        """
        return play_in_step(
            self,
            self._dice,
            lambda positions, rolls: self._engine.best_moves(positions, rolls)[0],
            self.rate,
            position,
            dice,
            later=later,
            most_plies=most_plies,
            look=look,
            stopped=lambda: self._stopped,
        )

    def ends(self, position: Any) -> bool:
        """Whether a game ends here: it is over, or the lookup knows its exact value."""
        if self.game.outcome(position) is not None:
            return True
        found, _, depth = self._probe(position) if self._probe else (False, 0.0, 0)
        return bool(found and depth >= CERTAIN)

    def rate(self, position: Any, value: float | None = None) -> Floats:
        """Returns static outcomes and value for the side to move, [outcomes + 1].

        value: the static value, if it is known.
        """
        numbers = np.zeros(self.count + 1)
        numbers[-1] = self._engine.values([position])[0] if value is None else value
        if self.count:
            numbers[:-1] = self._engine.dice_search.outcomes([position])[0]
        return numbers

    def luck(self, position: Any, roll: int, later: bool) -> Floats:
        """Returns the luck of a roll, [outcomes + 1], for the side of the results (see `block`)."""
        mean, actual = np.zeros((2, self.count + 1))
        rolls = range(len(self.game.rolls))
        moves, values = self._engine.best_moves([position] * len(rolls), rolls)
        for other, chance in enumerate(self.game.rolls):
            if chance > 0.0:
                rated = self.rate(self.game.play(position, moves[other]), -values[other])
                self.turn(rated)
                mean += chance * rated
                if other == roll:
                    actual = rated
        if later:
            self.turn(actual)
            self.turn(mean)
        return np.array(actual - mean)

    def turn(self, numbers: Floats) -> None:
        """Change outcomes and value to those of the other side, in place."""
        if self.count and self.game.outcomes is not None:
            uncompiled(self.game.outcomes.turn)(numbers[:-1])
        numbers[-1] = -numbers[-1]

    def stop(self) -> None:
        """End the games under way, and begin no other."""
        self._stopped = True


def play_in_step(
    table: RolloutTable,
    dice: RolloutDice,
    choose: Callable[[list[Any], list[int]], Any],
    settle: Callable[[Any], Floats],
    position: Any,
    block: BlockDice,
    *,
    later: bool,
    most_plies: int,
    look: bool,
    stopped: Callable[[], bool],
) -> Block | None:
    """Roll out a block like native code at depth 0, in step, with any choice of moves.

    choose: returns the moves of many positions with a roll each.
    settle: returns outcomes and value of a position in which a game was broken off.
    """
    streams, first_rolls = block
    count = len(streams)
    positions = [position] * count
    states = streams.tolist()
    plies = np.zeros(count, dtype=np.int64)
    luck = np.zeros((count, table.count + 1))
    going = [i for i in range(count) if not table.ends(position)]
    for ply in range(most_plies):
        if not going:
            break
        if stopped():
            return None
        rolls = []
        for i in going:
            states[i] = int(next_state(states[i]))
            fixed = int(first_rolls[i, ply]) if ply < first_rolls.shape[1] else -1
            rolls.append(fixed if fixed >= 0 else dice.roll(states[i]))
            if look:
                luck[i] += table.luck(positions[i], rolls[-1], (ply + later) % 2 != 0)
        moves = choose([positions[i] for i in going], rolls)
        for i, move in zip(going, moves, strict=True):
            positions[i] = table.game.play(positions[i], move)
            plies[i] += 1
        going = [i for i in going if not table.ends(positions[i])]
    results = np.zeros((count, table.count + 1))
    for i, last in enumerate(positions):
        results[i] = settle(last) if i in going else table.rate(last)
        if (plies[i] + later) % 2:
            table.turn(results[i])
        results[i] -= luck[i]
    return results + 0.0, plies
