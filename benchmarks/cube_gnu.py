"""Decisions about the cube against GNU Backgammon's: `python -m benchmarks.cube_gnu`.

The judge is GNU Backgammon at --plies plies (the package `gnubg_nn`, which decides in matches
only), in positions of games that its networks play, at random scores of matches to 7 points, and at
25 points each, which stands for money. Judged are its own 0 plies, an evaluator of ours, with our
match equity table and with GNU's, and our search with GNU's networks in place of the evaluator.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from typing import Any

import gnubg_nn
import numpy as np

import games
from games.backgammon import Backgammon
from games.backgammon.doubling import MatchEquities, match_equities
from games.backgammon.outcomes import finished
from games.backgammon.situation import Situation
from play.players.gnubg import Program, board
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
    return MatchEquities(np.array(chances), match_equities(FAR).after, "GNU")


def contestants(evaluator: str, plies: int) -> Iterator[tuple[str, Decide]]:
    """Yields the names of those who are judged, and what they decide."""
    for title, game in (("our table", GAME), ("GNU's table", Backgammon(gnu_table()))):
        engine = Engine(game, evaluator)
        for depth in range(plies + 1):
            name = f"{evaluator}, {depth} plies, {title}"
            yield name, lambda one, engine=engine, depth=depth: engine.cube(one, depth=depth)
    search: Any = _GnuSearch(engine._search)  # type: ignore[arg-type]

    def with_gnu(situation: Situation) -> Any:
        outcomes = gnubg_nn.probabilities(board(situation.position), plies)
        return game.cube_decision(situation, outcomes, searched_values(search, situation, plies))

    yield f"our search with GNU's networks and table, {plies} plies", with_gnu


def situations(count: int, chance: random.Random) -> Iterator[Situation]:
    """Yields situations in which a double may be right: matches and money in turn."""
    seat, seen = Program("gnubg", 0)(GAME), 0
    while seen < count:
        position = GAME.start_of(chance.randrange(2))
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
    parser.add_argument("--evaluator", default="backups")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = list(situations(options.positions, random.Random(options.seed)))
    truth = [judged(one, options.plies) for one in found]
    parts = {
        "matches to 7 points": [n for n, one in enumerate(found) if one.match_length != FAR],
        f"{FAR}-away, as for money": [n for n, one in enumerate(found) if one.match_length == FAR],
    }
    print(
        "same double, same answer; per cent of a match lost by each, of", *map(len, parts.values())
    )

    def tell(name: str, decisions: list[Any]) -> None:
        for title, chosen in parts.items():
            told = _summary([decisions[n] for n in chosen], [truth[n] for n in chosen])
            print(f"  {name}, {title}: {told}", flush=True)

    tell("GNU, 0 plies", [judged(one, 0)[:2] for one in found])
    for name, decide in contestants(options.evaluator, options.plies):
        tell(name, [(one.double, one.take) for one in map(decide, found)])


def _summary(decisions: list[Any], truth: list[Any]) -> str:
    doubles, takes, costs = [], [], np.zeros(2)
    for (double, take), (right, answer, waiting, taken, dropped) in zip(
        decisions, truth, strict=True
    ):
        doubles.append(double == right)
        takes.append(take == answer)
        offered = min(taken, dropped)
        costs += (
            max(waiting, offered) - (offered if double else waiting),
            ((taken if take else dropped) - offered),
        )
    lost = 100 * costs / max(len(truth), 1)
    return f"{np.mean(doubles):.4f}, {np.mean(takes):.4f}; {lost[0]:.4f}, {lost[1]:.4f}"


if __name__ == "__main__":
    main()
