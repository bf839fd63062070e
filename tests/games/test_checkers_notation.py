"""Text forms of checkers: written texts are read back, and errors are explained."""

from __future__ import annotations

import random

import numpy as np
import pytest
from errors import errors_of
from hypothesis import given
from hypothesis import strategies as st

from games.checkers import rules
from games.checkers.notation import (
    captured_squares,
    move_path,
    move_text,
    parse_move,
    parse_position,
    position_text,
    show,
    square_bit,
    square_number,
    squares_of,
)
from games.checkers.rules import BLACK, SQUARES, START, WHITE

pytestmark = pytest.mark.plain

Position = tuple[int, int, int, int]

KNOWN = "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29"
LOOP = "W:WK30:B17,18,25,26"  # a king that can go round four men in two directions
NINE = "W:WK1:BK6,K7,K8,K14,K15,K16,K22,K23,K24"  # a king that can capture all of them


def legal(position: Position) -> list[int]:
    moves = np.zeros(rules.MOST_MOVES, dtype=np.int64)
    return [int(move) for move in moves[: rules.legal_moves(position, moves)]]


@st.composite
def positions(draw: st.DrawFn, kings: bool | None = None) -> Position:
    """Draw any possible placement; with `kings`, many kings against one side."""
    squares = draw(st.permutations(range(1, 33)))
    white = draw(st.integers(0, 12))
    black = draw(st.integers(0, 12))
    pieces = {WHITE: 0, BLACK: 0}
    crowned = 0
    for place, square in enumerate(squares[: white + black]):
        colour = WHITE if place < white else BLACK
        pieces[colour] |= 1 << square_bit(square)
        must = square <= 4 if colour == WHITE else square >= 29
        if must or (draw(st.booleans()) if kings is None else kings):
            crowned |= 1 << square_bit(square)
    side = draw(st.sampled_from((BLACK, WHITE)))
    return pieces[side], pieces[1 - side], crowned, side


def test_squares_and_bits() -> None:
    assert [square_bit(square) for square in (1, 8, 9, 16, 17, 24, 25, 32)] == [
        0, 7, 9, 16, 18, 25, 27, 34,
    ]  # fmt: skip
    assert [square_number(square_bit(square)) for square in range(1, 33)] == [*range(1, 33)]
    assert sum(1 << square_bit(square) for square in range(1, 33)) == SQUARES
    assert squares_of(SQUARES) == [*range(1, 33)]


def test_text_of_known_positions() -> None:
    men = ",".join
    white, black = men(map(str, range(21, 33))), men(map(str, range(1, 13)))
    assert position_text(START) == f"B:W{white}:B{black}"
    own = sum(1 << square_bit(square) for square in (12, 16, 20, 22, 25, 29))
    opponent = sum(1 << square_bit(square) for square in (18, 24, 27, 28, 10, 15))
    kings = sum(1 << square_bit(square) for square in (22, 25, 29, 10, 15))
    assert position_text((own, opponent, kings, BLACK)) == KNOWN
    assert position_text((opponent, own, kings, WHITE)) == "W" + KNOWN[1:]
    assert position_text((0, 1, 0, WHITE)) == "W:W:B1"


@given(positions(), st.randoms(use_true_random=False))
def test_positions_are_read_however_they_are_written(
    position: Position, generator: random.Random
) -> None:
    side, *sections = position_text(position).split(":")
    generator.shuffle(sections)
    shuffled = []
    for section in sections:
        items = section[1:].split(",")
        generator.shuffle(items)
        shuffled.append(f" {section[0]}  " + " , ".join(items).replace("K", "K "))
    text = f' "{":".join([side, *shuffled])} . " \n'
    assert parse_position(text) == parse_position(text.lower()) == position


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("B:W21-32:B1-12", position_text(START)),
        ("W:B1-3,9:WK30-32,5.", "W:W5,K30,K31,K32:B1,2,3,9"),
        ("'W:W5 - 5:B'", "W:W5:B"),
        ("W:WK1-1,6:B", "W:W6,K1:B"),
    ],
)
def test_ranges(text: str, same: str) -> None:
    assert position_text(parse_position(text)) == same


def neighbours(square: int) -> dict[int, int]:
    """Returns squares two rows and files away, each with the square between, by coordinates."""
    cells = {
        (row, 2 * place + (row + 1) % 2): 4 * row + place + 1
        for row in range(8)
        for place in range(4)
    }
    row, file = next(cell for cell, number in cells.items() if number == square)
    return {
        cells[row + 2 * down, file + 2 * right]: cells[row + down, file + right]
        for down in (-1, 1)
        for right in (-1, 1)
        if (row + 2 * down, file + 2 * right) in cells
    }


@given(st.one_of(positions(), positions(kings=True)))
def test_moves_are_read_back(position: Position) -> None:
    moves = legal(position)
    texts = [move_text(position, move) for move in moves]
    assert len(set(texts)) == len(texts)
    for move, text in zip(moves, texts, strict=True):
        path, captured = move_path(move), captured_squares(move)
        full = ("x" if captured else "-").join(map(str, path))
        short = ("x" if captured else "-").join(map(str, (path[0], path[-1])))
        ends = [(move_path(other)[0], move_path(other)[-1]) for other in moves]
        rivals = ends.count((path[0], path[-1]))
        assert text == full
        assert parse_move(position, text) == move
        assert rivals > 1 or parse_move(position, short) == move
        if captured:
            jumped = [neighbours(a)[b] for a, b in zip(path, path[1:], strict=False)]
            assert sorted(jumped) == captured
        else:
            assert len(path) == 2


def test_text_of_known_moves() -> None:
    assert [move_text(START, move) for move in legal(START)] == [
        "9-13", "10-14", "11-15", "12-16", "9-14", "10-15", "11-16",
    ]  # fmt: skip
    chain = parse_position("W:W22:B18,11")
    assert [move_text(chain, move) for move in legal(chain)] == ["22x15x8"]
    assert captured_squares(legal(chain)[0]) == [11, 18]
    loop = parse_position(LOOP)
    assert sorted(move_text(loop, move) for move in legal(loop)) == [
        "30x21x14x23x30",
        "30x23x14x21x30",
    ]


def test_moves_of_nine_jumps() -> None:
    position = parse_position(NINE)
    moves = legal(position)
    assert len(moves) == 9
    assert sum(len(captured_squares(move)) == 9 for move in moves) == 6
    for move in moves:
        path = move_path(move)
        jumped = [neighbours(a)[b] for a, b in zip(path, path[1:], strict=False)]
        assert sorted(jumped) == captured_squares(move)
        assert parse_move(position, move_text(position, move)) == move


@pytest.mark.parametrize(
    "text",
    ["22x15x8", "22x8", "22X15X8", "22-8", "22:8", "22*15*8", "22×8", " 22 x 15 - 8\n", "22 15 8"],
)
def test_ways_to_write_a_capture(text: str) -> None:
    position = parse_position("W:W22:B18,11")
    assert parse_move(position, text) == legal(position)[0]


def test_squares_between_may_be_left_out_where_that_is_clear() -> None:
    position = parse_position(LOOP)
    assert move_path(parse_move(position, "30x23x14x30")) == [30, 23, 14, 21, 30]
    assert move_path(parse_move(position, "30x14x21x30")) == [30, 23, 14, 21, 30]


def test_the_board_shows_neighbours_next_to_each_other() -> None:
    """A man's two steps lead to the signs below it, half a square to the left and right."""
    for square in range(1, 29):
        rows = show((1 << square_bit(square), 0, 0, BLACK)).splitlines()
        row = next(number for number, line in enumerate(rows[:8]) if "b" in line)
        column = rows[row].index("b")
        for move in legal((1 << square_bit(square), 0, 0, BLACK)):
            after = show(tuple_after(square, move)).splitlines()
            assert after[row + 1].index("b") - column in (-2, 2)
            assert row == (square - 1) // 4


def tuple_after(square: int, move: int) -> Position:
    """Returns the board with the mover's man moved, still seen with Black to move."""
    _, own, _, _ = rules.play((1 << square_bit(square), 0, 0, BLACK), move)
    return own, 0, 0, BLACK


test_errors = errors_of(globals())
