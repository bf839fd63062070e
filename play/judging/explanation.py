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

from games.contract import Game
from play.judging.occlusion import hidden_inputs, without_pieces
from search.evaluators.evaluator import Evaluator
from search.evaluators.linear import LinearEvaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["Contribution", "contribution_table", "explain", "line_text"]

LONGEST_LINE = 12  # plies of a principal variation


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


def contribution_table(
    titles: list[str], parts: list[list[Contribution]], most: int = 0
) -> list[str]:
    """Contributions as lines of text, one column for each evaluator; `most` of them, 0 for all.

    Those of value 0 are left out. What is left out of the table is summed up in its last line.
    """
    by_name: dict[str, list[Contribution | None]] = {}
    for number, found in enumerate(parts):
        for one in found:
            by_name.setdefault(one.name, [None] * len(parts))[number] = one
    size = {
        name: max(abs(one.value) for one in row if one is not None) for name, row in by_name.items()
    }
    # the order of the sizes in the table: an evaluator may count in another unit than its rival
    scale = [max((abs(one.value) for one in found), default=0.0) or 1.0 for found in parts]
    rank = {
        name: max(abs(one.value) / scale[i] for i, one in enumerate(row) if one is not None)
        for name, row in by_name.items()
    }
    shown = sorted((name for name in by_name if size[name] > 0), key=lambda name: -rank[name])
    kept = shown[:most] if most else shown
    rows = [["", "term", *(cell for title in titles for cell in ("weight", title))]]
    for name in kept:
        row = by_name[name]
        term = next(one.term for one in row if one is not None)
        cells = [name, f"{term:.6g}"]
        for cell in row:
            weight = None if cell is None else cell.weight
            cells.append("" if weight is None else f"{weight:.6g}")
            cells.append("" if cell is None else _number(cell.value))
        rows.append(cells)
    if not shown:
        return ["Nothing: all contributions are 0."]
    weighed = [any(one.weight is not None for one in found) for found in parts]

    def sums(title: str, names: list[str]) -> list[str]:
        """A row of sums; what was found by occlusion does not add up, and has none."""
        cells = [title, ""]
        for i in range(len(parts)):
            found = [row[i] for row in map(by_name.__getitem__, names)]
            total = sum(one.value for one in found if one is not None)
            cells += ["", _number(total) if weighed[i] else ""]
        return cells

    if len(shown) > len(kept):
        rows.append(sums(f"{len(shown) - len(kept)} more", shown[len(kept) :]))
    if any(weighed):
        rows.append(sums("sum", shown))
    columns = [
        0,
        1,
        *(c for i in range(len(parts)) for c in ((2 + 2 * i,) * weighed[i]) + (3 + 2 * i,)),
    ]
    widths = [max(len(row[c]) for row in rows) for c in columns]
    lines = [
        "  ".join(
            f"{row[c]:<{w}}" if c == 0 else f"{row[c]:>{w}}"
            for c, w in zip(columns, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    if not all(weighed):
        lines += ["", "Without weights: how far the value falls when one thing alone is hidden."]
    return lines


def _number(value: float) -> str:
    return f"{value:+.0f}" if abs(value) >= 1000 else f"{value:+.4f}"


def line_text(game: Game, position: Any, moves: tuple[Any, ...]) -> str:
    """A principal variation as text, of at most 12 plies."""
    texts = []
    for move in moves[:LONGEST_LINE]:
        texts.append(game.move_text(position, move))
        position = game.play(position, move)
    return " ".join(texts) + (" …" if len(moves) > LONGEST_LINE else "")
