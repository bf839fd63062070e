"""Prefilters in files of evaluators: a small network of integers, and how much it excludes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from games.contract import Game
from search.evaluators.evaluator import Prefilter
from search.evaluators.files.header import EvaluatorError, check_fields, short
from search.evaluators.quantised import QuantisedNetwork

__all__ = ["PREFILTER", "prefilter_parts", "read_prefilter"]

#: The name of the entry in a header, and what the names of its arrays begin with.
PREFILTER = "prefilter"
_FIELDS: Mapping[str, Any] = {"keep": int, "margin": float, "evidence": dict, "network": dict}


def prefilter_parts(prefilter: Prefilter) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Returns the entry of a file's header, and the arrays for the file by their names.

    Raises TypeError if the evaluator is not a `QuantisedNetwork`.
    """
    if not isinstance(prefilter.evaluator, QuantisedNetwork):
        raise TypeError(
            f"{PREFILTER}: expected a quantised network to save, found {prefilter.evaluator!r}"
        )
    network, arrays = prefilter.evaluator._saved()
    entry = {
        "keep": prefilter.keep,
        "margin": prefilter.margin,
        "evidence": dict(prefilter.evidence),
        "network": network,
    }
    return entry, {f"{PREFILTER}_{name}": array for name, array in arrays.items()}


def read_prefilter(
    content: dict[str, Any], arrays: dict[str, NDArray[Any]], game: Game
) -> Prefilter | None:
    """Returns the prefilter in a file, or None, and removes its arrays from `arrays`.

    content: the file's header.
    arrays: the file's arrays by name.
    game: the game that the file was made for.

    Raises EvaluatorError if it is damaged.
    """
    entry = content.get(PREFILTER)
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise EvaluatorError(f"expected a prefilter, found {short(entry)}")
    check_fields(entry, _FIELDS)
    check_fields(entry["network"], QuantisedNetwork.fields)
    start = f"{PREFILTER}_"
    names = [name.removeprefix(start) for name in arrays if name.startswith(start)]
    own = {name: arrays.pop(start + name) for name in names}
    parts, options = QuantisedNetwork._parts_in(entry["network"], own, game, None)
    arrays.update({start + name: array for name, array in own.items()})  # which nobody knows
    try:
        network = QuantisedNetwork(game, *parts, **options, name=PREFILTER)
        return Prefilter(network, entry["keep"], entry["margin"], entry["evidence"])
    except (TypeError, ValueError) as error:
        raise EvaluatorError(f"{PREFILTER}: {short(error)}") from None
