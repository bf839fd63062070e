"""Searches of games without dice that model the opponent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from games.contract import Game
from search.alphabeta.search import AlphaBeta, AlphaBetaOptions
from search.alphabeta.techniques import EXACT_SEARCH, as_techniques
from search.evaluators.evaluator import Evaluator
from search.evaluators.load import as_evaluator
from search.evaluators.samples import value_bound
from search.line import NativeLine, PlainLine
from search.lookups.lookup import Lookup
from search.opponent.opponent import Opponent

__all__ = ["OpponentModel"]


class OpponentModel(AlphaBeta):
    """Searches of a game against a model of the opponent.

    Every move of our own is searched in full, and every reply that the opponent may play; his own
    search is alpha-beta, with a transposition table of its own.

    Raises ValueError for options that other searches have, and for more than one thread.
    """

    _other: Any  # the line of the opponent's searches

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        options: AlphaBetaOptions,
        opponent: Opponent,
        *,
        lookup: Lookup | None,
        table_mib: float,
        threads: int,
        seed: Any,
    ) -> None:
        known = AlphaBetaOptions(repetition=options.repetition, techniques=options.techniques)
        if options != known or as_techniques(options.techniques, game) != EXACT_SEARCH:
            raise ValueError(
                f"opponent: expected no options of the search but repetition, found {options}"
            )
        if threads != 1:
            raise ValueError(f"opponent: expected one thread, found {threads}")
        theirs = opponent.evaluator
        self._theirs = evaluator if theirs is None else as_evaluator(game, theirs)
        options = AlphaBetaOptions(repetition=options.repetition, equal_depth=True)
        super().__init__(
            game, evaluator, options, lookup=lookup, table_mib=table_mib, threads=1, seed=seed
        )
        averages_wins = game.wins and opponent.temperature > 0
        self.line.put(
            temperature=float(opponent.temperature),
            foresight=opponent.depth or 0,
            replies=opponent.replies or 0,
            win_value=value_bound(game, evaluator) if averages_wins else 1.0,
        )

    @property
    def steady(self) -> bool:
        """False: whole games are not played in native code."""
        return False

    def clear(self) -> None:
        super().clear()
        self._other.clear()

    def _kernel(self) -> Any:
        from search.opponent.model import search_depth

        return search_depth

    def _bind(self, search_depth: Any, *, table_mib: float, **options: Any) -> None:
        super()._bind(search_depth, table_mib=table_mib, **options)
        if self.native:
            self._other = NativeLine(table_mib)
            self._other.enter(self.game, self._theirs.native(self._fail))
            self._other.pin(positions=self.line.pinned["positions"])
            self.line.put(other=self._other.address)
        else:
            self._other = PlainLine(self.game, self._theirs.plain())
            self._other.positions = self.line.positions
            self.line.put(other=self._other)

    def _put(self, **values: Any) -> None:
        super()._put(**values)
        self._other.put(**values)

    def _start(self, line: Any, position: Any, moves: list[Any], history: Sequence[Any]) -> None:
        super()._start(self._other, position, moves, history)
        super()._start(line, position, moves, history)
