"""Measures the position store: `python -m benchmarks.store [--positions N] [--json]`.

Positions of random checkers play, repeated until there are enough, are written to a store in a
temporary folder, as games of 60 positions, and read back: all at once, with
filters, and without repetitions. Rates hold for files in memory,
where they are once written.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import games
from learner.positions.store import Filter, PositionStore, Rows, distinct

PLIES = 60
TARGET = 50_000_000
LABEL_BYTES = 11


def random_positions(game: Any, count: int, seed: int) -> Any:
    """Returns positions of random play, [count, integers]."""
    random = np.random.default_rng(seed)
    positions, position = [], game.start()
    while len(positions) < count:
        positions.append(position)
        moves = game.legal_moves(position)
        over = not moves or random.random() < 1 / PLIES
        position = game.start() if over else game.play(position, moves[random.integers(len(moves))])
    return np.array(positions, dtype=np.int64)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Returns the result of `work`, and the seconds that it took."""
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.store", description=__doc__)
    parser.add_argument("--positions", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    game = games.load("checkers")
    random = np.random.default_rng(options.seed)
    played = random_positions(game, min(100_000, options.positions + PLIES + 1), options.seed)
    figures: dict[str, Any] = {"positions": options.positions}

    def rate(name: str, rows: int, seconds: float) -> None:
        figures[name] = round(rows / seconds)
        print(f"{name:<28} {rows / seconds / 1e6:7.2f} M positions/s")

    with tempfile.TemporaryDirectory() as folder:
        store = PositionStore(folder, game)

        value = random.normal(size=PLIES)
        plies = np.arange(PLIES)

        def write() -> None:
            for game_number, first in enumerate(range(0, options.positions, PLIES)):
                rows = min(PLIES, options.positions - first)
                begin = int(random.integers(len(played) - PLIES))
                store.extend(
                    Rows.of(
                        played[begin : begin + rows],
                        value=value[:rows],
                        result=game_number % 3 - 1,
                        ply=plies[:rows],
                        game_number=game_number,
                    )
                )
            store.flush()

        rate("written, game by game", options.positions, timed(write)[1])
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        bytes_each = size / options.positions
        figures["bytes_each"] = round(bytes_each, 2)
        print(
            f"{bytes_each:.2f} bytes a position, {bytes_each - LABEL_BYTES:.2f} without labels:"
            f" {TARGET / 1e6:.0f} million take {TARGET * bytes_each / 1e9:.2f} GB"
        )
        filters = {
            "loaded": Filter(),
            "loaded, quiet": Filter(quiet=True),
        }
        for name, keep in filters.items():
            found, seconds = timed(functools.partial(store.load, keep=keep))
            rate(name, len(found), seconds)
            if keep == Filter():
                rows, each = found, TARGET / len(found) * seconds
                print(f"{'':<28} {each:7.1f} s for {TARGET / 1e6:.0f} million")
                assert len(rows) == options.positions
        once, seconds = timed(lambda: distinct(game, rows))
        rate("made distinct", len(rows), seconds)
        print(f"{len(once)} distinct positions")
        figures["distinct"] = len(once)
    if options.json:
        print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
