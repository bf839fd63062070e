"""Tic-tac-toe as kernels; a position is (own squares, opponent's squares, side).

Squares are numbered 1 to 9 in reading order; square s has bit s - 1. X (0) begins.
"""

from __future__ import annotations

from typing import Any

from games.contract import Rules
from games.errors import PositionError
from games.features import Encoding, FeatureSet
from games.grid import Grid, GridGame, swap_sides
from games.kernels import kernel

__all__ = ["TicTacToe"]

LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
ALL = 0o777
_NAN = float("nan")


@kernel
def outcome(position):
    """Returns -1.0 if the side that just moved has a line, 0.0 on a full board, else NaN."""
    own, opponent, _ = position
    for line in LINES:
        if opponent & line == line:
            return -1.0
    return 0.0 if own | opponent == ALL else _NAN


@kernel
def legal_moves(position, moves):
    """Write the empty squares, as bits; returns their number."""
    value = outcome(position)
    if value == value:
        return 0
    count = 0
    for square in range(9):
        if (position[0] | position[1]) & 1 << square == 0:
            moves[count] = 1 << square
            count += 1
    return count


@kernel
def play(position, move):
    """Returns the position after the side to move takes a square."""
    own, opponent, side = position
    return (opponent, own | move, 1 - side)


@kernel
def open_lines(position):
    """Rows, columns and diagonals on which the other side has nothing."""
    count = 0
    for line in LINES:
        if position[1] & line == 0:
            count += 1
    return count


@kernel
def twos(position):
    """Open lines with two squares taken: threats to win at the next move."""
    count = 0
    for line in LINES:
        own = position[0] & line
        if position[1] & line == 0 and own != 0 and own & (own - 1) != 0:
            count += 1
    return count


@kernel
def board_number(position, places):
    """Write the board as a number of nine digits to base 3: 1 for own squares, 2 for the other's.

    It also determines the side to move, because X begins. A network of one layer over it is a table
    of values, one for each board (Sutton and Barto, Reinforcement Learning, 1998, section 1.4).
    """
    number = 0
    for square in range(9):
        number = 3 * number + (position[0] >> square & 1) + 2 * (position[1] >> square & 1)
    places[0] = number
    return 1


GRID = Grid(3, 3, divider="", marked=True, symmetry="square")


class TicTacToe(GridGame):
    """Tic-tac-toe; texts are nine of `X`, `O` and `.` in reading order and the side to move."""

    name = "tic_tac_toe"
    grid = GRID
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome)
    start_position = (0, 0, 0)
    most_moves = 9
    features = {"lines": FeatureSet("lines", {"open_lines": open_lines, "twos": twos}, swap_sides)}
    encodings = {
        "positions": Encoding("positions", 3**9, 1, board_number),
        "cells": GRID.cells().encoding,
    }
    evaluators = {"open_lines": ("lines", {"open_lines": 1.0})}
    title = "Tic-tac-toe"
    sides = ("X", "O")
    unit = "lines"
    extras = (GRID.board(lambda position, move: [move.bit_length() - 1]),)

    def parse_position(self, text: str) -> Any:
        own, opponent, side = super().parse_position(text)
        x, o = (word.bit_count() for word in ((opponent, own) if side else (own, opponent)))
        mover = "XO"[side]
        if x - o != side:
            raise PositionError(
                f"expected as many X as O, or one more with O to move; found {x} X, {o} O and"
                f" {mover} to move"
            )
        if all(any(word & line == line for line in LINES) for word in (own, opponent)):
            raise PositionError(f"expected one winner at most, found lines of both in {text[:40]}")
        if any(own & line == line for line in LINES):
            raise PositionError(f"expected no line of {mover}, who is to move, found {text[:40]}")
        return (own, opponent, side)

    def move_text(self, position: Any, move: int) -> str:
        return str(move.bit_length())
