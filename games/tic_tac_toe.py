"""Tic-tac-toe as kernels; a position is (own squares, opponent's squares, side).

Squares are numbered 1 to 9 in reading order; square s has bit s - 1. X (0) begins.
"""

from __future__ import annotations

from typing import Any

from games.board import Board
from games.contract import Rules
from games.errors import PositionError, stripped
from games.features import Encoding, FeatureSet
from games.kernel_game import KernelGame
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
def swap_sides(position):
    """Returns the same board with the other side to move."""
    own, opponent, side = position
    return (opponent, own, 1 - side)


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


@kernel
def cells(position, places):
    """Write the squares 0 to 8 that the side to move has, and those of the other side plus 9."""
    count = 0
    for square in range(9):
        if position[0] >> square & 1:
            places[count] = square
            count += 1
        elif position[1] >> square & 1:
            places[count] = 9 + square
            count += 1
    return count


def _pieces(position: Any) -> dict[int, tuple[int, str]]:
    """Returns the crosses and noughts on squares 0 to 8, for `games.board`."""
    own, opponent, side = position
    owners = {s: side if own >> s & 1 else 1 - side for s in range(9) if (own | opponent) >> s & 1}
    return {square: (owner, "XO"[owner]) for square, owner in owners.items()}


def _clicks(position: Any, move: int) -> list[int]:
    """Returns one click: the square that is taken."""
    return [move.bit_length() - 1]


class TicTacToe(KernelGame):
    """Tic-tac-toe; texts are nine of `X`, `O` and `.` in reading order and the side to move."""

    name = "tic_tac_toe"
    rules = Rules(legal_moves=legal_moves, play=play, outcome=outcome)
    start_position = (0, 0, 0)
    most_moves = 9
    features = {"lines": FeatureSet("lines", {"open_lines": open_lines, "twos": twos}, swap_sides)}
    encodings = {
        "positions": Encoding("positions", 3**9, 1, board_number),
        "cells": Encoding("cells", 18, 9, cells),
    }
    evaluators = {"open_lines": ("lines", {"open_lines": 1.0})}
    title = "Tic-tac-toe"
    sides = ("X", "O")
    unit = "lines"
    extras = (Board(3, 3, _pieces, _clicks),)

    def to_move(self, position: Any) -> int:
        return int(position[2])

    def position_text(self, position: Any) -> str:
        own, opponent, side = position
        first, second = (own, opponent) if side == 0 else (opponent, own)
        board = "".join(
            "X" if first >> i & 1 else "O" if second >> i & 1 else "." for i in range(9)
        )
        return f"{board} {'XO'[side]}"

    def parse_position(self, text: str) -> Any:
        board, _, mover = stripped(text).upper().partition(" ")
        x, o = board.count("X"), board.count("O")
        if len(board) != 9 or set(board) - set("XO.") or mover not in ("X", "O"):
            raise PositionError(
                f"expected nine of X, O and '.', and X or O to move, found {text[:40]!r}"
            )
        if x - o != (0 if mover == "X" else 1):
            raise PositionError(
                f"expected as many X as O, or one more with O to move; found {x} X, {o} O and"
                f" {mover} to move"
            )
        first, second = (
            sum(1 << i for i, square in enumerate(board) if square == letter) for letter in "XO"
        )
        if all(any(side & line == line for line in LINES) for side in (first, second)):
            raise PositionError(f"expected one winner at most, found lines of both in {board}")
        own, opponent = (first, second) if mover == "X" else (second, first)
        if any(own & line == line for line in LINES):
            raise PositionError(f"expected no line of {mover}, who is to move, found {board}")
        return (own, opponent, "XO".index(mover))

    def move_text(self, position: Any, move: int) -> str:
        return str(move.bit_length())

    def show(self, position: Any) -> str:
        board = self.position_text(position)
        rows = [" ".join(board[i : i + 3]) for i in (0, 3, 6)]
        return "\n".join([*rows, f"{board[-1]} to move"])
