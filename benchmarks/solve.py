"""Compares searches for a goal with C written by hand: `python -m benchmarks.solve`.

IDA* with Manhattan solves the 15-puzzle (Korf's second instance) by kernels and by `ida.c` in
turns, which must agree on the number of nodes; A* with a hash table is measured too. Rates are per
second of processor time, the best of several runs.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from games.puzzles.sliding_tiles import Sliding15
from search import solve

#: Korf 1985, instance 2: cost 55.
INSTANCE = "13 5 4 10 9 12 8 14 2 3 7 1 0 15 11 6"
#: Instance 9, which A* solves in little memory: cost 46.
SMALL = "3 14 9 11 5 4 8 2 13 12 6 7 10 1 15 0"


def compiled(folder: str) -> Path | None:
    """Returns the path of the compiled C program; None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    program = Path(folder) / "ida"
    source = Path(__file__).with_name("ida.c")
    subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
    return program


def run_c(program: Path) -> tuple[int, float]:
    """Returns the number of nodes that the C program generates, and its seconds."""
    printed = subprocess.run(
        [str(program)], input=INSTANCE, capture_output=True, text=True, check=True
    ).stdout.split()
    return int(printed[1]), float(printed[2])


def timed(work: Callable[[], int]) -> tuple[int, float]:
    """Returns the count of `work`, and its seconds of processor time."""
    begin = time.process_time()
    count = work()
    return count, time.process_time() - begin


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.solve", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of each (default 5)")
    runs = parser.parse_args().runs
    problem = Sliding15()
    manhattan = problem.evaluators["manhattan"]
    start, small = problem.parse_position(INSTANCE), problem.parse_position(SMALL)
    kinds: dict[str, Callable[[], int]] = {
        "IDA*, the change of h": lambda: solve(problem, start, "manhattan", method="ida").generated,
        "IDA*, h anew": lambda: solve(problem, start, manhattan.value, method="ida").generated,
        "A* (expansions)": lambda: solve(problem, small, "manhattan", memory_mib=512).expanded,
    }
    best: dict[str, float] = {}
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        for work in kinds.values():
            work()  # compiles
        for _ in range(runs):
            if program is not None:
                count, seconds = run_c(program)
                counts["C"], best["C"] = count, min(best.get("C", seconds), seconds)
            for name, work in kinds.items():
                count, seconds = timed(work)
                counts[name], best[name] = count, min(best.get(name, seconds), seconds)
    if program is not None and counts["C"] != counts["IDA*, the change of h"]:
        print(f"expected the same nodes, found {counts}", file=sys.stderr)
        return 1
    for name in ("C", *kinds):
        if name in best:
            rate = counts[name] / best[name] / 1e6
            of_c = "" if "A* (" in name or "C" not in best else (
                f"{counts[name] / best[name] * best['C'] / counts['C']:6.2f} of C"
            )  # fmt: skip
            print(f"{name:<27}{counts[name]:>12,} {rate:9.4f} M/s {of_c}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
