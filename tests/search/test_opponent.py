"""The textbook's search against an opponent who errs."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from games.contract import Game
from games.nim import Nim
from games.tree import Tree
from search.textbook.minimax import against, minimax
from search.textbook.opponent import Opponent

pytestmark = pytest.mark.plain


class Values(Game):
    """A game of three moves a ply without an end, with pseudorandom values for both sides."""

    wins = False

    def start(self) -> Any:
        return ()

    def to_move(self, position: Any) -> int:
        return len(position) % 2

    def legal_moves(self, position: Any) -> list[int]:
        return [0, 1, 2]

    def play(self, position: Any, move: int) -> Any:
        return (*position, move)

    def outcome(self, position: Any) -> float | None:
        return None


@pytest.mark.parametrize("seed", range(12))
def test_an_opponent_without_errors_is_minimax(seed: int) -> None:
    def value(position: Any) -> float:  # in halves, so that there are ties
        return random.Random(f"{seed} {position}").randint(-6, 6) / 2

    game = Values()
    for depth in range(1, 6):
        assert against(game, (), Opponent(), depth, value) == minimax(game, (), depth, value)


def test_which_way_against_a_random_mover() -> None:
    game = Nim((2, 2))
    random_mover = Opponent(temperature=math.inf)
    after = [game.play(game.start(), move) for move in game.legal_moves(game.start())]
    values = {one[:2]: -against(game, one, random_mover, ply=1) for one in after}
    assert values == pytest.approx({(1, 2): 1 / 3, (2, 1): 1 / 3, (0, 2): 0, (2, 0): 0})
    assert against(game, game.start(), random_mover) == pytest.approx(1 / 3)


def test_the_opponent_falls_into_the_trap_that_he_does_not_see() -> None:
    # He prefers the first reply by his own values, and it is the worse one.
    tree = Tree([[9, -1], [2, 2]])
    theirs = {(0, 0): 5.0, (0, 1): 1.0, (1, 0): 0.0, (1, 1): 0.0}

    class Open(Tree):
        """The tree, whose leaves are valued by evaluators."""

        def outcome(self, position: Any) -> float | None:
            return None if len(position) == 2 else super().outcome(position)

    game = Open(tree.root)
    own = {(0, 0): 9.0, (0, 1): -1.0, (1, 0): 2.0, (1, 1): 2.0}

    def values(opponent: Opponent) -> list[float]:
        return [-against(game, (move,), opponent, 1, own.__getitem__, ply=1) for move in (0, 1)]

    assert values(Opponent()) == [-1, 2]
    opponent = Opponent(lambda position: -theirs[position])
    assert values(opponent) == [9, 2]
    chance = 1 / (1 + math.exp(-(5 - 1) / 4.0))
    warm = Opponent(opponent.evaluator, 4.0)
    assert values(warm) == pytest.approx([9 * chance - (1 - chance), 2])


def test_a_temperature_or_a_depth_out_of_range_is_refused() -> None:
    for temperature in (-1.0, math.nan):
        with pytest.raises(ValueError, match="temperature: expected at least 0, found"):
            Opponent(temperature=temperature)
    with pytest.raises(ValueError, match="depth: expected at least 1 ply, found 0"):
        Opponent(depth=0)
