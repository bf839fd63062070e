"""Games of self-play with dice, in the form in which learners have those without.

Moves are chosen for the roll that was drawn; but what search backs up of a position is the average
over all rolls, exact values without any luck of the dice. Depths are GNU Backgammon's plies: at
depth 0 the move with the best static value is played, and the average over the rolls of what such
moves are worth is the value a ply deeper, depth 1; and so on.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.contract import DiceGame
from games.kernels import NativeRecord, kernel
from games.kernels.chance import stream
from games.kernels.memory import store_int
from games.record import GameRecord
from play.dice import Dice
from play.match.game_loop import Played
from search import Engine
from search.expectiminimax.turn import NativeTurn, over, play_turn

__all__ = ["MOST_DEPTH", "DiceSelfPlay", "PlayedWithDice", "game_seeds"]

#: Plies of play; backups look a ply further, and take 400 times as long for each.
MOST_DEPTH = 2

#: Room for a game: addresses of positions, moves and rolls, and the longest game.
LOG = np.dtype([(name, np.int64) for name in ("positions", "moves", "rolls", "most_plies")])


def game_seeds(seed: int) -> Iterator[tuple[int, int]]:
    """What the games of a learner begin from without end: the seeds of the dice of each.

    They stand where games without dice have openings, which dice make needless.
    """
    number = 0
    while True:
        yield seed, number
        number += 1


@dataclass(frozen=True)
class PlayedWithDice(Played):
    """One game, with the roll of each ply."""

    rolls: list[int]

    def record(self) -> GameRecord:
        """The same as a game record."""
        record = super().record()
        record.rolls = list(self.rolls)
        return record


@kernel
def play_game(turn, replies, log):
    """Play a game into the log, from its first position; returns its plies."""
    step = 8 * turn.width
    source = log.positions
    ply = 0
    while not over(turn, source) and ply < log.most_plies and turn.stop == 0:
        # the second number of a turn is for players who leave moves to chance
        play_turn(turn, replies, source, source + step, ply, 2)
        store_int(log.moves, ply, replies.move)
        store_int(log.rolls, ply, turn.roll)
        source += step
        ply += 1
    return ply


class DiceSelfPlay:
    """An engine that plays itself, and the memory for one game; `GameLoop` with dice.

    depth: GNU's plies with which each move is chosen; at 0, native where the game is. backups: find
    for each position of a game the exact value that search backs up, a ply deeper. most_plies:
    longer games are broken off, for nothing. Not to be used by two threads at once.
    """

    def __init__(
        self, game: DiceGame, engine: Engine, *, depth: int, backups: bool, most_plies: int
    ) -> None:
        self.game = game
        self.engine = engine
        self.depth = depth
        self.backups = backups
        self.most_plies = most_plies
        self.native = engine.native and depth == 0
        if self.native:
            self._turn = NativeTurn(game)
            self._replies = self._turn.replies(engine.evaluator)
            self._log = NativeRecord(LOG)
            self._log.pin(
                positions=np.zeros((most_plies + 1, len(game.start())), dtype=np.int64),
                moves=np.zeros(most_plies, dtype=np.int64),
                rolls=np.zeros(most_plies, dtype=np.int64),
            )
            self._log.put(most_plies=most_plies)

    def play(self, seeds: tuple[int, ...]) -> PlayedWithDice:
        """The game whose dice begin with the seeds; nothing in it depends on games before.

        Its values are those of `backups`, NaN without. Raises what the evaluator raises, and
        KeyboardInterrupt when stopped.
        """
        positions, moves, rolls = (self._play if self.native else self._play_slowly)(seeds)
        plies = len(moves)
        values = np.full(plies, np.nan)
        depths = np.zeros(plies, dtype=np.int64)
        if self.backups and plies:
            self.engine.clear()
            values = self.engine.values(positions[:plies], depth=self.depth + 1)
            depths += self.depth + 1
        last = positions[-1]
        value = self.game.outcome(tuple(last.tolist()) if self.engine.native else last)
        outcome, reason = 0.0, "most plies"
        if value is not None:
            # for the side that began, to whom the plies say whose view the last position has
            outcome, reason = (-value if plies % 2 else value) + 0.0, "end of the game"
        return PlayedWithDice(
            self.game, positions, moves, 0, values, depths, None, None, outcome, reason, {}, rolls
        )

    def _play(self, seeds: tuple[int, ...]) -> tuple[Any, list[Any], list[int]]:
        turn, log = self._turn, self._log.pinned
        log["positions"][0] = self.game.start()
        turn.put(state=stream(*seeds))
        plies = play_game(turn.row, self._replies.row, self._log.row)
        turn.check()
        moves, rolls = (log[name][:plies].tolist() for name in ("moves", "rolls"))
        return log["positions"][: plies + 1].copy(), moves, rolls

    def _play_slowly(self, seeds: tuple[int, ...]) -> tuple[Any, list[Any], list[int]]:
        game, dice, first = self.game, Dice(self.game), stream(*seeds)
        positions: list[Any] = [game.start()]
        moves: list[Any] = []
        rolls: list[int] = []
        while game.outcome(positions[-1]) is None and len(moves) < self.most_plies:
            roll = dice.roll(first, len(moves))
            result = self.engine.search(positions[-1], roll=roll, depth=self.depth)
            if result.interrupted:
                raise KeyboardInterrupt
            positions.append(game.play(positions[-1], result.move))
            moves.append(result.move)
            rolls.append(roll)
        found = np.array(positions, dtype=np.int64) if self.engine.native else positions
        return found, moves, rolls
