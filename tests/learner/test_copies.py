"""Evaluators, features, kernels, engines and learners in copies and in other processes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import compiled_only
from sklearn.model_selection import GridSearchCV
from toys import weighted

import learner
from games import kernels
from games.backgammon import Backgammon
from games.checkers import Checkers
from games.feature_file import add_features
from games.kernels import kernel
from games.tic_tac_toe import TicTacToe
from learner import LogisticFit, Samuel, TDLeaf
from search import Engine, as_evaluator, load_evaluator
from search.evaluators.evaluator import KernelEvaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.samples import sample_positions

ROOT = Path(__file__).resolve().parents[2]
CHECKERS, BACKGAMMON = Checkers(), Backgammon()
EXAMPLE = ROOT / "docs/examples/my_features.py"
#: Loads pickles from standard input, in a process that has imported nothing, and values positions.
OTHER_PROCESS = """
import pickle, sys
from search.evaluators.samples import sample_positions
found = []
for thing in pickle.load(sys.stdin.buffer):
    found.append(thing.values(sample_positions(thing.game, 30)).tolist())
sys.stdout.buffer.write(pickle.dumps(found))
"""


def evaluators() -> list[Any]:
    """Returns an evaluator of every kind."""
    random = np.random.default_rng(3)
    layers = [(random.normal(size=shape), np.ones(shape[1])) for shape in ((128, 3), (3, 1))]
    return [
        *(as_evaluator(CHECKERS, name) for name in CHECKERS.evaluators),
        *(as_evaluator(BACKGAMMON, name) for name in BACKGAMMON.evaluators),
        KernelEvaluator(CHECKERS, weighted, np.array([2.5])),
        NetworkEvaluator(CHECKERS, CHECKERS.encodings["piece_squares"], layers, scale=2.0),
        load_evaluator("checkers/quantised"),
        load_evaluator("backgammon/wide"),
        as_evaluator(CHECKERS, None),
    ]


def values(evaluator: Any) -> list[float]:
    found: list[float] = evaluator.values(sample_positions(evaluator.game, 30)).tolist()
    return found


def in_another_process(evaluators: list[Any]) -> list[list[float]]:
    """Returns the values of copies that another process makes from pickles."""
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS], input=pickle.dumps(evaluators), cwd=ROOT,
        capture_output=True, check=False, timeout=300,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return pickle.loads(done.stdout)  # type: ignore[no-any-return]


@compiled_only
def test_evaluators_go_to_another_process() -> None:
    given = evaluators()
    # over features in a file that was loaded by its path, and of kernels in no module
    with_file = add_features(CHECKERS, EXAMPLE)
    features = next(iter(with_file.features.values()))
    given.append(learner.RootStrap(with_file, games=1, depth=1, inputs=features)
                 .fit().evaluator_)  # fmt: skip
    scope: dict[str, Any] = {"popcount": kernels.popcount, "__name__": "nowhere"}
    exec("def kings(position):\n    return popcount(position[2])\n", scope)
    given.append(KernelEvaluator(CHECKERS, kernel(scope["kings"])))
    assert any(values(given[-1]))
    assert in_another_process(given) == [values(evaluator) for evaluator in given]


def test_an_engine_is_copied_with_its_options() -> None:
    engine = Engine(CHECKERS, "material", table_mib=1.0, techniques="selective", seed=5)
    position = CHECKERS.start()
    expected = engine.search(position, depth=5)
    for again in (copy.copy(engine), copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))):
        found = again.search(position, depth=5)
        assert again is not engine
        assert (found.move, found.value, found.nodes) == (
            expected.move, expected.value, expected.nodes
        )  # fmt: skip
    dice = Engine(BACKGAMMON, "hand", prune="none", filters="tiny", table_mib=1.0)
    again = pickle.loads(pickle.dumps(dice))
    for roll in (3, 9):
        mine, its = (e.search(BACKGAMMON.start(), roll=roll, depth=1) for e in (dice, again))
        assert (mine.move, mine.value, mine.nodes) == (its.move, its.value, its.nodes)


@compiled_only
def test_a_copied_network_still_learns_into_its_own_evaluator() -> None:
    options: dict[str, Any] = {"inputs": "piece_squares", "hidden": (4,)}
    model = TDLeaf(CHECKERS, games=2, depth=1, **options).fit().model_
    again = pickle.loads(pickle.dumps(model))
    before = values(model.evaluator)
    rows = again.inputs.active_rows(sample_positions(CHECKERS, 50))
    targets, random = np.ones(len(rows)), np.random.default_rng(1)
    again.learn(rows, targets, targets, rate=0.1, random=random)
    assert values(model.evaluator) == before != values(again.evaluator)
    assert again.evaluator.layers[0][0].tolist() == again.layers[0][0].tolist()


# --- many seeds, many options ----------------------------------------------------------------


def test_grid_search_over_a_learner_of_games_says_why_not() -> None:
    for kind in (Samuel, TDLeaf):
        search = GridSearchCV(kind(CHECKERS), {"seed": [0, 1]}, cv=2)
        with pytest.raises(TypeError, match=f"{kind.__name__} learns from games that it plays"):
            search.fit(np.zeros((4, 2)), np.zeros(4))


def test_grid_search_over_a_fit_of_rows_works() -> None:
    random = np.random.default_rng(5)
    rows = random.normal(size=(200, 3))
    targets = 1 / (1 + np.exp(-rows @ [1.0, -2.0, 0.0]))
    grid = {"alpha": [1e-6, 10.0], "loss": ["cross_entropy", "squared"]}
    found = GridSearchCV(LogisticFit(("a", "b", "c")), grid, cv=3).fit(rows, targets)
    assert found.best_params_["alpha"] == 1e-6
    assert np.allclose(found.best_estimator_.weights_, [1.0, -2.0, 0.0], atol=1e-3)


def test_learner_exports_its_learners_one_by_one() -> None:
    for name in learner.__all__:
        assert getattr(learner, name).__name__ == name
    assert len(learner.__all__) > 20 and set(learner.__all__) <= set(dir(learner))
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        learner.Nobody  # noqa: B018


def test_any_game_is_sent_by_what_it_is_made_of() -> None:
    for game in (CHECKERS, BACKGAMMON, TicTacToe()):
        again = pickle.loads(pickle.dumps(game))
        assert type(again) is type(game) and again.start() == game.start()
        assert again.features == game.features
