"""Searches of games for more than two players."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from games.contract import Game
from games.kinds import Kind
from games.values import LIMIT, WIN
from search.evaluators.evaluator import Evaluator
from search.line import MOST_PLAYERS
from search.lookups.lookup import Lookup
from search.multiplayer.native import DEEPEST, turn_addresses
from search.search import Search

__all__ = ["METHODS", "Multiplayer", "MultiplayerOptions"]

#: The methods, in the order of their numbers in `search.multiplayer.kernels`.
METHODS = ("paranoid", "best_reply", "max_n")
#: The games that are searched so.
FOR_MANY = Kind(
    f"a game for 3 to {MOST_PLAYERS} players", lambda game: 2 < game.players <= MOST_PLAYERS
)


@dataclass(frozen=True, kw_only=True)
class MultiplayerOptions:
    """Options of searches of games for more than two players.

    method: "paranoid", all others minimise the value of the side to move; "best_reply", only the
        strongest of the others' replies is played, and a ply is a move or a reply; or "max_n",
        each player maximises its own value.

    Raises ValueError for another method.
    """

    method: str = "paranoid"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)}, found {self.method!r}")


class Multiplayer(Search):
    """Max^n, paranoid and best-reply searches of a game for more than two players.

    The evaluator values a position for the side to move, and the turned positions for the others.
    In a game whose outcomes add up to a constant, the static values of max^n are moved by the same
    number for all players, so that they do so too.

    Raises ValueError for a lookup, or more than one thread.
    """

    depths = (1, DEEPEST)

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        options: MultiplayerOptions,
        *,
        lookup: Lookup | None,
        table_mib: float,
        threads: int,
        seed: Any,
    ) -> None:
        super().__init__(game, evaluator, threads=threads, seed=seed)
        for name, given in (("lookup", lookup is not None), ("threads", threads != 1)):
            if given:
                raise ValueError(f"{name}: not available for {game.players} players")
        FOR_MANY.expect(game)
        from search.multiplayer.kernels import search_depth

        self.method = options.method
        addresses = turn_addresses(game) if self.native else {}
        self._bind(search_depth, table_mib=table_mib, addresses=addresses)
        #: what outcomes add up to, where max^n prunes by it; wins count plies, so only 0 stays 0
        self._constant = None if game.wins and game.constant_sum != 0 else game.constant_sum
        self._put(
            wins=int(game.wins),
            players=game.players,
            method=METHODS.index(self.method),
            keep_order=int(self.method == "max_n"),
            centred=int(self._constant is not None),
        )
        self.clear()

    def _in_order(self, position: Any, moves: list[Any]) -> list[Any]:
        return sorted(moves, key=lambda move: -self.game.gain(position, move))

    def _shown(self, value: float) -> float:
        """Returns a value of the search as other searches give it: max^n has its own scale."""
        if self.method != "max_n" or not math.isfinite(value):
            return max(value, -LIMIT) if value == -math.inf else value
        from search.multiplayer.kernels import END

        if self._constant is not None:
            value = (value + self._constant) / self.game.players
        outcome = round(value / END)
        if self.game.wins and outcome:
            return math.copysign(WIN - (END - value / outcome), outcome)
        return value
