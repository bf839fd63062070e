"""The bench: fixed searches whose nodes and values every worker has to find.

Equal sources do not make equal results where a processor or a library rounds otherwise. As the
workers of Stockfish's fishtest do, each machine first shows that it searches as this one does.
"""

from __future__ import annotations

import functools

import games
from search import Engine, as_evaluator

__all__ = ["bench"]

#: Game, evaluator and depth: weights over terms, two networks, a table, dice.
SEARCHES = (
    ("checkers", "classic", 6),
    ("checkers", "quantised", 6),
    ("connect_four", "solved", 5),
    ("backgammon", "wide", 0),
    ("backgammon", "hand", 1),
)


@functools.cache
def bench() -> dict[str, str]:
    """Returns the number of nodes and the value of each search, to the last bit, by its name."""
    results = {}
    for name, evaluator, depth in SEARCHES:
        game = games.load(name)
        engine = Engine(game, as_evaluator(game, evaluator), table_mib=1.0)
        result = engine.search(game.start(), depth=depth)
        results[f"{name} {evaluator} {depth}"] = f"{result.nodes} {float(result.value).hex()}"
    return results
