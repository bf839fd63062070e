"""Depth 0 in games with dice: the move with the best static value, one decision at a time.

GNU Backgammon calls it 0-ply: the position after each legal move is valued without searching.
"""

from __future__ import annotations

from typing import Any

from games import kernels
from games.contract import DiceGame
from search.evaluators.evaluator import Evaluator, Prefilter
from search.expectiminimax.turn import NativeTurn, reply_by
from search.lookups.lookup import Lookup

__all__ = ["StaticChoice"]


class StaticChoice:
    """Chooses moves at depth 0, natively for a compiled game.

    The move chosen leads to the position with the best static value for the side that moves; of
    equal moves it is the first in the game's order. The value of a position is its outcome, else
    that of the lookup, else that of the evaluator. Only moves that the evaluator's prefilter keeps
    are valued, if it has one.

    game: the game.
    evaluator: the evaluator.
    lookup: known values, or None.

    Attributes:
        value: the value of the last move chosen, for the side that moved.

    It must not be used by two threads at once.
    """

    def __init__(self, game: DiceGame, evaluator: Evaluator, lookup: Lookup | None = None) -> None:
        self.game = game
        self.evaluator = evaluator
        self.value = 0.0
        self._probe = lookup.plain() if lookup is not None else None
        self.native = game.rules is not None and kernels.runs_compiled()
        if self.native:
            self._turn = NativeTurn(game)
            self._replies = self._turn.replies(evaluator, lookup)
            place = self._turn.here, self._turn.after
            self._by = self._replies.reply_at, self._replies.address, *place

    def choose(self, position: Any, roll: int) -> Any:
        """Returns the best move.

        Raises ValueError if the position has no moves or `roll` is not a roll of the game, and any
        error of the evaluator.
        """
        if not self.native:
            return self._choose_plainly(position, roll)
        if self.game.outcome(position) is not None or not 0 <= roll < len(self.game.rolls):
            raise ValueError(f"expected a position with moves and a roll, found {position}, {roll}")
        self._turn.position = position
        self.value = reply_by(*self._by, roll)
        self._turn.check()
        return self._replies.move

    def _choose_plainly(self, position: Any, roll: int) -> Any:
        moves = self.game.legal_moves(position, roll)
        if not moves:
            raise ValueError(f"expected a position with moves, found {position}")
        if self.evaluator.prefilter is not None:
            moves = self._kept(position, moves, self.evaluator.prefilter)
        values = [-self.value_of(self.game.play(position, move)) for move in moves]
        self.value = max(values)
        return moves[values.index(self.value)]

    def _kept(self, position: Any, moves: Any, prefilter: Prefilter) -> list[Any]:
        """Returns the moves that a prefilter keeps."""
        ranks = [
            -self.value_of(self.game.play(position, move), prefilter.evaluator) for move in moves
        ]
        best = sorted(ranks, reverse=True)
        least = max(best[: prefilter.keep][-1], best[0] - prefilter.margin)
        return [move for move, rank in zip(moves, ranks, strict=True) if rank >= least]

    def value_of(self, position: Any, evaluator: Evaluator | None = None) -> float:
        """Returns the value of a position for its side to move: by outcome, lookup or evaluator.

        evaluator: values positions in place of the player's own. Default: that one.
        """
        value = self.game.outcome(position)
        if value is not None:
            return float(value)
        if self._probe is not None:
            known, value, *_ = self._probe(position)
            if known:
                return float(value)
        return float((evaluator or self.evaluator)(position))
