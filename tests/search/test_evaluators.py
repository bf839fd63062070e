"""Evaluators of every kind, and the files that hold them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain
from twin import PlainFace, Twin, random_positions

import games
from games.checkers import Checkers
from games.checkers.rules import swap_sides
from games.features import FeatureSet
from games.kernels import kernel, popcount
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from search import (
    Engine,
    Evaluator,
    EvaluatorError,
    KernelEvaluator,
    LinearEvaluator,
    PythonEvaluator,
    as_evaluator,
    load_evaluator,
)
from search.evaluators.network import NetworkEvaluator
from search.evaluators.quantised import QuantisedNetwork

CHECKERS, TIC_TAC_TOE, NIM = Checkers(), TicTacToe(), Nim((3, 4, 5))


@kernel
def pieces(position):
    """Returns the lead in pieces."""
    return popcount(position[0]) - popcount(position[1])


@kernel
def weighted(weights, position):
    """Returns a weighted sum of men and kings."""
    own, opponent, kings, _ = position
    men_ahead = popcount(own & ~kings) - popcount(opponent & ~kings)
    return weights[0] * men_ahead + weights[1] * (
        popcount(own & kings) - popcount(opponent & kings)
    )


@kernel
def tabulated(tables, position):
    """Returns a sum of values by square, for men and kings, in the unit of the last table."""
    worth, unit = tables
    own, opponent, kings, side = position
    total = 0.0
    for bit in range(35):
        row = (kings >> bit) & 1
        if own >> bit & 1:
            total += float(worth[row, bit])
        if opponent >> bit & 1:
            total -= float(worth[row, bit])
    return total / int(unit[0])


def in_python(position: Any) -> float:
    own, opponent, kings, _ = position
    return own.bit_count() + 0.5 * (own & kings).bit_count() - opponent.bit_count()


def tables() -> tuple[np.ndarray, np.ndarray]:
    worth = np.random.default_rng(4).normal(2, 1, (2, 35)).astype(np.float32)
    return worth, np.array([8], dtype=np.int16)


def random_weights(game: games.Game, features: str) -> LinearEvaluator:
    feature_set = game.features[features]
    weights = np.random.default_rng(6).normal(0, 1, len(feature_set))
    return LinearEvaluator(game, feature_set, weights, provenance={"seed": 6})


def random_network(game: games.Game, inputs: Any, *widths: int) -> NetworkEvaluator:
    generator = np.random.default_rng(7)
    layers = [
        (generator.normal(0, 1, (before, after)), generator.normal(1, 1, after))
        for before, after in zip(widths, widths[1:], strict=False)
    ]
    return NetworkEvaluator(game, inputs, layers)


def random_quantised(*widths: int) -> QuantisedNetwork:
    """Returns a network of integers with two phases."""
    encoding, generator = CHECKERS.encodings["piece_squares"], np.random.default_rng(5)
    shapes = zip(widths, widths[1:], strict=False)
    layers = [
        (generator.integers(-200, 201, (len(encoding), widths[0])), np.zeros(widths[0])),
        *((generator.integers(-60, 60, (2, *shape)), np.zeros((2, shape[1]))) for shape in shapes),
    ]
    return QuantisedNetwork(CHECKERS, encoding, layers, phases=(20,))


KINDS: dict[str, Callable[[], Evaluator]] = {
    "linear, named": lambda: as_evaluator(CHECKERS, "classic"),
    "linear, a few terms": lambda: as_evaluator(CHECKERS, "material"),
    "linear, random": lambda: random_weights(CHECKERS, "classic"),
    "linear, tic-tac-toe": lambda: random_weights(TIC_TAC_TOE, "lines"),
    "linear, nim": lambda: random_weights(NIM, "parity"),
    "kernel": lambda: as_evaluator(CHECKERS, pieces),
    "kernel, array": lambda: KernelEvaluator(CHECKERS, weighted, np.array([1.0, 1.5])),
    "kernel, arrays": lambda: KernelEvaluator(CHECKERS, tabulated, tables()),
    "network": lambda: random_network(CHECKERS, CHECKERS.encodings["piece_squares"], 128, 9, 1),
    "network, terms": lambda: random_network(TIC_TAC_TOE, TIC_TAC_TOE.features["lines"], 2, 8, 1),
    "network, both": lambda: random_network(
        CHECKERS, (CHECKERS.encodings["piece_squares"], CHECKERS.features["classic"]), 144, 9, 4, 1
    ),
    "quantised": lambda: random_quantised(32, 8, 1),
    "python": lambda: as_evaluator(CHECKERS, in_python),
    "python, nim": lambda: PythonEvaluator(NIM, lambda position: sum(position) % 3),
    "zero": lambda: as_evaluator(TIC_TAC_TOE, None),
}
any_kind = pytest.mark.parametrize("kind", KINDS)


# --- values ----------------------------------------------------------------------------------


@plain
@any_kind
def test_all_ways_to_a_value_agree(kind: str) -> None:
    evaluator = KINDS[kind]()
    positions = [*random_positions(evaluator.game, 1, 40)]
    slow = evaluator.plain()
    expected = [float(slow(position)) for position in positions]
    assert [evaluator(position) for position in positions] == expected
    values = evaluator.values(positions)
    assert values.tolist() == expected
    assert (values.dtype, values.shape) == (np.float64, (40,))
    assert evaluator.values(np.array(positions)).tolist() == expected
    assert evaluator.values([]).shape == (0,)
    assert kind == "zero" or len(set(expected)) > 1


@plain
@any_kind
def test_engines_use_every_kind(kind: str) -> None:
    evaluator = KINDS[kind]()
    game = evaluator.game
    twin = Twin(game, evaluator.plain())
    slow = Engine(PlainFace(game), evaluator.plain())
    for position in random_positions(game, 3, 3):
        result = Engine(game, evaluator, repetition=False).search(position, depth=2)
        assert result.value == twin.value(position, 2)
        assert slow.search(position, depth=2).value == result.value


@compiled_only
@any_kind
def test_positions_of_a_wrong_width_are_refused(kind: str) -> None:
    evaluator = KINDS[kind]()
    width = len(evaluator.game.start())
    with pytest.raises(ValueError, match=f"expected positions of {width} integers, found"):
        evaluator((1,) * (width - 1))
    with pytest.raises(ValueError, match=f"expected positions of {width} integers, found"):
        evaluator.values([(1,) * (width + 1)] * 2)


@plain
@any_kind
def test_another_games_evaluator_is_refused(kind: str) -> None:
    evaluator = KINDS[kind]()
    for game in (CHECKERS, TIC_TAC_TOE, Nim((1, 2))):
        if game.name == evaluator.game.name and game.name != "nim":
            assert as_evaluator(game, evaluator) is evaluator
            continue
        with pytest.raises(ValueError, match=f"expected an evaluator of {game.name}, .* found one"):
            Engine(game, evaluator)


# --- Python callables ------------------------------------------------------------------------


class Refusal(Exception):
    pass


def fails_at(number: int, failure: Any) -> Callable[[Any], float]:
    calls = 0

    def value(position: Any) -> float:
        nonlocal calls
        calls += 1
        if calls < number:
            return 0.0
        if isinstance(failure, BaseException):
            raise failure
        return failure  # type: ignore[no-any-return]

    return value


@plain
def test_after_a_failure_the_engine_works_again() -> None:
    broken = True

    def value(position: Any) -> float:
        if broken:
            raise Refusal
        return in_python(position)

    engine = Engine(CHECKERS, value)
    with pytest.raises(Refusal):
        engine.search(CHECKERS.start(), depth=3)
    broken = False
    result = engine.search(CHECKERS.start(), depth=3)
    assert (result.depth, result.interrupted) == (3, False)


@plain
@pytest.mark.parametrize("value", [math.inf, 1e300, 10**20])
def test_huge_values_stay_below_wins(value: float) -> None:
    result = Engine(CHECKERS, lambda position: value).search(CHECKERS.start(), depth=3)
    assert (abs(result.value), result.plies_to_end) == (1e11, None)


# --- files -----------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("kind", [kind for kind in KINDS if not KINDS[kind]().suffix])
def test_code_cannot_be_saved(kind: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="expected a linear evaluator to save, found a"):
        KINDS[kind]().save(tmp_path / "evaluator.json")
    with pytest.raises(TypeError, match="is code, not weights: expected an evaluator that learns"):
        KINDS[kind]().copy()
    assert not [*tmp_path.iterdir()]


def content(evaluator: LinearEvaluator, path: Path) -> dict[str, Any]:
    evaluator.save(path)
    return dict(json.loads(path.read_text()))


@plain
def test_a_person_can_edit_a_file(tmp_path: Path) -> None:
    path = tmp_path / "evaluator.json"
    fields = content(random_weights(CHECKERS, "classic"), path)
    fields["weights"] = {"kings": 3, "men": 2.5}  # others are 0; any order is allowed
    path.write_text(json.dumps(fields))
    for given in (path, str(path)):
        evaluator = as_evaluator(CHECKERS, given)
        assert isinstance(evaluator, LinearEvaluator)
        weights = evaluator.term_weights()
        assert (weights.pop("kings"), weights.pop("men")) == (3, 2.5)
        assert not any(weights.values())
    assert load_evaluator(path).game.name == "checkers"


@kernel
def men_and_one(position):
    """Returns a measure that differs from that of `men`."""
    own, _, kings, _ = position
    return popcount(own & ~kings) + (own & 1)


def test_terms_that_mean_something_else_by_now_are_refused(tmp_path: Path) -> None:
    terms = dict(CHECKERS.features["classic"].terms)
    changed = FeatureSet("classic", {**terms, "men": men_and_one}, swap_sides)
    path = tmp_path / "evaluator.json"
    random_weights(CHECKERS, "classic").save(path)
    with pytest.raises(
        EvaluatorError,
        match=r"other definitions of men: expected \['[0-9a-f]{8}'\], found \['[0-9a-f]{8}'\]",
    ):
        load_evaluator(path, game=CHECKERS, inputs=changed)
    # harmless if its weight is 0
    weights = {"kings": 1.0}
    LinearEvaluator(CHECKERS, CHECKERS.features["classic"], weights).save(path)
    assert load_evaluator(path, game=CHECKERS, inputs=changed).term_weights()["kings"] == 1
    # a term that was only reformatted or moved is the same term
    reversed_terms = FeatureSet("classic", dict(reversed(terms.items())), swap_sides)
    random_weights(CHECKERS, "classic").save(path)
    again = load_evaluator(path, game=CHECKERS, inputs=reversed_terms)
    assert again.term_weights() == random_weights(CHECKERS, "classic").term_weights()


@plain
def test_a_feature_set_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "evaluator.json"
    own = FeatureSet("own", {"pieces": pieces})
    LinearEvaluator(CHECKERS, own, [2.0]).save(path)
    assert load_evaluator(path, inputs=own).term_weights() == {"pieces": 2.0}
    with pytest.raises(
        EvaluatorError, match=r"expected a feature set of checkers \(classic.*'own'"
    ):
        load_evaluator(path)
    with pytest.raises(EvaluatorError, match="expected terms of feature set classic, found"):
        load_evaluator(path, inputs=CHECKERS.features["classic"])


def with_field(tmp_path: Path, field: str, value: Any) -> None:

    path = tmp_path / "evaluator.json"
    fields = content(random_weights(CHECKERS, "classic"), path)
    path.write_text(json.dumps({**fields, field: value}))
    load_evaluator(path, game=CHECKERS)


@plain
def test_a_game_that_nobody_knows(tmp_path: Path) -> None:
    path = tmp_path / "evaluator.json"
    fields = content(random_weights(CHECKERS, "classic"), path)
    path.write_text(json.dumps({**fields, "game": "go"}))
    with pytest.raises(
        EvaluatorError, match="expected one of checkers, backgammon, .*, found 'go'"
    ):
        load_evaluator(path)


def of_bytes(tmp_path: Path, text: bytes) -> None:

    path = tmp_path / "evaluator.json"
    path.write_bytes(text)
    load_evaluator(path, game=CHECKERS)


test_errors = errors_of(globals())
