"""Judges printed chances by fresh games: `python -m benchmarks.calibration EVALUATOR`.

The evaluator plays itself with the techniques of play, --games games with each of --nodes positions
searched for a move, from openings by another seed than that of the fit
(`learner.regression.played.uneven_openings`: even, uneven and about a man down). For each number of
nodes the chances in the evaluator's file are compared with the results in ten bins of the expected
result; the last lines name the greatest difference of the bins with at least --least positions, and
that of ten bins with as many positions each.
`--store FOLDER` keeps the games; started again, it goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import games
from learner.regression.calibration import CalibrationSample, shares
from learner.regression.played import games_at
from learner.regression.validation import calibration
from programs.ending import exit_status
from search import as_evaluator
from search.alphabeta.techniques import as_techniques

PROGRAM = "python -m benchmarks.calibration"
#: Limits of the groups by pieces, each with the first number of the next.
BORDERS = (2, 5, 7, 9, 13, 17, 1000)


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
    add("--least", type=int, default=2_000, metavar="N", help="positions of a bin that counts")
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
    for line in reliability_lines(sample, win, loss):
        print(line)
    assert sample.nodes is not None
    for level in options.nodes:
        here = sample.nodes == level
        expected, found = (1 + win - loss)[here] / 2, (sample.results[here] + 1) / 2
        table = calibration(expected, found, bins=10, groups=sample.games[here])
        enough = [part for part in table if part.count >= options.least]
        most = max((abs(part.found - part.predicted) for part in enough), default=np.nan)
        print(
            f"{level:,} nodes: {len(enough)} of 10 bins have {options.least:,} positions and more;"
            f" the greatest difference in them is {most:.3f}"
        )
        tenths = np.array_split(np.argsort(expected, kind="stable"), 10)
        most = max(abs((found - expected)[tenth].mean()) for tenth in tenths)
        print(
            f"{level:,} nodes: in ten bins of {len(expected) // 10:,} positions each the greatest"
            f" difference is {most:.3f}"
        )
    return 0


def reliability_lines(sample: CalibrationSample, win: Any, loss: Any) -> Iterator[str]:
    """Yields a table of what is said and found for each number of nodes, and one by pieces.

    sample: the positions, with their results.
    win, loss: the chances that were said, [positions] each.

    A table has ten bins of the expected result, and the draws in them. Intervals are for
    independent games.
    """
    expected, drawn = (1.0 + win - loss) / 2.0, 1.0 - win - loss
    found, draws = (sample.results + 1.0) / 2.0, sample.results == 0
    nodes = np.zeros(len(sample), int) if sample.nodes is None else sample.nodes
    for level in np.unique(nodes):
        here = nodes == level
        games = len(np.unique(sample.games[here]))
        title = f"{level:,} nodes a move, {games:,} games: " if level else ""
        yield f"{title}expected result, said and found"
        yield "    said   found  95 % interval   draws said  found  positions  games"
        places = np.minimum((expected * 10).astype(int), 9)
        for part in calibration(expected[here], found[here], bins=10, groups=sample.games[here]):
            bin_ = here & (places == round(part.low * 10))
            yield (
                f"  {100 * part.predicted:4.1f} %  {100 * part.found:4.1f} %"
                f"  [{100 * part.found_low:5.1f}, {100 * part.found_high:5.1f}]"
                f"  {100 * drawn[bin_].mean():8.1f} %  {100 * draws[bin_].mean():4.1f} %"
                f"  {part.count:9,.0f} {len(np.unique(sample.games[bin_])):6,}"
            )
    if sample.pieces is None or sample.pieces.max() == 1:
        return
    yield "by pieces left"
    yield "  pieces     nodes  the side ahead: said  found   draws said  found  positions"
    for low, beyond in zip(BORDERS, BORDERS[1:], strict=False):
        for level in np.unique(nodes):
            here = (sample.pieces >= low) & (sample.pieces < beyond) & (nodes == level)
            if not here.any():
                continue
            ahead = np.where(expected[here] > 0.5, 1.0, -1.0)
            said, came = (0.5 + (ahead * (one[here] - 0.5)).mean() for one in (expected, found))
            most = min(beyond - 1, int(sample.pieces.max()))
            yield (
                f"  {low:2} to {most:2} {level:9,}  {100 * said:20.1f} %  {100 * came:4.1f} %"
                f"  {100 * drawn[here].mean():8.1f} %  {100 * draws[here].mean():4.1f} %"
                f"  {int(here.sum()):9,}"
            )


if __name__ == "__main__":
    sys.exit(main())
