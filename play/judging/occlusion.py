"""What a value becomes when one thing is hidden: an input of a network, or a piece of a position.

Hiding inputs asks the network itself, also about what cannot stand on a board; inputs that tell of
the same pieces in another way stay as they are.
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
    """A network's value without each of its inputs that are not 0.

    Terms are set to their means, 0 unless given; inputs of an encoding are switched off together
    where they tell of one piece, or of a side's checkers on a point. The arithmetic is that of
    float32 in another order than in play: values agree to about 1e-6 of their size.
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
    """Name, term and places of what is hidden together."""
    start = 0
    if encoding is not None:
        start = len(encoding)
        groups: dict[str, list[int]] = {}
        for place in np.flatnonzero(whole[:start]).tolist():
            groups.setdefault(_input_name(game, encoding, place, position), []).append(place)
        for name, places in groups.items():
            yield name, _checkers(game, encoding, places[0], position), places
    if features is not None:
        for i, term in enumerate(features.names):
            yield term, float(whole[start + i]), [start + i]


def _input_name(game: Game, encoding: Encoding, place: int, position: Any) -> str:
    """What an input that is 1 tells of, as people would say it."""
    if (game.name, encoding.name) == ("checkers", "piece_squares"):
        kind, square = divmod(place, 32)
        side = game.to_move(position) ^ (kind >> 1)
        number = 32 - square if game.to_move(position) else square + 1
        return f"{('Black', 'White')[side]} {('man', 'king')[kind & 1]} on {number}"
    if (game.name, encoding.name) == ("backgammon", "points"):
        theirs, unit = divmod(place, encoding.size // 2)
        colour = "XO"[game.to_move(position) ^ theirs]
        if unit < 144:
            return f"{colour} on {colour}'s {unit // 6 + 1} point"
        return f"{colour} on the bar" if unit < 148 else f"{colour} borne off"
    return f"{encoding.name} {place}"


def _checkers(game: Game, encoding: Encoding, place: int, position: Any) -> float:
    """How many pieces there are where an input that is 1 stands."""
    if (game.name, encoding.name) != ("backgammon", "points"):
        return 1.0
    from games.backgammon.rules import BAR, OFF
    from games.backgammon.situation import checker_counts

    theirs, unit = divmod(place, encoding.size // 2)
    point = unit // 6 + 1 if unit < 144 else BAR if unit < 148 else OFF
    return float(checker_counts(*position[2 * theirs : 2 * theirs + 2])[point])


def _forward(
    evaluator: NetworkEvaluator | OutcomeNetwork,
    layers: Any,
    rows: NDArray[np.float32],
    position: Any,
) -> NDArray[np.float64]:
    """The values [rows] of inputs [rows, inputs], all taken to be of the same position."""
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
    """An evaluator's value of the position without each piece.

    In checkers the piece is taken off; in backgammon all checkers of a side on a point, or on the
    bar, are borne off, unless that ends the game. TypeError for other games.
    """
    takers = {"checkers": _checkers_without, "backgammon": _backgammon_without}
    game = evaluator.game
    if game.name not in takers:
        raise TypeError(
            f"expected a linear evaluator or a network, which can be explained in {game.name},"
            f" found a {type(evaluator).__name__}"
        )
    things = list(takers[game.name](position))
    values = evaluator.values([position, *(other for _, _, other in things)]).tolist()
    return values[0], [
        (name, term, value) for (name, term, _), value in zip(things, values[1:], strict=True)
    ]


def _checkers_without(position: Any) -> Iterator[tuple[str, float, Any]]:
    from games.checkers.notation import square_bit, squares_of

    own, opponent, kings, side = position
    for pieces, colour in ((own, side), (opponent, 1 - side)):
        for square in squares_of(pieces):
            bit = 1 << square_bit(square)
            name = f"{('Black', 'White')[colour]} {'king' if kings & bit else 'man'} on {square}"
            yield name, 1.0, (own & ~bit, opponent & ~bit, kings & ~bit, side)


def _backgammon_without(position: Any) -> Iterator[tuple[str, float, Any]]:
    from games.backgammon.rules import BAR, CHECKERS, OFF
    from games.backgammon.situation import COLOURS, checker_counts, position_of

    near, far, their_near, their_far, side = position
    boards = checker_counts(near, far), checker_counts(their_near, their_far)
    for theirs, counts in enumerate(boards):
        colour = COLOURS[side ^ theirs]
        for point in range(1, BAR + 1):
            count = counts[point]
            if not count or counts[OFF] + count == CHECKERS:
                continue
            fewer = [0 if p == point else n for p, n in enumerate(counts)]
            own, other = (boards[0], fewer) if theirs else (fewer, boards[1])
            place = "the bar" if point == BAR else f"{colour}'s {point} point"
            yield f"{colour} on {place}", float(count), position_of(own, other, side)
