"""Measures the gain of rote memory: `python -m benchmarks.rote [--games N] [--depth D] [--json]`.

The positions after four plies are divided at random into two sets of openings. Memory is filled
from games of one set; then the evaluator with memory plays against itself without memory, at equal
depth, once from the openings that it learned from and once from the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import games
from learner.online.rote import Rote
from play.matches.driver import play_match
from play.matches.openings import Openings
from play.players.limits import Limits
from play.players.player import Player
from search import as_evaluator


class Half:
    """Half of the openings, in their order."""

    def __init__(self, openings: list[tuple[Any, ...]]) -> None:
        self.openings = openings

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.openings)


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rote", description=__doc__)
    parser.add_argument("--games", type=int, default=2000, help="games to learn from")
    parser.add_argument("--openings", type=int, default=250, help="openings of each set")
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--evaluator", default="rote")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    game = games.load("checkers")
    evaluator = as_evaluator(game, options.evaluator)
    drawn = list(islice(Openings(game, plies=4, seed=options.seed), 2 * options.openings))
    learner = Rote(
        game,
        games=options.games,
        depth=options.depth,
        seed=options.seed,
        openings=options.openings,
        opening_plies=4,
    )
    began = time.perf_counter()
    learner.fit(evaluator)
    depths = [depth for _, _, depth, _ in learner.memory_.records()]
    deeper = sum(depth > options.depth for depth in depths)
    figures: dict[str, Any] = {
        "games": options.games,
        "searches": learner.updates_,
        "positions": len(depths),
        "deeper": deeper,
        "deepest": max(depths),
        "seconds": round(time.perf_counter() - began, 1),
    }
    print(
        f"{options.games} games, {learner.updates_} searches, {len(depths)} positions remembered,"
        f" {deeper} of them deeper than one search, the deepest {max(depths)} plies;"
        f" {figures['seconds']} s"
    )
    halves = {"learned from": drawn[: options.openings], "held out": drawn[options.openings :]}
    for name, openings in halves.items():
        match = play_match(
            game,
            Player(f"{options.evaluator} with memory", evaluator, learner.memory_),
            Player(options.evaluator, evaluator),
            limits=Limits(depth=options.depth),
            games=2 * len(openings),
            openings=Half(openings),  # type: ignore[arg-type]
        )
        summary = match.summary()
        print(f"\nopenings {name}:\n{summary.text()}")
        figures[name] = {
            "score": summary.score.value,
            "elo": [summary.elo.value, summary.elo.low, summary.elo.high],
        }
    if options.json:
        print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
