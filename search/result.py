"""`Result`: what a search found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from games.values import PROVEN, WIN

__all__ = ["Depth", "Result"]


@dataclass(frozen=True)
class Depth:
    """What one iteration found."""

    depth: int
    value: float
    move: Any
    nodes: int


@dataclass(frozen=True)
class Result:
    """What a search found; values are for the side to move.

    move: the best move found; None where the game is over, and in a game with dice before a roll.
    value: the value of the position. Beyond `search.PROVEN` it counts plies to the end of the game,
        see `plies_to_end`.
    pv: the principal variation, which begins with the move; with dice it is the move alone.
    depth: the depth searched in full. With dice it is GNU Backgammon's number of plies, 0 for
        static values after the move.
    nodes: number of positions searched.
    seconds: the time that the search took.
    history: what each depth found, from depth 1 on, with dice from depth 0 on.
    moves: (move, value) for every legal move, best first; empty unless `Engine.analyse` asked.
    lookups, found: number of questions to the lookup, and of its answers.
    interrupted: whether Ctrl-C or `Engine.stop` ended the search.
    outcomes: with dice, the probabilities of the game's outcomes after the best move, or before the
        roll, backed up from that depth; None where the evaluator does not give them.
    evaluations: with dice, how often the evaluator was asked.
    probes, hits: without dice, number of questions to the transposition table, and of its answers.
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
    found: int = 0
    interrupted: bool = field(default=False, compare=False)
    outcomes: tuple[float, ...] | None = None
    evaluations: int = 0
    probes: int = 0
    hits: int = 0

    @property
    def plies_to_end(self) -> int | None:
        """Plies to the end of the game if a win or loss was found; else None."""
        if abs(self.value) <= PROVEN:
            return None
        return int(WIN - abs(self.value))
