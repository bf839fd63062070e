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

    `move` is None where the game is over. A value beyond `search.PROVEN` counts plies to the end:
    see `plies_to_end`. `depth` is the depth searched in full, `nodes` the positions looked at,
    `history` one entry for each depth. `moves` holds (move, value) for every legal move, best
    first, from `analyse`, and is empty otherwise. `lookups` and `found` count questions to the
    lookup and answers, `probes` and `hits` the same for the transposition table (without dice).
    `interrupted` tells that Ctrl-C or `Engine.stop` ended the search.

    In games with dice `depth` is GNU Backgammon's number of plies, 0 for static values after the
    move, and `history` begins with it; `pv` is the move alone; `outcomes` holds the probabilities
    of the game's outcomes after the best move, or of a position before its roll, backed up from
    that depth, where the evaluator gives them; `evaluations` is how often it was asked.
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
        """Plies until the game is won or lost with the play found; None where that is open."""
        if abs(self.value) <= PROVEN:
            return None
        return int(WIN - abs(self.value))
