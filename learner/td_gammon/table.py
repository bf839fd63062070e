"""Many games of a network against itself at a time, whose positions are all backed up.

The replies that a backup compares are those that the game goes on with, so that playing costs
nothing beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame
from games.kernels.chance import cumulative
from games.record import GameRecord
from learner.td_gammon.backup import Backups

__all__ = ["MOST_PLIES", "PlayedPositions", "GreedyPlay", "recorded"]

#: Longer games are broken off.
MOST_PLIES = 1000


@dataclass(frozen=True)
class PlayedPositions:
    """Positions before their rolls, game after game, with their outcomes for the side to move.

    positions: [positions, integers].
    static, backups: their outcomes [positions, outcomes], static and backed up over all rolls.
    follows: whether the next position is the one after the best reply, [positions]. It is not after
        a random reply, nor at the end of a game.
    calm: whether no reply of the game is random, [positions].
    last: the record of the last game that began with the start of the game, as far as it was
        played; it has no moves if no game did.
    """

    positions: NDArray[np.int64]
    static: NDArray[np.float64]
    backups: NDArray[np.float64]
    follows: NDArray[np.bool_]
    calm: NDArray[np.bool_]
    last: GameRecord

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def joined(cls, parts: list[PlayedPositions]) -> PlayedPositions:
        """Returns the positions of several tables, with the last game of the first."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("positions", "static", "backups", "follows", "calm")
        }
        return cls(**arrays, last=parts[0].last)


class GreedyPlay:
    """Plays games of the best replies by static values, or sometimes random ones.

    A game ends when it is over, or when the lookup of the backups has its outcomes.

    backups: values and backs up positions.
    at_once: number of games played at a time.
    first_plies: length of the beginning of a game in plies.
    first_share, share: shares of random moves, among those that the prefilter keeps, in the
        beginning of a game and later.
    """

    def __init__(
        self,
        backups: Backups,
        *,
        at_once: int,
        first_plies: int = 0,
        first_share: float = 0.0,
        share: float = 0.0,
    ) -> None:
        self.game = game = backups.game
        self._backups = backups
        self._at_once = at_once
        self._first_plies = first_plies
        self._shares = first_share, share
        self._limits = np.array([cumulative(game.dice.first), cumulative(game.rolls)])

    def play(
        self, starts: NDArray[np.int64], random: np.random.Generator, calm: Any = False
    ) -> PlayedPositions:
        """Play a game from each of the positions [games, integers] to its end.

        calm: whether no reply is random, of all games or [games].

        Raises the errors of evaluators.
        """
        steps: list[tuple[NDArray[Any], ...]] = []
        start = np.array(self.game.start(), dtype=np.int64)
        whole, calm = (starts == start).all(axis=1), np.broadcast_to(calm, len(starts))
        ends = starts.copy()
        begins, _ = self._backups.outcomes(starts)
        games = np.arange(min(self._at_once, len(starts)))
        following = len(games)
        plies = np.zeros(len(games), dtype=np.int64)
        positions, static = starts[games], begins[games]
        while len(games):
            backed = self._backups(positions)
            chances = random.random((len(games), 3))
            rolls = self._rolls(chances[:, 0], whole[games] & (plies == 0))
            numbers = np.arange(len(games))
            replies = backed.best[numbers, rolls]
            owners = len(self.game.rolls) * numbers + rolls
            firsts, counts = backed.firsts[owners], np.diff(backed.firsts)[owners]
            share = np.where(plies < self._first_plies, *self._shares)
            follows = (chances[:, 1] >= share) | calm[games]
            drawn = firsts + (chances[:, 2] * counts).astype(np.int64)
            replies = np.where(follows, replies, drawn)
            plies += 1
            over = backed.known[replies] | (plies >= MOST_PLIES)
            steps.append(
                (games, positions, static, backed.outcomes, follows & ~over, calm[games], rolls)
            )
            ends[games] = backed.replies[replies]
            fresh = np.arange(following, min(following + int(over.sum()), len(starts)))
            following += len(fresh)
            games = np.concatenate([games[~over], fresh])
            positions = np.concatenate([backed.replies[replies[~over]], starts[fresh]])
            static = np.concatenate([backed.found[replies[~over]], begins[fresh]])
            plies = np.concatenate([plies[~over], np.zeros(len(fresh), dtype=np.int64)])
        return self._sorted(steps, whole, ends)

    def _rolls(self, chances: NDArray[np.float64], first: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns rolls, the first of a game or later ones, by random numbers from 0 to 1."""
        limits = self._limits[np.where(first, 0, 1)]
        return np.asarray((limits[:, :-1] <= chances[:, None]).sum(axis=1))

    def _sorted(
        self, steps: list[tuple[NDArray[Any], ...]], whole: NDArray[Any], ends: NDArray[np.int64]
    ) -> PlayedPositions:
        """Returns what happened step by step as games, one after the other."""
        games, *arrays = (np.concatenate(parts) for parts in zip(*steps, strict=True))
        order = np.argsort(games, kind="stable")
        positions, static, backups, follows, calm, rolls = (array[order] for array in arrays)
        last = GameRecord(self.game, self.game.start())
        if whole.any():
            number = int(np.flatnonzero(whole)[-1])
            mine = games[order] == number
            last = recorded(self.game, np.vstack([positions[mine], ends[number]]), rolls[mine])
        return PlayedPositions(positions, static, backups, follows, calm, last)


def recorded(game: DiceGame, positions: NDArray[np.int64], rolls: NDArray[np.int64]) -> GameRecord:
    """Returns the record of a game of plies + 1 positions with plies rolls between them."""
    record: Any = GameRecord(game, tuple(positions[0].tolist()))
    for after, roll in zip(positions[1:].tolist(), rolls.tolist(), strict=True):
        moves = game.legal_moves(record.position, roll)
        move = next(m for m in moves if list(game.play(record.position, m)) == after)
        record.play(move, roll=roll)
    return record  # type: ignore[no-any-return]
