"""Measures what a model of the opponent is worth, in the checkers of Carmel and Markovitch (1993).

    python -m benchmarks.opponents [--games N] [--depth PLIES] [--nodes N] [--threads N]

Their player values a position by material less a 25th of the pieces on the board, and looks four
plies ahead; its opponent has a weaker function. Here values are for the side to move and change
their sign with it, so the player likes to trade pieces when it is ahead (`trades`), and the
opponent likes to keep them (`keeps`); that is weaker by noise of 0.3 men, which the model knows.
Prints, for alpha-beta and for models of the opponent, the
points (2 for a win, 1 for a draw) of matches over the same openings with sides swapped: against the
modelled opponent, against one who errs, and against one who is not the modelled one; then the same
for equal numbers of positions searched, those of the opponent's searches included.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import Any

import games
from games.kernels import kernel, popcount
from play.match.driver import play_match
from play.players.limits import Limits
from play.players.player import Player
from search import KernelEvaluator, Opponent, as_evaluator
from search.evaluators.noise import NoisyEvaluator

CHECKERS = games.load("checkers")


@kernel
def material(position):
    """Own material less the opponent's; a king counts 1.5."""
    own, opponent, kings, side = position
    ahead = popcount(own) - popcount(opponent)
    return ahead + 0.5 * (popcount(own & kings) - popcount(opponent & kings))


@kernel
def trades(position):
    """Material; the side that is ahead loses a 25th for each piece on the board."""
    own, opponent, kings, side = position
    ahead = material(position)
    total = (popcount(own) + popcount(opponent)) / 25
    return ahead - total if ahead > 0 else ahead + total if ahead < 0 else 0.0


@kernel
def keeps(position):
    """Material; the side that is ahead wins a 25th for each piece on the board."""
    own, opponent, kings, side = position
    ahead = material(position)
    total = (popcount(own) + popcount(opponent)) / 25
    return ahead + total if ahead > 0 else ahead - total if ahead < 0 else 0.0


TRADES = KernelEvaluator(CHECKERS, trades, name="trades")
KEEPS = KernelEvaluator(CHECKERS, keeps, name="keeps")
#: The noise of the weaker function, in men.
NOISE = 0.3
#: Positions a move, in matches at equal numbers.
BUDGETS = (2500, 10_000)


def player(name: str, limits: Limits, opponent: Opponent | None = None) -> Player:
    """Returns the player that trades, with or without a model of its opponent."""
    options = {} if opponent is None else {"opponent": opponent}
    return Player(name, TRADES, options=options, limits=limits)


def play(first: Player, second: Player, options: Any) -> str:
    """Returns the line of a match."""
    began = time.process_time()
    match = play_match(
        CHECKERS, first, second, limits=Limits(depth=options.depth), games=options.games,
        threads=options.threads, seed=options.seed,
    )  # fmt: skip
    found = match.summary()
    points, most = 2 * found.wins + found.draws, 2 * found.games
    score = found.score
    seconds = time.process_time() - began
    return (
        f"  {first.name:34} {points:5} of {most}  {100 * score.value:5.1f} %"
        f" [{100 * score.low:.1f}, {100 * score.high:.1f}]  {seconds:6.0f} s"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.opponents", description=__doc__)
    add = parser.add_argument
    add("--games", type=int, default=800, metavar="N", help="of each match (default 800)")
    add("--depth", type=int, default=4, metavar="PLIES", help="of all players (default 4)")
    add("--threads", type=int, default=2, metavar="N", help="default 2")
    add("--seed", type=int, default=0, help="chooses the openings (default 0)")
    options = parser.parse_args(arguments)
    depth = Limits(depth=options.depth)
    weak = NoisyEvaluator(KEEPS, amplitude=NOISE, seed=1)
    models: dict[str, Opponent | None] = {
        "alpha-beta": None,
        "model": Opponent(weak),
        "model, his depth": Opponent(weak, depth=options.depth),
        "model, his depth, next reply": Opponent(weak, depth=options.depth, replies=1),
    }
    wrong = {
        "wrong model: other noise": NoisyEvaluator(KEEPS, amplitude=NOISE, seed=2),
        "wrong model: classic": as_evaluator(CHECKERS, "classic"),
    }
    wrong_models = {
        name: Opponent(evaluator, depth=options.depth) for name, evaluator in wrong.items()
    }
    wrong_models["wrong model: random moves"] = Opponent(temperature=math.inf)
    modelled = Player("weaker", weak, limits=depth)
    other = Player("classic", as_evaluator(CHECKERS, "classic"), limits=depth)
    print(f"against the modelled opponent, all at depth {options.depth}")
    for name, model in {**models, **wrong_models}.items():
        print(play(player(name, depth, model), modelled, options), flush=True)
    print(f"against another opponent (classic), all at depth {options.depth}")
    for name, model in models.items():
        print(play(player(name, depth, model), other, options), flush=True)
    known = "model, his depth, next reply"
    for nodes in BUDGETS:
        equal = Limits(nodes=nodes)
        print(f"against the modelled opponent (depth {options.depth}), {nodes} positions a move")
        for name in ("alpha-beta", known):
            print(play(player(name, equal, models[name]), modelled, options), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
