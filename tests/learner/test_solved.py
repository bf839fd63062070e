"""Learning from a search to the end: what it teaches is true; other games are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from games import kernels
from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from games.tic_tac_toe import TicTacToe
from games.truth import Exhaustive
from learner.bootstrap.solved import WON, Solved
from learner.self_play import SelfPlay, Task
from play.judging.truth import Referees
from search import Engine

GAME = ConnectFour()


@pytest.mark.plain
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
def test_targets_are_the_classes_of_all_moves_of_the_first_positions() -> None:
    learner = Solved(GAME, games=2, tuples="lines", positions_per_game=3, whole=0.0, seed=4)
    learner.prepare()
    opening = learner._opening(0, Engine(GAME, learner.evaluator_))
    targets: list[Any] = []
    teacher = learner._teacher()

    def keep(played: Any, engine: Any) -> Any:
        targets.append((played, teacher(played, engine)))
        return targets[-1][1]

    keep.traces = False  # type: ignore[attr-defined]

    inputs = learner.model_.inputs
    SelfPlay(Task(GAME, learner.evaluator_, inputs, 1, None, 200, True, keep))(opening)
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
    learner = Solved(GAME, games=1, tuples="lines", whole=0.0, seed=7)
    learner.prepare()
    engine = Engine(GAME, learner.evaluator_)
    openings = [learner._opening(number, engine) for number in range(60)]
    assert {len(moves) for moves in openings} <= set(range(14, 31))
    assert len({len(moves) for moves in openings}) > 10
    for moves in openings:
        position = GAME.start()
        for move in moves:
            position = GAME.play(position, move)
        assert GAME.outcome(position) is None


class Teaching(Exhaustive):
    """The truth of a small game, as it is asked by a learner."""

    def classes(self, position: Any) -> dict[Any, int]:
        return {move: int(np.sign(value)) for move, value in self.values(position).items()}


class Small(TicTacToe):
    extras = (Referees({"truth": Teaching}),)


@pytest.mark.plain
def test_whole_games_follow_the_evaluator_where_it_errs_not_and_perfect_replies() -> None:
    game, truth = Small(), Teaching(TicTacToe())
    learner = Solved(game, whole=1.0, seed=2)
    learner.prepare()
    engine = Engine(game, learner.evaluator_, table_mib=0.1)
    erred = set()
    lines = [learner._opening(number, engine) for number in range(200)]
    for line in lines:
        position = game.start()
        for ply, move in enumerate(line):
            assert game.outcome(position) is None
            if position not in learner._best:
                break  # from here on moves are foreseen
            classes = truth.classes(position)
            keeping = {one for one, kind in classes.items() if kind == max(classes.values())}
            assert set(learner._best[position]) == keeping
            engine.clear()
            wanted = engine.search(position, depth=1).move
            if ply % 2 == 0 and wanted not in keeping:
                erred.add((position, move in keeping))
            position = game.play(position, move)
        assert game.outcome(position) is None
    assert {keeps for _, keeps in erred} == {True}
    for ply, kept in learner._kept.items():
        assert ply % 2 == 0 and kept
        for position, kind in kept.items():
            assert kind == max(truth.classes(position).values())
            assert sum(cells.bit_count() for cells in position[:2]) == ply + 1


@pytest.mark.plain
def test_whole_games_are_the_same_when_learning_goes_on() -> None:
    options: dict[str, Any] = {"games_per_update": 5, "whole": 0.8, "seed": 6}
    states: list[Any] = []
    once = Solved(Small(), games=20, **options)
    once.fit(watch=lambda _: states.append(json.loads(json.dumps(once.checkpoint()))))
    other = Solved(Small(), games=20, **options).fit(resume=states[1])
    assert states[1]["games_played"] == 10
    assert (once.evaluator_.weights == other.evaluator_.weights).all()


@pytest.mark.plain
@pytest.mark.parametrize("game", ["checkers", "tic_tac_toe"])
def test_what_cannot_be_learned_is_refused(game: str) -> None:
    with pytest.raises(ValueError, match="one with a solver that teaches, such as connect_four, f"):
        Solved(game, games=1).prepare()


@pytest.mark.thorough
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
def test_a_few_games_teach_most_of_the_truth() -> None:
    from play.judging.judge import random_positions
    from play.judging.truth import judge_by_truth, known_values
    from play.players.limits import Limits
    from play.players.player import Player

    learner = Solved(GAME, games=300, tuples="lines", rate=1.0, scale=1.0, whole=0.0, seed=2).fit()
    positions = random_positions(GAME, 300, seed=9, least_plies=18, most_plies=31)
    known = known_values(GAME, "truth", positions)
    found = judge_by_truth(
        GAME, Player("solved", learner.evaluator_), known, limits=Limits(depth=1)
    )
    assert found.kept.value > 0.9  # chance moves keep a third
    assert np.isfinite(learner.errors_[-1])
