"""The tree of a small alpha-beta search as text, with every window, value and cutoff."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from games.contract import Game

__all__ = ["SearchTree", "search_tree"]


@dataclass(frozen=True)
class SearchTree:
    """The tree of a search.

    value: value of the root for its side to move.
    leaves: number of positions valued at the end of a line.
    all_leaves: number of positions that minimax would have valued.
    lines: the tree as text, one line for each position and for each cutoff.
    """

    value: float
    leaves: int
    all_leaves: int
    lines: tuple[str, ...]


def search_tree(
    game: Game,
    position: Any,
    depth: int,
    evaluate: Callable[[Any], float] | None = None,
    *,
    most_lines: int = 10_000,
) -> SearchTree:
    """Returns the tree of textbook alpha-beta to `depth` (Knuth and Moore 1975, fail-soft).

    It is the search of `search.minimax.alphabeta`: moves in the game's order, no transposition
    table, no quiescence, values for the side to move (negamax). Without `evaluate` the depth has to
    reach the end of the game. Raises ValueError for a depth below 1, and if the text would exceed
    `most_lines` lines.
    """
    if depth < 1:
        raise ValueError(f"depth: expected at least 1, found {depth}")
    lines: list[str] = []
    leaves = 0

    def write(text: str) -> None:
        if len(lines) >= most_lines:
            raise ValueError(
                f"expected a tree of at most {most_lines} lines, found more: try a smaller depth"
            )
        lines.append(text)

    def visit(
        position: Any, rest: int, alpha: float, beta: float, name: str, stem: str, twigs: str
    ) -> float:
        nonlocal leaves
        value = game.outcome(position)
        kind = "end of the game"
        if value is None and rest == 0:
            kind = "static"
            if evaluate is None:
                raise ValueError("expected an evaluator for a search of limited depth, found none")
            value = evaluate(position)
        if value is not None:
            leaves += 1
            write(f"{stem}{name}  = {_number(value)}  ({kind})")
            return value
        write(f"{stem}{name}  alpha {_number(alpha)}, beta {_number(beta)}")
        place = len(lines) - 1
        best = -math.inf
        moves = game.legal_moves(position)
        for i, move in enumerate(moves):
            text = game.move_text(position, move)
            last = i == len(moves) - 1
            after = game.play(position, move)
            value = -visit(
                after,
                rest - 1,
                -beta,
                -max(alpha, best),
                text,
                twigs + ("└ " if last else "├ "),
                twigs + ("  " if last else "│ "),
            )
            best = max(best, value)
            if best >= beta and not last:
                left = len(moves) - 1 - i
                write(
                    f"{twigs}└ cut: {text} gives {_number(best)} >= beta {_number(beta)};"
                    f" {left} move{'s' * (left > 1)} not looked at"
                )
                break
        lines[place] += f"  = {_number(best)}"
        return best

    value = visit(position, depth, -math.inf, math.inf, "position", "", "")
    return SearchTree(value, leaves, _leaves(game, position, depth), tuple(lines))


def _leaves(game: Game, position: Any, depth: int) -> int:
    """Returns the number of positions that minimax values."""
    if depth == 0 or game.outcome(position) is not None:
        return 1
    return sum(
        _leaves(game, game.play(position, move), depth - 1) for move in game.legal_moves(position)
    )


def _number(value: float) -> str:
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return f"{value + 0.0:+.4g}"
