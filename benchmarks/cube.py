"""Measures decisions about the cube against exact equities: `python -m benchmarks.cube`.

In endings of at most six checkers a side, by the pips of the side to move, for each efficiency:
what the decisions lose. With `--rollouts N` instead: the efficiencies that fit rollouts with the
cube best, in N positions of each kind. `benchmarks.cube_gnu` compares decisions with GNU
Backgammon's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.cube_endings import endings
from benchmarks.exploring import explore
from games import load
from games.backgammon.bear_off import unrank
from games.backgammon.bear_off_tables import bear_off
from games.backgammon.doubling import CubefulStakes
from games.backgammon.phases import RACE, phase
from games.backgammon.pips import pips_of
from games.backgammon.situation import Situation
from play.players.opponents import Opponents
from play.rollout.cube import rollout_cube
from search import Engine

CHECKERS = 6


def endings_lines() -> list[str]:
    """Returns the losses of money decisions in exact endings, by pips and cube efficiency."""
    exact = endings(CHECKERS)
    size = len(exact.own)
    equities = bear_off().equities[:size, :size].astype(float)
    pips = np.array([sum(k * (unrank(n) >> 4 * k & 15) for k in range(1, 7)) for n in range(size)])
    own, theirs = np.random.default_rng(1).integers(1, size, (2, 400_000))
    win = 0.5 + 0.5 * equities[own, theirs]
    doubtful = (win > 0.5) & (win < 0.95) & (np.abs(pips[own] - pips[theirs]) < 6)
    lines = ["exact endings: mean loss of double, redouble, take; decisions that are right"]
    for low, high in ((1, 6), (6, 10), (10, 14), (14, 18), (18, 22), (22, 37)):
        chosen = doubtful & (pips[own] >= low) & (pips[own] < high)
        rows = [(part, *_losses(exact, own[chosen], theirs[chosen], win[chosen], part))
                for part in np.arange(0.0, 1.01, 0.05)]  # fmt: skip
        best = min(rows, key=lambda row: sum(row[1:4]))
        losses, right = ([f"{x:.4f}" for x in part] for part in (best[1:4], best[4:]))
        lines.append(
            f"  {low:2} to {high - 1:2} pips, {chosen.sum():6} positions: efficiency"
            f" {best[0]:.2f}, {' '.join(losses)}; {' '.join(right)}"
        )
    return lines


def _losses(exact: Any, own: Any, theirs: Any, win: Any, part: float) -> list[float]:
    outcomes = np.zeros((len(win), 5))
    outcomes[:, 0] = win
    stakes = CubefulStakes()
    taken = 2 * stakes.value(outcomes, 1, 1, part)
    true_taken = 2 * exact.theirs[own, theirs]
    true_double = np.minimum(true_taken, 1.0)
    losses, right = [], []
    for owner, table in ((None, exact.middle), (0, exact.own)):
        double = np.minimum(taken, 1.0) > stakes.value(outcomes, 1, owner, part)
        waiting = table[own, theirs]
        wrong = np.where(double, waiting - true_double, true_double - waiting)
        losses.append(np.maximum(wrong, 0.0).mean())
        right.append((wrong <= 0).mean())
    wrong = np.where(taken < 1.0, true_taken - 1.0, 1.0 - true_taken)
    losses.append(np.maximum(wrong, 0.0).mean())
    right.append((wrong <= 0).mean())
    return [*losses, *right]


def rollout_lines(count: int, games: int) -> Iterator[str]:
    """Yields the efficiency that fits rollouts best, by the kind of position, for money."""
    game: Any = load("backgammon")
    engine = Engine(game, Opponents.of(game).shipped)
    random = np.random.default_rng(3)
    rows = explore(engine.evaluator, 400, seed=(3,))
    random.shuffle(rows)
    pips = np.array([pips_of(row[0], row[1]) for row in rows.tolist()])
    phases = np.array([phase(tuple(row)) for row in rows.tolist()])
    race = phases == RACE
    for name, chosen in (
        ("contact", ~race), ("race of 30 to 59 pips", race & (pips > 29) & (pips < 60)),
        ("race of 60 pips or more", race & (pips > 59)),
    ):  # fmt: skip
        above, below, seen = [], [], 0
        for row in rows[chosen].tolist():
            outcomes = engine.search(tuple(row), depth=1).outcomes
            if outcomes is None or not 0.35 < outcomes[0] < 0.8 or seen == count:
                continue
            seen += 1
            found = rollout_cube(engine, Situation(tuple(row)), games=games)
            for cube, owner, value in ((1, None, found.waiting), (2, 1, found.taken)):
                dead, live = (
                    CubefulStakes().value([outcomes], cube, owner, x)[0] for x in (0.0, 1.0)
                )
                above.append((value - dead) / cube)
                below.append((live - dead) / cube)
        fit, of = np.array(above), np.array(below)
        part = float(fit @ of / (of @ of))
        error = float(np.sqrt(np.mean((fit - part * of) ** 2)))
        spread = 2 * error / float(np.sqrt(of @ of))
        yield f"{name}, {seen} positions: {part:.2f} ± {spread:.2f}, off by {error:.4f} points"


def main() -> None:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollouts", type=int, metavar="N", help="positions of each kind")
    parser.add_argument("--games", type=int, default=108, help="of each rollout (default 108)")
    options = parser.parse_args()
    lines = rollout_lines(options.rollouts, options.games) if options.rollouts else endings_lines()
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
