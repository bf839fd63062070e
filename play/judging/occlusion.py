"""Values with one thing hidden: an input of a network, or a piece of a position.

Hiding inputs asks the network itself, also about inputs that no position has; other inputs that
describe the same pieces stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import Game
from games.features import Encoding, FeatureSet
from search.evaluators.evaluator import Evaluator
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["Things", "hidden_inputs", "without_pieces"]

#: The value of the position, then for each thing its name, its term and the value without it.
Things = tuple[float, list[tuple[str, float, float]]]


def hidden_inputs(
    evaluator: NetworkEvaluator | OutcomeNetwork, position: Any, means: Mapping[str, float]
) -> Things:
    """Returns a network's value without each of its inputs that are not 0.

    Terms are set to their means (default 0). Inputs of an encoding that describe one piece, or a
    side's checkers on a point, are set to 0 together. The float32 arithmetic has another order than
    in play, so values agree within about 1e-6 of their size.
    """
    net: Any = evaluator
    if isinstance(evaluator, OutcomeNetwork):
        phases = evaluator.game.phases
        many = phases is not None and len(evaluator.nets) > 1
        phase = int(kernels.uncompiled(phases.phase)(position)) if phases and many else 0
        net = evaluator.nets[phase]
    encoding, features = net.encoding, net.features
    inputs: list[NDArray[np.float32]] = []
    if encoding is not None:
        inputs.append(encoding.dense([position])[0])
    if features is not None:
        inputs.append(features.measure([position])[0].astype(np.float32))
    whole = np.concatenate(inputs)
    rows, things = [whole], []
    for name, term, changed in _variants(evaluator.game, encoding, features, position, whole):
        row = whole.copy()
        row[changed] = means.get(name, 0.0) if len(changed) == 1 and _is_term(net, changed) else 0
        if (row != whole).any():
            rows.append(row)
            things.append((name, term))
    values = _forward(evaluator, net.layers, np.stack(rows), position)
    return float(values[0]), [
        (name, term, float(value)) for (name, term), value in zip(things, values[1:], strict=True)
    ]


def _is_term(net: Any, places: list[int]) -> bool:
    return places[0] >= (len(net.encoding) if net.encoding is not None else 0)


def _variants(
    game: Game,
    encoding: Encoding | None,
    features: FeatureSet | None,
    position: Any,
    whole: NDArray[np.float32],
) -> Iterator[tuple[str, float, list[int]]]:
    """Name, term and input numbers of each thing to hide."""
    start = 0
    if encoding is not None:
        start = len(encoding)
        groups: dict[tuple[str, float], list[int]] = {}
        for place in np.flatnonzero(whole[:start]).tolist():
            name, count = game.input_text(encoding.name, place, position)
            groups.setdefault((name, count), []).append(place)
        for (name, count), places in groups.items():
            yield name, count, places
    if features is not None:
        for i, term in enumerate(features.names):
            yield term, float(whole[start + i]), [start + i]


def _forward(
    evaluator: NetworkEvaluator | OutcomeNetwork,
    layers: Any,
    rows: NDArray[np.float32],
    position: Any,
) -> NDArray[np.float64]:
    """Returns the values [rows] of inputs [rows, inputs], in the phase of one position."""
    total = rows
    for number, (weights, bias) in enumerate(layers):
        total = (np.maximum(total, 0) if number else total) @ weights + bias
    if isinstance(evaluator, NetworkEvaluator):
        return total[:, 0].astype(np.float64) * evaluator.scale
    probabilities = 1.0 / (1.0 + np.exp(-np.clip(total.astype(np.float64), -16.0, 16.0)))
    confine = kernels.uncompiled(evaluator.kinds.confine)
    for row in probabilities:
        confine(position, row)
    return np.asarray(evaluator.kinds.values(probabilities))


def without_pieces(evaluator: Evaluator, position: Any) -> Things:
    """Returns an evaluator's value of the position without each piece, by `Game.removals`.

    Raises TypeError if the game takes no pieces away.
    """
    things = list(evaluator.game.removals(position))
    if not things:
        raise TypeError(
            "expected a linear evaluator or a network, which can be explained in"
            f" {evaluator.game.name}, found a {type(evaluator).__name__}"
        )
    values = evaluator.values([position, *(other for _, _, other in things)]).tolist()
    return values[0], [
        (name, term, value) for (name, term, _), value in zip(things, values[1:], strict=True)
    ]
