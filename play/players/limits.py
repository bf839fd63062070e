"""The limits of a move."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import search.limits
from games.contract import Game, given
from games.kinds import WITHOUT_DICE
from games.rolls import rolls_of
from play.players.clock import LEAST_SECONDS, Clock
from search.search import DEEPEST
from search.sizes import MOST_THREADS
from search.time_control import Allowance

__all__ = [
    "CORES",
    "DEEPEST_WITH_DICE",
    "STATIC",
    "Depths",
    "Limits",
    "check_depth",
    "depths_of",
    "limits_of",
]

#: Positions a second of a fast search, and the least and greatest default size of its table in MiB.
#: Within these the table has 16 bytes for each position that a move's time allows.
RATE = 4e6
LEAST_MIB, GREATEST_MIB = 4.0, 64.0
#: Positions of a search on a clock without time to spare.
HASTY_NODES = 500
#: The greatest depth in a game with dice, more than anybody has time for.
DEEPEST_WITH_DICE = 9
#: Number of threads that share a search, in one process, if the result does not depend on the
#: number.
CORES = min(os.cpu_count() or 1, MOST_THREADS)


@dataclass(frozen=True)
class Limits(search.limits.Limits):
    """The limits of a move: any combination of plies, positions and seconds.

    depth: plies; 0 stands for static values, in games with dice only.
    nodes: positions.
    seconds: time.
    clock: the clock of a whole game, instead of seconds; in games without dice only.
    """

    seconds: float | None = None
    clock: Clock | None = None

    def __post_init__(self) -> None:
        if self.clock is not None and self.seconds is not None:
            raise ValueError("expected seconds for a move or a clock for the game, found both")
        super().__post_init__()
        if self.depth is not None and not 0 <= self.depth <= DEEPEST:
            raise ValueError(
                f"depth: expected 1 to {DEEPEST} plies (with dice also 0), found {self.depth}"
            )

    def check(self, game: Game) -> None:
        """Raises ValueError if the depth is not possible in the game."""
        if game.dice:
            if self.clock is not None:
                WITHOUT_DICE.expect(game, where="time")
            check_depth(self.depth or 0)
        elif self.depth == 0:
            raise ValueError("depth: expected at least 1 ply in a game without dice, found 0")

    @property
    def time(self) -> float | Allowance | None:
        """The time of the next move, for `Engine.search`."""
        return self.seconds if self.clock is None else self.clock.allowance()

    @property
    def options(self) -> dict[str, Any]:
        """The limits of the next move as options of `Engine.search`."""
        if self.clock is not None and self.clock.allowance().usual <= LEAST_SECONDS:
            # a search with a time limit takes longer to end than a forced move needs
            nodes = min(self.nodes or HASTY_NODES, HASTY_NODES)
            return {"depth": self.depth, "nodes": nodes, "seconds": None}
        return {"depth": self.depth, "nodes": self.nodes, "seconds": self.time}

    def for_play(self, game: Game, position: Any, roll: int | None = None) -> Limits:
        """Returns these limits, or the least depth if time limits a move and only one is legal.

        roll: the roll of the move in a game with dice; None before it, and in other games.
        """
        if self.time is None or rolls_of(game).awaits(roll):
            return self
        if len(game.legal_moves(position, *given(roll))) != 1:
            return self
        return Limits(depth=1) if roll is None else STATIC

    @property
    def table_mib(self) -> float:
        """The size of a transposition table, in MiB, with an entry for each position searched.

        It is a power of 2 from 4 to 64, at `RATE` positions a second.
        """
        seconds = self.seconds if self.clock is None else self.clock.allowance().usual
        nodes = min(self.nodes or math.inf, RATE * (seconds or math.inf))
        if math.isinf(nodes):  # the depth alone limits a move
            return LEAST_MIB
        return min(max(2.0 ** math.ceil(math.log2(nodes * 16 / 2**20)), LEAST_MIB), GREATEST_MIB)

    def __str__(self) -> str:
        parts = [
            f"depth {self.depth}" if self.depth is not None else "",
            f"{self.nodes} nodes" if self.nodes is not None else "",
            f"{self.seconds} s" if self.seconds is not None else "",
        ]
        text = ", ".join(part for part in parts if part)
        clock = "" if self.clock is None else f"{self.clock} a game"
        return ", ".join(part for part in (text and f"{text} a move", clock) if part)


#: The limits of static values, the default in games with dice.
STATIC = Limits(depth=0)


def check_depth(depth: int) -> None:
    """Raises ValueError if `depth` is out of range for a game with dice, where 0 is allowed."""
    if not 0 <= operator.index(depth) <= DEEPEST_WITH_DICE:
        raise ValueError(
            f"depth: expected 0 to {DEEPEST_WITH_DICE} plies in a game with dice, found {depth}"
        )


@dataclass(frozen=True)
class Depths:
    """The depths in plies at which people have positions searched.

    least, deepest: the bounds.
    usual: the depth by default.
    limits: the default limits of interactive play, as options of `Limits`.
    """

    least: int
    deepest: int
    usual: int
    limits: Mapping[str, Any]


def depths_of(game: Game) -> Depths:
    """Returns the depths of a game; the default is static values with dice, else 1 s of search."""
    return Depths(0, 7, 3, {"depth": 0}) if game.dice else Depths(1, 60, 60, {"seconds": 1.0})


def limits_of(options: Any, **default: Any) -> Limits:
    """Returns the limits by --depth, --nodes and --seconds of a command line, or the default."""
    given = {name: getattr(options, name) for name in ("depth", "nodes", "seconds")}
    if all(value is None for value in given.values()):
        given = default
    return Limits(**given)
