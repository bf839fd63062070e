"""The header of evaluators' files, and how it is checked.

A header names the file's format, game, rules and inputs. Terms and encodings are identified by a
digest of their values at fixed sample positions. Their code may be rewritten or moved, but a file
refuses to load once their values have changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Game
from games.extras import extra
from games.features import Cells, Encoding, FeatureSet
from games.features.cells import CELL_INPUTS, PHASE_INPUTS
from search.evaluators.samples import sample_positions

__all__ = [
    "MOST_WEIGHT",
    "EvaluatorError",
    "check_fields",
    "check_printable",
    "describe_input",
    "find_game",
    "find_input",
    "identity",
    "parse_json",
    "reading",
]

#: Fields that files of all formats have, and their types.
FIELDS: Mapping[str, Any] = {"game": str, "rules": int, "name": str, "provenance": dict}


#: Largest weight in a file, because values by larger ones could look like proven wins.
MOST_WEIGHT = 1e9


class EvaluatorError(ValueError):
    """Raised for a file that is not an evaluator, or is one that does not fit."""

    #: The error for people who type options (`programs.ending.said`); empty if it is the same.
    typed = ""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise EvaluatorError, which begins with the file's path, for each ValueError and TypeError.

    path: the file whose content is read in the block.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        named = EvaluatorError(f"{path}: {error}")
        typed = getattr(error, "typed", "")
        named.typed = typed and f"{path}: {typed}"
        raise named from None


# --- writing ---------------------------------------------------------------------------------


def describe_input(game: Game, inputs: Encoding | FeatureSet) -> dict[str, Any]:
    """Returns the name and identity of a feature set or an encoding, for `find_input` to check."""
    if isinstance(inputs, FeatureSet):
        return {"features": inputs.name, "identity": identity(game, inputs)}
    return {"encoding": inputs.name, "size": inputs.size, "identity": _encoded(game, inputs)}


_identities: dict[tuple[str, int, str], dict[str, str]] = {}
_encodings: dict[tuple[str, int, str], str] = {}


def identity(game: Game, features: FeatureSet) -> dict[str, str]:
    """Returns for each term a digest of its values, eight hexadecimal digits.

    The interpreter computes them, because code for it would be a tenth of all that the first search
    of a new user compiles. It stops at divisions by 0, which have values in native code.
    """
    rules = (game.name, game.version, features.fingerprint)
    if rules not in _identities:
        positions = sample_positions(game)
        try:
            values = np.array([features.values(position) for position in positions])
        except ArithmeticError:
            values = features.measure(positions)
        _identities[rules] = {
            name: hashlib.sha256(np.round(column, 6).tobytes()).hexdigest()[:8]
            for name, column in zip(features.names, values.T + 0.0, strict=True)
        }
    return _identities[rules]


def _encoded(game: Game, encoding: Encoding) -> str:
    """Returns a digest of the inputs of an encoding that are 1, sixteen hexadecimal digits."""
    rules = (game.name, game.version, encoding.fingerprint)
    if rules not in _encodings:
        inputs = encoding.dense(sample_positions(game)) != 0
        _encodings[rules] = hashlib.sha256(np.packbits(inputs, axis=1).tobytes()).hexdigest()[:16]
    return _encodings[rules]


# --- reading ---------------------------------------------------------------------------------


def parse_json(text: str | bytes) -> Any:
    """Returns the content of JSON text; EvaluatorError if it is invalid or repeats a name."""
    try:
        return json.loads(text.decode("utf-8") if isinstance(text, bytes) else text,
                          object_pairs_hook=_fields)  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise EvaluatorError(f"expected JSON: {error}") from None


def check_fields(
    content: Mapping[str, Any],
    fields: Mapping[str, Any],
    *,
    optional: Collection[str] = (),
) -> None:
    """Raises EvaluatorError unless `content` has all these fields, with these types, and no others.

    content: the header.
    fields: the types of the fields by their names; "format" is always allowed too.
    optional: names of fields that are allowed too, which the caller checks.
    """
    for field, kind in fields.items():
        value = content.get(field)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise EvaluatorError(
                f"expected field {field!r} of type {kind.__name__}, found {short(value)!r}"
            )
        if isinstance(value, str) and not value.isprintable():  # it may be printed to a terminal
            raise EvaluatorError(
                f"expected field {field!r} of printable characters, found {short(value)!r}"
            )
    unknown = [field for field in content if field not in (*fields, *optional, "format")]
    if unknown:
        raise EvaluatorError(f"expected no fields but {list(fields)}, found {shortened(unknown)}")


def check_printable(entry: Any) -> None:
    """Raises EvaluatorError if a text anywhere in an entry would not only be shown by a terminal.

    entry: a text, a number, or a list or a dictionary of entries.
    """
    if isinstance(entry, str) and not entry.isprintable():
        raise EvaluatorError(f"expected printable characters, found {short(entry)!r}")
    if isinstance(entry, (dict, list)):
        for part in (*entry, *entry.values()) if isinstance(entry, dict) else entry:
            check_printable(part)


def find_game(content: Mapping[str, Any], game: Game | None) -> Game:
    """Returns the game that a file was made for.

    content: the file's header.
    game: the game expected; None for any known game.

    Raises EvaluatorError if the game is unknown or another one, or its rules are other ones.
    """
    if game is None:
        import games

        game = games.known(content["game"])
    if content["game"] != game.name:
        raise EvaluatorError(
            f"expected an evaluator of {game.name}, found one of {short(content['game'])}"
        )
    if content["rules"] != game.version:
        raise EvaluatorError(
            f"expected rules version {game.version} of {game.name}, found {short(content['rules'])}"
        )
    return game


def find_features(name: Any, game: Game) -> FeatureSet:
    """Returns a game's feature set by its name; raises EvaluatorError if it does not exist.

    name: the name of the feature set.
    game: the game.
    """
    features = game.features.get(name) if isinstance(name, str) else None
    if features is None:
        text = (
            f"expected a feature set of {game.name}"
            f" ({', '.join(game.features) or 'it has none'}), found {short(name)!r}; expected"
        )
        error = EvaluatorError(f"{text} inputs= for a set of your own")
        error.typed = f"{text} --features FILE, the file of its terms"
        raise error
    return features  # type: ignore[no-any-return]


def find_input(
    entry: Any, game: Game, own: Encoding | FeatureSet | None = None
) -> Encoding | FeatureSet:
    """Returns the feature set or encoding that `describe_input` described.

    entry: the description in the file.
    game: the game.
    own: the inputs to use; None for the game's own of that name.

    A feature set is returned with the terms of the file in the file's order, whatever terms were
    added since. Raises EvaluatorError if the game has no such inputs or their identity has changed.
    """
    if isinstance(entry, dict) and "features" in entry:
        check_fields(entry, {"features": str, "identity": dict})
        wrong = own is not None and not isinstance(own, FeatureSet)
        inputs = find_features(entry["features"], game) if own is None else own
        if wrong or not isinstance(inputs, FeatureSet):
            raise EvaluatorError(f"expected encoding {inputs.name}, found a feature set")
        terms = list(entry["identity"])
        if not terms:
            raise EvaluatorError(f"expected terms of feature set {inputs.name}, found none")
        check_terms(game, inputs, terms, entry["identity"])
        return inputs if terms == list(inputs.names) else inputs.only(terms)
    if not isinstance(entry, dict) or "encoding" not in entry:
        raise EvaluatorError(
            f"expected a feature set or an encoding as inputs, found {short(entry)}"
        )
    check_fields(entry, {"encoding": str, "size": int, "identity": str})
    cells = extra(game, Cells) if entry["encoding"] in (CELL_INPUTS, PHASE_INPUTS) else None
    encoding: Any = game.encodings.get(entry["encoding"]) if own is None else own
    if own is None and cells is not None:
        encoding = cells.encoding if entry["encoding"] == CELL_INPUTS else cells.phased
    if encoding is None:
        raise EvaluatorError(
            f"expected an encoding of {game.name} ({', '.join(game.encodings) or 'none'}),"
            f" found {short(entry['encoding'])!r}; pass inputs= for one of your own"
        )
    if not isinstance(encoding, Encoding):
        raise EvaluatorError(f"expected feature set {encoding.name}, found an encoding")
    expected = describe_input(game, encoding)
    for key in ("size", "identity"):
        if entry[key] != expected[key]:
            raise EvaluatorError(
                f"its weights were made for another definition of encoding"
                f" {encoding.name}: expected {key} {expected[key]}, found {short(entry[key])}"
            )
    return encoding


def check_terms(
    game: Game, features: FeatureSet, terms: Iterable[str], marks: Mapping[str, Any]
) -> None:
    """Raises EvaluatorError unless the feature set has these terms, with these digests.

    game: the game.
    features: the feature set.
    terms: names of terms.
    marks: the digests of the terms, as `identity` returns them.
    """
    terms = list(terms)
    unknown = [term for term in terms if term not in features.terms]
    if unknown:
        raise EvaluatorError(
            f"expected terms of feature set {features.name}, found {shortened(unknown)};"
            " CHANGELOG.md says which terms have new names, to be changed in the file"
        )
    expected = identity(game, features)
    changed = [term for term in terms if marks.get(term) != expected[term]]
    if changed:
        raise EvaluatorError(
            f"its weights were made for other definitions of {', '.join(changed[:8])}:"
            f" expected {[expected[t] for t in changed[:8]]},"
            f" found {shortened(marks.get(t) for t in changed)}"
        )


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns the JSON object with these fields; raises ValueError if a name is repeated."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = [name for name, count in counts.items() if count > 1]
        raise ValueError(f"names that occur twice: {shortened(twice)}")
    return fields


def short(value: Any) -> str:
    """Returns a value as text, cut to the length of a message."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def shortened(values: Iterable[Any]) -> list[str]:
    """Returns the first few values as short texts."""
    return [short(value) for value in values][:8]
