"""`Engine`: search with limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame, Game
from search.alphabeta.search import DEEPEST, AlphaBeta, AlphaBetaOptions
from search.alphabeta.techniques import Techniques, as_techniques
from search.evaluators.evaluator import Evaluator
from search.evaluators.load import as_evaluator
from search.evaluators.shipped import find_file
from search.expectiminimax.search import Expectiminimax, ExpectiminimaxOptions
from search.lookups.lookup import Lookup
from search.result import Result
from search.search import UNLIMITED, Search

__all__ = ["DEEPEST", "UNLIMITED", "Engine"]

Options = AlphaBetaOptions | ExpectiminimaxOptions


class Engine:
    """A game, an evaluator and what searches of them remember.

    Games without dice are searched by alpha-beta, games with dice (`games.DiceGame`) by
    expectiminimax. Positions and evaluators that are kernels are searched by native code, plain
    Python games by the same source in Python.

    game: what is searched.
    evaluator: anything that `search.as_evaluator` takes.
    options: `AlphaBetaOptions`, or for dice `ExpectiminimaxOptions`; None for the defaults.
    lookup: asked at every position, see `search.lookups.lookup`; None for none.
    table_mib: size of the transposition table.
    threads: number of threads that share a search, in native code, unless its nodes are limited.
        With dice, moves and values do not depend on it (node counts do); without dice, a search
        with more than one thread is not reproducible.
    seed: shuffles the moves, so that it decides among moves of equal value; None for the game's
        own order.
    keywords: fields of the options, by name, which replace those of `options`.

    Text that names `techniques` finds what ProbCut knows of an evaluator beside the evaluator's
    file, where `evaluator` names one.

    Raises ValueError for an option out of range and for options of the other kind of search, and
    TypeError for a name that is not an option. Not to be used by two threads at once.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Any = None,
        options: Options | None = None,
        *,
        lookup: Lookup | None = None,
        table_mib: float = 16.0,
        threads: int = 1,
        seed: int | None = None,
        **keywords: Any,
    ) -> None:
        if not 0 < table_mib <= 65536:
            raise ValueError(f"table_mib: expected 0 to 65536 MiB, found {table_mib}")
        self.game = game
        self.evaluator: Evaluator = as_evaluator(game, evaluator)
        self.options = _options(game, options, keywords)
        self._shared: dict[str, Any] = dict(
            lookup=lookup, table_mib=table_mib, threads=threads, seed=seed
        )
        self._search: Search
        if isinstance(self.options, ExpectiminimaxOptions):
            assert isinstance(game, DiceGame)
            self._search = Expectiminimax(game, self.evaluator, self.options, **self._shared)
        else:
            named = isinstance(evaluator, (str, Path))
            path = find_file(evaluator, game.name) if named else None
            techniques = as_techniques(self.options.techniques, path)
            self.options = replace(self.options, techniques=techniques)
            self._search = AlphaBeta(game, self.evaluator, self.options, **self._shared)
        self.native = self._search.native

    def __reduce__(self) -> Any:
        # what earlier searches left, and addresses, stay in the process
        return _again, (type(self), self.game, self.evaluator, self.options, self._shared)

    @property
    def techniques(self) -> Techniques:
        """What alpha-beta does beyond alpha-beta; TypeError in a game with dice."""
        return self._without_dice().techniques

    @property
    def steady(self) -> bool:
        """Whether alpha-beta takes the moves in the game's own order, and the first of equals."""
        return isinstance(self._search, AlphaBeta) and self._search.steady

    def line_for_games(self, depth: int, nodes: int) -> Any:
        """The line of a native engine, set up for whole games at these limits."""
        return self._without_dice().line_for_games(depth, nodes)

    def after_games(self) -> None:
        """Go on counting where whole games have left off; raises what an evaluator raised."""
        self._without_dice().after_games()

    def stop(self) -> None:
        """End the search that is under way; it returns what it has. Callable from any thread."""
        self._search.stop()

    def traced(self) -> tuple[Any, Any, Any, Any]:
        """What the last search found below its root: positions, values, depths and bounds.

        Positions [n, integers] (a list in plain Python) that were searched at least one ply deep in
        the last iteration, each time they were: their values are exact
        (`search.lookups.lookup.EXACT`), at least or at most what the search says (LOWER, UPPER:
        alpha-beta cut it short). Values are for the side to move there; those beyond PROVEN count
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
        self._search.clear()

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
        return self._search.search(
            position, depth=depth, nodes=nodes, seconds=seconds, history=history, roll=roll,
            exact_root=False,
        )  # fmt: skip

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
        return self._search.search(
            position, depth=depth, nodes=nodes, seconds=seconds, history=history, roll=roll,
            exact_root=True,
        )  # fmt: skip

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

    def _with_dice(self) -> Expectiminimax:
        if not isinstance(self._search, Expectiminimax):
            raise TypeError(f"expected a game with dice, found {self.game.name}")
        return self._search

    def _without_dice(self) -> AlphaBeta:
        if not isinstance(self._search, AlphaBeta):
            raise TypeError(f"expected a game without dice, found {self.game.name}")
        return self._search


def _again(
    kind: Any, game: Game, evaluator: Evaluator, options: Options, shared: dict[str, Any]
) -> Engine:
    """The same engine, with nothing remembered."""
    return kind(game, evaluator, options, **shared)  # type: ignore[no-any-return]


def _options(game: Game, options: Options | None, keywords: Mapping[str, Any]) -> Options:
    """The options of a game's kind of search, with keywords in place of their fields."""
    dice = isinstance(game, DiceGame)
    kind: Any = ExpectiminimaxOptions if dice else AlphaBetaOptions
    other: Any = AlphaBetaOptions if dice else ExpectiminimaxOptions
    known = [field.name for field in fields(kind)]
    wrong = [name for name in keywords if name not in known]
    if isinstance(options, other):
        wrong.insert(0, other.__name__)
    if wrong:
        message = (
            f"{game.name} has {'' if dice else 'no '}dice: expected options among"
            f" {', '.join(known)}, found {', '.join(wrong)}"
        )
        foreign = {other.__name__, *(field.name for field in fields(other))}
        raise ValueError(message) if foreign.issuperset(wrong) else TypeError(message)
    if options is None:
        return kind(**keywords)  # type: ignore[no-any-return]
    if not isinstance(options, kind):
        raise TypeError(f"options: expected {kind.__name__}, found {options!r}")
    return replace(options, **keywords)  # type: ignore[no-any-return]
