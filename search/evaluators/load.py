"""Loads evaluators of every kind, from a name, a file, a kernel or a callable.

A linear evaluator's file is JSON (`search.evaluators.linear`). Files of evaluators whose weights
are arrays are safetensors (`search.evaluators.files.arrays`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games import kernels
from games.contract import Game, expect_game
from games.features import FeatureSet
from games.problem import Heuristic
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.calibration import Calibrations
from search.evaluators.evaluator import Evaluator, KernelEvaluator, PythonEvaluator
from search.evaluators.files.arrays import holds_arrays, load_arrays
from search.evaluators.files.header import EvaluatorError, reading, short
from search.evaluators.files.layers import Inputs
from search.evaluators.files.shipped import find_file, shipped_files
from search.evaluators.heuristic import LearnedHeuristic
from search.evaluators.linear import LinearEvaluator, load_linear
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.pattern_database import PatternDatabase
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.signature import SignatureEvaluator
from search.evaluators.trees import TreeEvaluator
from search.evaluators.tuples import TupleEvaluator

__all__ = ["as_evaluator", "evaluator_names", "load_evaluator"]

#: Evaluators whose weights are arrays, by the formats of their files.
ARRAY_FORMS: Mapping[str, type[ArrayEvaluator]] = {
    kind.form: kind
    for kind in (
        LearnedHeuristic,
        NetworkEvaluator,
        OutcomeNetwork,
        PatternDatabase,
        QuantisedNetwork,
        SignatureEvaluator,
        TreeEvaluator,
        TupleEvaluator,
    )
}


def as_evaluator(game: Game, evaluator: Any) -> Evaluator:
    """Returns an evaluator of a game.

    game: the game.
    evaluator: an evaluator, which is returned as it is; the name of one of the game's hand-crafted
        evaluators; a `Heuristic`; a path or the name of a shipped evaluator, as in
        `load_evaluator`; a kernel or any callable that values a position; or None for one that
        values every position 0.

    Raises FileNotFoundError if neither an evaluator nor a file has the name, and ValueError if the
    evaluator is for another game or other rules.
    """
    expect_game(game)
    if isinstance(evaluator, Evaluator):
        expected, given = _described(game), _described(evaluator.game)
        if expected != given:
            raise ValueError(f"expected an evaluator of {expected}, found one of {given}")
        return evaluator
    if evaluator is None:
        return PythonEvaluator(game, _zero, name="zero")
    if isinstance(evaluator, str) and evaluator in game.evaluators:
        made = _made(game, game.evaluators[evaluator], evaluator)
        made.calibration = Calibrations.of(game).named.get(evaluator)
        return made
    if isinstance(evaluator, Heuristic):
        return _made(game, evaluator, "")
    if not callable(evaluator):
        return load_evaluator(evaluator, game=game)
    if kernels.is_kernel(evaluator):
        return KernelEvaluator(game, evaluator)
    return PythonEvaluator(game, evaluator)


def _zero(position: Any) -> float:
    """Returns 0 for every position."""
    return 0.0


def load_evaluator(
    path: Any, *, game: Game | None = None, inputs: Inputs | None = None
) -> Evaluator:
    """Returns the evaluator in a file, of any kind.

    path: the file, or the name of a shipped evaluator: "checkers/quantised", or "quantised" if
        `game` is given.
    game: the game that the file must be made for. Default: the game that it names.
    inputs: the inputs of the evaluator, such as a feature set of your own. Default: the game's own,
        by name.

    Raises FileNotFoundError if the file does not exist, and EvaluatorError if it is damaged, was
    made for another game, other rules or other terms, or has weights that are not finite.
    """
    if game is not None:
        expect_game(game)
    path = find_file(path, game.name if game else None)
    if not path.is_file():
        names = evaluator_names(game) if game else []
        others = f" or one of {', '.join(names)}" if names else ""
        raise FileNotFoundError(f"{path}: expected an evaluator file{others}, found none")
    if not holds_arrays(path):
        with reading(path):
            if inputs is not None and not isinstance(inputs, FeatureSet):
                raise EvaluatorError("expected weights of an encoding, found linear ones")
            return load_linear(path, game, inputs)
    content, arrays = load_arrays(path)
    with reading(path):
        form = content.get("format")
        if not isinstance(form, str) or form not in ARRAY_FORMS:
            forms = " or ".join(map(repr, ARRAY_FORMS))
            raise EvaluatorError(f"expected format {forms}, found {short(form)!r}")
        return ARRAY_FORMS[form].from_file(content, arrays, game, inputs)


def evaluator_names(game: Game) -> list[str]:
    """Returns the names of a game's evaluators: the hand-crafted ones, then the shipped ones."""
    shipped = [
        name
        for name, path in shipped_files(game.name).items()
        if not holds_arrays(path) or load_arrays(path)[0].get("format") in ARRAY_FORMS
    ]
    return [*game.evaluators, *shipped]


def _described(game: Game) -> str:
    """Returns the facts that an evaluator must share with a game, as text."""
    width = f" with {len(game.start())} integers a position" if game.rules else ""
    return f"{game.name}, rules version {game.version}{width}"


def _made(game: Game, entry: Any, name: str) -> Evaluator:
    if isinstance(entry, Heuristic):
        evaluator = _made(game, entry.value, name)
        evaluator.known = entry.known
        return evaluator
    if kernels.is_kernel(entry):
        return KernelEvaluator(game, entry, name=name)
    if callable(entry):
        return PythonEvaluator(game, entry, name=name)
    features, weights = entry
    if kernels.is_kernel(features):
        return KernelEvaluator(game, features, weights, name=name)
    return LinearEvaluator(game, game.features[features], weights, name=name)
