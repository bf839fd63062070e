"""Measures bear-off databases: `python -m benchmarks.bear_off [--json]`.

Prints the seconds to build the one-sided and two-sided tables, to write them to a file and to read
it, their size, and probes a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from games.backgammon.bear_off import probe, unrank
from games.backgammon.bear_off_tables import bear_off, build
from games.kernels import kernel


@kernel
def probed(tables, positions, values):
    """Probe each row of `positions`."""
    for i in range(len(positions)):
        _, value, _ = probe(
            tables, (positions[i, 0], positions[i, 1], positions[i, 2], positions[i, 3], 0)
        )
        values[i] = value
    return 0


def positions(most: int, count: int) -> Any:
    """Returns random positions of two sides, each among the first `most` position numbers."""
    numbers = np.random.default_rng(0).integers(1, most, (count, 2)).tolist()
    return np.array([(unrank(a), 0, unrank(b), 0, 0) for a, b in numbers], dtype=np.int64)


def probe_rate(tables: Any, rows: Any) -> float:
    """Returns probes a second of one core."""
    values = np.zeros(len(rows))
    probed(tables, rows[:1], values)
    began = time.process_time()
    probed(tables, rows, values)
    return float(len(rows) / max(time.process_time() - began, 1e-9))


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bear_off", description=__doc__)
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    figures: dict[str, float] = {}

    def timed(name: str, work: Any) -> Any:
        began = time.process_time()
        made = work()
        figures[name] = round(time.process_time() - began, 3)
        print(f"{name:40} {figures[name]:8.3f} CPU seconds")
        return made

    timed("compile, or read compiled code", lambda: build(checkers=1, both=1))
    one = timed("build one side, 15 checkers", lambda: build(both=1))
    timed("build both sides, 6 checkers each", lambda: build(checkers=6))
    with tempfile.TemporaryDirectory() as folder:
        timed("build all and write the file", lambda: bear_off(folder))
        tables = timed("read the file", lambda: bear_off(folder))
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    if not np.array_equal(tables.rolls, one.rolls):
        raise AssertionError("expected the same tables from both")
    figures["MiB"] = round(size / 2**20, 1)
    print(f"{'size':40} {figures['MiB']:8.1f} MiB")
    for name, most in (("both sides, exact", 924), ("two tables of one side", 54264)):
        figures[name] = round(probe_rate(tables.tables, positions(most, 200_000)) / 1e6, 2)
        print(f"{'probes, ' + name:40} {figures[name]:8.2f} M/s")
    if options.json:
        print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
