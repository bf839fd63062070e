"""Measures how learners use the cores: `python -m benchmarks.self_play [LEARNER ...]`.

Each learner of a game that lets workers play learns with its usual settings, with one job and
with several, in turns: threads of this process, or with `--cluster` one-thread workers of a Dask
cluster of this machine, whose coordinator is a process more. The table has games a second,
learning included, after the first report (which compiles), and the gain of the jobs. The cores
must be idle.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import games
from learner.run.asked import settings_of
from learner.run.command_line import parser as train_parser
from learner.run.learners import make_learner
from learner.run.recipes import RECIPES
from play.workers import Workers


class Enough(Exception):
    """The time of a measurement is over."""


def learners(game: str) -> list[str]:
    """Returns the learners of a game whose games workers play."""
    known = games.load(game)
    kinds = {name: recipe.load() for name, recipe in RECIPES.items()}
    return [
        name
        for name, kind in kinds.items()
        if "workers" in kind().get_params(deep=False)
        and (not known.dice or kind.takes_dice)
        and (name != "solved" or game == "connect_four")
    ]


def rate(game: str, name: str, workers: Workers, seconds: float) -> float:
    """Returns the games a second of a learner, after its first report."""
    settings = settings_of(train_parser("x").parse_args([game, "--learner", name]))
    learner = make_learner(games.load(game), settings, workers)
    found: list[tuple[float, int]] = []

    def watch(progress: Any) -> None:
        now = time.perf_counter()
        found.append((now, progress.game))
        if now - found[0][0] > seconds:
            raise Enough

    try:
        learner.fit(None if settings.start in (None, "zero") else settings.start, watch=watch)
    except Enough:
        pass
    (began, first), (ended, last) = found[0], found[-1]
    return (last - first) / (ended - began)


@contextmanager
def placed(jobs: int, cluster: bool) -> Iterator[Workers]:
    """Yields workers: threads, or processes of a cluster of their own."""
    if not cluster:
        with Workers(jobs=jobs) as workers:
            yield workers
        return
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as there,
        Workers("dask", None, there.scheduler_address) as workers,
    ):
        yield workers


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.self_play", description=__doc__)
    add = parser.add_argument
    add("learner", nargs="*", help="names of learners (default: all whose games workers play)")
    add("--game", default="checkers")
    add("--seconds", type=float, default=20.0, help="of a measurement")
    add("--rounds", type=int, default=3)
    add("--jobs", type=int, default=2)
    add("--cluster", action="store_true", help="workers of a Dask cluster of this machine")
    options = parser.parse_args(arguments)
    print(f"{options.game}, games a second, medians of {options.rounds}")
    for name in options.learner or learners(options.game):
        found: dict[int, list[float]] = {1: [], options.jobs: []}
        for _ in range(options.rounds):
            for jobs, rates in found.items():
                with placed(jobs, options.cluster) as workers:
                    rates.append(rate(options.game, name, workers, options.seconds))
        one, more = (statistics.median(rates) for rates in found.values())
        print(f"| `{name}` | {one:.1f} | {more:.1f} | {more / one:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
