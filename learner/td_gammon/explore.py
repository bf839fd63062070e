"""Positions to learn from: games of an evaluator against itself, with some moves left to chance.

A game begins with rolls and moves that are likely by the rules and the evaluator. A share of its
moves is drawn from all legal ones, and another share is chosen by another evaluator, so that games
also reach positions that the evaluator would avoid.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame
from games.kernels import NativeRecord, kernel
from games.kernels.chance import stream
from games.kernels.memory import store_int
from games.record import GameRecord
from search.evaluators.evaluator import Evaluator
from search.expectiminimax.replies import Prefilter
from search.expectiminimax.turn import (
    NativeTurn,
    best_reply,
    copy_position,
    next_number,
    next_roll,
    over,
)

__all__ = ["MOST_PLIES", "Explored", "explore"]

#: Longer games are dropped.
MOST_PLIES = 1023
#: Games that share a random stream, so that results do not depend on the number of threads.
_GAMES = 25
#: Chance decides between moves in steps of this size.
_GRAIN = 2.0**-30

EXPLORING = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: the start position; positions, whether they follow, and the rolls of the
            # last game; positions that there is room for
            "start positions follows rolls room"
            # plies of the beginning of a game; positions written, and where the last game begins
            " first_plies count last"
        ).split()
    ]
    # shares of random moves, in the first plies and later, and of those of another evaluator
    + [(name, np.float64) for name in ("first_share", "share", "other_share")]
)


@dataclass(frozen=True)
class Explored:
    """Positions before their rolls, [positions, integers], game after game; and the last game.

    follows: whether the next position is the one after the evaluator's own reply, [positions]. It
        is not after a move left to chance or to another evaluator, nor at the end of a game.
    last: the record of the last game; it has no moves if that game did not end.
    """

    positions: NDArray[np.int64]
    follows: NDArray[np.bool_]
    last: GameRecord


@kernel
def play_games(turn, replies, others, chances, exploring, games):
    """Write the positions of games one after the other; returns how many games had room.

    A game that does not end leaves nothing.

    replies, others, chances: the replies of the evaluator, of the other one, and random ones.
    """
    step = 8 * turn.width
    for game in range(games):
        if exploring.count + MOST_PLIES + 1 > exploring.room:
            return game
        exploring.last = exploring.count
        source = exploring.positions + step * exploring.count
        copy_position(turn, exploring.start, source)
        for ply in range(MOST_PLIES):
            roll = next_roll(turn, ply)
            store_int(exploring.rolls, ply, roll)
            share = exploring.first_share if ply < exploring.first_plies else exploring.share
            chance = next_number(turn)
            follows = 0
            if chance < share:
                chances.chance = int(next_number(turn) / _GRAIN) * _GRAIN
                best_reply(chances, source, roll, source + step)
            elif chance < share + exploring.other_share:
                best_reply(others, source, roll, source + step)
            else:
                follows = 1
                best_reply(replies, source, roll, source + step)
            source += step
            if over(turn, source):
                store_int(exploring.follows, exploring.count + ply, 0)
                exploring.count += ply + 1
                break
            store_int(exploring.follows, exploring.count + ply, follows)
    return games


class _Explorer:
    """The games of one thread."""

    def __init__(
        self,
        evaluator: Evaluator,
        other: Evaluator | None,
        prefilter: Prefilter | None,
        **options: Any,
    ) -> None:
        game: Any = evaluator.game
        self._turn = NativeTurn(game)
        self._replies = [
            self._turn.replies(evaluator, prefilter=prefilter),
            self._turn.replies(other or evaluator),
            self._turn.replies(None),
        ]
        # enough for a few long games; a game needs the end of its last ply as well
        room = 8 * (MOST_PLIES + 1)
        self._exploring = NativeRecord(EXPLORING)
        self._exploring.pin(
            start=np.array(game.start(), dtype=np.int64),
            positions=np.zeros((room, len(game.start())), dtype=np.int64),
            follows=np.zeros(room, dtype=np.int64),
            rolls=np.zeros(MOST_PLIES, dtype=np.int64),
        )
        self._exploring.put(room=room, **options)

    def play(self, games: int, state: int) -> tuple[NDArray[np.int64], ...]:
        """Returns positions and `follows` of all games, and positions and rolls of the last one."""
        turn, exploring = self._turn, self._exploring
        positions, follows = exploring.pinned["positions"], exploring.pinned["follows"]
        turn.put(state=state)
        parts = []
        while games:
            exploring.put(count=0)
            best, others, chances = (replies.row for replies in self._replies)
            games -= play_games(turn.row, best, others, chances, exploring.row, games)
            turn.check()
            count = exploring.count
            parts.append((positions[:count].copy(), follows[:count].copy()))
        last = positions[exploring.last : exploring.count + 1].copy()
        rolls = exploring.pinned["rolls"][: max(0, len(last) - 1)].copy()
        return *map(np.concatenate, zip(*parts, strict=True)), last, rolls


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
    prefilter: Prefilter | None = None,
    threads: int = 1,
) -> Explored:
    """Play games in which both sides take the reply with the best static value, or a random one.

    evaluator: chooses the replies that are not left to others.
    games: number of games to play.
    seed: seed of all randomness; the number of threads does not matter.
    first_plies: length of the beginning of a game in plies.
    first_share, share: shares of random moves in the beginning of a game and later.
    other: another evaluator that chooses moves; a weaker one finds moves that are nearly as good,
        from which the evaluator learns most.
    other_share: share of the moves that `other` chooses.
    prefilter: values only the replies that it keeps (None: all).
    threads: number of threads.

    Raises the evaluators' errors.
    """
    game = evaluator.game
    assert isinstance(game, DiceGame)
    shares = {"share": share, "other_share": other_share if other is not None else 0.0}
    options = {"first_plies": first_plies, "first_share": first_share, **shares}
    parts: dict[int, Any] = {}
    numbers = iter(range(-(-games // _GAMES)))

    def play(explorer: _Explorer) -> None:
        for number in numbers:  # which the threads share
            count = min(_GAMES, games - number * _GAMES)
            parts[number] = explorer.play(count, stream(*seed, number))

    explorers = [_Explorer(evaluator, other, prefilter, **options) for _ in range(threads)]
    if threads == 1:
        play(explorers[0])
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(play, explorers))
    positions, follows, lasts, rolls = zip(*(parts[i] for i in sorted(parts)), strict=True)
    return Explored(
        np.concatenate(positions),
        np.concatenate(follows).astype(bool),
        recorded(game, lasts[-1], rolls[-1]),
    )


def recorded(game: DiceGame, positions: NDArray[np.int64], rolls: NDArray[np.int64]) -> GameRecord:
    """Returns the record of a game of plies + 1 positions with plies rolls between them."""
    record: Any = GameRecord(game, tuple(positions[0].tolist()))
    for after, roll in zip(positions[1:].tolist(), rolls.tolist(), strict=True):
        moves = game.legal_moves(record.position, roll)
        move = next(m for m in moves if list(game.play(record.position, m)) == after)
        record.play(move, roll=roll)
    return record  # type: ignore[no-any-return]
