"""Chooses, among moves of equal value, the one that gives the opponent most ways to err."""

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
    """Returns the result of a search that breaks ties by the number of the opponent's bad replies.

    game: the game.
    search: a function search(position, depth, nodes, seconds, history), whose result holds the
        value of every move.
    position: the root.
    depth: greatest depth in plies; None for no limit, likewise below.
    nodes: greatest number of nodes, half of them for the root and half for the replies.
    seconds: greatest time, divided likewise.
    history: the earlier positions of the game, oldest first.
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
            lookup_hits=result.lookup_hits + replies.lookup_hits,
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
    """Returns whether every move leads to a proven win or loss."""
    return bool(analysis.moves) and all(abs(value) > PROVEN for _, value in analysis.moves)
