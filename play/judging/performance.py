"""The errors and the luck of players of games with dice: totals over games.

Errors, thresholds and words are those of GNU Backgammon: the rating is the mean loss of a decision
that was not forced (a move with a choice, an action of the cube, or a close decision not to
double), in points for the cube as it stood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from games.record import GameRecord
from play.judging.analysis import Judged
from play.judging.cube import ERRORS, JudgedCube
from play.judging.luck import JudgedRoll
from play.judging.marks import SIGNS, mark_of
from play.judging.stakes import result

__all__ = ["JudgedGame", "Performance", "rating_word"]

#: Mean loss of a decision in points below which a player has the rating.
RATINGS = (
    (0.002, "supernatural"), (0.005, "world class"), (0.008, "expert"), (0.012, "advanced"),
    (0.018, "intermediate"), (0.026, "casual player"), (0.035, "beginner"),
)  # fmt: skip
LUCK_WORDS = ("very lucky", "lucky", "unlucky", "very unlucky")


def rating_word(error: float) -> str:
    """Returns the word for a mean loss of a decision, in points."""
    return next((word for most, word in RATINGS if error < most), "awful")


@dataclass
class JudgedGame:
    """The judgements of a game; only the first ones after Ctrl-C.

    cube: whether its decisions about the cube are judged, and its values are those with the cube.
    """

    record: GameRecord
    cube: bool = False
    moves: list[Judged] = field(default_factory=list)
    cubes: list[JudgedCube] = field(default_factory=list)
    rolls: list[JudgedRoll] = field(default_factory=list)

    def add(self, judged: Judged | JudgedCube | JudgedRoll) -> None:
        """Add a judgement."""
        kind: Any = {Judged: self.moves, JudgedCube: self.cubes, JudgedRoll: self.rolls}
        kind[type(judged)].append(judged)

    @property
    def whole(self) -> bool:
        """Whether every move of the game is judged."""
        return len(self.moves) == self.record.ply

    @property
    def result(self) -> float | None:
        """The result for side 0: points, or in a match chances to win it; None if unknown."""
        if not self.whole or not self.record.game.dice:
            return None
        if self.cube:
            return result(self.record.game, self.record)
        # without values that count the cube, luck cannot adjust a result that the cube multiplied
        return None if self.record.actions else self.record.outcome()


@dataclass
class Performance:
    """One player's totals over games of one kind.

    Losses and luck are pairs: in points for the cube as it stood, and in stakes, which are points
    for money and chances to win the match in a match.

    match: whether the stakes are chances to win a match.
    moves, unforced: number of moves, and of those with a choice.
    move_loss: their loss.
    marks: number of moves by error mark, dubious ones first.
    decisions: number of decisions about the cube that count.
    cube_loss: their loss.
    cube_errors: number and loss (in points) of wrong decisions, by their name.
    luck: total luck of the player's rolls.
    rolls: number of rolls.
    luck_marks: number of rolls by word.
    result: result of all games; None if a game has no result.
    adjusted: the same, less the player's luck and plus the opponent's.
    """

    match: bool = False
    moves: int = 0
    unforced: int = 0
    move_loss: tuple[float, float] = (0.0, 0.0)
    marks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SIGNS, 0))
    decisions: int = 0
    cube_loss: tuple[float, float] = (0.0, 0.0)
    cube_errors: dict[str, tuple[int, float]] = field(default_factory=dict)
    luck: tuple[float, float] = (0.0, 0.0)
    rolls: int = 0
    luck_marks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LUCK_WORDS, 0))
    result: float | None = 0.0
    adjusted: float | None = 0.0

    def add(self, game: JudgedGame, side: int) -> None:
        """Count one side of a game."""
        for move in game.moves:
            if move.side == side:
                self.moves += 1
                self.unforced += move.choices > 1
                self.move_loss = _sum(self.move_loss, move.loss, move.stake)
                sign = mark_of(game.record.game, move.given_up)
                if sign:
                    self.marks[sign] += 1
        for one in game.cubes:
            if one.side == side and one.counts:
                self.decisions += 1
                self.cube_loss = _sum(self.cube_loss, max(one.loss, 0.0), one.stake)
                if one.loss > 0:
                    count, loss = self.cube_errors.get(ERRORS[one.action], (0, 0.0))
                    self.cube_errors[ERRORS[one.action]] = count + 1, loss + one.loss
        net = 0.0
        for roll in game.rolls:
            sign_of_luck = 1 if roll.side == side else -1
            net += sign_of_luck * roll.luck * roll.stake
            if roll.side == side:
                self.rolls += 1
                self.luck = _sum(self.luck, roll.luck, roll.stake)
                if roll.word:
                    self.luck_marks[roll.word] += 1
        won = game.result
        if won is None or self.result is None or self.adjusted is None:
            self.result = self.adjusted = None
        else:
            won = -won if side else won
            self.result += won
            self.adjusted += won - net

    @property
    def error(self) -> float | None:
        """The mean loss of a decision that was not forced, in points; None without any."""
        count = self.unforced + self.decisions
        return (self.move_loss[0] + self.cube_loss[0]) / count if count else None

    def lines(self) -> Iterator[str]:
        """Yields the report, a line each for moves, the cube, luck, the result and the rating."""
        marks = ", ".join(f"{count} {sign}" for sign, count in self.marks.items())
        yield (
            f"moves: {self.unforced} of {self.moves} with a choice, lost"
            f" {self._pair(self.move_loss)}; {marks}"
        )
        if self.decisions:
            errors = "; ".join(
                f"{count} {name}{'s' * (count > 1)} {loss:.3f}"
                for name, (count, loss) in self.cube_errors.items()
            )
            yield (
                f"cube: {self.decisions} decision{'s' * (self.decisions > 1)}, lost"
                f" {self._pair(self.cube_loss)}{'; ' * bool(errors)}{errors}"
            )
        words = ", ".join(f"{count} {word}" for word, count in self.luck_marks.items() if count)
        yield f"luck: {self._pair(self.luck, '+')}{'; ' * bool(words)}{words}"
        if self.result is not None and self.adjusted is not None:
            yield (
                f"result: {self._stakes(self.result, '+')}, luck-adjusted"
                f" {self._stakes(self.adjusted, '+')}"
            )
        if self.error is not None:
            yield (
                f"rating: {1000 * self.error:.1f} thousandths lost a decision,"
                f" {rating_word(self.error)}"
            )

    def figures(self) -> dict[str, Any]:
        """Returns the totals as plain values, for JSON; losses and luck are [points, stakes]."""
        return {
            "moves": self.moves,
            "unforced": self.unforced,
            "move_loss": list(self.move_loss),
            "marks": self.marks,
            "cube_decisions": self.decisions,
            "cube_loss": list(self.cube_loss),
            "cube_errors": {name: list(one) for name, one in self.cube_errors.items()},
            "luck": list(self.luck),
            "luck_marks": self.luck_marks,
            "result": self.result,
            "luck_adjusted": self.adjusted,
            "error": self.error,
            "rating": None if self.error is None else rating_word(self.error),
            "stakes": "chances to win the match" if self.match else "points",
        }

    def _pair(self, pair: tuple[float, float], sign: str = "") -> str:
        points, stakes = (one + 0.0 for one in pair)  # no negative zero
        if not self.match and points == stakes:
            return self._stakes(stakes, sign)
        return f"{points:{sign}.3f} ({self._stakes(stakes, sign)})"

    def _stakes(self, value: float, sign: str = "") -> str:
        value += 0.0  # no negative zero
        if self.match:
            return f"{100 * value:{sign}.2f} % of the match"
        return f"{value:{sign}.3f} points"


def _sum(pair: tuple[float, float], points: float, stake: float) -> tuple[float, float]:
    return pair[0] + points, pair[1] + points * stake
