"""Learning from a search to the end: what it teaches is true; other games are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from games import kernels
from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from learner.bootstrap.solved import WON, Solved
from learner.self_play import Task, play_task

GAME = ConnectFour()


@pytest.mark.plain
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
def test_targets_are_the_classes_of_all_moves_of_the_first_positions() -> None:
    learner = Solved(GAME, games=2, tuples="lines", positions_per_game=3, seed=4)
    learner.prepare()
    opening = next(iter(learner._openings()))
    targets: list[Any] = []
    teacher = learner._teacher()

    def keep(played: Any, engine: Any) -> Any:
        targets.append((played, teacher(played, engine)))
        return targets[-1][1]

    keep.traces = False  # type: ignore[attr-defined]

    play_task(
        Task(GAME, learner.evaluator_, learner.model_.inputs, 1, None, 200, True, [opening], keep)
    )
    ((played, target),) = targets
    truth, expected = Solver(table_mib=8), {}
    for row in played.positions[len(opening) : len(opening) + 3]:
        position = tuple(map(int, row))
        for move in GAME.legal_moves(position):
            after = GAME.play(position, move)
            if GAME.outcome(after) is None:
                expected[after] = WON * truth.value(after, -1, 1)
    taught = [tuple(map(int, row)) for row in target.positions]
    assert dict(zip(taught, target.low, strict=True)) == expected
    assert len(taught) >= 9 and (target.low == target.high).all()


@pytest.mark.plain
def test_openings_end_where_positions_are_solved_in_a_moment() -> None:
    learner = Solved(GAME, games=1, tuples="lines", seed=7)
    learner.prepare()
    openings = [moves for moves, _ in zip(learner._openings(), range(60), strict=False)]
    assert {len(moves) for moves in openings} <= set(range(14, 31))
    assert len({len(moves) for moves in openings}) > 10
    for moves in openings:
        position = GAME.start()
        for move in moves:
            position = GAME.play(position, move)
        assert GAME.outcome(position) is None


@pytest.mark.plain
@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("checkers", {}, "expected one with a solver that teaches, such as connect_four, found"),
        ("tic_tac_toe", {}, "expected one with a solver that teaches"),
        (GAME, {"positions_per_game": 0}, "positions_per_game: expected at least 1, found 0"),
    ],
)
def test_what_cannot_be_learned_is_refused(game: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Solved(game, games=1, **options).prepare()


@pytest.mark.thorough
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
def test_a_few_games_teach_most_of_the_truth() -> None:
    from play.judging.judge import random_positions
    from play.judging.truth import judge_by_truth, known_values
    from play.players.limits import Limits
    from play.players.player import Player

    learner = Solved(GAME, games=300, tuples="lines", rate=1.0, scale=1.0, seed=2).fit()
    positions = random_positions(GAME, 300, seed=9, least_plies=18, most_plies=31)
    known = known_values(GAME, "truth", positions)
    found = judge_by_truth(
        GAME, Player("solved", learner.evaluator_), known, limits=Limits(depth=1)
    )
    assert found.kept.value > 0.9  # chance moves keep a third
    assert np.isfinite(learner.errors_[-1])
