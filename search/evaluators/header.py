"""What every file of an evaluator says of itself, and how it is checked.

A file names its form, game, rules and what its numbers are read over. Terms and encodings are
identified by what they measure: a short hash of their values on a fixed sample of positions. They
may be rewritten or moved, but a file refuses to load once they mean something else.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Game
from games.features import Encoding, FeatureSet
from search.evaluators.samples import sample_positions

__all__ = [
    "EvaluatorError",
    "check_fields",
    "describe_input",
    "find_game",
    "find_input",
    "identity",
    "parse_json",
]

#: Fields that files of all forms have, and their types.
FIELDS: Mapping[str, Any] = {"game": str, "rules": int, "name": str, "provenance": dict}


class EvaluatorError(ValueError):
    """A file that holds no evaluator, or one that does not fit."""


# --- writing ---------------------------------------------------------------------------------


def describe_input(game: Game, inputs: Encoding | FeatureSet) -> dict[str, Any]:
    """The name and identity of a feature set or an encoding, for `find_input` to check."""
    if isinstance(inputs, FeatureSet):
        return {"features": inputs.name, "identity": identity(game, inputs)}
    return {"encoding": inputs.name, "size": inputs.size, "identity": _encoded(game, inputs)}


_identities: dict[tuple[str, int, str], dict[str, str]] = {}
_encodings: dict[tuple[str, int, str], str] = {}


def identity(game: Game, features: FeatureSet) -> dict[str, str]:
    """For each term eight hexadecimal digits that stand for what it measures."""
    known = (game.name, game.version, features.fingerprint)
    if known not in _identities:
        values = features.measure(sample_positions(game))
        _identities[known] = {
            name: hashlib.sha256(np.round(column, 6).tobytes()).hexdigest()[:8]
            for name, column in zip(features.names, values.T + 0.0, strict=True)
        }
    return _identities[known]


def _encoded(game: Game, encoding: Encoding) -> str:
    """Sixteen hexadecimal digits that stand for which inputs of an encoding are 1."""
    known = (game.name, game.version, encoding.fingerprint)
    if known not in _encodings:
        inputs = encoding.dense(sample_positions(game)) != 0
        _encodings[known] = hashlib.sha256(np.packbits(inputs, axis=1).tobytes()).hexdigest()[:16]
    return _encodings[known]


# --- reading ---------------------------------------------------------------------------------


def parse_json(path: Path, text: str | bytes) -> Any:
    """What JSON text holds; EvaluatorError where it is none, or a name stands twice."""
    try:
        return json.loads(text.decode("utf-8") if isinstance(text, bytes) else text,
                          object_pairs_hook=_fields)  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise EvaluatorError(f"{path}: expected JSON, found none: {error}") from None


def check_fields(path: Path, content: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """EvaluatorError unless `content` has all of the fields, with these types, and no others."""
    for field, kind in fields.items():
        value = content.get(field)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise EvaluatorError(
                f"{path}: expected field {field!r} of type {kind.__name__}, found {short(value)!r}"
            )
    unknown = [field for field in content if field not in (*fields, "format")]
    if unknown:
        raise EvaluatorError(
            f"{path}: expected no fields but {list(fields)}, found {shortened(unknown)}"
        )


def find_game(path: Path, content: Mapping[str, Any], game: Game | None) -> Game:
    """The game that a file was made for: `game`, or where it is None the one of that name.

    Raises EvaluatorError for a name that no game has, another game and other rules.
    """
    if game is None:
        import games

        try:
            game = games.known(content["game"])
        except ValueError as error:
            raise EvaluatorError(f"{path}: {error}") from None
    if content["game"] != game.name:
        raise EvaluatorError(
            f"{path}: expected an evaluator of {game.name}, found one of {short(content['game'])}"
        )
    if content["rules"] != game.version:
        raise EvaluatorError(
            f"{path}: expected rules version {game.version} of {game.name}, found"
            f" {short(content['rules'])}"
        )
    return game


def find_features(path: Path, name: Any, game: Game, option: str = "features=") -> FeatureSet:
    """A game's feature set by its name; EvaluatorError where it has none such."""
    features = game.features.get(name) if isinstance(name, str) else None
    if features is None:
        raise EvaluatorError(
            f"{path}: expected a feature set of {game.name}"
            f" ({', '.join(game.features) or 'it has none'}), found {short(name)!r};"
            f" pass {option} for a set of your own"
        )
    return features  # type: ignore[no-any-return]


def find_input(
    path: Path, entry: Any, game: Game, own: Encoding | FeatureSet | None = None
) -> Encoding | FeatureSet:
    """The feature set or encoding that `describe_input` described.

    It is `own`, or where that is None the game's of that name. A feature set comes back with the
    terms of the file in the file's order, whatever terms it has got since. Raises EvaluatorError
    for what the game does not have and what has another identity by now.
    """
    if isinstance(entry, dict) and "features" in entry:
        check_fields(path, entry, {"features": str, "identity": dict})
        wrong = own is not None and not isinstance(own, FeatureSet)
        found = find_features(path, entry["features"], game, "inputs=") if own is None else own
        if wrong or not isinstance(found, FeatureSet):
            raise EvaluatorError(f"{path}: expected encoding {found.name}, found a feature set")
        terms = list(entry["identity"])
        if not terms:
            raise EvaluatorError(f"{path}: expected terms of feature set {found.name}, found none")
        check_terms(path, game, found, terms, entry["identity"])
        return found if terms == list(found.names) else found.only(terms)
    if not isinstance(entry, dict) or "encoding" not in entry:
        raise EvaluatorError(
            f"{path}: expected a feature set or an encoding as inputs, found {short(entry)}"
        )
    check_fields(path, entry, {"encoding": str, "size": int, "identity": str})
    encoding = game.encodings.get(entry["encoding"]) if own is None else own
    if encoding is None:
        raise EvaluatorError(
            f"{path}: expected an encoding of {game.name} ({', '.join(game.encodings) or 'none'}),"
            f" found {short(entry['encoding'])!r}; pass inputs= for one of your own"
        )
    if not isinstance(encoding, Encoding):
        raise EvaluatorError(f"{path}: expected feature set {encoding.name}, found an encoding")
    expected = describe_input(game, encoding)
    for key in ("size", "identity"):
        if entry[key] != expected[key]:
            raise EvaluatorError(
                f"{path}: its weights were made for another definition of encoding"
                f" {encoding.name}: expected {key} {expected[key]}, found {short(entry[key])}"
            )
    return encoding


def check_terms(
    path: Path, game: Game, features: FeatureSet, terms: Iterable[str], marks: Mapping[str, Any]
) -> None:
    """EvaluatorError unless `terms` are of the feature set and mean what `marks` stand for."""
    terms = list(terms)
    unknown = [term for term in terms if term not in features.terms]
    if unknown:
        raise EvaluatorError(
            f"{path}: expected terms of feature set {features.name}, found {shortened(unknown)}"
        )
    expected = identity(game, features)
    changed = [term for term in terms if marks.get(term) != expected[term]]
    if changed:
        raise EvaluatorError(
            f"{path}: its weights were made for other definitions of {', '.join(changed[:8])}:"
            f" expected {[expected[t] for t in changed[:8]]},"
            f" found {shortened(marks.get(t) for t in changed)}"
        )


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no name stands twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = [name for name, count in counts.items() if count > 1]
        raise ValueError(f"names that occur twice: {shortened(twice)}")
    return fields


def short(value: Any) -> str:
    """A value as text, cut where it is too long for a message."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def shortened(values: Iterable[Any]) -> list[str]:
    """The first few values as short texts."""
    return [short(value) for value in values][:8]
