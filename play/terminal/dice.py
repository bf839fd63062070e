"""Games with dice in a terminal; the dice come from a seed or are typed in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from games.contract import DiceGame, starts
from games.record import GameRecord, new_record, read_situation
from play.dice import Dice
from play.players.thinker import Thinker
from play.terminal.colour import Paint
from play.terminal.session import Session

__all__ = ["DiceSession"]


class DiceSession(Session):
    """One or two people at a board with an evaluator, in any game with dice.

    seed: seed of the dice; None if people type them in for both sides. After a move is taken back,
        the dice of a turn stay the same.
    first: the side that begins. Default: chance decides, or the person begins if dice are typed in.
    """

    #: The possible first rolls in words.
    first_roll = "a roll that a game can begin with"

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
        self._number = -1  # the number of the game in this session
        super().__init__(game, thinker, people, paint=paint)

    def new_record(self, start: Any = None, **options: Any) -> GameRecord:
        self._number += 1
        self.roll = None
        self._from_start = start is None
        if start is None:
            first = self._first
            if first is None:
                first = min(self.people, default=0)
                if self._dice is not None:  # either side with equal chances, by the seed
                    first = self._dice.stream(self._number) >> 7 & 1
            start = starts(self.game)[first]
        return new_record(self.game, start, **options)

    def must_pass(self) -> bool:
        """Returns whether the only legal move is to move nothing."""
        return False

    def begin_turn(self) -> Iterator[str]:
        if self.roll is None and self._dice is not None:
            # turn 0 has other chances, because a game may begin without doubles
            turn = self.record.ply + (0 if self._from_start else 1)
            self.roll = self._dice.roll(self._dice.stream(self._number), turn)
        if self.roll is not None and self.must_pass():
            side = self.sides[self.side]
            yield f"{side} cannot move with {self.game.dice.text(self.roll)}."
            self.play(self.legal_moves()[0])
            if not self.record.over:
                yield from self.begin_turn()

    def wants_roll(self) -> bool:
        return self.roll is None and not self.record.over and self._dice is None

    def take_roll(self, text: str) -> Iterator[str]:
        roll = self.game.dice.parse(text)
        if self.record.ply == 0 and self._from_start and not self.game.dice.first[roll]:
            raise ValueError(f"expected {self.first_roll} as the first roll, found {text!r:.40}")
        self.roll = roll
        if self.must_ask():
            yield from self.turn_text()

    @property
    def prompt(self) -> str:
        if self.wants_roll():
            return f"dice of {self.sides[self.side]}> "
        if self.record.over or self.roll is None:
            return super().prompt
        return f"{self.sides[self.side]} {self.game.dice.text(self.roll)}> "

    def turn_text(self) -> Iterator[str]:
        if self.record.over:
            return
        side = self.sides[self.side]
        if self.roll is None:
            yield f"{side} to roll"
        else:
            yield f"{side} to play {self.paint('strong', self.game.dice.text(self.roll))}"

    def do_hint(self, rest: str) -> Iterator[str]:
        yield from super().do_hint(rest)
        position = self.record.position
        evaluator = self.thinker.evaluator
        if evaluator.gives_outcomes and not self.record.over:
            found = evaluator.outcomes([position])[0]
            parts = zip(self.game.outcomes.names, found, strict=True)
            chances = ", ".join(f"{name} {100 * p:.1f} %" for name, p in parts)
            yield f"  before the roll: {chances}"

    def set_up(self, text: str) -> str:
        position, roll, options = read_situation(self.game, text)
        self.record = self.new_record(position, **options)
        self.roll = roll
        return ""
