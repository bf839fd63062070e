"""`Result`: the result of a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from games.values import PROVEN, WIN

__all__ = ["Depth", "Result"]


@dataclass(frozen=True)
class Depth:
    """The result of one iteration.

    depth: plies searched.
    value: the value of the position, for the side to move.
    move: the best move; None in a game with dice before the roll.
    nodes: number of positions searched up to the end of the iteration.
    """

    depth: int
    value: float
    move: Any
    nodes: int


@dataclass(frozen=True)
class Result:
    """The result of a search; values are for the side to move.

    move: the best move found; None if the game is over, and in a game with dice before a roll.
    value: the value of the position. Beyond `search.PROVEN` it counts plies to the end of the game,
        see `plies_to_end`.
    pv: the principal variation, which begins with `move`; with dice it is `move` alone.
    depth: the depth searched in full. With dice it is GNU Backgammon's number of plies, 0 for
        static values after the move.
    nodes: number of positions searched.
    seconds: time that the search took.
    history: the result of each iteration, from depth 1 on, with dice from depth 0 on.
    moves: (move, value) for every legal move, best first; empty unless `Engine.analyse` was called.
    lookups: number of probes of the lookup.
    lookup_hits: number of those that it answered.
    interrupted: whether Ctrl-C or `Engine.stop` ended the search.
    outcomes: with dice, the probabilities of the game's outcomes after the best move, or before the
        roll, backed up from `depth`; None if the evaluator gives no probabilities.
    evaluations: with dice, number of calls of the evaluator.
    probes: without dice, number of probes of the transposition table.
    hits: number of those that it answered.
    move_outcomes: with dice, the probabilities of the game's outcomes after each of `moves`, for
        the side that moves; empty without `moves`, or if the evaluator gives no probabilities.
    """

    move: Any
    value: float
    pv: tuple[Any, ...]
    depth: int
    nodes: int
    seconds: float
    history: tuple[Depth, ...] = ()
    moves: tuple[tuple[Any, float], ...] = ()
    lookups: int = 0
    lookup_hits: int = 0
    interrupted: bool = field(default=False, compare=False)
    outcomes: tuple[float, ...] | None = None
    evaluations: int = 0
    probes: int = 0
    hits: int = 0
    move_outcomes: tuple[tuple[float, ...], ...] = ()

    @property
    def plies_to_end(self) -> int | None:
        """Plies to the end of the game if the value is a proven win or loss, else None."""
        if abs(self.value) <= PROVEN:
            return None
        return int(WIN - abs(self.value))
