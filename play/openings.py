"""Openings: the first moves of match games, drawn so that no two games are alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from games.contract import Game
from search import Engine, as_evaluator

__all__ = ["Openings"]

Moves = tuple[Any, ...]
_TRIES = 2000  # random lines in a row that lead to nothing new before a length is given up


class Openings:
    """Distinct openings in a seeded order: each ends in a position that no other ends in.

    First come all positions after `plies` plies (in checkers 216, from the 302 three-move
    sequences), then positions after one more random ply, and so on. With `within`, only those are
    used whose value by `judge`, searched `depth` plies deep, is at most that far from even.
    """

    def __init__(
        self,
        game: Game,
        *,
        plies: int = 3,
        seed: int = 0,
        within: float | None = None,
        judge: Any = None,
        depth: int = 7,
    ) -> None:
        if not 0 <= plies <= 40:
            raise ValueError(f"plies: expected 0 to 40, found {plies}")
        if within is not None and not within > 0:
            raise ValueError(f"within: expected a value above 0, found {within}")
        if within is not None and judge is None:
            raise ValueError("within: expected a judge to value the openings, found none")
        self.game = game
        self.plies = plies
        self.seed = seed
        self.within = within
        self.depth = depth
        self._engine = (
            Engine(game, as_evaluator(game, judge), table_mib=1) if within is not None else None
        )

    def __iter__(self) -> Iterator[Moves]:
        """Openings as tuples of moves from the start; ends where the game has no more."""
        seen: set[Any] = set()
        random = np.random.default_rng(self.seed)
        shortest = self._all(self.plies)
        for i in random.permutation(len(shortest)):
            position, moves = shortest[i]
            seen.add(position)
            if self._even(position):
                yield moves
        barren = 0
        plies = self.plies + 1
        while barren < 3:
            found = False
            for position, moves in self._random_lines(random, plies):
                if position in seen:
                    continue
                seen.add(position)
                if self._even(position):
                    found = True
                    yield moves
            barren = 0 if found else barren + 1
            plies += 1

    def _all(self, plies: int) -> list[tuple[Any, Moves]]:
        """Every distinct position after some plies, with the first way there."""
        layer: dict[Any, Moves] = {self.game.start(): ()}
        for _ in range(plies):
            following: dict[Any, Moves] = {}
            for position, moves in layer.items():
                for move in self.game.legal_moves(position):
                    following.setdefault(self.game.play(position, move), (*moves, move))
            layer = following
        return [(p, m) for p, m in layer.items() if self.game.outcome(p) is None]

    def _random_lines(self, random: np.random.Generator, plies: int) -> Iterator[tuple[Any, Moves]]:
        """Random lines of one length: enough for some variety, not all that there are."""
        ends: set[Any] = set()
        repeats = 0
        while repeats < _TRIES and len(ends) < 4096:
            position = self.game.start()
            moves: Moves = ()
            for _ in range(plies):
                legal = self.game.legal_moves(position)
                if not legal:
                    break
                move = legal[int(random.integers(len(legal)))]
                position, moves = self.game.play(position, move), (*moves, move)
            if position in ends or self.game.outcome(position) is not None:
                repeats += 1
                continue
            ends.add(position)
            repeats = 0
            yield position, moves

    def _even(self, position: Any) -> bool:
        if self._engine is None or self.within is None:
            return True
        self._engine.clear()
        return abs(self._engine.search(position, depth=self.depth).value) <= self.within
