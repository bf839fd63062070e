"""Backgammon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from games.backgammon import bear_off, bear_off_tables, notation, pieces, rules
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
from games.backgammon.evaluators import CALIBRATIONS, EVALUATORS
from games.backgammon.features import EXPERT, LINEAR
from games.backgammon.file_form import MAT
from games.backgammon.identifiers import xgid
from games.backgammon.kinds import KINDS
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.phases import PHASES
from games.backgammon.pubeval import PUBEVAL
from games.backgammon.recipes import RECIPES
from games.backgammon.record import BackgammonRecord
from games.backgammon.rules import (
    FIRST_PROBABILITIES,
    MOST_MOVES,
    PROBABILITIES,
    START,
    Position,
)
from games.contract import Rules
from games.database import Database
from games.external import ExternalEngine
from games.kernel_game import KernelDiceGame

__all__ = ["Backgammon"]

PACKAGE = "gnubg_nn"


def _tables() -> Any:
    return bear_off_tables.bear_off().tables


def _gnubg(plies: int) -> ExternalEngine:
    return ExternalEngine(f"gnubg:{plies}", f"GNU Backgammon {plies}-ply", PACKAGE, peer=plies == 0)


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
    kinds = KINDS
    features = {"expert": EXPERT, "linear": LINEAR, "pubeval": PUBEVAL}
    encodings = {"points": POINTS}
    evaluators = EVALUATORS
    calibrations = CALIBRATIONS
    sides = ("X", "O")
    outcome_names = {1.0: "a single game", 2.0: "a gammon", 3.0: "a backgammon"}
    file_form = MAT
    record_kind = BackgammonRecord
    cube = True
    lookups = {
        "bearoff": Database("bear-off databases", bear_off.probe, _tables, bear_off.outcomes)
    }
    protocols = ("ubgi", "gnubg-socket")
    engines = (
        ExternalEngine("pubeval", "pubeval", PACKAGE, peer=True),
        *(_gnubg(plies) for plies in range(3)),
    )
    shipped = "wide"
    usual_lookup = "bearoff"
    opponents = ("random", "hand")
    pacemakers = ("hand",)
    usual_learner = "tdgammon"
    recipes = RECIPES

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

    def situation_text(self, record: Any, roll: int | None = None) -> str | None:
        if not isinstance(record, BackgammonRecord) or record.over:
            return None
        return xgid(record.situation(roll))

    def input_text(self, encoding: str, place: int, position: Position) -> tuple[str, float]:
        if encoding != POINTS.name:
            return super().input_text(encoding, place, position)
        return pieces.input_text(place, position)

    def removals(self, position: Position) -> Iterator[tuple[str, float, Position]]:
        return pieces.removals(position)
