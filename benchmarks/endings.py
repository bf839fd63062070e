"""Judges players by drawn, won and lost endings of checkers: `python -m benchmarks.endings PLAYER`.

A player is an evaluator with options, such as quantised+endgame6@exact; usually @selective.
For each of 1,024 quiet positions of four to six pieces, with men and kings, it searches --nodes
positions (250,000 are about 0.05 s), and says what is most likely by its chances of win, draw and
loss. Printed are how often it is right, and what it says of the positions of each kind; in brackets
also how often it would be right if values between -V and V were draws, for the best V. The truth is
that of the endgame database.

They are positions in which material does not tell: two thirds of the draws have a piece more on one
side, and of those that are won or lost in 31 plies or more, half have as many on both. All occurred
in games of the shipped network with noise, or in their searches. Nothing may learn from them:
`--build FILE` draws others; it needs
the database of six pieces.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import games
from learner.positions.filters import distinct
from learner.positions.positions import noisy
from learner.positions.shards import Rows
from play.matches.game_loop import GameLoop
from play.matches.openings import random_line
from play.players.parse import parse_player
from programs.ending import exit_status
from programs.whole_files import write_atomically
from search import WIN, Engine, load_evaluator
from search.evaluators.noise import NoisyEvaluator
from search.lookups.database import Databases

PROGRAM = "python -m benchmarks.endings"
GAME: Any = games.load("checkers")
ENDINGS = Path(__file__).with_suffix(".txt")
RESULTS = ("win", "draw", "loss")
#: How many positions a file has of each result, with as many pieces on both sides or not.
SHARES = {
    ("win", True): 163,
    ("win", False): 163,
    ("draw", True): 123,
    ("draw", False): 250,
    ("loss", True): 162,
    ("loss", False): 163,
}
#: Plies to the end of a decided position, at least: a search does not see so far.
LEAST = 31
#: The seed of the games from which the positions come.
SEED = 1_000_003
#: The games: nodes of a move, plies of the random opening and of the longest game, and standard
#: deviations of the noise in the evaluator's unit for one of the game's.
NODES, PLIES, MOST_PLIES, NOISES = 200, (4, 16), 300, (0.1, 0.3, 0.6, 1.0)
#: Positions that the searches of a game visit, at most.
TRACE_ROOM = 1 << 16


def known_positions(path: Path = ENDINGS) -> list[tuple[str, Any]]:
    """Returns the results of the positions in a file for the side to move, and the positions.

    A line is a result and a position, or, in a table with a heading, a position, a tab and the
    result.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    if "\t" in lines[0]:
        pairs = [line.split("\t")[1::-1] for line in lines[1:]]
    else:
        pairs = [line.split(maxsplit=1) for line in lines]
    return [(result, GAME.parse_position(text)) for result, text in pairs]


def kind_of(position: Any, value: float) -> tuple[str, bool] | None:
    """Returns the result of a position, and whether both sides have as many pieces.

    Returns None for a position that is no question: with other numbers of pieces than four to six,
    with men or kings alone, with two pieces more on one side, or decided in less than `LEAST` plies
    or against the material.
    """
    own, opponent, kings, _ = position
    pieces, kinds = (own | opponent).bit_count(), kings.bit_count()
    more = own.bit_count() - opponent.bit_count()
    result = int(np.sign(value))
    if not 4 <= pieces <= 6 or not 0 < kinds < pieces or abs(more) > 1:
        return None
    if result and (WIN - abs(value) < LEAST or more * result < 0):
        return None
    return RESULTS[1 - result], more == 0


def known_values(database: str, positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the values that a database knows of positions [n, 4], and NaN where it knows none."""
    known = Databases.of(GAME).named[database]
    tables = known.tables()
    answers = [known.probe(tables, tuple(row)) for row in positions.tolist()]
    return np.array([float(value) if found else np.nan for found, value, *_ in answers])


def played_endings() -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
    """Yields for each game its number, its quiet endings, each once, and their values.

    Two noisy copies of the shipped network play each game to its end. Of every position that a
    search visits, those that the database knows are taken.
    """
    evaluator = load_evaluator("checkers/quantised")
    player = NoisyEvaluator(evaluator, amplitude=0.0)
    engine = Engine(GAME, player, trace=TRACE_ROOM, table_mib=1.0)
    loop = GameLoop(GAME, engine, engine, nodes=NODES, most_plies=MOST_PLIES, traces=True)
    for number in count():
        random = np.random.default_rng((SEED, number))
        player.amplitude = float(random.choice(NOISES)) * evaluator.unit
        player.seed = int(random.integers(1 << 63))
        engine.clear()
        played = loop.play(random_line(GAME, int(random.integers(*PLIES)), random)[1])
        positions = np.concatenate([played.positions, engine.traced()[0]])
        positions = positions[np.bitwise_count(positions[:, 0] | positions[:, 1]) <= 6]
        positions = distinct(GAME, Rows.of(positions[~noisy(GAME, positions)], width=4)).positions
        values = known_values("endgame6", positions)
        yield number, positions[~np.isnan(values)], values[~np.isnan(values)]


def drawn_positions() -> Iterator[tuple[str, Any]]:
    """Yields results and positions in the shares of `SHARES`: of a game, one of each kind."""
    left = dict(SHARES)
    for number, positions, values in played_endings():
        random = np.random.default_rng((SEED, number, 1))
        taken = set()
        for i in random.permutation(len(positions)).tolist():
            row = tuple(positions[i].tolist())
            kind = kind_of(row, values[i])
            if kind is not None and left[kind] and kind not in taken:
                taken.add(kind)
                left[kind] -= 1
                yield kind[0], row
        if not any(left.values()):
            return


def build(path: Path) -> int:
    """Write a file of positions; returns the exit status."""
    lines = [f"{result} {GAME.position_text(row)}\n" for result, row in drawn_positions()]
    write_atomically(path, "".join(lines))
    print(f"written: {path}, {len(lines)} positions")
    return 0


def judge(name: str, nodes: int, positions: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns how many positions of each result the player says to be won, drawn and lost.

    name: the player, in the grammar of players.
    nodes: positions searched.
    positions: results and positions.

    The entry `right` is their number in which it is right, `threshold` the best one for values, and
    `by_threshold` the number right by it.
    """
    player = parse_player(GAME, name if "@" in name else f"{name}@selective")
    if player.evaluator is None or player.evaluator.chances(GAME.start(), 0.0) is None:
        raise ValueError(f"player: expected an evaluator with chances, found {name!r}")
    engine = Engine(GAME, player.evaluator, lookup=player.lookup, **player.options)
    said: dict[str, Any] = {result: dict.fromkeys(RESULTS, 0) for result in RESULTS}
    values = []
    for result, position in tqdm(positions, unit=" positions", dynamic_ncols=True):
        engine.clear()
        found = engine.search(position, nodes=nodes)
        if found.interrupted:
            raise KeyboardInterrupt
        values.append(found.value)
        chances = found.chances
        assert chances is not None
        most = int(np.argmax([chances.win, chances.draw, chances.loss]))
        said[result][RESULTS[most]] += 1
    said["right"] = sum(said[result][result] for result in RESULTS)
    signs = np.array([1 - RESULTS.index(result) for result, _ in positions])
    by_threshold = [
        (int((np.sign(values) * (np.abs(values) > threshold) == signs).sum()), threshold)
        for threshold in np.abs(values).tolist()
    ]
    said["by_threshold"], said["threshold"] = max(by_threshold)
    return said


def report(name: str, said: dict[str, Any]) -> None:
    """Print what `judge` returned."""
    asked = sum(sum(said[result].values()) for result in RESULTS)
    print(
        f"{name}: {said['right']} of {asked} right"
        f" ({said['by_threshold']} by values beyond {said['threshold']:.3g})"
    )
    for result in RESULTS:
        row = said[result]
        texts = ", ".join(f"{row[other]} said to be a {other}" for other in RESULTS)
        print(f"  {result:4} {sum(row.values()):5}: {texts}")


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    parser.add_argument("players", nargs="*", metavar="PLAYER", help="default: quantised")
    parser.add_argument("--nodes", type=int, default=250_000, help="of a search (default 250000)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth position")
    parser.add_argument(
        "--positions", type=Path, default=ENDINGS, metavar="FILE", help="default: the 1,024 endings"
    )
    parser.add_argument("--build", type=Path, metavar="FILE", help="draw positions instead")
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    if options.build is not None:
        return exit_status(PROGRAM, lambda: build(options.build))

    def run() -> int:
        positions = known_positions(options.positions)[:: options.every]
        figures = {}
        for name in options.players or ["quantised"]:
            figures[name] = judge(name, options.nodes, positions)
            report(name, figures[name])
        if options.json:
            print(json.dumps(figures))
        return 0

    return exit_status(PROGRAM, run)


if __name__ == "__main__":
    sys.exit(main())
