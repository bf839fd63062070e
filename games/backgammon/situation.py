"""Situations: a position of backgammon with its roll, score, cube and rules.

The side with colour 0 is called X and the side with colour 1 is called O. XGID has X at the bottom
of its board, with capital letters; the board line of FIBS counts X's checkers as negative; GNU
Backgammon's match ID calls X player 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from games.backgammon.rules import BAR, CHECKERS, ROLLS, Position, packed
from games.errors import PositionError

__all__ = ["COLOURS", "Situation", "checker_counts", "position_of", "roll_of"]

COLOURS = "XO"  # by the side's number in a position
OFFERS = ("", "double", "beaver", "raccoon")

_WHOLE = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True)
class Situation:
    """A position and everything else on which a player's decision depends.

    position: the position.
    roll: the number of the roll to be played; None before it.
    match_length: points of the match; 0 for money.
    score: points of both sides, by colour.
    cube: the value of the cube.
    owner: the colour that owns the cube, or None in the middle.
    offered: what the side to move has offered: "double", or "beaver" or "raccoon" in answer to a
        double or beaver; empty for nothing.
    crawford: whether this is the Crawford game, in a match.
    jacoby, beavers: whether these rules are in force, for money.
    highest_cube: the largest value that the cube can have.
    players: names of the players, by colour.

    Raises PositionError for an impossible situation.
    """

    position: Position
    roll: int | None = None
    match_length: int = 0
    score: tuple[int, int] = (0, 0)
    cube: int = 1
    owner: int | None = None
    offered: str = ""
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    highest_cube: int = 1024
    players: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        if self.roll is not None and not 0 <= self.roll < len(ROLLS):
            raise position_error("a roll from 0 to 20, or None", self.roll)
        if self.match_length < 0:
            raise position_error("a match length of 0 (for money) or more", self.match_length)
        if min(self.score) < 0 or 0 < self.match_length <= max(self.score):
            length = self.match_length
            limit = f"below the match length, {length}" if length else "of 0 or more"
            raise position_error(f"scores {limit}", self.score)
        for name, value in (("cube", self.cube), ("highest cube", self.highest_cube)):
            if not 1 <= value <= 1 << 15 or value & (value - 1):
                raise position_error(f"a {name} that is a power of 2 up to 32768", value)
        if self.owner not in (None, 0, 1):
            raise position_error("an owner of the cube of 0, 1 or None", self.owner)
        if self.offered not in OFFERS:
            raise position_error("an offer of 'double', 'beaver', 'raccoon' or ''", self.offered)
        if self.offered and self.roll is not None:
            raise position_error(f"no roll with an offered {self.offered}", f"roll {self.roll}")
        if self.crawford and not self.match_length:
            raise position_error("no Crawford rule in a game for money", "it")
        if self.crawford and 1 < self.match_length == min(self.score) + 1:
            expected = "a Crawford game with one side one point away"
            raise position_error(expected, f"both, {self.score}", quote=False)
        if self.crawford and (self.cube, self.owner, self.offered) != (1, None, ""):
            shown = self.offered or f"{self.cube}"
            raise position_error("a cube of 1 in the middle in the Crawford game", shown)
        if (self.jacoby or self.beavers) and self.match_length:
            raise position_error("neither Jacoby rule nor beavers in a match", "them")


def checker_counts(near: int, far: int) -> list[int]:
    """Returns a side's checkers on points 0 (borne off) to 25 (the bar), by its own numbering."""
    return [near >> 4 * p & 15 for p in range(13)] + [far >> 4 * p & 15 for p in range(13)]


def position_of(own: Sequence[int], theirs: Sequence[int], side: int) -> Position:
    """Returns the position with these checkers on points 1 to 25 (entry 0 of 26 does not count).

    Each side counts the points its own way; the checkers missing from 15 are borne off.
    Raises PositionError for more than 15, for both sides on one point, and if both sides have borne
    off all checkers.
    """
    for colour, counts in ((side, own), (1 - side, theirs)):
        if min(counts[1:]) < 0 or sum(counts[1:]) > CHECKERS:
            shown = f"{sum(counts[1:])}" if min(counts[1:]) >= 0 else f"{min(counts[1:])}"
            raise position_error(
                f"0 to {CHECKERS} checkers of {COLOURS[colour]}", shown, quote=False
            )
    for point in range(1, 25):
        if own[point] and theirs[BAR - point]:
            shown = f"both on the {point} point of {COLOURS[side]}"
            raise position_error("checkers of one side on a point", shown, quote=False)
    if not any(own[1:]) and not any(theirs[1:]):
        raise position_error("checkers of at least one side", "none", quote=False)
    halves = [packed((CHECKERS - sum(counts[1:]), *counts[1:])) for counts in (own, theirs)]
    return (*halves[0], *halves[1], side)


def roll_of(first: int, second: int) -> int:
    """Returns the number of the roll with these two dice."""
    high, low = max(first, second), min(first, second)
    return high * (high - 1) // 2 + low - 1


def by_colour(position: Position) -> tuple[list[int], list[int]]:
    """Returns the checkers of X and those of O."""
    near, far, their_near, their_far, side = position
    counts = checker_counts(near, far), checker_counts(their_near, their_far)
    return counts if side == 0 else counts[::-1]


def whole(name: str, text: str) -> int:
    """Returns a text as a whole number; raises PositionError if it is not one."""
    if _WHOLE.fullmatch(text.strip()) is None:
        raise position_error(f"a whole number for {name}", text)
    return int(text.strip())  # `strip` removes more kinds of space than `int` does


def must_hold(situation: Situation, form: str, *names: str) -> None:
    """Raise ValueError if a field that a form cannot hold differs from its default."""
    for name in names:
        value, default = getattr(situation, name), getattr(Situation, name)
        if value != default:
            raise ValueError(f"{form}: expected {name} to be {default!r}, found {value!r}")


def position_error(expected: str, found: object, *, quote: bool = True) -> PositionError:
    """Returns an error with what was expected and what was given, the latter in 80 characters."""
    text = repr(found) if quote else str(found)
    return PositionError(
        f"expected {expected}, found {text if len(text) <= 80 else text[:77] + '...'}"
    )
