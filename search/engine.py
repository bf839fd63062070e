"""`Engine`: search with limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernel as kernels
from games.contract import DiceGame, Game
from search import line as lines
from search.dice_engine import DiceSearch
from search.evaluator import Evaluator, PythonEvaluator, as_evaluator
from search.lookup import Lookup
from search.move_filters import MoveFilters
from search.result import Depth, Result
from search.running import check_limits, run_search
from search.ties import search_for_errors

__all__ = ["Engine"]

DEEPEST = 100
#: A search of at most so many plies or positions takes milliseconds, less than a thread of its own.
SHORT_DEPTH, SHORT_NODES = 6, 100_000
UNLIMITED = 1 << 62  # nodes
TIES = ("first", "opponent_errors")


class Engine:
    """A game, an evaluator and what searches of them remember.

    `evaluator` is anything that `search.as_evaluator` takes. Positions and evaluators that are
    kernels are searched by native code, plain Python games by the same source in Python.

    lookup: asked at every position, see `search.lookup`.
    table_mib: size of the transposition table.
    equal_depth: trust the table only for searches of the same depth, so that the value is that of
        plain minimax.
    order_depth: order moves by the static values they lead to where at least this many plies
        remain; None for never.
    repetition: value a position that comes back as a draw, in games where positions can.
    minimax: search every move of every position in full, without pruning; for those who want all
        values exact.
    trace: room for so many positions with what the last search found of each, in its last two
        iterations together: see `traced`. 0 for none, which costs nothing.
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
    threads: so many share the moves of a search, in native code, unless its nodes are limited;
        moves and values are the same for any number, but `nodes` and the like are not.

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
        threads: int = 1,
    ) -> None:
        if not 0 <= trace <= 1 << 24:
            raise ValueError(f"trace: expected 0 to {1 << 24} positions, found {trace}")
        if ties not in TIES:
            raise ValueError(f"ties: expected one of {', '.join(TIES)}, found {ties!r}")
        if not 0 < table_mib <= 65536:
            raise ValueError(f"table_mib: expected 0 to 65536 MiB, found {table_mib}")
        self.game = game
        self.evaluator: Evaluator = as_evaluator(game, evaluator)
        self.ties = ties
        self._random = np.random.default_rng(seed) if seed is not None else None
        self._errors: list[BaseException] = []
        self._stopped = False
        self._lookup = lookup
        self._generation = 0
        self.native = game.rules is not None and kernels.compiled
        self._line: Any
        self._iterate: Callable[[Any], None]
        self._dice: DiceSearch | None = None
        if isinstance(game, DiceGame):
            if order_depth is not None or trace or ties != "first":
                raise ValueError(
                    f"{game.name} has dice: expected no order_depth, no trace and ties 'first',"
                    f" found {order_depth}, {trace} and {ties!r}"
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
            return
        if (prune, order, filters, threads) != (None, None, None, 1):
            raise ValueError(
                "expected prune, order, filters and threads for a game with dice, found"
                f" {game.name}"
            )
        if self.native:
            self._bind_native(table_mib, trace)
        else:
            self._bind_plain(trace)
        self._line.put(
            wins=int(game.wins),
            repeats=int(repetition and game.irreversible is not None),
            equal_depth=int(equal_depth),
            minimax=int(minimax),
            order_depth=lines.MOST_PLIES if order_depth is None else order_depth,
        )
        self._line.clear()

    def _bind_native(self, table_mib: float, trace: int) -> None:
        from search.alphabeta import iterate
        from search.native import rules_addresses

        self._line = line = lines.NativeLine(table_mib, trace)
        evaluate_at, evaluator, self._kept = self.evaluator.native(self._fail)
        line.put(
            **rules_addresses(self.game),
            evaluate_at=evaluate_at,
            evaluator=evaluator,
            width=len(self.game.start()),
            most_moves=getattr(self.game, "most_moves", 256),
        )
        if self._lookup is not None:
            lookup_at, tables, self._kept_tables = self._lookup.native(self.game)
            line.put(lookup_at=lookup_at, tables=tables)
        self._iterate = lambda line: iterate(line.record[0])

    def _bind_plain(self, trace: int) -> None:
        from search import alphabeta

        probe = self._lookup.plain() if self._lookup else None
        self._line = lines.PlainLine(self.game, self.evaluator.plain(), probe, trace)
        self._iterate = kernels.uncompiled(alphabeta.iterate)

    def _fail(self, error: BaseException) -> None:
        self._errors.append(error)
        self._line.put(stop=1)

    @property
    def steady(self) -> bool:
        """Whether alpha-beta takes the moves in the game's own order, and the first of equals."""
        return self._dice is None and self.ties == "first" and self._random is None

    def line_for_games(self, depth: int, nodes: int) -> Any:
        """The line of a native engine, set up for whole games at these limits."""
        self._stopped = False
        self._line.put(depth_limit=depth, node_limit=nodes, exact_root=0)
        return self._line

    def after_games(self) -> None:
        """Go on counting where whole games have left off; raises what an evaluator raised."""
        self._generation = int(self._line.generation)
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error

    def stop(self) -> None:
        """End the search that is under way; it returns what it has. Callable from any thread."""
        if self._dice is not None:
            self._dice.stop()
            return
        self._stopped = True
        self._line.put(stop=1)

    def traced(self) -> tuple[Any, Any, Any, Any]:
        """What the last search found below its root: positions, values, depths and bounds.

        Positions [n, integers] (a list in plain Python) that were searched at least one ply deep in
        the last iteration, each time they were: their values are exact (`search.lookup.EXACT`), at
        least or at most what the search says (LOWER, UPPER: alpha-beta cut it short). Values are
        for the side to move there; those beyond WIN / 2 count plies from the root of the search.
        Positions that the transposition table answered are left out.
        """
        width = len(self.game.start()) if self.native else 0
        return self._line.trace(width)  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget everything earlier searches left, so that the next is as in a new engine."""
        (self._line if self._dice is None else self._dice).clear()

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
        if self.ties == "first":
            return self._search(position, depth, nodes, seconds, history, exact=False)
        check_limits(depth, nodes, seconds, least=1, deepest=DEEPEST)
        return search_for_errors(self.game, self._search, position, depth, nodes, seconds, history)

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
        return self._search(position, depth, nodes, seconds, history, exact=True)

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

    def _refuse_roll(self, roll: int | None) -> None:
        if roll is not None:
            raise ValueError(f"{self.game.name} has no dice: expected no roll, found {roll!r}")

    def _search(
        self,
        position: Any,
        depth: int | None,
        nodes: int | None,
        seconds: float | None,
        history: Sequence[Any],
        exact: bool,
    ) -> Result:
        check_limits(depth, nodes, seconds, least=1, deepest=DEEPEST)
        began = time.perf_counter()
        if self.native and len(position) != len(self.game.start()):
            raise ValueError(
                f"expected a position of {len(self.game.start())} integers, found {position!r}"
            )
        moves = self.game.legal_moves(position)
        if not moves:
            return self._finished(position)
        if len(moves) > lines.MOST_ROOT_MOVES:
            raise ValueError(
                f"expected at most {lines.MOST_ROOT_MOVES} legal moves, found {len(moves)}"
            )
        if self._random is not None:
            moves = [moves[i] for i in self._random.permutation(len(moves))]
        self._prepare(position, moves, history)
        self._line.put(
            depth_limit=min(depth or DEEPEST, DEEPEST),
            node_limit=min(nodes or UNLIMITED, UNLIMITED),
            exact_root=int(exact),
        )
        interrupted = run_search(
            lambda: self._iterate(self._line),
            lambda: self._line.put(stop=1),
            seconds=seconds,
            short=self._is_short(),
        )
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error
        return self._result(position, len(moves), exact, interrupted or self._stopped, began)

    def _finished(self, position: Any) -> Result:
        outcome = self.game.outcome(position)
        if outcome is None:
            raise ValueError(f"{self.game.name}: no legal move, but no outcome: {position}")
        value = math.copysign(lines.WIN, outcome) if self.game.wins and outcome else outcome
        return Result(None, value, (), 0, 0, 0.0)

    def _prepare(self, position: Any, moves: list[Any], history: Sequence[Any]) -> None:
        line = self._line
        self._generation = (self._generation + 1) & 0xFF
        self._stopped = False
        earlier = list(history)[-lines.MOST_EARLIER :] if line.repeats else []
        line.put(
            generation=self._generation,
            nodes=0,
            stop=0,
            lookups=0,
            found=0,
            completed=0,
            best=0,
            value=math.nan,
            earlier=len(earlier),
            root_count=len(moves),
        )
        line.start(position, moves, earlier)

    def _is_short(self) -> bool:
        """Whether a native search ends so soon that Ctrl-C can wait for it."""
        line = self._line
        return (
            self.native
            and not isinstance(self.evaluator, PythonEvaluator)  # which may take its time
            and bool(line.depth_limit <= SHORT_DEPTH or line.node_limit <= SHORT_NODES)
        )

    def _result(
        self, position: Any, count: int, exact: bool, interrupted: bool, began: float
    ) -> Result:
        line = self._line
        as_move = int if self.native else (lambda move: move)
        value = float(line.value)
        completed = int(line.completed)
        pv = tuple(as_move(move) for move in line.pv[0][: int(line.pv_length[0])])
        move = as_move(line.root_moves[0])
        history = tuple(
            Depth(
                d,
                float(line.depth_value[d]) + 0.0,
                as_move(line.depth_move[d]),
                int(line.depth_nodes[d]),
            )
            for d in range(1, completed + 1)
        )
        moves: list[tuple[Any, float]] = []
        if exact and completed:
            value = history[-1].value
            moves = [
                (as_move(line.root_moves[i]), float(line.settled_values[i]) + 0.0)
                for i in range(count)
            ]
            moves.sort(key=lambda item: -item[1])
        if value != value:  # stopped before any move was valued
            value = self.evaluator(position)
        return Result(
            move,
            value + 0.0,
            pv if pv[:1] == (move,) else (move,),
            completed,
            int(line.nodes),
            time.perf_counter() - began,
            history,
            tuple(moves),
            int(line.lookups),
            int(line.found),
            interrupted,
        )
