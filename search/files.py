"""Linear evaluators on disk: JSON that a person can read and edit, term name -> weight.

A file says which game, rules and terms it was made for. Terms are identified by what they measure:
a short hash of a term's values on a fixed sample of positions. A term may be rewritten or moved,
but a file refuses to load once a term means something else.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from games.contract import Game
from games.features import FeatureSet

if TYPE_CHECKING:
    from search.evaluator import LinearEvaluator

__all__ = ["EvaluatorError", "identity", "load_evaluator", "save_linear", "write_atomically"]

FORMAT = "plysmith-linear-1"
MOST_BYTES = 4 << 20
SAMPLE = 256


class EvaluatorError(ValueError):
    """A file that holds no evaluator, or one that does not fit."""


def write_atomically(path: Any, text: str) -> None:
    """Write a text file so that whoever reads it finds the old text or the new, never a part.

    Missing folders are made. Raises OSError where the file cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sample_positions(game: Game) -> list[Any]:
    """The same positions of random play on every machine, some of each stage of a game."""
    positions: list[Any] = []
    state = 20591
    position = game.start()
    while len(positions) < SAMPLE:
        moves = game.legal_moves(position)
        positions.append(position)
        # a generator of our own, for libraries may change theirs
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        over = not moves or state >> 57 == 0
        position = game.start() if over else game.play(position, moves[(state >> 33) % len(moves)])
    return positions


_identities: dict[tuple[str, int, str], dict[str, str]] = {}


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


def load_evaluator(
    path: Any, *, game: Game | None = None, features: FeatureSet | None = None
) -> LinearEvaluator:
    """The evaluator in a file.

    The game is the one that the file names (or `game`, which must be the same); the feature set is
    found among the game's by its name, or given as `features`. Raises FileNotFoundError, and
    EvaluatorError for a file that is damaged, was made for another game, other rules or other
    terms, or has weights that are not finite numbers.
    """
    from search.evaluator import LinearEvaluator

    path = Path(path)
    if not path.is_file():
        known = f" or one of {', '.join(game.evaluators)}" if game and game.evaluators else ""
        raise FileNotFoundError(f"{path}: expected an evaluator file{known}, found none")
    content = _read(path)
    if game is None:
        import games

        try:
            game = games.load(content["game"])
        except ValueError as error:
            raise EvaluatorError(f"{path}: {error}") from None
    if content["game"] != game.name:
        raise EvaluatorError(
            f"{path}: expected an evaluator of {game.name}, found one of {_short(content['game'])}"
        )
    if content["rules"] != game.version:
        raise EvaluatorError(
            f"{path}: expected rules version {game.version} of {game.name}, found"
            f" {_short(content['rules'])}"
        )
    if features is None:
        features = game.features.get(content["features"])
        if features is None:
            raise EvaluatorError(
                f"{path}: expected a feature set of {game.name}"
                f" ({', '.join(game.features) or 'it has none'}), found"
                f" {_short(content['features'])!r};"
                " pass features= for a set of your own"
            )
    _check_terms(path, content, game, features)
    return LinearEvaluator(
        game,
        features,
        content["weights"],
        name=content["name"],
        provenance=content["provenance"],
    )


def _read(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MOST_BYTES:
        raise EvaluatorError(f"{path}: expected at most {MOST_BYTES} bytes, found a larger file")
    try:
        content = json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=_fields)
    except (ValueError, RecursionError) as error:
        raise EvaluatorError(f"{path}: expected JSON, found none: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise EvaluatorError(f"{path}: expected format {FORMAT!r}, found {_short(found)!r}")
    fields = {
        "game": str,
        "rules": int,
        "features": str,
        "name": str,
        "weights": dict,
        "identity": dict,
        "provenance": dict,
    }
    for field, kind in fields.items():
        value = content.get(field)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise EvaluatorError(
                f"{path}: expected field {field!r} of type {kind.__name__}, found {_short(value)!r}"
            )
    unknown = [field for field in content if field not in (*fields, "format")]
    if unknown:
        raise EvaluatorError(
            f"{path}: expected no fields but {list(fields)}, found {_shortened(unknown)}"
        )
    for term, weight in content["weights"].items():
        good = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not good or abs(weight) > 1e300 or not math.isfinite(weight):
            raise EvaluatorError(
                f"{path}: expected a finite number as weight of {_short(term)}, found"
                f" {_short(weight)}"
            )
    return content


def _check_terms(path: Path, content: dict[str, Any], game: Game, features: FeatureSet) -> None:
    unknown = [term for term in content["weights"] if term not in features.terms]
    if unknown:
        raise EvaluatorError(
            f"{path}: expected terms of feature set {features.name}, found {_shortened(unknown)}"
        )
    expected = identity(game, features)
    changed = [
        term
        for term in content["weights"]
        if content["weights"][term] != 0 and content["identity"].get(term) != expected[term]
    ]
    if changed:
        raise EvaluatorError(
            f"{path}: its weights were made for other definitions of {', '.join(changed[:8])}:"
            f" expected {[expected[t] for t in changed[:8]]},"
            f" found {_shortened(content['identity'].get(t) for t in changed)}"
        )


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no name stands twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = [name for name, count in counts.items() if count > 1]
        raise ValueError(f"names that occur twice: {_shortened(twice)}")
    return fields


def _short(value: Any) -> str:
    """A value as text, cut where it is too long for a message."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _shortened(values: Iterable[Any]) -> list[str]:
    return [_short(value) for value in values][:8]
