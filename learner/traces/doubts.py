"""Doubts about traces: causes of fits that look better than their matches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from learner.traces.fitted import FittedTerm
from learner.traces.traces import Traces

__all__ = ["doubts", "great_entries"]

#: A term is doubted that follows the result so closely, correlated from -1 to 1.
LEAK = 0.95
#: Fewest games for each number that is learned.
GAMES = 10
#: If neighbouring rows correlate below this, the rows change sides.
SIDES = -0.3
#: Shares of rows, or games, from which on a pattern is no chance.
MOST = 0.5, 0.95
#: Terms whose names differ in a number after the last dot are a table from this many on.
ENTRIES = 4


def doubts(traces: Traces, learned: int) -> tuple[str, ...]:
    """Returns a sentence for each doubt.

    learned: number of weights that are learned.
    """
    told: list[str] = []
    games = int(traces.game.max()) + 1
    if games < GAMES * learned:
        told.append(f"{games:,} games for {learned:,} weights: expected {GAMES} games for each")
    if not traces.by_game:
        told.append(
            "no column game: rows count as independent, so that all intervals are too narrow"
        )
    result = traces.result
    if result is None:
        return tuple(told)
    size = np.sqrt(traces.matrix.squares(traces.weight))
    size[size == 0] = 1.0
    won = result - np.average(result, weights=traces.weight)
    follows = traces.matrix.slope(traces.weight * won)
    follows /= size * max(np.sqrt(traces.weight @ np.square(won)), 1e-300)
    for name, share in zip(traces.names, follows, strict=True):
        if abs(share) > LEAK:
            told.append(f"{name}: follows the result (correlation {share:.2f}), as if it knew it")
    if not traces.by_game:
        return tuple(told)
    mixed = traces.matrix.times(np.random.default_rng(1).normal(size=len(size)) / size)
    _, same = np.unique(np.column_stack([mixed, result]), axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack([same.ravel(), traces.game]), axis=0)
    again = float(np.mean(np.bincount(pairs[:, 0])[same] > 1))
    if again > MOST[0]:
        told.append(
            f"{100 * again:.0f} % of the rows stand in several games: each counts as its own"
        )
    low, high = np.full(games, np.inf), np.full(games, -np.inf)
    np.minimum.at(low, traces.game, result)
    np.maximum.at(high, traces.game, result)
    one = float(np.mean(low == high))
    inside = traces.game[1:] == traces.game[:-1]
    before, after = mixed[:-1][inside], mixed[1:][inside]
    turns = before @ after / max(float(before @ before), 1e-300)
    if one > MOST[1] and turns < SIDES and np.ptp(result) > 0:
        told.append(
            "result: the same in all rows of a game, although the terms change sides from row to"
            " row; expected the result of the side that the terms are counted for"
        )
    return tuple(told)


def great_entries(terms: Sequence[FittedTerm], name: str, number: float) -> tuple[str, ...]:
    """Returns a doubt about the entries of tables that are worth more than a whole piece.

    name, number: the piece and its weight, the unit of all weights.
    """
    table = {term.name: re.sub(r"\.\d+$", "", term.name) for term in terms}
    sizes = Counter(table.values())
    great = [
        f"{term.name} ({term.weight:.4g})"
        for term in terms
        if sizes[table[term.name]] >= ENTRIES and abs(term.weight) > abs(number) >= abs(term.start)
    ]
    more = f" and {len(great) - 5} more" if len(great) > 5 else ""
    return (f"worth more than {name} ({number:g}): {', '.join(great[:5])}{more}",) if great else ()
