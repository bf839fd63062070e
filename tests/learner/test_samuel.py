"""Samuel's terms with weights fitted together: what a term is worth, targets, and the exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only

from games.checkers import Checkers
from learner.extras.checkers import RECIPES
from learner.positions.shards import Rows
from learner.rounds.samuel import Samuel, removals
from learner.self_play import Lesson
from play.matches.driver import play_match
from play.players.limits import Limits
from play.players.player import Player
from search import LinearEvaluator, as_evaluator

CHECKERS = Checkers()
NAMES = [name for name in CHECKERS.features["samuel"].names if name != "PIECES"]


def prepared(start: Any = None, **options: Any) -> Samuel:
    learner = Samuel(CHECKERS, **options)
    learner.prepare(start)
    return learner


@pytest.mark.plain
def test_the_term_that_leaves_is_the_one_whose_removal_costs_a_fit_least() -> None:
    random = np.random.default_rng(3)
    terms = random.normal(size=(200, 6))
    terms[:, 1] += terms[:, 0]  # the two say nearly the same
    terms[:, 4] = 0.0  # and this one nothing
    terms[:, 5] = terms[:, 2] - terms[:, 3]
    counts = random.integers(1, 4, 200).astype(float)
    targets = terms @ [1.0, 0.5, -0.3, 0.02, 0.0, 0.1] + random.normal(size=200)
    root = np.sqrt(counts)

    def fitted(chosen: list[int]) -> tuple[np.ndarray[Any, Any], float]:
        weights = np.zeros(6)
        found = np.linalg.lstsq(terms[:, chosen] * root[:, None], targets * root, rcond=None)
        weights[chosen] = found[0]
        return weights, float(counts @ np.square(targets - terms @ weights)) / 2.0

    staying = list(range(6))
    order = removals(terms, counts, fitted(staying)[0])
    assert sorted(order) == staying
    for leaves in order:
        losses = {i: fitted([j for j in staying if j != i])[1] for i in staying}
        assert losses[leaves] == pytest.approx(min(losses.values()), rel=1e-6)
        staying.remove(leaves)


@compiled_only
def test_targets_average_the_values_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.5, -1.0, 0.0, 2.0]  # each for the side to move
    rows = Rows.of(np.zeros((4, 4), dtype=np.int64), value=values)
    monkeypatch.setattr("learner.rounds.frame.lesson_rows", lambda lesson, number: rows)
    lesson: Any = Lesson.__new__(Lesson)
    assert prepared(lambda_=0.0).rows_of_game(lesson, 0).value.tolist() == values
    learner = prepared(lambda_=0.6, K=2.0)
    squashed = np.tanh(values)
    expected = squashed[3]
    for t in (3, 2, 1, 0):
        mine = squashed[t]
        expected = mine if t == 3 else 0.4 * mine + 0.6 * -expected
        value = learner.rows_of_game(lesson, 0).value[t]
        assert value == pytest.approx(np.arctanh(expected), rel=1e-5)
    # a game won is worth no more than the largest target
    rows.value[:] = [1e9, -1e9, 1e9, -1e9]
    assert learner.rows_of_game(lesson, 0).value == pytest.approx([7.254, -7.254] * 2, abs=1e-2)


@compiled_only
def test_terms_come_and_go() -> None:
    learner = Samuel(CHECKERS, games=40, depth=2, round_games=10, games_per_report=10, seed=4)
    active, rounds = list(NAMES[:16]), []

    def watch(progress: Any) -> None:
        rounds.append(learner.rounds_[-1])
        come, go = (str(rounds[-1][key]).split() for key in ("in", "out"))
        assert len(come) == len(go) and not set(come) & set(active)
        assert set(learner.active_) == {*active, *come} - set(go)
        active[:] = learner.active_
        assert progress.summary().endswith(f"in {' '.join(come)}, out {' '.join(go)}")
        weights = learner.evaluator_.term_weights()
        assert sorted(learner.active_ + learner.reserve_) == sorted(NAMES)
        assert {name for name, weight in weights.items() if weight} <= {"PIECES", *active}
        assert weights["PIECES"] == 0.25

    learner.fit(watch=watch)
    come = {name for entry in rounds[1:] for name in entry["in"].split()}
    assert come & {name for entry in rounds for name in entry["out"].split()}  # some return


def even_positions() -> np.ndarray[Any, Any]:
    """Positions of random games in which the pieces are even."""
    random, positions = np.random.default_rng(0), []
    for _ in range(60):
        position = CHECKERS.start()
        while moves := CHECKERS.legal_moves(position):
            position = CHECKERS.play(position, moves[int(random.integers(len(moves)))])
            positions.append(position)
    rows = np.array(positions)
    pieces = LinearEvaluator(CHECKERS, CHECKERS.features["samuel"], {"PIECES": 1.0})
    return rows[np.asarray(pieces.values(rows)) == 0]


@compiled_only
def test_every_round_tries_every_term() -> None:
    """In each round another term alone says what positions are worth, and all come twice."""
    features = CHECKERS.features["samuel"]
    positions, learner = even_positions(), prepared(active=8)
    measured = features.measure(positions)
    silent = {name for name in NAMES if not measured[:, features.names.index(name)].any()}
    assert silent == {"CORN", "MOVE"}  # with even pieces they say the same of both sides
    for name in NAMES * 2:
        values = 0.1 * measured[:, features.names.index(name)]
        learner.fit_rows(Rows.of(positions, value=values))
        assert len(learner.active_) == 8
        learned = np.asarray(learner.evaluator_.values(positions))
        assert learned == pytest.approx(values, abs=0.01), name
    usual = RECIPES["samuel"]
    assert usual["games"] >= 2 * Samuel(CHECKERS).round_games


@compiled_only
def test_without_a_reserve_it_is_the_batch_fit() -> None:
    learner = Samuel(CHECKERS, games=6, depth=1, round_games=3, inputs="classic").fit()
    assert learner.reserve_ == [] and "in" not in learner.rounds_[-1]
    assert np.count_nonzero(learner.evaluator_.weights) > 8


@pytest.mark.plain
def test_a_start_keeps_its_largest_weights() -> None:
    given = {name: 1.0 + i for i, name in enumerate(NAMES)}
    start = LinearEvaluator(CHECKERS, CHECKERS.features["samuel"], {"PIECES": 4.0, **given})
    learner = prepared(start, active=5)
    assert learner.active_ == NAMES[:-6:-1]
    weights = learner.evaluator_.term_weights()
    assert {name for name in weights if weights[name]} == {"PIECES", *NAMES[-5:]}
    assert weights[NAMES[-1]] == pytest.approx(0.25 / 4.0 * given[NAMES[-1]])


@compiled_only
def test_positions_that_the_fixed_terms_decide_teach_the_others_nothing() -> None:
    even = ["W:W21,22,26:B1,2,7", "B:W30,K15:BK3,12", "W:W17,29:B4,9", "W:W31,K10:BK24,5"]
    uneven = ["W:W21,22,26:B1", "B:WK30:B3,4,12"]

    def fitted(texts: list[str], values: list[float]) -> list[float]:
        learner = prepared(active=3)
        positions = np.array([CHECKERS.parse_position(text) for text in texts])
        learner.fit_rows(Rows.of(positions, value=values))
        return learner.evaluator_.weights.tolist()

    values = [0.3, -0.2, 0.1, 0.4]
    weights = fitted(even, values)
    assert any(weights[1:])
    assert fitted(even + uneven, [*values, 3.0, -3.0]) == weights
    assert any(fitted(uneven, [3.0, -3.0])[1:])  # without others they teach


@pytest.mark.slow
@compiled_only
@pytest.mark.thorough
def test_the_weights_settle_and_the_last_are_better_than_samuels() -> None:
    """A quarter of the games of `make train`, at depth 2."""
    learner = Samuel(CHECKERS, games=400, depth=2, round_games=50, games_per_report=50, seed=2)
    fitted: list[Any] = []
    learner.fit(watch=lambda progress: fitted.append(learner.evaluator_.weights.copy()))
    free = [CHECKERS.features["samuel"].names.index(name) for name in NAMES]
    assert np.corrcoef(fitted[-2][free], fitted[-1][free])[0, 1] > 0.99
    players = [Player(name, as_evaluator(CHECKERS, one))
               for name, one in (("learned", learner.evaluator_), ("rote", "rote"))]  # fmt: skip
    match = play_match(CHECKERS, *players, limits=Limits(depth=3), games=200, threads=1)
    assert match.summary().score.low > 0.5


test_errors = errors_of(globals())
