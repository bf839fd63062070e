"""Openings: the first moves of match games, drawn so that no two games are alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import numpy as np

from games.contract import Game

__all__ = ["Openings", "distinct_lines", "lengthened", "random_line"]

Moves = tuple[Any, ...]
_TRIES = 2000  # random lines in a row without a new position before a length is given up
_BARREN = 3  # lengths in a row without a new position before a game has no more openings
_MOST_LISTED = 50_000  # if a ply has more positions than this, random ones are drawn


class Openings:
    """Distinct openings in a seeded order: each ends in a position that no other ends in.

    All positions after `plies` plies come first (in checkers 216, from the 302 three-move
    sequences; random ones if they are too many to list), until hardly any remain, then positions
    after one more random ply, and so on. No opening passes through a position twice.

    plies: length of the shortest openings.
    seed: decides their order.

    Raises ValueError for options out of range.
    """

    def __init__(self, game: Game, *, plies: int = 3, seed: int = 0) -> None:
        if not 0 <= plies <= 40:
            raise ValueError(f"plies: expected 0 to 40, found {plies}")
        if seed < 0:
            raise ValueError(f"seed: expected at least 0, found {seed}")
        self.game = game
        self.plies = plies
        self.seed = seed

    def __str__(self) -> str:
        return f"openings of {self.plies} {'ply' if self.plies == 1 else 'plies'} or more"

    def __iter__(self) -> Iterator[Moves]:
        """Openings as tuples of moves from the start; ends if the game has no more."""
        seen: set[Any] = set()
        random = np.random.default_rng(self.seed)
        barren = 0
        for plies in count(self.plies):
            every = distinct_lines(self.game, plies) if plies == self.plies else None
            lines: Iterable[tuple[Any, Moves]]
            if every is None:
                lines = self._random_lines(random, plies)
            else:
                lines = [every[i] for i in random.permutation(len(every))]
            yielded = False
            for position, moves in lines:
                if position in seen:
                    continue
                seen.add(position)
                yielded = True
                yield moves
            barren = 0 if yielded else barren + 1
            if barren == _BARREN:
                return

    def _random_lines(self, random: np.random.Generator, plies: int) -> Iterator[tuple[Any, Moves]]:
        """Random lines of one length, until hardly any new one is left."""
        ends: set[Any] = set()
        repeats = 0
        while repeats < _TRIES:
            position, moves, whole = _extended(self.game, (), plies, random)
            if not whole or position in ends:
                repeats += 1
                continue
            ends.add(position)
            repeats = 0
            yield position, moves


def random_line(game: Game, plies: int, random: np.random.Generator) -> tuple[Any, list[Any]]:
    """Returns a position and the random moves to it, fewer than `plies` if the game ends there."""
    position, moves, _ = _extended(game, (), plies, random)
    return position, list(moves)


def _extended(
    game: Game, moves: Moves, more: int, random: np.random.Generator
) -> tuple[Any, Moves, bool]:
    """Returns the position after some moves and `more` random ones, and all of the moves.

    The last is whether the game is in progress there, and no position on the way has come twice; it
    ends sooner where there is no move.
    """
    position, plies = game.start(), len(moves) + more
    passed = {position}
    for move in moves:
        position = game.play(position, move)
        passed.add(position)
    while len(moves) < plies and (legal := game.legal_moves(position)):
        move = legal[int(random.integers(len(legal)))]
        position, moves = game.play(position, move), (*moves, move)
        passed.add(position)
    return position, moves, len(passed) == plies + 1 and game.outcome(position) is None


def distinct_lines(game: Game, plies: int) -> list[tuple[Any, Moves]] | None:
    """Returns each distinct position after `plies` plies with its first line; None if too many.

    In a game whose positions can recur, positions that fewer plies can reach are excluded.
    """
    layer: dict[Any, Moves] = {game.start(): ()}
    earlier: set[Any] = set()
    for _ in range(plies):
        if game.irreversible is not None:
            earlier.update(layer)
        following: dict[Any, Moves] = {}
        for position, moves in layer.items():
            for move in game.legal_moves(position):
                after = game.play(position, move)
                if after not in earlier:
                    following.setdefault(after, (*moves, move))
            if len(following) > _MOST_LISTED:
                return None
        layer = following
    return [(p, m) for p, m in layer.items() if game.outcome(p) is None]


def lengthened(game: Game, openings: list[Moves], random: np.random.Generator) -> Iterator[Moves]:
    """Returns `openings` with one more random ply, then with two, and so on.

    Each ends in a position that no earlier one ends in, and passes through none twice. Ends after
    `_BARREN` lengths without a new position.
    """
    seen: set[Any] = set()
    barren = 0
    for more in count(1):
        barren += 1
        for i in random.permutation(len(openings)):
            position, moves, whole = _extended(game, openings[i], more, random)
            if whole and position not in seen:
                seen.add(position)
                barren = 0
                yield moves
        if barren == _BARREN:
            return
