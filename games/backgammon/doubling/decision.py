"""Decisions about the cube: whether to double, and whether to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.backgammon.doubling.cubeful import CubefulStakes, Shares
from games.backgammon.doubling.match_equity import MatchEquities
from games.backgammon.doubling.own_table import match_equities
from games.backgammon.situation import Situation
from games.errors import PositionError

__all__ = ["CubeDecision", "DoublingCube"]

#: Equities that differ by less are equal.
ROUNDING = 1e-9


@dataclass(frozen=True)
class CubeDecision:
    """A decision about the cube; equities are for the side that doubles or could.

    They are in points at a cube of 1; in a match -1 and 1 are the loss and the win of the cube's
    points (as in GNU Backgammon). `chances` are the chances to win the match.

    no_double: the equity without a double now.
    double_take: the equity after a double that is taken.
    double_drop: the equity after a double that is dropped.
    double_beaver: the equity after a double that is beavered; None without beavers.
    double: whether to double.
    answer: the right answer to a double: "take", "drop" or "beaver".
    redouble: whether a double would be a redouble.
    reason: the reason, in a sentence.
    chances: in a match, chances to win it: no double, double and take, double and drop; else None.
    take_point: the winning chance from which on the other side takes if the cube is fully live.
    """

    no_double: float
    double_take: float
    double_drop: float
    double_beaver: float | None
    double: bool
    answer: str
    redouble: bool
    reason: str
    chances: tuple[float, float, float] | None
    take_point: float

    @property
    def take(self) -> bool:
        """Whether the other side keeps playing after a double."""
        return self.answer != "drop"

    @property
    def action(self) -> str:
        """The right actions of both sides, such as `double, take` or `too good, drop`."""
        verb = "redouble" if self.redouble else "double"
        if self.double:
            return f"{verb}, {self.answer}"
        good = self.no_double > self.double_drop and not self.take
        return f"too good, {self.answer}" if good else f"no {verb}, {self.answer}"

    @property
    def figures(self) -> str:
        """The equities in words."""
        return (
            f"no double {self.no_double:+.3f}, double and take {self.double_take:+.3f},"
            f" double and drop {self.double_drop:+.3f}"
        )

    @property
    def equity(self) -> float:
        """The equity if both sides decide correctly."""
        return self.after_double if self.double else self.no_double

    @property
    def after_double(self) -> float:
        """The equity after a double and the right answer."""
        answers = {"take": self.double_take, "drop": self.double_drop}
        return answers.get(self.answer, self.double_beaver or 0.0)

    def loss(self, action: str) -> float:
        """Returns the equity that an action loses to the side that makes it.

        action: `double`, `no double`, `take`, `drop` or `beaver`. Raises ValueError for others.
        """
        if action in ("double", "no double"):
            own = self.after_double if action == "double" else self.no_double
            return self.equity - own
        answers = {
            "take": self.double_take,
            "drop": self.double_drop,
            "beaver": self.double_beaver,
        }
        equity = answers.get(action)
        if equity is None:
            raise ValueError(
                f"expected double, no double, take, drop or beaver, found {action[:40]!r}"
            )
        return equity - self.after_double


class DoublingCube:
    """The cube of backgammon, see `games.cube.Cube`.

    equities: chances to win a match; our own table if None.
    """

    def __init__(self, equities: MatchEquities | None = None) -> None:
        self.equities = equities

    def may_double(self, situation: Situation) -> bool:
        """Whether the side to move has access to the cube, before its roll.

        Also for a double that was offered, but not for a beaver.
        """
        return (
            situation.roll is None
            and situation.offered in ("", "double")
            and not situation.crawford
            and situation.owner in (None, situation.position[4])
            and situation.cube < situation.highest_cube
            and situation.match_length != 1
        )

    def values(self, situation: Situation, outcomes: Any) -> NDArray[np.float64]:
        """Returns the values of positions with the cube for the side to move.

        The efficiency of the cube depends on the position.
        """
        stakes, owner = self.stakes(situation)
        return stakes.values([situation.position], outcomes, situation.cube, owner)

    def stakes(self, situation: Situation) -> tuple[CubefulStakes, int | None]:
        """Returns the stakes of the side to move, and who owns the cube."""
        given = self.equities
        tables = match_equities if given is None else lambda _: given
        owner = situation.owner
        owned = None if owner is None else int(owner != situation.position[4])
        return CubefulStakes.of_situation(situation, tables), owned

    def decision(
        self,
        situation: Situation,
        outcomes: Sequence[float],
        searched: tuple[float, float] | None = None,
    ) -> CubeDecision:
        """Returns the decision before a roll, or about the double that was offered.

        Raises PositionError if the side to move may not double, has rolled, or was beavered.
        """
        if not self.may_double(situation):
            raise PositionError("expected a side that may double before its roll")
        stakes, owner = self.stakes(situation)
        cube, owned = situation.cube, owner is not None
        place, table = [situation.position], np.array([outcomes], float)
        waiting, taken = searched or (
            float(stakes.values(place, table, cube, owner)[0]),
            float(stakes.values(place, table, 2 * cube, 1)[0]),
        )
        dropped = stakes.points(0, cube)
        point = float(stakes.take_point(Shares.of(table), 1, cube)[0])
        chances = None
        if stakes.lacking is None:
            scaled = [value / cube for value in (waiting, taken, dropped)]
        else:
            chances = (waiting, taken, dropped)
            lost = stakes.points(0, -cube)
            scaled = [2 * (value - lost) / (dropped - lost) - 1 for value in chances]
        no_double, take, drop = scaled
        beaver = 2 * take if situation.beavers and 4 * cube <= situation.highest_cube else None
        answer = "drop" if take > drop else "take"
        if answer == "take" and beaver is not None and beaver < take:
            answer = "beaver"
        value = {"take": take, "drop": drop, "beaver": beaver}[answer]
        assert value is not None
        useless = not stakes.can_double(0, cube, 0 if owned else None)
        # If a double neither gains nor loses, double: the game ends sooner.
        double = value >= no_double - ROUNDING and not useless
        return CubeDecision(
            no_double, take, drop, beaver, double, answer, owned,
            _reason(no_double, take, drop, double, useless, answer), chances, point,
        )  # fmt: skip

    def accepts(
        self, situation: Situation, outcomes: Sequence[float], side: int, kind: int
    ) -> bool:
        """Returns whether the other side gains by accepting a resignation."""
        if situation.jacoby and situation.owner is None:
            kind = 1  # a backgammon or gammon counts only after a double is taken
        stakes, _ = self.stakes(situation)
        playing = float(self.values(situation, np.array([outcomes], float))[0])
        to_move = situation.position[4]
        offered = stakes.points(0, kind * situation.cube * (1 if to_move != side else -1))
        return offered >= playing if to_move != side else offered <= playing


def _reason(
    waiting: float, take: float, drop: float, double: bool, useless: bool, answer: str
) -> str:
    """Returns why a decision is right."""
    if useless:
        return "a win already decides the match, so that a higher cube gains nothing"
    if double:
        if answer == "drop":
            return f"the double wins {drop:+.3f} at once, playing on is worth {waiting:+.3f}"
        return f"the double gains {min(take, drop) - waiting:.3f}, although it can be taken"
    if answer == "drop":
        return f"playing on for a gammon is worth {waiting:+.3f}, more than {drop:+.3f} by a drop"
    if answer == "beaver":
        return f"the other side is the favourite: {take:+.3f} with the doubled cube"
    return f"the cube is worth more where it is: {waiting:+.3f} against {take:+.3f} after a take"
