"""Measures decisions a second in backgammon: `python -m benchmarks.backgammon_speed [FILE]`.

Measures best moves a second at 0-ply and ahead, and GNU Backgammon's in the same process if
gnubg_nn is installed. FILE is an evaluator (default: the shipped one). Rates are per second of
processor time of one core. Every decision is new to the engine that makes it: our tables are
cleared, and GNU Backgammon, which remembers positions too, is asked only once.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import json
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import games
from benchmarks.speed import Figure, rate, turns
from games.backgammon.rules import ROLLS
from play.players.gnubg import board
from play.players.parse import spelt_out
from search import Engine, load_evaluator

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "backgammon" / "wide.safetensors"
GAME: Any = games.load("backgammon")
#: Searches, the plies of GNU Backgammon that they are compared with, and the divisor of the number
#: of decisions. It searches the eight moves that are best at 0-ply, `normal` those within 0.16.
WAYS = (("1:look", 0, 1), ("1:normal", 1, 1), ("2:normal", 2, 8))

Decisions = list[tuple[Any, int]]


def decisions(game: Any, evaluator: Any, count: int, seed: int) -> list[tuple[Any, int]]:
    """Returns positions with rolls, each with several moves, and at least eight plies apart."""
    engine = Engine(game, evaluator, table_mib=1)
    generator = random.Random(seed)
    found: list[tuple[Any, int]] = []
    position, wait = game.start(), generator.randrange(8)
    while len(found) < count:
        roll = generator.choices(range(len(game.rolls)), game.rolls)[0]
        moves = game.legal_moves(position, roll)
        if wait == 0 and len(moves) > 1:
            found.append((position, roll))
            wait = 8 + generator.randrange(8)
        wait = max(wait - 1, 0)
        by_chance = generator.random() < 0.2
        best = engine.search(position, roll=roll, depth=0).move
        position = game.play(position, generator.choice(moves) if by_chance else best)
        if game.outcome(position) is not None:
            position = game.start()
    return found


# --- choosing moves --------------------------------------------------------------------------


def in_batch(engine: Engine, chosen: Decisions, depth: int) -> Any:
    """Make all decisions in one call; returns the moves."""
    positions, rolls = zip(*chosen, strict=True)
    return engine.best_moves(np.array(positions), np.array(rolls), depth=depth, decide_only=True)[0]


def one_by_one(engine: Engine, chosen: Decisions, depth: int) -> Any:
    """Search each decision separately; returns the moves."""
    return [engine.search(position, roll=roll, depth=depth).move for position, roll in chosen]


def rate_of(choose: Any, engine: Engine, chosen: Decisions, depth: int) -> float:
    """Returns decisions a second by an engine whose tables are empty."""
    engine.clear()
    return rate(lambda: len(choose(engine, chosen, depth)))


def as_gnu_has_it(chosen: Decisions) -> list[tuple[Any, int, int]]:
    """Returns the decisions in the form that `gnubg_nn.best_move` takes."""
    return [(board(position), *ROLLS[roll]) for position, roll in chosen]


def gnu_rate(chosen: Decisions, ply: int) -> float:
    """Returns decisions a second of GNU Backgammon."""
    best_move = importlib.import_module("gnubg_nn").best_move
    given = as_gnu_has_it(chosen)
    return rate(lambda: len([best_move(*decision, ply) for decision in given]))


def measure_static(evaluator: Any, chosen: Decisions, chunks: int, gnu: bool) -> Iterator[Figure]:
    """Measure best moves at 0-ply, ours and GNU Backgammon's in turns on the same decisions."""
    engine = Engine(GAME, evaluator)
    for work in (in_batch, one_by_one):
        work(engine, chosen[:2], 0)
    rates: dict[str, list[float]] = {name: [] for name in ("batch", "single", "gnu")}
    for chunk in range(chunks):
        part = chosen[chunk::chunks]
        works: list[Callable[[], float]] = [
            functools.partial(rate_of, in_batch, engine, part, 0),
            functools.partial(rate_of, one_by_one, engine, part, 0),
        ]
        if gnu:
            rates["gnu"].append(gnu_rate(part, 0))
        for name, found in zip(rates, turns(3, *works), strict=False):
            rates[name].append(found)
    for name, text, target in (
        ("batch", "in a batch", 20_000),
        ("single", "searched one by one", None),
    ):
        yield Figure(
            f"best_0_{name}", f"0-ply best moves, {text}", statistics.median(rates[name]),
            "a core-s", target,
        )  # fmt: skip
    if gnu:
        yield Figure(
            "best_0_gnu", "  gnubg_nn, one by one", statistics.median(rates["gnu"]), "a core-s"
        )
        ratio = statistics.median(
            ours / theirs for ours, theirs in zip(rates["batch"], rates["gnu"], strict=True)
        )
        yield Figure("best_0_ratio", "  ours in a batch over gnubg_nn", ratio, "x", 1)


def measure_ahead(
    evaluator: Any, chosen: Decisions, chunks: int, way: str, plies: int
) -> Iterator[Figure]:
    """Measure moves of a search, one by one, and GNU Backgammon's in turns on the same decisions.

    way: the search, as `spelt_out` reads it.
    plies: those of GNU Backgammon.
    """
    given = dict(spelt_out(way))
    engine = Engine(GAME, evaluator, filters=given["filters"])
    one_by_one(engine, chosen[:2], depth := int(given["depth"]))
    ours, ratios = [], []
    for chunk in range(chunks):
        part = chosen[chunk::chunks]
        found = rate_of(one_by_one, engine, part, depth)
        ours.append(found)
        ratios.append(found / gnu_rate(part, plies))
    note = f"{statistics.median(ratios):.2f} times gnubg_nn's {plies}-ply, median of {chunks}"
    text = f"best moves of {way}, searched one by one"
    yield Figure(f"best_{way}", text, statistics.median(ours), "a core-s", None, note)


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print the table; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.backgammon_speed", description=__doc__
    )
    parser.add_argument("evaluator", nargs="?", metavar="FILE", default=SHIPPED)
    parser.add_argument("--decisions", type=int, default=2000, help="at 0-ply; a quarter at 1-ply")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="decides the decisions")
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    for name, least in (("decisions", 40), ("rounds", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name}: expected at least {least}, found {getattr(options, name)}")
    rounds = options.rounds
    evaluator = load_evaluator(options.evaluator, game=GAME)
    gnu = importlib.util.find_spec("gnubg_nn") is not None
    chosen = decisions(GAME, evaluator, options.decisions + options.decisions // 4, options.seed)
    static, ahead = chosen[: options.decisions], chosen[options.decisions :]
    figures = []
    print(f"{evaluator.name}: {len(static)} decisions at 0-ply, {len(ahead)} others at 1-ply")
    print(f"{'':<58}{'measured':>10} {'':<10}target")
    for group in (
        measure_static(evaluator, static, rounds, gnu),
        *(
            measure_ahead(evaluator, ahead[: len(ahead) // most], rounds, way, plies)
            for way, plies, most in WAYS
            if gnu
        ),
    ):
        for figure in group:
            figures.append(figure)
            print(figure.line(), flush=True)
    if options.json:
        print(json.dumps({figure.name: figure.value for figure in figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
