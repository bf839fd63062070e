"""Searches to the end of a game, against plain minimax that counts discs."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest

import games
from games import kernels
from games.values import PROVEN
from search import Engine

compiled_only = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
DISCS = games.load("docs.examples.othello:Discs")
WINS = games.load("docs.examples.othello:Othello")


@functools.cache
def discs_at_end(position: Any) -> float:
    """Returns the discs by which the side to move wins if both play for discs."""
    over = DISCS.outcome(position)
    if over is not None:
        return over
    return max(-discs_at_end(DISCS.play(position, move)) for move in DISCS.legal_moves(position))


def late_positions(count: int, squares: int) -> list[Any]:
    """Returns positions of random play with this number of empty squares."""
    chance, positions = random.Random(5), []
    while len(positions) < count:
        position = DISCS.start()
        while DISCS.outcome(position) is None and DISCS.rules.left(position) > squares:
            position = DISCS.play(position, chance.choice(DISCS.legal_moves(position)))
        if DISCS.outcome(position) is None:
            positions.append(position)
    return positions


@compiled_only
@pytest.mark.parametrize("techniques", ["exact", "late_moves=1.2,singular=6"])
def test_the_end_of_othello_is_searched_at_once(techniques: str) -> None:
    discs = Engine(DISCS, "hand", techniques=techniques)
    wins = Engine(WINS, "hand", techniques=techniques)
    results = set()
    for position in late_positions(60, 7):
        truth = discs_at_end(position)
        result = discs.search(position, depth=100)
        assert result.value == truth == -discs_at_end(DISCS.play(position, result.move))
        proof = wins.search(position, depth=100)
        results.add(sign := (truth > 0) - (truth < 0))
        assert (proof.value > PROVEN) - (proof.value < -PROVEN) == sign
        assert sign or proof.value == 0.0
        for end in (result, proof):  # two iterations, or one that sees the end
            assert len(end.history) <= 2 and end.nodes == end.history[-1].nodes
    assert results == {-1, 0, 1}


@compiled_only
def test_iterations_end_when_deeper_ones_change_nothing() -> None:
    game = games.load("tic_tac_toe")
    result = Engine(game, lambda position: 0.0).search(game.start(), depth=100)
    assert (result.value, result.depth) == (0.0, 9)
