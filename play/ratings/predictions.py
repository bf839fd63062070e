"""The quality of a player's chances as predictions of the results of its games."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from games.record import GameRecord
from games.values import PROVEN
from search import Evaluator

__all__ = ["Predictions", "judged_chances"]

#: Chances count as at least this large, so that a single game cannot decide the mean.
LEAST = 1e-6


@dataclass(frozen=True)
class Predictions:
    """The quality of chances, each given at a move before the result was known.

    moves: the number of moves whose value was not proven.
    loss: mean over them of minus the logarithm of the chance of the actual result, in nats.
    guess: the loss of the constant prediction, the shares of the results.
    """

    moves: int
    loss: float
    guess: float


def judged_chances(
    evaluator: Evaluator, games: Iterable[tuple[GameRecord, int]], nodes: int | None = None
) -> Predictions | None:
    """Returns the quality of an evaluator's chances at its moves as predictions of the results.

    games: finished games with the values of its searches in the game's unit, and its side, 0 or 1.
    nodes: positions searched for a move; None if that is not known.

    Returns None if its chances are unknown, or if the values of all its moves were proven.
    """
    losses: list[float] = []
    results: Counter[float] = Counter()
    for record, side in games:
        won = (record.outcome() or 0.0) * (-1.0 if side else 1.0)
        result = float((won > 0) - (won < 0))
        begins = record.game.to_move(record.positions[0])
        for ply, note in enumerate(record.annotations):
            if (begins + ply) % 2 != side or note.value is None or abs(note.value) > PROVEN:
                continue
            value = note.value * evaluator.unit
            chances = evaluator.chances(record.positions[ply], value, nodes)
            if chances is None:
                return None
            chance = {1.0: chances.win, 0.0: chances.draw, -1.0: chances.loss}[result]
            losses.append(-math.log(max(chance, LEAST)))
            results[result] += 1
    if not losses:
        return None
    moves = len(losses)
    guess = sum(count / moves * math.log(moves / count) for count in results.values())
    return Predictions(moves, sum(losses) / moves, guess)
