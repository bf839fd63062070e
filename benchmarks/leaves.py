"""Counts the leaves of the game tree of checkers: `python -m benchmarks.leaves [--depth N]`.

Every depth from 1 on is compared with the published count; the exit status is 1 if one differs.
"""

from __future__ import annotations

import argparse
import sys
import time

import games
from search.perft import perft

#: Depths 1 to 13; a multi-jump is one ply, and different paths over the same pieces all count.
LEAVES = (
    7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680, 18391564, 85242128, 388623673,
    1766623630,
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Count and compare; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaves", description=__doc__)
    parser.add_argument("--depth", type=int, default=12, choices=range(1, 14), metavar="1-13")
    options = parser.parse_args(arguments)
    game = games.load("checkers")
    perft(game, game.start(), 1)  # compiled, or read from the cache, before the clock starts
    counts = []
    for depth in range(1, options.depth + 1):
        began = time.process_time()
        counts.append(perft(game, game.start(), depth))
        seconds = time.process_time() - began
        right = counts[-1] == LEAVES[depth - 1]
        print(
            f"{depth:2} {counts[-1]:13,} {'as published' if right else 'WRONG':12}"
            f" {seconds:7.2f} s {counts[-1] / max(seconds, 1e-9) / 1e6:6.0f} M leaves/s"
        )
    return 0 if counts == list(LEAVES[: options.depth]) else 1


if __name__ == "__main__":
    sys.exit(main())
