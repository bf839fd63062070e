"""n-tuples without a layout: connected groups of squares, drawn at random from a game's cells.

Source: W. Konen and others' General Board Game playground, where n-tuples are random walks.
"""

from __future__ import annotations

import re

import numpy as np

from games.features.cells import Cells
from games.features.tuples import Group, TupleLayout

__all__ = ["WALKS", "walks"]

WALKS = "walks:"
NEAR = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]
#: Groups that are drawn for each one asked for, before too few of them are different.
TRIES = 100


def walks(cells: Cells, text: str, seed: int) -> TupleLayout:
    """Returns a layout of different random groups; squares are neighbours also at their corners.

    cells: the cells of the game.
    text: "walks:N,L" for N groups of L squares each.
    seed: of the groups.

    Raises ValueError for another text, or if so many groups of this length are not to be found.
    """
    match = re.fullmatch(rf"{WALKS}([1-9]\d{{0,3}}),([1-9]\d?)", text)
    if match is None:
        raise ValueError(f"tuples: expected walks:N,L, such as walks:40,5, found {text!r:.80}")
    number, length = int(match[1]), int(match[2])
    random = np.random.default_rng(seed)
    squares = sorted(cells.bits)
    groups: dict[frozenset[int], Group] = {}
    for _ in range(TRIES * number):
        walk = [squares[random.integers(len(squares))]]
        while len(walk) < length:
            around = {cells.neighbour(square, step) for square in walk for step in NEAR}
            free = sorted(square for square in around - {*walk} if square is not None)
            if not free:
                break
            walk.append(free[random.integers(len(free))])
        if len(walk) == length:
            bits = tuple(cells.bits[square] for square in walk)
            groups.setdefault(frozenset(bits), Group(bits))
        if len(groups) == number:
            return TupleLayout(cells.encoding, cells.width, tuple(groups.values()))
    raise ValueError(
        f"tuples: expected at most {len(groups)} groups of {length} squares, found {number}"
    )
