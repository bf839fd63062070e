"""Game records: the moves of a game, notes on them, and how the game ended.

A record holds the history, which positions do not contain, and applies the drawing rules that
depend on it. Outcomes of a record are for the side that begins the game (in checkers Black), even
if the record starts from a position with the other side to move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from games.contract import Game, given
from games.errors import MoveError
from games.extras import extra
from games.rolls import rolls_of
from programs.phrases import listed

__all__ = ["Annotation", "GameRecord", "RecordKind", "new_record", "read_situation"]

#: The outcome of a game for every side, side 0 first, and why it ended.
Ending = tuple[tuple[float, ...], str]


@dataclass(frozen=True)
class Annotation:
    """Notes on a move; `value` is for the side that made it."""

    value: float | None = None
    depth: int | None = None  # plies searched
    comment: str = ""


class GameRecord:
    """A game from a start position on, with the moves played so far.

    game: the game.
    start: the first position. Default: the start position of the game.
    repetitions: the game is drawn when a position occurs this many times, or None without such a
    rule.
    quiet_moves: the game is drawn after this many successive reversible moves of each side (in
        checkers: king moves without a capture). Default: no such rule.
    comment: a text about the whole game.

    Neither drawing rule applies to a game without `irreversible`, because its positions cannot
    repeat. The rules of the game come first: a side that has lost cannot claim a draw. In a game
    with dice every move is played with its roll: `play(move, roll=...)`. Raises ValueError if
    `repetitions` is less than 2 or `quiet_moves` less than 1.
    """

    #: Actions besides moves, such as with a cube, each with `ply` and `kind`, in order.
    actions: Sequence[Any] = ()
    #: Whether the side to move may offer a cube, before its roll.
    may_double = False

    def __init__(
        self,
        game: Game,
        start: Any = None,
        *,
        repetitions: int | None = 3,
        quiet_moves: int | None = 40,
        comment: str = "",
    ) -> None:
        if repetitions is not None and repetitions < 2:
            raise ValueError(f"repetitions: expected None or at least 2, found {repetitions}")
        if quiet_moves is not None and quiet_moves < 1:
            raise ValueError(f"quiet_moves: expected None or at least 1, found {quiet_moves}")
        self.game = game
        self._irreversible = getattr(game, "irreversible", None)
        self.repetitions = repetitions
        self.quiet_moves = quiet_moves
        self.comment = comment
        self._positions: Any = [game.start() if start is None else start]
        #: The moves between the positions.
        self.moves: list[Any] = []
        #: The roll that each move was played with; None in games without dice.
        self.rolls: list[int | None] = []
        self.annotations: list[Annotation] = []
        self._quiet_plies = [0]  # for each position, plies since the last that cannot be undone
        self._declared: Ending | None = None

    @classmethod
    def of_legal(
        cls,
        game: Game,
        positions: list[Any] | NDArray[np.int64],
        moves: list[Any],
        annotations: list[Annotation],
        *,
        rolls: list[int | None] | None = None,
        quiet_plies: list[int] | None = None,
        **options: Any,
    ) -> Self:
        """Returns the record of moves that are known to be legal, with their positions.

        Nothing is checked, because native code has played these games. Options are those of the
        constructor.

        positions: a list, or an array [plies + 1, integers], which the record keeps.
        moves, annotations, rolls: one for each ply; no rolls in a game without dice.
        quiet_plies: for each position, plies since the last irreversible move; default: counted.
        """
        record = cls(game, positions[0], **options)
        record._positions, record.moves, record.annotations = positions, moves, annotations
        record.rolls = [None] * len(moves) if rolls is None else rolls
        final = record._irreversible
        if quiet_plies is not None:
            record._quiet_plies = quiet_plies
            return record
        if final is None:
            record._quiet_plies = [0] * len(positions)
            return record
        for position, move in zip(record.positions, moves, strict=False):
            record._quiet_plies.append(0 if final(position, move) else record.quiet_plies + 1)
        return record

    def __eq__(self, other: object) -> bool:
        """Whether the same moves led through the same positions to the same end."""
        if not isinstance(other, GameRecord):
            return NotImplemented
        return self._played() == other._played()

    def _played(self) -> tuple[Any, ...]:
        ending = self._ending()
        return self.positions, self.moves, self.rolls, self.annotations, ending

    __hash__ = None  # type: ignore[assignment]  # it changes during the game

    def beginning(self) -> Self:
        """Returns a record with the same start and rules in which nothing was played yet."""
        new = copy(self)
        new._positions, new._quiet_plies, new._declared = [self.start], [0], None
        new.moves, new.rolls, new.annotations = [], [], []
        return new

    @property
    def start(self) -> Any:
        """The position that the record begins with."""
        return self._position(0)

    @property
    def position(self) -> Any:
        """The current position."""
        return self._position(-1)

    @property
    def positions(self) -> list[Any]:
        """Every position from the start to the current one."""
        if isinstance(self._positions, np.ndarray):
            self._positions = list(map(tuple, self._positions.tolist()))
        return self._positions  # type: ignore[no-any-return]

    def _position(self, index: int) -> Any:
        position = self._positions[index]
        return tuple(position.tolist()) if isinstance(position, np.ndarray) else position

    @property
    def ply(self) -> int:
        """The number of moves played."""
        return len(self.moves)

    @property
    def to_move(self) -> int:
        """The side to move: 0 for the one whose view outcomes are from, 1 for the next."""
        # By counting, because a game need not define `to_move`.
        return (self.game.to_move(self.start) + self.ply) % self.game.players

    @property
    def quiet_plies(self) -> int:
        """Plies since the last irreversible move, such as a capture."""
        return self._quiet_plies[-1]

    @property
    def history(self) -> list[Any]:
        """Earlier positions that may repeat, oldest first, for the search.

        The first of them is the position after the last irreversible move.
        """
        if self._irreversible is None:
            return []
        return self.positions[self.ply - self.quiet_plies : self.ply]

    def play(
        self,
        move: Any,
        *,
        roll: int | None = None,
        value: float | None = None,
        depth: int | None = None,
        comment: str = "",
    ) -> None:
        """Add a move, with notes on it.

        move: a legal move.
        roll: the roll, required in games with dice and refused in others.
        value: the value of the move for the side that makes it.
        depth: plies searched.
        comment: a text about the move.

        Raises MoveError, and changes nothing, if the game is over or the move is not legal.
        """
        self._must_go_on(move)
        position = self.position
        legal = self.legal_moves(roll)
        if move not in legal:
            texts = listed(self.game.move_text(position, other) for other in legal)
            raise MoveError(f"expected one of {texts}, found {move!r}")
        final = self._irreversible is None or self._irreversible(position, move)
        self.positions.append(self.game.play(position, move))
        self.moves.append(move)
        self.rolls.append(roll)
        self.annotations.append(Annotation(value, depth, comment))
        self._quiet_plies.append(0 if final else self.quiet_plies + 1)

    def act(self, kind: str) -> None:
        """Do something besides a move; raises MoveError if the game knows no such thing."""
        raise MoveError(f"expected a move of {self.game.name}, found the action {kind!r:.40}")

    def repeat(self, record: GameRecord) -> None:
        """Do what was done in another record before its move or its roll at this ply."""
        for action in record.actions:
            if action.ply == self.ply:
                self.act(action.kind)

    def follow(self, record: GameRecord) -> None:
        """Make the move that another record made at this ply."""
        self.play(record.moves[self.ply], roll=record.rolls[self.ply])

    def play_text(self, text: str, *, roll: int | None = None) -> None:
        """Add the move that a text names; raises MoveError as `play` does."""
        self._must_go_on(text)
        self.legal_moves(roll)
        self.play(self.game.parse_move(self.position, text, *given(roll)), roll=roll)

    def annotate(
        self, *, value: float | None = None, depth: int | None = None, comment: str = ""
    ) -> None:
        """Replace the notes on the last move; raises MoveError if no move was played."""
        if not self.moves:
            raise MoveError("expected a move to annotate, found none")
        self.annotations[-1] = Annotation(value, depth, comment)

    def undo(self) -> Any:
        """Take back the last move, and a declared outcome; returns the move.

        Raises MoveError if no move was played.
        """
        if not self.moves:
            raise MoveError("expected a move to take back, found none")
        self._declared = None
        self.positions.pop()
        self.annotations.pop()
        self._quiet_plies.pop()
        self.rolls.pop()
        return self.moves.pop()

    def declare(self, outcome: float | Sequence[float], reason: str) -> None:
        """End the game by other means than its rules, such as an agreed draw.

        outcome: for side 0, as in `outcome()`; or for each side, as in `outcomes()`. With more than
            two sides a single number counts for side 0, and the others share its negative.
        reason: what `reason` returns then.

        Raises ValueError if the game is already over, or for another number of outcomes than sides.
        """
        if self.over:
            raise ValueError(f"expected a game that goes on, found it over ({self.reason})")
        sides = self.game.players
        if not isinstance(outcome, Sequence):
            outcome = self._shared(0, float(outcome))
        if len(outcome) != sides:
            raise ValueError(f"expected {sides} outcomes, found {len(outcome)}")
        self._declared = (tuple(map(float, outcome)), reason)

    def forfeit(self, side: int, reason: str) -> None:
        """End the game with a loss for one side, which has resigned or run out of time.

        With more than two sides all others share what it loses. Raises ValueError as `declare`.
        """
        self.declare(self._shared(side, -1.0), reason)

    def _shared(self, side: int, outcome: float) -> tuple[float, ...]:
        """Returns the outcomes of all sides if the others share what one of them loses."""
        sides = self.game.players
        other = -outcome / max(sides - 1, 1) or 0.0
        return tuple(outcome if one == side else other for one in range(sides))

    @property
    def declared(self) -> Ending | None:
        """The outcome that was declared for each side, side 0 first, and its reason; or None."""
        return self._declared

    @property
    def over(self) -> bool:
        """Whether the game has ended by its rules, as a draw, or by declaration."""
        return self._ending() is not None

    def outcome(self) -> float | None:
        """Returns the outcome for side 0, which usually begins, or None during the game."""
        ending = self._ending()
        return None if ending is None else ending[0][0]

    def outcomes(self) -> tuple[float, ...] | None:
        """Returns the outcome for each side, side 0 first, or None during the game."""
        ending = self._ending()
        return None if ending is None else ending[0]

    @property
    def reason(self) -> str:
        """The reason why the game is over, such as `no move`; empty during the game."""
        ending = self._ending()
        return "" if ending is None else ending[1]

    def legal_moves(self, roll: int | None = None) -> list[Any]:
        """Returns the legal moves of the current position. Raises MoveError for a wrong roll.

        roll: the roll in games with dice; None in others.
        """
        rolls_of(self.game).check(roll)
        return self.game.legal_moves(self.position, *given(roll))

    def _must_go_on(self, move: Any) -> None:
        if self.over:
            raise MoveError(f"expected no move after the end ({self.reason}), found {move!r}")

    def _ending(self) -> Ending | None:
        position, drawn = self.position, (0.0,) * self.game.players
        vector = self.game.outcome_vector(position)
        if vector is not None:
            # Games whose positions repeat end when a side cannot move; others end in many ways.
            reason = "end of the game" if self._irreversible is None else "no move"
            first = -self.to_move
            return tuple(value or 0.0 for value in (*vector[first:], *vector[:first])), reason
        if self._declared is not None or self._irreversible is None:
            return self._declared
        if self.repetitions is not None and self.history.count(position) + 1 >= self.repetitions:
            return drawn, "repetition"
        if self.quiet_moves is not None and self.quiet_plies >= 2 * self.quiet_moves:
            return drawn, f"{self.quiet_moves} moves each"
        return None


@dataclass(frozen=True)
class RecordKind:
    """A game's own class of records, an extra.

    kind: the class.
    read: `read(text)` returns the position that a text describes, its roll if it gives one, and the
        options of a record that it gives, such as the score. Default: the position alone.
    """

    kind: type[GameRecord]
    read: Callable[[str], tuple[Any, int | None, dict[str, Any]]] | None = None


def new_record(game: Game, start: Any = None, **options: Any) -> GameRecord:
    """Returns an empty record of the game's own class, from `start` or the game's start.

    Options are those of the class, such as `read_situation` gives.
    """
    own = extra(game, RecordKind)
    return (GameRecord if own is None else own.kind)(game, start, **options)


def read_situation(game: Game, text: str) -> tuple[Any, int | None, dict[str, Any]]:
    """Returns the position of a text, its roll if it gives one, and the options of a record.

    Raises PositionError if the text does not describe a position.
    """
    own = extra(game, RecordKind)
    if own is None or own.read is None:
        return game.parse_position(text), None, {}
    return own.read(text)
