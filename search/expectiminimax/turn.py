"""One native turn with dice: the next random number, a roll, a reply, the position after it.

Matches, rollouts and learners use these kernels to play games with dice in native code. A turn
reads and writes a record, `NativeTurn`, with the game and its dice; another record, `Replies`,
determines how a side chooses its moves.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from games import kernels
from games.contract import DiceGame
from games.kernels import NativeRecord, kernel
from games.kernels.chance import cumulative, drawn, next_state, uniform
from games.kernels.memory import load_int, store_int
from games.kernels.record import address_of
from search.evaluators.evaluator import Evaluator
from search.expectiminimax.replies import Prefilter, Replies, static_native
from search.lookups.lookup import Lookup
from search.native import call_float, rules_addresses

__all__ = [
    "NativeTurn",
    "best_reply",
    "copy_position",
    "next_number",
    "next_roll",
    "over",
    "play_turn",
]

#: Greatest number of rolls of a game, for which native code has room.
MOST_ROLLS = 64

TURN = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: rules; room for a position and for another one
            "play_at outcome_at here after"
            # integers of a position; how many rolls there are; the state of the random numbers;
            # the last roll; whether to stop
            " width roll_count state other roll stop"
        ).split()
    ]
    + [
        (name, np.float64, (MOST_ROLLS,))
        for name in ("chances", "first_chances", "limits", "first_limits")
    ]
    + [("outcome", np.float64)],
    align=True,
)


@kernel
def next_number(turn):
    """Returns the next random number, at least 0 and below 1."""
    turn.state = next_state(turn.state)
    return uniform(turn.state)


@kernel
def next_roll(turn, ply):
    """Returns the roll of a ply, from one random number; ply 0 follows the game's `first_rolls`."""
    chance = next_number(turn)
    if ply == 0:
        turn.roll = drawn(chance, turn.first_limits)
    else:
        turn.roll = drawn(chance, turn.limits)
    return turn.roll


@kernel
def best_reply(replies, source, roll, target):
    """Write the position after the best reply to `target`. Returns its value, see `Replies`."""
    return call_float(replies.reply_at, (address_of(replies), source, roll, target))


@kernel
def play_turn(turn, replies, source, target, ply, numbers):
    """Play one turn.

    turn: the record of a `NativeTurn`.
    replies: the record of the side's `Replies`.
    source: address of the position, in which the game is not over.
    target: address for the position after the turn; it may be `source`.
    ply: number of the turn in the game, from 0 on.
    numbers: number of random numbers that the turn draws, 1 or 2. The first determines the roll,
        the second the reply of a side that plays at random.

    The roll is written to `turn.roll`, the move to `replies.move`.
    """
    roll = next_roll(turn, ply)
    if numbers > 1:
        turn.state = next_state(turn.state)
        replies.chance = uniform(turn.state ^ turn.other)
    best_reply(replies, source, roll, target)


@kernel
def over(turn, place):
    """Returns whether the game is over at an address.

    If so, `turn.outcome` is the outcome for the side to move.
    """
    turn.outcome = call_float(turn.outcome_at, (place,))
    return turn.outcome == turn.outcome


@kernel
def copy_position(turn, source, target):
    """Copy a position from one address to another."""
    for i in range(turn.width):
        store_int(target, i, load_int(source, i))


class NativeTurn(NativeRecord):
    """A game with dice for native code: its rules, its dice, and room for positions.

    Raises TypeError if the game is not compiled, ValueError if it has too many rolls or its
    positions too many integers. It must not be used by two threads at once.
    """

    def __init__(self, game: DiceGame) -> None:
        if game.rules is None or not kernels.compiled:
            raise TypeError(f"{game.name} is not compiled: expected a game written as kernels")
        if len(game.rolls) > MOST_ROLLS:
            raise ValueError(
                f"{game.name}: expected at most {MOST_ROLLS} rolls, found {len(game.rolls)}"
            )
        super().__init__(TURN)
        self.game = game
        self.errors: list[BaseException] = []
        addresses = rules_addresses(game)
        width = len(game.start())
        here, after = np.zeros((2, width), dtype=np.int64)
        self.pin(here=here, after=after)
        self.put(
            play_at=addresses["play_at"],
            outcome_at=addresses["outcome_at"],
            width=width,
            roll_count=len(game.rolls),
        )
        for kind, weights in (("", game.rolls), ("first_", game.dice.first)):
            getattr(self, f"{kind}limits")[: len(weights)] = cumulative(weights)
            getattr(self, f"{kind}chances")[: len(weights)] = weights

    @property
    def position(self) -> tuple[int, ...]:
        """The position at the address `here`; can be set."""
        return tuple(self.pinned["here"].tolist())

    @position.setter
    def position(self, position: Sequence[int]) -> None:
        self.pinned["here"][:] = position

    def replies(
        self,
        evaluator: Evaluator | None,
        lookup: Lookup | None = None,
        prefilter: Prefilter | None = None,
    ) -> Replies:
        """Returns the replies of a side.

        evaluator: the evaluator of its replies. Default: random replies.
        lookup: known values, used instead of the evaluator's, or None.
        prefilter: chooses the replies that the evaluator values. Default: the evaluator's own.
            Without one all are valued.

        An exception of an evaluator sets `stop`, and `check` raises it.
        """
        native = (
            None if evaluator is None else static_native(self.game, evaluator, lookup, self._fail)
        )
        if prefilter is None and evaluator is not None:
            prefilter = evaluator.prefilter
        return Replies(self.game, native, prefilter, lookup=lookup, fail=self._fail)

    def _fail(self, error: BaseException) -> None:
        self.errors.append(error)
        self.put(stop=1)

    def check(self) -> None:
        """Raise the first error of an evaluator, if there was one."""
        if self.errors:
            error = self.errors[0]
            self.errors.clear()
            self.put(stop=0)
            raise error
