"""Othello as kernels: a whole game in one file, for a board of 64 squares.

A move puts a disc on an empty square from which straight lines of the other side's discs lead to a
disc of one's own, and turns those lines over. A side without a move passes. Once neither can move,
the side with more discs has won; empty squares do not count.

A position is (own discs, the opponent's, side to move); square a1, the top left one, has bit 0, b1
bit 1, a2 bit 8. A move is the bit of its square, or PASS. Black begins.
"""

from __future__ import annotations

from games import Rules
from games.features import FeatureSet, Kind, Phases
from games.grid import Grid, GridGame, swap_sides
from games.kernels import bit, kernel, lowest, popcount, shift_left, shift_right, word

__all__ = ["Discs", "Othello"]

PASS = 64
#: The squares from which a step to the left or right stays on the board.
INNER = word(0x7E7E7E7E7E7E7E7E)
CORNERS = word(0x8100000000000081)
_NAN = float("nan")


@kernel
def reached(own, opponent):
    """The empty squares on which a disc of one's own turns others over."""
    found = 0
    for step in (1, 7, 8, 9):
        through = opponent if step == 8 else opponent & INNER
        up = through & shift_left(own, step)
        down = through & shift_right(own, step)
        for _ in range(5):
            up |= through & shift_left(up, step)
            down |= through & shift_right(down, step)
        found |= shift_left(up, step) | shift_right(down, step)
    return found & ~(own | opponent)


@kernel
def turned_over(own, opponent, disc):
    """The discs that one's own new disc turns over."""
    found = 0
    for step in (1, 7, 8, 9):
        through = opponent if step == 8 else opponent & INNER
        up = through & shift_left(disc, step)
        down = through & shift_right(disc, step)
        for _ in range(5):
            up |= through & shift_left(up, step)
            down |= through & shift_right(down, step)
        if shift_left(up, step) & own:
            found |= up
        if shift_right(down, step) & own:
            found |= down
    return found


@kernel
def legal_moves(position, moves):
    """Write the bits of the squares that can be taken, or PASS alone; none after the end."""
    own, opponent, _ = position
    rest = reached(own, opponent)
    if rest == 0 and reached(opponent, own):
        moves[0] = PASS
        return 1
    count = 0
    while rest:
        moves[count] = lowest(rest)
        rest ^= bit(moves[count])
        count += 1
    return count


@kernel
def play(position, move):
    """The position after a move, seen by the other side."""
    own, opponent, side = position
    if move == PASS:
        return (opponent, own, 1 - side)
    turned = turned_over(own, opponent, bit(move))
    return (opponent ^ turned, own | turned | bit(move), 1 - side)


@kernel
def lead(position):
    """Discs more than the other side has once neither can move, else NaN."""
    own, opponent, _ = position
    if reached(own, opponent) or reached(opponent, own):
        return _NAN
    return float(popcount(own) - popcount(opponent))


@kernel
def outcome(position):
    """1.0, 0.0 or -1.0 once neither side can move, else NaN."""
    discs = lead(position)
    return 1.0 if discs > 0.0 else -1.0 if discs < 0.0 else discs


@kernel
def gain(position, move):
    """Moves are tried first that leave the other side fewer replies."""
    own, opponent, _ = play(position, move)
    return -float(popcount(reached(own, opponent)))


@kernel
def left(position):
    """Empty squares."""
    return 64 - popcount(position[0] | position[1])


@kernel
def phase(position):
    """The number of the stage: ten more discs each."""
    return (popcount(position[0] | position[1]) - 4) // 10


@kernel
def discs(position):
    """Discs."""
    return popcount(position[0])


@kernel
def replies(position):
    """Squares that can be taken."""
    return popcount(reached(position[0], position[1]))


@kernel
def corners(position):
    """Corners held."""
    return popcount(position[0] & CORNERS)


@kernel
def _moves(position):
    return reached(position[0], position[1])


@kernel
def _their_moves(position):
    return reached(position[1], position[0])


GRID = Grid(8, 8, row_names="12345678", column_names="abcdefgh", divider="", symmetry="square")
PHASES = Phases(tuple(f"from {4 + 10 * n} discs" for n in range(7)), phase)
TERMS = FeatureSet("classic", {"discs": discs, "replies": replies, "corners": corners}, swap_sides)


class Othello(GridGame):
    """Othello; texts are 64 of `X`, `O` and `.` from a1, b1 … to h8, and the side to move."""

    name = "othello"
    grid = GRID
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome, gain=gain, left=left)
    start_position = (bit(28) | bit(35), bit(27) | bit(36), 0)
    most_moves = 60
    features = {"classic": TERMS}
    evaluators = {"hand": ("classic", {"discs": -0.1, "replies": 0.5, "corners": 5.0})}
    phases = PHASES
    sides = ("Black", "White")
    unit = "discs"
    extras = (
        GRID.board(),
        GRID.cells("disc", {"move": Kind(_moves, _their_moves)}, phases=PHASES),
    )


class Discs(Othello):
    """Othello for as many discs as possible: outcomes are differences, empty squares count none."""

    name = "othello_discs"
    rules = Rules(legal_moves=legal_moves, play=play, outcome=lead, gain=gain, left=left)
    wins = False
