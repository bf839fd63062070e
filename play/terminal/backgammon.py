"""Backgammon in a terminal: the board as one side sees it, without a cube."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from games.backgammon.notation import parse_situation, show
from play.terminal.dice import DiceSession
from play.terminal.session import COMMANDS

__all__ = ["BackgammonSession"]

CUBE_WORDS = ("double", "redouble", "take", "accept", "drop", "pass", "beaver", "raccoon")
NO_CUBE = (
    "Thank you, but there is no cube in this game: a gammon counts double and a backgammon triple."
)


class BackgammonSession(DiceSession):
    """Backgammon for points. A person who plays one side is X unless O was chosen."""

    first_roll = "two different dice"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.flipped = False
        self.view = 1 if self.people == {1} else 0
        for word in CUBE_WORDS:
            self.commands[word] = self.do_cube

    def must_pass(self) -> bool:
        return self.legal_moves() == [0]

    def move_help(self) -> str:
        dice = "Dice such as 31 when the prompt asks for them. " if self._dice is None else ""
        return (
            f"{dice}A move such as 8/5 6/5, bar/20* or 13/11(2), by the points of the side that"
            " moves;\nTab completes. Or one of:"
        )

    def do_help(self, rest: str) -> Iterator[str]:
        yield self.move_help()
        for name, text in COMMANDS.items():
            yield f"  {name:9} {text}"

    def do_cube(self, rest: str) -> Iterator[str]:
        """Refuse the cube."""
        yield NO_CUBE

    def board(self) -> str:
        """Returns the board from X's side, or O's if the person plays O or flipped the board."""
        position = self.record.position
        if position[4] != self.view ^ self.flipped:
            position = (*position[2:4], *position[:2], 1 - position[4])
        lines = show(position).splitlines()[:-1]
        if not self.paint.colour:
            return "\n".join(lines)
        return "\n".join(re.sub("X|O", self._painted, line) for line in lines)

    def _painted(self, found: re.Match[str]) -> str:
        return self.paint("first" if found[0] == "X" else "second", found[0])

    def set_up(self, text: str) -> str:
        situation = parse_situation(text)
        super().set_up(text)
        offer = f"; the {situation.offered} is ignored" if situation.offered else ""
        if situation.match_length:
            score = " : ".join(map(str, situation.score))
            crawford = ", Crawford game" if situation.crawford else ""
            points = f"{situation.match_length} points"
            return f"A match to {points} at {score}{crawford}, cube {situation.cube}{offer}."
        if situation.cube > 1 or offer:
            return f"A game for money, cube {situation.cube}{offer}."
        return ""
