"""Among moves of equal value, the one that gives the opponent most ways to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from games.contract import Game
from games.values import PROVEN
from search.result import Result

__all__ = ["search_for_errors"]


def search_for_errors(
    game: Game,
    search: Callable[..., Result],
    position: Any,
    depth: int | None,
    nodes: int | None,
    seconds: float | None,
    history: Sequence[Any],
) -> Result:
    """The result of a search in which ties are broken by the opponent's chances to err.

    `search(position, depth, nodes, seconds, history)` gives the value of every move. It has half of
    the limits, and the replies the other half.
    """
    half_nodes = None if nodes is None else max(1, nodes // 2)
    half_seconds = None if seconds is None else seconds / 2
    result = search(position, depth, half_nodes, half_seconds, history)
    best = [move for move, value in result.moves if value == result.value]
    if len(best) < 2 or result.depth < 2:
        return result
    errors: dict[Any, int] = {}
    for move in best:
        if result.interrupted:
            break
        left_nodes = None if nodes is None else nodes - result.nodes
        left_seconds = None if seconds is None else seconds - result.seconds
        if (left_nodes or 1) <= 0 or (left_seconds or 1.0) <= 0:
            break
        before: Sequence[Any] = ()
        if game.irreversible and not game.irreversible(position, move):
            before = (*history, position)
        replies = search(
            game.play(position, move),
            result.depth - 1,
            left_nodes,
            left_seconds,
            before,
        )
        result = replace(
            result,
            nodes=result.nodes + replies.nodes,
            seconds=result.seconds + replies.seconds,
            lookups=result.lookups + replies.lookups,
            found=result.found + replies.found,
            interrupted=replies.interrupted,
        )
        short = replies.move is not None and replies.depth < result.depth - 1
        if short and not _decided(replies):
            break
        errors[move] = sum(value < replies.value for _, value in replies.moves)
    if len(errors) < len(best):
        return result
    chosen = max(best, key=lambda move: errors[move])
    return result if chosen == result.move else replace(result, move=chosen, pv=(chosen,))


def _decided(analysis: Result) -> bool:
    """Whether the end of the game is in sight after every move."""
    return bool(analysis.moves) and all(abs(value) > PROVEN for _, value in analysis.moves)
