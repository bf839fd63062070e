"""Measures how learners use the cores: `python -m benchmarks.self_play [LEARNER ...]`.

Each learner of a game that lets workers play learns with its usual settings, with one job and
with several, in turns: threads of this process, or with `--cluster` one-thread workers of a Dask
cluster of this machine, whose scheduler is a process more. The table has games a second,
learning included, after the first report (which compiles), and the gain of the jobs; of a cluster
also what this process, the coordinator, uses outside the fits, in per cent of the workers'
processor time. The cores must be idle, and matrices be
multiplied by one thread (OPENBLAS_NUM_THREADS=1), as `train` does.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped, unused-ignore]

import games
from benchmarks.cluster import LocalCluster
from learner.run.learners import make_learner
from learner.run.recipes import RECIPES
from learner.run.request import parser as train_parser
from learner.run.request import settings_of
from play.workers import Workers


class Enough(Exception):
    """The time of a measurement is over."""


def learners(game: str) -> list[str]:
    """Returns the learners of a game whose games workers play."""
    known = games.load(game)
    kinds = {name: recipe.load() for name, recipe in RECIPES.items()}
    return [
        name
        for name, learner in kinds.items()
        if "workers" in learner().get_params(deep=False)
        and all(kind.holds(known) for kind in learner.kinds)
        and (name != "solved" or game == "connect_four")
    ]


def rate(
    words: list[str], workers: Workers, seconds: float, processes: Iterable[int] = ()
) -> tuple[float, float]:
    """Returns the games a second of a learner after its first report, and what else they cost.

    words: what `train` would be told.
    processes: those of the workers of a cluster.

    The cost is the processor time of this process outside the fits, as a share of the workers'.
    """
    settings = settings_of(train_parser("x").parse_args(words))
    learner = make_learner(games.load(settings.game), settings, workers)
    found: list[tuple[float, int, float, float]] = []
    fits, end_round = [0.0], getattr(learner, "_end_round", lambda number: None)

    def fitted(number: int) -> None:
        began = time.process_time()
        end_round(number)
        fits[0] += time.process_time() - began

    def watch(progress: Any) -> None:
        now = time.perf_counter()
        if found and now - found[0][0] <= seconds:
            return
        spent = sum(sum(psutil.Process(number).cpu_times()[:2]) for number in processes)
        found.append((now, progress.game, time.process_time() - fits[0], spent))
        if len(found) > 1:
            raise Enough

    learner._end_round = fitted  # that of learners without rounds is never called
    try:
        learner.fit(None if settings.start in (None, "zero") else settings.start, watch=watch)
    except Enough:
        pass
    took, played, own, theirs = np.subtract(found[-1], found[0]).tolist()
    return played / took, own / theirs if theirs else math.nan


@contextmanager
def placed(jobs: int, cluster: bool) -> Iterator[tuple[Workers, list[int]]]:
    """Yields workers, threads or processes of a cluster of their own, and these processes."""
    if not cluster:
        with Workers(jobs=jobs) as workers:
            yield workers, []
        return
    there = LocalCluster()
    try:
        for _ in range(jobs):
            there.add()
        with Workers("dask", None, there.address, patience=60.0) as workers:
            while workers.jobs < jobs:
                time.sleep(0.2)
                workers.cluster.look(now=True)  # type: ignore[union-attr]
            yield workers, [process.pid for process in there.workers]
    finally:
        there.close()


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.self_play", description=__doc__)
    add = parser.add_argument
    add("learner", nargs="*", help="names of learners (default: all whose games workers play)")
    add("--game", default="checkers")
    add("--seconds", type=float, default=20.0, help="duration of a measurement")
    add("--rounds", type=int, default=3)
    add("--jobs", type=int, default=2)
    add("--cluster", action="store_true", help="workers of a Dask cluster of this machine")
    add("--set", action="append", default=[], metavar="OPTION=VALUE", help="as `train --set`")
    options = parser.parse_args(arguments)
    print(f"{options.game}, games a second, medians of {options.rounds}")
    for name in options.learner or learners(options.game):
        found: dict[int, list[float]] = {1: [], options.jobs: []}
        costs = list[float]()
        words = [options.game, "--learner", name, *(f"--set={some}" for some in options.set)]
        for _ in range(options.rounds):
            for jobs, rates in found.items():
                with placed(jobs, options.cluster) as (workers, processes):
                    games_a_second, cost = rate(words, workers, options.seconds, processes)
                rates.append(games_a_second)
            costs.append(cost)
        one, more = (statistics.median(rates) for rates in found.values())
        row = f"| `{name}` | {one:.1f} | {more:.1f} | {more / one:.2f} |"
        if options.cluster:
            row += f" {100 * statistics.median(costs):.2f} % |"
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
