"""Every kind of evaluator by what stands for it: a name, a file, a kernel or a callable.

A linear evaluator's file is JSON (`search.evaluators.linear`). Evaluators whose weights are arrays
are safetensors files (`search.evaluators.array_files`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from games import kernels
from games.contract import Game
from games.features import Encoding, FeatureSet
from search.evaluators.array_evaluator import ArrayEvaluator
from search.evaluators.array_files import holds_arrays, load_arrays
from search.evaluators.evaluator import Evaluator, KernelEvaluator, PythonEvaluator
from search.evaluators.header import EvaluatorError, short
from search.evaluators.heuristic import LearnedHeuristic
from search.evaluators.linear import LinearEvaluator, load_linear
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.shaped_network import ShapedNetwork
from search.evaluators.shipped import find_file, shipped_files
from search.evaluators.signature import SignatureEvaluator

__all__ = ["as_evaluator", "evaluator_names", "load_evaluator"]

#: Evaluators whose weights are arrays, by the forms of their files.
ARRAY_FORMS: Mapping[str, type[ArrayEvaluator]] = {
    kind.form: kind
    for kind in (
        LearnedHeuristic,
        NetworkEvaluator,
        ShapedNetwork,
        OutcomeNetwork,
        QuantisedNetwork,
        SignatureEvaluator,
    )
}

Inputs = Encoding | FeatureSet | tuple[Encoding, FeatureSet]


def as_evaluator(game: Game, evaluator: Any) -> Evaluator:
    """The evaluator that a name, a file, a kernel, a callable or an evaluator stands for.

    A name is one of the game's hand-crafted evaluators, or a shipped one as in `load_evaluator`.
    None values everything 0. Raises FileNotFoundError for a name that is neither of these nor a
    file, and ValueError for an evaluator of another game or of other rules.
    """
    if isinstance(evaluator, Evaluator):
        expected, found = _described(game), _described(evaluator.game)
        if expected != found:
            raise ValueError(f"expected an evaluator of {expected}, found one of {found}")
        return evaluator
    if evaluator is None:
        return PythonEvaluator(game, _zero, name="zero")
    if isinstance(evaluator, str) and evaluator in game.evaluators:
        return _hand_crafted(game, evaluator)
    if not callable(evaluator):
        return load_evaluator(evaluator, game=game)
    if kernels.is_kernel(evaluator):
        return KernelEvaluator(game, evaluator)
    return PythonEvaluator(game, evaluator)


def _zero(position: Any) -> float:
    """0 for every position."""
    return 0.0


@overload
def load_evaluator(
    path: Any, *, game: Game | None = None, features: FeatureSet
) -> LinearEvaluator: ...


@overload
def load_evaluator(
    path: Any, *, game: Game | None = None, features: None = None, inputs: Inputs | None = None
) -> Evaluator: ...


def load_evaluator(
    path: Any,
    *,
    game: Game | None = None,
    features: FeatureSet | None = None,
    inputs: Inputs | None = None,
) -> Any:
    """The evaluator in a file, of whatever kind the file holds.

    `path` may also be the name of a shipped evaluator: "checkers/quantised", or "quantised" if the
    game is given.

    The game is the one that the file names (or `game`, which must be the same). What the weights
    belong to is found among the game's feature sets and encodings by name, or given: with
    `features` the file must hold a linear evaluator over that set, `inputs` are what an evaluator
    of any kind reads. Raises FileNotFoundError, and EvaluatorError for a file that is damaged, was
    made for another game, other rules or other terms, or has weights that are not finite numbers.
    """
    path = find_file(path, game.name if game else None)
    if not path.is_file():
        names = evaluator_names(game) if game else []
        known = f" or one of {', '.join(names)}" if names else ""
        raise FileNotFoundError(f"{path}: expected an evaluator file{known}, found none")
    if not holds_arrays(path):
        own = inputs if features is None else features
        if own is not None and not isinstance(own, FeatureSet):
            raise EvaluatorError(f"{path}: expected weights of an encoding, found linear ones")
        return load_linear(path, game, own)
    content, arrays = load_arrays(path)
    form = content.get("format")
    if not isinstance(form, str) or form not in ARRAY_FORMS:
        raise EvaluatorError(
            f"{path}: expected format {' or '.join(map(repr, ARRAY_FORMS))}, found {short(form)!r}"
        )
    if features is not None:
        raise EvaluatorError(
            f"{path}: expected a linear evaluator over feature set {features.name}, found {form}"
        )
    return ARRAY_FORMS[form].from_file(path, content, arrays, game, inputs)


def evaluator_names(game: Game) -> list[str]:
    """The names that stand for evaluators of a game: the hand-crafted ones, then those shipped."""
    shipped = [
        name
        for name, path in shipped_files(game.name).items()
        if not holds_arrays(path) or load_arrays(path)[0].get("format") in ARRAY_FORMS
    ]
    return [*game.evaluators, *shipped]


def _described(game: Game) -> str:
    """What an evaluator has to share with a game: name, rules and, with kernels, the position."""
    width = f" with {len(game.start())} integers a position" if game.rules else ""
    return f"{game.name}, rules version {game.version}{width}"


def _hand_crafted(game: Game, name: str) -> Evaluator:
    entry = game.evaluators[name]
    if kernels.is_kernel(entry):
        return KernelEvaluator(game, entry, name=name)
    features, weights = entry
    if kernels.is_kernel(features):
        return KernelEvaluator(game, features, weights, name=name)
    return LinearEvaluator(game, game.features[features], weights, name=name)
