"""Measures pruning and filters with dice: `python -m benchmarks.star [EVALUATOR] [--depth N]`.

Searches the same decisions in each way, and prints for a decision: the number of calls of the
evaluator (without repeated positions and without the evaluator that orders moves), milliseconds of
processor time, the share of moves that are best, and the loss of the others in thousandths of a
point. Positions are from games that the evaluator plays against itself by static values, with one
move in five random. Only filters can lose anything.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from typing import Any

import games
from games.backgammon.rules import checkers, points_held, points_made
from games.kernels import kernel, popcount
from search import Engine, Evaluator, KernelEvaluator, MoveFilters, as_evaluator
from search.evaluators.evaluator import MOST_KEPT, Prefilter


@kernel
def side_value(near, far):
    """Pips, blots and points of a side, in points a game."""
    value = 0.0
    for point in range(1, 26):
        value -= 0.012 * point * checkers(near, far, point)
    made = points_made(near, far)
    blots = points_held(near, far) & ~made & ~1
    value += 0.08 * popcount(made & 0b1111110) + 0.04 * popcount(made & 0b111110000000)
    return value - 0.05 * popcount(blots) - 0.2 * checkers(near, far, 25)


@kernel
def simple_value(position):
    """One side's pips, blots and points against the other's, between -3 and 3."""
    near, far, their_near, their_far, _ = position
    value = side_value(near, far) - side_value(their_near, their_far) + 0.1
    return min(max(value, -2.99), 2.99)


class Simple(KernelEvaluator):
    """A stand-in for a trained evaluator: cheap, and with bounds."""

    bounds = (-3.0, 3.0)


def decisions(game: Any, evaluator: Any, count: int, seed: int) -> list[tuple[Any, int]]:
    """Returns positions with rolls, each with several moves, and at least eight plies apart."""
    engine = Engine(game, evaluator, table_mib=1)
    generator = random.Random(seed)
    found: list[tuple[Any, int]] = []
    position, wait = game.start(), generator.randrange(8)
    while len(found) < count:
        roll = generator.choices(range(len(game.rolls)), game.rolls)[0]
        moves = game.legal_moves(position, roll)
        if wait == 0 and len(moves) > 1:
            found.append((position, roll))
            wait = 8 + generator.randrange(8)
        wait = max(wait - 1, 0)
        by_chance = generator.random() < 0.2
        best = engine.search(position, roll=roll, depth=0).move
        position = game.play(position, generator.choice(moves) if by_chance else best)
        if game.outcome(position) is not None:
            position = game.start()
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.star", description=__doc__)
    parser.add_argument("evaluator", nargs="?", help="a name or a file; a simple one if left out")
    parser.add_argument(
        "--order", default="simple", help="what orders moves: 'simple', a name, a file or 'none'"
    )
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    game = games.load("backgammon")
    simple = Simple(game, simple_value, name="simple")
    evaluator = simple if options.evaluator is None else as_evaluator(game, options.evaluator)
    cheap = None
    if options.order != "none":
        cheap = simple if options.order == "simple" else as_evaluator(game, options.order)

    def ordered_by(keep: int = MOST_KEPT) -> Evaluator:
        found = copy.copy(evaluator)
        found.prefilter = None if cheap is None else Prefilter(cheap, keep)
        return found

    ordered = ordered_by()  # excludes nothing
    chosen = decisions(game, evaluator, options.positions, options.seed)

    ways = {
        "plain": Engine(game, evaluator, prune="none"),
        "star1": Engine(game, evaluator, prune="star1"),
        "star2": Engine(game, evaluator, prune="star2"),
    }
    if cheap is not None:
        ways["star1, ordered"] = Engine(game, ordered, prune="star1")
        ways["star2, ordered"] = Engine(game, ordered, prune="star2")
    for name in ("huge", "large", "normal", "tiny"):
        ways[f"star2, {name}"] = Engine(game, ordered, prune="star2", filters=name)
    for keep in (8, 4):
        at_root = MoveFilters(((keep, 1e9),))
        ways[f"star2, {keep} moves"] = Engine(game, ordered, prune="star2", filters=at_root)
        if cheap is not None:
            ways[f"star2, best{keep}"] = Engine(game, ordered_by(keep), prune="star2")

    exact = Engine(game, ordered, prune="star2")
    worth = [
        dict(exact.analyse(position, roll=roll, depth=options.depth).moves)
        for position, roll in chosen
    ]
    figures: dict[str, Any] = {}
    print(f"{len(chosen)} decisions of {evaluator.name} at depth {options.depth}")
    print(f"{'':20}{'leaves':>9}{'ms':>9}{'saved':>8}{'same':>7}{'lost/1000':>11}")
    for name, engine in ways.items():
        engine.search(*_first(chosen), depth=options.depth)
        leaves, lost, same, seconds = 0, 0.0, 0, 0.0
        for (position, roll), values in zip(chosen, worth, strict=True):
            engine.clear()  # each decision on its own
            began = time.process_time()
            result = engine.search(position, roll=roll, depth=options.depth)
            seconds += time.process_time() - began
            best = max(values.values())
            leaves += result.evaluations
            lost += best - values[result.move]
            same += values[result.move] == best
        row = {
            "leaves": leaves / len(chosen),
            "milliseconds": 1000 * seconds / len(chosen),
            "same": same / len(chosen),
            "lost": lost / len(chosen),
        }
        figures[name] = row
        saved = 1 - row["leaves"] / figures["plain"]["leaves"]
        print(
            f"{name:20}{row['leaves']:9.0f}{row['milliseconds']:9.3f}{saved:8.1%}"
            f"{row['same']:7.1%}{1000 * row['lost']:11.3f}"
        )
    if options.json:
        print(json.dumps(figures))
    return 0


def _first(chosen: list[tuple[Any, int]]) -> tuple[Any]:
    return (chosen[0][0],)


if __name__ == "__main__":
    sys.exit(main())
