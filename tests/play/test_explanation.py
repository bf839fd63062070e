"""Explanations: linear parts add up; a hidden input has the effect of an absent piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import games
from games.backgammon.rules import packed
from games.backgammon.situation import checker_counts
from play.judging import explanation
from play.judging.explanation import Contribution, explain
from search import LinearEvaluator, PythonEvaluator, as_evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork

plain = pytest.mark.plain

CHECKERS, BACKGAMMON = games.load("checkers"), games.load("backgammon")
POSITIONS = ["W:W21,22,K5,30:B1,2,K29,11", "B:W21,22,K5,30:B1,2,K29,11", "B:W32:BK1"]


def layers(*widths: int, seed: int = 4) -> list[tuple[Any, Any]]:
    generator = np.random.default_rng(seed)
    return [
        (generator.normal(0, 0.4, (a, b)), generator.normal(0, 0.3, b))
        for a, b in zip(widths, widths[1:], strict=False)
    ]


def as_map(found: list[Contribution]) -> dict[str, float]:
    assert len({one.name for one in found}) == len(found)
    sizes = [abs(one.value) for one in found]
    assert sizes == sorted(sizes, reverse=True)
    return {one.name: one.value for one in found}


@plain
@pytest.mark.parametrize("text", POSITIONS)
def test_linear_contributions_are_weight_times_term_and_add_up(text: str) -> None:
    position = CHECKERS.parse_position(text)
    evaluator = as_evaluator(CHECKERS, "classic")
    assert isinstance(evaluator, LinearEvaluator)
    found = explain(evaluator, position)
    terms = dict(zip(evaluator.features.names, evaluator.features.values(position), strict=True))
    assert {one.name: (one.term, one.weight) for one in found} == {
        name: (terms[name], weight) for name, weight in evaluator.term_weights().items()
    }
    assert all(one.value == one.term * (one.weight or 0) for one in found)
    assert sum(as_map(found).values()) == pytest.approx(evaluator(position))


@plain
def test_a_sum_that_is_not_the_value_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = as_evaluator(CHECKERS, "classic")
    monkeypatch.setattr(type(evaluator), "__call__", lambda self, position: 5.0)
    with pytest.raises(ArithmeticError, match="expected contributions that add up to the value"):
        explain(evaluator, CHECKERS.start())


@plain
@pytest.mark.parametrize("text", POSITIONS)
@pytest.mark.parametrize("hidden", [(), (6,), (6, 3)])
def test_inputs_switched_off_are_pieces_taken_off(text: str, hidden: tuple[int, ...]) -> None:
    position = CHECKERS.parse_position(text)
    encoding = CHECKERS.encodings["piece_squares"]
    network = NetworkEvaluator(CHECKERS, encoding, layers(128, *hidden, 1), scale=3.0)
    by_inputs = as_map(explain(network, position))
    # the same function, of which only the game, checkers, is known
    by_pieces = as_map(explain(PythonEvaluator(CHECKERS, network.plain()), position))
    assert len(by_pieces) == (position[0] | position[1]).bit_count()
    assert by_inputs == pytest.approx(by_pieces, abs=1e-5)


@plain
def test_names_of_pieces_are_those_of_the_board() -> None:
    position = CHECKERS.parse_position("W:W21,K5:B1,K29")
    network = NetworkEvaluator(CHECKERS, CHECKERS.encodings["piece_squares"], layers(128, 4, 1))
    expected = {"White man on 21", "White king on 5", "Black man on 1", "Black king on 29"}
    assert set(as_map(explain(network, position))) == expected
    turned = CHECKERS.parse_position("B:W21,K5:B1,K29")
    assert set(as_map(explain(network, turned))) == expected


@plain
def test_terms_among_inputs_are_set_to_their_means() -> None:
    position = CHECKERS.parse_position("W:W21,22,K5,30:B1,2,K29")
    features = CHECKERS.features["classic"]
    both = (CHECKERS.encodings["piece_squares"], features)
    network = NetworkEvaluator(CHECKERS, both, layers(128 + len(features), 5, 1))
    terms = features.values(position)
    index = features.names.index("men")
    means = {"men": terms[index] - 2.0}
    inputs = np.concatenate([both[0].dense([position])[0], terms]).astype(np.float32)
    inputs[128 + index] -= 2.0
    (first, bias), (second, last) = network.layers
    without = float((np.maximum(inputs @ first + bias, 0) @ second + last)[0])
    found = as_map(explain(network, position, means=means))
    assert found["men"] == pytest.approx(network(position) - without, abs=1e-5)
    assert "White man on 21" in found
    same = dict(zip(features.names, terms, strict=True))
    assert not set(as_map(explain(network, position, means=same))) & set(features.names)


@pytest.mark.parametrize("text", ["4HPwATDgc/ABMA O", "XwAAADAAAAAAAA"])
def test_checkers_of_a_point_are_hidden_together(text: str) -> None:
    position = BACKGAMMON.parse_position(text)
    encoding = BACKGAMMON.encodings["points"]
    network = OutcomeNetwork(BACKGAMMON, [(encoding, layers(326, 8, 5))])
    found = explain(network, position)
    near, far, their_near, their_far, side = position
    boards = checker_counts(near, far), checker_counts(their_near, their_far)
    expected = {}
    for theirs, counts in enumerate(boards):
        colour = "XO"[side ^ theirs]
        for point, count in enumerate(counts):
            if count:
                fewer = packed([0 if p == point else n for p, n in enumerate(counts)])
                other = packed(boards[1 - theirs])
                halves = (*other, *fewer) if theirs else (*fewer, *other)
                place = {0: "borne off", 25: "on the bar"}.get(point)
                name = f"{colour} {place or f'''on {colour}'s {point} point'''}"
                # the unchanged position decides whether a gammon is possible at all
                if point:
                    expected[name] = (count, network(position) - network((*halves, side)))
                else:
                    assert name in {one.name for one in found}
    kept = {one.name: (one.term, one.value) for one in found if "borne off" not in one.name}
    assert kept.keys() == expected.keys()
    for name, (count, value) in expected.items():
        assert kept[name] == (count, pytest.approx(value, abs=1e-5))


@plain
def test_other_evaluators_of_backgammon_see_checkers_borne_off() -> None:
    def pips(position: Any) -> float:
        return -float(sum(p * n for p, n in enumerate(checker_counts(*position[:2]))))

    found = as_map(explain(PythonEvaluator(BACKGAMMON, pips), BACKGAMMON.start()))
    assert found["X on X's 24 point"] == -48.0
    assert found["X on X's 6 point"] == -30.0
    assert found["O on O's 6 point"] == 0.0
    last = BACKGAMMON.parse_position("XwAAADAAAAAAAA")
    assert all(name.startswith(("X", "O")) for name in as_map(
        explain(PythonEvaluator(BACKGAMMON, pips), last)
    ))  # fmt: skip


@plain
def test_what_cannot_be_explained_says_so() -> None:
    nim = games.load("nim")
    with pytest.raises(TypeError, match=r"expected a linear evaluator or a network.*in nim, found"):
        explain(PythonEvaluator(nim, lambda position: 1.0), nim.start())
    assert explanation.__all__ == ["Contribution", "contribution_table", "explain", "line_text"]
