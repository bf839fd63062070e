"""The chances of win, draw and loss that an evaluator's values stand for.

    P(win) = 1 / (1 + exp((draw - value) / scale))

and P(loss) is the same of -value; the rest are draws: the model of ties of Rao and Kupper (1967),
an ordinal logit whose two thresholds lie at -draw and +draw. The chances of the two sides therefore
always agree. How much a value is worth depends on the play that follows. Numbers without terms hold
for one strength of play alone, which `evidence` says. With terms the draw, and the worth of each
piece of a value between two `KNOTS`, are exponentials of sums of `TERMS` of the positions searched
for a move and of the pieces left, so that chances still rise with the value:

    P(win) = 1 / (1 + exp(draw - worth)),  worth = sign(value) (sum of slope x part of |value|)

`learner.regression.calibration` fits them to games of self-play.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from games import kernels
from games.contract import Game
from games.extras import Extra
from games.values import PROVEN
from search.evaluators.files.header import EvaluatorError, check_fields, check_printable, short

__all__ = [
    "CALIBRATION",
    "Calibration",
    "Calibrations",
    "KNOTS",
    "TERMS",
    "Chances",
    "parts_of",
    "read_calibration",
    "terms_of",
]

#: The name of the entry in the files of evaluators.
CALIBRATION = "calibration"
#: The values at which the slope of the chances changes, in units of `Calibration.size`.
KNOTS = (0.0, 0.05, 0.2, 0.5, 1.0, 1.5)
#: Terms of the nodes and of the number of pieces, see `terms_of`; each has coefficients of the
#: logarithms of the draw and of the slope behind each of `KNOTS`.
TERMS = ("one", "nodes", "pieces", "nodes_pieces", "pieces_squared", "nodes_squared")
#: Chances for one strength of play are printed after searches of at most this times its nodes.
AWAY = 10
#: The greatest chance of a value that is not proven: the hundreds of games of a fit say no more.
SUREST = 0.995
#: The maximum number of nodes and pieces of a fit.
MOST = 10**12


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

        A possible result that rounds to 0 or 100 is "<1 %" or ">99 %".
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


def terms_of(nodes: Any, pieces: Any) -> Any:
    """Returns the values of `TERMS`, [terms] or [terms, positions].

    nodes: positions searched for a move, at least 1; counted in powers of ten from 10,000.
    pieces: pieces left, at least 1; counted in doublings from 8.
    """
    work, left = np.log10(nodes) - 4.0, np.log2(pieces) - 3.0
    return np.array([np.ones_like(work), work, left, work * left, left * left, work * work])


def parts_of(distance: Any) -> Any:
    """Returns the part of distances from 0, in units of the size, beyond each of `KNOTS`."""
    widths = np.diff(KNOTS, append=np.inf)
    return np.array([np.clip(distance - k, 0.0, w) for k, w in zip(KNOTS, widths, strict=True)])


@dataclass(frozen=True)
class Calibration:
    """The numbers that turn an evaluator's values into chances.

    scale: the value that multiplies the odds by e, in the evaluator's unit; more than 0. One number
        for each phase of the game, or one for all; not used with terms, as `draw`.
    draw: the value at which a win is as likely as not; 0 or more. As many numbers as `scale`.
    evidence: the origin of the numbers and their quality on other games; saved with them.
    terms: the coefficients of `TERMS`, one of the draw and one for each of `KNOTS`; empty for
        numbers that hold for one strength of play.
    size: the usual size of a value, the unit of `KNOTS`; more than 0.
    nodes, pieces: the least and the greatest number in the games of the fit; others count as the
        nearest of these. (1, 1) without terms.

    Raises ValueError if a number is out of range, or there are not as many of both.
    """

    scale: tuple[float, ...]
    draw: tuple[float, ...]
    evidence: Mapping[str, Any] = field(default_factory=dict, compare=False)
    terms: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    size: float = 1.0
    nodes: tuple[int, int] = (1, 1)
    pieces: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        for name, least in (("scale", "more than 0"), ("draw", "0 or more")):
            numbers = tuple(getattr(self, name))
            object.__setattr__(self, name, numbers)
            good = all(_finite(n) and (n > 0 or (name == "draw" and n == 0)) for n in numbers)
            if not good or not numbers or len(numbers) != len(self.scale):
                raise ValueError(
                    f"calibration: expected {name} to be finite numbers, {least}, one for each"
                    f" phase, found {short(list(numbers))}"
                )
        if not _finite(self.size) or self.size <= 0:
            raise ValueError(f"calibration: expected a size above 0, found {short(self.size)}")
        for name in ("nodes", "pieces"):
            low, high = getattr(self, name)
            object.__setattr__(self, name, (low, high))
            if {type(low), type(high)} != {int} or not 1 <= low <= high <= MOST:
                raise ValueError(
                    f"calibration: expected {name} from 1 to {MOST}, found {short([low, high])}"
                )
        rows: dict[str, Any] = {name: tuple(row) for name, row in self.terms.items()}
        object.__setattr__(self, "terms", rows)
        count = 1 + len(KNOTS)
        good = all(len(row) == count and all(map(_finite, row)) for row in rows.values())
        if rows and (set(rows) != set(TERMS) or not good):
            raise ValueError(
                f"calibration: expected {count} finite numbers for each of {', '.join(TERMS)},"
                f" found {short(dict(self.terms))}"
            )

    def chances(
        self, value: float, phase: int = 0, nodes: int | None = None, pieces: int = 1
    ) -> Chances:
        """Returns the chances of a value: certainty for a proven one, at most `SUREST` for others.

        phase: the phase of the game.
        nodes: positions that were searched. Default: the most that the fit knows.
        pieces: number of pieces left, by `Phases.pieces`.
        """
        if abs(value) > PROVEN:
            return Chances.of_outcome(value)
        place = phase if len(self.scale) > 1 else 0
        shares = self.shares(value, place, self.nodes[1] if nodes is None else nodes, pieces)
        win, loss = (min(float(share), SUREST) for share in shares)
        if not self.terms and not self.draw[place]:
            return Chances.of_win(max(win, 1.0 - SUREST))  # a rest by rounding is not a draw
        return Chances(win, max(0.0, 1.0 - (win + loss)), loss)

    def shares(self, values: Any, phases: Any, nodes: Any, pieces: Any) -> tuple[Any, Any]:
        """Returns the chances of a win and of a loss, [positions] each, or of one position."""
        if self.terms:
            terms = terms_of(np.clip(nodes, *self.nodes), np.clip(pieces, *self.pieces))
            logs = np.clip(np.array([self.terms[name] for name in TERMS]).T @ terms, -20.0, 20.0)
            draw, *slopes = np.exp(logs)
            distances = parts_of(np.abs(np.asarray(values) / self.size))
            worth = np.sign(values) * (np.array(slopes) * distances).sum(axis=0)
            return _logistic(worth - draw), _logistic(-worth - draw)
        scale, draw = np.array(self.scale)[phases], np.array(self.draw)[phases]
        return _logistic((values - draw) / scale), _logistic((-values - draw) / scale)

    def chances_at(
        self, game: Game, position: Any, value: float, nodes: int | None = None
    ) -> Chances:
        """Returns the chances of a value of a position; `nodes` as in `chances`."""
        phases, phase, pieces = game.phases, 0, 1
        if phases is not None and len(self.scale) > 1:
            phase = int(kernels.uncompiled(phases.phase)(position))
        if phases is not None and phases.pieces is not None:
            pieces = int(kernels.uncompiled(phases.pieces)(position))
        return self.chances(value, min(max(phase, 0), len(self.scale) - 1), nodes, pieces)

    def text(self, chances: Chances, nodes: int | None) -> str:
        """Returns chances and the play for which they hold; empty far away from that play."""
        own = self.evidence.get("nodes")
        if not self.terms and type(own) is int and (nodes or 0) > AWAY * own:
            return ""
        return f"{chances.text} {self.play_text(nodes)}".strip()

    def play_text(self, nodes: int | None) -> str:
        """Returns the play for which chances after a search of that size hold, or an empty text.

        More or fewer nodes than in the games of the fit count as the nearest of these.
        """
        fitted = self.evidence.get("nodes")
        if self.terms:
            low, high = self.nodes
            fitted = high if nodes is None else min(max(nodes, low), high)
            fitted = int(float(f"{fitted:.2g}"))
        if type(fitted) is int:
            return f"if both search {fitted:,} positions a move"
        return "if both move by static values" if "depth" in self.evidence else ""

    def fits(self, game: Game) -> bool:
        """Whether there is one pair of numbers, or one for each phase of a game."""
        return len(self.scale) in (1, 1 if game.phases is None else len(game.phases))

    def content(self) -> dict[str, Any]:
        """Returns the entry for an evaluator's file."""
        entry: dict[str, Any] = {
            "scale": list(self.scale),
            "draw": list(self.draw),
            "evidence": dict(self.evidence),
        }
        if self.terms:
            entry["terms"] = {name: list(self.terms[name]) for name in TERMS}
            entry |= {"size": self.size, "nodes": list(self.nodes), "pieces": list(self.pieces)}
        return entry


@dataclass(frozen=True)
class Calibrations(Extra):
    """The calibrations of a game's hand-crafted evaluators, by their names: an extra."""

    named: Mapping[str, Calibration] = field(default_factory=dict)


def read_calibration(content: dict[str, Any], game: Game) -> Calibration | None:
    """Remove the entry `CALIBRATION` from a file's header, and return what it holds.

    Returns None if there is no entry, as in older files. Raises EvaluatorError if it is damaged,
    holds characters that a terminal would obey, or the game has another number of phases.
    """
    entry = content.pop(CALIBRATION, None)
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise EvaluatorError(f"expected a calibration, found {short(entry)}")
    kinds: dict[str, Any] = {"scale": list, "draw": list, "evidence": dict}
    if "terms" in entry:
        kinds |= {"terms": dict, "size": float, "nodes": list, "pieces": list}
    check_fields(entry, kinds)
    check_printable(entry)
    calibration = Calibration(**entry)
    if not calibration.fits(game):
        raise EvaluatorError(
            f"expected a calibration for {len(game.phases or ()) or 1} phases, found"
            f" {len(calibration.scale)}"
        )
    return calibration


def _finite(number: Any) -> bool:
    return type(number) in (int, float) and math.isfinite(number)


def _percent(share: float) -> str:
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def _logistic(value: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(value, -700.0, 700.0)))
