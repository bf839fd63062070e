"""Compares the trees of search techniques: `python -m benchmarks.trees BASE OTHER ... [options]`.

BASE and OTHER are texts such as `selective` and `selective,-singular`. Positions are taken from
games of BASE after random openings, and each search begins with an empty table. For every OTHER the
program prints, against BASE:

nodes: the geometric mean of the ratios of nodes to --depth, with a 95 % interval, and the ratio
    of all nodes, in which large trees count most;
time: the ratio of processor time to --depth, measured in turns;
and with --deep, from searches of --nodes positions each, by the values of all moves that a search
of BASE finds in --deep positions:
error: how much closer values are to the best of those (less than 0 is closer), in thousandths;
loss: how much more the chosen moves lose by those, in thousandths.

Such figures need seconds where matches need hours, but they only screen: a value may be nearer to
BASE's for its own errors.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import games
from games.contract import Game
from play.players.opponents import usual_evaluator
from play.ratings.statistics import mean_interval
from programs.ending import exit_status
from search import Engine, Result

PROGRAM = "python -m benchmarks.trees"
CLIP = 3.0  # in the unit of values; beyond it a game is decided
MOST_ERROR = 0.5


def positions_of_games(game: Game, engine: Engine, count: int, seed: int) -> list[Any]:
    """Returns distinct positions with a choice of moves, at most eight of a game."""
    random = np.random.default_rng(seed)
    positions: dict[Any, None] = {}
    while len(positions) < count:
        position = game.start()
        for _ in range(int(random.integers(4, 9))):
            moves = game.legal_moves(position)
            if moves:
                position = game.play(position, moves[int(random.integers(len(moves)))])
        line = []
        for _ in range(90):
            moves = game.legal_moves(position)
            if not moves:
                break
            result = engine.search(position, nodes=1500)
            if len(moves) > 1 and abs(engine.evaluator.in_units(result.value)) < 1.2:
                line.append(position)
            position = game.play(position, result.move)
        for i in random.permutation(len(line))[:8]:
            positions.setdefault(line[i])
    return list(positions)[:count]


def clipped(engine: Engine, value: float) -> float:
    """Returns a value in the game's unit, at most `CLIP`."""
    return float(np.clip(engine.evaluator.in_units(value), -CLIP, CLIP))


def ratio(logarithms: NDArray[np.float64]) -> str:
    """Returns the geometric mean of ratios and its 95 % interval."""
    mean, half = interval(logarithms)
    low, high = math.exp(mean - half), math.exp(mean + half)
    return f"{math.exp(mean):.3f} [{low:.3f}, {high:.3f}]"


def interval(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Returns the mean and half the width of its 95 % interval."""
    found = mean_interval(numbers)
    return found.value, found.margin


def fresh(engine: Engine, position: Any, **limits: Any) -> Result:
    """Returns the result of a search that begins with an empty memory."""
    engine.clear()
    return engine.search(position, **limits)


def to_depth(engines: list[Engine], positions: list[Any], depth: int) -> list[str]:
    """Returns the nodes and the time of each engine against the first."""
    nodes = np.zeros((len(engines), len(positions)))
    seconds = np.zeros_like(nodes)
    for i, position in enumerate(positions):
        for j, engine in enumerate(engines):
            began = time.thread_time()
            nodes[j, i] = fresh(engine, position, depth=depth).nodes
            seconds[j, i] = time.thread_time() - began
    return [
        f"nodes {ratio(np.log(nodes[j] / nodes[0]))} in all {nodes[j].sum() / nodes[0].sum():.3f}"
        f" time {seconds[j].sum() / seconds[0].sum():.3f}"
        for j in range(len(engines))
    ]


def by_deep_values(
    engines: list[Engine], positions: list[Any], deep: int, nodes: list[int]
) -> list[str]:
    """Returns the error and the loss of each engine against the first."""
    errors = np.zeros((len(engines), len(nodes) * len(positions)))
    losses = np.zeros_like(errors)
    base = engines[0]
    column = 0
    for position in positions:
        base.clear()
        analysis = base.analyse(position, nodes=deep, depth=40)
        values = {move: clipped(base, value) for move, value in analysis.moves}
        top = max(values.values())
        for most in nodes:
            for j, engine in enumerate(engines):
                result = fresh(engine, position, nodes=most)
                value = clipped(engine, result.history[-1].value)
                errors[j, column] = min(abs(value - top), MOST_ERROR)
                losses[j, column] = top - values[result.move]
            column += 1
    texts = []
    for j in range(len(engines)):
        error, loss = (interval(1000 * (each[j] - each[0])) for each in (errors, losses))
        texts.append(f"error {error[0]:+.1f} ± {error[1]:.1f} loss {loss[0]:+.1f} ± {loss[1]:.1f}")
    return texts


def main(arguments: list[str] | None = None) -> int:
    """Compare techniques, and print a row for each; returns the exit status."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    add = parser.add_argument
    add("techniques", nargs="+", metavar="TECHNIQUES", help="the first is the base")
    add("--game", default="checkers")
    add("--evaluator", help="(the strongest shipped one)")
    add("--depth", type=int, default=15, help="plies (15)")
    add("--positions", type=int, default=400, help="number of positions (400)")
    add("--nodes", type=int, nargs="+", default=[9000, 15000, 25000, 40000], help="of a search")
    add("--deep", type=int, help="positions of the search that knows better, such as 1000000")
    add("--seed", type=int, default=7, help="decides the positions (7)")
    options = parser.parse_args(arguments)
    return exit_status(PROGRAM, lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Compare the techniques that the options name."""
    game = games.load(options.game)
    evaluator = options.evaluator or usual_evaluator(game)
    engines = [Engine(game, evaluator, techniques=text) for text in options.techniques]
    positions = positions_of_games(game, engines[0], options.positions, options.seed)
    rows = to_depth(engines, positions, options.depth)
    if options.deep is not None:
        known = by_deep_values(engines, positions, options.deep, options.nodes)
        rows = [f"{row} {text}" for row, text in zip(rows, known, strict=True)]
    for text, row in zip(options.techniques, rows, strict=True):
        print(f"{text}: {row}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
