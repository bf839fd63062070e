"""Positions to learn from: games of an evaluator against itself, with moves left to chance.

A game begins with rolls and moves that are likely by the rules and the evaluator; so that it also
comes to what an evaluator has to tell from that, a share of the moves is drawn from all legal ones,
and another share is chosen by another evaluator.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame, first_rolls
from games.kernels import kernel
from games.kernels.chance import cumulative, drawn, next_state, stream, uniform
from games.kernels.memory import native_function, read_position, store_int
from games.record import GameRecord
from search.evaluators.evaluator import Evaluator
from search.expectiminimax.replies import Replies, Sift, outcome_address
from search.native import call_float, call_int

__all__ = ["MOST_PLIES", "Explored", "explore"]

#: A game that goes on for longer is dropped.
MOST_PLIES = 1023
#: Games that begin with a random stream of their own, so that threads change no bit.
_GAMES = 25
_MOST_RANDOM = 1 << 30

# the fields of what a thread reads and writes
(
    REPLY_AT, RANDOM_AT, OUTCOME_AT, EVALUATE_AT, EVALUATOR, STACK_AT, WIDTH, ROOM, POSITIONS_AT,
    ROLLS_AT, FIRST_PLIES, OTHER_AT, OTHER_EVALUATE_AT, OTHER_EVALUATOR,
    FOLLOWS_AT, STATE, COUNT, LAST,
) = range(18)  # fmt: skip


@dataclass(frozen=True)
class Explored:
    """Positions before their rolls, [positions, integers], game after game; and the last game.

    follows: whether the next position is what the evaluator's own reply led to: not so after a move
    left to chance or to another evaluator, nor at the end of a game. The record of the last game
    has no moves where that had no end.
    """

    positions: NDArray[np.int64]
    follows: NDArray[np.bool_]
    last: GameRecord


@kernel
def play_games(record, limits, first_limits, shares, start, games):
    """Write the positions of games one after the other; returns how many games had room.

    Of a game that has no end nothing is kept. `shares` of random moves: in the first plies, later;
    and of those that another evaluator chooses.
    """
    step = 8 * record[WIDTH]
    for game in range(games):
        if record[COUNT] + MOST_PLIES + 1 > record[ROOM]:
            return game
        record[LAST] = record[COUNT]
        source = record[POSITIONS_AT] + step * record[COUNT]
        for i in range(len(start)):
            store_int(source, i, start[i])
        for ply in range(MOST_PLIES):
            record[STATE] = next_state(record[STATE])
            roll = drawn(uniform(record[STATE]), first_limits if ply == 0 else limits)
            store_int(record[ROLLS_AT], ply, roll)
            record[STATE] = next_state(record[STATE])
            share = shares[0] if ply < record[FIRST_PLIES] else shares[1]
            chance = uniform(record[STATE])
            store_int(
                record[FOLLOWS_AT], record[COUNT] + ply, 1 if chance >= share + shares[2] else 0
            )
            if chance < share:
                record[STATE] = next_state(record[STATE])
                number = int(uniform(record[STATE]) * _MOST_RANDOM)
                call_int(record[RANDOM_AT], (source, roll, record[STACK_AT], number, source + step))
            elif chance < share + shares[2]:
                call_float(
                    record[OTHER_AT],
                    (source, roll, record[STACK_AT], record[OTHER_EVALUATE_AT],
                     record[OTHER_EVALUATOR], source + step),
                )  # fmt: skip
            else:
                call_float(
                    record[REPLY_AT],
                    (source, roll, record[STACK_AT], record[EVALUATE_AT], record[EVALUATOR],
                     source + step),
                )  # fmt: skip
            source += step
            outcome = call_float(record[OUTCOME_AT], (source,))
            if outcome == outcome:
                store_int(record[FOLLOWS_AT], record[COUNT] + ply, 0)
                record[COUNT] += ply + 1
                break
    return games


@functools.cache
def _random_move(rules: Any, width: int, most: int) -> int:
    """The address of int64(position, roll, moves, number, target): any legal move is played."""
    text = "\n".join(
        [
            "def random_at(source, roll, stack, number, target):",
            f"    position = {read_position(width)}",
            f"    moves = array_at(int64_pointer(stack), ({most},))",
            "    count = int(legal_moves(position, roll, moves))",
            f"    after = play(position, moves[number * count // {_MOST_RANDOM}])",
            *(f"    store_int(target, {i}, int(after[{i}]))" for i in range(width)),
            "    return count",
        ]
    )
    scope = {"legal_moves": rules.legal_moves, "play": rules.play}
    kinds = ", ".join(["int64"] * 5)
    return native_function("random_at", text, scope, f"int64({kinds})")


def explore(
    evaluator: Evaluator,
    games: int,
    *,
    seed: tuple[int, ...],
    first_plies: int = 0,
    first_share: float = 0.0,
    share: float = 0.0,
    other: Evaluator | None = None,
    other_share: float = 0.0,
    sift: Sift | None = None,
    threads: int = 1,
) -> Explored:
    """Play games in which both sides take the reply with the best static value, or any at random.

    A move is random with the chance `first_share` in the first plies of a game and with `share`
    later. With the chance `other_share` it is the best in the eyes of `other`, who knows less and
    so finds moves that are nearly as good, where the evaluator has most to learn. With `sift` the
    evaluator compares only the replies that it keeps. The seed decides every bit; the number of
    threads does not.
    """
    game = evaluator.game
    assert isinstance(game, DiceGame)
    errors: list[BaseException] = []
    evaluate_at, data, kept = evaluator.native(errors.append)
    start = np.array(game.start(), dtype=np.int64)
    most = int(getattr(game, "most_moves", 256))
    limits, first_limits = cumulative(game.rolls), cumulative(first_rolls(game))
    shares = np.array([first_share, share, other_share if other is not None else 0.0])
    other_at, other_data, also_kept = (other or evaluator).native(errors.append)

    def play(number: int) -> tuple[NDArray[np.int64], ...]:
        replies = Replies(game, evaluate_at, data, sift, fail=errors.append)
        others = Replies(game, other_at, other_data, fail=errors.append)
        stack, rolls = np.zeros(most, dtype=np.int64), np.zeros(MOST_PLIES, dtype=np.int64)
        # enough for a few long games; a game needs the end of its last ply as well
        room = np.zeros((8 * (MOST_PLIES + 1), len(start)), dtype=np.int64)
        follows = np.zeros(len(room), dtype=np.int64)
        record = np.zeros(LAST + 1, dtype=np.int64)
        record[:COUNT] = (
            replies.address, _random_move(game.rules, len(start), most), outcome_address(game),
            replies.evaluate_at, replies.evaluator, stack.ctypes.data, len(start), len(room),
            room.ctypes.data, rolls.ctypes.data, first_plies,
            others.address, others.evaluate_at, others.evaluator,
            follows.ctypes.data, stream(*seed, number),
        )  # fmt: skip
        parts, own = [], []
        left = min(_GAMES, games - number * _GAMES)
        while left:
            record[COUNT] = 0
            left -= play_games(record, limits, first_limits, shares, start, left)
            parts.append(room[: record[COUNT]].copy())
            own.append(follows[: record[COUNT]].copy())
        last = room[record[LAST] : record[COUNT] + 1].copy()
        return (
            np.concatenate(parts),
            np.concatenate(own),
            last,
            rolls[: max(0, len(last) - 1)].copy(),
        )

    numbers = range(-(-games // _GAMES))
    if threads == 1:
        found = [play(number) for number in numbers]
    else:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(play, numbers))
    del kept, also_kept
    if errors:
        raise errors[0]
    positions, follows, lasts, rolls = zip(*found, strict=True)
    return Explored(
        np.concatenate(positions),
        np.concatenate(follows).astype(bool),
        recorded(game, lasts[-1], rolls[-1]),
    )


def recorded(game: DiceGame, positions: NDArray[np.int64], rolls: NDArray[np.int64]) -> GameRecord:
    """The record of a game of plies + 1 positions with plies rolls between them."""
    record: Any = GameRecord(game, tuple(positions[0].tolist()))
    for after, roll in zip(positions[1:].tolist(), rolls.tolist(), strict=True):
        moves = game.legal_moves(record.position, roll)
        move = next(m for m in moves if list(game.play(record.position, m)) == after)
        record.play(move, roll=roll)
    return record  # type: ignore[no-any-return]
