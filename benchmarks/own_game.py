"""Measures positions a second of a user's own game written as kernels, beside checkers.

    python -m benchmarks.own_game [--rounds N] [--nodes N] [--json]

Both games are searched in turn, from their start positions, with linear evaluators of the same
number of terms; rates are in million positions per second of processor time, the median of the
rounds. With --json the last line is a JSON object with the same figures.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

from games import load
from games.connect_four import ConnectFour
from search import Engine, LinearEvaluator

#: Terms of both games, in the order in which they are added.
CONNECT_FOUR = ("centre", "near_centre", "threats", "ready", "pairs", "threes")
CHECKERS = ("men", "kings", "back_row", "centre", "advance", "mobility")


def engine(game: Any, features: str, terms: tuple[str, ...]) -> Engine:
    """Returns a search whose evaluator has these terms."""
    weights = {term: 1.0 / (1 + place) for place, term in enumerate(terms)}
    return Engine(game, LinearEvaluator(game, game.features[features], weights))


def rate(searcher: Engine, nodes: int) -> float:
    """Returns positions per second of processor time in a search from the start."""
    searcher.clear()
    began = time.process_time()
    result = searcher.search(searcher.game.start(), nodes=nodes)
    return result.nodes / (time.process_time() - began)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="searches of each kind (7)")
    parser.add_argument("--nodes", type=int, default=3_000_000, help="positions a search (3000000)")
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    options = parser.parse_args()

    own, checkers = ConnectFour(), load("checkers")
    figures: dict[str, float] = {}
    for count in (1, len(CHECKERS)):
        searchers = {
            "connect_four": engine(own, "lines", CONNECT_FOUR[:count]),
            "checkers": engine(checkers, "classic", CHECKERS[:count]),
        }
        rates: dict[str, list[float]] = {name: [] for name in searchers}
        for searcher in searchers.values():
            rate(searcher, 10_000)  # compiles
        for _ in range(options.rounds):
            for name, searcher in searchers.items():
                rates[name].append(rate(searcher, options.nodes))
        for name, measured in rates.items():
            figures[f"{name}_{count}_terms"] = statistics.median(measured)
        figures[f"ratio_{count}_terms"] = statistics.median(
            mine / other
            for mine, other in zip(rates["connect_four"], rates["checkers"], strict=True)
        )
    figures["ratio"] = min(value for name, value in figures.items() if name.startswith("ratio_"))

    print(f"{'terms':>5}  {'Connect Four':>12}  {'checkers':>8}  {'ratio':>5}")
    for count in (1, len(CHECKERS)):
        print(
            f"{count:>5}  {figures[f'connect_four_{count}_terms'] / 1e6:>12.2f}"
            f"  {figures[f'checkers_{count}_terms'] / 1e6:>8.2f}"
            f"  {figures[f'ratio_{count}_terms']:>5.2f}"
        )
    print("million positions per second of processor time")
    if options.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
