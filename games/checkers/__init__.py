"""English checkers (American draughts)."""

from __future__ import annotations

from games.board import Pieces
from games.checkers import notation, pieces, rules
from games.checkers.cells import CELLS
from games.checkers.encoding import PHASE_SQUARES, PIECE_SQUARES
from games.checkers.evaluators import EVALUATORS
from games.checkers.features import CLASSIC, SAMUEL
from games.checkers.file_form import PDN
from games.checkers.phases import PHASES
from games.checkers.rules import MOST_MOVES, START, Position
from games.contract import Rules
from games.kernel_game import KernelGame

__all__ = ["Checkers"]


def _input_text(encoding: str, place: int, position: Position) -> tuple[str, float]:
    return pieces.input_text(place % len(PIECE_SQUARES), position[3]), 1.0


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
    phases = PHASES
    evaluators = EVALUATORS
    sides = pieces.SIDES
    unit = "men"
    extras = (pieces.BOARD, CELLS, PDN, Pieces(pieces.removals, _input_text))

    def to_move(self, position: Position) -> int:
        return position[3]

    position_text = staticmethod(notation.position_text)
    parse_position = staticmethod(notation.parse_position)
    move_text = staticmethod(notation.move_text)
    parse_move = staticmethod(notation.parse_move)
    show = staticmethod(notation.show)
