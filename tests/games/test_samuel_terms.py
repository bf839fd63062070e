"""Samuel's terms against hand-worked positions, slow twins, and properties that must hold."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from games.checkers import rules
from games.checkers.notation import parse_position
from games.checkers.rules import BLACK, START, WHITE, swap_sides
from games.checkers.samuel_connectives import CONNECTIVES, RESERVE
from games.checkers.samuel_terms import INITIAL_ACTIVE, SIMPLE_TERMS, piece_advantage
from games.kernels import is_kernel

pytestmark = pytest.mark.plain

TERMS = {**SIMPLE_TERMS, **CONNECTIVES}


def board(squares):
    return sum(1 << square - 1 + (square - 1) // 8 for square in squares)


def place(side, black=(), black_kings=(), white=(), white_kings=()):
    """Returns a position from lists of squares, with a side to move."""
    blacks, whites = board([*black, *black_kings]), board([*white, *white_kings])
    kings = board([*black_kings, *white_kings])
    return (blacks, whites, kings, side) if side == BLACK else (whites, blacks, kings, side)


@pytest.fixture(scope="module")
def positions():
    """Returns every position of 100 random games of at most 120 plies."""
    generator = random.Random(1959)
    moves = np.zeros(rules.MOST_MOVES, dtype=np.int64)
    found = []
    for _ in range(100):
        position = START
        for _ in range(120):
            found.append(position)
            count = rules.legal_moves(position, moves)
            if not count:
                break
            position = rules.play(position, int(moves[generator.randrange(count)]))
    return found


ROWS = [
    line.split()
    for line in (Path(__file__).parent / "samuel_terms.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("name", "value", "position"), ROWS)
def test_term_has_the_value_worked_by_hand(name, value, position):
    assert TERMS[name](parse_position(position)) == float(value)


def test_every_term_without_a_twin_is_worked_by_hand():
    assert {name for name, value, _ in ROWS if value != "0"} == set(TERMS) - set(TWINS)


def test_tables_hold_samuels_terms_once():
    assert len(SIMPLE_TERMS) == 25 and list(SIMPLE_TERMS) == sorted(SIMPLE_TERMS)
    assert len(CONNECTIVES) == 12 and "RECAP" not in TERMS
    assert len(INITIAL_ACTIVE) == 16
    assert sorted((*INITIAL_ACTIVE, *RESERVE)) == sorted(TERMS)
    assert {"DENY", "MOB", "CENT", "CNTR", "ADV"} <= set(INITIAL_ACTIVE)
    assert all(is_kernel(term) for term in TERMS.values())


def test_active_terms_are_those_that_differ_between_the_sides_most_often(positions):
    shares = {
        name: sum(term(p) != term(swap_sides(p)) for p in positions)
        for name, term in SIMPLE_TERMS.items()
    }
    order = sorted((name for name in shares if name != "MOBIL"), key=shares.__getitem__)
    assert set(order[-16:]) == set(INITIAL_ACTIVE)


def turned(bits):
    """Returns the board turned by 180 degrees: square s becomes 33 - s."""
    return int(f"{bits:035b}"[::-1], 2)


@pytest.mark.parametrize("name", [*TERMS, "piece advantage"])
def test_both_colours_are_treated_alike(name, positions):
    term = TERMS.get(name, piece_advantage)
    for own, opponent, kings, side in positions[::5]:
        mirror = (turned(own), turned(opponent), turned(kings), 1 - side)
        assert term(mirror) == term((own, opponent, kings, side))


def test_the_move_is_the_same_for_both_sides(positions):
    move = SIMPLE_TERMS["MOVE"]
    assert all(move(p) == move(swap_sides(p)) for p in positions)
    assert any(move(p) for p in positions)


def test_connectives_of_a_pair_exclude_each_other(positions):
    names = list(CONNECTIVES)
    for group in (names[:4], names[4:8], names[8:]):
        for position in positions[::7]:
            assert sum(CONNECTIVES[name](position) for name in group) == 1


def test_piece_advantage_of_a_worked_position():
    # 7 points against 4: 3 · (1 + (48 - 11) / 96) = 3 · 133 / 96.
    position = place(BLACK, black=[1, 2], black_kings=[14], white=[28, 27])
    assert piece_advantage(position) == 4.15625
    assert piece_advantage(swap_sides(position)) == -4.15625
    assert piece_advantage(START) == 0


# Slow twins: pieces in a dictionary from (row, column) to (colour, king).


def places():
    for square in range(1, 33):
        row, column = (square - 1) // 4, 2 * ((square - 1) % 4)
        yield square, (row, column + 1 if row % 2 == 0 else column)


PLACES = dict(places())
CENTRE = {PLACES[s] for s in (10, 11, 14, 15, 18, 19, 22, 23)}
AROUND = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


class Board:
    """A position as pieces on coordinates, with slow versions of the quantities in the terms."""

    def __init__(self, position):
        own, opponent, kings, side = position
        self.side = side
        self.pieces = {}
        for square, at in PLACES.items():
            bit = board([square])
            if (own | opponent) & bit:
                self.pieces[at] = (side if own & bit else 1 - side, bool(kings & bit))

    def with_pieces(self, pieces):
        other = Board((0, 0, 0, self.side))
        other.pieces = pieces
        return other

    def passive(self, king=None):
        return {
            at
            for at, (colour, is_king) in self.pieces.items()
            if colour != self.side and king in (None, is_king)
        }

    def empty(self):
        return {at for at in PLACES.values() if at not in self.pieces}

    def ways(self, at):
        colour, king = self.pieces[at]
        forward = 1 if colour == BLACK else -1
        return [way for way in AROUND if king or way[0] == forward]

    def steps(self):
        """Returns (from, to) of every step of the active side."""
        return [
            (at, beyond(at, way))
            for at, (colour, _) in self.pieces.items()
            if colour == self.side
            for way in self.ways(at)
            if beyond(at, way) in self.empty()
        ]

    def jumps(self, colour):
        """Returns (from, over, to) of every single jump of a colour."""
        empty = self.empty()
        return {
            (at, beyond(at, way), beyond(at, way, 2))
            for at, (mine, _) in self.pieces.items()
            if mine == colour
            for way in self.ways(at)
            if beyond(at, way) in self.pieces
            and self.pieces[beyond(at, way)][0] != colour
            and beyond(at, way, 2) in empty
        }

    def after(self, start, end):
        pieces = dict(self.pieces)
        colour, king = pieces.pop(start)
        pieces[end] = (colour, king or end[0] == (7 if colour == BLACK else 0))
        return self.with_pieces(pieces)

    def offer(self, start, end):
        """Returns "safe", "exchange" or "loss", for the piece that steps."""
        after = self.after(start, end)
        captures = [jump for jump in after.jumps(1 - self.side) if jump[1] == end]
        for origin, _, landing in captures:
            jumped = dict(after.pieces)
            jumped[landing] = jumped.pop(origin)
            again = self.with_pieces(jumped).jumps(1 - self.side)
            if any(at == landing and over != end for at, over, _ in again):
                return "loss"
            del jumped[end]
            if not self.with_pieces(jumped).jumps(self.side):
                return "loss"
        return "exchange" if captures else "safe"


def beyond(at, way, distance=1):
    return at[0] + distance * way[0], at[1] + distance * way[1]


def neighbours(at):
    return [beyond(at, way) for way in AROUND]


def slow_mobility(b):
    return len({end for _, end in b.steps()})


def slow_denial(b):
    return sum(
        all(b.offer(start, end) == "loss" for start, end in b.steps() if end == square)
        for square in {end for _, end in b.steps()}
    )


def slow_exchanges(b):
    return len({end for start, end in b.steps() if b.offer(start, end) == "exchange"})


def slow_centre_control(b):
    held = {at for at, (colour, _) in b.pieces.items() if colour == b.side}
    return len(CENTRE & (held | {end for _, end in b.steps()}))


def slow_exposed(b):
    empty = b.empty()
    return sum(
        any({beyond(at, way), beyond(at, way, -1)} <= empty for way in AROUND) for at in b.passive()
    )


def slow_holes(b):
    return sum(len(b.passive() & set(neighbours(at))) >= 3 for at in b.empty())


def slow_gaps(b):
    wall = b.passive() | {(r, c) for r in range(-1, 9) for c in range(-1, 9)} - set(inside())
    return sum(
        any(beyond(at, way) in b.passive() and beyond(at, way, -1) in wall for way in AROUND)
        for at in b.empty()
    )


def inside():
    return [(row, column) for row in range(8) for column in range(8)]


def slow_dykes(b):
    passive = b.passive()
    return sum(
        {at, beyond(at, way), beyond(at, way, 2)} <= passive
        for at in passive
        for way in [(1, 1), (1, -1)]
    )


def slow_nodes(b):
    return sum(len(b.empty() & set(neighbours(at))) >= 3 for at in b.passive())


def slow_poles(b):
    return sum(b.empty() >= set(neighbours(at)) for at in b.passive(king=False))


def off_diagonal(at):
    """Returns the number of diagonals from a square to the nearer of 1-28 and 5-32."""
    return (abs(at[1] - at[0]) - 1) // 2


def slow_diagonals(b):
    return sum(off_diagonal(at) == 0 for at in b.passive())


def slow_moment(b):
    return sum(max(0.0, 1.5 - 0.5 * off_diagonal(at)) for at in b.passive())


def slow_centre(b):
    return len(CENTRE & b.passive(king=False))


def slow_centre_kings(b):
    return len(CENTRE & b.passive(king=True))


def slow_advancement(b):
    # rows counted from the passive side's own, from 1
    rows = [at[0] + 1 if b.side == WHITE else 8 - at[0] for at in b.passive(king=False)]
    return sum(row in (5, 6) for row in rows) - sum(row in (3, 4) for row in rows)


def slow_threats(b):
    before = b.jumps(b.side)
    return sum(
        any(jump not in before for jump in b.after(start, end).jumps(b.side))
        for start, end in b.steps()
    )


def slow_forks(b):
    forward, passive, empty = (1 if b.side == BLACK else -1), b.passive(), b.empty()
    return sum(
        (row, column + 2) in passive
        and {(row - forward, column + 1), (row + forward, column - 1), (row + forward, column + 3)}
        <= empty
        for row, column in passive
    )


def slow_move(b):
    sizes = Counter(colour for colour, _ in b.pieces.values())
    points = sum(3 if king else 2 for _, king in b.pieces.values())
    if sizes[BLACK] != sizes[WHITE] or points >= 24:
        return 0
    parity = 0 if b.side == BLACK else 1  # of the rows where the mover's files have squares
    return sum(row % 2 == parity for row, _ in b.pieces) % 2


TWINS = {
    "ADV": slow_advancement,
    "CENT": slow_centre,
    "CNTR": slow_centre_control,
    "DENY": slow_denial,
    "DIA": slow_diagonals,
    "DIAV": slow_moment,
    "DYKE": slow_dykes,
    "EXCH": slow_exchanges,
    "EXPOS": slow_exposed,
    "FORK": slow_forks,
    "GAP": slow_gaps,
    "HOLE": slow_holes,
    "KCENT": slow_centre_kings,
    "MOB": slow_mobility,
    "MOVE": slow_move,
    "NODE": slow_nodes,
    "POLE": slow_poles,
    "THRET": slow_threats,
}


@pytest.mark.parametrize("name", TWINS)
def test_term_agrees_with_its_slow_twin(name, positions):
    term, twin = SIMPLE_TERMS[name], TWINS[name]
    seen = Counter()
    for i, position in enumerate(positions[::5]):
        # every second one unchanged, the others with sides exchanged, so that captures are pending
        p = swap_sides(position) if i % 2 else position
        value = term(p)
        assert value == twin(Board(p)), p
        seen[value] += 1
    assert len(seen) > 1
