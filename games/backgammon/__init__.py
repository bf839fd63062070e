"""Backgammon."""

from __future__ import annotations

from games.backgammon import rules
from games.backgammon.encoding import POINTS
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.phases import PHASES
from games.backgammon.rules import (
    FIRST_PROBABILITIES,
    MOST_MOVES,
    PROBABILITIES,
    ROLLS,
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
    encodings = {"points": POINTS}

    def to_move(self, position: Position) -> int:
        return position[4]

    def roll_text(self, roll: int) -> str:
        return "{}{}".format(*ROLLS[roll])
