"""The result of a match: its units, and statistics of the players."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from games.contract import Game
from play.matches.units import CubePairs, DicePairs, Pairs, Unit, Units, units_of
from play.players.limits import Limits
from play.ratings.places import PlaceSummary
from play.ratings.points import DiceSummary
from play.ratings.statistics import MatchSummary

__all__ = ["Match", "all_games", "outcome_bounds"]


@dataclass
class Match:
    """A match of two or more players; a score of two is the first player's.

    names: the players.
    length: points of each match with the cube, 0 for games for money; None without the cube.
    luck_by: name of the player whose static values measure luck; None if it is not measured.
    units: the units counted.
    repeated: number of units that repeated earlier games and were not counted.
    elapsed: seconds of playing.
    interrupted: whether Ctrl-C ended the match.
    failure: error of the external engine that ended the match, or empty.
    verdict: last verdict of the sequential test, or empty.
    """

    game: Game
    names: tuple[str, ...]
    limits: Limits
    length: int | None = None
    luck_by: str | None = None
    units: list[Unit] = field(default_factory=list)
    repeated: int = 0
    elapsed: float = 0.0
    interrupted: bool = False
    failure: str = ""
    verdict: str = ""
    #: The number of each pair of scores in the units that are counted so far.
    _tallied: Counter[Any] = field(default_factory=Counter, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        so_far = f", {self.so_far()}" if self.units else ""
        if so_far and self.kind is Pairs:
            score = self.summary()
            so_far = f", +{score.wins} ={score.draws} -{score.losses}, Elo {score.elo.text('+.0f')}"
        return f"Match({self.title}, {self.games} games{so_far})"

    @property
    def kind(self) -> type[Units]:
        """The name of its units."""
        return units_of(self.game, self.length)

    @property
    def title(self) -> str:
        """The names of the players."""
        return (" against " if len(self.names) == 2 else ", ").join(self.names)

    @property
    def games(self) -> int:
        """The number of games counted; with the cube, of whole matches."""
        return len(self.names) * len(self.units)

    @property
    def played(self) -> int:
        """The number of games, counting each game of a match with the cube."""
        return sum(unit.played for unit in self.units)

    @property
    def different(self) -> int:
        """The number of different games; players who play alike repeat one with colours swapped."""
        return len({(game.start, *game.moves) for unit in self.units for game in unit.games})

    @property
    def points(self) -> list[tuple[float, ...]]:
        """The first player's points, [units][sittings]."""
        return [tuple(points[0] for points in unit.points) for unit in self.units]

    @property
    def scores(self) -> list[tuple[float, ...]]:
        """The first player's score, [units][sittings]: 1, 0.5 or 0."""
        return [_scores(unit) for unit in self.units]

    @property
    def luck(self) -> list[tuple[float, ...]] | None:
        """The first player's luck, [units][sittings]; None if it is not measured."""
        return None if self.luck_by is None else [unit.luck for unit in self.units]

    def actions(self, kind: str) -> int:
        """Returns the number of times of an action with the cube: double, take or drop."""
        return sum(unit.actions.count(kind) for unit in self.units)

    def seconds(self) -> list[float]:
        """Returns the time of each move of external engines."""
        return [seconds for unit in self.units for seconds in unit.seconds]

    def summary(self) -> Any:
        """Returns the statistics of the units, two players' from the first one's view.

        They are a `MatchSummary`, with dice a `DiceSummary`, of more players a `PlaceSummary`.
        """
        if self.kind is Pairs:
            for unit in self.units[self._tallied.total() :]:
                self._tallied[_scores(unit)] += 1
            return MatchSummary.of_pairs(self._tallied)
        if self.kind is DicePairs:
            return DiceSummary(self.points, self.luck, bounds=outcome_bounds(self.game))
        if self.kind is CubePairs:
            bound = 1.0 if self.length else np.inf
            cubes = [] if self.length else [unit.cubes for unit in self.units]
            return DiceSummary(self.points, bounds=(-bound, bound), cubes=cubes or None)
        return PlaceSummary(self.names, [unit.points for unit in self.units])

    def so_far(self) -> str:
        """Returns the score in a few words."""
        if self.length:
            won = sum(point > 0 for pair in self.points for point in pair)
            return f"{self.names[0]} won {won} of {self.games} matches against {self.names[-1]}"
        return str(self.summary().brief(self.names))

    def figures(self) -> dict[str, Any]:
        """Returns the match as plain values, for JSON."""
        figures = {
            "players": list(self.names),
            "limits": str(self.limits),
            "depth": self.limits.depth,
            "nodes": self.limits.nodes,
            "seconds": self.limits.seconds,
            **self.summary().figures(),
            "repeated_pairs": self.repeated,
            "verdict": self.verdict,
            "luck": self.luck_by,
            "interrupted": self.interrupted,
            "failure": self.failure,
        }
        if len(self.names) == 2:
            figures["first"], figures["second"] = self.names
        if self.length is not None:
            figures |= {"length": self.length, "games_played": self.played}
            figures |= {"doubles": self.actions("double"), "drops": self.actions("drop")}
        return figures


def _scores(unit: Unit) -> tuple[float, ...]:
    # by the winner alone, even if the game's outcomes are points
    return tuple(0.5 * ((points[0] > 0) - (points[0] < 0) + 1) for points in unit.points)


def outcome_bounds(game: Game) -> tuple[float, float]:
    """Returns the bounds of a game's points, infinite if it does not declare outcomes."""
    if game.outcomes is None:
        return -np.inf, np.inf
    low, high = (
        game.outcomes.base + sum(points for points in game.outcomes.payoffs if sign * points > 0)
        for sign in (-1, 1)
    )
    return min(low, -high), max(high, -low)


def all_games(
    matches: Sequence[Match], unit: int = 0
) -> Iterator[tuple[tuple[str, ...], Sequence[Any]]]:
    """Yields the games of every sitting that was kept, with the names of its players by side.

    unit: the number of the first unit of each match.
    """
    for match in matches:
        for one in match.units[unit:]:
            for shift, games in enumerate(one.sittings):
                yield match.names[-shift:] + match.names[:-shift] if shift else match.names, games
