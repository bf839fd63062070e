"""The search with dice against the textbook: the same moves and values, whatever its options."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from games import kernel as kernels
from games.backgammon import Backgammon
from games.backgammon.rules import checkers
from games.contract import DiceGame
from games.kernel import kernel
from search import Engine, KernelEvaluator
from search.minimax import expectiminimax

plain = pytest.mark.plain

BACKGAMMON = Backgammon()


@kernel
def race_value(position):
    """Pips ahead, each point's a little dearer, so that few positions are worth the same."""
    near, far, their_near, their_far, _ = position
    total = 0.0
    for point in range(1, 26):
        total += checkers(their_near, their_far, point) * (point + 0.001 * point * point)
        total -= checkers(near, far, point) * (point + 0.0013 * point * point)
    return min(max(total / 60.0, -3.0), 3.0)


class Race(KernelEvaluator):
    """An evaluator that states its bounds."""

    bounds = (-3.0, 3.0)


RACE = Race(BACKGAMMON, race_value)


def played(game: DiceGame, seed: int, count: int, turns: int = 80) -> Iterator[tuple[Any, int]]:
    """Unfinished positions of random games, each of another game, with a roll."""
    generator = random.Random(seed)
    for _ in range(count):
        position = game.start()
        for _ in range(generator.randrange(turns)):
            roll = generator.randrange(len(game.rolls))
            after = game.play(position, generator.choice(game.legal_moves(position, roll)))
            if game.outcome(after) is not None:
                break
            position = after
        yield position, generator.randrange(len(game.rolls))


def test_static_values_decide_at_depth_0() -> None:
    engine = Engine(BACKGAMMON, RACE)
    evaluate = RACE.plain()
    for position, roll in played(BACKGAMMON, 1, 30):
        moves = BACKGAMMON.legal_moves(position, roll)
        values = [
            -(BACKGAMMON.outcome(after) or evaluate(after))
            for after in (BACKGAMMON.play(position, move) for move in moves)
        ]
        result = engine.search(position, roll=roll, depth=0)
        assert result.value == max(values)
        assert result.move == moves[values.index(max(values))]
        assert (result.depth, result.pv) == (0, (result.move,))
        before = engine.search(position, depth=0)
        assert (before.move, before.value) == (None, evaluate(position))


@pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
def test_many_decisions_are_those_of_a_search_each() -> None:
    engine = Engine(BACKGAMMON, RACE)
    positions, rolls = zip(*played(BACKGAMMON, 2, 40), strict=True)
    for depth in (0, 1):
        moves, values = engine.best_moves(np.array(positions), rolls, depth=depth)
        results = [
            engine.search(position, roll=roll, depth=depth)
            for position, roll in zip(positions, rolls, strict=True)
        ]
        assert moves.tolist() == [result.move for result in results]
        assert values.tolist() == [result.value for result in results]
        averages = engine.values(positions, depth=depth)
        assert averages.tolist() == [engine.search(p, depth=depth).value for p in positions]


@plain
def test_one_ply_by_the_textbook() -> None:
    engine = Engine(BACKGAMMON, RACE)
    evaluate = RACE.plain()
    for position, roll in played(BACKGAMMON, 3, 1, turns=3):
        result = engine.search(position, roll=roll, depth=0)
        assert result.value == expectiminimax(BACKGAMMON, position, 0, evaluate, roll=roll)
        result = engine.search(position, depth=1)
        assert result.value == expectiminimax(BACKGAMMON, position, 1, evaluate)
