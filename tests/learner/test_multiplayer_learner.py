"""Learning the values of all players of games for more than two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import train
from docs.examples.li_nim import LiNim
from games.chinese_checkers import ChineseCheckers
from learner.arena import FIRST, Strength, measure
from learner.multiplayer_play import LateStarts, MultiplayerSelfPlay, late_starts
from learner.rounds.batch import BatchFit
from learner.rounds.samuel import Samuel
from play.players.limits import Limits
from search import Engine, as_evaluator

GAME = ChineseCheckers(3)


@pytest.mark.thorough
def test_learning_from_nothing_finds_that_few_steps_are_good() -> None:
    learner = BatchFit(
        GAME, games=60, round_games=15, depth=1, most_plies=40, blend=1.0, alpha=1e-3, seed=2
    ).fit()
    # a position near its end is better than the start
    late = LateStarts.of(GAME).position(GAME, 3, np.random.default_rng(0))
    assert learner.evaluator_(late) > learner.evaluator_(GAME.start())


@pytest.mark.thorough
def test_strength_is_the_share_of_first_places_against_the_opponent_in_all_other_seats() -> None:
    strength = measure(GAME, "hand", "random", games=3, limits=Limits(depth=1), seed=1)
    assert (strength.wins, strength.unit) == (3, FIRST)
    assert strength.text().startswith("against   random: first in 100.0 %")
    assert Strength.of(strength.as_dict()) == strength


def test_a_game_is_learned_from_as_each_player_sees_it() -> None:
    game = LiNim((1, 1), 3)
    engine = Engine(game, as_evaluator(game, lambda position: 0.0))
    loop = MultiplayerSelfPlay(game, engine, depth=1, nodes=None, most_plies=10)
    played = loop.play((0, 0, 0))
    rows = played.rows(7)
    # two moves: the second player is first; six views, those of the side to move first
    assert rows.result.tolist() == [-1, 1, -1, 1, -1, -1]
    assert rows.ply.tolist() == [0, 0, 0, 1, 1, 1] and set(rows.game_number.tolist()) == {7}
    first = game.start()
    views = [first, game.turn(first), game.turn(game.turn(first))]
    assert [tuple(row) for row in rows.positions[:3].tolist()] == views
    assert played.record().outcomes() == played.results
    loop.most_plies = 1
    unfinished = loop.play((0, 0, 0))
    assert len(unfinished.rows(7)) == 0 and unfinished.record().reason == "most plies"


def test_rounds_begin_ever_farther_from_the_end() -> None:
    starts = late_starts(3, 2)
    found = [next(starts) for _ in range(20)]
    assert found[:5] == [(3, 0, 8), (3, 1, 8), (3, 2, 16), (3, 3, 16), (3, 4, 32)]
    assert [start[2] for start in found[14:]] == [1024, 1024, 0, 0, 0, 0]


def test_late_positions_are_near_the_end_and_belong_to_the_game() -> None:
    game = ChineseCheckers(6)
    for seed in range(5):
        position = LateStarts.of(game).position(game, 2, np.random.default_rng(seed))
        assert game.parse_position(game.position_text(position)) == position
        assert game.outcome(position) is None
        steps = game.features["race"].measure([position])[0][0]
        assert 0 < steps < 60


def test_other_learners_are_refused(capsys: Any) -> None:
    with pytest.raises(ValueError, match="game of Samuel: expected a game for two players, found"):
        Samuel(GAME, games=10).fit()
    with pytest.raises(ValueError, match="blend: expected 1 for more than two players, found 0.5"):
        BatchFit(GAME, games=10).fit()
    assert train.main(["chinese_checkers6", "--learner", "samuel"]) == 2
    error = capsys.readouterr().err
    assert "--learner: expected one of batch, network for chinese_checkers6" in error
