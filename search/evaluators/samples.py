"""Sample positions of a game, and the digest and scale of an evaluator's values there."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from games.contract import Game, given
from games.rolls import rolls_of

__all__ = ["sample_positions", "value_mark", "value_scale"]

SAMPLE = 256
#: Number of positions whose values identify an evaluator.
MARKED = 64


def sample_positions(game: Game, count: int = SAMPLE) -> list[Any]:
    """Returns `count` positions of random play, the same on every machine, from all stages.

    A smaller `count` gives the first of the same positions. Some games may be over.
    """
    positions: list[Any] = []
    state = 20591
    position, rolls = game.start(), rolls_of(game).every
    while len(positions) < count:
        moves = game.legal_moves(position, *given(rolls[(state >> 12) % len(rolls)]))
        positions.append(position)
        # a generator of our own, because libraries may change theirs
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        over = not moves or state >> 57 == 0
        position = game.start() if over else game.play(position, moves[(state >> 33) % len(moves)])
    return positions


def value_mark(game: Game, evaluator: Any) -> str:
    """Returns a digest of an evaluator's values, to five digits, at the same sample positions."""
    values = [f"{evaluator(position):.5g}" for position in _undecided(game)]
    return hashlib.sha256(" ".join(values).encode()).hexdigest()[:16]


def value_scale(game: Game, evaluator: Any) -> float:
    """Returns the usual size of an evaluator's values: the median of |value| at sample positions.

    It is more than 0; it is 1 for an evaluator whose median value is 0.
    """
    values = np.abs(evaluator.values(_undecided(game)))
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) or 1.0 if finite.size else 1.0


def _undecided(game: Game) -> list[Any]:
    positions = sample_positions(game, MARKED)
    return [position for position in positions if game.outcome(position) is None]
