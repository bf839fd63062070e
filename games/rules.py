"""`Rules`: the rules of a game as kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["KernelRules", "Rules"]


class KernelRules:
    """The base of dataclasses of rules as kernels; raises TypeError for other functions."""

    def __post_init__(self) -> None:
        from games.kernels import is_kernel

        for name, kernel in vars(self).items():
            if kernel is not None and not is_kernel(kernel):
                raise TypeError(f"rule {name}: expected a function marked with @kernel")


@dataclass(frozen=True)
class Rules(KernelRules):
    """The rules of a game as kernels; positions are tuples of integers of one length.

    legal_moves: `legal_moves(position, moves)`, with dice `legal_moves(position, roll, moves)`,
        writes the moves and returns their number. Moves are integers; the search keeps statistics
        by their lowest 12 bits, which should differ between the moves of a position.
    play: `play(position, move)` returns the position after the move, seen by the other side.
    outcome: `outcome(position)` returns the value of a finished game, or NaN during the game.
    key: `key(position)` returns a hash. Default: a hash of the integers.
    noisy: `noisy(position)`, whether the position is tactical. Default: never.
    irreversible: `irreversible(position, move)`, whether no earlier position can come back after
        the move. Default: positions never repeat.
    gain: `gain(position, move)`, the move-ordering score. Default: 0 for all moves.
    left: `left(position)`, the number of plies that the game still lasts, passes aside. Once a
        search comes near it, its next iteration goes to the end. Default: not known.
    standard: `standard(position)` returns the representative of all positions that are the same by
        symmetry. Default: the position itself.
    outcome_vector: `outcome_vector(position, values)` writes what a finished game is worth to each
        side, the side to move first; required with more than two players, whose `outcome` is its
        first number. Default: the outcome and its negative.
    turn: `turn(position)` returns the same board seen by the next side, which then moves; required
        with more than two players. It is not called after the end of the game.
    """

    legal_moves: Callable[..., Any]
    play: Callable[..., Any]
    outcome: Callable[..., Any]
    key: Callable[..., Any] | None = None
    noisy: Callable[..., Any] | None = None
    irreversible: Callable[..., Any] | None = None
    gain: Callable[..., Any] | None = None
    left: Callable[..., Any] | None = None
    standard: Callable[..., Any] | None = None
    outcome_vector: Callable[..., Any] | None = None
    turn: Callable[..., Any] | None = None
