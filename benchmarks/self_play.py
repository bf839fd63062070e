"""Measures how self-play uses the cores: `python -m benchmarks.self_play [--games N] [--jobs J]`.

One thread and several threads play games for a batch learner, in turns. Prints games and positions
a second, and the share of the cores' time that the process used (threads share the process, and the
kernels release Python's global lock).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from learner.rounds.batch import BatchFit
from play.workers import Workers


def measure(games: int, depth: int, jobs: int, seed: int) -> dict[str, Any]:
    """Play a round of a batch learner; nothing is fitted, because the round does not end."""
    with Workers(jobs=jobs) as workers:
        learner = BatchFit(
            "checkers", games=games + 1, round_games=games + 1, depth=depth, seed=seed,
            workers=workers,
        )  # fmt: skip
        began: list[float] = []

        class Enough(Exception):
            pass

        def watch(progress: Any) -> None:
            if not began:  # the first games load and compile
                began.extend((time.perf_counter(), time.process_time(), progress.game,
                              progress.updates))  # fmt: skip
            elif progress.game >= games - 32:
                began.extend((time.perf_counter(), time.process_time(), progress.game,
                              progress.updates))  # fmt: skip
                raise Enough

        try:
            learner.fit("classic", watch=watch)
        except Enough:
            pass
    wall, busy = began[4] - began[0], began[5] - began[1]
    return {
        "jobs": jobs,
        "games": int(began[6] - began[2]),
        "seconds": round(wall, 2),
        "games_per_second": round((began[6] - began[2]) / wall, 1),
        "positions_per_second": round((began[7] - began[3]) / wall),
        "cores_busy": round(busy / wall, 3),
        "share_busy": round(busy / wall / jobs, 3),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.self_play", description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    if options.games < 200:
        parser.error(f"--games: expected at least 200, found {options.games}")
    found = []
    for jobs in (1, options.jobs, 1, options.jobs):
        found.append(measure(options.games, options.depth, jobs, seed=0))
        print(
            f"{jobs} threads: {found[-1]['games_per_second']} games/s,"
            f" {found[-1]['positions_per_second']} positions/s,"
            f" {100 * found[-1]['share_busy']:.1f} % of {jobs} cores busy",
            flush=True,
        )
    if options.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
