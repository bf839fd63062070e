"""Learners of weights in games with dice: the same frames as without dice, and low variance."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain

from games.backgammon import Backgammon
from games.contract import DiceGame
from games.features import FeatureSet
from games.kernels import kernel
from games.rolls import Rolls
from learner.dice_play import DiceSelfPlay, game_seeds
from learner.gradient.root_strap import RootStrap
from learner.gradient.temporal_difference import TemporalDifference
from learner.models.model import squash
from learner.run.request import parser, settings_of
from learner.self_play import SelfPlay, Task, game_rows, lambda_returns
from play.dice import Dice
from search import Engine, LinearEvaluator, as_evaluator


@kernel
def ahead(position: Any) -> Any:
    return position[1] - position[0]


@kernel
def odd(position: Any) -> Any:
    return position[0] & 1


class Track(DiceGame):
    """A race over 12 fields: a side goes as far as its roll of 1, 2 or 3, or one field.

    The first roll is a 3. A loser that is not halfway home loses two points.
    """

    name = "track"
    wins = False
    dice = Rolls((0.25, 0.5, 0.25), (0.0, 0.0, 1.0))
    #: Fields left to go for the side to move, and for the other side.
    features = {"track": FeatureSet("track", {"ahead": ahead, "odd": odd})}

    def start(self) -> Any:
        return 12, 12

    def legal_moves(self, position: Any, roll: int | None = None) -> list[int]:
        assert roll is not None
        if self.outcome(position) is not None:
            return []
        return [1, roll + 1] if roll else [1]

    def play(self, position: Any, move: int) -> Any:
        mine, theirs = position
        return theirs, max(0, mine - move)

    def outcome(self, position: Any) -> float | None:
        mine, theirs = position
        return (-2.0 if mine > 6 else -1.0) if theirs == 0 else None


BACKGAMMON, TRACK = Backgammon(), Track()


@functools.cache
def hand() -> LinearEvaluator:
    found = as_evaluator(BACKGAMMON, "hand")
    assert isinstance(found, LinearEvaluator)
    return found


def evaluator_of(game: DiceGame) -> LinearEvaluator:
    return (
        hand() if game is BACKGAMMON else LinearEvaluator(game, game.features["track"], [0.2, 0.1])
    )


def exact(game: DiceGame, evaluator: Any, position: Any, depth: int) -> float:
    """Returns the value before the roll by textbook expectiminimax."""
    outcome = game.outcome(position)
    if outcome is not None:
        return outcome
    if depth == 0:
        return float(evaluator.plain()(position))
    return sum(
        chance
        * max(
            -exact(game, evaluator, game.play(position, move), depth - 1)
            for move in game.legal_moves(position, roll)
        )
        for roll, chance in enumerate(game.rolls)
        if chance
    )


def self_play(game: DiceGame, **options: Any) -> DiceSelfPlay:
    engine = Engine(game, evaluator_of(game), table_mib=1.0)
    usual: dict[str, Any] = {"depth": 0, "most_plies": 400, "backups": True}
    return DiceSelfPlay(game, engine, **{**usual, **options})


# --- games ------------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("depth", [0, 1])
def test_a_game_is_that_of_the_best_moves_for_the_rolls_drawn(depth: int) -> None:
    loop = self_play(TRACK, depth=depth)
    rolled = set()
    for seeds in [(0, 0), (0, 1), (3, 7)]:
        played = loop.play(seeds)
        dice = Dice(TRACK, seeds[0])
        position = TRACK.start()
        for ply, (move, roll) in enumerate(zip(played.moves, played.rolls, strict=True)):
            assert roll == dice.roll(dice.stream(seeds[1]), ply)
            values = {
                move: -exact(TRACK, evaluator_of(TRACK), TRACK.play(position, move), depth)
                for move in TRACK.legal_moves(position, roll)
            }
            assert values[move] == pytest.approx(max(values.values()))
            assert played.values[ply] == pytest.approx(
                exact(TRACK, evaluator_of(TRACK), position, depth + 1)
            )
            position = TRACK.play(position, move)
        assert played.positions[-1] == position
        final = TRACK.outcome(position)
        assert final is not None
        assert played.outcome == (-final if len(played.moves) % 2 else final)
        assert played.outcomes()[-1] == final
        assert played.rolls[0] == 2  # a sole roll begins
        record = played.record()
        assert (record.outcome(), record.rolls) == (played.outcome, played.rolls)
        rolled.add(tuple(played.rolls))
    assert len(rolled) == 3


@compiled_only
def test_native_games_are_those_of_the_slow_loop() -> None:
    native, slow = self_play(BACKGAMMON), self_play(BACKGAMMON)
    assert native.native
    slow.native = False
    for seeds in [(0, 0), (5, 1)]:
        one, other = native.play(seeds), slow.play(seeds)
        assert one.moves == other.moves and one.rolls == other.rolls
        assert one.positions.tolist() == other.positions.tolist()
        assert one.values.tolist() == other.values.tolist()
        assert (one.outcome, one.reason) == (other.outcome, "end of the game")
        assert one.record().outcome() == one.outcome


@compiled_only
def test_a_game_that_is_too_long_is_worth_nothing() -> None:
    played = self_play(BACKGAMMON, most_plies=7).play((0, 0))
    assert (len(played.moves), played.outcome, played.reason) == (7, 0.0, "most plies")
    assert played.record().reason == "most plies"


def test_seeds_of_games() -> None:
    seeds = game_seeds(5)
    assert [next(seeds) for _ in range(3)] == [(5, 0), (5, 1), (5, 2)]


# --- targets ----------------------------------------------------------------------------------


def lesson(learner: Any) -> Any:
    """Returns a learner's targets from the first game."""
    learner.prepare(evaluator_of(learner.game))
    task = Task(
        learner.game_, learner.evaluator_, learner.model_.inputs, 0, None, 400, True,
        learner._teacher(), backups=learner.backups,
    )  # fmt: skip
    return SelfPlay(task)((0, 0))


@plain
def test_temporal_differences_have_lambda_returns_of_points_as_targets() -> None:
    learner = TemporalDifference(TRACK, depth=0, inputs="track", lambda_=0.6, scale=2.0)
    found = lesson(learner)
    played, value = found.played, evaluator_of(TRACK).plain()
    plies = len(played.moves)
    assert np.isnan(played.values).all()  # nothing was searched for
    statics = [float(np.tanh(value(p) / 2.0)) for p in played.positions[:plies]]
    expected = []
    for ply in range(plies):
        # the following values and the outcome, as the side to move at this ply sees them
        sign = -1.0 if ply % 2 else 1.0
        later = [(-1.0) ** (k - ply) * statics[k] for k in range(ply + 1, plies)]
        later.append(float(np.tanh(sign * played.outcome / 2.0)))
        shares = [0.4 * 0.6**k for k in range(len(later) - 1)]
        expected.append(float(np.dot(shares, later[:-1]) + 0.6 ** (len(later) - 1) * later[-1]))
    assert found.low == pytest.approx(np.array(expected))
    assert found.high.tolist() == found.low.tolist()
    assert lambda_returns(np.array([0.5]), 1.0, 0.6).tolist() == [1.0]


@plain
def test_rootstrap_follows_exact_values() -> None:
    found = lesson(RootStrap(TRACK, depth=0, inputs="track", scale=2.0))
    expected = [exact(TRACK, evaluator_of(TRACK), p, 1) for p in found.played.positions[:-1]]
    assert found.low == pytest.approx(squash(np.array(expected), 2.0))
    assert found.rows.tolist() == [
        [float(theirs - mine), mine & 1] for mine, theirs in found.played.positions[:-1]
    ]


@plain
def test_stored_rows_hold_exact_values_and_who_won() -> None:
    played = self_play(TRACK).play((0, 2))
    rows = game_rows(played, 9)
    expected = [exact(TRACK, evaluator_of(TRACK), p, 1) for p in played.positions[:-1]]
    assert rows.value == pytest.approx(np.array(expected), rel=1e-6)
    signs = [1 if (played.outcome > 0) == (ply % 2 == 0) else -1 for ply in range(len(rows))]
    assert rows.result.tolist() == signs


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["td", "rootstrap", "batch"])
def test_train_has_a_recipe(name: str) -> None:
    arguments = ["backgammon", "--learner", name]
    settings = settings_of(parser().parse_args(arguments))
    assert settings.depth == 0
    options = settings.options
    assert options.get("features", options.get("inputs")) == "linear"


test_errors = errors_of(globals())
