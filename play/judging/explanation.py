"""Explanations of an evaluator's value of a position, as contributions.

A linear evaluator's value is a sum, and its summands are shown. Other values are explained by
occlusion: a contribution is how far the value falls when one thing alone is hidden from the
evaluator (Zeiler and Fergus 2014, for pictures; Robnik-Sikonja and Kononenko 2008 for any model).
Such contributions need not add up to the value, because things can matter together.
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
from search.evaluators.heuristic import LearnedHeuristic
from search.evaluators.linear import LinearEvaluator
from search.evaluators.load import as_evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["Contribution", "contribution_table", "explain", "line_text"]

LONGEST_LINE = 12  # plies of a principal variation


@dataclass(frozen=True)
class Contribution:
    """The contribution of one thing to the value of a position, for the side to move.

    name: the thing's name.
    term: the term's value in the position; for pieces, their number.
    weight: weight of the term in a linear evaluator; None if `value` is by occlusion.
    value: the contribution; weight times term in a linear evaluator.
    """

    name: str
    term: float
    weight: float | None
    value: float


def explain(
    evaluator: Evaluator, position: Any, *, means: Mapping[str, float] | None = None
) -> list[Contribution]:
    """Returns the contributions to the static value of a position, the largest first.

    - A linear evaluator: weight times term for each term; they add up to the value.
    - A learned heuristic: the weight of each input that is 1, the offset, and the change by
      rounding or by a base heuristic; they add up to the value.
    - A network: each term among its inputs is set to its mean (from `means` by name; default 0),
      and the inputs of a piece, or of a side's checkers on a point, are set to 0.
    - Other evaluators: each piece is taken away, as in `Game.removals`; in backgammon the checkers
      of a point are borne off.

    Raises TypeError if the evaluator is neither linear nor a network and its game takes no pieces
    away, and ArithmeticError if a linear evaluator's contributions do not add up to its value.
    """
    if isinstance(evaluator, LinearEvaluator):
        found = _weighed(evaluator, position)
    elif isinstance(evaluator, LearnedHeuristic):
        found = _summed(evaluator, position)
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


def _summed(evaluator: LearnedHeuristic, position: Any) -> list[Contribution]:
    game, encoding = evaluator.game, evaluator.encoding
    found = []
    for place in encoding.active_rows([position])[0].tolist():
        if place < encoding.size:
            name, count = game.input_text(encoding.name, place, position)
            weight = float(evaluator.weights[place])
            found.append(Contribution(name, count, weight, weight + 0.0))
    if evaluator.offset:
        found.append(Contribution("offset", 1.0, evaluator.offset, evaluator.offset))
    total, value = math.fsum(one.value for one in found), evaluator(position)
    # Rounding only ever lowers a sum; what raises it is a base heuristic, or 0 for one below 0.
    above = [name for name in evaluator.base if as_evaluator(game, name)(position) == value]
    change = value - total
    if change:
        raised = f"at least {above[0]}" if above else "at least 0"
        name = raised if change > 0 else "rounded down"
        found.append(Contribution(name, 1.0, change, change))
    return found


def hidden(parts: tuple[float, list[tuple[str, float, float]]]) -> list[Contribution]:
    """Contributions from a value and, for each thing, (name, term, value without the thing)."""
    value, things = parts
    return [
        Contribution(name, term, None, float(np.float64(value) - without) + 0.0)
        for name, term, without in things
    ]


def contribution_table(
    titles: list[str], parts: list[list[Contribution]], most: int = 0
) -> list[str]:
    """Contributions as lines of text, one column for each evaluator.

    At most `most` are shown (0: all), and none of value 0. The last line sums up the others.
    """
    by_name: dict[str, list[Contribution | None]] = {}
    for number, found in enumerate(parts):
        for one in found:
            by_name.setdefault(one.name, [None] * len(parts))[number] = one
    size = {
        name: max(abs(one.value) for one in row if one is not None) for name, row in by_name.items()
    }
    # ordered by relative size, because the evaluators may have different units
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
        """Returns a row of sums, empty for contributions by occlusion, which do not add up."""
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
    """Returns a principal variation as text, of at most 12 plies."""
    texts = []
    for move in moves[:LONGEST_LINE]:
        texts.append(game.move_text(position, move))
        position = game.play(position, move)
    return " ".join(texts) + (" …" if len(moves) > LONGEST_LINE else "")
