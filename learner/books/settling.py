"""Follows captures until a position is quiet, as quiescence search does; natively if it can.

Samuel judged a move by the position after the captures that follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from games.contract import Game
from games.kernels import kernel
from games.kernels.memory import load_int, store_int
from search import Engine
from search.engine import UNLIMITED
from search.native import TACTICAL, call_float, call_int
from search.root import begin, iterate
from search.sizes import WIDTH

__all__ = ["Replies", "Settler"]

#: Longer capture sequences are cut off.
MOST_CAPTURES = 40


class Replies(NamedTuple):
    """The legal moves of a position and what becomes of them.

    moves: the legal moves; the others are empty if there are fewer than two.
    settled: for each move, the quiet (or final) position after the captures that follow it.
    signs: 1 if the side that moves is to move there, else -1.
    outcomes: the outcome for the side that moves if the game is over there, else None.
    """

    moves: tuple[Any, ...]
    settled: tuple[Any, ...]
    signs: tuple[float, ...]
    outcomes: tuple[float | None, ...]


class Settler:
    """Follows captures with the search of one ply.

    evaluator: values the captures; anything that `search.as_evaluator` takes (None: the
        game's first hand-crafted evaluator).
    """

    def __init__(self, game: Game, evaluator: Any = None) -> None:
        self.game = game
        self._evaluator = evaluator or next(iter(game.evaluators), None)
        self._engine: Engine | None = None

    def _search(self) -> Engine:
        if self._engine is None:
            self._engine = Engine(self.game, self._evaluator, table_mib=1)
        return self._engine

    def __call__(self, position: Any) -> tuple[Any, float]:
        """Returns the quiet (or final) position, and 1 if the same side moves there, else -1."""
        sign = 1.0
        for _ in range(MOST_CAPTURES):
            if not self.game.noisy(position):
                break
            result = self._search().search(position, depth=1)
            if result.interrupted:
                raise KeyboardInterrupt
            if result.move is None:
                break
            for move in result.pv:
                position, sign = self.game.play(position, move), -sign
        return position, sign

    def replies(self, positions: Sequence[Any]) -> list[Replies]:
        """Returns the replies in each position, by one native call if the game has kernels."""
        noisy = self.game.rules.noisy if self.game.rules is not None else None
        if noisy is not None and len(positions) and self._search().native:
            return self._natively(positions)
        return [self._slowly(position) for position in positions]

    def _slowly(self, position: Any) -> Replies:
        game = self.game
        moves = tuple(game.legal_moves(position))
        if len(moves) < 2:
            return Replies(moves, (), (), ())
        ends = [self(game.play(position, move)) for move in moves]
        outcomes = [game.outcome(quiet) for quiet, _ in ends]
        return Replies(
            moves,
            tuple(quiet for quiet, _ in ends),
            tuple(-sign for _, sign in ends),
            tuple(
                None if outcome is None else -sign * outcome
                for outcome, (_, sign) in zip(outcomes, ends, strict=True)
            ),
        )

    def _natively(self, positions: Sequence[Any]) -> list[Replies]:
        engine = self._search()
        line = engine.line_for_games(1, UNLIMITED)
        line.put(traced=0, trace_first=0)
        width = len(positions[0])
        sources = np.zeros((len(positions), WIDTH), dtype=np.int64)
        sources[:, :width] = positions
        room = len(positions) * getattr(self.game, "most_moves", 256)
        moves, settled = np.empty(room, np.int64), np.empty((room, WIDTH), np.int64)
        signs, outcomes = np.empty((2, room))
        counts, other = np.empty(len(positions), np.int64), np.empty(WIDTH, np.int64)
        settle_replies(
            line.row, width, sources.ctypes.data, counts, moves, settled.ctypes.data, signs,
            outcomes, other.ctypes.data,
        )  # fmt: skip
        engine.after_games()
        total = int(counts.sum())
        ends = list(map(tuple, settled[:total, :width].tolist()))
        listed, sides = moves[:total].tolist(), signs[:total].tolist()
        over = [None if value != value else value for value in outcomes[:total].tolist()]
        replies, first = [], 0
        for count in counts.tolist():
            last = first + count
            full = last if count > 1 else first
            replies.append(
                Replies(
                    tuple(listed[first:last]),
                    tuple(ends[first:full]),
                    tuple(sides[first:full]),
                    tuple(over[first:full]),
                )
            )
            first = last
        return replies


@kernel
def copy_position(source, target, width):
    """Copy a position from one address to another."""
    for i in range(width):
        store_int(target, i, load_int(source, i))


@kernel
def best_line(line, here, width):
    """Search the position at an address by one ply; returns the length of `line.pv[0]`."""
    copy_position(here, line.positions, width)
    if line.repeats:
        line.keys[0] = call_int(line.key_at, (here,))
    count = call_int(line.legal_at, (here, line.moves, line.order))
    for i in range(count):
        line.root_moves[i] = load_int(line.moves, i)
    begin(line, line.generation + 1, 0, count)
    iterate(line)
    if line.pv_length[0] == 0 or line.pv[0, 0] != line.root_moves[0]:
        line.pv[0, 0] = line.root_moves[0]
        return 1
    return line.pv_length[0]


@kernel
def settle_replies(line, width, sources, counts, moves, settled, signs, outcomes, other):
    """Write the legal moves of positions, and the quiet position after each.

    line: the line of an engine that searches one ply.
    sources: address of the positions, [positions, WIDTH].
    counts: [positions] number of moves of each.
    moves: [moves] of all positions one after the other.
    settled: address of the quiet positions, [moves, WIDTH].
    signs: [moves] 1.0 if the side that moves is to move in the quiet position, else -1.0.
    outcomes: [moves] outcome for the side that moves; NaN if the game goes on.
    other: address of room for a position.
    """
    total = 0
    for row in range(len(counts)):
        source = sources + 8 * WIDTH * row
        count = call_int(line.legal_at, (source, line.moves, line.order))
        counts[row] = count
        for i in range(count):
            moves[total + i] = load_int(line.moves, i)
        for i in range(count if count > 1 else 0):
            here = settled + 8 * WIDTH * (total + i)
            call_int(line.play_at, (source, moves[total + i], here))
            sign = -1.0
            for _ in range(MOST_CAPTURES):
                if call_int(line.status_at, (here,)) != TACTICAL:
                    break
                plies = best_line(line, here, width)
                for ply in range(plies):
                    call_int(line.play_at, (here, line.pv[0, ply], other))
                    copy_position(other, here, width)
                    sign = -sign
            value = call_float(line.outcome_at, (here,))
            signs[total + i] = sign
            outcomes[total + i] = sign * value
        total += count
