"""Values and chances in words: the results of searches as people and files read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from games.contract import Game
from search import PROVEN, WIN, Evaluator
from search.textbook.max_n import for_every_player

__all__ = [
    "chances_text",
    "file_value",
    "judged_play_text",
    "play_text",
    "values_of_all",
]


def values_of_all(game: Game, evaluator: Evaluator, position: Any, side: int) -> tuple[float, ...]:
    """Returns the static values of a position for all sides, side 0 first.

    game: a game for more than two players.
    side: the side to move.

    As in max^n, if the game's outcomes add up to a constant, values are shifted to add up to it. A
    win is WIN.
    """
    outcomes = game.outcome_vector(position)
    if outcomes is None:
        values = for_every_player(game, evaluator)(position)
        if game.constant_sum is not None:
            beyond = (sum(values) - game.constant_sum) / len(values)
            values = tuple(value - beyond for value in values)
    else:
        values = tuple(WIN * np.sign(one) for one in outcomes) if game.wins else outcomes
    first = -side % game.players
    return (*values[first:], *values[:first])


def chances_text(
    evaluator: Evaluator,
    position: Any,
    value: float,
    nodes: int | None,
    outcomes: Sequence[float] | None = None,
) -> str:
    """Returns the chances of a value, and the play for which they hold; empty if it is proven.

    It is also empty if they are not known.

    position: the position that was searched.
    value: its value, or that of a move there.
    nodes: positions that were searched; None if that is not known.
    outcomes: the probabilities of the game's outcomes with that value, which are named one by one;
        None without them.
    """
    if outcomes is not None and evaluator.game.outcomes is not None:
        named = zip(evaluator.game.outcomes.names, outcomes, strict=True)
        return ", ".join(f"{name} {100 * share:.1f} %" for name, share in named)
    chances = None if abs(value) > PROVEN else evaluator.chances(position, value, nodes)
    if chances is None:
        return ""
    if evaluator.calibration is None:
        return chances.text
    return evaluator.calibration.text(chances, nodes)


def play_text(evaluator: Evaluator, nodes: int | None) -> str:
    """Returns the play for which chances after a search of this size hold; empty if unknown."""
    return "" if evaluator.calibration is None else evaluator.calibration.play_text(nodes)


def judged_play_text(evaluator: Evaluator) -> str:
    """Returns the play for which the chances hold that judge moves; empty if unknown.

    It is also empty where moves are judged by points.
    """
    calibration = evaluator.calibration
    if calibration is None or evaluator.gives_outcomes or not evaluator.game.wins:
        return ""
    if calibration.terms:
        return "if both search as many positions for a move as were searched to judge it"
    return calibration.play_text(None)


def file_value(value: float) -> float:
    """Returns a value as a number for files.

    A win is 1000 minus the plies to the end of the game, a loss -1000 plus them.
    """
    if abs(value) <= PROVEN:
        return value
    plies = WIN - abs(value)
    return 1000.0 - plies if value > 0 else plies - 1000.0
