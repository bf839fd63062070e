"""Measures the gain of a second thread in one search: `python -m benchmarks.threads [--threads 2]`.

Rates are positions searched by all threads in a second of the clock, so the cores have to be idle;
the time to a depth shows how much of that is useful. One thread and several take turns over the
same positions, each from an empty transposition table, whose occupancy and hit rate are printed
too. A match shows whether the threads make a stronger player:

    python -m play match checkers A@selective,threads=2 A@selective --seconds 0.1 --threads 1
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import games
import search
from search.evaluators.samples import sample_positions

GAME = games.load("checkers")
TABLE_MIB = 64


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    add = parser.add_argument
    add("--evaluator", default="data/checkers/network.safetensors")
    add("--techniques", default="selective")
    add("--threads", type=int, default=2)
    add("--depth", type=int, default=19)
    add("--positions", type=int, default=12)
    add("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.threads < 2:
        parser.error(f"--threads: expected at least 2, found {options.threads}")
    if not 1 <= options.positions <= 1000:
        parser.error(f"--positions: expected 1 to 1000, found {options.positions}")
    found = [p for p in sample_positions(GAME, 4000) if len(GAME.legal_moves(p)) > 3]
    positions = found[:: len(found) // options.positions][: options.positions]
    engines = {
        threads: search.Engine(
            GAME,
            options.evaluator,
            techniques=options.techniques,
            threads=threads,
            table_mib=TABLE_MIB,
        )
        for threads in (1, options.threads)
    }
    nodes = dict.fromkeys(engines, 0)
    probes, hits, fill = (dict.fromkeys(engines, 0.0) for _ in range(3))
    seconds = dict.fromkeys(engines, 0.0)
    for _ in range(options.rounds):
        for position in positions:
            for threads, engine in engines.items():
                engine.clear()
                began = time.perf_counter()
                result = engine.search(position, depth=options.depth)
                if result.interrupted:
                    raise KeyboardInterrupt
                seconds[threads] += time.perf_counter() - began
                nodes[threads] += result.nodes
                probes[threads] += result.probes
                hits[threads] += result.hits
                fill[threads] += table_fill(engine) / (options.rounds * len(positions))
    one, many = (nodes[threads] / seconds[threads] for threads in engines)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; depth {options.depth},"
          f" {options.rounds} x {len(positions)} positions, {options.techniques}")  # fmt: skip
    print(f"threads 1: {one / 1e6:.2f} M nodes/s, {seconds[1]:.1f} s to the depth")
    print(
        f"threads {options.threads}: {many / 1e6:.2f} M nodes/s, {seconds[options.threads]:.1f} s;"
        f" rate {many / one:.2f}, time to depth {seconds[1] / seconds[options.threads]:.2f}"
    )
    for threads in engines:
        print(
            f"threads {threads}: table of {TABLE_MIB} MiB {fill[threads]:.1%} full after a search,"
            f" {hits[threads] / max(probes[threads], 1):.1%} of probes hit"
        )


def table_fill(engine: Any) -> float:
    """Returns the share of the table, from 0 to 1, that the last search wrote, from a sample."""
    line = engine._search.line
    entries = line.pinned["table"].reshape(-1, 2)
    sample = entries[:: max(1, len(entries) // 1000)]
    facts = sample[:, 0] ^ sample[:, 1]
    used = (facts & 3 != 0) & (facts >> 19 & 0x1F == int(line.generation) & 0x1F)
    return float(used.mean())


if __name__ == "__main__":
    main()
