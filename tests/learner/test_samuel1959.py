"""Samuel's learning by generalisation: each rule by hand, and learning from zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

from games.checkers import Checkers
from learner.online.samuel1959 import Samuel1959, Step, powers_of_two, span
from search import WIN, LinearEvaluator, Result

CHECKERS = Checkers()
NAMES = CHECKERS.features["samuel"].names
PIECES = {"PIECES": 2.0**20}


def prepared(evaluator: Any = None, **options: Any) -> Samuel1959:
    """A learner before its first game."""
    learner = Samuel1959(CHECKERS, **{"fixed": PIECES, "depth": 1, **options})
    learner.prepare(evaluator)
    return learner


def terms(**values: float) -> np.ndarray:
    return np.array([values.get(name, 0.0) for name in NAMES])


def step(value: float, material: float = 0.0, **values: float) -> Step:
    """A position of Alpha's with these terms, and the value that its search backed up."""
    return Step(None, terms(**values), Result(None, value, (), 1, 1, 0.0), material)


def correlation(learner: Samuel1959, name: str) -> float:
    return float(learner.correlations_[NAMES.index(name)])


def correlate(learner: Samuel1959, **values: float) -> None:
    """Give terms correlations, and weights with them."""
    for name, value in values.items():
        learner.correlations_[NAMES.index(name)] = value
    learner._set_weights()


def weight(learner: Samuel1959, name: str) -> float:
    return learner._alpha.term_weights()[name]


# --- weights ---------------------------------------------------------------------------------


def test_samuels_printed_table_of_weights() -> None:
    printed = {
        0.45: 18, 0.40: 16, 0.35: 14, 0.33: 13, 0.27: 11, 0.19: 8, 0.14: 6, 0.13: 5, 0.10: 4
    }  # fmt: skip
    weights = powers_of_two(np.array(list(printed)))
    assert weights.tolist() == [2.0**power for power in printed.values()]


def test_weights_have_the_sign_of_their_correlation_and_zero_stays_zero() -> None:
    assert powers_of_two(np.array([0.2, -0.4, 0.0])).tolist() == [2.0**9, -(2.0**18), 0.0]
    assert powers_of_two(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert powers_of_two(np.zeros(0)).tolist() == []
    # a term that agrees ever so little counts 1
    assert powers_of_two(np.array([1.0, 0.001]), top=4).tolist() == [16.0, 1.0]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [(16, 16), (31, 16), (32, 32), (63, 32), (64, 64), (127, 64), (128, 128), (255, 128),
     (256, 256), (100_000, 256)],
)  # fmt: skip
def test_correlations_average_over_more_as_more_is_seen(seen: int, expected: int) -> None:
    assert span(seen) == expected


# --- a correction ----------------------------------------------------------------------------


def update(learner: Samuel1959, found: np.ndarray, difference: float, static: float, effect: int):
    active = np.array([NAMES.index(name) for name in learner.active_])
    learner._update(active, found, difference, static, effect)


def test_correlations_move_a_sixteenth_towards_agreement() -> None:
    learner = prepared(asymmetric=False)
    first, second, third = learner.active_[:3]
    correlate(learner, **{first: 0.5, second: -0.25})
    update(learner, terms(**{first: 3.0, second: 0.5}), 7.0, 0.0, 1)
    assert correlation(learner, first) == 0.5 + 0.5 / 16
    assert correlation(learner, second) == -0.25 + 1.25 / 16
    assert correlation(learner, third) == 0.0  # says nothing here
    assert [learner.seen_[NAMES.index(n)] for n in (first, second, third)] == [17, 17, 16]
    # the value fell: a positive term disagreed, a negative one agreed
    update(learner, terms(**{first: 1.0, third: -2.0}), -7.0, 0.0, 1)
    assert correlation(learner, first) == 0.53125 - 1.53125 / 16
    assert correlation(learner, third) == 1 / 16


def test_a_correction_counts_two_or_four_times() -> None:
    learner = prepared(asymmetric=False)
    name = learner.active_[0]
    for effect, expected in ((2, 2 / 16), (4, 2 / 16 + (1 - 2 / 16) * 4 / 16)):
        update(learner, terms(**{name: 1.0}), 1.0, 0.0, effect)
        assert correlation(learner, name) == expected
    learner.seen_[NAMES.index(name)] = 300
    before = correlation(learner, name)
    update(learner, terms(**{name: 1.0}), 1.0, 0.0, 2)
    assert correlation(learner, name) == pytest.approx(before + (1 - before) * 2 / 256)


def test_effect_follows_a_change_of_pieces_and_a_decided_game() -> None:
    for material, value, effect in ((0.0, 9e6, 1), (2.0, 9e6, 2), (2.0, WIN - 5, 4)):
        learner = prepared(asymmetric=False)
        name = learner.active_[-1]
        assert learner._correct([step(0.0, **{name: 1.0})], step(value, material))
        assert correlation(learner, name) == effect / 16
        assert weight(learner, name) == 2.0**18


def test_only_terms_that_speak_against_the_value_are_corrected() -> None:
    learner = prepared(asymmetric=True)
    for_it, against, silent = learner.active_[:3]
    correlate(learner, **{for_it: 0.5, against: 0.5})
    found = terms(**{for_it: 1.0, against: -1.0, silent: 1.0})
    # the value is positive and was too low
    update(learner, found, 5.0, 3.0, 1)
    assert correlation(learner, for_it) == 0.5
    assert correlation(learner, against) == 0.5 - 1.5 / 16
    assert correlation(learner, silent) == 1 / 16  # its weight is 0: it contributes to neither
    # the value is positive and was too high: all are corrected
    update(learner, found, -5.0, 3.0, 1)
    assert correlation(learner, for_it) == 0.5 - 1.5 / 16
    # the value is negative and was too high: those that contribute positively are
    learner = prepared(asymmetric=True)
    correlate(learner, **{for_it: 0.5, against: 0.5})
    update(learner, found, -5.0, -3.0, 1)
    assert correlation(learner, for_it) == 0.5 - 1.5 / 16
    assert correlation(learner, against) == 0.5


@pytest.mark.parametrize("threshold", [None, 100.0])
def test_small_differences_change_nothing(threshold: float | None) -> None:
    learner = prepared(threshold=threshold, asymmetric=False, active=2)
    first, second = learner.active_
    correlate(learner, **{first: 0.5, second: 0.25})
    assert (weight(learner, first), weight(learner, second)) == (2.0**18, 2.0**9)
    limit = (2.0**18 + 2.0**9) / 2 if threshold is None else threshold
    state = learner._get_state()
    static = 2.0**9
    assert not learner._correct([step(0.0, **{second: 1.0})], step(static + limit))
    assert not learner._correct([step(0.0, **{second: 1.0})], step(static - limit))
    assert learner._get_state() == state
    assert learner._correct([step(0.0, **{second: 1.0})], step(static + limit + 1))
    assert learner._get_state() != state


def test_the_difference_is_to_the_value_with_the_weights_as_they_are() -> None:
    learner = prepared(asymmetric=False, threshold=10.0)
    name = learner.active_[0]
    before = step(0.0, **{name: 1.0})
    correlate(learner, **{name: -0.5})  # its value was 0 then; now it is -2 ** 18
    assert not learner._correct([before], step(-(2.0**18)))
    assert learner._correct([before], step(0.0))


def test_the_span_grows_until_the_difference_is_large_enough() -> None:
    learner = prepared(asymmetric=False, threshold=10.0)
    first, second = learner.active_[:2]
    steps = [step(0.0, **{first: 1.0})]
    now = step(8.0, **{second: 1.0})
    assert not learner._correct(steps, now)
    steps.append(now)
    assert learner._correct(steps, step(16.0))
    assert [name for name in (first, second) if correlation(learner, name)] == [first]
    # the next is compared with where the last correction was made
    steps.append(step(16.0))
    assert not learner._correct(steps, step(9.0))
    # a new game begins anew
    assert learner._correct([step(0.0, **{second: 1.0})], step(99.0))


# --- terms come and go -----------------------------------------------------------------------


def busy(learner: Samuel1959, *idle: str) -> None:
    """Let all active terms but the idle ones correlate."""
    names = [name for name in learner.active_ if name not in idle]
    correlate(learner, **{name: 0.5 + i / 100 for i, name in enumerate(names)})


def test_the_least_term_goes_at_its_eighth_tally() -> None:
    learner = prepared(replacement_pause=0)
    active, reserve = list(learner.active_), list(learner.reserve_)
    assert (len(active), len(reserve)) == (16, len(NAMES) - 17)
    least = active[3]
    busy(learner)
    correlate(learner, **{least: -0.01})
    for _ in range(7):
        learner._select()
    assert (learner.active_, learner.reserve_) == (active, reserve)
    learner._select()
    newcomer = reserve[0]
    assert learner.active_ == [*active[:3], newcomer, *active[4:]]
    assert learner.reserve_ == [*reserve[1:], least]
    for name in (least, newcomer):
        assert correlation(learner, name) == 0
        assert learner.seen_[NAMES.index(name)] == 16
    learner._set_weights()
    assert weight(learner, least) == 0
    # newcomers are counted from 0, and the next of the reserve follows
    for _ in range(8):
        assert learner.active_[3] == newcomer
        learner._select()
    assert learner.active_[3] == reserve[1]
    assert learner.reserve_[-2:] == [least, newcomer]


def test_a_replacement_waits_for_the_pause() -> None:
    learner = prepared(replacement_pause=32, tallies=2, asymmetric=False, threshold=0.0)
    active = list(learner.active_)
    least = active[-1]
    busy(learner, least)
    loud = {name: 1.0 for name in active if name != least}
    for number in range(1, 97):
        assert learner._correct([step(0.0, **loud)], step(1e9))
        changed = len(set(active) - set(learner.active_))
        assert changed == (1 if number >= 32 else 0)
        assert len(learner.active_) == 16
        assert set(learner.active_) | set(learner.reserve_) == set(NAMES) - {"PIECES"}
        if number in (32, 64, 96):
            assert learner._pause == 0


def test_without_a_reserve_all_terms_stay() -> None:
    library = NAMES[1:6]
    learner = prepared(library=library, replacement_pause=0, tallies=1)
    assert (learner.active_, learner.reserve_) == (list(library), [])
    for _ in range(20):
        learner._select()
    assert learner.active_ == list(library)


# --- between games ---------------------------------------------------------------------------


def test_beta_follows_after_every_win_in_the_first_series() -> None:
    learner = prepared(trial=1)
    name = learner.active_[0]
    correlate(learner, **{name: 0.5})
    assert learner._beta.term_weights()[name] == 0
    assert learner._after_game(0.0) == ""
    assert learner._after_game(-1.0) == "black mark 1"
    assert learner._beta.term_weights()[name] == 0
    assert "takes over" in learner._after_game(1.0)
    assert learner._beta.term_weights()[name] == 2.0**18
    assert (learner.adoptions_, learner.black_marks_) == (1, 0)


@pytest.mark.parametrize(
    ("won", "adoptions", "marks"),
    [((1, 1, -1, 0), 1, 0), ((1, -1, 0, 0), 0, 0), ((0, 0, 0, -1), 0, 1), ((1, -1, -1, 0), 0, 1),
     ((0, 0, 0, 1), 1, 0)],
)  # fmt: skip
def test_beta_follows_after_a_majority_of_wins(won: Any, adoptions: int, marks: int) -> None:
    learner = prepared(trial=4)
    notes = [learner._after_game(float(result)) for result in won]
    assert notes[:3] == ["", "", ""]
    assert (learner.adoptions_, learner.black_marks_) == (adoptions, marks)
    assert [learner._after_game(0.0) for _ in range(3)] == ["", "", ""]


def test_the_third_black_mark_sets_the_leading_term_to_zero() -> None:
    learner = prepared(trial=1)
    first, leading = learner.active_[:2]
    correlate(learner, **{first: 0.25, leading: -0.5})
    assert weight(learner, first) == 2.0**9
    assert learner._after_game(-1.0) == "black mark 1"
    assert learner._after_game(-1.0) == "black mark 2"
    assert learner._after_game(-1.0) == f"third black mark: {leading} starts again from 0"
    assert correlation(learner, leading) == weight(learner, leading) == 0
    assert weight(learner, first) == 2.0**18
    assert learner.black_marks_ == 0
    assert weight(learner, "PIECES") == 2.0**20


# --- options and starts ----------------------------------------------------------------------


def test_a_warm_start_keeps_what_samuel_learned(tmp_path: Path) -> None:
    weights = {"PIECES": 2.0**20, "MOB": -(2.0**18), "KCENT": 2.0**11, "DENY": -(2.0**5)}
    saved = LinearEvaluator(CHECKERS, CHECKERS.features["samuel"], weights)
    saved.save(tmp_path / "learned.json")
    learner = prepared(tmp_path / "learned.json")
    assert {n: w for n, w in learner.evaluator_.term_weights().items() if w} == weights
    assert learner._beta.term_weights() == learner._alpha.term_weights()
    assert {"MOB", "KCENT", "DENY"} <= set(learner.active_)
    assert len(learner.active_) == 16


@pytest.mark.parametrize("scale", [0.001, 1.0, 1e6])
def test_a_warm_start_keeps_signs_and_order_at_any_scale(scale: float) -> None:
    names = NAMES[1:9]
    given = {name: scale * (-1) ** i * 2.0 ** (i / 3) for i, name in enumerate(names)}
    start = LinearEvaluator(CHECKERS, CHECKERS.features["samuel"], {"PIECES": 5.0, **given})
    learner = prepared(start)
    assert weight(learner, "PIECES") == 2.0**20
    found = [weight(learner, name) for name in names]
    assert np.sign(found).tolist() == [(-1.0) ** i for i in range(8)]
    sizes = np.abs(found).tolist()
    assert sizes == sorted(sizes)
    assert sizes[-1] == 2.0**18
    assert sizes[-1] / sizes[0] == pytest.approx(2.0 ** (7 / 3), rel=0.5)
    assert start.weights[0] == 5.0


def test_a_warm_start_from_more_terms_keeps_the_largest() -> None:
    given = {name: 1.0 + i for i, name in enumerate(NAMES)}
    learner = prepared(LinearEvaluator(CHECKERS, CHECKERS.features["samuel"], given))
    assert sorted(learner.active_) == sorted(NAMES[-16:])
    assert np.count_nonzero(learner.evaluator_.weights) == 17
    assert weight(learner, "PIECES") == 2.0**20


# --- learning --------------------------------------------------------------------------------


test_errors = errors_of(globals())
