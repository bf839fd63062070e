"""Seats: players at play, each asked for one move after another by one thread at a time.

In games with dice depths are GNU Backgammon's plies: at depth 0 the positions after each legal move
are valued; at depth 1 each is searched over the other side's rolls and best replies; and so on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from games.contract import DiceGame, Game
from games.record import GameRecord
from play.dice import choice
from play.players.clock import TIME
from play.players.limits import Limits
from search import Engine, Evaluator, Result
from search.expectiminimax.static import StaticChoice

__all__ = [
    "DiceSeat",
    "EvaluatorSeat",
    "RandomSeat",
    "SearchSeat",
    "Searcher",
    "Seat",
    "StaticSeat",
]


class Seat(Protocol):
    """Makes the moves of one side of a game without dice.

    engine: the `Engine` that searches for the player; None without one.
    seconds: time of each move of an external engine since `begin`; otherwise empty.
    """

    engine: Engine | None
    seconds: Sequence[float]

    def begin(self, seed: int) -> None:
        """Forget the last game; the seed decides random choices in the next."""

    def stop(self) -> None:
        """End the search that is under way; callable from any thread."""

    def move(self, record: GameRecord) -> None:
        """Play one move of the game."""


class DiceSeat(Protocol):
    """Makes the moves of one side of a game with dice."""

    def begin(self, stream: int, side: int) -> None:
        """Begin a new game.

        stream: the game's stream of random numbers.
        side: 0 if this seat begins the game, 1 if not.
        """

    def choose(self, position: Any, roll: int) -> Any:
        """A legal move in a position that has one."""


class EvaluatorSeat:
    """A seat in games without dice: an evaluator with its search, or random play."""

    seconds: Sequence[float] = ()

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator | None,
        limits: Limits,
        options: dict[str, Any],
    ) -> None:
        self.limits = limits
        self._game = game
        self._evaluator = evaluator
        self._options = options
        self.engine = Engine(game, evaluator, **options) if evaluator is not None else None
        self._random = np.random.default_rng(0)
        self._clock = limits.clock
        #: value and depth of the last search
        self._found: tuple[float, int] | None = None

    def begin(self, seed: int) -> None:
        """Forget the last game; the seed decides random choices in the next."""
        self._clock, self._found = self.limits.clock, None
        self._random = np.random.default_rng(seed)
        if self._options.get("seed") is not None:
            # An engine's random order of moves continues from search to search.
            options = {**self._options, "seed": (self._options["seed"], seed)}
            self.engine = Engine(self._game, self._evaluator, **options)
        elif self.engine is not None:
            self.engine.clear()

    def stop(self) -> None:
        """End the search that is under way."""
        if self.engine is not None:
            self.engine.stop()

    def move(self, record: GameRecord) -> None:
        """Play one move of the game, or lose it if the clock runs out."""
        if self.engine is None:
            moves = self._game.legal_moves(record.position)
            record.play(moves[int(self._random.integers(len(moves)))])
            return
        usual = replace(self.limits, clock=self._clock)
        limits = usual.for_play(self._game, record.position)
        asked, began = limits.options, time.monotonic()
        result = self.engine.search(record.position, history=record.history, **asked)
        if self._clock is not None:
            took = time.monotonic() - began
            late = self.engine.late + max(0.0, took - result.seconds)
            self._clock = self._clock.after(took, late if asked["seconds"] is not None else None)
            if self._clock.left < 0.0:
                record.forfeit(record.to_move, TIME)
                return
        value = self.engine.evaluator.in_units(result.value)
        if limits is usual or self._found is None:  # a forced move is hardly searched
            self._found = value, result.depth
        record.play(result.move, value=self._found[0], depth=self._found[1])


class RandomSeat:
    """A random legal move, each equally likely; the stream and the turn decide it.

    other: as in `play.dice.choice`.
    """

    def __init__(self, game: DiceGame) -> None:
        self._game = game
        self.other = 0
        self.begin(0, 0)

    def begin(self, stream: int, side: int) -> None:
        """A new game."""
        self._stream, self._turn = stream, side

    def choose(self, position: Any, roll: int) -> Any:
        """Returns a legal move."""
        moves = self._game.legal_moves(position, roll)
        move = moves[int(choice(self._stream, self._turn, self.other) * len(moves))]
        self._turn += 2
        return move


class StaticSeat(StaticChoice):
    """Depth 0: see `search.expectiminimax.static`."""

    def begin(self, stream: int, side: int) -> None:
        """Nothing to do: there is no random choice and no memory."""


class Searcher:
    """A search in a game with dice, at a depth of 1 ply or more or within other limits."""

    def __init__(
        self, game: DiceGame, evaluator: Evaluator, limits: Limits, options: dict[str, Any]
    ) -> None:
        self.engine = Engine(game, evaluator, **options)
        self.limits = limits

    def begin(self, stream: int, side: int) -> None:
        """Forget the last game, so that games do not depend on those before."""
        self.engine.clear()

    def stop(self) -> None:
        """End the search that is under way."""
        self.engine.stop()

    def search(self, position: Any, roll: int | None, *, all_moves: bool = False) -> Result:
        """Returns the result of a search; raises KeyboardInterrupt if it was interrupted."""
        ask = self.engine.analyse if all_moves else self.engine.search
        return ask(position, roll=roll, **self.limits.options).whole()


class SearchSeat(Searcher):
    """A player who moves as its search says."""

    def choose(self, position: Any, roll: int) -> Any:
        """Returns the best move by a search."""
        return self.search(position, roll).move

    def value_of(self, position: Any) -> float:
        """Returns the value for the side to move, before its roll, within the same limits."""
        return float(self.search(position, None).value)
