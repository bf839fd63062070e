"""Measures the use of a clock: `python -m benchmarks.clock [--time 1+0.01] [--games 100]`.

A player of checkers plays itself by the clock, from random openings. The report has the share of
the time given that was used (the clock at the beginning, and what each move added), the games lost
on time, and by how much moves came late. A second process that does nothing but work, `--load`,
shows whether the reserve holds on a busy machine.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from itertools import islice

import numpy as np

import games
from games.record import GameRecord
from play.matches.openings import Openings
from play.players.clock import TIME, parse_clock
from play.players.limits import Limits
from play.players.parse import parse_player


def work() -> None:
    """Work for ever."""
    while True:
        sum(range(1000))


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement; returns the exit status: 1 if a game was lost on time."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clock", description=__doc__)
    add = parser.add_argument
    add("player", nargs="?", default="quantised")
    add("--time", type=parse_clock, default=parse_clock("1+0.01"))
    add("--games", type=int, default=100)
    add("--seed", type=int, default=1)
    add("--load", type=int, default=0, metavar="N", help="processes that do nothing but work")
    options = parser.parse_args(arguments)
    for _ in range(options.load):
        multiprocessing.get_context("spawn").Process(target=work, daemon=True).start()
    game = games.load("checkers")
    limits = Limits(clock=options.time)
    seats = [parse_player(game, options.player).seat(game, limits) for _ in range(2)]
    for seat in seats:
        seat.move(GameRecord(game))  # compiles
    shares, late, lost, moves = list[float](), list[float](), 0, 0
    for number, opening in enumerate(
        islice(Openings(game, plies=6, seed=options.seed), options.games)
    ):
        record = GameRecord(game)
        for move in opening:
            record.play(move)
        spent, count = [0.0, 0.0], [0, 0]
        for seat in seats:
            seat.begin(number)
        while not record.over:
            side = len(record.moves) % 2
            began = time.monotonic()
            seats[side].move(record)
            spent[side] += time.monotonic() - began
            count[side] += 1
            late.append(seats[side].engine.late)
        if record.reason == TIME:
            lost += 1
            print(f"game {number + 1} lost on time after {max(count)} moves", flush=True)
        moves += sum(count)
        given = [options.time.left + options.time.increment * played for played in count]
        shares += [used / all_of_it for used, all_of_it in zip(spent, given, strict=True)]
    tail = np.quantile(late, (0.5, 0.99, 1.0)) * 1e3
    mean, low, high = 100 * np.array([np.mean(shares), *np.quantile(shares, (0.1, 0.9))])
    print(
        f"{options.player}, {options.time} a game, {options.games} games of"
        f" {moves / 2 / options.games:.0f} moves a side: {mean:.0f} % of the time used ({low:.0f}"
        f" to {high:.0f}), {lost} lost on time; late by {tail[0]:.1f} ms, 1 in 100 by"
        f" {tail[1]:.1f}, at most {tail[2]:.1f}"
    )
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
