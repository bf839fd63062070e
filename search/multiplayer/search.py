"""Searches of games for more than two players."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from games import kernels
from games.contract import Game
from games.values import LIMIT, WIN
from search.alphabeta.line import MOST_ROOT_MOVES, PlainLine
from search.evaluators.evaluator import Evaluator
from search.lookups.lookup import Lookup
from search.multiplayer.line import MOST_PLAYERS, MOST_PLIES, MultiplayerLine, turn_addresses
from search.result import Result
from search.search import UNLIMITED, Search, check_limits
from search.time_control import Allowance

__all__ = ["METHODS", "Multiplayer", "MultiplayerOptions"]

#: The methods, in the order of their numbers in `search.multiplayer.kernels`.
METHODS = ("paranoid", "best_reply", "max_n")


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
                raise ValueError(f"{name}: expected none for {game.players} players, found one")
        if not 2 < game.players <= MOST_PLAYERS:
            raise ValueError(f"expected 3 to {MOST_PLAYERS} players, found {game.players}")
        from search.multiplayer.kernels import iterate

        self.method = options.method
        self._iterate: Callable[[Any], None] = iterate
        line: Any
        if self.native:
            from search.native import rules_addresses

            line = MultiplayerLine(table_mib)
            line.put(
                **rules_addresses(game),
                **turn_addresses(game),
                width=len(game.start()),
                most_moves=getattr(game, "most_moves", 256),
            )
            line.bind("evaluate_at", "evaluator", evaluator.native(self._fail))
        else:
            import numpy as np

            line = PlainLine(game, evaluator.plain())
            line.put(
                own=np.zeros(MOST_PLIES + 1),
                vectors=np.zeros((MOST_PLIES + 1, MOST_PLAYERS)),
                positions=[None] * (MOST_PLIES + 2),
            )
            self._iterate = kernels.uncompiled(iterate)
        #: what outcomes add up to, where max^n prunes by it; wins count plies, so only 0 stays 0
        self._constant = None if game.wins and game.constant_sum != 0 else game.constant_sum
        line.put(
            wins=int(game.wins),
            players=game.players,
            method=METHODS.index(self.method),
            centred=int(self._constant is not None),
        )
        self._lines = [line]
        self.clear()

    def search(
        self,
        position: Any,
        *,
        depth: int | None,
        nodes: int | None,
        seconds: float | Allowance | None,
        history: Sequence[Any],
        roll: int | None,
        exact_root: bool,
    ) -> Result:
        if roll is not None:
            raise ValueError(f"{self.game.name} has no dice: expected no roll, found {roll!r}")
        if isinstance(seconds, Allowance):
            seconds = seconds.usual
        check_limits(depth, nodes, seconds, least=1, deepest=MOST_PLIES)
        began = time.perf_counter()
        self._check_position(position)
        game, line = self.game, self.line
        moves = game.legal_moves(position)
        if not moves:
            return self._finished(position)
        if len(moves) > MOST_ROOT_MOVES:
            raise ValueError(f"expected at most {MOST_ROOT_MOVES} legal moves, found {len(moves)}")
        if self._random is not None:
            moves = [moves[i] for i in self._random.permutation(len(moves))]
        moves.sort(key=lambda move: -game.gain(position, move))
        generation = self._new_generation()
        line.put(
            generation=generation, nodes=0, stop=0, probes=0, hits=0, completed=0, best=0,
            value=math.nan, root_count=len(moves), exact_root=int(exact_root),
            depth_limit=min(depth or MOST_PLIES, MOST_PLIES),
            node_limit=min(nodes or UNLIMITED, UNLIMITED),
        )  # fmt: skip
        if self.native:
            line.set_root(position, moves)
        else:
            line.set_root(position, moves, [])
        interrupted = self._run(partial(self._iterate, line.row), seconds=seconds, short=False)
        completed, best = int(line.completed), int(line.best)
        move = self._move(line.root_moves[best])
        value = self._shown(float(line.value))
        history_ = self._depths(1, completed, moves=True)
        valued: list[tuple[Any, float]] = []
        if exact_root and completed:
            valued = [
                (self._move(line.root_moves[i]), self._shown(float(line.settled_values[i])))
                for i in range(len(moves))
            ]
            valued.sort(key=lambda item: -item[1])
            move, value = valued[0]
        if value != value:
            value = self.evaluator(position)
        return Result(
            move,
            value + 0.0,
            (move,),
            completed,
            int(line.nodes),
            time.perf_counter() - began,
            history_,
            tuple(valued),
            interrupted=interrupted,
            probes=int(line.probes),
            hits=int(line.hits),
        )

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
