"""Judges printed chances by fresh games: `python -m benchmarks.calibration EVALUATOR`.

The evaluator plays itself with the techniques of play, --games games with each of --nodes positions
searched for a move, from openings by another seed than that of the fit
(`learner.regression.played.uneven_openings`: even, uneven and about a man down). For each number of
nodes a line names the greatest difference between the chances in the evaluator's file and the
results, in ten bins of the expected result with equal numbers of positions.
`--store FOLDER` keeps the games; the same command continues.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from tqdm import tqdm

import games
from learner.regression.calibration import shares
from learner.regression.played import games_at
from programs.ending import exit_status
from search import as_evaluator
from search.alphabeta.techniques import as_techniques

PROGRAM = "python -m benchmarks.calibration"


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    add = parser.add_argument
    add("evaluator", nargs="?", default="quantised", help="a name or a file (default quantised)")
    add("--game", default="checkers", help="default checkers")
    add("--nodes", type=int, nargs="+", default=[2_000, 20_000, 200_000], metavar="N")
    add("--games", type=int, nargs="+", default=[5_000, 2_000, 1_500], metavar="N")
    add("--seed", type=int, default=6, help="of the openings (default 6)")
    add("--store", type=Path, default=Path("runs/calibration"), metavar="FOLDER")
    options = parser.parse_args(arguments)
    return exit_status(PROGRAM, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if len(options.games) != len(options.nodes):
        raise ValueError(f"--games: expected {len(options.nodes)}, found {len(options.games)}")
    game = games.load(options.game)
    evaluator = as_evaluator(game, options.evaluator)
    if evaluator.calibration is None:
        raise ValueError(f"{options.evaluator}: expected an evaluator with chances, found none")
    techniques = as_techniques("selective", game)
    with tqdm(total=sum(options.games), unit=" games", dynamic_ncols=True) as bar:
        sample = games_at(
            game, evaluator, techniques, nodes=options.nodes, games=options.games,
            seeds=[options.seed], folder=options.store, progress=bar.update,
        )  # fmt: skip
    win, loss = shares(evaluator.calibration, sample)
    assert sample.nodes is not None
    for level in options.nodes:
        here = sample.nodes == level
        expected, found = (1 + win - loss)[here] / 2, (sample.results[here] + 1) / 2
        tenths = np.array_split(np.argsort(expected, kind="stable"), 10)
        most = max(abs((found - expected)[tenth].mean()) for tenth in tenths)
        print(
            f"{level:,} nodes: in ten bins of {len(expected) // 10:,} positions each the greatest"
            f" difference is {most:.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
