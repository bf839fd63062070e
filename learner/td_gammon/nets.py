"""Networks of outcomes from nets: one net for all phases, and others beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["composed", "single"]


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
