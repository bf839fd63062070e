"""Decisions about the cube against GNU Backgammon's: `python -m benchmarks.cube_gnu`.

The judge is the program GNU Backgammon at --plies plies with its own match equity table, asked
through its Python, in positions of games that its networks play: for money, without Jacoby rule and
beavers, and at random scores of matches to 7 points. Judged are its own 0 plies and an evaluator of
ours with our match equity table. What GNU's networks have in common at 0 and at 2 plies, the judge
does not see.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gnubg_nn
import numpy as np

import games
from games.backgammon.identifiers import position_id
from games.backgammon.situation import Situation
from games.contract import starts
from play.players.gnubg import GnubgNetworks, board
from play.players.gnubg_program import find_gnubg
from play.players.parse import parse_player
from play.ratings.ratios import ratio_interval
from search import Engine
from search.expectiminimax.cubeful import searched_values
from search.expectiminimax.search import Expectiminimax

GAME: Any = games.load("backgammon")
MATCH = 7
#: A script of GNU Backgammon's Python: the values of no double, take and drop, to the side to move.
SCRIPT = """
import gnubg, json
gnubg.command("set jacoby off")
asked = json.load(open({asked!r}))
context = gnubg.evalcontext(1, asked["plies"], 1, 0)
with open({answers!r}, "w") as file:
    for text, length, scores in asked["positions"]:
        cube = gnubg.cubeinfo(1, -1, 1, length, tuple(scores), 0, 0)
        values = gnubg.cfevaluate(gnubg.positionfromid(text), cube, context)[1:4]
        print(*values, file=file, flush=True)
"""
Decide = Callable[[Situation], Any]


def contestants(player: str, plies: int) -> Iterator[tuple[str, Decide]]:
    """Yields the names of those who are judged, and what they decide."""
    parsed = parse_player(GAME, player)
    assert parsed.evaluator is not None
    search = Engine(GAME, parsed.evaluator, lookup=parsed.lookup).dice_search
    for depth in range(plies + 1):
        yield f"{player}, {depth} plies", _decide(search, depth)


def _decide(search: Expectiminimax, plies: int) -> Decide:
    """Returns the decisions of a search with the cube, as `Engine.cube` makes them."""

    def decide(situation: Situation) -> Any:
        outcomes = search.outcomes(np.array([situation.position]))[0]
        values = searched_values(search, situation, plies) if plies else None
        return GAME.cube.decision(situation, outcomes, values)

    return decide


def situations(count: int, chance: random.Random) -> Iterator[Situation]:
    """Yields situations in which a double may be right: matches and money in turn."""
    seat, seen = GnubgNetworks("gnubg", 0)(GAME), 0
    while seen < count:
        position = starts(GAME)[chance.randrange(2)]
        for _ in range(chance.randrange(4, 60)):
            roll = chance.choices(range(21), list(GAME.rolls))[0]
            position = GAME.play(position, seat.choose(position, roll))
            if GAME.outcome(position) is not None:
                break
        else:
            if 0.5 < gnubg_nn.probabilities(board(position), 0)[0] < 0.95:
                score = (chance.randrange(6), chance.randrange(6))
                match = (0, (0, 0)) if seen % 2 else (MATCH, score)
                seen += 1
                yield Situation(position, match_length=match[0], score=match[1])


def judged(situations: Sequence[Situation], plies: int) -> list[tuple[float, ...]]:
    """Returns whether GNU doubles and takes, and its values: no double, take, drop.

    Values are equities of a game, in points of the cube at 1, in a match as well.
    """
    program = find_gnubg()
    if program is None:
        sys.exit("expected GNU Backgammon to be installed (the program gnubg), found it is not")
    asked = [
        (position_id(one.position), one.match_length, (one.score[1 - side], one.score[side]))
        for one in situations
        for side in [one.position[4]]
    ]
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder, name)) for name in ("asked", "answers")}
        Path(paths["asked"]).write_text(json.dumps({"plies": plies, "positions": asked}))
        script = Path(folder, "script.py")
        script.write_text(SCRIPT.format(**paths))
        command = [program, "-t", "-q", "-p", str(script)]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        values = np.loadtxt(paths["answers"], ndmin=2)
    return [
        (min(taken, dropped) > waiting, taken < dropped, waiting, taken, dropped)
        for waiting, taken, dropped in values.tolist()
    ]


def main() -> None:
    """Print two lines for each contestant as soon as it is done, for matches and for money."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--plies", type=int, default=2, help="of the judge and the deepest search")
    parser.add_argument("--evaluator", default="wide", help="with its lookup, as matches take it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = list(situations(options.positions, random.Random(options.seed)))
    truth = judged(found, options.plies)
    parts = {
        f"matches to {MATCH} points": [n for n, one in enumerate(found) if one.match_length],
        "for money": [n for n, one in enumerate(found) if not one.match_length],
    }
    print(
        "per cent of the same doubles and answers, thousandths of a point lost by each, with 95 %"
        f" intervals, and wrong passes, of {[len(part) for part in parts.values()]} decisions"
    )

    def tell(name: str, decisions: list[Any]) -> None:
        for title, chosen in parts.items():
            told = _summary([decisions[n] for n in chosen], [truth[n] for n in chosen])
            print(f"  {name}, {title}: {told}", flush=True)

    tell("GNU, 0 plies", [one[:2] for one in judged(found, 0)])
    for name, decide in contestants(options.evaluator, options.plies):
        tell(name, [(one.double, one.take) for one in map(decide, found)])


def _summary(decisions: list[Any], truth: list[Any]) -> str:
    rows = []
    for (double, take), (right, answer, waiting, taken, dropped) in zip(
        decisions, truth, strict=True
    ):
        offered = min(taken, dropped)
        lost = max(waiting, offered) - (offered if double else waiting)
        rows.append((double == right, take == answer, lost, (taken if take else dropped) - offered))
    scales, mosts = (100, 100, 1000, 1000), (100.0, 100.0, math.inf, math.inf)
    shown = [
        ratio_interval(scale * column, np.ones(len(rows)), most=most).text(".2f")
        for scale, most, column in zip(scales, mosts, np.transpose(rows), strict=True)
    ]
    passes = sum(one[1] and not take for (_, take), one in zip(decisions, truth, strict=True))
    return ", ".join([*shown, f"{passes} wrong passes"])


if __name__ == "__main__":
    main()
