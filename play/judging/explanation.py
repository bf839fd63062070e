"""Explanations of an evaluator's value of a position, as contributions that add up to it.

A linear evaluator's value is a sum, and its summands are shown. Other values are divided into the
fair shares of the things that the evaluator sees (`play.judging.shapley`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from games.board import Pieces
from games.extras import extra
from games.features import Cells
from games.features.cell_terms import Neighbours
from play.judging.shapley import Things, inputs_of, pieces_of, removes, shapley_values
from search.evaluators.evaluator import Evaluator
from search.evaluators.heuristic import ROUNDING, LearnedHeuristic
from search.evaluators.linear import LinearEvaluator
from search.evaluators.load import as_evaluator
from search.evaluators.network import ScaledNetwork
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.pattern_database import PatternDatabase
from search.evaluators.quantised import QuantisedNetwork

__all__ = ["BASE", "Contribution", "contribution_table", "explain"]

#: The name of the value with nothing in view, which the shares of things are added to.
BASE = "nothing in view"
SHARES = (
    "Without weights: the value that a thing adds, averaged over all orders of adding the things."
)


@dataclass(frozen=True)
class Contribution:
    """The contribution of one thing to the value of a position, for the side to move.

    name: the thing's name; an invented term's words.
    term: the term's value in the position; for pieces, their number.
    weight: weight of the term in a linear evaluator; None if `value` is a share.
    value: the contribution in the game's unit; weight times term in a linear evaluator.
    squares: the squares of the game's `Board` on which an invented term holds, for either side.
    """

    name: str
    term: float
    weight: float | None
    value: float
    squares: tuple[int, ...] = ()


def explain(evaluator: Evaluator, position: Any) -> list[Contribution]:
    """Returns the contributions to the static value of a position, the largest first.

    They add up to the value in the game's unit (`Evaluator.in_units`).

    - A linear evaluator: weight times term for each term.
    - A learned heuristic: the weight of each input that is 1, the offset, and the change by
      rounding or by a base heuristic.
    - A pattern database: the costs of the patterns in the sum that gives the value.
    - A network: the shares of each term among its inputs, of each piece, and of a side's checkers
      on a point; and `BASE`.
    - Other evaluators, quantised networks too: the shares of the pieces that `games.board.Pieces`
      removes (in backgammon the checkers of a point, which are borne off); and `BASE`.

    Raises TypeError if the evaluator is neither linear nor a network and its game cannot remove
    pieces, and ArithmeticError if a linear evaluator's contributions do not add up to its value.
    """
    if isinstance(evaluator, LinearEvaluator):
        parts = _weighed(evaluator, position)
    elif isinstance(evaluator, LearnedHeuristic):
        parts = _summed(evaluator, position)
    elif isinstance(evaluator, PatternDatabase):
        mirrored, costs = evaluator.largest_sum(position)
        whose = "mirror image of pieces" if mirrored else "pieces"
        parts = [
            Contribution(f"{whose} {', '.join(map(str, pieces))}", 1.0, 1.0, float(cost))
            for pieces, cost in costs
        ]
    elif isinstance(evaluator, QuantisedNetwork) and removes(evaluator.game):
        # the inputs of the remaining pieces depend on their number
        parts = shares(pieces_of(evaluator, position), evaluator.unit)
    elif isinstance(evaluator, ScaledNetwork | OutcomeNetwork):
        parts = shares(inputs_of(evaluator, position), evaluator.unit)
    else:
        parts = shares(pieces_of(evaluator, position), evaluator.unit)
    return sorted(parts, key=lambda one: -abs(one.value))


def _weighed(evaluator: LinearEvaluator, position: Any) -> list[Contribution]:
    terms = evaluator.features.measure([position])[0].tolist()
    weights = evaluator.term_weights().items()
    parts = [
        # + 0.0: a term of 0 under a negative weight adds 0, not -0
        Contribution(name, term, weight, weight * term + 0.0)
        for (name, weight), term in zip(weights, terms, strict=True)
    ]
    cells = extra(evaluator.game, Cells)
    if cells is not None and evaluator.features.cell_terms:
        around = Neighbours(cells, cells.words([position]))
        side = evaluator.game.to_move(position)
        for i, own in enumerate(evaluator.features.cell_terms.values()):
            squares = tuple(around.board_squares(own, side))
            parts[i] = replace(parts[i], name=own.text(cells), squares=squares)
    total, value = math.fsum(one.value for one in parts), evaluator(position)
    size = max([1.0, *(abs(one.value) for one in parts)])
    if not abs(total - value) <= 1e-9 * size * len(parts):
        raise ArithmeticError(
            f"{evaluator.name}: expected contributions that add up to the value {value!r}, found"
            f" {total!r}"
        )
    unit = evaluator.unit
    if unit == 1:
        return parts
    return [
        replace(one, weight=(one.weight or 0.0) / unit, value=one.value / unit) for one in parts
    ]


def _summed(evaluator: LearnedHeuristic, position: Any) -> list[Contribution]:
    """Returns the parts of the sum, and what makes it the value of the heuristic."""
    words = Pieces.of(evaluator.game).input_text
    encoding = evaluator.encoding
    parts = []
    for place in encoding.active_rows([position])[0].tolist():
        if place < encoding.size:
            name, count = words(encoding.name, place, position)
            weight = float(evaluator.weights[place])
            parts.append(Contribution(name, count, weight, weight + 0.0))

    def add(name: str, part: float) -> None:
        parts.append(Contribution(name, 1.0, part, part))

    if evaluator.offset:
        add("offset", evaluator.offset)
    total, value = math.fsum(one.value for one in parts), evaluator(position)
    change = value - total
    if change > 2 * ROUNDING:  # rounding hardly raises a sum; a base heuristic does, or 0
        above = [n for n in evaluator.base if as_evaluator(evaluator.game, n)(position) == value]
        add(f"at least {above[0]}" if above else "at least 0", change)
    elif change:
        add("rounded down" if change < 0 else "rounded", change)
    return parts


def shares(things: Things, unit: float) -> list[Contribution]:
    """Returns the share of each thing and the value with nothing in view, in a unit."""
    names, values = things
    base, added = shapley_values(len(names), values)
    parts = zip(names, added.tolist(), strict=True)
    return [
        *(Contribution(name, term, None, share / unit + 0.0) for (name, term), share in parts),
        Contribution(BASE, 0.0, None, base / unit + 0.0),
    ]


def contribution_table(
    titles: list[str], parts: list[list[Contribution]], most: int = 0
) -> list[str]:
    """Contributions as lines of text, one column for each evaluator.

    At most `most` are shown (0: all), and none of value 0. The last line sums up the others.
    """
    tables = [{one.name: one for one in found} for found in parts]
    # ordered by relative size, because the evaluators may have different units
    scale = [max((abs(one.value) for one in found), default=0.0) or 1.0 for found in parts]
    sizes = {
        name: max(
            abs(table[name].value) / unit
            for table, unit in zip(tables, scale, strict=True)
            if name in table
        )
        for name in dict.fromkeys(name for table in tables for name in table)
    }
    shown = sorted((name for name in sizes if sizes[name] > 0), key=lambda name: -sizes[name])
    if not shown:
        return ["Nothing: all contributions are 0."]
    rows = shown[:most] if most else shown
    rest = shown[len(rows) :]
    totals = [*([(f"{len(rest)} more", rest)] if rest else []), ("sum", shown)]
    terms = [next(table[name].term for table in tables if name in table) for name in rows]
    columns = [["", *rows, *(title for title, _ in totals)], ["term", *map("{:.6g}".format, terms)]]
    weighed = [any(one.weight is not None for one in found) for found in parts]
    for title, table, has_weights in zip(titles, tables, weighed, strict=True):
        here = [table.get(name) for name in rows]
        if has_weights:
            weights = [None if one is None else one.weight for one in here]
            columns.append(["weight", *("" if w is None else f"{w:.6g}" for w in weights)])
        sums = [sum(table[name].value for name in names if name in table) for _, names in totals]
        values = ["" if one is None else _number(one.value) for one in here]
        columns.append([title, *values, *map(_number, sums)])
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for name, *cells in zip_longest(*columns, fillvalue=""):
        told = [f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([f"{name:<{widths[0]}}", *told]).rstrip())
    if not all(weighed):
        lines += ["", SHARES]
    return lines


def _number(value: float) -> str:
    return f"{value:+.0f}" if abs(value) >= 1000 else f"{value:+.4f}"
