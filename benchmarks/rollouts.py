"""Measures what variance reduction gains: `python -m benchmarks.rollouts EVALUATOR [--json]`.

A game of the evaluator against itself gives a few positions. Each is rolled out without and with
variance reduction (luck-adjusted), for the same number of games with the same dice. Prints the
standard errors of the equity and of the probabilities, the factor by which the variance shrinks,
and the CPU time, which should grow by less than that factor. Both rollouts use stratified dice, and
their errors take this into account. EVALUATOR is a player of backgammon as in matches: a file, a
name, or gnubg:0, which is slow and well trained. The better it is, the greater the gain, because
the remaining error is the difference between static values and those of one ply of search.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np

from games.backgammon import Backgammon
from play.dice import Dice
from play.players.gnubg import GnubgNetworks, gnubg_evaluator
from play.players.parse import parse_player
from play.rollout.rollout import RolloutResult, rollout
from search import Evaluator, Lookup
from search.expectiminimax.static import StaticChoice


def parsed(game: Backgammon, text: str) -> tuple[Evaluator, Lookup | None]:
    """Returns the evaluator and the lookup of a player."""
    player = parse_player(game, text)
    if isinstance(player.program, GnubgNetworks) and text == "gnubg:0":
        return gnubg_evaluator(game), None
    if player.evaluator is None:
        raise ValueError(f"expected an evaluator or gnubg:0, found {text}")
    return player.evaluator, player.lookup


def positions(
    game: Backgammon, evaluator: Evaluator, plies: list[int], seed: int
) -> dict[int, Any]:
    """Returns positions of a game of the evaluator against itself, by their number of plies."""
    choice, dice = StaticChoice(game, evaluator), Dice(game, seed)
    stream, position, found = dice.stream(0), game.start(), {}
    for turn in range(max(plies) + 1):
        if game.outcome(position) is not None:
            break
        if turn in plies:
            found[turn] = position
        position = game.play(position, choice.choose(position, dice.roll(stream, turn)))
    return found


def line(name: str, result: RolloutResult, seconds: float) -> str:
    """Returns a line with the result of a rollout and the time that it took."""
    text = f"{name:14} {result.equity[0]:+.4f} ± {result.equity_error[0]:.4f}"
    if result.outcomes is not None and result.outcome_errors is not None:
        pairs = zip(result.outcomes[0], result.outcome_errors[0], strict=True)
        text += "".join(f"  {100 * p:6.2f} ± {100 * e:.2f}" for p, e in pairs)
    return f"{text}  {seconds:8.2f} CPU s"


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rollouts", description=__doc__)
    parser.add_argument("evaluator")
    parser.add_argument("--games", type=int, default=1296)
    parser.add_argument("--plies", default="0,10,20,30,40", help="positions after so many")
    parser.add_argument("--truncate", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    options = parser.parse_args(arguments)
    game = Backgammon()
    evaluator, lookup = parsed(game, options.evaluator)
    plies = [int(part) for part in options.plies.split(",")]
    shared: dict[str, Any] = {
        "lookup": lookup,
        "truncate": options.truncate,
        "threads": 1,
        "seed": options.seed,
    }
    rollout(game, [game.start()], evaluator, games=1, **shared)  # compiles
    figures = []
    print(
        f"{options.evaluator}, {options.games} games each: equity, win, gammons, backgammons in %"
    )
    for turn, position in positions(game, evaluator, plies, options.seed).items():
        print(f"after {turn} plies: {game.position_text(position)}")
        found, seconds = {}, {}
        for name, look in (("luck in", False), ("luck-adjusted", True)):
            began = time.process_time()
            found[name] = rollout(
                game,
                [position],
                evaluator,
                games=options.games,
                variance_reduction=look,
                **shared,
            )
            seconds[name] = time.process_time() - began
            print(line(name, found[name], seconds[name]))
        kept, off = found["luck in"], found["luck-adjusted"]
        one: dict[str, Any] = {
            "plies": turn,
            "equity_cut": ratio(kept.equity_error, off.equity_error)[0],
            "times_cpu": seconds["luck-adjusted"] / max(seconds["luck in"], 1e-9),
        }
        text = f"variance cut {one['equity_cut']:.1f} times"
        if kept.outcome_errors is not None and off.outcome_errors is not None:
            one["outcome_cuts"] = ratio(kept.outcome_errors[0], off.outcome_errors[0])
            text += ", probabilities " + ", ".join(f"{cut:.1f}" for cut in one["outcome_cuts"])
        print(f"{text}; {one['times_cpu']:.1f} times the CPU time")
        figures.append(one)
    cuts = [one["equity_cut"] for one in figures if np.isfinite(one["equity_cut"])]
    if cuts:
        print(f"variance of the equity cut {np.exp(np.mean(np.log(cuts))):.1f} times in the mean")
    if options.json:
        print(json.dumps({"evaluator": options.evaluator, "positions": plain(figures)}))
    return 0


def plain(value: Any) -> Any:
    """Returns `value` with None for numbers that JSON cannot hold."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def ratio(before: Any, after: Any) -> list[float]:
    """Returns variances before divided by variances after; infinite or NaN if the latter are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return [float(x) for x in np.square(np.asarray(before)) / np.square(np.asarray(after))]


if __name__ == "__main__":
    sys.exit(main())
