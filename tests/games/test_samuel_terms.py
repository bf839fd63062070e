"""Samuel's terms against hand-worked positions, slow twins, and properties that must hold."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from games.checkers import rules
from games.checkers.rules import BLACK, START, WHITE, swap_sides
from games.checkers.samuel_connectives import CONNECTIVES, RESERVE
from games.checkers.samuel_terms import INITIAL_ACTIVE, SIMPLE_TERMS, piece_advantage
from games.kernels import is_kernel, uncompiled

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


# Three positions that serve several terms.
# A: 11 can step to 15, where 19x10 captures it and 7x14 answers (3 is held, so 19x10 ends there):
#    an exchange; and to 16, where 19x12 captures it and nothing answers: denied. 8 and 10 are safe.
#    Black: MOB 4, DENY 1, MOBIL 3. White can step to 15 and 16, and loses the man to 11x18 and
#    11x20: MOB 2, DENY 2, MOBIL 0. CENT: one passive man for either side, 19 and 11.
A = {"black": [3, 7, 11], "white": [19]}
# B: Black can step to 5, 6 and 8 (safe), and to 15 and 16, where 19x10 and 19x12 cannot be
#    answered: MOB 5, DENY 2, MOBIL 3. White can step to 15, where 11x18 is answered by 23x14 (27 is
#    held, so 11x18 ends there), to 16, where 11x20 is not answered, and to 18 and 24 (safe): MOB 4,
#    DENY 1, MOBIL 3. CENT: 19 and 23 are passive for Black, 11 for White.
B = {"black": [1, 4, 11], "white": [19, 23, 27]}
# C: as B, and the man on 3 can step to 7: MOB 6, DENY 2, MOBIL 4.
C = {"black": [1, 3, 4, 11], "white": [19, 23, 27]}

WORKED = [
    # White's 5th-6th rows are 16-9: men on 10 and 11. Its 3rd-4th are 24-17: 22. The king is none.
    ("ADV", 1, place(BLACK, black=[1], white=[10, 11, 22], white_kings=[14])),
    # Black's 5th-6th rows are 17-24: 18. Its 3rd-4th are 9-16: 9 and 12.
    ("ADV", -1, place(WHITE, black=[9, 12, 18], white=[32])),
    # No kings, Black's man on 7, White on neither 7 nor 26.
    ("APEX", -1, place(BLACK, black=[7], white=[31])),
    # White has no king; Black holds 1 and 3.
    ("BACK", 1, place(WHITE, black=[1, 3], white=[31])),
    # 18 and 22 are centre squares; 27 is not, and the king on 15 is not a man.
    ("CENT", 2, place(BLACK, black=[1], white=[18, 22, 27], white_kings=[15])),
    ("KCENT", 1, place(BLACK, black=[1], white=[18, 22, 27], white_kings=[15, 29])),
    # 18 itself, 22 and 23 reached by 18, 14 by 9, which also reaches 13, outside.
    ("CNTR", 4, place(BLACK, black=[9, 18], white=[32])),
    # Black has 3 points, White 6; the king on 6 can step to 1.
    ("CORN", 1, place(BLACK, black_kings=[6], white_kings=[30, 31])),
    # Black's 13 and 9 hold White's 17, 21, 22 and 25.
    ("CRAMP", 2, place(WHITE, black=[9, 13], white=[17, 21, 22, 25])),
    ("CRAMP", 2, place(BLACK, black=[8, 11, 12, 16], white=[20, 19])),
    ("DENY", 1, place(BLACK, **A)),
    ("DENY", 2, place(WHITE, **A)),
    # At 15 the man is captured by 19x10x3, which takes 7 too. At 16 it is safe if it comes from 11,
    # because then 19x12 has no room; from 12 it would be lost. One safe way suffices.
    ("DENY", 1, place(BLACK, black=[7, 11, 12], white=[19])),
    ("EXCH", 1, place(BLACK, **A)),
    # 10 lies on 1-28, 23 on 5-32, 30 on neither.
    ("DIA", 2, place(BLACK, black=[1], white=[10, 23, 30])),
    # 10 at distance 0: 3/2; 16 at 1: 1; 30 at 2: 1/2; 29 at 3: nothing.
    ("DIAV", 3.0, place(BLACK, black=[1], white=[10, 16, 29, 30])),
    # 18-22-25 and 22-25-29.
    ("DYKE", 2, place(BLACK, black=[1], white=[18, 22, 25, 29])),
    # 18 between 15 and 22, both empty (14 is Black's); 29 has one neighbour.
    ("EXPOS", 1, place(BLACK, black=[14], white=[18, 29])),
    # From 18 a man would jump 22, to 25, or 23, to 27.
    ("FORK", 1, place(BLACK, black=[1], white=[22, 23])),
    # From 15 a white man would jump 10, to 6, or 11, to 8: 15x6 and 15x8.
    ("FORK", 1, place(WHITE, black=[10, 11], white=[32])),
    # 23 between 18 and 27; 31 and 32 between 27 and the edge.
    ("GAP", 3, place(BLACK, black=[1], white=[18, 27])),
    # 4 (in the corner) and 3 between 8 and the upper edge; 12 between 8 and the right-hand edge;
    # 11 has 15 opposite, empty.
    ("GAP", 3, place(WHITE, black=[8], white=[29])),
    # White has no king; Black holds 2, 3 and 7, though not the bridge.
    ("GUARD", 1, place(WHITE, black=[2, 3, 7], white=[31])),
    ("OREO", 1, place(WHITE, black=[2, 3, 7], white=[31])),
    # 18 touches 15, 22 and 23; 19 touches 15 and 23, 26 touches 22 and 23.
    ("HOLE", 1, place(BLACK, black=[1], white=[15, 22, 23])),
    ("MOB", 4, place(BLACK, **A)),
    # A king in the middle reaches 14, 15, 22 and 23; the man on 10 reaches 14 and 15 as well.
    ("MOB", 4, place(BLACK, black=[10], black_kings=[18], white=[32])),
    ("MOBIL", 3, place(BLACK, **A)),
    # Two pieces, 4 points; Black's files hold 1, and 13 is on the others.
    ("MOVE", 1, place(BLACK, black=[1], white=[13])),
    # 18 has 15, 22, 23 empty; the king on 27 has all four; 29 has one neighbour.
    ("NODE", 2, place(BLACK, black=[14], white=[18, 29], white_kings=[27])),
    # 19 stands alone; 28, on the edge, is not surrounded; on 10 stands a king.
    ("POLE", 1, place(BLACK, black=[1], white=[19, 28], white_kings=[10])),
    # 11-15 threatens 15x24, 11-16 threatens 16x23; 18-22 and 18-23 open 9x18.
    ("THRET", 4, place(BLACK, black=[9, 11, 18], white=[14, 19])),
    # 26-31 makes a king, which threatens 31x24 over 27; 26-30 threatens nothing.
    ("THRET", 1, place(BLACK, black=[26], white=[27])),
    # DENY 2 > 1, MOB 5 > 4.
    ("DEMO", 1, place(BLACK, **B)),
    # White: DENY 2 > 1, MOB 2 < 4.
    ("DEMMO", 1, place(WHITE, **A)),
    # DENY 1 < 2, MOB 4 > 2.
    ("DDEMO", 1, place(BLACK, **A)),
    # White: DENY 1 < 2, MOB 4 < 5.
    ("DDMM", 1, place(WHITE, **B)),
    # MOBIL 4 > 3, DENY 2 > 1.
    ("MODE1", 1, place(BLACK, **C)),
    # MOBIL 3 > 0, DENY 1 < 2.
    ("MODE2", 1, place(BLACK, **A)),
    # MOBIL 3 = 3, DENY 2 > 1.
    ("MODE3", 1, place(BLACK, **B)),
    # White: MOBIL 3 < 4, DENY 1 < 2.
    ("MODE4", 1, place(WHITE, **C)),
    # MOBIL 4 > 3, CENT 2 > 1.
    ("MOC1", 1, place(BLACK, **C)),
    # MOBIL 3 > 0, CENT 1 = 1.
    ("MOC2", 1, place(BLACK, **A)),
    # MOBIL 3 = 3, CENT 2 > 1.
    ("MOC3", 1, place(BLACK, **B)),
    # White: MOBIL 3 < 4, CENT 1 < 2.
    ("MOC4", 1, place(WHITE, **C)),
]

# One condition of a rare pattern fails: each of these is 0.
ABSENT = [
    # A passive man on 26; a king on the board.
    ("APEX", place(BLACK, black=[7], white=[26])),
    ("APEX", place(BLACK, black=[7], white_kings=[31])),
    # The active side has a king; 3 is not held.
    ("BACK", place(WHITE, black=[1, 3], white_kings=[31])),
    ("BACK", place(WHITE, black=[1, 2, 7], white=[31])),
    ("GUARD", place(WHITE, black=[1, 2, 3, 7], white_kings=[31])),
    # 7 points are too many; 3 points against 3; on 1 and 5 it stands already.
    ("CORN", place(BLACK, black=[2, 3], black_kings=[6], white_kings=[29, 30, 31])),
    ("CORN", place(BLACK, black_kings=[6], white_kings=[31])),
    ("CORN", place(BLACK, black=[5], black_kings=[1], white_kings=[30, 31])),
    # Neither 9 nor 14; 25 is not held; the side that cramps is to move.
    ("CRAMP", place(WHITE, black=[13], white=[17, 21, 22, 25])),
    ("CRAMP", place(WHITE, black=[9, 13], white=[17, 21, 22])),
    ("CRAMP", place(BLACK, black=[9, 13], white=[17, 21, 22, 25])),
    # The landing square 25 is held; the two stand in different rows, on 20 and 21.
    ("FORK", place(BLACK, black=[1], white=[22, 23, 25])),
    ("FORK", place(BLACK, black=[1], white=[20, 21])),
    # Black's files hold none of 5 and 13; one piece is against two.
    ("MOVE", place(BLACK, black=[5], white=[13])),
    ("MOVE", place(BLACK, black=[1], white=[13, 14])),
    # The passive side has a king; 7 is not held.
    ("OREO", place(WHITE, black=[2, 3, 7], black_kings=[12], white=[31])),
    ("OREO", place(WHITE, black=[1, 2, 3], white=[31])),
]


@pytest.mark.parametrize(("name", "value", "position"), WORKED)
def test_term_has_the_value_worked_by_hand(name, value, position):
    assert TERMS[name](position) == value


@pytest.mark.parametrize(("name", "position"), ABSENT)
def test_pattern_needs_all_its_conditions(name, position):
    assert TERMS[name](position) == 0


def test_every_term_is_worked_by_hand():
    assert {name for name, _, _ in WORKED} == set(TERMS)


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
    for own, opponent, kings, side in positions:
        mirror = (turned(own), turned(opponent), turned(kings), 1 - side)
        assert term(mirror) == term((own, opponent, kings, side))


@pytest.mark.parametrize("name", [*TERMS, "piece advantage"])
def test_compiled_term_agrees_with_its_source(name, positions):
    term = TERMS.get(name, piece_advantage)
    plain = uncompiled(term)
    for position in positions[::11]:
        for p in (position, swap_sides(position)):
            assert term(p) == plain(p)


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


def test_piece_advantage_rewards_even_trades_when_ahead_and_never_a_gift():
    def value(men, kings, other_men, other_kings):
        own = board(range(1, 1 + men + kings))
        opponent = board(range(32, 32 - other_men - other_kings, -1))
        crowned = board(range(1, 1 + kings)) | board(range(32, 32 - other_kings, -1))
        return piece_advantage((own, opponent, crowned, BLACK))

    def points(counts):
        return 2 * (counts[0] - counts[2]) + 3 * (counts[1] - counts[3])

    sizes = [(m, k) for m in range(13) for k in range(13 - m)]
    for men, kings in sizes[::3]:
        for other_men, other_kings in sizes[::4]:
            counts = (men, kings, other_men, other_kings)
            now, ahead = value(*counts), points(counts)
            assert (now > 0) == (ahead > 0) and (now < 0) == (ahead < 0)
            if men:
                assert value(men - 1, kings, other_men, other_kings) < now
                assert value(men - 1, kings + 1, other_men, other_kings) > now
            if kings:
                assert value(men, kings - 1, other_men, other_kings) < now
            if men and other_men:
                traded = value(men - 1, kings, other_men - 1, other_kings)
                assert (traded > now) == (ahead > 0) and (traded < now) == (ahead < 0)


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
        and {
            (row - forward, column + 1),
            (row + forward, column - 1),
            (row + forward, column + 3),
        }
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
    for i, position in enumerate(positions[::2]):
        # every second one unchanged, the others with sides exchanged, so that captures are pending
        p = swap_sides(position) if i % 2 else position
        value = term(p)
        assert value == twin(Board(p)), p
        seen[value] += 1
    assert len(seen) > 1
