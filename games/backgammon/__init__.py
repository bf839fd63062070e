"""Backgammon."""

from __future__ import annotations

from games.backgammon import notation, rules
from games.backgammon.encoding import POINTS
from games.backgammon.evaluators import EVALUATORS
from games.backgammon.features import EXPERT, LINEAR
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.phases import PHASES
from games.backgammon.pubeval import PUBEVAL
from games.backgammon.rules import (
    FIRST_PROBABILITIES,
    MOST_MOVES,
    PROBABILITIES,
    START,
    Position,
)
from games.contract import KernelDiceGame, Rules

__all__ = ["Backgammon"]


class Backgammon(KernelDiceGame):
    """Backgammon for money, without the cube: gammons count double and backgammons triple."""

    name = "backgammon"
    wins = False
    rules = Rules(
        legal_moves=rules.legal_moves,
        play=rules.play,
        outcome=rules.outcome,
        key=rules.key,
        standard=rules.standard,
    )
    rolls = PROBABILITIES
    first_rolls = FIRST_PROBABILITIES
    start_position = START
    most_moves = MOST_MOVES
    outcomes = OUTCOMES
    phases = PHASES
    features = {"expert": EXPERT, "linear": LINEAR, "pubeval": PUBEVAL}
    encodings = {"points": POINTS}
    evaluators = EVALUATORS

    def to_move(self, position: Position) -> int:
        return position[4]

    def position_text(self, position: Position) -> str:
        return notation.position_text(position)

    def parse_position(self, text: str) -> Position:
        return notation.parse_position(text)

    def move_text(self, position: Position, move: int) -> str:
        return notation.move_text(position, move)

    def parse_move(self, position: Position, text: str, roll: int | None = None) -> int:
        return notation.parse_move(position, text, roll)

    def roll_text(self, roll: int) -> str:
        return notation.roll_text(roll)

    def parse_roll(self, text: str) -> int:
        return notation.parse_roll(text)

    def show(self, position: Position) -> str:
        return notation.show(position)
