"""Learning the values of all players of games for more than two."""

from __future__ import annotations

import numpy as np
import pytest

from games.chinese_checkers import ChineseCheckers
from games.connect_four import ConnectFour
from learner.online.samuel import Samuel
from learner.rounds.multiplayer import MultiplayerLearner


@pytest.mark.thorough
def test_learning_from_nothing_finds_that_few_steps_are_good_and_repeats_by_seed() -> None:
    game = ChineseCheckers(3)
    learners = [
        MultiplayerLearner(game, games=60, rounds=4, depth=1, most_plies=40, seed=2)
        for _ in range(2)
    ]
    for learner in learners:
        learner.fit()
    weights = learners[0].evaluator_.weights
    assert weights.any() and np.array_equal(weights, learners[1].evaluator_.weights)
    # a position near its end is better than the start, for the same evaluator
    late = game.late_position(3, np.random.default_rng(0))
    assert learners[0].evaluator_(late) > learners[0].evaluator_(game.start())


def test_late_positions_are_near_the_end_and_belong_to_the_game() -> None:
    game = ChineseCheckers(6)
    for seed in range(5):
        position = game.late_position(2, np.random.default_rng(seed))
        assert game.parse_position(game.position_text(position)) == position
        assert game.outcome(position) is None
        steps = game.features["race"].measure([position])[0][0]
        assert 0 < steps < 60


def test_games_for_two_have_learners_of_their_own() -> None:
    with pytest.raises(ValueError, match="more than two players for MultiplayerLearner, found co"):
        MultiplayerLearner(ConnectFour(), games=10).fit()
    with pytest.raises(ValueError, match="for two players for Samuel, found chinese_checkers for"):
        Samuel(ChineseCheckers(3), games=10).fit()
