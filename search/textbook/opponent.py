"""`Opponent`: the model of a player who does not always find the best move."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Opponent"]

#: Moves that are less likely than this share of the likeliest move's probability count as never
#: played.
LEAST = 0.01


@dataclass(frozen=True)
class Opponent:
    """The model of an opponent who chooses among his moves by a softmax over their values.

    The probability of a move is in proportion to exp(value / temperature), where the value is the
    opponent's own, by a search with his evaluator (R. D. Luce, Individual Choice Behavior, 1959).

    evaluator: his evaluator, a function of a position. Default: that of the search.
    temperature: 0 for the best move always (the opponent of D. Carmel and S. Markovitch,
        "Learning Models of Opponent's Strategy in Game Playing", 1993; with the evaluator of the
        search that is minimax), `math.inf` for a random move; in the unit of his evaluator.
    depth: plies that he looks ahead. Default: the depth that the search has left.

    Raises ValueError if a number is out of range.
    """

    evaluator: Callable[[Any], float] | None = None
    temperature: float = 0.0
    depth: int | None = None

    def __post_init__(self) -> None:
        if not self.temperature >= 0:
            raise ValueError(f"temperature: expected at least 0, found {self.temperature}")
        if self.depth is not None and self.depth < 1:
            raise ValueError(f"depth: expected at least 1 ply, found {self.depth}")

    def chances(self, values: list[float]) -> list[float]:
        """Returns the probability of each move, from their values for the opponent.

        With temperature 0, moves of the best value share it.
        """
        best = max(values)
        if self.temperature == 0:
            weights = [float(value == best) for value in values]
        else:
            weights = [math.exp((value - best) / self.temperature) for value in values]
            weights = [weight if weight > LEAST else 0.0 for weight in weights]
        total = math.fsum(weights)
        return [weight / total for weight in weights]
