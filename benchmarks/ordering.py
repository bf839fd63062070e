"""Measures how many leaves alpha-beta looks at, by the order of moves and the depth.

    python -m benchmarks.ordering [--most PLIES] [--positions N] [--picture FILE]

Positions of checkers are searched by the textbook's alpha-beta, to each depth: with
moves in the game's order, in a random one, by the static values of `classic` after them, and by
their backed-up values, which is perfect. Prints the mean number of leaves, beside minimax's, and
writes a picture. In a uniform tree of b moves perfect ordering looks at b^ceil(d/2) + b^floor(d/2)
- 1 leaves, and random ordering at about b^(3d/4) (Knuth and Moore 1975, Pearl 1982).
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable
from typing import Any

import games
from search import Evaluator, as_evaluator
from search.evaluators.samples import sample_positions

ORDERS = ("game", "random", "evaluation", "perfect")


class Counted:
    """Alpha-beta that counts leaves, with values of minimax kept for perfect ordering."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.game = evaluator.game
        self.static: dict[Any, float] = {}
        self.values: dict[tuple[Any, int], float] = {}
        self.evaluator = evaluator
        self.random = random.Random(0)

    def value(self, position: Any) -> float:
        """Returns the static value of a position, or its outcome."""
        if position not in self.static:
            outcome = self.game.outcome(position)
            self.static[position] = self.evaluator(position) if outcome is None else 1e6 * outcome
        return self.static[position]

    def backed_up(self, position: Any, depth: int) -> float:
        """Returns minimax's value."""
        key = position, depth
        if key not in self.values:
            moves = self.game.legal_moves(position) if depth else []
            after = (self.game.play(position, move) for move in moves)
            value = max((-self.backed_up(one, depth - 1) for one in after), default=None)
            self.values[key] = self.value(position) if value is None else value
        return self.values[key]

    def leaves(self, position: Any, depth: int, order: str) -> int:
        """Returns the number of leaves that alpha-beta looks at."""
        keys: dict[str, Callable[[Any, int], float]] = {
            "game": lambda after, rest: 0.0,
            "random": lambda after, rest: self.random.random(),
            "evaluation": lambda after, rest: self.value(after),
            "perfect": self.backed_up,
        }
        key = keys[order]
        count = 0

        def visit(position: Any, rest: int, alpha: float, beta: float) -> float:
            nonlocal count
            moves = self.game.legal_moves(position) if rest else []
            if not moves:
                count += 1
                return self.value(position)
            after = [self.game.play(position, move) for move in moves]
            best = -math.inf
            for one in sorted(after, key=lambda one: key(one, rest - 1)):
                best = max(best, -visit(one, rest - 1, -beta, -max(alpha, best)))
                if best >= beta:
                    break
            return best

        visit(position, depth, -math.inf, math.inf)
        return count

    def all_leaves(self, position: Any, depth: int) -> int:
        """Returns the number of leaves that minimax looks at."""
        moves = self.game.legal_moves(position) if depth else []
        after = (self.game.play(position, move) for move in moves)
        return sum(self.all_leaves(one, depth - 1) for one in after) if moves else 1


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordering", description=__doc__)
    parser.add_argument("--most", type=int, default=8, metavar="PLIES", help="default 8")
    parser.add_argument("--positions", type=int, default=5, metavar="N", help="default 5")
    parser.add_argument("--picture", metavar="FILE", help="write the curves as PNG or SVG")
    options = parser.parse_args(arguments)
    game = games.load("checkers")
    counted = Counted(as_evaluator(game, "classic"))
    positions = [
        position
        for position in sample_positions(game)
        if len(game.legal_moves(position)) > 4 and position != game.start()
    ][: options.positions]
    print("depth    minimax" + "".join(f"{order:>12}" for order in ORDERS))
    table = []
    for depth in range(2, options.most + 1):
        rows = [
            sum(counted.leaves(position, depth, order) for position in positions) / len(positions)
            for order in ORDERS
        ]
        full = sum(counted.all_leaves(position, depth) for position in positions) / len(positions)
        table.append((depth, full, *rows))
        print(f"{depth:5} {full:10.0f}" + "".join(f"{row:12.0f}" for row in rows), flush=True)
    if options.picture:
        draw(table, options.picture)
    return 0


def draw(table: list[Any], path: str) -> None:
    """Write the curves of leaves by depth."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    columns = list(zip(*table, strict=True))
    for name, column in zip(("minimax", *ORDERS), columns[1:], strict=True):
        axes.semilogy(columns[0], column, marker="o", label=name)
    axes.set(xlabel="depth, plies", ylabel="leaves looked at")
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    sys.exit(main())
