"""Rote learning: play, and remember every position with the value that search backed up for it.

Source: Samuel 1959, the section on rote learning; the memory itself is `search.lookups.rote`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from games.contract import Game
from games.record import GameRecord
from learner.frame import Progress
from learner.game_learner import GameLearner
from learner.online.samuel1959 import MOST_PLIES, TABLE_MIB
from learner.options import ranged
from learner.positions.store import own_folder
from search import Engine, Result, as_evaluator
from search.lookups.rote import RoteMemory, probe_kernel

__all__ = ["Rote"]


@dataclass(kw_only=True, eq=False, repr=False)
class Rote(GameLearner):
    """Self-play of one evaluator that remembers the positions it has searched.

    Both sides search with the memory as lookup, and the memory stores the values that searches back
    up. A remembered value at a leaf makes a search effectively deeper, and so improves the next
    values stored.

    openings: number of distinct openings, which are repeated (default: one for each game).
    opening_plies: length of the openings in plies.
    capacity, oldest, direction: see `RoteMemory`, which merges after each game.
    store: folder of the memory in checkpoints (default: a temporary one).

    After `fit`: `memory_`, and `evaluator_`, which has played. `updates_` counts the moves.
    """

    games: int = ranged(2000, 1)
    openings: int | None = ranged(None, 1)
    opening_plies: int = 3
    capacity: int = 1_000_000
    oldest: int = 700
    direction: float = 0.0005
    store: Any = None

    def _load_game(self) -> Game:
        probe_kernel(super()._load_game())
        return self.game_

    def begin(self, evaluator: Any) -> None:
        self.evaluator_ = as_evaluator(self.game_, evaluator)
        self.memory_ = RoteMemory(
            self.game_, capacity=self.capacity, oldest=self.oldest, direction=self.direction
        )
        self._folder = own_folder(self, self.store)
        #: the file that the last checkpoint names
        self._file = ""

    def learn(self) -> Generator[Progress, None, None]:
        engine = Engine(self.game_, self.evaluator_, lookup=self.memory_, table_mib=TABLE_MIB)
        for record in self.records():
            self._play(engine, record)
            self.memory_.merge()
            self.games_played_ += 1
            yield self.progress(record, {"positions": len(self.memory_)})

    def _openings(self) -> Iterator[tuple[Any, ...]]:
        distinct = islice(super()._openings(), self.openings or self.games)
        return cycle(distinct)

    def unlearned_plies(self) -> int:
        """Returns a length of openings, in plies, that no game of learning had."""
        return 1 + max(map(len, islice(self._openings(), self.openings or self.games)))

    def _play(self, engine: Engine, record: GameRecord) -> None:
        """Play a game to its end, and remember its positions."""
        engine.clear()
        while not record.over and record.ply < MOST_PLIES:
            result = engine.search(
                record.position, depth=self.depth, nodes=self.nodes, history=record.history
            ).whole()
            # a value that depends on a repetition is not one of the position alone
            if result.value != 0.0:
                depth = result.depth + self._remembered(record.position, result)
                self.memory_.store(record.position, result.value, depth, backed_up=result.depth)
            self.updates_ += 1
            record.play(result.move, value=result.value, depth=result.depth)
        if not record.over:
            record.declare(0.0, f"{MOST_PLIES} plies")

    def _remembered(self, position: Any, result: Result) -> int:
        """Returns the plies by which a remembered value at the end of the variation is deeper."""
        for move in result.pv:
            position = self.game_.play(position, move)
        beyond = self.memory_.depth_of(position)
        return 0 if beyond is None else max(0, len(result.pv) + beyond - result.depth)

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        """Save the memory in the store; returns the name of the file.

        The file of the last state stays until the next, for it may be on disk when this one is not.
        """
        name = f"memory-{self.games_played_:06d}.safetensors"
        self.memory_.save(self._folder / name, evaluator=self.evaluator_.name)
        for path in self._folder.glob("memory-*.safetensors"):
            if path.name not in (name, self._file):
                path.unlink()
        self._file = name
        return {"memory": name}

    def _set_state(self, state: dict[str, Any]) -> None:
        name = Path(state["memory"]).name
        self.memory_ = RoteMemory.load(self.game_, self._folder / name)
        self._file = name
