"""Times of exact values in Connect Four beside BitBully's: `python -m benchmarks.solver`.

Six sets of positions of the kinds that P. Pons published ("Solving Connect 4", 2015): begin (at
most 14 stones), middle (15 to 28) and end (more), easy, medium or hard by the number of plies until
the game ends with best play (fewer than 14, 14 to 28, more). They are drawn here from random games
and labelled by BitBully's book if it is installed, else by our solver, because the published files
are not part of Plysmith. Both solvers begin each set with empty tables, and BitBully runs once
without its book of twelve plies and once with it. Every score is compared.

    python -m benchmarks.solver                        a hundred positions of each set
    python -m benchmarks.solver --positions 1000       as many as were published
    python -m benchmarks.solver --book 19 --after 4444 add to the shipped bounds of openings
    python -m benchmarks.solver --book 8 --every       who wins in every position of eight stones

The third one walks through the games in which the first side keeps its class by any move and the
second plays a best one, to so many stones, and keeps what the solver finds out on the way about
positions of at most twelve stones, later only which moves of the first side win. It writes the file
after each position of the first kind: a stopped command goes on where it stopped. So does the last
one, which takes an hour of a core and writes the file once a minute.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from benchmarks.bitbully import BitBully
from games.connect_four import ConnectFour
from games.connect_four.probes import DEEPEST
from games.connect_four.solver import (
    BOOK,
    FILE,
    KEY,
    Solver,
    bounds_of,
    entry_of,
    plies_left,
)
from programs.whole_files import write_atomically

#: Names, least and most stones, least and most plies to the end with best play.
SETS = (
    ("end easy", 29, 40, 0, 13),
    ("middle easy", 15, 28, 0, 13),
    ("middle medium", 15, 28, 14, 28),
    ("begin easy", 2, 14, 0, 13),
    ("begin medium", 2, 14, 14, 28),
    ("begin hard", 2, 14, 29, 42),
)
GAME = ConnectFour()
#: No score is greater.
GREATEST = 21


def drawn(
    least: int,
    most: int,
    nearest: int,
    farthest: int,
    *,
    count: int,
    value: Callable[[Any], int],
    seed: int,
) -> list[Any]:
    """Returns `count` different positions of a set, labelled by `value`."""
    random, found = np.random.default_rng(seed), {}
    while len(found) < count:
        position = GAME.start()
        for _ in range(int(random.integers(least, most + 1))):
            moves = GAME.legal_moves(position)
            if not moves:
                break
            position = GAME.play(position, moves[int(random.integers(len(moves)))])
        stones = (position[0] | position[1]).bit_count()
        if GAME.outcome(position) is None and least <= stones <= most:
            score = value(position)
            if nearest <= plies_left(stones, score) <= farthest:
                found[position] = score
    return list(found)


def timed(value: Callable[[Any], int], positions: list[Any]) -> tuple[float, list[int]]:
    """Returns the mean time in milliseconds of this process, and the scores."""
    begin = time.process_time()
    scores = [value(position) for position in positions]
    return 1000 * (time.process_time() - begin) / len(positions), scores


def position_after(columns: str) -> Any:
    """Returns the position after stones in these columns, counted from 1."""
    position = GAME.start()
    for column in columns:
        position = GAME.play(position, GAME.parse_move(position, column))
    return position


def add_openings(begin: str, stones: int, path: Path) -> None:
    """Add bounds to a file, and print a line for each position of at most `BOOK` stones."""
    known = safetensors.numpy.load_file(path) if path.is_file() else {}
    later = set(map(int, known.get("later", [])))
    solver = Solver(table_mib=512, book=known.get("entries", []))
    front = {position_after(begin): begin}
    while front:
        following = {}
        for position, text in front.items():
            if len(text) >= stones:
                continue
            before, first = solver.nodes, len(text) % 2 == 0
            classes = solver.classes(position) if first else {}
            best = [move for move in classes if classes[move] == max(classes.values())]
            best = best or solver.best(position)
            if len(text) <= BOOK:
                save(path, solver.bounds().tolist(), later)
                print(
                    f"{text or 'start'}: {', '.join(str(move + 1) for move in best)};"
                    f" {solver.nodes - before:,} nodes, {len(solver.bounds()):,} bounds",
                    flush=True,
                )
            for move in best:
                after = GAME.play(position, move)
                if GAME.outcome(after) is None:
                    following[after] = f"{text}{move + 1}"
                    if len(text) >= BOOK and first and classes[move] == 1:
                        later.add(entry_of(after, -GREATEST, -1))
        front = following
        save(path, solver.bounds().tolist(), later)


def add_every(stones: int, path: Path, *, after: str = "") -> None:
    """Add who wins in every position of so many stones, and then of fewer; print a line a minute.

    after: moves that all positions begin with.
    """
    known = safetensors.numpy.load_file(path) if path.is_file() else {}
    entries = {int(entry) & KEY: int(entry) for entry in known.get("entries", [])}
    later = set(map(int, known.get("later", [])))
    solver, position = Solver(table_mib=64, book=[*entries.values()]), position_after(after)
    levels = [{entry_of(position, 0, 0) & KEY: position}]
    for _ in range(stones - len(after)):
        following = [
            GAME.play(one, m) for one in levels[-1].values() for m in GAME.legal_moves(one)
        ]
        levels.append({entry_of(one, 0, 0) & KEY: one for one in following})
    saved, begin, done = time.monotonic(), time.monotonic(), 0

    def keep() -> None:
        save(path, entries.values(), later)
        print(f"{done:,} positions solved in {time.monotonic() - begin:,.0f} s", flush=True)

    for level in reversed(levels):
        for key, position in level.items():
            low, high = bounds_of(entries.get(key, entry_of(position, -GREATEST, GREATEST)))
            if GAME.outcome(position) is None and low <= 0 <= high and low < high:
                kind = solver.value(position, -1, 1)
                low = max(low, kind) if kind >= 0 else low
                high = min(high, kind) if kind <= 0 else high
                entries[key] = entry_of(position, low, high)
                done += 1
            if time.monotonic() - saved > 60:
                saved = time.monotonic()
                keep()
    keep()


def save(path: Path, entries: Iterable[int], later: set[int]) -> None:
    """Write bounds to a file: those that the solver reads, and `later` ones."""
    arrays = {"entries": sorted(entries), "later": sorted(later)}
    content = {name: np.array(found, dtype=np.int64) for name, found in arrays.items()}
    write_atomically(path, safetensors.numpy.save(content))


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each set; returns 1 if two solvers differ."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.solver", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    names = ",".join(name for name, *_ in SETS)
    parser.add_argument("--positions", type=int, default=100, metavar="N", help="of each set")
    parser.add_argument("--only", default=names, metavar="A,B", help="sets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--book", type=int, metavar="STONES", help="add openings to the book")
    parser.add_argument("--every", action="store_true", help="all positions of so many stones")
    parser.add_argument("--after", default="", metavar="COLUMNS", help="moves that they begin with")
    parser.add_argument("--file", type=Path, default=FILE, help="the book (default the shipped)")
    options = parser.parse_args(arguments)
    if options.book is not None:
        most = BOOK if options.every else DEEPEST
        if not 0 < options.book <= most:
            parser.error(f"--book: expected 1 to {most} stones, found {options.book}")
        if options.every:
            add_every(options.book, options.file, after=options.after)
        else:
            add_openings(options.after, options.book, options.file)
        return 0
    if options.positions < 1:
        parser.error(f"--positions: expected at least 1, found {options.positions}")
    if not set(options.only.split(",")) <= set(names.split(",")):
        parser.error(f"--only: expected some of {names}, found {options.only!r}")
    solver, wrong = Solver(table_mib=64), 0
    peers: dict[str, BitBully] = {}
    if find_spec("bitbully") is not None:
        peers = {"BitBully ms": BitBully(book=False), "with book": BitBully()}
    print(f"{'set':<15}{'nodes':>12}{'ours ms':>11}" + "".join(f"{p:>13}" for p in peers))
    for name, *bounds in SETS:
        if name not in options.only.split(","):
            continue
        # which solver labels them makes no difference, as all scores are compared below
        label = peers.get("with book", solver).value
        positions = drawn(*bounds, count=options.positions, value=label, seed=options.seed)
        solver.clear()
        mean, scores = timed(solver.value, positions)
        line = f"{name:<15}{solver.nodes / len(positions):>12,.0f}{mean:>11.3f}"
        for peer in peers.values():
            peer.clear()
            mean, others = timed(peer.value, positions)
            line += f"{mean:>13.3f}"
            wrong += sum(a != b for a, b in zip(scores, others, strict=True))
        print(line, flush=True)
    if wrong:
        print(f"expected equal scores, found {wrong} that differ", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
