"""`Engine`: search with limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame, Game
from search.alphabeta.search import DEEPEST, UNLIMITED, AlphaBetaSearch
from search.alphabeta.techniques import Techniques, as_techniques
from search.alphabeta.ties import search_for_errors
from search.evaluators.evaluator import Evaluator
from search.evaluators.load import as_evaluator
from search.evaluators.shipped import find_file
from search.expectiminimax.move_filters import MoveFilters
from search.expectiminimax.search import DiceSearch
from search.lookups.lookup import Lookup
from search.result import Result
from search.running import check_limits

__all__ = ["DEEPEST", "UNLIMITED", "Engine"]

TIES = ("first", "opponent_errors")


class Engine:
    """A game, an evaluator and what searches of them remember.

    `evaluator` is anything that `search.as_evaluator` takes. Positions and evaluators that are
    kernels are searched by native code, plain Python games by the same source in Python.

    lookup: asked at every position, see `search.lookups.lookup`.
    table_mib: size of the transposition table.
    equal_depth: trust the table only for searches of the same depth, so that the value is that of
        plain minimax.
    order_depth: order moves by the static values they lead to where at least this many plies
        remain; None for never (with a beam, for 2).
    repetition: value a position that comes back as a draw, in games where positions can.
    minimax: search every move of every position in full, without pruning; for those who want all
        values exact.
    trace: room for so many positions with what the last search found of each, in its last two
        iterations together: see `traced`. 0 for none, which costs nothing.
    techniques: what the search does beyond alpha-beta, `Techniques` or a text such as "selective"
        (see `search.parse_techniques`, which looks beside the evaluator's file for what ProbCut
        knows of it, where `evaluator` names one); None for what changes no value.
    ties: among moves of equal exact value, "first" takes the first found in an order shuffled by
        `seed` (the game's own order where it is None), "opponent_errors" the one after which most
        replies are worse for the opponent than his best. That one searches all moves in full, in
        half of the nodes and seconds allowed, and keeps the other half for the replies; where that
        is too little to search them all as deep, it takes the first.

    In games with dice (`games.DiceGame`) the search is expectiminimax, and these options serve it;
    `order_depth`, `trace` and "opponent_errors" do not.

    prune: "star2", "star1" (Ballard 1983) or "none"; moves and values are the same. None is for
        "star2" where the evaluator states its `bounds`. `minimax` is for "none".
    order: a cheap evaluator, as `evaluator`, by which replies are tried in order; None for the
        replies that were best in positions beside.
    filters: moves not to be looked at more closely, `MoveFilters` or a name in `search.FILTERS`;
        None for none. Filters are not exact.
    threads: so many share the work of a search, in native code, unless its nodes are limited. With
        dice moves and values are the same for any number, but `nodes` and the like are not; without
        them nothing is the same twice with more than one.

    Not to be used by two threads at once.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Any = None,
        *,
        lookup: Lookup | None = None,
        table_mib: float = 16.0,
        equal_depth: bool = False,
        order_depth: int | None = None,
        repetition: bool = True,
        minimax: bool = False,
        trace: int = 0,
        ties: str = "first",
        seed: int | None = None,
        prune: str | None = None,
        order: Any = None,
        filters: MoveFilters | str | None = None,
        techniques: Techniques | str | None = None,
        threads: int = 1,
    ) -> None:
        if ties not in TIES:
            raise ValueError(f"ties: expected one of {', '.join(TIES)}, found {ties!r}")
        if not 0 < table_mib <= 65536:
            raise ValueError(f"table_mib: expected 0 to 65536 MiB, found {table_mib}")
        self.game = game
        self.evaluator: Evaluator = as_evaluator(game, evaluator)
        self._options = {
            "lookup": lookup, "table_mib": table_mib, "equal_depth": equal_depth,
            "order_depth": order_depth, "repetition": repetition, "minimax": minimax,
            "trace": trace, "ties": ties, "seed": seed, "prune": prune, "order": order,
            "filters": filters, "techniques": techniques, "threads": threads,
        }  # fmt: skip
        self.ties = ties
        named = isinstance(evaluator, (str, Path))
        path = find_file(evaluator, game.name) if named else None
        self.techniques = as_techniques(techniques, path)
        if techniques is not None:  # found beside the evaluator's file
            self._options["techniques"] = self.techniques
        self._search: AlphaBetaSearch | None = None
        self._dice: DiceSearch | None = None
        if isinstance(game, DiceGame):
            if order_depth is not None or trace or ties != "first" or techniques is not None:
                raise ValueError(
                    f"{game.name} has dice: expected no order_depth, no trace, no techniques and"
                    f" ties 'first', found {order_depth}, {trace}, {techniques} and {ties!r}"
                )
            if minimax and prune not in (None, "none"):
                raise ValueError(f"prune: expected 'none' with minimax, found {prune!r}")
            self._dice = DiceSearch(
                game,
                self.evaluator,
                lookup=lookup,
                table_mib=table_mib,
                prune="none" if minimax else prune,
                order=order,
                filters=filters,
                threads=threads,
                seed=seed,
            )
            self.native = self._dice.native
            return
        if (prune, order, filters) != (None, None, None):
            raise ValueError(
                f"expected prune, order and filters for a game with dice, found {game.name}"
            )
        self._search = AlphaBetaSearch(
            game,
            self.evaluator,
            lookup=lookup,
            table_mib=table_mib,
            equal_depth=equal_depth,
            order_depth=order_depth,
            repetition=repetition,
            minimax=minimax,
            trace=trace,
            techniques=self.techniques,
            threads=threads,
            seed=seed,
        )
        self.native = self._search.native

    def __reduce__(self) -> Any:
        # what earlier searches left, and addresses, stay in the process
        return _again, (type(self), self.game, self.evaluator, self._options)

    @property
    def steady(self) -> bool:
        """Whether alpha-beta takes the moves in the game's own order, and the first of equals."""
        return self._search is not None and self.ties == "first" and self._search.steady

    def line_for_games(self, depth: int, nodes: int) -> Any:
        """The line of a native engine, set up for whole games at these limits."""
        return self._without_dice().line_for_games(depth, nodes)

    def after_games(self) -> None:
        """Go on counting where whole games have left off; raises what an evaluator raised."""
        self._without_dice().after_games()

    def stop(self) -> None:
        """End the search that is under way; it returns what it has. Callable from any thread."""
        (self._dice or self._without_dice()).stop()

    def traced(self) -> tuple[Any, Any, Any, Any]:
        """What the last search found below its root: positions, values, depths and bounds.

        Positions [n, integers] (a list in plain Python) that were searched at least one ply deep in
        the last iteration, each time they were: their values are exact
        (`search.lookups.lookup.EXACT`), at least or at most what the search says (LOWER, UPPER:
        alpha-beta cut it short). Values are for the side to move there; those beyond WIN / 2 count
        plies from the root of the search. Positions that the transposition table answered are left
        out.
        """
        width = len(self.game.start()) if self.native else 0
        return self._without_dice().line.trace(width)  # type: ignore[no-any-return]

    def table_fill(self) -> float:
        """The share of the transposition table, from 0 to 1, that the last search has written.

        It is estimated from a thousand entries. TypeError in a game with dice.
        """
        return self._without_dice().fill()

    def clear(self) -> None:
        """Forget everything earlier searches left, so that the next is as in a new engine."""
        (self._dice or self._without_dice()).clear()

    def search(
        self,
        position: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        history: Sequence[Any] = (),
        roll: int | None = None,
    ) -> Result:
        """The best move found within the limits, of which at least one is given.

        `history` holds the earlier positions of the game since the last irreversible move, oldest
        first. Ctrl-C ends the search, which then returns what it has, marked as interrupted.

        In a game with dice the move is for a `roll`; without one there is no move, and the value is
        that of the position before its roll. Depths are GNU Backgammon's plies: at depth 0 it is
        the evaluator that values the position, before the roll or after each move; the value at
        depth n before the roll is the average over the rolls of the value at depth n - 1 of the
        best move. The last depth searched in full counts.

        Raises ValueError for a limit or a roll out of range, and what a Python evaluator raised.
        """
        if self._dice is not None:
            return self._dice.search(position, roll, depth, nodes, seconds, exact=False)
        self._refuse_roll(roll)
        search = self._without_dice().search
        if self.ties == "first":
            return search(position, depth, nodes, seconds, history, exact=False)
        check_limits(depth, nodes, seconds, least=1, deepest=DEEPEST)
        return search_for_errors(self.game, search, position, depth, nodes, seconds, history)

    def analyse(
        self,
        position: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        history: Sequence[Any] = (),
        roll: int | None = None,
    ) -> Result:
        """Like `search`, with the exact value of every legal move in `Result.moves`.

        In a game with dice move filters then hold for replies only.
        """
        if self._dice is not None:
            return self._dice.search(position, roll, depth, nodes, seconds, exact=True)
        self._refuse_roll(roll)
        return self._without_dice().search(position, depth, nodes, seconds, history, exact=True)

    def best_moves(
        self, positions: Any, rolls: Any, *, depth: int = 0, decide_only: bool = False
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The best moves [positions] with a roll each, and their values, in a game with dice.

        The same as by a search for each, in one native call. With `decide_only` a move that is the
        only one, or the only one that filters leave, is not searched further, and its value is that
        of the depth before. Raises ValueError for a roll or depth out of range and for a position
        in which the game is over, TypeError in a game without dice, KeyboardInterrupt when stopped.
        """
        return self._with_dice().best_moves(positions, rolls, depth, decide_only)

    def values(self, positions: Any, *, depth: int = 0) -> NDArray[np.float64]:
        """The values [positions] of positions before their rolls, in a game with dice.

        The same as by a search without a roll for each. Raises as `best_moves`.
        """
        return self._with_dice().values(positions, depth)

    def _with_dice(self) -> DiceSearch:
        if self._dice is None:
            raise TypeError(f"expected a game with dice, found {self.game.name}")
        return self._dice

    def _without_dice(self) -> AlphaBetaSearch:
        if self._search is None:
            raise TypeError(f"expected a game without dice, found {self.game.name}")
        return self._search

    def _refuse_roll(self, roll: int | None) -> None:
        if roll is not None:
            raise ValueError(f"{self.game.name} has no dice: expected no roll, found {roll!r}")


def _again(kind: Any, game: Game, evaluator: Evaluator, options: dict[str, Any]) -> Engine:
    """The same engine, with nothing remembered."""
    return kind(game, evaluator, **options)  # type: ignore[no-any-return]
