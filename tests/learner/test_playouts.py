"""Rollouts against games played move by move, positions with known ends, and sums by hand."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from twin import PlainFace, random_positions

from games import kernels
from games.checkers import Checkers
from games.contract import Game
from games.record import GameRecord
from games.tic_tac_toe import TicTacToe
from learner.positions.filters import Filter, distinct
from learner.positions.shards import Rows
from learner.rounds.batch import BatchFit
from learner.rounds.network_fit import NetworkFit
from learner.rounds.playouts import GAMES_PER_TASK, TABLE_MIB, Rollout, slight_noise
from play.workers import Workers
from search import WIN, Engine, PythonEvaluator, as_evaluator
from search.evaluators.noise import NoisyEvaluator

plain = pytest.mark.plain
native_only = pytest.mark.skipif(not kernels.compiled, reason="slow without native code")
CHECKERS = Checkers()
BOARD = TicTacToe()
MATERIAL = as_evaluator(CHECKERS, "material")
POSITIONS = list(random_positions(CHECKERS, seed=4, count=12))


class Points(Game):
    """Each takes 1 to 3 from the sticks that are left; who takes the last one wins 5 points."""

    name = "points"

    def start(self) -> tuple[int, int]:
        return (6, 0)

    def to_move(self, position: Any) -> int:
        return int(position[1])

    def legal_moves(self, position: Any) -> list[int]:
        return list(range(1, min(3, position[0]) + 1))

    def play(self, position: Any, move: int) -> tuple[int, int]:
        return (position[0] - move, 1 - position[1])

    def outcome(self, position: Any) -> float | None:
        return None if position[0] else -5.0


def move_by_move(rollout: Rollout, position: Any, number: int) -> float:
    """One game of a rollout, as a record and a search for each move."""
    game = rollout.evaluator.game
    seed = rollout._seed(position, number)
    noisy = NoisyEvaluator(rollout.evaluator, amplitude=rollout.noise, seed=seed)
    engine = Engine(game, noisy, table_mib=TABLE_MIB)
    record = GameRecord(game, position)
    while not record.over and record.ply < rollout.most_plies:
        found = engine.search(record.position, depth=rollout.depth, history=record.history)
        if rollout.decide and found.plies_to_end is not None:
            mine = math.copysign(1.0, found.value)
            return mine if record.ply % 2 == 0 else -mine
        record.play(found.move)
    outcome = record.outcome() or 0.0  # for the side that begins the game, not this record
    return -outcome if game.to_move(position) else outcome


@native_only
@pytest.mark.parametrize("decide", [True, False])
def test_outcomes_are_those_of_games_played_move_by_move(decide: bool) -> None:
    rollout = Rollout(MATERIAL, games=3, depth=2, noise=0.3, most_plies=60, decide=decide, seed=2)
    expected = [[move_by_move(rollout, p, number) for number in range(3)] for p in POSITIONS]
    np.testing.assert_array_equal(rollout.outcomes(POSITIONS), expected)
    assert {CHECKERS.to_move(position) for position in POSITIONS} == {0, 1}
    assert len(np.unique(expected)) == 3


@plain
def test_a_game_that_is_over() -> None:
    lost = CHECKERS.parse_position("W:W32:B27,K23,18")
    while CHECKERS.outcome(lost) is None:
        lost = CHECKERS.play(lost, CHECKERS.legal_moves(lost)[0])
    assert CHECKERS.outcome(lost) == -1.0
    assert Rollout(MATERIAL, games=3, depth=1, noise=0.1).outcomes([lost]).tolist() == [[-1.0] * 3]


@native_only
def test_an_estimate_depends_on_its_position_and_the_seed() -> None:
    def outcomes(positions: Any, seed: int = 0, games: int = 24) -> Any:
        return Rollout(MATERIAL, games=games, depth=1, noise=0.3, seed=seed).outcomes(positions)

    whole = outcomes(POSITIONS)
    assert len(POSITIONS) * 24 > 2 * GAMES_PER_TASK  # in more tasks than one
    np.testing.assert_array_equal(outcomes(POSITIONS), whole)
    np.testing.assert_array_equal(outcomes(POSITIONS[::-1]), whole[::-1])
    np.testing.assert_array_equal(outcomes(POSITIONS[5]), whole[5:6])
    np.testing.assert_array_equal(outcomes(np.array(POSITIONS), games=7), whole[:, :7])
    assert (outcomes(POSITIONS, seed=1) != whole).any()


@native_only
@pytest.mark.parametrize(
    ("backend", "jobs"),
    [("threads", 1), ("threads", 3), pytest.param("loky", 2, marks=pytest.mark.whole_run)],
)
def test_whoever_plays_finds_the_same(backend: str, jobs: int) -> None:
    rollout = Rollout(MATERIAL, games=20, depth=1, noise=0.3, seed=9)
    with Workers(backend, jobs) as workers:
        found = rollout.outcomes(POSITIONS, workers=workers)
    np.testing.assert_array_equal(found, rollout.outcomes(POSITIONS))
    assert rollout.outcomes([], workers=None).shape == (0, 20)


@plain
def test_plain_games_play_the_same() -> None:
    game = PlainFace(BOARD)
    outcomes = [
        Rollout(as_evaluator(one, None), games=6, depth=2, noise=1.0, seed=3).outcomes(one.start())
        for one in (BOARD, game)
    ]
    np.testing.assert_array_equal(*outcomes)


@plain
def test_longest_rollout() -> None:
    game = CHECKERS.start()
    assert not Rollout(MATERIAL, games=2, depth=1, noise=0.1, most_plies=3).outcomes(game).any()


# --- labels ----------------------------------------------------------------------------------


@native_only
def test_labels_keep_the_rows_and_their_order() -> None:
    n = len(POSITIONS)
    rows = Rows.of(
        POSITIONS,
        value=np.linspace(-1.0, 1.0, n),
        result=np.resize([1, 0, -1, 2], n),
        ply=np.arange(n),
        game_number=np.arange(n) + 7,
    )
    rollout = Rollout(MATERIAL, games=8, depth=1, noise=0.3, seed=1)
    labelled = rollout.label(rows)
    assert labelled.result.dtype == np.float32
    expected = rollout.outcomes(POSITIONS).mean(axis=1).tolist()
    np.testing.assert_array_equal(labelled.result, np.array(expected, dtype=np.float32))
    assert len(set(expected)) > 3
    for part in ("positions", "value", "ply", "game_number", "count"):
        np.testing.assert_array_equal(getattr(labelled, part), getattr(rows, part))
    assert rows.result.tolist()[:4] == [1, 0, -1, 2]  # as they were
    back = rollout.label(rows.take(slice(None, None, -1)))
    np.testing.assert_array_equal(back.result, labelled.result[::-1])
    assert len(rollout.label(rows.take(slice(0)))) == 0


@plain
def test_labels_of_proven_positions_are_what_is_proven() -> None:
    lost, won, drawn = 3 - WIN, WIN - 9, 0.0
    rows = Rows.of([CHECKERS.start()] * 3, value=[lost, won, drawn], result=[0, 0, 1])
    options: dict[str, Any] = {"games": 2, "depth": 1, "noise": 0.1, "most_plies": 4}
    assert Rollout(MATERIAL, **options).label(rows).result.tolist() == [-1.0, 1.0, 0.0]
    undecided = Rollout(MATERIAL, decide=False, **options).label(rows)
    assert undecided.result.tolist() == [0.0, 0.0, 0.0]


@plain
def test_points_count_as_wins_in_labels() -> None:
    evaluator = PythonEvaluator(Points(), lambda position: 0.0)
    rollout = Rollout(evaluator, games=2, depth=6, noise=0.1, decide=False)
    positions = [(6, 0), (4, 0), (4, 1), (3, 1)]
    assert rollout.outcomes(positions).mean(axis=1).tolist() == [5.0, -5.0, -5.0, 5.0]
    assert rollout.label(Rows.of(positions)).result.tolist() == [1.0, -1.0, -1.0, 1.0]


# --- errors ----------------------------------------------------------------------------------


@plain
def test_an_evaluator_that_fails() -> None:
    def fails(position: Any) -> float:
        raise RuntimeError("broken")

    rollout = Rollout(PythonEvaluator(BOARD, fails), games=1, depth=1, noise=0.1)
    with pytest.raises(RuntimeError, match="broken"):
        rollout.outcomes(BOARD.start())
    with Workers(jobs=2) as workers, pytest.raises(RuntimeError, match="broken"):
        rollout.outcomes(BOARD.start(), workers=workers)


@plain
def test_noise_by_the_values_of_positions() -> None:
    assert slight_noise([3.0, -4.0, 0.0, 0.0]) == 2.5 / 16  # root of 25 / 4
    assert slight_noise(np.array([3.0, -4.0, 0.0, 0.0, WIN, 3 - WIN], np.float32)) == 2.5 / 16
    assert slight_noise([0.0, WIN]) == slight_noise([]) == 1.0


# --- learning from them ----------------------------------------------------------------------

LEARNERS = [BatchFit, partial(NetworkFit, hidden=(6,), epochs=2)]


def learner_of(kind: Any, **options: Any) -> Any:
    usual = {"games": 10, "depth": 2, "round_games": 5, "games_per_report": 5, "most_plies": 60}
    return kind(CHECKERS, **{**usual, "rollouts": 3, "rollout_positions": 25, **options})


@native_only
@pytest.mark.parametrize("kind", LEARNERS)
def test_learners_learn_from_rollouts(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    learned_from: list[Rows] = []
    learner = learner_of(kind)
    fit_to = type(learner)._fit_to

    def noted(self: Any, rows: Rows, number: int) -> Any:
        learned_from.append(rows)
        return fit_to(self, rows, number)

    monkeypatch.setattr(type(learner), "_fit_to", noted)
    learner.fit()
    assert [len(rows) for rows in learned_from] == [25, 25]
    assert [found["positions"] for found in learner.rounds_] == [25.0, 25.0]
    # by hand: in the first round it is the evaluator to begin with that plays
    rows = learned_from[0]
    stored = learner.store_.load(keep=Filter(quiet=True))
    all_of_them = distinct(CHECKERS, stored.take(stored.game_number <= 4))
    assert {*map(tuple, rows.positions.tolist())} < {*map(tuple, all_of_them.positions.tolist())}
    begun = learner_of(kind)
    begun.prepare()
    rollout = Rollout(
        begun.evaluator_, games=3, depth=2, noise=slight_noise(all_of_them.value), most_plies=60
    )
    np.testing.assert_array_equal(rows.result, rollout.label(rows).result)
    assert len(set(rows.result.tolist())) > 2


test_errors = errors_of(globals())
