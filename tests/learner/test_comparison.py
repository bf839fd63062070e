"""Comparison training: weights that differences determine, and weights that they leave open."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from toys import RUNNERS

from games import kernels
from games.backgammon import Backgammon
from learner.dice_play import DiceSelfPlay
from learner.rounds.comparison import Comparison, Comparisons, PlayingOn, compare, fitted, moments
from search import Engine, LinearEvaluator, as_evaluator

plain = pytest.mark.plain
compiled_only = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


BACKGAMMON = Backgammon()
FEATURES = RUNNERS.features["runners"]


def runners(*weights: float) -> LinearEvaluator:
    return LinearEvaluator(RUNNERS, FEATURES, list(weights))


@functools.cache
def best(position: Any) -> float:
    """Returns the value of a position before its roll under best play of both sides."""
    outcome = RUNNERS.outcome(position)
    if outcome is not None:
        return outcome
    return sum(
        chance * max(-best(RUNNERS.play(position, m)) for m in RUNNERS.legal_moves(position, roll))
        for roll, chance in enumerate(RUNNERS.rolls)
    )


def worth(evaluator: LinearEvaluator, position: Any) -> float:
    """Returns the value of a position before its roll if both sides choose by static values."""

    def sight(after: Any) -> float:
        outcome = RUNNERS.outcome(after)
        return -evaluator(after) if outcome is None else -outcome

    outcome = RUNNERS.outcome(position)
    if outcome is not None:
        return outcome
    total = 0.0
    for roll, chance in enumerate(RUNNERS.rolls):
        moves = RUNNERS.legal_moves(position, roll)
        after = max((RUNNERS.play(position, move) for move in moves), key=sight)
        total -= chance * worth(evaluator, after)
    return total


def lost_by(evaluator: LinearEvaluator) -> float:
    """Returns the points lost per decision at 0-ply, over all decisions of its own games."""
    loop = DiceSelfPlay(RUNNERS, Engine(RUNNERS, evaluator), depth=0, backups=False, most_plies=50)
    lost = []
    for game in range(200):
        played = loop.play((9, game))
        for ply, roll in enumerate(played.rolls):
            position, after = played.positions[ply : ply + 2]
            moves = RUNNERS.legal_moves(position, roll)
            most = max(-best(RUNNERS.play(position, move)) for move in moves)
            lost.append(most + best(after))
    return float(np.mean(lost))


# --- what differences determine ---------------------------------------------------------------


@plain
def test_differences_determine_weights() -> None:
    # terms of the chosen less those of the rival: pips 2, then their_runners 1, then both
    positions = [(1, 0, 4, 2), (1, 0, 2, 2), (3, 0, 3, 2), (3, 0, 5, 0), (4, 1, 3, 1), (4, 1, 2, 0)]
    found = Comparisons(positions, np.array([0, 0, 2, 2, 4, 4]))
    assert FEATURES.measure(positions)[:, :2].tolist() == [
        [5, 2], [3, 2], [2, 2], [2, 1], [-1, 2], [-3, 1],
    ]  # fmt: skip
    # values differ by 1, -3 and then 1 - 3: half a point a pip, and minus three a runner
    values = np.array([9.0, 8.0, -4.0, -1.0, 0.5, 2.5])
    weights = fitted(moments(FEATURES, found, values, share=0.0), alpha=1e-9)
    assert weights == pytest.approx([0.5, -3.0, 0.0], abs=1e-6)  # a constant has no difference


@plain
def test_values_decide_what_differences_leave_open() -> None:
    positions = [(1, 0, 4, 2), (1, 0, 2, 2), (3, 0, 3, 2), (3, 0, 5, 0)]
    found = Comparisons(positions, np.array([0, 0, 2, 2]))
    terms = FEATURES.measure(positions)
    values = terms @ [0.5, -3.0, 7.0]
    for share in (0.01, 1.0):
        total = moments(FEATURES, found, values, share=share)
        assert fitted(total, alpha=1e-9) == pytest.approx([0.5, -3.0, 7.0], abs=1e-5)
    # by hand: the outer products of two differences and two rows as they are
    rows = np.column_stack([terms, values])
    slow = sum(np.outer(a - b, a - b) + 0.25 * np.outer(a, a) for a, b in (rows[:2], rows[2:]))
    assert moments(FEATURES, found, values, share=0.25) == pytest.approx(slow)
    # all values a point higher: differences are the same, only the constant follows
    total = moments(FEATURES, found, values + 1.0, share=0.01)
    assert fitted(total, alpha=1e-9) == pytest.approx([0.5, -3.0, 8.0], abs=1e-5)


@plain
def test_the_ridge_shrinks_weights() -> None:
    found = Comparisons([(1, 0, 4, 2), (1, 0, 2, 2)], np.array([0, 0]))
    total = moments(FEATURES, found, np.array([1.0, 0.0]), share=0.0)
    assert fitted(total, alpha=4.0) == pytest.approx([2 * 1 / (2 * 2 + 4), 0.0, 0.0])
    nothing = Comparisons([], np.zeros(0, dtype=np.int64))
    assert moments(FEATURES, nothing, np.zeros(0), share=0.5).tolist() == np.zeros((4, 4)).tolist()


# --- what is compared -------------------------------------------------------------------------


@plain
def test_moves_are_compared_with_the_best_others_and_some_more() -> None:
    evaluator = as_evaluator(BACKGAMMON, "pips")
    loop = DiceSelfPlay(
        BACKGAMMON, Engine(BACKGAMMON, evaluator), depth=0, backups=False, most_plies=12
    )
    played = loop.play((0, 3))
    random = np.random.default_rng(1)
    found = compare(BACKGAMMON, played, evaluator, rivals=5, random=random)
    value = evaluator.plain()
    place = 0
    for ply, (move, roll) in enumerate(zip(played.moves, played.rolls, strict=True)):
        position = tuple(played.positions[ply])
        moves = BACKGAMMON.legal_moves(position, roll)
        if len(moves) == 1:
            continue
        count = min(5, len(moves) - 1)
        others = [BACKGAMMON.play(position, m) for m in moves if m != move]
        assert found.positions[place] == BACKGAMMON.play(position, move)
        rivals = found.positions[place + 1 : place + 1 + count]
        assert len(set(rivals)) == count and set(rivals) <= set(others)
        # values are those of the opponent: the lower the better
        nearest = sorted(map(value, others))[:2]
        assert [value(rival) for rival in rivals[:2]] == pytest.approx(nearest[:count])
        assert found.chosen[place : place + 1 + count].tolist() == [place] * (1 + count)
        place += 1 + count
    assert place == len(found.positions) == len(found.chosen) > 30


@plain
def test_nothing_is_compared_with_the_end_of_a_game() -> None:
    evaluator = runners(0.1, 0.0, 0.0)
    loop = DiceSelfPlay(RUNNERS, Engine(RUNNERS, evaluator), depth=0, backups=False, most_plies=50)
    seen = 0
    for game in range(20):
        found = compare(
            RUNNERS, loop.play((0, game)), evaluator, rivals=9, random=np.random.default_rng(0)
        )
        seen += len(found.positions)
        assert all(RUNNERS.outcome(position) is None for position in found.positions)
        counts = np.bincount(found.chosen) if len(found.chosen) else np.zeros(0)
        assert set(counts.tolist()) <= {0, 2}  # two moves at most, and never one alone
    assert seen > 40


@plain
def test_games_are_played_on_with_the_same_dice() -> None:
    evaluator = runners(0.3, -0.2, 0.0)
    ends = PlayingOn(RUNNERS, evaluator, most=50)
    assert not ends.native
    # both sides are one step from home, so the side to move wins
    assert ends.outcome((1, 0, 1, 0), 5) == 1.0
    assert ends.outcome((1, 0, 5, 4), 5) == 2.0
    found = [ends.outcome((5, 4, 5, 4), 1000 * i) for i in range(300)]
    assert found == [ends.outcome((5, 4, 5, 4), 1000 * i) for i in range(300)]
    assert set(found) == {-2.0, -1.0, 1.0, 2.0}
    assert PlayingOn(RUNNERS, evaluator, most=1).outcome((5, 4, 5, 4), 0) == 0.0
    # the mean of the rollouts is the value of these moves, except for noise
    position = (3, 2, 4, 2)
    played = np.array([ends.outcome(position, 77 * i) for i in range(2000)])
    noise = played.std() / 2000**0.5
    assert noise < 0.04
    assert played.mean() == pytest.approx(worth(evaluator, position), abs=3 * noise)


@compiled_only
def test_native_games_are_those_of_the_slow_twin() -> None:
    hand = as_evaluator(BACKGAMMON, "hand")
    native, slow = (PlayingOn(BACKGAMMON, hand, most=200) for _ in range(2))
    slow.native = False
    assert native.native
    loop = DiceSelfPlay(
        BACKGAMMON, Engine(BACKGAMMON, hand), depth=0, backups=False, most_plies=200
    )
    played = loop.play((1, 1))
    for ply in (0, 3, len(played.moves) - 1):
        position = tuple(played.positions[ply].tolist())
        for state in (0, 123456789, (1 << 62) - 1):
            assert native._play(position, state) == slow._play_slowly(position, state)
            assert native.outcome(position, state) == slow.outcome(position, state)
    assert PlayingOn(BACKGAMMON, hand, most=3).outcome(BACKGAMMON.start(), 1) == 0.0


# --- whole learners ---------------------------------------------------------------------------


def made(**options: Any) -> Comparison:
    usual: dict[str, Any] = {
        "games": 40, "round_games": 20, "keep_rounds": 2, "games_per_report": 7, "seed": 2,
        "features": "runners", "most_plies": 60,
    }  # fmt: skip
    return Comparison(RUNNERS, **{**usual, **options})


@plain
def test_weights_are_those_of_what_was_compared() -> None:
    start, expert = runners(0.2, 0.1, 0.3), runners(0.1, -0.4, 0.2)
    learner = made(games=20, teacher=expert, share=0.1)
    learner.fit(start)
    engine = Engine(RUNNERS, start)
    loop = DiceSelfPlay(RUNNERS, engine, depth=0, backups=False, most_plies=60)
    rows, labels, compared = [], [], 0
    for game in range(20):
        found = compare(
            RUNNERS, loop.play((2, game)), start, rivals=3,
            random=np.random.default_rng((2, game, 1)),
        )  # fmt: skip
        for place, position in enumerate(found.positions):
            best_one = found.positions[found.chosen[place]]
            value, other = expert(position), expert(best_one)
            here, there = (np.array(FEATURES.values(p)) for p in (position, best_one))
            if place == found.chosen[place]:
                rows.append(0.1**0.5 * here)
                labels.append(0.1**0.5 * value)
            else:
                rows.append(there - here)
                labels.append(other - value)
                compared += 1
    table = np.concatenate([rows, 3.0**0.5 * np.eye(3)])
    expected = np.linalg.lstsq(table, np.append(labels, np.zeros(3)), rcond=None)[0]
    assert learner.evaluator_.weights == pytest.approx(expected)
    assert learner.rounds_[0]["comparisons"] == compared == learner.updates_
    error = np.linalg.norm(np.array(rows) @ expected - labels) / compared**0.5
    assert learner.rounds_[0]["error"] == pytest.approx(error)


@plain
def test_an_expert_of_the_same_form_is_learned_exactly() -> None:
    expert = runners(0.1, -0.4, 0.2)
    learner = made(teacher=expert, alpha=1e-9).fit()
    assert learner.evaluator_.weights == pytest.approx([0.1, -0.4, 0.2], abs=1e-5)


def test_who_starts_from_nothing_learns_to_play() -> None:
    learner = made(games=600, round_games=100, keep_rounds=6).fit()
    # on a grid of weights over these terms the least loss is 0.0192
    assert lost_by(runners(0.0, 0.0, 0.0)) > 0.09
    assert lost_by(learner.evaluator_) < 0.025
    # in points: a position of a middle game, by perfect play and by the weights
    positions = [(3, 2, 3, 2), (2, 1, 3, 2), (3, 3, 2, 1), (5, 4, 5, 4), (4, 2, 3, 3)]
    expected = np.array([best(position) for position in positions])
    assert learner.evaluator_.values(positions) == pytest.approx(expected, abs=0.35)


def test_the_first_round_is_played_by_whom_it_starts_from() -> None:
    hand = as_evaluator(BACKGAMMON, "hand")
    usual: dict[str, Any] = {"games": 2, "round_games": 1, "seed": 4, "most_plies": 40}
    learner = Comparison(BACKGAMMON, features="pubeval", games_per_report=1, **usual)
    records: list[Any] = []
    learner.fit(hand, watch=lambda progress: records.append(progress.record))
    loop = DiceSelfPlay(BACKGAMMON, Engine(BACKGAMMON, hand), depth=0, backups=False, most_plies=40)
    assert records[0].moves == loop.play((4, 0)).moves
    assert records[1].moves != loop.play((4, 1)).moves
    assert np.abs(learner.evaluator_.weights).max() > 0


@plain
def test_a_start_over_the_same_terms_lends_its_weights() -> None:
    learner = made()
    learner.prepare(runners(0.2, 0.1, 0.3))
    assert learner.evaluator_.weights.tolist() == [0.2, 0.1, 0.3]


def test_only_the_last_rounds_count() -> None:
    class Stop(Exception):
        pass

    learner = made(games=60, keep_rounds=1)
    weights: list[Any] = []

    def watch(progress: Any) -> None:
        if progress.game % 20 == 0:
            weights.append(fitted(learner._sums[-1], alpha=3.0).tolist())
            assert learner.evaluator_.weights.tolist() == weights[-1]
            assert len(learner._sums) == 1

    learner.fit(watch=watch)
    assert len(weights) == 3 and weights[1] != weights[2]


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "classic"}, "features: expected one of runners for runners"),
        ({"teacher": "nobody"}, "nobody"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, OSError), match=message):
        made(**options).fit()


def test_games_without_dice_are_refused() -> None:
    with pytest.raises(ValueError, match="game: expected one with dice, found checkers"):
        Comparison("checkers", features="classic", depth=3).fit()


def test_a_state_of_others_is_refused() -> None:
    state = made().fit().checkpoint()
    with pytest.raises(ValueError, match="expected a checkpoint of the same learner"):
        made(rivals=2).fit(resume=state)
    for damage in ({"sums": "AAAA"}, {"sums": 3}, {"weights": [0.0]}, {"comparisons": None}):
        with pytest.raises(ValueError, match="expected a state of this learner"):
            made().fit(resume={**state, **damage})
