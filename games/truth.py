"""The exact values of a solved game, against which players are measured.

A game's referees are its `play.judging.truth.Referees`, and `python -m play judge GAME PLAYER
--referee truth` asks the one that is called truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from games.contract import Game

__all__ = ["Exhaustive", "Truth"]


class Truth(Protocol):
    """A referee that knows the exact value of every move; used by one thread at a time.

    plies: least and greatest number of random moves after which it values a position in some
        milliseconds; before them it may only say as fast who wins, by `classes`.
    unit: what a value of 1 is.
    """

    plies: tuple[int, int]
    unit: str = "points"

    def values(self, position: Any) -> Mapping[Any, float]:
        """Returns the exact value of each legal move, for the side to move; empty after the end.

        A win is positive, a draw 0, a loss negative. Among wins and among losses the size may say
        more, such as how soon the game ends.
        """

    def known(self) -> NDArray[np.int64]:
        """Returns positions that are not over, each followed by its class: [positions, fields + 1].

        They are those of a book, if there is one, and those that searches passed since `clear`.
        """

    def clear(self) -> None:
        """Forget what was found since the referee was made."""

    def best(self, position: Any) -> list[Any]:
        """Returns the legal moves of the greatest value, in the order of the legal moves."""
        values = self.values(position)
        return [move for move in values if values[move] == max(values.values())]

    def classes(self, position: Any) -> dict[Any, int]:
        """As `values`, but only 1 for a win, 0 for a draw and -1 for a loss."""
        return {move: (value > 0) - (value < 0) for move, value in self.values(position).items()}


class Exhaustive(Truth):
    """The truth of a small game: every position that can follow is valued once, by minimax.

    game: a game without dice whose positions do not repeat.

    The value of a move is the outcome that it leads to.
    """

    plies = (0, 64)

    def __init__(self, game: Game) -> None:
        self._game = game
        self._known: dict[Any, float] = {}

    def values(self, position: Any) -> dict[Any, float]:
        """As in `Truth`."""
        game = self._game
        moves = game.legal_moves(position)
        return {move: -self._value(game.play(position, move)) for move in moves}

    def known(self) -> NDArray[np.int64]:
        """As in `Truth`."""
        rows = [
            (*position, (value > 0) - (value < 0))
            for position, value in self._known.items()
            if self._game.outcome(position) is None
        ]
        return np.array(rows, dtype=np.int64)

    def clear(self) -> None:
        """As in `Truth`."""
        self._known.clear()

    def _value(self, position: Any) -> float:
        if position not in self._known:
            outcome = self._game.outcome(position)
            if outcome is None:
                outcome = max(self.values(position).values())
            self._known[position] = outcome
        return self._known[position]
