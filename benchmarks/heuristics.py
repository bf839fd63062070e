"""Judges heuristics that the computer learns, by A*: `python -m benchmarks.heuristics`.

For each seed a heuristic is learned, all of whose time counts, and positions that learning never
saw are solved with it: random ones, or Korf's instances 1 to 30 of the 15-puzzle. The table shows
mean expansions, and mean cost as a multiple of the mean least cost, which A* with the problem's
first heuristic finds, or IDA* with a pattern database (`--least FILE`).
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import games
from benchmarks.patterns import instances
from games.problem import KernelProblem
from learner.heuristics.bootstrap import Bootstrap
from search import solve

#: The test positions come from seeds that learning does not use.
FIRST_SEED = 1_000_000


def main() -> int:
    """Learn, judge and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.heuristics", description=__doc__)
    parser.add_argument("problem", nargs="?", default="sliding8", help="default sliding8")
    parser.add_argument("--encoding", default="tile_pairs", help="default tile_pairs")
    parser.add_argument("--base", default="", help="heuristic to begin from (default: none)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of learning (default 10)")
    parser.add_argument("--seeds", type=int, default=5, help="heuristics learned (default 5)")
    parser.add_argument("--positions", type=int, default=400, help="that judge (default 400)")
    parser.add_argument("--korf", action="store_true", help="Korf's instances judge instead")
    parser.add_argument("--least", metavar="FILE", help="pattern database for the least costs")
    parser.add_argument("--weight", type=float, default=1.0, help="of A* (default 1)")
    options = parser.parse_args()
    problem = games.load(options.problem)
    if not isinstance(problem, KernelProblem) or options.encoding not in problem.encodings:
        raise SystemExit(f"expected a problem with encoding {options.encoding}, found {problem}")
    positions = [problem.random_position(FIRST_SEED + i) for i in range(options.positions)]
    if options.korf:
        positions = [problem.parse_position(tiles) for _, _, tiles in instances()]
    method = "ida" if options.least else "astar"
    best = [solve(problem, position, options.least, method=method) for position in positions]
    least = sum(solution.cost for solution in best)
    if not options.least:
        name = next(iter(problem.evaluators))
        print(f"{name:<12} expansions {np.mean([one.expanded for one in best]):8.1f}   cost 1.0000")
    means, costs = [], []
    for seed in range(options.seeds):
        begin = time.perf_counter()
        learned = Bootstrap(
            problem,
            problem.encodings[options.encoding],
            base=(options.base,) if options.base else (),
            seconds=options.seconds,
            seed=seed,
        ).fit()
        seconds = time.perf_counter() - begin
        found = [
            solve(problem, position, learned.heuristic_, weight=options.weight)
            for position in positions
        ]
        means.append(float(np.mean([one.expanded for one in found])))
        costs.append(sum(one.cost for one in found) / least)
        print(
            f"seed {seed:<7} expansions {means[-1]:8.1f}   cost {costs[-1]:.4f}"
            f"   {len(learned.rounds_)} rounds, {seconds:.1f} s"
        )
    spread = 1.96 / max(options.seeds - 1, 1) ** 0.5
    print(
        f"mean         expansions {np.mean(means):8.1f} ± {spread * np.std(means):.1f}"
        f"   cost {np.mean(costs):.4f} ± {spread * np.std(costs):.4f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
