"""Self-play in games with dice, in the form that learners use for games without.

Each move is chosen for the roll that was drawn. The value that search backs up for a position is
the average over all rolls, an exact value without luck. Depths are GNU Backgammon's plies: at depth
0 the move with the best static value is played; depth 1 is the average over the rolls of the values
after such moves; and so on.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from typing import Any

import numpy as np

from games.contract import DiceGame, Game
from games.kernels.chance import stream
from games.record import GameRecord
from play.dice import Dice
from play.matches.dice_loop import DiceLoop
from play.matches.game_loop import Played
from play.matches.loop import play
from play.matches.openings import Openings
from search import Engine

__all__ = ["MOST_DEPTH", "DiceSelfPlay", "PlayedWithDice", "game_seeds", "starts_of"]

#: The greatest depth of play; backups look a ply further, and a ply takes 400 times as long.
MOST_DEPTH = 2


def starts_of(game: Game, *, plies: int, seed: int) -> Iterable[tuple[Any, ...]]:
    """Returns distinct openings of games of self-play, or with dice the seeds of the games."""
    return game_seeds(seed) if game.dice else Openings(game, plies=plies, seed=seed)


def game_seeds(seed: int) -> Iterator[tuple[int, int]]:
    """Yields a seed of the dice for each game of a learner, endlessly.

    They take the place of the openings of games without dice.
    """
    return zip(repeat(seed), count())


@dataclass(frozen=True)
class PlayedWithDice(Played):
    """One game, with the roll of each ply."""

    rolls: list[int]

    def record(self) -> GameRecord:
        """Returns the game as a game record."""
        record = super().record()
        record.rolls = list(self.rolls)
        return record


class DiceSelfPlay:
    """An engine that plays against itself; the counterpart of `GameLoop` for games with dice.

    depth: GNU plies with which each move is chosen; at 0 a compiled game is played in native code.
    backups: whether to search every position of a game one ply deeper for its exact value.
    most_plies: longer games are broken off and score 0 points.

    Not to be used by two threads at once.
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
            player = engine.evaluator, None
            self._loop = DiceLoop(game, player, player, most_turns=most_plies)

    def play(self, seeds: tuple[int, ...]) -> PlayedWithDice:
        """Returns the game with the dice that the seeds start; it depends on no earlier game.

        Its values are the backups, or NaN without `backups`. Raises the evaluator's errors, and
        KeyboardInterrupt if stopped.
        """
        played = self._loop.play_one if self.native else self._play_plainly
        positions, moves, rolls = played(stream(*seeds))
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
            # convert to the view of the side that began
            outcome, reason = (-value if plies % 2 else value) + 0.0, "end of the game"
        units = (self.engine.evaluator.unit,) * 2
        return PlayedWithDice(
            self.game, positions, moves, 0, values, depths, None, None, outcome, reason, {}, units,
            rolls,
        )  # fmt: skip

    def _play_plainly(self, state: int) -> tuple[Any, list[Any], list[int]]:
        record: Any = GameRecord(self.game, repetitions=None, quiet_moves=None)
        dice = Dice(self.game)
        play(record, (self, self), partial(dice.roll, state), most_plies=self.most_plies)
        positions = record.positions
        visited = np.array(positions, dtype=np.int64) if self.engine.native else positions
        return visited, record.moves, record.rolls

    def choose(self, position: Any, roll: int) -> Any:
        """Returns the engine's move, as a seat of `play.matches.loop`."""
        return self.engine.search(position, roll=roll, depth=self.depth).whole().move
