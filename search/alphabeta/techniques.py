"""`Techniques`: search techniques beyond plain alpha-beta, each of which can be switched off."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from games.contract import Game
from games.extras import Extra
from search.sizes import DEPTHS

__all__ = [
    "EXACT_SEARCH",
    "Selective",
    "Techniques",
    "as_techniques",
    "parse_techniques",
]

#: Number of first moves of a position that late-move reductions never reduce.
FIRST_MOVES = 2
#: The smallest depth at which late-move reductions apply.
LEAST_REDUCED = 3
#: The smallest depth from which singular extensions may apply.
LEAST_SINGULAR = 4
NEVER = 1 << 30


@dataclass(frozen=True)
class Techniques:
    """Search techniques beyond plain alpha-beta, for any game without dice.

    Exact techniques do not change the values of plain minimax (of the same depth with
    `equal_depth`):

    null_window: search moves after the first with a null window, to learn only whether they are
        better (principal-variation search, Marsland and Campbell 1982).
    aspiration: begin an iteration in a window about the last value (Slate and Atkin 1977).

    Inexact techniques search some lines less deep or others deeper; the root's moves are all
    searched in full:

    late_moves: strength of late-move reductions (Romstad 2006 and others); 0 for none. Quiet moves
        after the first two are searched late_moves * log(depth) * log(number of the move) plies
        less deep, rounded down, and one ply less reduced in a wide window. A move that turns out
        better than expected is searched again in full.
    singular: smallest depth at which the table's move is searched a ply deeper if all others,
        searched half as deep, are worse by `singular_margin` (singular extensions, Anantharaman,
        Campbell and Hsu 1988, in the form that tests only the table's move); 0 for never.
    singular_margin: margin for each ply of depth, in units of the usual size of the evaluator's
        values (`search.evaluators.samples.value_scale`).

    With each of them a reported win or loss is proven within the stated number of plies, repetition
    and other drawing rules aside: the value of a move that is reduced is never a proven loss, and a
    position counts as lost only if all of its moves do.

    Raises ValueError if a number is out of range.
    """

    null_window: bool = True
    aspiration: bool = True
    late_moves: float = 0.0
    singular: int = 0
    singular_margin: float = 0.024

    def __post_init__(self) -> None:
        number = self.singular
        if type(number) is not int:
            raise ValueError(f"singular: expected a whole number, found {number!r}")
        if number != 0 and not LEAST_SINGULAR <= number < NEVER:
            raise ValueError(f"singular: expected 0 or at least {LEAST_SINGULAR}, found {number}")
        if not 0.0 <= self.late_moves <= 4.0:
            raise ValueError(f"late_moves: expected 0 to 4, found {self.late_moves}")
        if not (math.isfinite(self.singular_margin) and self.singular_margin >= 0.0):
            raise ValueError(f"singular_margin: expected at least 0, found {self.singular_margin}")

    @property
    def exact(self) -> bool:
        """Whether values are those of plain minimax."""
        return not (self.late_moves or self.singular)

    def __str__(self) -> str:
        """The text that `parse_techniques` reads, without techniques that have their defaults."""
        parts = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, bool):
                parts.append(field.name if value else f"-{field.name}")
            else:
                parts.append(f"{field.name}={value}")
        return ",".join(parts) or "exact"

    def for_line(self, scale: float = 1.0) -> dict[str, Any]:
        """Returns these techniques as fields of a search's record.

        scale: the usual size of the evaluator's values, see `singular_margin`.
        """
        reductions = np.zeros((DEPTHS, DEPTHS), dtype=np.int64)
        for depth in range(LEAST_REDUCED, DEPTHS):
            for tried in range(FIRST_MOVES, DEPTHS):
                plies = int(self.late_moves * math.log(depth) * math.log(tried + 1))
                reductions[depth, tried] = min(plies, depth - 2)
        return {
            "null_window": int(self.null_window),
            "aspiration": int(self.aspiration),
            "selective": int(not self.exact),
            "singular_from": self.singular or NEVER,
            "singular_margin": self.singular_margin * scale,
            "reductions": reductions,
        }


@dataclass(frozen=True)
class Selective(Extra):
    """The techniques that `selective` means in a game, because they gain strength there: an extra.

    techniques: a text for `parse_techniques`.
    """

    techniques: str = "late_moves=1.2,singular=6"


#: The default of `Engine`: every value is that of plain minimax.
EXACT_SEARCH = Techniques()
PRESETS = ("exact", "selective")


def as_techniques(techniques: Techniques | str | None, game: Game) -> Techniques:
    """Returns the techniques that are given, or that a text names.

    techniques: `Techniques`, a text for `parse_techniques`, or None for those that change no value.
    game: the game that is searched.

    Raises TypeError for anything else, and the errors of `parse_techniques`.
    """
    if techniques is None:
        return EXACT_SEARCH
    if isinstance(techniques, str):
        return parse_techniques(techniques, game)
    if not isinstance(techniques, Techniques):
        raise TypeError(f"techniques: expected Techniques or their text, found {techniques!r}")
    return techniques


def parse_techniques(text: str, game: Game) -> Techniques:
    """Returns the techniques that a text names, such as `selective,-singular,late_moves=0.6`.

    text: parts separated by commas. `exact` or `selective`, a preset, may come first; `NAME`
        switches a technique on, `-NAME` off, and `NAME=NUMBER` sets its number. `selective`
        stands for the techniques that gained strength in matches of this kind of game
        (`Selective`, docs/results/search.md).
    game: the game that is searched.

    Raises ValueError if the text is wrong.
    """
    techniques = EXACT_SEARCH
    usual = {"late_moves": 1.2, "singular": 6}
    options: dict[str, Any] = {field.name: field.default for field in fields(Techniques)}
    for place, part in enumerate(text.split(",")):
        if part in PRESETS and place == 0:
            if part == "selective":
                gaining = Selective.of(game).techniques
                techniques = parse_techniques(f"exact,{gaining}", game)
            continue
        name, equals, number = part.removeprefix("-").partition("=")
        switch = part.startswith("-") or isinstance(options.get(name), bool)
        if name not in options or (equals and switch):
            raise ValueError(
                f"expected techniques among {', '.join([*PRESETS, *options])} (the first"
                f" {len(PRESETS)} in front), found {part[:40]!r}"
            )
        default = options[name]
        value: Any
        if part.startswith("-"):
            value = False if isinstance(default, bool) else default
        elif isinstance(default, bool) and not equals:
            value = True
        else:
            try:
                value = type(default)(number) if equals else usual[name]
            except (KeyError, ValueError):
                raise ValueError(f"{name}: expected {name}=NUMBER, found {part[:40]!r}") from None
        techniques = replace(techniques, **{name: value})
    return techniques
