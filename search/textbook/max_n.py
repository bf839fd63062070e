"""Textbook searches for more than two players: max^n, paranoid and best-reply search.

They look `depth` plies ahead (default: to the end of the game), try moves in the game's order and
keep the first of equal ones. `evaluate` values a position for every player, the side to move first,
as `outcome_vector` does; `for_every_player` makes such a function of one that values it for the
side to move. With two players all three are minimax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from games.contract import Game
from search.textbook.minimax import ended

__all__ = ["best_reply", "for_every_player", "max_n", "paranoid", "turned"]

Vector = tuple[float, ...]
Evaluate = Callable[[Any], Sequence[float]]


def for_every_player(game: Game, evaluate: Callable[[Any], float]) -> Callable[[Any], Vector]:
    """Returns a function of a position: its value for each player, the side to move first.

    evaluate: values a position for the side to move.

    The other players' values are those of the turned positions (`Game.turn`).
    """

    def values(position: Any) -> Vector:
        vector = [evaluate(position)]
        for _ in range(game.players - 1):
            position = game.turn(position)
            vector.append(evaluate(position))
        return tuple(vector)

    return values


def max_n(
    game: Game, position: Any, depth: int | None = None, evaluate: Evaluate | None = None
) -> Vector:
    """The values for all players if each maximises its own (Luckhardt and Irani 1986).

    The side to move comes first. Among moves of equal value to the mover the first one is played,
    and which it is may decide the values of the others, and so the result.
    """
    vector = ended(game.outcome_vector(position), position, depth, evaluate)
    if vector is not None:
        return tuple(vector)
    rest = None if depth is None else depth - 1
    best: Vector | None = None
    for move in game.legal_moves(position):
        after = max_n(game, game.play(position, move), rest, evaluate)
        seen = (*after[-1:], *after[:-1])
        if best is None or seen[0] > best[0]:
            best = seen
    assert best is not None
    return best


def paranoid(
    game: Game,
    position: Any,
    depth: int | None = None,
    evaluate: Evaluate | None = None,
    *,
    behind: int = 0,
) -> float:
    """The value for one player if all others minimise it (Sturtevant and Korf 2000).

    behind: how many moves that player comes behind the side to move; 0 for the side to move.
    """
    vector = ended(game.outcome_vector(position), position, depth, evaluate)
    if vector is not None:
        return float(vector[behind])
    rest = None if depth is None else depth - 1
    values = [
        paranoid(
            game, game.play(position, move), rest, evaluate, behind=(behind - 1) % game.players
        )
        for move in game.legal_moves(position)
    ]
    return min(values) if behind else max(values)


def best_reply(
    game: Game,
    position: Any,
    depth: int | None = None,
    evaluate: Evaluate | None = None,
    *,
    behind: int = 0,
    replying: bool = False,
) -> float:
    """The value for one player if only the strongest of all others' replies is played.

    The other players together make one move, and all but its mover pass (Schadd and Winands 2011).

    behind: how many moves that player comes behind the side to move; 0 for the side to move.
    replying: whether it has just moved, and the others reply.
    """
    vector = ended(game.outcome_vector(position), position, depth, evaluate)
    if vector is not None:
        return float(vector[behind])
    rest = None if depth is None else depth - 1
    position = turned(game, position, behind)
    values = []
    for seat in range(1, game.players) if replying else (0,):
        mover = turned(game, position, seat)
        back = (-seat - 1) % game.players
        values += [
            best_reply(
                game, game.play(mover, move), rest, evaluate, behind=back, replying=not replying
            )
            for move in game.legal_moves(mover)
        ]
    return min(values) if replying else max(values)


def turned(game: Game, position: Any, times: int) -> Any:
    """Returns a position turned to the player who comes `times` moves behind the side to move."""
    for _ in range(times % game.players):
        position = game.turn(position)
    return position
