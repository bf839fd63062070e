"""Backgammon in a terminal: the board as one side sees it, and the cube if it is played for."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from games.backgammon.notation import parse_situation, show
from games.record import GameRecord
from play.terminal.dice import DiceSession

__all__ = ["BackgammonSession"]

#: What can be resigned, and how often it counts.
RESIGNATIONS = {"": 1, "single": 1, "gammon": 2, "backgammon": 3}
#: What the words of the cube mean; raccoons are not played.
CUBE_WORDS = {
    "double": "double", "redouble": "double", "take": "take", "accept": "take", "drop": "drop",
    "pass": "drop", "beaver": "beaver", "raccoon": "beaver",
}  # fmt: skip
NO_CUBE = (
    "Thank you, but there is no cube in this game: a gammon counts double and a backgammon triple."
    " --cube or --match N plays with it."
)


class BackgammonSession(DiceSession):
    """Backgammon for points. A person who plays one side is X unless O was chosen.

    cube: whether there is a doubling cube.
    length: points of a match, which is played with the cube; 0 for money.
    jacoby: whether, for money, gammons count as single games until a double is taken.
    beavers: whether, for money, a double may be answered by doubling again, keeping the cube.

    Raises ValueError if the cube's evaluator gives no chances of outcomes.
    """

    record: Any
    first_roll = "two different dice"
    turns = True

    def __init__(
        self,
        *arguments: Any,
        cube: bool = False,
        length: int = 0,
        jacoby: bool = False,
        beavers: bool = False,
        **options: Any,
    ) -> None:
        self.rules = {"jacoby": jacoby, "beavers": beavers}
        self.cube = cube or length > 0
        self.length = length
        self._declined = -1  # the ply at which the side to move has decided not to double
        super().__init__(*arguments, **options)
        if self.cube and not self.thinker.evaluator.gives_outcomes:
            raise ValueError(
                f"--cube: expected an evaluator that gives chances, found {self.thinker.name}"
            )
        self.flipped = False
        self.view = 1 if self.people == {1} else 0
        self.commands["roll"] = self.do_roll
        for word, kind in CUBE_WORDS.items():
            self.commands[word] = functools.partial(self.do_cube, kind)
        if self.cube:
            self.described |= {
                "double": "double before a roll; roll plays on without",
                "take": "answer a double; or drop, or beaver where it is played",
            }

    # --- the cube ------------------------------------------------------------------------------

    def new_record(self, start: Any = None, **options: Any) -> GameRecord:
        if start is None and self.length:
            options = self._next_game()
        elif start is None:
            options = dict(self.rules)
        self._declined = -1
        return super().new_record(start, **options)

    def _next_game(self) -> dict[str, Any]:
        """Returns the options of the next game of the match, or of a new match after its end."""
        last: Any = getattr(self, "record", None)
        rules = last.next_game() if last and last.match_length == self.length else None
        return rules or {"match_length": self.length}

    @property
    def _answering(self) -> bool:
        """Whether a person must answer a double."""
        return bool(self.record.offered) and 1 - self.side in self.people

    @property
    def _deciding(self) -> bool:
        """Whether a person may double instead of rolling."""
        return self._may_double() and self.side in self.people

    def _may_double(self) -> bool:
        record = self.record
        begun = record.ply > 0 or not self._from_start  # nobody doubles before the first roll
        free = self.cube and begun and self.roll is None and self._declined != record.ply
        return bool(free and record.may_double)

    def wants_roll(self) -> bool:
        return self._answering or self._deciding or super().wants_roll()

    def begin_turn(self) -> Iterator[str]:
        if self._may_double() and not self._deciding:
            if self.thinker.decide(self.record.situation()).double:
                yield from self._double()
                return
            self._declined = self.record.ply
        if not self._answering and not self._deciding and not self.record.over:
            yield from super().begin_turn()

    def _double(self) -> Iterator[str]:
        """Let the side to move double; the evaluator answers at once if it is the other side."""
        record = self.record
        side = self.sides[self.side]
        record.act("double")
        self._stale = True
        yield f"{side} doubles to {2 * record.cube}."
        if not self._answering:
            yield from self._answer(self.thinker.decide(record.situation()).answer)

    def _answer(self, kind: str) -> Iterator[str]:
        record = self.record
        yield f"{self.sides[1 - self.side]} {kind}s."
        record.act(kind)
        self._declined = record.ply
        self._stale = True
        self._told_end = False

    def do_cube(self, kind: str, rest: str) -> Iterator[str]:
        """Double, or answer a double."""
        if not self.cube:
            yield NO_CUBE
        elif kind == "double" and self._deciding:
            yield from self._double()
        elif kind in self._answers() and self._answering:
            yield from self._answer(kind)
        else:
            raise ValueError(f"expected {self._choices()}, found {kind}")

    def do_hint(self, rest: str) -> Iterator[str]:
        if not self._answering and not self._deciding:
            yield from super().do_hint(rest)
            return
        found = self.thinker.decide(self.record.situation())
        yield f"{self.thinker.name}: {found.action}: {found.reason}"
        yield (
            f"  no double {found.no_double:+.3f}, double and take {found.double_take:+.3f},"
            f" double and drop {found.double_drop:+.3f}"
        )

    def do_roll(self, rest: str) -> Iterator[str]:
        """Roll instead of doubling."""
        if not self._deciding:
            raise ValueError(f"expected {self._choices()}, found roll")
        self._declined = self.record.ply
        return iter(())

    def _answers(self) -> list[str]:
        return ["take", "drop", *(["beaver"] if self.record.may_beaver else [])]

    def _choices(self) -> str:
        if self._answering:
            return " or ".join(self._answers())
        if self._deciding:
            return "roll or double"
        return "dice" if super().wants_roll() else "a move"

    def take_roll(self, text: str) -> Iterator[str]:
        if self._answering or (self._deciding and self._dice is not None):
            raise ValueError(f"expected {self._choices()}, found {text!r:.40}")
        self._declined = self.record.ply
        yield from super().take_roll(text)

    @property
    def prompt(self) -> str:
        if self._answering:
            return f"{self.sides[1 - self.side]}: {self._choices()}> "
        if self._deciding:
            return f"{self.sides[self.side]}: roll or double> "
        return super().prompt

    def turn_text(self) -> Iterator[str]:
        record = self.record
        if self.cube and not record.over:
            owner = "in the middle" if record.owner is None else f"of {self.sides[record.owner]}"
            match = ""
            if record.match_length:
                crawford = ", Crawford game" if record.crawford else ""
                match = f"{self.sides[0]} {record.score[0]} : {record.score[1]} {self.sides[1]}"
                match += f" of {record.match_length}{crawford}; "
            jacoby = ", Jacoby rule" if record.jacoby else ""
            yield f"{match}cube {record.cube}, {owner}{jacoby}"
        yield from super().turn_text()

    def take_back(self) -> None:
        super().take_back()
        self._declined = self.record.ply

    def do_resign(self, rest: str) -> Iterator[str]:
        """Resign a single game, a gammon or a backgammon; an evaluator may decline."""
        record = self.record
        kind = RESIGNATIONS.get(rest.strip().lower())
        if kind is None:
            raise ValueError(f"resign: expected single, gammon or backgammon, found {rest!r:.40}")
        if record.over:
            raise ValueError("expected a game that goes on, found it over")
        loser, game = self.loser(), self.game
        evaluator = self.thinker.evaluator
        if 1 - loser not in self.people and evaluator.gives_outcomes:
            outcomes = evaluator.outcomes([record.position])[0]
            if not game.cube.accepts(record.situation(), outcomes, loser, kind):
                yield f"{self.sides[1 - loser]} declines: it expects more."
                return
        record.resign(loser, kind)
        self._told_end = False

    # --- texts ---------------------------------------------------------------------------------

    def must_pass(self) -> bool:
        return self.legal_moves() == [0]

    def move_help(self) -> str:
        dice = "Dice such as 31 when the prompt asks for them. " if self._dice is None else ""
        return (
            f"{dice}A move such as 8/5 6/5, bar/20* or 13/11(2), by the points of the side that"
            " moves;\nTab completes. Or one of:"
        )

    def board(self) -> str:
        """Returns the board from X's side, or O's if the person plays O or flipped the board."""
        position = self.record.position
        if position[4] != self.view ^ self.flipped:
            position = (*position[2:4], *position[:2], 1 - position[4])
        lines = show(position).splitlines()[:-1]
        if not self.paint.colour:
            return "\n".join(lines)
        painted = {"X": self.paint("first", "X"), "O": self.paint("second", "O")}
        return "\n".join(re.sub("X|O", lambda found: painted[found[0]], line) for line in lines)

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
