"""Learning from a search to the end: what it teaches is true; other games are refused."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

from games import kernels
from games.connect_four import ConnectFour
from games.connect_four.solver import Solver
from games.tic_tac_toe import TicTacToe
from games.truth import Exhaustive
from learner.gradient import solved
from learner.gradient.solved import HIGH, LOW, Solved
from learner.self_play import SelfPlay, Task, rows_of
from play.judging.truth import Referees
from search import Engine

GAME = ConnectFour()


@pytest.mark.plain
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
def test_targets_are_the_classes_of_all_moves_of_the_first_positions() -> None:
    learner = Solved(GAME, games=2, tuples="lines", seed=4)
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
                expected[after] = 1 + truth.value(after, -1, 1)
    taught = [tuple(map(int, row)) for row in target.positions]
    bounds = zip(target.low, target.high, strict=True)
    assert dict(zip(taught, bounds, strict=True)) == {
        after: (LOW[kind], HIGH[kind]) for after, kind in expected.items()
    }
    assert len(taught) >= 6


@pytest.mark.plain
def test_openings_end_where_positions_are_solved_in_a_moment() -> None:
    learner = Solved(GAME, games=1, tuples="lines", seed=7)
    learner.prepare()
    openings = list(islice(learner._openings(), 60))
    assert {len(moves) for moves in openings} <= set(range(14, 31))
    assert len({len(moves) for moves in openings}) > 10
    for moves in openings:
        position = GAME.start()
        for move in moves:
            position = GAME.play(position, move)
        assert GAME.outcome(position) is None


class Watched(Exhaustive):
    """The truth of a small game, which notes the positions whose moves it was asked for."""

    asked: ClassVar[list[Any]] = []

    def classes(self, position: Any) -> dict[Any, int]:
        self.asked.append(position)
        return super().classes(position)


class Small(TicTacToe):
    extras = (Referees({"truth": Watched}),)


def small_learner(**options: Any) -> Solved:
    learner = Solved(Small(), **{"whole": 30, "seed": 2} | options)
    learner.prepare()
    weights = learner.model_.evaluator.weights
    weights[:] = np.random.default_rng(3).normal(size=len(weights))
    return learner


def taught_rows(learner: Solved, seed: int) -> list[tuple[list[Any], dict[Any, int]]]:
    """Returns the positions that whole games came to, and what they taught, by game."""
    engine = Engine(learner.game_, learner.model_.evaluator, table_mib=0.1)
    random, games = np.random.default_rng(seed), []
    for _ in range(150):
        Watched.asked.clear()
        rows = [*learner._whole_game(engine, random)]
        games.append(([*Watched.asked], {row[:-1]: row[-1] for row in rows}))
    return games


@pytest.mark.plain
def test_whole_games_teach_all_moves_of_both_sides_after_errors_as_well() -> None:
    game, truth, learner = Small(), Exhaustive(TicTacToe()), small_learner()
    errors = {0: 0, 1: 0}
    for positions, taught in taught_rows(learner, 5):
        expected = {}
        for ply, position in enumerate(positions):
            values = truth.classes(position)
            for move, kind in values.items():
                after = game.play(position, move)
                if game.outcome(after) is None:
                    expected[after] = -kind
                if positions[ply + 1 : ply + 2] == [after]:
                    errors[ply % 2] += kind < max(values.values())
        assert positions[0] == game.start() and taught == expected
    assert min(errors.values()) > 20  # and the game went on


@pytest.mark.plain
def test_without_random_moves_whole_games_keep_their_class_mostly_by_the_learners_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solved, "RANDOM", 0)
    monkeypatch.setattr(solved, "ERRS", 0.0)
    game, truth, learner = Small(), Exhaustive(TicTacToe()), small_learner()
    engine = Engine(game, learner.model_.evaluator, table_mib=0.1)
    own = []
    for positions, _ in taught_rows(learner, 6):
        for position, after in pairwise(positions):
            best = [game.play(position, move) for move in truth.best(position)]
            assert after in best
            engine.clear()
            chosen = game.play(position, engine.search(position, depth=1).move)
            if chosen in best and len(best) > 1:
                own.append((after == chosen) - 1 / len(best))
    assert 0.2 < np.mean(own) < 0.6  # half of the turns, and by chance at the others


@pytest.mark.plain
def test_what_is_kept_is_true_and_taught_once_in_each_update() -> None:
    learner, taught, truth = small_learner(epochs=3), [], Exhaustive(TicTacToe())
    learner.model_.learn = lambda *given, **how: taught.append(given) or 0.0  # type: ignore
    rows = rows_of(learner.model_.inputs, np.array([Small().start()] * 5))
    learner._learn(rows, np.zeros(5), np.zeros(5), rate=1.0, random=np.random.default_rng(1))
    kept = learner._kept
    for *position, kind in kept.tolist():
        assert np.sign(truth._value(tuple(position))) == kind
    assert len({tuple(row) for row in kept.tolist()}) == len(kept) > 500
    played = min(len(given[0]) for given in taught) - 5 - len(kept) // 3
    assert played > 200  # all moves of 30 games
    again = np.concatenate([given[0][5 + played :] for given in taught])
    assert sorted(again.tolist()) == sorted(
        rows_of(learner.model_.inputs, kept[:, :-1].copy()).tolist()
    )
    kinds: dict[bytes, set[int]] = {}
    for row, kind in zip(rows_of(learner.model_.inputs, kept[:, :-1].copy()), kept, strict=True):
        kinds.setdefault(row.tobytes(), set()).add(int(kind[-1]))
    for given in taught:
        for row, *bounds in zip(*(part[5:] for part in given), strict=True):
            (kind,) = (n for n in (-1, 0, 1) if tuple(bounds) == (LOW[1 + n], HIGH[1 + n]))
            assert kind in kinds[row.tobytes()]


@pytest.mark.plain
def test_what_cannot_be_learned_is_refused() -> None:
    with pytest.raises(
        ValueError, match="game: expected a solved game, such as connect_four, found"
    ):
        Solved("checkers", games=1).prepare()


@pytest.mark.thorough
@pytest.mark.skipif(not kernels.compiled, reason="takes minutes uncompiled")
def test_a_few_games_teach_most_of_the_truth() -> None:
    from play.judging.truth import judge_by_truth, known_values, random_positions
    from play.players.limits import Limits
    from play.players.player import Player

    learner = Solved(GAME, games=300, tuples="lines", rate=1.0, scale=1.0, seed=2).fit()
    positions = random_positions(GAME, 150, seed=9, least_plies=18, most_plies=31)
    known = known_values(GAME, "truth", positions)
    found = judge_by_truth(
        GAME, Player("solved", learner.evaluator_), known, limits=Limits(depth=1)
    )
    assert found.kept.value > 0.9  # chance moves keep a third
    assert np.isfinite(learner.errors_[-1])
