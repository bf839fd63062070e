"""`Seat`: a player of this program at play, asked for one decision after another.

In games with dice depths are GNU Backgammon's plies. At depth 0 the positions after each legal move
are valued. At depth 1 each is searched over the other side's rolls and best replies.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from games.contract import DiceGame, Game, given
from games.cube import cube_of
from games.record import GameRecord
from play.dice import choice
from play.players.clock import TIME
from play.players.grammar import split
from play.players.limits import STATIC, Limits
from search import Engine, Evaluator, Lookup, Result, as_evaluator

__all__ = ["Seat"]


class Seat:
    """A player at play in any game: an evaluator with its search, or random moves.

    The seat of an external engine has the same `begin`, `stop`, `seconds` and, for its game, `move`
    or `choose`. A seat must not be used by two threads at once, except for `stop`.

    name: the player's name, in the grammar of players.
    evaluator: values positions for the search, or None for random moves.
    limits: limits of a move.
    options: options of the `Engine`.
    """

    #: Time of each move of an external engine since `begin`; otherwise empty.
    seconds: Sequence[float] = ()

    def __init__(
        self,
        game: Game,
        name: str,
        evaluator: Evaluator | None,
        limits: Limits,
        *,
        lookup: Lookup | None = None,
        **options: Any,
    ) -> None:
        self.game: Any = game
        self.random = evaluator is None
        self.evaluator: Evaluator = as_evaluator(game, evaluator)
        self.lookup = lookup
        self.limits = limits
        #: As in `play.dice.choice`.
        self.other = 0
        self._name = name
        self._options = {"lookup": lookup, **options}
        self._engine: Engine | None = None
        # matches of native code need no search by static values
        if evaluator is not None and not (isinstance(game, DiceGame) and limits == STATIC):
            self._engine = Engine(game, self.evaluator, **self._options)
        self.begin(0)

    @property
    def name(self) -> str:
        """The player's name, with the names of files in place of paths."""
        return split(self._name).short

    @property
    def engine(self) -> Engine:
        """The search. Raises ValueError for random play."""
        if self._engine is None and self.random:
            raise ValueError("expected a player with an evaluator, found random")
        if self._engine is None:
            self._engine = Engine(self.game, self.evaluator, **self._options)
        return self._engine

    def begin(self, seed: int, side: int = 0) -> None:
        """Forget the last game.

        seed: decides random choices in the next game; in a game with dice, its stream of random
            numbers.
        side: the side that the seat plays, counted from the one that begins.
        """
        self._clock = self.limits.clock
        #: Value and depth of the last search.
        self._found: tuple[float, int] | None = None
        self._stream, self._turn = seed, side
        if self.random:
            self._generator = np.random.default_rng(seed)
        elif self._options.get("seed") is not None:
            # An engine's random order of moves continues from search to search.
            options = {**self._options, "seed": (self._options["seed"], seed)}
            self._engine = Engine(self.game, self.evaluator, **options)
        else:
            self.forget()

    def forget(self) -> None:
        """Clear the tables of earlier searches."""
        if self._engine is not None:
            self._engine.clear()

    def stop(self) -> None:
        """End the search that is under way; callable from any thread."""
        if self._engine is not None:
            self._engine.stop()

    # --- decisions -----------------------------------------------------------------------------

    def think(
        self,
        position: Any,
        *,
        roll: int | None = None,
        history: Sequence[Any] = (),
        limits: Limits | None = None,
        all_moves: bool = False,
    ) -> Result:
        """Returns the result of `Engine.search`, or with `all_moves` of `Engine.analyse`."""
        if self.random:
            move = self._any(position, roll)
            return Result(move, 0.0, (move,), 0, 0, 0.0, position=position)
        ask = self.engine.analyse if all_moves else self.engine.search
        return ask(position, history=history, roll=roll, **(limits or self.limits).options)

    def decide(
        self, record: GameRecord, limits: Limits | None = None, *, roll: int | None = None
    ) -> Result:
        """Returns the result with the move to play; the only legal move takes hardly any time."""
        limits = (limits or self.limits).for_play(self.game, record.position, roll)
        return self.think(record.position, roll=roll, history=record.history, limits=limits)

    def decision(self, situation: Any, limits: Limits | None = None) -> Any:
        """Returns the decision about the cube in a situation, as `Engine.cube` does.

        limits: limits of the search. Default: the player's own, but 1 ply if it chooses moves by
            static values: small errors of chances cost doubles and takes, but no moves.
        """
        if limits is None:
            limits = Limits(depth=1) if self.limits == STATIC else self.limits
        return self.engine.cube(situation, **limits.options)

    def choose(self, position: Any, roll: int) -> Any:
        """Returns the move to play with a roll. Raises KeyboardInterrupt if it is interrupted."""
        if self.random:
            return self._any(position, roll)
        limits = self.limits.for_play(self.game, position, roll)
        return self.think(position, roll=roll, limits=limits).whole().move

    def choose_at(self, situation: Any) -> Any:
        """Returns the move with the highest value with the cube at this score."""
        result = self.think(situation.position, roll=situation.roll, all_moves=True).whole()
        if len(result.moves) == 1:
            return result.move
        values = cube_of(self.game).values(situation, np.array(result.move_outcomes))
        # If moves are equal with the cube, the value without it decides.
        best = max(
            range(len(values)), key=lambda n: (round(float(values[n]), 9), result.moves[n][1])
        )
        return result.moves[best][0]

    def move(self, record: GameRecord) -> None:
        """Play one move of a game without dice, or lose it if the clock runs out."""
        if self.random:
            record.play(self._any(record.position, None))
            return
        usual, began = replace(self.limits, clock=self._clock), time.monotonic()
        limits = usual.for_play(self.game, record.position)
        asked = limits.options
        result = self.think(record.position, history=record.history, limits=limits)
        if self._clock is not None:
            took = time.monotonic() - began
            late = self.engine.late + max(0.0, took - result.seconds)
            self._clock = self._clock.after(took, late if asked["seconds"] is not None else None)
            if self._clock.left < 0.0:
                record.forfeit(record.to_move, TIME)
                return
        if limits is usual or self._found is None:  # a forced move is hardly searched
            self._found = self.evaluator.in_units(result.value), result.depth
        record.play(result.move, value=self._found[0], depth=self._found[1])

    def _any(self, position: Any, roll: int | None) -> Any:
        """Returns a random legal move, each equally likely; with dice by the stream and turn."""
        moves = self.game.legal_moves(position, *given(roll))
        if roll is None:
            return moves[int(self._generator.integers(len(moves)))]
        move = moves[int(choice(self._stream, self._turn, self.other) * len(moves))]
        self._turn += 2
        return move
