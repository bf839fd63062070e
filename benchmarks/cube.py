"""Measures decisions about the cube: `python -m benchmarks.cube [--positions N] [--plies P]`.

First against exact equities with the cube of endings of at most six checkers a side, by the pips of
the side to move, for each efficiency: what the decisions lose. Then against GNU Backgammon (the
package `gnubg_nn`, which decides in matches only): both are given the chances that GNU Backgammon
finds at P plies, at random scores of matches to 7 points, in positions of games that it plays.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import numpy as np

import games
from games.backgammon.bear_off import unrank
from games.backgammon.bear_off_tables import bear_off
from games.backgammon.doubling import Stakes, decide
from games.backgammon.doubling.endings import endings
from games.backgammon.situation import Situation

GAME: Any = games.load("backgammon")
CHECKERS = 6


def endings_lines() -> list[str]:
    """Returns what decisions for money lose in exact endings, by pips and efficiency."""
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
    stakes = Stakes()
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


def gnu_lines(count: int, plies: int, seed: int) -> list[str]:
    """Returns how many decisions agree with those of GNU Backgammon, and what the others lose."""
    import gnubg_nn

    from play.players.gnubg import Program, board

    seat = Program("gnubg", 0)(GAME)
    chance = random.Random(seed)
    agree, cost, seen = np.zeros(2), np.zeros(2), 0
    while seen < count:
        position = GAME.start_of(0)
        for _ in range(chance.randrange(4, 60)):
            roll = chance.choices(range(21), list(GAME.rolls))[0]
            position = GAME.play(position, seat.choose(position, roll))
            if GAME.outcome(position) is not None:
                break
        if GAME.outcome(position) is not None:
            continue
        outcomes = gnubg_nn.probabilities(board(position), plies)
        score = (chance.randrange(6), chance.randrange(6))
        if not 0.5 < outcomes[0] < 0.95:
            continue
        seen += 1
        side = position[4]
        gnubg_nn.set.score(7 - score[side], 7 - score[1 - side], 0)
        gnubg_nn.set.cube(1)
        key = gnubg_nn.key_of_board(board(position))
        double, take, _, waiting, taken, dropped = gnubg_nn.evaluate_cube_decision(
            key, plies, 0, b"O", 1
        )
        ours = decide(Situation(position, match_length=7, score=score), outcomes)
        agree += bool(double) == ours.double, bool(take) == ours.take
        best = max(waiting, min(taken, dropped))
        cost[0] += best - (min(taken, dropped) if ours.double else waiting)
        cost[1] += (taken if ours.take else dropped) - min(taken, dropped)
    return [
        f"GNU Backgammon {plies}-ply, {count} positions of matches to 7 points: the same double"
        f" {agree[0] / count:.4f}, the same answer {agree[1] / count:.4f}; by its own chances to"
        f" win the match ours lose {cost[0] / count:.5f} and {cost[1] / count:.5f}",
    ]


def main() -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=500, help="positions with GNU Backgammon")
    parser.add_argument("--plies", type=int, default=0, help="its plies")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("\n".join(endings_lines()))
    print("\n".join(gnu_lines(options.positions, options.plies, options.seed)))


if __name__ == "__main__":
    main()
