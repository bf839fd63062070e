"""Backgammon in a terminal: dice from a seed or typed in, and no cube."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from games.backgammon.match_file import write_match
from games.backgammon.notation import parse_situation, show
from games.backgammon.record import BackgammonRecord
from games.contract import DiceGame
from games.record import GameRecord
from play.dice import Dice
from play.players.limits import Limits, check_depth
from play.players.thinker import Thinker
from play.terminal.colour import Paint
from play.terminal.session import COMMANDS, Session

__all__ = ["BackgammonSession"]

CUBE_WORDS = ("double", "redouble", "take", "accept", "drop", "pass", "beaver", "raccoon")
NO_CUBE = (
    "Thank you, but there is no cube in this game: a gammon counts double and a backgammon triple."
)


class BackgammonSession(Session):
    """Backgammon for points; a person who plays one side is X, unless asked for O.

    seed: of the dice; None where they are typed in for both sides. The dice of a turn are the same
    after a move was taken back. first: the side that begins; None for what the dice say, and with
    dice typed in for the person.
    """

    sides = ("X", "O")
    file_form = ".mat"

    def __init__(
        self,
        game: DiceGame,
        thinker: Thinker,
        people: frozenset[int] = frozenset({0}),
        *,
        seed: int | None = None,
        first: int | None = None,
        paint: Paint | None = None,
    ) -> None:
        self._dice = None if seed is None else Dice(game, seed)
        self._first = first
        self._number = -1  # of the game of this session
        super().__init__(game, thinker, people, paint=paint)
        self.flipped = False
        self.view = 1 if people == {1} else 0
        for word in CUBE_WORDS:
            self.commands[word] = self.do_cube

    # --- dice ----------------------------------------------------------------------------------

    def new_record(self, start: Any = None) -> GameRecord:
        self._number += 1
        self.roll = None
        self._from_start = start is None
        if start is None:
            start = self.game.start()
            first = self._first
            if first is None:
                first = min(self.people, default=0) if self._dice is None else self._toss()
            start = (*start[:4], first)
        return BackgammonRecord(self.game, start)

    def _toss(self) -> int:
        """Who threw the higher of the first dice: even chances, by the seed."""
        assert self._dice is not None
        return self._dice.stream(self._number) >> 7 & 1

    def begin_turn(self) -> Iterator[str]:
        if self.roll is None and self._dice is not None:
            # turn 0 has other chances, in the first roll of a game and nowhere else
            turn = self.record.ply + (0 if self._from_start else 1)
            self.roll = self._dice.roll(self._dice.stream(self._number), turn)
        if self.roll is not None and self.legal_moves() == [0]:
            side = self.sides[self.side]
            yield f"{side} cannot move with {self.game.roll_text(self.roll)}."
            self.play(0)
            if not self.record.over:
                yield from self.begin_turn()

    def wants_roll(self) -> bool:
        return self.roll is None and not self.record.over and self._dice is None

    def take_roll(self, text: str) -> Iterator[str]:
        roll = self.game.parse_roll(text)
        if self.record.ply == 0 and self._from_start and not self.game.first_rolls[roll]:
            raise ValueError(f"expected two different dice as the first roll, found {text!r:.40}")
        self.roll = roll
        if self.must_ask():
            yield from self.turn_text()

    @property
    def prompt(self) -> str:
        if self.wants_roll():
            return f"dice of {self.sides[self.side]}> "
        return (
            super().prompt
            if self.record.over or self.roll is None
            else (f"{self.sides[self.side]} {self.game.roll_text(self.roll)}> ")
        )

    # --- texts ---------------------------------------------------------------------------------

    def move_help(self) -> str:
        dice = "Dice such as 31 when they are asked for. " if self._dice is None else ""
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
        """The board as one side sees it, X unless the person plays O or turned it."""
        position = self.record.position
        if position[4] != self.view ^ self.flipped:
            position = (*position[2:4], *position[:2], 1 - position[4])
        lines = show(position).splitlines()[:-1]
        if not self.paint.colour:
            return "\n".join(lines)
        return "\n".join(re.sub("X|O", self._painted, line) for line in lines)

    def _painted(self, found: re.Match[str]) -> str:
        return self.paint("first" if found[0] == "X" else "second", found[0])

    def turn_text(self) -> Iterator[str]:
        if self.record.over:
            return
        side = self.sides[self.side]
        if self.roll is None:
            yield f"{side} to roll"
        else:
            yield f"{side} to play {self.paint('strong', self.game.roll_text(self.roll))}"

    def do_hint(self, rest: str) -> Iterator[str]:
        yield from super().do_hint(rest)
        position = self.record.position
        evaluator = self.thinker.evaluator
        if evaluator.gives_outcomes and not self.record.over:
            found = evaluator.outcomes([position])[0]
            parts = zip(self.game.outcomes.names, found, strict=True)
            chances = ", ".join(f"{name} {100 * p:.1f} %" for name, p in parts)
            yield f"  before the roll: {chances}"

    def end_text(self) -> str:
        outcome = self.record.outcome()
        assert outcome is not None
        kind = {1: "a single game", 2: "a gammon", 3: "a backgammon"}.get(int(abs(outcome)), "")
        side = self.sides[0 if outcome > 0 else 1]
        points = f"{abs(outcome):g} point{'s' * (abs(outcome) != 1)}"
        reason = (
            f"{kind}, {points}"
            if self.record.reason != "resignation"
            else (f"{points}, by resignation")
        )
        return f"{side} wins {reason}."

    # --- the rest ------------------------------------------------------------------------------

    def set_level(self, limits: Limits) -> None:
        check_depth(limits.depth or 0)
        self.thinker.limits = limits

    def set_up(self, text: str) -> str:
        situation = parse_situation(text)
        self.record = self.new_record(situation.position)
        self.roll = situation.roll
        plain = situation.match_length == 0 and situation.cube == 1 and not situation.offered
        return "" if plain else "The position; score and cube are left aside."

    def file_text(self) -> str:
        names = ["person" if side in self.people else self.thinker.name for side in (0, 1)]
        if names[0] == names[1]:
            names = [f"{name} {sign}" for name, sign in zip(names, "XO", strict=True)]
        assert isinstance(self.record, BackgammonRecord)
        return write_match([self.record], (names[0], names[1]), tags={"Event": "Plysmith"})
