"""Connect Four against slow twins, published counts and search."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from pages import ROOT

from games.connect_four import ConnectFour, features
from games.connect_four.rules import legal_moves, play
from games.kernels import compiled, kernel

GAME = ConnectFour()
Square = tuple[int, int]  # column and row, from 0


class SlowBoard:
    """Connect Four with columns as strings; knows nothing of bits."""

    def __init__(self, columns: tuple[str, ...] = ("",) * 7, side: str = "X") -> None:
        self.columns = columns
        self.side = side

    def __hash__(self) -> int:
        return hash(self.columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SlowBoard) and self.columns == other.columns

    def at(self, square: Square) -> str:
        column, row = square
        inside = 0 <= column < 7 and 0 <= row < len(self.columns[column])
        return self.columns[column][row] if inside else "."

    def won(self, side: str, more: Square | None = None) -> bool:
        """Whether a side has four in line, optionally with one more stone."""
        stones = [(c, r) for c in range(7) for r in range(6) if self.at((c, r)) == side]
        stones += [more] if more else []
        return any(
            all((c + i * x, r + i * y) in stones for i in range(4))
            for c, r in stones
            for x, y in ((1, 0), (0, 1), (1, 1), (1, -1))
        )

    def moves(self) -> list[int]:
        if self.won("XO"[self.side == "X"]):
            return []
        return [column for column in range(7) if len(self.columns[column]) < 6]

    def play(self, move: int) -> SlowBoard:
        columns = list(self.columns)
        columns[move] += self.side
        return SlowBoard(tuple(columns), "XO"[self.side == "X"])

    def text(self) -> str:
        rows = ["".join(self.at((column, row)) for column in range(7)) for row in range(6)]
        return f"{'/'.join(reversed(rows))} {self.side}"

    def completing(self, side: str) -> set[Square]:
        """Returns the empty squares that would make a four."""
        empty = [(c, r) for c in range(7) for r in range(6) if self.at((c, r)) == "."]
        return {square for square in empty if self.won(side, square)}


@kernel(signature="int64(UniTuple(int64, 3), int64, int64[:, ::1])")
def native_leaves(position, depth, buffers):
    if depth == 0:
        return 1
    moves = buffers[depth]
    total = 0
    for i in range(legal_moves(position, moves)):
        total += native_leaves(play(position, moves[i]), depth - 1, buffers)
    return total


def random_boards(seed: int, games: int) -> list[tuple[SlowBoard, Any]]:
    """Returns positions of random games, in both forms."""
    generator = random.Random(seed)
    found = []
    for _ in range(games):
        board, position = SlowBoard(), GAME.start()
        while True:
            found.append((board, position))
            moves = board.moves()
            if not moves:
                break
            move = generator.choice(moves)
            board, position = board.play(move), GAME.play(position, move)
    return found


# Depth 8 was counted once by an independent program; the first win is at ply 7.
LEAVES = [1, 7, 49, 343, 2401, 16807, 117649, 823536, 5673234]


@pytest.mark.skipif(not compiled, reason="takes minutes uncompiled")
@pytest.mark.parametrize("depth", range(5, 9))
def test_number_of_leaves(depth: int) -> None:
    buffers = np.zeros((depth + 1, 7), dtype=np.int64)
    assert native_leaves(GAME.start(), depth, buffers) == LEAVES[depth]


@pytest.mark.plain
def test_rules_and_texts_as_a_slow_board_has_them() -> None:
    ends = set()
    for board, position in random_boards(seed=1, games=40):
        moves = board.moves()
        assert sorted(GAME.legal_moves(position)) == moves
        assert GAME.position_text(position) == board.text()
        lost = board.won("XO"[board.side == "X"])
        expected = -1.0 if lost else None if moves else 0.0
        assert GAME.outcome(position) == expected
        ends.add(expected)
    assert {-1.0, None} <= ends


@pytest.mark.plain
def test_a_full_board_is_a_draw() -> None:
    board = "XXOOXXO/OOXXOOX/XXOOXXO/OOXXOOX/XXOOXXO/OOXXOOX X"
    position = GAME.parse_position(board)
    assert (GAME.outcome(position), GAME.legal_moves(position)) == (0.0, [])


@pytest.mark.plain
def test_terms_as_a_slow_board_has_them() -> None:
    found = set()
    for board, position in random_boards(seed=2, games=12):
        squares = board.completing(board.side)
        bits = features.completing(position)
        assert {(i // 7, i % 7) for i in range(49) if bits >> i & 1} == squares
        ready = {(c, r) for c, r in squares if r == len(board.columns[c])}
        assert features.threats(position) == len(squares)
        assert features.ready(position) == len(ready)
        own = [(c, r) for c in range(7) for r in range(6) if board.at((c, r)) == board.side]
        assert features.centre(position) == sum(c == 3 for c, _ in own)
        assert features.near_centre(position) == sum(c in (2, 4) for c, _ in own)
        steps = ((1, 0), (0, 1), (1, 1), (1, -1))
        pairs = [(c, r, x, y) for c, r in own for x, y in steps if (c + x, r + y) in own]
        threes = [p for p in pairs if (p[0] + 2 * p[2], p[1] + 2 * p[3]) in own]
        assert features.pairs(position) == len(pairs)
        assert features.threes(position) == len(threes)
        found |= {("ready", len(ready)), ("threes", len(threes))}
    assert {("ready", 0), ("ready", 1), ("threes", 1), ("threes", 2)} <= found


@pytest.mark.slow
@pytest.mark.skipif(not compiled, reason="measures compiled code")
def test_own_game_is_searched_as_fast_as_checkers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.own_game", "--json", "--rounds", "3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["ratio"] > 0.5
