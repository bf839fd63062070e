"""Explanations: parts add up; a hidden input has the effect of an absent piece."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import games
from games.backgammon.rules import packed
from games.backgammon.situation import checker_counts
from games.checkers.pieces import PLACES
from games.extras import extra
from games.features import Cells
from games.features.cell_terms import CellTerm
from games.features.cells import EMPTY
from games.features.term_file import feature_set_of, named
from games.kernels import uncompiled
from play.judging import explanation
from play.judging.explanation import BASE, Contribution, explain
from play.judging.shapley import MOST_ROWS, inputs_of, pieces_of, shapley_values
from search import LinearEvaluator, PythonEvaluator, as_evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.quantised import QuantisedNetwork

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


def slow_shares(things: list[str], value: Any) -> dict[str, float]:
    """Returns the Shapley values by their definition, over all orders, with `BASE`."""
    shares = dict.fromkeys(things, 0.0)
    orders = list(itertools.permutations(things))
    for order in orders:
        for i, thing in enumerate(order):
            shown = frozenset(order[:i])
            shares[thing] += (value(shown | {thing}) - value(shown)) / len(orders)
    return {**shares, BASE: value(frozenset())}


@plain
def test_shares_are_means_over_all_orders() -> None:
    worth = dict(enumerate(np.random.default_rng(2).normal(size=32).tolist()))
    names = list("abcde")

    def value(shown: frozenset[str]) -> float:
        return worth[sum(1 << names.index(name) for name in shown)]

    base, shares = shapley_values(
        5, lambda rows: np.array([worth[int(row @ (1 << np.arange(5)))] for row in rows])
    )
    expected = slow_shares(names, value)
    assert [*shares, base] == pytest.approx([*(expected[name] for name in names), expected[BASE]])


@plain
def test_shares_of_many_things_add_up_and_are_near_the_exact_ones() -> None:
    """A value that saturates: twenty things of which any eleven win."""

    def value(rows: Any) -> Any:
        return np.tanh(rows[:, :14].sum(axis=1) - rows[:, 14:].sum(axis=1) - 2.0)

    asked = []

    def counted(rows: Any) -> Any:
        asked.append(len(rows))
        return value(rows)

    base, shares = shapley_values(20, counted)
    assert sum(asked) <= 1.1 * MOST_ROWS
    whole = value(np.ones((1, 20)))[0]
    assert base + shares.sum() == pytest.approx(whole) and whole > 0.999
    # hiding one thing alone changes nothing, but every one has its share; equals have equal ones
    assert whole - value(1.0 * (np.arange(20) != 0)[None])[0] < 0.001
    assert shares[:14] == pytest.approx(np.full(14, shares[:14].mean()), abs=0.05)
    assert shares[:14].min() > 0.1 and shares[14:].max() < -0.03


@pytest.mark.parametrize("name", ["quantised", "network"])
def test_a_lost_position_says_why_it_is_lost(name: str) -> None:
    """Seven men against three: a network that has its last word explains it all the same."""
    evaluator = as_evaluator(CHECKERS, name)
    position = CHECKERS.parse_position("W:W30,31,32:B1,2,3,4,5,6,7")
    found = as_map(explain(evaluator, position))
    value = evaluator(position)
    assert sum(found.values()) == pytest.approx(value, abs=1e-5)
    mine = {name: share for name, share in found.items() if name.startswith("White")}
    theirs = {name: share for name, share in found.items() if name.startswith("Black")}
    assert min(mine.values()) > 0.15 * abs(value) and max(theirs.values()) < -0.15 * abs(value)


@plain
def test_the_rows_of_a_network_have_its_values() -> None:
    position = CHECKERS.parse_position("W:W21,22,K5,30:B1,2,K29,11")
    encoding = CHECKERS.encodings["piece_squares"]
    made = layers(128, 6, 3, 1)
    for evaluator in (
        NetworkEvaluator(CHECKERS, encoding, made, activations=("tanh", "normalise")),
        NetworkEvaluator(CHECKERS, encoding, layers(128, 6, 6, 3, 1), skips=[(0, 1)]),
        NetworkEvaluator(CHECKERS, encoding, made),
        as_evaluator(CHECKERS, "quantised"),
    ):
        quantised = isinstance(evaluator, QuantisedNetwork)
        things, values = (
            pieces_of(evaluator, position) if quantised else inputs_of(evaluator, position)
        )
        whole = np.ones((1, len(things)), dtype=bool)
        assert values(whole)[0] == pytest.approx(evaluator(position), abs=1e-5)
        whole[0, [name for name, _ in things].index("White king on 5")] = False
        without = CHECKERS.parse_position("W:W21,22,30:B1,2,K29,11")
        assert values(whole)[0] == pytest.approx(evaluator(without), abs=1e-5)


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
    assert len(by_pieces) == (position[0] | position[1]).bit_count() + 1
    assert by_inputs == pytest.approx(by_pieces, abs=1e-5)


@plain
def test_terms_among_inputs_are_set_to_nothing() -> None:
    position = CHECKERS.parse_position("W:W21,22,K5,30:B1,2,K29")
    features = CHECKERS.features["classic"]
    both = (CHECKERS.encodings["piece_squares"], features)
    network = NetworkEvaluator(CHECKERS, both, layers(128 + len(features), 5, 1))
    found = as_map(explain(network, position))
    (_, bias), (second, last) = network.layers
    base = float((np.maximum(bias, 0) @ second + last)[0])
    assert found[BASE] == pytest.approx(base, abs=1e-5)
    assert sum(found.values()) == pytest.approx(network(position), abs=1e-5)
    assert {"men", "White man on 21"} <= set(found)


def test_checkers_of_a_point_are_hidden_together() -> None:
    encoding = BACKGAMMON.encodings["points"]
    network = OutcomeNetwork(BACKGAMMON, [(encoding, layers(326, 8, 5))])
    boards: list[list[int]] = [[0] * 26, [0] * 26]
    boards[0][6], boards[0][13], boards[0][25] = 8, 6, 1
    boards[1][4], boards[1][20] = 10, 5
    position = (*packed(boards[0]), *packed(boards[1]), 1)
    places = {
        "O on O's 6 point": (0, 6),
        "O on O's 13 point": (0, 13),
        "O on the bar": (0, 25),
        "X on X's 4 point": (1, 4),
        "X on X's 20 point": (1, 20),
    }

    def value(shown: frozenset[str]) -> float:
        seen = [[0] * 26, [0] * 26]
        for name in shown:
            theirs, point = places[name]
            seen[theirs][point] = boards[theirs][point]
        dense = encoding.dense([(*packed(seen[0]), *packed(seen[1]), 1)])[0]
        (first, bias), (second, last) = network.nets[0].layers
        outputs = np.maximum(dense @ first + bias, 0) @ second + last
        probabilities = 1 / (1 + np.exp(-outputs.astype(float)))
        # the whole position decides whether a gammon is possible at all
        uncompiled(network.kinds.confine)(position, probabilities)
        return float(network.kinds.values(probabilities))

    found = explain(network, position)
    assert {one.name: one.term for one in found if one.name != BASE} == {
        name: boards[theirs][point] for name, (theirs, point) in places.items()
    }
    # points without a checker have inputs too, which are 1 and hidden in no share
    assert as_map(found) == pytest.approx(slow_shares(list(places), value), abs=1e-5)


@plain
def test_other_evaluators_of_backgammon_see_checkers_borne_off() -> None:
    def pips(position: Any) -> float:
        return -float(sum(p * n for p, n in enumerate(checker_counts(*position[:2]))))

    found = as_map(explain(PythonEvaluator(BACKGAMMON, pips), BACKGAMMON.start()))
    own = {f"X on X's {p} point": p * n for p, n in ((6, 5), (8, 3), (13, 5), (24, 2))}

    def value(shown: frozenset[str]) -> float:
        # the last point's checkers stay on the board, for bearing them off ends the game
        return -sum(own[name] for name in shown) if shown else -30.0

    expected = slow_shares(list(own), value)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["O on O's 6 point"] == 0.0
    last = BACKGAMMON.parse_position("XwAAADAAAAAAAA")
    assert all(name == BASE or name.startswith(("X", "O")) for name in as_map(
        explain(PythonEvaluator(BACKGAMMON, pips), last)
    ))  # fmt: skip


@plain
def test_what_cannot_be_explained_says_so() -> None:
    nim = games.load("nim")
    with pytest.raises(TypeError, match=r"expected a linear evaluator or a network.*in nim, found"):
        explain(PythonEvaluator(nim, lambda position: 1.0), nim.start())
    assert "explain" in explanation.__all__


def test_invented_terms_are_told_in_words_with_their_squares() -> None:
    cells = extra(CHECKERS, Cells)
    assert cells is not None
    terms = [CellTerm("man", "back row"), CellTerm("king").also((-1, -1), EMPTY)]
    features = feature_set_of(cells, named(cells, terms))
    evaluator = LinearEvaluator(CHECKERS, features, [0.5, 2.0])
    for text, sign in (("B:W32,K18:B1,4", 1.0), ("W:W32,K18:B1,4", -1.0)):
        king, man = explain(evaluator, CHECKERS.parse_position(text))
        assert (king.name, man.name) == (
            "own king with an empty square ahead to the left", "own man on the back row",
        )  # fmt: skip
        assert (king.value, man.value) == (-2.0 * sign, 0.5 * sign)
        shown = [{PLACES[n] for n in numbers} for numbers in ((18,), (1, 4, 32))]
        assert [set(king.squares), set(man.squares)] == shown
