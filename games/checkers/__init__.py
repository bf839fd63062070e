"""English checkers (American draughts)."""

from __future__ import annotations

from collections.abc import Iterator

from games.checkers import notation, pieces, rules
from games.checkers.cells import CELLS
from games.checkers.encoding import PHASE_SQUARES, PIECE_SQUARES
from games.checkers.endgame.known import DATABASES
from games.checkers.evaluators import CALIBRATIONS, EVALUATORS, UNIT_TERMS
from games.checkers.features import CLASSIC, SAMUEL
from games.checkers.file_form import PDN
from games.checkers.phases import PHASES
from games.checkers.recipes import RECIPES
from games.checkers.rules import MOST_MOVES, START, Position
from games.checkers.signature import SIGNATURE
from games.contract import Rules
from games.kernel_game import KernelGame

__all__ = ["Checkers"]


class Checkers(KernelGame):
    """English checkers: Black (0) moves first; captures are mandatory; no move is a loss.

    Text forms are those of PDN; draws by repetition and by 40 moves each belong to the game record
    (`games.record`).
    """

    name = "checkers"
    rules = Rules(
        legal_moves=rules.legal_moves,
        play=rules.play,
        outcome=rules.outcome,
        key=rules.key,
        noisy=rules.noisy,
        irreversible=rules.irreversible,
        gain=rules.gain,
        standard=rules.standard,
    )
    start_position = START
    most_moves = MOST_MOVES
    features = {"classic": CLASSIC, "samuel": SAMUEL}
    encodings = {
        "piece_squares": PIECE_SQUARES,
        "phase_squares": PHASE_SQUARES,
    }
    board = pieces.BOARD
    cells = CELLS
    phases = PHASES
    evaluators = EVALUATORS
    calibrations = CALIBRATIONS
    sides = pieces.SIDES
    unit = "men"
    unit_terms = UNIT_TERMS
    file_form = PDN
    lookups = DATABASES
    protocols = ("hub",)
    shipped = "quantised"
    openings = "even"
    opponents = ("material", "rote", "classic")
    pacemakers = ("rote", "classic")
    recipes = RECIPES
    signature = SIGNATURE

    def to_move(self, position: Position) -> int:
        return position[3]

    def position_text(self, position: Position) -> str:
        return notation.position_text(position)

    def parse_position(self, text: str) -> Position:
        return notation.parse_position(text)

    def move_text(self, position: Position, move: int) -> str:
        return notation.move_text(position, move)

    def parse_move(self, position: Position, text: str) -> int:
        return notation.parse_move(position, text)

    def show(self, position: Position) -> str:
        return notation.show(position)

    def stuck_text(self, position: Position) -> str:
        return "cannot move" if position[0] else "has no piece left"

    def input_text(self, encoding: str, place: int, position: Position) -> tuple[str, float]:
        if encoding not in (PIECE_SQUARES.name, PHASE_SQUARES.name):
            return super().input_text(encoding, place, position)
        return pieces.input_text(place % len(PIECE_SQUARES), position[3]), 1.0

    def removals(self, position: Position) -> Iterator[tuple[str, float, Position]]:
        return pieces.removals(position)
