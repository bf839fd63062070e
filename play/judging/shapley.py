"""Fair shares of a value: the Shapley values of the things that an evaluator sees.

A thing is a piece, a side's checkers on a point, or a term. Its share is what it adds to the value
when all things come into view one by one, averaged over all orders (Shapley 1953; for any model
Strumbelj and Kononenko 2010, for many kinds Lundberg and Lee 2017). Shares add up to the value
minus the value with nothing in view. In a lost position hiding a single thing hardly changes the
value, yet its share still shows its part.

An input of a network is hidden by setting it to 0, even if no position has such inputs. Other
evaluators value the position without the piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.board import Pieces
from games.contract import Game
from games.features import Encoding, FeatureSet
from search.evaluators.evaluator import Evaluator
from search.evaluators.network import ScaledNetwork
from search.evaluators.outcome_network import OutcomeNetwork

__all__ = ["MOST_ROWS", "Things", "inputs_of", "pieces_of", "removes", "shapley_values"]

Floats = NDArray[np.float64]
Shown = NDArray[np.bool_]
#: Names and terms of things, and a function from [rows, things], whether each is in view, to the
#: values [rows].
Things = tuple[list[tuple[str, float]], Callable[[Shown], Floats]]
#: The approximate maximum number of values to compute; if things have more subsets, orders are
#: drawn, always the same ones.
MOST_ROWS = 4096
FEWEST_PAIRS = 16


def shapley_values(count: int, values: Callable[[Shown], Floats]) -> tuple[float, Floats]:
    """Returns the value with nothing in view, and the share of each of `count` things.

    values: as in `Things`.

    Shares are exact for up to twelve things. For more they are means over random orders, each with
    its reverse (antithetic; Castro and others 2009 use single orders). These also add up exactly.
    """
    if 1 << count <= MOST_ROWS:
        return _exact(count, values)
    random = np.random.default_rng(0)
    pairs = max(FEWEST_PAIRS, MOST_ROWS // (2 * count))
    half = [random.permutation(count) for _ in range(pairs)]
    orders = np.array([*half, *(order[::-1] for order in half)])
    # place[o, i]: when thing i comes into view in order o; row k of an order shows its first k
    place = np.argsort(orders, axis=1)
    shown = place[:, None, :] < np.arange(count + 1)[None, :, None]
    rows, where = np.unique(shown.reshape(-1, count), axis=0, return_inverse=True)
    valued = values(rows)[where.ravel()].reshape(len(orders), count + 1)
    added = np.diff(valued, axis=1)
    shares = np.take_along_axis(added, place, axis=1).mean(axis=0)
    return float(valued[0, 0]), shares


def _exact(count: int, values: Callable[[Shown], Floats]) -> tuple[float, Floats]:
    """Returns the same over all sets of things."""
    sets = np.arange(1 << count)
    shown = (sets[:, None] >> np.arange(count)) & 1 == 1
    valued = values(shown)
    sizes = shown.sum(axis=1)
    weights = np.array([1.0 / (count * math.comb(count - 1, size)) for size in range(count)])
    shares = np.zeros(count)
    for i in range(count):
        without = sets[~shown[:, i]]
        added = valued[without | 1 << i] - valued[without]
        shares[i] = weights[sizes[without]] @ added
    return float(valued[0]), shares


# --- inputs of networks --------------------------------------------------------------------------


def inputs_of(evaluator: ScaledNetwork | OutcomeNetwork, position: Any) -> Things:
    """Returns the inputs of a network that are not 0.

    Inputs of an encoding that describe one piece, or a side's checkers on a point, are set to 0
    together. The arithmetic has another order than in play, so values agree within about 1e-6 of
    their size.
    """
    phases, phase = evaluator.game.phases, 0
    if phases is not None and len(evaluator.nets) > 1:
        phase = int(kernels.uncompiled(phases.phase)(position))
    net = evaluator.nets[phase]
    encoding, features = net.encoding, net.features
    inputs: list[NDArray[np.float32]] = []
    if encoding is not None:
        inputs.append(encoding.dense([position])[0])
    if features is not None:
        inputs.append(features.measure([position])[0].astype(np.float32))
    whole = np.concatenate(inputs)
    things, hidden = [], []
    for name, term, places in _variants(evaluator.game, encoding, features, position, whole):
        if whole[places].any():
            things.append((name, term))
            hidden.append(places)

    def values(shown: Shown) -> Floats:
        rows = np.repeat(whole[None, :], len(shown), axis=0)
        for i, places in enumerate(hidden):
            rows[np.ix_(~shown[:, i], np.array(places))] = 0
        outputs = net.dense(rows).astype(np.float64)
        if not isinstance(evaluator, OutcomeNetwork):
            return outputs[:, 0] * evaluator.factor
        probabilities = 1.0 / (1.0 + np.exp(-np.clip(outputs, -16.0, 16.0)))
        confine = kernels.uncompiled(evaluator.kinds.confine)
        for row in probabilities:
            confine(position, row)
        return np.asarray(evaluator.kinds.values(probabilities))

    return things, values


def _variants(
    game: Game,
    encoding: Encoding | None,
    features: FeatureSet | None,
    position: Any,
    whole: NDArray[np.float32],
) -> Iterator[tuple[str, float, list[int]]]:
    """Name, term and input numbers of each thing."""
    start = 0
    words = Pieces.of(game).input_text
    if encoding is not None:
        start = len(encoding)
        groups: dict[tuple[str, float], list[int]] = {}
        for place in np.flatnonzero(whole[:start]).tolist():
            name, count = words(encoding.name, place, position)
            groups.setdefault((name, count), []).append(place)
        for (name, count), places in groups.items():
            yield name, count, places
    if features is not None:
        for i, term in enumerate(features.names):
            yield term, float(whole[start + i]), [start + i]


# --- pieces of positions -------------------------------------------------------------------------


def removes(game: Game) -> bool:
    """Returns whether a game takes pieces away for explanations."""
    return Pieces.of(game).removals is not None


def pieces_of(evaluator: Evaluator, position: Any) -> Things:
    """Returns the pieces of a position, by `games.board.Pieces`.

    A piece that cannot be taken away, because that would end the game, stays in view.

    Raises TypeError if the game takes no pieces away.
    """
    game = evaluator.game
    removals = Pieces.of(game).removals
    if removals is None:
        raise TypeError(
            "expected a linear evaluator or a network, which can be explained in"
            f" {game.name}, found a {type(evaluator).__name__}"
        )

    things = [(name, term) for name, term, _ in removals(position)]

    def without(parent: Any, thing: int) -> Any:
        name = things[thing][0]
        return next((other for removed, _, other in removals(parent) if removed == name), parent)

    def values(shown: Shown) -> Floats:
        # each position is a larger one without one of its pieces
        positions = {(1 << len(things)) - 1: position}
        masks = [sum(1 << i for i in np.flatnonzero(row).tolist()) for row in shown]
        for mask in sorted(set(masks), key=int.bit_count, reverse=True):
            if mask not in positions:
                hidden = (i for i in range(len(things)) if not mask >> i & 1)
                thing = next(i for i in hidden if mask | 1 << i in positions)
                positions[mask] = without(positions[mask | 1 << thing], thing)
        return evaluator.values([positions[mask] for mask in masks])

    return things, values
