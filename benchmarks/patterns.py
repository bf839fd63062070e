"""Solves Korf's instances 1 to 30 with pattern databases: `python -m benchmarks.patterns`.

IDA* solves each with each database; costs have to be those published in `korf.txt`. Nodes are those
generated, as Korf counts them, and seconds those of the search in this process's time.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from games.puzzles.sliding_tiles import Sliding15
from search import solve
from search.single_agent.patterns import build_patterns

KORF = Path(__file__).with_name("korf.txt")


def instances(squares: int = 16) -> list[tuple[int, int, str]]:
    """Returns number, optimal cost and tiles of each instance with `squares` squares."""
    rows = [line.split() for line in KORF.read_text("utf-8").splitlines() if line[:1].isdigit()]
    return [
        (int(row[0]), int(row[1]), " ".join(row[2:])) for row in rows if len(row) == squares + 2
    ]


def main(arguments: list[str] | None = None) -> int:
    """Build, solve, and print a line for each database; 1 if a cost is not the published one."""
    parser = argparse.ArgumentParser(prog="benchmarks.patterns", description=__doc__)
    parser.add_argument("--patterns", nargs="+", default=["5-5-5", "6-6-3"], help="by name")
    parser.add_argument("--plain", action="store_true", help="without mirror images too")
    options = parser.parse_args(arguments)
    problem, wrong = Sliding15(), 0
    tests = [problem.random_position(seed) for seed in range(10_000)]
    print(f"{'patterns':<16}{'build s':>8}{'MB':>7}{'mean h':>8}{'mean nodes':>14}{'mean s':>9}")
    for name in options.patterns:
        begin = time.process_time()
        whole = build_patterns(problem, name)
        built = time.process_time() - begin
        for mirrored in (True, False)[: 1 + options.plain]:
            database = whole.copy()
            database.mirrored = mirrored
            size = sum(table.nbytes for table in database.tables) / 1e6
            nodes, seconds = [], []
            for number, cost, tiles in instances():
                begin = time.process_time()
                found = solve(
                    problem, problem.parse_position(tiles), database, method="ida"
                ).whole()
                seconds.append(time.process_time() - begin)
                nodes.append(found.generated)
                if (found.cost, found.optimal) != (cost, True):
                    print(f"{number}: expected {cost}, found {found.cost}", file=sys.stderr)
                    wrong += 1
            mean = float(np.mean(database.values(tests)))
            label = name + " + mirror" * mirrored
            print(
                f"{label:<16}{built:8.1f}{size:7.1f}{mean:8.2f}{np.mean(nodes):14,.0f}"
                f"{np.mean(seconds):9.3f}",
                flush=True,
            )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
