"""Linear evaluators: the sum of weight times term.

Their files are JSON that people can read and edit; they map each term to its weight.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from games.contract import Game
from games.extras import Extra, extra
from games.features import FeatureSet
from games.features.cell_terms import CellTerm
from games.features.cells import Cells
from games.features.term_file import INVENTED, feature_set_of, named
from games.kernels.memory import native_function, read_position
from programs.whole_files import write_atomically
from search.evaluators.calibration import CALIBRATION, read_calibration
from search.evaluators.evaluator import SIGNATURE, Evaluator, Fail, NativeText
from search.evaluators.files import header

__all__ = ["MOST_BYTES", "LinearEvaluator", "UnitTerms", "load_linear"]

FORMAT = "plysmith-linear-1"
CELL_TERMS, MOST_TERMS = "cell_terms", 1000
#: Size of the largest file that is read.
MOST_BYTES = 4 << 20
#: Products that are added before they join the total, so that sums need not wait for one another.
SUMMANDS = 8


@dataclass(frozen=True)
class UnitTerms(Extra):
    """What one unit of a game changes in the terms, an extra.

    by_set: by the name of a feature set, the terms that one unit changes, and by how much: a man is
        {"men": 1.0}. Values of other sets are shown as they are.
    """

    by_set: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


class LinearEvaluator(Evaluator):
    """The sum of weight times term over a feature set; terms of weight 0 cost nothing.

    game: the game.
    features: the terms.
    weights: an array in the order of the terms, or a mapping from term to weight, in which missing
        terms have the weight 0.
    name: the name of the evaluator.
    provenance: how the weights were obtained; saved with them.

    Raises ValueError if the number of weights is wrong, a term is unknown, or a weight is NaN or
    infinite.
    """

    suffix = ".json"
    #: of the native code in this process
    _address: int | None = None

    def __init__(
        self,
        game: Game,
        features: FeatureSet,
        weights: Mapping[str, float] | ArrayLike,
        *,
        name: str = "linear",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.game = game
        self.features = features
        self.name = name
        self.provenance = dict(provenance or {})
        if isinstance(weights, Mapping):
            unknown = [term for term in weights if term not in features.terms]
            if unknown:
                raise ValueError(
                    f"weights: {', '.join(unknown[:8])} not in feature set {features.name}, whose"
                    f" terms are {', '.join(features.names)}"
                )
            weights = [weights.get(term, 0.0) for term in features.names]
        self.weights = np.array(weights, dtype=np.float64)
        if self.weights.shape != (len(features),):
            raise ValueError(
                f"weights: expected {len(features)} for feature set {features.name}, found shape"
                f" {self.weights.shape}"
            )
        if not np.isfinite(self.weights).all():
            bad = [n for n, w in self.term_weights().items() if not math.isfinite(w)]
            raise ValueError(f"weights: expected finite numbers, found NaN or infinity for {bad}")

    def __repr__(self) -> str:
        return f"LinearEvaluator({self.game.name}, {self.features.name}, {self.name!r})"

    @property
    def unit(self) -> float:
        """The value of one of the game's units by these weights, see `UnitTerms`."""
        changed = UnitTerms.of(self.game).by_set.get(self.features.name, {})
        weights = self.term_weights()
        value = sum(change * weights.get(term, 0.0) for term, change in changed.items())
        return float(value) if value > 0 else 1.0

    def term_weights(self) -> dict[str, float]:
        """Returns the weights by the names of their terms."""
        return dict(zip(self.features.names, self.weights.tolist(), strict=True))

    def copy(self) -> LinearEvaluator:
        """Returns the same evaluator with weights of its own."""
        return LinearEvaluator(
            self.game, self.features, self.weights, name=self.name, provenance=self.provenance
        )

    def plain(self) -> Callable[[Any], float]:
        features, weights = self.features, self.weights

        def value(position: Any) -> float:
            total = 0.0
            for weight, term in zip(weights.tolist(), features.values(position), strict=True):
                if weight != 0.0:
                    total += weight * term
            return total

        return value

    def native_text(self) -> NativeText:
        features = self.features
        lines = [
            "def value_at(data, source):",
            f"    position = {read_position(len(self.game.start()))}",
            *(["    swapped = swap(position)"] if features.swap else []),
            "    total = 0.0",
        ]
        if features.together:  # without branches, so that the compiler computes parts only once
            for i in range(0, len(features), SUMMANDS):
                some = range(i, min(i + SUMMANDS, len(features)))
                parts = [f"load_float(data, {j}) * {features.expression(j)}" for j in some]
                lines.append(f"    total += {' + '.join(parts)}")
        for i in range(0 if features.together else len(features)):
            lines += [
                f"    weight = load_float(data, {i})",
                "    if weight != 0.0:",
                f"        total += weight * {features.expression(i)}",
            ]
        lines.append("    return total")
        return NativeText("\n".join(lines), features.scope(), self.weights.view(np.int64))

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        if self._address is None:
            made = self.native_text()
            self._address = native_function("value_at", made.text, made.scope, SIGNATURE)
        return self._address, self.weights.ctypes.data, self.weights

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_address": None}

    def save(self, path: Any) -> None:
        """Write the evaluator as JSON. Raises EvaluatorError if a weight is NaN or infinite."""
        if not np.isfinite(self.weights).all():
            raise header.EvaluatorError("weights: expected finite numbers, found NaN or infinity")
        content = {
            "format": FORMAT,
            "game": self.game.name,
            "rules": self.game.version,
            "features": self.features.name,
            "name": self.name,
            "weights": self.term_weights(),
            "identity": header.identity(self.game, self.features),
            "provenance": self.provenance,
        }
        if self.features.cell_terms:
            cell_terms = self.features.cell_terms.items()
            content[CELL_TERMS] = {name: term.plain() for name, term in cell_terms}
        if self.calibration is not None:
            content[CALIBRATION] = self.calibration.content()
        write_atomically(path, json.dumps(content, indent=1) + "\n")


def load_linear(path: Path, game: Game | None, features: FeatureSet | None) -> LinearEvaluator:
    """Returns the linear evaluator in a file.

    path: the file.
    game: the game that the file must be made for; None for the game that it names.
    features: the feature set of the weights; None for the one that the file names. Terms that the
        file holds as data are its own.

    Raises EvaluatorError if the file is damaged or does not fit.
    """
    content = _read(path)
    game = header.find_game(content, game)
    if CELL_TERMS in content:
        features = _own_terms(game, content)
    elif features is None:
        features = header.find_features(content["features"], game)
    weights = content["weights"]
    unknown = [term for term in weights if term not in features.terms]
    used = [term for term in weights if weights[term] != 0]
    header.check_terms(game, features, unknown or used, content["identity"])
    if CELL_TERMS in content and used:  # together, terms without a weight would be computed too
        features, weights = features.only(used), {term: weights[term] for term in used}
    evaluator = LinearEvaluator(
        game, features, weights, name=content["name"], provenance=content["provenance"]
    )
    evaluator.calibration = read_calibration(content, game)
    return evaluator


def _own_terms(game: Game, content: Mapping[str, Any]) -> FeatureSet:
    """Returns the terms of the file's feature set, then those that the file holds as data."""
    given, cells = content[CELL_TERMS], extra(game, Cells)
    try:
        if cells is None or not isinstance(given, dict) or not 0 < len(given) <= MOST_TERMS:
            raise ValueError(
                f"expected 1 to {MOST_TERMS} terms over cells, found {header.short(given)}"
            )
        terms = named(cells, [CellTerm.of(cells, plain) for plain in given.values()])
        if list(terms) != list(given):
            raise ValueError(f"expected the names {list(terms)!r:.200}")
        name = content["features"]  # INVENTED alone, even if somebody's own set is called so
        return feature_set_of(cells, terms, None if name == INVENTED else game.features.get(name))
    except ValueError as error:
        raise header.EvaluatorError(
            f"{CELL_TERMS}: {error}; CHANGELOG.md says which areas have new names"
        ) from None


def _read(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MOST_BYTES:
        raise header.EvaluatorError(f"expected at most {MOST_BYTES} bytes, found a larger file")
    content = header.parse_json(path.read_bytes())
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        format_ = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise header.EvaluatorError(f"expected format {FORMAT!r}, found {header.short(format_)!r}")
    fields = {**header.FIELDS, "features": str, "weights": dict, "identity": dict}
    header.check_fields(content, fields, optional=[CALIBRATION, CELL_TERMS])
    for term, weight in content["weights"].items():
        good = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not good or not abs(weight) <= header.MOST_WEIGHT:
            raise header.EvaluatorError(
                f"expected a finite number of at most {header.MOST_WEIGHT:g} as weight of"
                f" {header.short(term)}, found {header.short(weight)}"
            )
    return content
