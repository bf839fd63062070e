"""Rote learning: play, and remember every position with the value that search backed up for it.

Source: Samuel 1959, the section on rote learning; the memory itself is `search.lookups.rote`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

import games as all_games
from games.record import GameRecord
from learner.learner import Progress, check_limits, identity_of
from learner.online.frame import MOST_PLIES, TABLE_MIB
from learner.options import check_options, ranged
from play.match.openings import Openings
from search import Engine, Result, as_evaluator
from search.lookups.rote import RoteMemory

__all__ = ["Rote"]


@dataclass(kw_only=True, eq=False, repr=False)
class Rote(BaseEstimator):  # type: ignore[misc]
    """Self-play of one evaluator that remembers the positions it has searched.

    Both sides search with the memory as lookup, and the memory stores the values that searches back
    up. A remembered value at a leaf makes a search effectively deeper, and so the next values
    stored.

    game: the game or its name.
    games: number of games to play.
    depth, nodes: limits of every search; at least one of them.
    seed: seed of the openings and of the choice among equal moves.
    openings: number of distinct openings, which are repeated (None: one for each game).
    opening_plies: length of the openings in plies.
    merge_moves: moves between two merges of the memory.
    capacity, oldest, direction: see `RoteMemory`.

    After `fit`: `memory_`, `evaluator_`, `games_played_`.
    """

    game: Any = field(default="checkers", kw_only=False)
    games: int = ranged(2000, 1)
    depth: int | None = 5
    nodes: int | None = None
    seed: int = ranged(0, 0)
    openings: int | None = ranged(None, 1)
    opening_plies: int = 3
    merge_moves: int = ranged(20, 1)
    capacity: int = 1_000_000
    oldest: int = 5000
    direction: float = 0.0005

    games_played_: int = field(init=False)
    moves_: int = field(init=False)

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> Rote:
        """Play `games` games with an evaluator and remember them; returns the learner.

        resume: a state of `checkpoint`, whose memory is loaded from the file that it names.
        watch: called after every game.
        """
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        engine = Engine(self.game_, self.evaluator_, lookup=self.memory_, table_mib=TABLE_MIB)
        openings = self._openings()
        for number in range(self.games_played_, self.games):
            record = self._play(engine, openings[number % len(openings)])
            self.games_played_ = number + 1
            if watch is not None:
                note = f"{len(self.memory_)} positions"
                watch(Progress(number + 1, self.games, record, self.moves_, note))
        self.memory_.merge()
        return self

    def prepare(self, evaluator: Any = None) -> None:
        """Check the options and the evaluator and set everything up; `fit` does so first."""
        check_options(self)
        check_limits(self.depth, self.nodes)
        self.game_ = all_games.load(self.game) if isinstance(self.game, str) else self.game
        self._drawn()  # raises ValueError for a length out of range
        self.evaluator_ = as_evaluator(self.game_, evaluator)
        self.memory_ = RoteMemory(
            self.game_, capacity=self.capacity, oldest=self.oldest, direction=self.direction
        )
        self.games_played_ = 0
        self.moves_ = 0

    def _resume(self, state: dict[str, Any]) -> None:
        identity = state.get("identity")
        if identity != identity_of(self):
            raise ValueError(
                f"expected a checkpoint of {identity_of(self)}, found {str(identity)[:1000]}"
            )
        try:
            self.games_played_, self.moves_ = int(state["games_played"]), int(state["moves"])
            path = Path(state["memory"])
            new = [(int(key), float(value), int(depth)) for key, value, depth in state["new"]]
            used = [(int(key), int(uses)) for key, uses in state["used"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a state of this learner, found {error!r}") from None
        self.memory_ = RoteMemory.load(self.game_, path)
        self.memory_.set_pending(new, used)

    def _drawn(self) -> Openings:
        return Openings(self.game_, plies=self.opening_plies, seed=self.seed)

    def _openings(self) -> list[tuple[Any, ...]]:
        count = self.openings or self.games
        openings = list(islice(self._drawn(), count))
        if not openings:
            raise ValueError(f"expected openings of {self.opening_plies} plies, found none")
        return openings

    def _play(self, engine: Engine, opening: tuple[Any, ...]) -> GameRecord:
        record = GameRecord(self.game_)
        for move in opening:
            record.play(move)
        engine.clear()
        while not record.over and record.ply < MOST_PLIES:
            result = engine.search(
                record.position, depth=self.depth, nodes=self.nodes, history=record.history
            )
            if result.interrupted:
                raise KeyboardInterrupt
            # a value that depends on a repetition belongs to the game, not to the position
            if result.value != 0.0:
                depth = result.depth + self._remembered(record.position, result)
                self.memory_.store(record.position, result.value, depth, backed_up=result.depth)
            self.moves_ += 1
            if self.moves_ % self.merge_moves == 0:
                self.memory_.merge()
                engine.clear()
            record.play(result.move, value=result.value, depth=result.depth)
        if not record.over:
            record.declare(0.0, f"{MOST_PLIES} plies")
        return record

    def _remembered(self, position: Any, result: Result) -> int:
        """Returns the plies by which a remembered value at the end of the variation is deeper."""
        for move in result.pv:
            position = self.game_.play(position, move)
        beyond = self.memory_.depth_of(position)
        return 0 if beyond is None else max(0, len(result.pv) + beyond - result.depth)

    def checkpoint(self, folder: Any) -> dict[str, Any]:
        """Save the memory in a folder; returns the checkpoint for `fit(resume=...)`.

        Nothing is merged for it, so that how often one is written does not change the memory.
        """
        new, used = self.memory_.pending()
        # another name than that of the same games after a merge, whose file must not replace this
        waiting = f"-{len(new)}" if new or used else ""
        path = Path(folder) / f"memory-{self.games_played_:06d}{waiting}.sqlite"
        self.memory_.save(path, evaluator=self.evaluator_.name)
        return {
            "identity": identity_of(self),
            "games_played": self.games_played_,
            "moves": self.moves_,
            "memory": str(path),
            "new": new,
            "used": used,
        }
