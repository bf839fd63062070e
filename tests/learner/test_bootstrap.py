"""Learners that follow their own search: the same bits when resumed and with any workers."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import pytest
from errors import errors_of
from marks import compiled_only, plain

from games.checkers import Checkers
from games.nim import Nim
from games.tic_tac_toe import TicTacToe
from learner.gradient.root_strap import RootStrap
from learner.gradient.td_leaf import TDLeaf
from learner.gradient.temporal_difference import TemporalDifference
from learner.gradient.tree_strap import TreeStrap
from learner.rounds.batch import BatchFit
from search import LinearEvaluator

CHECKERS, TIC_TAC_TOE, NIM = Checkers(), TicTacToe(), Nim((3, 4, 5))
LEARNERS = [TemporalDifference, TDLeaf, RootStrap, TreeStrap]


# --- whole runs ------------------------------------------------------------------------------


def make(kind: Any, network: bool = False, **options: Any) -> Any:
    usual: dict[str, Any] = {
        "games": 12,
        "depth": 2,
        "games_per_update": 4,
        "most_plies": 50,
        "seed": 1,
    }
    if network:
        usual |= {"inputs": "piece_squares", "hidden": (6,)}
    return kind(CHECKERS, **{**usual, **options})


def text_of(learner: Any) -> str:
    return json.dumps(learner.checkpoint())


def test_the_rate_falls_to_a_tenth_and_every_update_has_its_own_order() -> None:
    asked: list[tuple[float, float]] = []

    class Watched:
        def __init__(self, model: Any) -> None:
            self.model = model
            self.inputs = model.inputs

        def learn(self, *lesson: Any, rate: float, random: Any) -> float:
            asked.append((rate, float(random.random())))
            return 0.0

    learner = RootStrap(NIM, games=100, depth=1, inputs="parity", rate=0.5, games_per_update=10)
    prepare = learner.prepare

    def prepared(evaluator: Any = None) -> None:
        prepare(evaluator)
        learner.model_ = cast(Any, Watched(learner.model_))

    cast(Any, learner).prepare = prepared
    learner.fit()
    assert [rate for rate, _ in asked] == pytest.approx([0.5 * (1 - 0.09 * i) for i in range(10)])
    assert len({draw for _, draw in asked}) == 10


@compiled_only
@pytest.mark.parametrize("kind", LEARNERS)
def test_fixed_weights_hold_whatever_learning_starts_from(kind: Any) -> None:
    features = CHECKERS.features["classic"]
    given = LinearEvaluator(CHECKERS, features, np.linspace(0.2, 0.9, len(features)))
    learner = make(kind, games=4)
    learner.fit(given)
    found = learner.evaluator_.term_weights()
    assert found.pop("men") == 1.0
    assert given.weights[0] == 0.2
    before = given.term_weights()
    moved = [name for name, weight in found.items() if weight != before[name]]
    assert len(moved) > len(features) / 2
    held = make(kind, games=4, fixed={"kings": 1.5, "men": 0.75}).fit()
    weights = held.evaluator_.term_weights()
    assert (weights["kings"], weights["men"]) == (1.5, 0.75)
    free = make(kind, games=4, fixed={}).fit(given).evaluator_.term_weights()
    assert free["men"] != 0.2


@plain
@pytest.mark.thorough
def test_learning_without_compilation() -> None:
    for kind in LEARNERS:
        learner = kind(NIM, games=4, depth=1, inputs="parity", games_per_update=2, decide=False)
        learner.fit()
        assert learner.updates_ > 0
        assert np.count_nonzero(cast(Any, learner.evaluator_).weights) > 1


# --- errors ----------------------------------------------------------------------------------


def test_an_evaluator_in_another_unit_is_brought_to_that_of_the_fixed_weights() -> None:
    features = CHECKERS.features["classic"]
    given = LinearEvaluator(CHECKERS, features, {"men": 100.0, "kings": 135.0, "bridge": -7.0})
    for kind in (RootStrap, BatchFit):
        learner: Any = kind(CHECKERS, games=2)
        learner.prepare(given)
        weights = learner.evaluator_.term_weights()
        assert (weights["men"], weights["kings"], weights["bridge"]) == (1.0, 1.35, -0.07)


test_errors = errors_of(globals())
