"""Networks that grow while they learn: larger ones that say what the smaller ones said.

Chen, Goodfellow and Shlens (2016, Net2Net) let a larger network go on from what a smaller one has
learned. Here new units begin with weights by chance before them and zeros behind them, so that
nothing changes at first and all of them can learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.evaluators.network import separate
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["can_grow", "grown"]

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def can_grow(before: tuple[int, ...], after: tuple[int, ...], outputs: int) -> bool:
    """Whether hidden layers of these widths can grow to others.

    No layer gets narrower, and layers that are added, behind the others, have at least two units
    for each output.
    """
    return (
        len(after) >= len(before)
        and all(new >= old for old, new in zip(before, after, strict=False))
        and all(width >= 2 * outputs for width in after[len(before) :])
    )


def grown(
    network: OutcomeNetwork, hidden: tuple[int, ...], *, seed: tuple[int, ...], spread: float = 0.3
) -> OutcomeNetwork:
    """A network whose nets have hidden layers of these widths and give the same probabilities.

    They are the same but for the order of additions. `spread` is that of new random weights of the
    first layer, in units of those of He et al. (2015). Raises ValueError where a net cannot grow to
    them, see `can_grow`.
    """
    outputs = len(network.kinds)
    nets: list[Any] = []
    for number, net in enumerate(network.nets):
        before = tuple(net.widths[1:-1])
        if not can_grow(before, hidden, outputs):
            raise ValueError(
                f"hidden: expected widths that {before} can grow to (none narrower, and at least"
                f" {2 * outputs} units in layers added behind), found {hidden}"
            )
        random = np.random.default_rng((*seed, number, 11))
        layers = [(weights.copy(), bias.copy()) for weights, bias in net.layers]
        encoding, features = separate(net.inputs)
        busy = (encoding.most if encoding else 0) + (len(features) if features else 0)
        for layer, width in enumerate(hidden[: len(before)]):
            deviation = (
                spread * np.sqrt(2.0 / busy) if layer == 0 else np.sqrt(2.0 / hidden[layer - 1])
            )
            _widen(layers, layer, width, deviation, random)
        for width in hidden[len(before) :]:
            _deepen(layers, width, random)
        nets.append((net.inputs, layers))
    return OutcomeNetwork(network.game, nets, name=network.name, provenance=network.provenance)


def _widen(
    layers: Layers, layer: int, width: int, deviation: float, random: np.random.Generator
) -> None:
    """Give a hidden layer more units, which nothing listens to yet."""
    weights, bias = layers[layer]
    behind, last = layers[layer + 1]
    more = width - len(bias)
    new = random.normal(0.0, deviation, (len(weights), more)).astype(np.float32)
    zeros = np.zeros((more, behind.shape[1]), dtype=np.float32)
    layers[layer] = np.hstack([weights, new]), np.append(bias, np.zeros(more, dtype=np.float32))
    layers[layer + 1] = np.vstack([behind, zeros]), last


def _deepen(layers: Layers, width: int, random: np.random.Generator) -> None:
    """Put a hidden layer before the outputs, two of whose units carry each output on.

    One carries what is above 0 and the other what is below.
    """
    weights, bias = layers.pop()
    outputs = len(bias)
    before = random.normal(0.0, np.sqrt(2.0 / len(weights)), (len(weights), width))
    before[:, :outputs], before[:, outputs : 2 * outputs] = weights, -weights
    behind = np.zeros((width, outputs))
    behind[:outputs], behind[outputs : 2 * outputs] = np.eye(outputs), -np.eye(outputs)
    layers += [
        (before.astype(np.float32), np.zeros(width, dtype=np.float32)),
        (behind.astype(np.float32), bias),
    ]
