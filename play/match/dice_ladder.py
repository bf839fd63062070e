"""A round robin in games with dice: points a game, all with the same dice.

Pair i of every match has the same dice, so a player's points against all others in the pairs of one
number are one unit of the error bar, however many others there are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from games.contract import DiceGame
from play.match.dice_match import DiceMatch, play_dice_match
from play.match.ladder import check_players
from play.players.player import Player
from play.ratings.statistics import Estimate, mean_interval
from play.workers import Workers

__all__ = ["Standing", "dice_ladder", "standings"]


@dataclass(frozen=True)
class Standing:
    """A player of a ladder: points per game against all others, with the 95 % interval."""

    name: str
    points: Estimate
    games: int


def dice_ladder(
    game: DiceGame,
    players: Sequence[Player],
    *,
    games: int = 4000,
    depth: int = 0,
    seed: int = 0,
    threads: int = 2,
    workers: Workers | None = None,
    progress: Callable[[DiceMatch], None] | None = None,
) -> tuple[list[Standing], list[DiceMatch]]:
    """Every player against every other, `games` games each; standings (best first) and matches.

    The options are those of `play_dice_match`. Raises ValueError for fewer than two players or two
    of one name. Ctrl-C ends it: the standings then cover what was played, the last match is marked
    as interrupted, and players who had not played yet are left out.
    """
    check_players(players)
    matches: list[DiceMatch] = []
    pairings = [(a, b) for i, a in enumerate(players) for b in players[i + 1 :]]
    for first, second in pairings:
        match = play_dice_match(
            game,
            first,
            second,
            games=games,
            depth=depth,
            seed=seed,
            threads=threads,
            workers=workers,
            progress=progress,
        )
        matches.append(match)
        if match.interrupted:
            break
    return standings(matches), matches


def standings(matches: Sequence[DiceMatch]) -> list[Standing]:
    """Points per game of everybody who played, best first; matches have the same dice."""
    names = dict.fromkeys(name for match in matches for name in (match.first, match.second))
    found = []
    for name in names:
        played = [
            (1 if match.first == name else -1) * np.array(match.points).sum(axis=1)
            for match in matches
            if name in (match.first, match.second) and match.points
        ]
        if not played:
            continue
        units = max(map(len, played))
        points, counts = np.zeros(units), np.zeros(units)
        for one in played:
            points[: len(one)] += one
            counts[: len(one)] += 2
        if counts.min() == counts.max():
            values, bounds = points / counts, matches[0].bounds
        else:  # values whose mean is that of all games: a ratio's linear approximation
            mean = points.sum() / counts.sum()
            values, bounds = mean + (points - mean * counts) / counts.mean(), (-np.inf, np.inf)
        found.append(Standing(name, mean_interval(values, bounds=bounds), int(counts.sum())))
    return sorted(found, key=operator.attrgetter("points.value"), reverse=True)
