"""Learning from a search to the end: what it teaches is true; other games are refused."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import numpy as np
import pytest

from games import kernels
from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from games.tic_tac_toe import TicTacToe
from games.truth import Exhaustive
from learner.bootstrap.solved import HIGH, LOW, WON, Solved
from learner.self_play import SelfPlay, Task, rows_of
from play.judging.truth import Referees
from search import Engine

GAME = ConnectFour()


@pytest.mark.plain
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
def test_targets_are_the_classes_of_all_moves_of_the_first_positions() -> None:
    learner = Solved(GAME, games=2, tuples="lines", whole=0.0, seed=4)
    learner.prepare()
    opening = next(learner._openings())
    targets: list[Any] = []
    teacher = learner._teacher()

    def keep(played: Any, engine: Any) -> Any:
        targets.append((played, teacher(played, engine)))
        return targets[-1][1]

    inputs = learner.model_.inputs
    SelfPlay(Task(GAME, learner.evaluator_, inputs, 1, None, 200, True, keep))(opening)
    ((played, target),) = targets
    truth, expected = Solver(table_mib=8), {}
    for row in played.positions[len(opening) : len(opening) + 2]:
        position = tuple(map(int, row))
        for move in GAME.legal_moves(position):
            after = GAME.play(position, move)
            if GAME.outcome(after) is None:
                expected[after] = WON * truth.value(after, -1, 1)
    taught = [tuple(map(int, row)) for row in target.positions]
    assert dict(zip(taught, target.low, strict=True)) == expected
    assert len(taught) >= 6 and (target.low == target.high).all()


@pytest.mark.plain
def test_openings_end_where_positions_are_solved_in_a_moment() -> None:
    learner = Solved(GAME, games=1, tuples="lines", whole=0.0, seed=7)
    learner.prepare()
    openings = list(islice(learner._openings(), 60))
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
def test_sweeps_follow_the_evaluator_where_it_errs_not_and_all_perfect_replies() -> None:
    game, truth = Small(), Teaching(TicTacToe())
    learner = Solved(game, whole=1e-9, seed=2)
    learner.prepare()
    random = np.random.default_rng(3)
    learner.model_.evaluator.weights[:] = random.normal(size=len(learner.model_.evaluator.weights))
    learner.evaluator_ = learner.model_.evaluator
    engine = Engine(game, learner.evaluator_, table_mib=0.1)

    def best(position: Any) -> list[Any]:
        values = truth.values(position)
        return [move for move in values if values[move] == max(values.values())]

    def sound(position: Any, *, seen: set[Any]) -> float:
        """The chance that the evaluator errs nowhere, by the textbook."""
        if game.outcome(position) is not None:
            return 1.0
        seen.add(position)
        engine.clear()
        move = engine.search(position, depth=1).move
        after = [game.play(position, one) for one in best(position)]
        if move in best(position):
            after = [game.play(position, move)]
        chances = []
        for one in after:
            replies = best(one) if game.outcome(one) is None else []
            shares = [sound(game.play(one, reply), seen=seen) for reply in replies] or [1.0]
            chances.append(sum(shares) / len(shares))
        return sum(chances) / len(chances) if move in best(position) else 0.0

    seen: set[Any] = set()
    expected = sound(game.start(), seen=seen)
    assert learner._sweep(engine, depth=1) == pytest.approx(expected)
    kept = {one: kind for by_ply in learner._kept.values() for one, kind in by_ply.items()}
    assert seen <= {*learner._best}
    for position in seen:
        for move, kind in truth.classes(position).items():
            after = game.play(position, move)
            assert game.outcome(after) is not None or kept[after] == -kind
    for ply, by_ply in learner._kept.items():
        assert {sum(cells.bit_count() for cells in one[:2]) for one in by_ply} == {ply + 1}
    learner._kept, learner._best, learner.whole = {}, {}, 0.2
    learner._sweep(engine, depth=1)
    assert 0 < sum(map(len, learner._kept.values())) < len(kept) / 2


@pytest.mark.plain
def test_what_is_kept_is_taught_again_as_far_as_its_class() -> None:
    learner, taught = Solved(Small(), whole=1e-9, epochs=1, seed=2), []
    learner.prepare()
    learner._sweep(learner._engines()[0], depth=1)
    kinds: dict[bytes, set[int]] = {}
    for by_ply in learner._kept.values():
        for position, kind in by_ply.items():
            row = rows_of(learner.model_.inputs, np.array([position]))[0]
            kinds.setdefault(row.tobytes(), set()).add(kind)
    learner.model_.learn = lambda *given, **how: taught.append(given) or 0.0  # type: ignore
    rows = rows_of(learner.model_.inputs, np.array([Small().start()] * 300))
    learner._learn(rows, np.zeros(300), np.zeros(300), rate=1.0, random=np.random.default_rng(1))
    ((given, least, most),) = taught
    seen = set()
    for row, *bounds in zip(given[-300:], least[-300:], most[-300:], strict=True):
        (kind,) = (n for n in (-1, 0, 1) if tuple(bounds) == (LOW[1 + n], HIGH[1 + n]))
        assert kind in kinds[row.tobytes()] and bounds[0] < WON * kind < bounds[1]
        seen.add(kind)
    assert seen == {0, 1}  # against perfect play nobody wins


@pytest.mark.plain
def test_whole_games_are_the_same_when_learning_goes_on() -> None:
    options: dict[str, Any] = {"games_per_update": 5, "whole": 0.01, "seed": 6}
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
    from play.judging.truth import judge_by_truth, known_values, random_positions
    from play.players.limits import Limits
    from play.players.player import Player

    learner = Solved(GAME, games=300, tuples="lines", rate=1.0, scale=1.0, whole=0.0, seed=2).fit()
    positions = random_positions(GAME, 150, seed=9, least_plies=18, most_plies=31)
    known = known_values(GAME, "truth", positions)
    found = judge_by_truth(
        GAME, Player("solved", learner.evaluator_), known, limits=Limits(depth=1)
    )
    assert found.kept.value > 0.9  # chance moves keep a third
    assert np.isfinite(learner.errors_[-1])
