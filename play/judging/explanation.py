"""Why an evaluator values a position as it does: its value taken apart into contributions.

Weights over terms are a sum, which is shown as it is. What is no sum is explained by occlusion: a
contribution is how far the value falls when one thing is hidden from the evaluator and all else
stays (Zeiler and Fergus 2014, for pictures; Robnik-Sikonja and Kononenko 2008 for any model).
Such contributions need not add up to the value, for things can matter together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from play.judging.occlusion import hidden_inputs, without_pieces
from search.evaluators.evaluator import Evaluator, LinearEvaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["Contribution", "explain"]


@dataclass(frozen=True)
class Contribution:
    """What one thing adds to the value of a position, for the side to move.

    term: the term's value in the position; for pieces, how many they are. weight: what a linear
    evaluator multiplies it by, and then `value` is weight times term; None where the value was
    found by occlusion.
    """

    name: str
    term: float
    weight: float | None
    value: float


def explain(
    evaluator: Evaluator, position: Any, *, means: Mapping[str, float] | None = None
) -> list[Contribution]:
    """What makes up the static value of a position, the largest contribution first.

    Weights over terms: weight times term for each term; they add up to the value. Networks: the
    terms among their inputs are set to their `means` (by name; 0 unless given) one at a time, and
    the inputs that stand for a piece, or for a side's checkers on a point, are switched off. All
    other evaluators of checkers and backgammon are asked for the position without the piece, or
    with the checkers of a point borne off.

    Raises TypeError for an evaluator of another game that is neither linear nor a network, and
    ArithmeticError where contributions of a linear evaluator do not add up to its value.
    """
    if isinstance(evaluator, LinearEvaluator):
        found = _weighed(evaluator, position)
    elif isinstance(evaluator, NetworkEvaluator | OutcomeNetwork):
        found = hidden(hidden_inputs(evaluator, position, means or {}))
    else:
        found = hidden(without_pieces(evaluator, position))
    return sorted(found, key=lambda one: -abs(one.value))


def _weighed(evaluator: LinearEvaluator, position: Any) -> list[Contribution]:
    terms = evaluator.features.measure([position])[0].tolist()
    weights = evaluator.term_weights().items()
    found = [
        # + 0.0: a term of 0 under a negative weight adds 0, not -0
        Contribution(name, term, weight, weight * term + 0.0)
        for (name, weight), term in zip(weights, terms, strict=True)
    ]
    total, value = math.fsum(one.value for one in found), evaluator(position)
    size = max([1.0, *(abs(one.value) for one in found)])
    if not abs(total - value) <= 1e-9 * size * len(found):
        raise ArithmeticError(
            f"{evaluator.name}: expected contributions that add up to the value {value!r}, found"
            f" {total!r}"
        )
    return found


def hidden(parts: tuple[float, list[tuple[str, float, float]]]) -> list[Contribution]:
    """Contributions from a value and, for each thing, its name, term and the value without it."""
    value, things = parts
    return [
        Contribution(name, term, None, float(np.float64(value) - without) + 0.0)
        for name, term, without in things
    ]
