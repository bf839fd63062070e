"""The chances of win, draw and loss that an evaluator's values stand for.

    P(win) = 1 / (1 + exp((draw - value) / scale))        P(loss) is the same of -value

and the rest are draws: the model of ties of Rao and Kupper (1967), an ordinal logit whose two
thresholds lie at -draw and +draw. The chances of the two sides therefore always agree. Each phase
of a game has numbers of its own, because the fewer pieces are left, the larger an advantage has to
be. `learner.fit.calibration` fits them to games of self-play.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from games import kernels
from games.contract import Game
from games.values import PROVEN
from search.evaluators.header import EvaluatorError, check_fields, short

__all__ = ["CALIBRATION", "Calibration", "Chances", "read_calibration"]

#: The name of the entry in the files of evaluators.
CALIBRATION = "calibration"


class Chances(NamedTuple):
    """The probabilities of the result for the side to move; they add up to 1."""

    win: float
    draw: float
    loss: float

    @property
    def expected(self) -> float:
        """The expected result: 1 for a win, 0.5 for a draw, 0 for a loss."""
        return self.win + 0.5 * self.draw

    @property
    def turned(self) -> Chances:
        """The chances of the other side."""
        return Chances(self.loss, self.draw, self.win)

    @property
    def text(self) -> str:
        """Whole per cent, such as "win 61 %, draw 30 %, loss 9 %"; without draws only the win.

        What is possible but rounds to 0 or 100 is "<1 %" or ">99 %".
        """
        win, draw, loss = map(_percent, self)
        return f"win {win}, draw {draw}, loss {loss}" if self.draw else f"win {win}"

    @classmethod
    def of_win(cls, win: float) -> Chances:
        """Returns the chances in a game without draws."""
        return cls(win, 0.0, 1.0 - win)

    @classmethod
    def of_outcome(cls, outcome: float) -> Chances:
        """Returns the certainty of a win (more than 0), a loss (less) or a draw."""
        return cls(float(outcome > 0), float(outcome == 0), float(outcome < 0))


@dataclass(frozen=True)
class Calibration:
    """How an evaluator's values turn into chances.

    scale: the value that multiplies the odds by e, in the evaluator's unit; more than 0. One number
        for each phase of the game, or one for all.
    draw: the value at which a win is as likely as not; 0 or more. As many numbers as `scale`.
    evidence: how the numbers were found and how good they are on other games; saved with them.

    Raises ValueError if a number is out of range, or there are not as many of both.
    """

    scale: tuple[float, ...]
    draw: tuple[float, ...]
    evidence: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name, least in (("scale", "more than 0"), ("draw", "0 or more")):
            numbers = tuple(getattr(self, name))
            object.__setattr__(self, name, numbers)
            good = all(
                type(number) in (int, float)
                and math.isfinite(number)
                and (number > 0 or (name == "draw" and number == 0))
                for number in numbers
            )
            if not good or not numbers or len(numbers) != len(self.scale):
                raise ValueError(
                    f"calibration: expected {name} to be finite numbers, {least}, one for each"
                    f" phase, found {short(list(numbers))}"
                )

    def chances(self, value: float, phase: int = 0) -> Chances:
        """Returns the chances of a value in a phase of the game; certainty for a proven one."""
        if abs(value) > PROVEN:
            return Chances.of_outcome(value)
        place = phase if len(self.scale) > 1 else 0
        scale, draw = self.scale[place], self.draw[place]
        win, loss = _logistic((value - draw) / scale), _logistic((-value - draw) / scale)
        return Chances(win, max(0.0, 1.0 - (win + loss)), loss)

    def chances_at(self, game: Game, position: Any, value: float) -> Chances:
        """Returns the chances of a value of a position."""
        phases = game.phases
        many = len(self.scale) > 1 and phases is not None
        phase = int(kernels.uncompiled(phases.phase)(position)) if many and phases else 0
        return self.chances(value, min(max(phase, 0), len(self.scale) - 1))

    def fits(self, game: Game) -> bool:
        """Whether it has one pair of numbers, or one for each phase of a game."""
        return len(self.scale) in (1, 1 if game.phases is None else len(game.phases))

    def content(self) -> dict[str, Any]:
        """Returns the entry for an evaluator's file."""
        return {
            "scale": list(self.scale),
            "draw": list(self.draw),
            "evidence": dict(self.evidence),
        }


def read_calibration(path: Path, content: dict[str, Any], game: Game) -> Calibration | None:
    """Remove the entry `CALIBRATION` from a file's header, and return what it holds.

    Returns None if there is no entry, as in older files. Raises EvaluatorError if it is damaged or
    the game has another number of phases.
    """
    entry = content.pop(CALIBRATION, None)
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise EvaluatorError(f"{path}: expected a calibration, found {short(entry)}")
    check_fields(path, entry, {"scale": list, "draw": list, "evidence": dict})
    try:
        calibration = Calibration(tuple(entry["scale"]), tuple(entry["draw"]), entry["evidence"])
    except ValueError as error:
        raise EvaluatorError(f"{path}: {error}") from None
    if not calibration.fits(game):
        raise EvaluatorError(
            f"{path}: expected a calibration for {len(game.phases or ()) or 1} phases, found"
            f" {len(calibration.scale)}"
        )
    return calibration


def _percent(share: float) -> str:
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(value, -700.0), 700.0)))
