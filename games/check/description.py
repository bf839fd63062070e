"""`describe_game`: the kind of a game, by its declarations and by random play."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

from games.check.game import MOST_PLIES
from games.contract import Game, rolled

__all__ = ["GameDescription", "describe_game"]


@dataclass(frozen=True)
class GameDescription:
    """The kind of a game, in the textbook's words.

    players: number of players.
    zero_sum: whether the outcomes of all players added up to 0 at the end of every game played; for
        two players the contract makes it so.
    deterministic: whether there are neither dice nor chance nodes, and a move played twice led to
        the same position.
    perfect_information: always true, because a position of the contract is all that matters, and
        every player sees it.
    finite: whether every game played came to an end.
    games: number of random games played.
    longest: plies of the longest of them.
    branching: mean number of legal moves of a position, with dice for a roll.
    """

    players: int
    zero_sum: bool
    deterministic: bool
    perfect_information: bool
    finite: bool
    games: int
    longest: int
    branching: float

    def __str__(self) -> str:
        kinds = {
            "zero-sum": self.zero_sum,
            "deterministic": self.deterministic,
            "of perfect information": self.perfect_information,
            "finite": self.finite,
        }
        words = ", ".join(name if holds else f"not {name}" for name, holds in kinds.items())
        return (
            f"{self.players} players; {words}; {self.branching:.1f} moves a position and at most"
            f" {self.longest} plies in {self.games} random games"
        )


def describe_game(game: Game, *, games: int = 20, seed: int = 0) -> GameDescription:
    """Returns a description of a game's kind, as far as random games show it.

    games: number of random games, at least 1.
    seed: seed of the random moves and rolls.

    Raises ValueError if `games` is less than 1.
    """
    if games < 1:
        raise ValueError(f"games: expected at least 1, found {games}")
    chance = random.Random(seed)
    zero_sum = finite = True
    same = not game.dice and game.chances is None
    longest = positions = moves_seen = 0
    for _ in range(games):
        position = game.start()
        plies = 0
        while plies < MOST_PLIES and game.outcome(position) is None:
            moves, chances = _moves(game, position, chance)
            positions += 1
            moves_seen += len(moves)
            move = chance.choices(moves, chances)[0]
            after = game.play(position, move)
            same = same and after == game.play(position, move)
            position = after
            plies += 1
        finite = finite and game.outcome(position) is not None
        longest = max(longest, plies)
        vector = game.outcome_vector(position)
        total = 0.0 if vector is None else math.fsum(vector)
        zero_sum = zero_sum and math.isclose(total, 0.0, abs_tol=1e-9)
    branching = moves_seen / positions if positions else 0.0
    return GameDescription(game.players, zero_sum, same, True, finite, games, longest, branching)


def _moves(game: Game, position: Any, chance: random.Random) -> tuple[Any, Any]:
    """Returns the legal moves, after a roll in a game with dice, and their weights or None."""
    roll = rolled(game, lambda rolls: chance.choices(range(len(rolls)), rolls)[0])
    return game.legal_moves(position, *roll), game.chances_at(position) or None
