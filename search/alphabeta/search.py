"""Alpha-beta, the search for games without dice, on one thread or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from games.contract import Game
from games.kinds import WITHOUT_CHANCE
from search.alphabeta.techniques import Techniques, as_techniques
from search.evaluators.evaluator import Evaluator, PythonEvaluator
from search.evaluators.samples import value_scale
from search.lookups.lookup import Lookup
from search.search import Search

__all__ = ["AlphaBeta", "AlphaBetaOptions", "options_for_line"]

#: A search of at most this depth, or this many nodes, takes milliseconds and needs no own thread.
SHORT_DEPTH, SHORT_NODES = 6, 100_000
#: A win of unknown length by a lookup is worth this more than the static value, in the game's unit.
SURE = 16.0
#: The maximum number of positions of a trace.
MOST_TRACE = 1 << 24


@dataclass(frozen=True, kw_only=True)
class AlphaBetaOptions:
    """Options of searches of games without dice.

    equal_depth: use table entries only from searches of the same depth, so that the value is that
        of plain minimax.
    repetition: value a repeated position as a draw, in games where positions can repeat, and one
        after 40 moves of each side without an irreversible one.
    trace: room of the trace, in positions of the last two iterations together; see `Engine.traced`.
        0 for no trace, which costs nothing.
    techniques: techniques beyond alpha-beta, as `Techniques` or a text such as "selective" (see
        `search.parse_techniques`). Default: those that change no value.

    Of moves of equal value the first is taken, in an order that the engine's seed shuffles.

    Raises ValueError if an option is out of range.
    """

    equal_depth: bool = False
    repetition: bool = True
    trace: int = 0
    techniques: Techniques | str | None = None

    def __post_init__(self) -> None:
        if self.trace not in range(MOST_TRACE + 1):
            raise ValueError(f"trace: expected 0 to {MOST_TRACE} positions, found {self.trace!r}")


def options_for_line(
    game: Game, evaluator: Evaluator, options: AlphaBetaOptions, techniques: Techniques
) -> dict[str, Any]:
    """Returns the options of a search as fields of its record (`search.line`)."""
    scale = value_scale(game, evaluator) if techniques.singular else 1.0
    return {
        "wins": int(game.wins),
        "repeats": int(options.repetition and game.irreversible is not None),
        "equal_depth": int(options.equal_depth),
        "sure": SURE * evaluator.unit,
        **techniques.for_line(scale),
    }


class AlphaBeta(Search):
    """Alpha-beta searches of a game.

    With more than one thread, each searches the same position on a line of its own, and they share
    the transposition table, so that each profits from the others' results (lazy SMP, Hyatt and
    others about 2010). A move waits while another thread searches the position that it leads to
    (ABDADA, Weill 1996, in a simple form). The result is that of the first thread.
    """

    paces = True

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        options: AlphaBetaOptions,
        *,
        lookup: Lookup | None,
        table_mib: float,
        threads: int,
        seed: Any,
    ) -> None:
        WITHOUT_CHANCE.expect(game)
        super().__init__(game, evaluator, threads=threads, seed=seed)
        self.techniques = techniques = as_techniques(options.techniques, game)
        from search.alphabeta.root import search_depth

        self._bind(
            search_depth, table_mib=table_mib, threads=threads, lookup=lookup, trace=options.trace
        )
        self._put(**options_for_line(game, evaluator, options, techniques))
        self.clear()

    @property
    def steady(self) -> bool:
        """Whether one thread searches root moves in the game's order and takes the first best."""
        return self._random is None and len(self._lines) == 1

    def line_for_games(self, depth: int, nodes: int) -> Any:
        """Returns the line, set up to play whole games at these limits."""
        self._stopped = False
        self.line.put(depth_limit=depth, node_limit=nodes, exact_root=0)
        return self.line

    def after_games(self) -> None:
        """Take over the generation that whole games reached. Raises an error of the evaluator."""
        self._generation = int(self.line.generation)
        self._raise_failure()

    def _is_short(self) -> bool:
        line = self.line
        return (
            self.native
            and not isinstance(self.evaluator, PythonEvaluator)  # which may take long
            and bool(line.depth_limit <= SHORT_DEPTH or line.node_limit <= SHORT_NODES)
        )
