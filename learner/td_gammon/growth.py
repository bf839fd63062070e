"""Networks that grow while they learn: larger ones that give the smaller ones' outputs at first.

Chen, Goodfellow and Shlens (2016, Net2Net) let a larger network continue from the weights of a
smaller one. Here new units begin with random weights before them and zeros behind them, so that
nothing changes at first and all of them can learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.evaluators.layers import separate
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["can_grow", "composed", "grown", "single"]

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def can_grow(before: tuple[int, ...], after: tuple[int, ...], outputs: int) -> bool:
    """Returns whether hidden layers of the widths `before` can grow to `after`.

    They can if no layer gets narrower and the layers added behind the others have at least two
    units for each output.
    """
    return (
        len(after) >= len(before)
        and all(new >= old for old, new in zip(before, after, strict=False))
        and all(width >= 2 * outputs for width in after[len(before) :])
    )


def single(network: OutcomeNetwork) -> OutcomeNetwork:
    """Returns a network whose only net, for all phases, is the first net of another."""
    net = network.nets[0]
    return OutcomeNetwork(network.game, [(net.inputs, net.layers)], name=network.name)


def composed(
    network: OutcomeNetwork, others: OutcomeNetwork | None, phases: Sequence[str]
) -> OutcomeNetwork:
    """Returns a network with a net of its own for some phases of the game.

    network: has one net, for all phases but `phases`.
    others: has the nets of `phases`.
    phases: names of phases of the game; with none the result is a copy of `network`.
    """
    if not phases:
        return network.copy()
    assert others is not None and network.game.phases is not None
    nets: list[Any] = []
    for number, name in enumerate(network.game.phases.names):
        source = others if name in phases else network
        net = source.nets[number if len(source.nets) > 1 else 0]
        nets.append((net.inputs, net.layers))
    return OutcomeNetwork(network.game, nets, name=network.name)


def grown(
    network: OutcomeNetwork, hidden: tuple[int, ...], *, seed: tuple[int, ...], spread: float = 0.3
) -> OutcomeNetwork:
    """Returns a network whose nets have hidden layers of these widths and the same probabilities.

    They are the same except for the order of additions. `spread` is the deviation of new random
    weights of the first layer, in units of that of He et al. (2015). Raises ValueError if a net
    cannot grow to these widths, see `can_grow`.
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
    """Add units to a hidden layer, with weights of 0 behind them."""
    weights, bias = layers[layer]
    behind, last = layers[layer + 1]
    more = width - len(bias)
    new = random.normal(0.0, deviation, (len(weights), more)).astype(np.float32)
    zeros = np.zeros((more, behind.shape[1]), dtype=np.float32)
    layers[layer] = np.hstack([weights, new]), np.append(bias, np.zeros(more, dtype=np.float32))
    layers[layer + 1] = np.vstack([behind, zeros]), last


def _deepen(layers: Layers, width: int, random: np.random.Generator) -> None:
    """Add a hidden layer before the outputs; two of its units pass each output on.

    One of them passes on the positive part and the other the negative part.
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
