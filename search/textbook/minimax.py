"""Textbook searches of games for two: a few lines each, to read and to test against.

Minimax, alpha-beta, expectiminimax, and search against a model of the opponent.

They look `depth` plies ahead (default: to the end of the game) and return the value for the side to
move. They have no transposition table, no move ordering and no quiescence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from games.contract import DiceGame, Game, expect_game
from games.kinds import WITHOUT_CHANCE
from search.textbook.opponent import Opponent

__all__ = ["against", "alphabeta", "best_moves", "ended", "expectiminimax", "minimax"]

Evaluate = Callable[[Any], float]


def minimax(
    game: Game, position: Any, depth: int | None = None, evaluate: Evaluate | None = None
) -> float:
    """The value of a position with best play on both sides (von Neumann 1928, Shannon 1950)."""
    _refuse_chance(game)
    value = ended(game.outcome(position), position, depth, evaluate)
    if value is not None:
        return float(value)
    rest = None if depth is None else depth - 1
    return max(
        -minimax(game, game.play(position, move), rest, evaluate)
        for move in game.legal_moves(position)
    )


def alphabeta(
    game: Game,
    position: Any,
    depth: int | None = None,
    evaluate: Evaluate | None = None,
    *,
    alpha: float = -math.inf,
    beta: float = math.inf,
) -> float:
    """The value of `minimax`, without searching moves that cannot change it (Knuth and Moore 1975).

    The search of a position ends once its value is at least `beta`: the opponent will avoid it.
    Moves are tried in the game's order.
    """
    _refuse_chance(game)
    value = ended(game.outcome(position), position, depth, evaluate)
    if value is not None:
        return float(value)
    rest = None if depth is None else depth - 1
    best = -math.inf
    for move in game.legal_moves(position):
        after = game.play(position, move)
        value = -alphabeta(game, after, rest, evaluate, alpha=-beta, beta=-max(alpha, best))
        best = max(best, value)
        if best >= beta:
            break
    return best


def expectiminimax(
    game: Game,
    position: Any,
    depth: int | None = None,
    evaluate: Evaluate | None = None,
    *,
    roll: int | None = None,
) -> float:
    """The value of a position of a game with dice or with chance nodes (Michie 1966).

    With dice, the value before the roll is the average over the rolls; with a roll it is the best
    move's value. `depth` counts positions before a roll, so with a roll and depth 0 the static
    values after the moves decide.

    The value of a chance node is the average over its branches; it counts as a ply.
    """
    outcome = game.outcome(position)
    if outcome is not None:
        return outcome
    dice = game if isinstance(game, DiceGame) else None
    if dice is not None and roll is not None:
        return max(
            -expectiminimax(game, game.play(position, move), depth, evaluate)
            for move in dice.legal_moves(position, roll)
        )
    if depth == 0:
        return float(ended(None, position, depth, evaluate))
    rest = None if depth is None else depth - 1
    if dice is not None:
        total = 0.0
        for roll, chance in enumerate(dice.rolls):
            if chance > 0:
                total += chance * expectiminimax(game, position, rest, evaluate, roll=roll)
        return total
    moves = game.legal_moves(position)
    values = [expectiminimax(game, game.play(position, move), rest, evaluate) for move in moves]
    chances = game.chances_at(position)
    if chances:
        total = 0.0
        for chance, value in zip(chances, values, strict=True):
            total += chance * value
        return total
    return max(-value for value in values)


def against(
    game: Game,
    position: Any,
    opponent: Opponent,
    depth: int | None = None,
    evaluate: Evaluate | None = None,
    *,
    ply: int = 0,
) -> float:
    """The value of a position against an opponent who errs (Carmel and Markovitch 1993).

    opponent: his moves' probabilities are those of `Opponent.chances`.
    ply: plies played since our first move; the opponent moves at odd ones. The value is for the
        side to move.

    With temperature 0, ties of the opponent count as the worst for the other side.
    """
    value = ended(game.outcome(position), position, depth, evaluate)
    if value is not None:
        return float(value)
    rest = None if depth is None else depth - 1
    after = [game.play(position, move) for move in game.legal_moves(position)]
    values = [-against(game, one, opponent, rest, evaluate, ply=ply + 1) for one in after]
    if ply % 2 == 0:
        return max(values)
    theirs = opponent.evaluator or evaluate
    looks = rest if opponent.depth is None else opponent.depth - 1
    chances = opponent.chances([-minimax(game, one, looks, theirs) for one in after])
    if opponent.temperature == 0:
        return max(value for value, chance in zip(values, chances, strict=True) if chance > 0)
    return math.fsum(map(operator.mul, chances, values))


def best_moves(
    game: Game, position: Any, depth: int | None = None, evaluate: Evaluate | None = None
) -> list[tuple[Any, float]]:
    """Returns (move, value) for every legal move, best first, equals in the game's order."""
    rest = None if depth is None else depth - 1
    values = [
        (move, -minimax(game, game.play(position, move), rest, evaluate))
        for move in game.legal_moves(position)
    ]
    return sorted(values, key=lambda item: -item[1])


def ended(outcome: Any, position: Any, depth: int | None, evaluate: Any) -> Any:
    """Returns the outcome of a finished game, at depth 0 the static value, otherwise None.

    Raises ValueError at depth 0 without an evaluator.
    """
    if outcome is not None or depth != 0:
        return outcome
    if evaluate is None:
        raise ValueError("expected an evaluator for a search of limited depth, found none")
    return evaluate(position)


def _refuse_chance(game: Game) -> None:
    expect_game(game)
    WITHOUT_CHANCE.expect(game)
