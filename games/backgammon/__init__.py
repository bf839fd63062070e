"""Backgammon."""

from __future__ import annotations

from typing import Any

from games.backgammon import notation, pieces, rules
from games.backgammon.cells import CELLS
from games.backgammon.doubling import DoublingCube
from games.backgammon.encoding import POINTS
from games.backgammon.evaluators import EVALUATORS
from games.backgammon.features import EXPERT, LINEAR
from games.backgammon.file_form import MAT
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.phases import PHASES
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
from games.rolls import Rolls

__all__ = ["Backgammon"]


def _input_text(encoding: str, place: int, position: Position) -> tuple[str, float]:
    return pieces.input_text(place, position)


def _record(text: str) -> tuple[Position, int | None, dict[str, Any]]:
    """Returns the position of a text, its roll, and the options of a record at that score."""
    situation = notation.parse_situation(text)
    names = ("match_length", "score", "cube", "owner", "crawford", "jacoby", "beavers")
    options = {name: getattr(situation, name) for name in names}
    options["offered"] = situation.offered == "double"
    return situation.position, situation.roll, options


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
    dice = Rolls(
        PROBABILITIES,
        FIRST_PROBABILITIES,
        starts=tuple((*START[:4], side) for side in (0, 1)),
        text=notation.roll_text,
        read=notation.parse_roll,
    )
    start_position = START
    most_moves = MOST_MOVES
    outcomes = OUTCOMES
    phases = PHASES
    features = {"expert": EXPERT, "linear": LINEAR}
    encodings = {"points": POINTS}
    evaluators = EVALUATORS
    sides = ("X", "O")
    extras = (
        MAT,
        RecordKind(BackgammonRecord, _record),
        Pieces(pieces.removals, _input_text),
        CELLS,
    )
    cube = DoublingCube()

    def to_move(self, position: Position) -> int:
        return position[4]

    position_text = staticmethod(notation.position_text)
    parse_position = staticmethod(notation.parse_position)
    move_text = staticmethod(notation.move_text)
    parse_move = staticmethod(notation.parse_move)
    show = staticmethod(notation.show)
