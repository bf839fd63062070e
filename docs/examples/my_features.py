"""Two features for checkers: one that earns its place beside those of `classic`, one that does not.

Used by docs/own_feature.md: python train.py checkers --features docs/examples/my_features.py
"""

from games.checkers.rules import SQUARES, WHITE
from games.checkers.terms import squares
from games.kernels import kernel, popcount

DOUBLE_CORNERS = squares(1, 5, 28, 32)


@kernel
def refuge(position):
    """1 for the side with fewer pieces, if it has a king in a double corner.

    From there a single king is not driven out by two, and the lead is worth less than it looks.
    """
    own, opponent, kings, side = position
    return 1 if popcount(own) < popcount(opponent) and own & kings & DOUBLE_CORNERS else 0


@kernel
def _behind(pieces, side):
    """Squares from which moving forward, as a man of the side does, can lead to the pieces."""
    shadow = pieces
    for _ in range(7):
        if side == WHITE:
            shadow |= ((shadow << 4) | (shadow << 5)) & SQUARES
        else:
            shadow |= ((shadow >> 4) | (shadow >> 5)) & SQUARES
    return shadow


@kernel
def passed_men(position):
    """Men with no opposing piece in the triangle before them, as of passed pawns in chess."""
    own, opponent, kings, side = position
    return popcount(own & ~kings & ~_behind(opponent, side))
