"""Games whose rules are kernels, with the methods of every other game."""

from __future__ import annotations

from games.contract import DiceGame, Game, Move, Position, expect_position, given
from games.errors import MoveError, PositionError
from games.rolls import Roll, rolls_of
from games.rules import Rules

__all__ = ["KernelDiceGame", "KernelGame"]


class KernelGame(Game):
    """A game whose rules are kernels, with the methods of every other game.

    A subclass sets `rules`, `start_position` and `most_moves`, and adds its text forms.
    """

    rules: Rules
    start_position: tuple[int, ...]
    #: No position has more legal moves than this.
    most_moves: int = 256

    def __init__(self) -> None:
        if self.rules.irreversible is not None:
            # As a method of the class it would declare that positions of every game can repeat.
            self.irreversible = self._irreversible

    def start(self) -> Position:
        return self.start_position

    def _expect(self, position: Position) -> None:
        """Refuse what is no position; the usual one passes at the cost of a comparison."""
        if type(position) is not tuple or len(position) != len(self.start_position):
            expect_position(self, position)

    def legal_moves(self, position: Position, roll: Roll | None = None) -> list[Move]:
        import numpy as np

        self._expect(position)
        rolls_of(self).check(roll)
        buffer = np.zeros(self.most_moves, dtype=np.int64)
        count = self.rules.legal_moves(position, *given(roll), buffer)
        return [int(move) for move in buffer[:count]]

    def play(self, position: Position, move: Move) -> Position:
        self._expect(position)
        if isinstance(move, str):
            raise MoveError(f"expected a move, found the text {move!r}, which parse_move reads")
        return tuple(int(x) for x in self.rules.play(position, move))

    def outcome(self, position: Position) -> float | None:
        self._expect(position)
        value = float(self.rules.outcome(position))
        return None if value != value else value

    def outcome_vector(self, position: Position) -> tuple[float, ...] | None:
        if self.rules.outcome_vector is None:
            return super().outcome_vector(position)
        if self.outcome(position) is None:
            return None
        import numpy as np

        values = np.zeros(self.players)
        self.rules.outcome_vector(position, values)
        return tuple(values.tolist())

    def turn(self, position: Position) -> Position:
        if self.rules.turn is None:
            return super().turn(position)
        return tuple(int(x) for x in self.rules.turn(position))

    def noisy(self, position: Position) -> bool:
        return self.rules.noisy is not None and bool(self.rules.noisy(position))

    def _irreversible(self, position: Position, move: Move) -> bool:
        return bool(self.rules.irreversible(position, move))  # type: ignore[misc]

    def gain(self, position: Position, move: Move) -> float:
        return 0.0 if self.rules.gain is None else float(self.rules.gain(position, move))

    def parse_position(self, text: str) -> Position:
        position = super().parse_position(text)
        width = len(self.start_position)
        if not (
            isinstance(position, tuple)
            and len(position) == width
            and all(isinstance(x, int) and -(1 << 63) <= x < 1 << 64 for x in position)
        ):
            raise PositionError(f"expected a tuple of {width} integers, found {text[:80]!r}")
        # a word may be written without its sign, as 64 bare bits
        return tuple(x - (1 << 64) if x >= 1 << 63 else x for x in position)


class KernelDiceGame(KernelGame, DiceGame):
    """A game with dice whose rules are kernels."""
