"""64-bit words against Python's big integers, and a board of 64 squares in one word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from games import KernelGame, PositionError, Rules, check_game
from games.features import FeatureSet
from games.kernels import (
    bit,
    kernel,
    lowest,
    popcount,
    reverse,
    shift_left,
    shift_right,
    uncompiled,
    word,
)
from search import Engine
from search.textbook.minimax import minimax

pytestmark = pytest.mark.plain

BARE = (1 << 64) - 1
WORDS = st.integers(0, BARE)


@kernel
def all_of(bits, count):
    """Returns the results of all operations on a word."""
    return (
        shift_left(bits, count),
        shift_right(bits, count),
        bit(count),
        popcount(bits),
        reverse(bits),
        ~bits,
    )


@kernel
def lowest_of(bits):
    """Returns the number of the lowest bit."""
    return lowest(bits)


@given(WORDS, st.integers(0, 63))
@example(1 << 63, 63)
@example(BARE, 1)
@example(1 << 63, 0)
def test_words_are_64_bare_bits_compiled_and_not(bits: int, count: int) -> None:
    big = (
        bits << count & BARE,
        bits >> count,
        1 << count,
        bits.bit_count(),
        int(f"{bits:064b}"[::-1], 2),
        bits ^ BARE,
    )
    for run in (all_of, uncompiled(all_of)):
        found = run(word(bits), count)
        assert all(-(1 << 63) <= x < 1 << 63 for x in found)
        assert tuple(int(x) & BARE for x in found) == big
    if bits:
        for run in (lowest_of, uncompiled(lowest_of)):
            assert run(word(bits)) == (bits & -bits).bit_length() - 1


# --- a game on 64 squares -----------------------------------------------------------------------

LEFT, RIGHT = word(0x0101010101010101), word(0x8080808080808080)
_NAN = float("nan")


@kernel
def closed(taken):
    """Returns the squares that are taken or next to a taken one in its row or column."""
    return (
        taken
        | shift_left(taken, 8)
        | shift_right(taken, 8)
        | shift_left(taken & ~RIGHT, 1)
        | shift_right(taken & ~LEFT, 1)
    )


@kernel
def legal_moves(position, moves):
    """Write the squares that can still be taken; returns their number."""
    free = ~closed(position[0])
    count = 0
    while free:
        moves[count] = lowest(free)
        free &= free - 1 if free != bit(63) else 0
        count += 1
    return count


@kernel
def play(position, move):
    """Returns the position after a square is taken."""
    return (position[0] | bit(move), 1 - position[1])


@kernel
def outcome(position):
    """Returns -1.0 if no square can be taken, else NaN."""
    return _NAN if ~closed(position[0]) else -1.0


@kernel
def left(position):
    """The number of squares that can still be taken."""
    return popcount(~closed(position[0]))


class Apart(KernelGame):
    """Take a square of an 8 by 8 board that touches no taken one; a side that cannot has lost."""

    name = "apart"
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome)
    start_position = (0, 0)
    most_moves = 64
    features = {"left": FeatureSet("left", {"left": left})}

    def to_move(self, position: Any) -> int:
        return int(position[1])


def slow_moves(taken: int) -> list[int]:
    """Returns the legal moves, computed by rows and columns."""
    squares = {(n // 8, n % 8) for n in range(64) if taken >> n & 1}
    beside = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
    near = {(r + a, c + b) for r, c in squares for a, b in beside}
    return [n for n in range(64) if (n // 8, n % 8) not in near]


def test_a_board_of_64_squares_in_one_word() -> None:
    game = Apart()
    check_game(game, games=3)
    position = game.start()
    for move in (63, 0, 7, 56, 54):
        assert move in game.legal_moves(position)
        position = game.play(position, move)
        assert game.legal_moves(position) == slow_moves(position[0] & BARE)
    assert position[0] < 0  # bit 63 is the sign


def test_a_word_is_read_with_and_without_its_sign() -> None:
    game = Apart()
    position = game.play(game.start(), 63)
    assert game.parse_position(game.position_text(position)) == position
    assert game.parse_position(f"({1 << 63}, 1)") == position
    for text in (f"({1 << 64}, 1)", f"({-(1 << 63) - 1}, 1)"):
        with pytest.raises(PositionError, match="expected a tuple of 2 integers"):
            game.parse_position(text)


def test_search_on_64_squares_is_minimax() -> None:
    game = Apart()
    position = game.start()
    for move in (63, 0, 7, 56, 18, 21, 42, 45, 27, 36, 2, 5, 58, 61):
        position = game.play(position, move)
    engine = Engine(game, None)
    depth = 2
    found = engine.search(position, depth=depth).value
    exact = minimax(game, position, depth, lambda position: 0.0)
    assert (found > 0) - (found < 0) == (exact > 0) - (exact < 0)
