"""Backgammon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from games.backgammon import notation, pieces, rules
from games.backgammon.doubling import (
    CubeDecision,
    MatchEquities,
    Stakes,
    accepts,
    cube_stakes,
    cube_values,
    decide,
    may_double,
    owner_of,
    read_match_equities,
)
from games.backgammon.encoding import POINTS
from games.backgammon.evaluators import EVALUATORS
from games.backgammon.features import EXPERT, LINEAR
from games.backgammon.file_form import MAT
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.phases import PHASES
from games.backgammon.pubeval import PUBEVAL
from games.backgammon.record import BackgammonRecord
from games.backgammon.rules import (
    FIRST_PROBABILITIES,
    MOST_MOVES,
    PROBABILITIES,
    START,
    Position,
)
from games.board import Pieces
from games.contract import Rules
from games.kernel_game import KernelDiceGame
from games.record import RecordKind

__all__ = ["Backgammon"]


def _input_text(encoding: str, place: int, position: Position) -> tuple[str, float]:
    return pieces.input_text(place, position)


class Backgammon(KernelDiceGame):
    """Backgammon for money, without the cube: gammons count double and backgammons triple.

    equities: chances to win a match, for decisions about the cube; our own table if None.
    """

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
    sides = ("X", "O")
    extras = (MAT, RecordKind(BackgammonRecord), Pieces(pieces.removals, _input_text))
    cube = True

    def __init__(self, equities: MatchEquities | None = None) -> None:
        super().__init__()
        self.equities = equities

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

    def start_of(self, side: int) -> Position:
        return (*START[:4], side)

    def parse_situation(self, text: str) -> tuple[Position, int | None]:
        situation = notation.parse_situation(text)
        return situation.position, situation.roll

    def record_options(self, text: str) -> dict[str, Any]:
        situation = notation.parse_situation(text)
        names = ("match_length", "score", "cube", "owner", "crawford", "jacoby", "beavers")
        return {name: getattr(situation, name) for name in names}

    def may_double(self, situation: Any) -> bool:
        return may_double(situation)

    def cube_values(self, situation: Any, outcomes: Any) -> Any:
        return cube_values(situation, outcomes, self.equities)

    def with_match_equities(self, text: str) -> Backgammon:
        return Backgammon(read_match_equities(text))

    def cube_stakes(self, situation: Any) -> tuple[Stakes, int | None]:
        return cube_stakes(situation, self.equities), owner_of(situation)

    def cube_decision(
        self,
        situation: Any,
        outcomes: Sequence[float],
        searched: tuple[float, float] | None = None,
    ) -> CubeDecision:
        return decide(situation, outcomes, self.equities, searched)

    def accepts(self, situation: Any, outcomes: Sequence[float], side: int, kind: int) -> bool:
        return accepts(situation, outcomes, side, kind, self.equities)
