"""Decisions about the cube against GNU Backgammon's: `python -m benchmarks.cube_gnu`.

The judge is GNU Backgammon at --plies plies (the package `gnubg_nn`, which decides in matches
only), in positions of games that its networks play, at random scores of matches to 7 points, and at
25 points each, which stands for money. Judged are its own 0 plies, an evaluator of ours with our
match equity table, at the most plies with GNU's as well, and our search with GNU's networks in
place of the evaluator. What GNU's networks have in common at 0 and at 2 plies, the judge does not
see.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import gnubg_nn
import numpy as np

import games
from games.backgammon import Backgammon
from games.backgammon.doubling import DoublingCube, MatchEquities, match_equities
from games.backgammon.outcomes import finished
from games.backgammon.situation import Situation
from games.contract import starts
from play.players.gnubg import GnubgNetworks, board
from play.players.parse import parse_player
from play.ratings.ratios import ratio_interval
from search import Engine
from search.expectiminimax.cubeful import searched_values
from search.expectiminimax.search import Expectiminimax

GAME: Any = games.load("backgammon")
FAR = 25
Decide = Callable[[Situation], Any]


class _GnuSearch:
    """Our search of the rules, with the outcomes of GNU Backgammon's networks at 0 plies."""

    native = True

    def __init__(self, search: Expectiminimax) -> None:
        self.game, self.afters = search.game, search.afters

    def outcomes(self, positions: Any) -> Any:
        found = np.zeros((len(positions), 5))
        for row, target in zip(positions.tolist(), found, strict=True):
            if GAME.outcome(tuple(row)) is None:
                target[:] = gnubg_nn.probabilities(board(tuple(row)), 0)
            else:
                finished(tuple(row), target)
        return found


def gnu_table() -> MatchEquities:
    """Returns GNU Backgammon's match equities before the Crawford game, with ours after it."""
    chances = [
        [0.5 + 0.5 * gnubg_nn.equities.value(own, theirs) for theirs in range(1, FAR + 1)]
        for own in range(1, FAR + 1)
    ]
    return MatchEquities(np.array(chances), match_equities(FAR).after)


def contestants(player: str, plies: int) -> Iterator[tuple[str, Decide]]:
    """Yields the names of those who are judged, and what they decide."""
    search = _search(GAME, player)
    for depth in range(plies + 1):
        yield f"{player}, {depth} plies, our table", _decide(GAME, search, depth)
    game = Backgammon()
    game.cube = DoublingCube(gnu_table())
    search = _search(game, player)
    yield f"{player}, {plies} plies, GNU's table", _decide(game, search, plies)
    gnu: Any = _GnuSearch(search)
    yield f"our search with GNU's networks and table, {plies} plies", _decide(game, gnu, plies)


def _search(game: Any, text: str) -> Expectiminimax:
    player = parse_player(game, text)
    assert player.evaluator is not None
    return Engine(game, player.evaluator, lookup=player.lookup).dice_search


def _decide(game: Any, search: Expectiminimax, plies: int) -> Decide:
    """Returns the decisions of a search with the cube, as `Engine.cube` makes them."""

    def decide(situation: Situation) -> Any:
        outcomes = search.outcomes(np.array([situation.position]))[0]
        values = searched_values(search, situation, plies) if plies else None
        return game.cube.decision(situation, outcomes, values)

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
                match = (FAR, (0, 0)) if seen % 2 else (7, score)
                seen += 1
                yield Situation(position, match_length=match[0], score=match[1])


def judged(situation: Situation, plies: int) -> tuple[float, ...]:
    """Returns whether GNU doubles and takes, and its values: no double, take, drop."""
    side, length = situation.position[4], situation.match_length
    gnubg_nn.set.score(length - situation.score[side], length - situation.score[1 - side], 0)
    gnubg_nn.set.cube(1)
    key = gnubg_nn.key_of_board(board(situation.position))
    double, take, _, *values = gnubg_nn.evaluate_cube_decision(key, plies, 0, b"O", 1)
    return bool(double), bool(take), *values


def main() -> None:
    """Print two lines for each contestant as soon as it is done, for matches and for money."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--plies", type=int, default=2, help="of the judge and the deepest search")
    parser.add_argument("--evaluator", default="wide", help="with its lookup, as matches take it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = list(situations(options.positions, random.Random(options.seed)))
    truth = [judged(one, options.plies) for one in found]
    parts = {
        "matches to 7 points": [n for n, one in enumerate(found) if one.match_length != FAR],
        f"{FAR}-away, as for money": [n for n, one in enumerate(found) if one.match_length == FAR],
    }
    print(
        "per cent of the same doubles and answers, and per cent of a match lost by each, with 95 %"
        " intervals, of", *map(len, parts.values())
    )  # fmt: skip

    def tell(name: str, decisions: list[Any]) -> None:
        for title, chosen in parts.items():
            told = _summary([decisions[n] for n in chosen], [truth[n] for n in chosen])
            print(f"  {name}, {title}: {told}", flush=True)

    tell("GNU, 0 plies", [judged(one, 0)[:2] for one in found])
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
    digits, mosts = (1, 1, 4, 4), (100.0, 100.0, math.inf, math.inf)
    return ", ".join(
        ratio_interval(column, np.ones(len(rows)), most=most).text(f".{n}f")
        for n, most, column in zip(digits, mosts, 100 * np.transpose(rows), strict=True)
    )


if __name__ == "__main__":
    main()
