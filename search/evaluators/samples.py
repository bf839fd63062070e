"""Positions that stand for a game, and what an evaluator's values there say of it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from games.contract import DiceGame, Game

__all__ = ["sample_positions", "value_mark", "value_scale"]

SAMPLE = 256
#: Positions whose values tell one evaluator from another.
MARKED = 64


def sample_positions(game: Game, count: int = SAMPLE) -> list[Any]:
    """The same positions of random play on every machine, some of each stage of a game.

    Fewer of them are the first of more. Some may be finished.
    """
    positions: list[Any] = []
    state = 20591
    position = game.start()
    while len(positions) < count:
        if isinstance(game, DiceGame):
            moves = game.legal_moves(position, (state >> 12) % len(game.rolls))
        else:
            moves = game.legal_moves(position)
        positions.append(position)
        # a generator of our own, for libraries may change theirs
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        over = not moves or state >> 57 == 0
        position = game.start() if over else game.play(position, moves[(state >> 33) % len(moves)])
    return positions


def value_mark(game: Game, evaluator: Any) -> str:
    """A few letters that stand for the values an evaluator gives, to five digits.

    They are those of positions of random play, always the same ones.
    """
    values = [f"{evaluator(position):.5g}" for position in _undecided(game)]
    return hashlib.sha256(" ".join(values).encode()).hexdigest()[:16]


def value_scale(game: Game, evaluator: Any) -> float:
    """What an evaluator's values are like: the median of their sizes at the same positions.

    More than 0; 1 for an evaluator to which most positions are worth nothing.
    """
    values = np.abs(evaluator.values(_undecided(game)))
    known = values[np.isfinite(values)]
    return float(np.median(known)) or 1.0 if known.size else 1.0


def _undecided(game: Game) -> list[Any]:
    positions = sample_positions(game, MARKED)
    return [position for position in positions if game.outcome(position) is None]
