"""Measures endgame databases: `python -m benchmarks.endgame [--pieces N] [--json]`.

Prints the CPU seconds to build the database of four pieces in an empty folder and to verify it,
probes a second, and the number of won endgames that are won, with the database and without, against
a defender that has it. `--pieces` chooses the database; one of more than four pieces must be built
first.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from typing import Any

import numpy as np

import games
from benchmarks.endgame_proof import check
from games.checkers.endgame import Endgame, build, endgame, probe
from games.checkers.endgame.numbering import position_of, positions_of, slices
from games.kernels import kernel
from games.record import GameRecord
from play.players.parse import parse_player
from search import PROVEN, WIN, Engine, as_evaluator


@kernel
def probed(tables, positions, values):
    """Probe each row of `positions`."""
    for i in range(len(positions)):
        _, value, _ = probe(
            tables, (positions[i, 0], positions[i, 1], positions[i, 2], positions[i, 3])
        )
        values[i] = value
    return 0


def drawn_positions(pieces: int, count: int, seed: int) -> list[Any]:
    """Returns `count` random positions of `pieces` pieces, each equally likely."""
    random = np.random.default_rng(seed)
    materials = [material for material in slices(pieces) if sum(material) == pieces]
    sizes = np.array([positions_of(material) for material in materials])
    chosen = random.choice(len(materials), count, p=sizes / sizes.sum())
    return [position_of(int(random.integers(sizes[i])), *materials[i]) for i in chosen]


def won_positions(found: Endgame, least: int, most: int, count: int, seed: int) -> list[Any]:
    """Returns quiet positions that are won in `least` to `most` plies, each with these plies.

    All have as many pieces as the database holds.
    """
    game = games.load("checkers")
    assert game.rules is not None and game.rules.noisy is not None
    won: list[Any] = []
    for batch in range(400):
        for at in drawn_positions(found.pieces, 10 * count, seed + 1000 * batch):
            plies = WIN - probe(found.tables, at)[1]
            if least <= plies <= most and not game.rules.noisy(at):
                won.append((at, int(plies)))
        if len(won) >= count:
            break
    return won[:count]


def probe_rate(tables: Any, positions: list[Any]) -> float:
    """Returns probes a CPU second."""
    rows = np.array(positions, dtype=np.int64)
    values = np.zeros(len(rows))
    probed(tables, rows[:1], values)
    began = time.process_time()
    probed(tables, rows, values)
    return float(len(rows) / max(time.process_time() - began, 1e-9))


def convert(engine: Engine, found: Endgame, at: Any, nodes: int) -> str:
    """Play a won endgame against a defender that has the database.

    Returns "won", "drawn", or "thrown away" if a move gives up the proven win.
    """
    game = engine.game
    record = GameRecord(game, at)
    while not record.over:
        result = engine.search(record.position, nodes=nodes, history=record.history)
        if result.interrupted:
            raise KeyboardInterrupt
        record.play(result.move)
        if probe(found.tables, record.position)[1] > -PROVEN and record.position[0]:
            return "thrown away"
        if record.over:
            break
        replies = game.legal_moves(record.position)
        worth = [probe(found.tables, game.play(record.position, move))[1] for move in replies]
        record.play(replies[int(np.argmin(worth))])
    return "drawn" if record.outcome() == 0 else "won"


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endgame", description=__doc__)
    parser.add_argument("--pieces", type=int, default=4, metavar="N", help="of what is asked")
    parser.add_argument("--positions", type=int, default=200, help="to be searched, and to be won")
    parser.add_argument("--least", type=int, default=21, metavar="PLIES", help="to a win to be won")
    parser.add_argument("--nodes", type=int, default=20_000, help="of a move, to win")
    parser.add_argument("--evaluator", default="classic")
    parser.add_argument(
        "--lookup",
        metavar="NAMES",
        help="the lookups of the searches with any, such as endgame+endgame6 (default: --pieces)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    game = games.load("checkers")
    figures: dict[str, Any] = {}

    def timed(name: str, work: Any) -> Any:
        began = time.process_time()
        made = work()
        figures[name] = round(time.process_time() - began, 3)
        print(f"{name:40} {figures[name]:8.3f} CPU seconds")
        return made

    with tempfile.TemporaryDirectory() as folder:
        timed("compile, or read compiled code", lambda: check(endgame(2, folder)))
        timed("build four pieces", lambda: build(4, folder, threads=1))
        made = timed("read the file", lambda: endgame(4, folder))
        timed("derive every value from its moves", lambda: check(made, threads=1))
    found = endgame(options.pieces)
    positions = drawn_positions(options.pieces, 200_000, options.seed)
    figures["M probes/s"] = round(probe_rate(found.tables, positions) / 1e6, 2)
    print(f"{'probes':40} {figures['M probes/s']:8.2f} M/s")
    names = options.lookup or f"endgame{options.pieces}"
    lookup = parse_player(game, f"{options.evaluator}+{names}").lookup
    engines = {
        "without": Engine(game, as_evaluator(game, options.evaluator)),
        "with": Engine(game, options.evaluator, lookup=lookup),
    }
    far = won_positions(found, options.least, 999, options.positions, options.seed + 1)
    for name, engine in engines.items():
        ends = []
        for at, _ in far:
            engine.clear()
            ends.append(convert(engine, found, at, options.nodes))
        share = {end: ends.count(end) for end in ("won", "drawn", "thrown away")}
        figures[f"{name}: ends"] = share
        print(
            f"won in {options.least} plies or more, {name} database, {options.nodes} nodes a move:"
            f" {share}"
        )
    if options.json:
        print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
