"""Positions of games of an evaluator against itself, with some moves left to chance.

A game begins with rolls and moves that are likely by the rules and the evaluator. A share of its
moves is drawn from all legal ones, so that games also reach positions that the evaluator would
avoid.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.kernels import NativeRecord, kernel
from games.kernels.chance import stream
from search.evaluators.evaluator import Evaluator
from search.expectiminimax.turn import (
    NativeTurn,
    best_reply,
    copy_position,
    next_number,
    next_roll,
    over,
)

__all__ = ["explore"]

#: Longer games are dropped.
MOST_PLIES = 1023
#: Games that share a random stream.
_GAMES = 25
#: Chance decides between moves in steps of this size.
_GRAIN = 2.0**-30

EXPLORING = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: the start position; positions, and how many there is room for
            "start positions room"
            # plies of the beginning of a game; positions written
            " first_plies count"
        ).split()
    ]
    # shares of random moves, in the first plies and later
    + [(name, np.float64) for name in ("first_share", "share")]
)


@kernel
def play_games(turn, replies, chances, exploring, games):
    """Write the positions of games one after the other; returns how many games had room.

    A game that does not end leaves nothing.

    replies, chances: the replies of the evaluator, and random ones.
    """
    step = 8 * turn.width
    for game in range(games):
        if exploring.count + MOST_PLIES + 1 > exploring.room:
            return game
        source = exploring.positions + step * exploring.count
        copy_position(turn, exploring.start, source)
        for ply in range(MOST_PLIES):
            roll = next_roll(turn, ply)
            share = exploring.first_share if ply < exploring.first_plies else exploring.share
            chance = next_number(turn)
            if chance < share:
                chances.chance = int(next_number(turn) / _GRAIN) * _GRAIN
                best_reply(chances, source, roll, source + step)
            else:
                best_reply(replies, source, roll, source + step)
            source += step
            if over(turn, source):
                exploring.count += ply + 1
                break
    return games


class _Explorer:
    """Plays games, a batch at a time."""

    def __init__(self, evaluator: Evaluator, **options: Any) -> None:
        game: Any = evaluator.game
        self._turn = NativeTurn(game)
        self._replies = [self._turn.replies(evaluator), self._turn.replies(None)]
        # enough for a few long games; a game needs the end of its last ply as well
        room = 8 * (MOST_PLIES + 1)
        self._exploring = NativeRecord(EXPLORING)
        self._exploring.pin(
            start=np.array(game.start(), dtype=np.int64),
            positions=np.zeros((room, len(game.start())), dtype=np.int64),
        )
        self._exploring.put(room=room, **options)

    def play(self, games: int, state: int) -> NDArray[np.int64]:
        """Returns the positions of all games."""
        turn, exploring = self._turn, self._exploring
        turn.put(state=state)
        parts = []
        while games:
            exploring.put(count=0)
            best, chances = (replies.row for replies in self._replies)
            games -= play_games(turn.row, best, chances, exploring.row, games)
            turn.check()
            parts.append(exploring.pinned["positions"][: exploring.count].copy())
        return np.concatenate(parts)


def explore(
    evaluator: Evaluator,
    games: int,
    *,
    seed: tuple[int, ...],
    first_plies: int = 0,
    first_share: float = 0.0,
    share: float = 0.0,
) -> NDArray[np.int64]:
    """Play games in which both sides take the reply with the best static value, or a random one.

    evaluator: chooses the replies that are not random.
    games: number of games to play.
    seed: seed of all randomness.
    first_plies: length of the beginning of a game in plies.
    first_share, share: shares of random moves in the beginning of a game and later.

    Returns the positions before their rolls, game after game, [positions, integers]. Raises the
    evaluator's errors.
    """
    options = {"first_plies": first_plies, "first_share": first_share, "share": share}
    explorer = _Explorer(evaluator, **options)
    return np.concatenate(
        [
            explorer.play(min(_GAMES, games - first), stream(*seed, first // _GAMES))
            for first in range(0, games, _GAMES)
        ]
    )
