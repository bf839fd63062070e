"""Values, hints and explanations as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from games.record import GameRecord
from games.values import value_text
from play.players.chances import chances_text
from play.players.seats import Seat
from search import Evaluator

__all__ = ["best_moves", "cube_hint", "parts_of_value", "shown_value"]

#: Moves that are shown.
HINTS = 5


def shown_value(
    evaluator: Evaluator,
    position: Any,
    value: float,
    nodes: int,
    outcomes: Any = None,
    depth: str = "",
    *,
    drawn: bool = False,
) -> str:
    """Returns a value of a position in the game's unit, with the depth and its chances.

    drawn: whether a draw is proven; the text then says so in place of the value.
    """
    if drawn:
        return f"drawn{depth}"
    chances = chances_text(evaluator, position, value, nodes, outcomes)
    text = value_text(evaluator.in_units(value)) + depth
    return f"{text} ({chances})" if chances else text


def best_moves(thinker: Seat, record: GameRecord, roll: int | None) -> Iterator[str]:
    """Yields the best moves and their values."""
    game, position, evaluator = record.game, record.position, thinker.evaluator
    result = thinker.think(position, roll=roll, history=record.history, all_moves=True)
    yield f"{thinker.name} at depth {result.depth}:"
    moves = result.moves or ((result.move, result.value),)
    outcomes = result.move_outcomes or (result.outcomes,) * len(moves)
    for (move, value), after in list(zip(moves, outcomes, strict=True))[:HINTS]:
        drawn = move in result.drawn
        text = shown_value(evaluator, position, value, result.nodes, after, drawn=drawn)
        yield f"  {game.move_text(position, move):<20} {text}"
    if len(result.pv) > 1:
        yield f"  principal variation: {result.pv_text}"
    if evaluator.gives_outcomes:
        chances = chances_text(evaluator, position, 0.0, None, evaluator.outcomes([position])[0])
        yield f"  before the roll: {chances}"


def cube_hint(thinker: Seat, situation: Any) -> Iterator[str]:
    """Yields the right action with the cube, and why. Raises ValueError without chances."""
    if not thinker.evaluator.gives_outcomes:
        raise ValueError(f"expected an evaluator that gives chances, found {thinker.name}")
    decision = thinker.decision(situation)
    yield f"{thinker.name}: {decision.action}: {decision.reason}"
    yield f"  {decision.figures}"


def parts_of_value(thinker: Seat, record: GameRecord) -> Iterator[str]:
    """Yields the parts of the static value of the last position; ValueError if it has none."""
    from play.judging.explanation import contribution_table, explain

    position, evaluator = record.position, thinker.evaluator
    try:
        parts = explain(evaluator, position)
    except TypeError as error:
        raise ValueError(str(error)) from None
    value = value_text(evaluator.in_units(evaluator(position)))
    if evaluator.gives_outcomes:  # static values and searched values have different chances
        value = shown_value(evaluator, position, evaluator(position), 1)
    yield f"The static value for {record.game.sides[record.to_move]} is {value}:"
    yield "\n".join(contribution_table([thinker.name], [parts], 12))
