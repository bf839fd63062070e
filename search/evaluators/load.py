"""Evaluators on disk: which form a file has, and the one that people read and edit.

A linear evaluator is JSON, term name -> weight. Evaluators whose weights are arrays are safetensors
files (`search.evaluators.array_files`). What all files say of themselves stands in
`search.evaluators.header`.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from games.contract import Game
from games.features import Encoding, FeatureSet
from games.whole_files import write_atomically
from search.evaluators.array_files import holds_arrays, load_arrays
from search.evaluators.header import (
    FIELDS,
    EvaluatorError,
    check_fields,
    check_terms,
    find_features,
    find_game,
    identity,
    parse_json,
    short,
)

if TYPE_CHECKING:
    from search.evaluators.evaluator import Evaluator, LinearEvaluator

__all__ = ["EvaluatorError", "identity", "load_evaluator", "save_linear"]

FORMAT = "plysmith-linear-1"
MOST_BYTES = 4 << 20

#: For each form of array file the module and the function that makes an evaluator of it, called
#: with path, header, arrays, game (or None) and inputs (or None). Named, not imported, for those
#: modules import this one.
ARRAY_FORMS = {
    "plysmith-network-1": ("search.evaluators.network", "network_from"),
    "plysmith-outcome-network-1": ("search.evaluators.outcome_network", "outcome_network_from"),
    "plysmith-quantised-network-1": ("search.evaluators.quantised", "quantised_from"),
    "plysmith-signature-1": ("search.evaluators.signature", "signature_from"),
}

Inputs = Encoding | FeatureSet | tuple[Encoding, FeatureSet]


def save_linear(evaluator: LinearEvaluator, path: Any) -> None:
    """Write a linear evaluator; see the module for the form."""
    if not np.isfinite(evaluator.weights).all():
        raise EvaluatorError("weights: expected finite numbers, found NaN or infinity")
    marks = identity(evaluator.game, evaluator.features)
    content = {
        "format": FORMAT,
        "game": evaluator.game.name,
        "rules": evaluator.game.version,
        "features": evaluator.features.name,
        "name": evaluator.name,
        "weights": evaluator.term_weights(),
        "identity": marks,
        "provenance": evaluator.provenance,
    }
    write_atomically(path, json.dumps(content, indent=1) + "\n")


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

    The game is the one that the file names (or `game`, which must be the same). What the weights
    belong to is found among the game's feature sets and encodings by name, or given: with
    `features` the file must hold a linear evaluator over that set, `inputs` are what an evaluator
    of any kind reads. Raises FileNotFoundError, and EvaluatorError for a file that is damaged, was
    made for another game, other rules or other terms, or has weights that are not finite numbers.
    """
    path = Path(path)
    if not path.is_file():
        known = f" or one of {', '.join(game.evaluators)}" if game and game.evaluators else ""
        raise FileNotFoundError(f"{path}: expected an evaluator file{known}, found none")
    if not holds_arrays(path):
        own = inputs if features is None else features
        if own is not None and not isinstance(own, FeatureSet):
            raise EvaluatorError(f"{path}: expected weights of an encoding, found linear ones")
        return _load_linear(path, game, own)
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
    module, name = ARRAY_FORMS[form]
    read: Callable[..., Evaluator] = getattr(importlib.import_module(module), name)
    return read(path, content, arrays, game, inputs)


def _load_linear(path: Path, game: Game | None, features: FeatureSet | None) -> LinearEvaluator:
    from search.evaluators.evaluator import LinearEvaluator

    content = _read(path)
    game = find_game(path, content, game)
    if features is None:
        features = find_features(path, content["features"], game)
    weights = content["weights"]
    unknown = [term for term in weights if term not in features.terms]
    used = [term for term in weights if weights[term] != 0]
    check_terms(path, game, features, unknown or used, content["identity"])
    return LinearEvaluator(
        game, features, weights, name=content["name"], provenance=content["provenance"]
    )


def _read(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MOST_BYTES:
        raise EvaluatorError(f"{path}: expected at most {MOST_BYTES} bytes, found a larger file")
    content = parse_json(path, path.read_bytes())
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise EvaluatorError(f"{path}: expected format {FORMAT!r}, found {short(found)!r}")
    check_fields(path, content, {**FIELDS, "features": str, "weights": dict, "identity": dict})
    for term, weight in content["weights"].items():
        good = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not good or abs(weight) > 1e300 or not math.isfinite(weight):
            raise EvaluatorError(
                f"{path}: expected a finite number as weight of {short(term)}, found"
                f" {short(weight)}"
            )
    return content
