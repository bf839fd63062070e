"""The part of `Engine` for games without dice: alpha-beta, on one thread or several."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from games import kernels
from games.contract import Game
from games.values import WIN
from search.alphabeta import line as lines
from search.alphabeta.techniques import Techniques
from search.evaluators.evaluator import Evaluator, PythonEvaluator
from search.evaluators.samples import value_scale
from search.lookups.lookup import Lookup
from search.result import Depth, Result
from search.running import check_limits, run_search

__all__ = ["DEEPEST", "MOST_THREADS", "UNLIMITED", "AlphaBetaSearch"]

DEEPEST = 100
MOST_THREADS = 64
#: A search of at most so many plies or positions takes milliseconds, less than a thread of its own.
SHORT_DEPTH, SHORT_NODES = 6, 100_000
UNLIMITED = 1 << 62  # nodes


class AlphaBetaSearch:
    """A game, an evaluator and what searches of them remember.

    The options are those of `Engine`. With more than one thread, each searches the same position
    with a record of its own, and they meet in the transposition table, where one finds what
    another has searched before (lazy SMP, Hyatt and others about 2010). Moves that lead to what
    another thread is searching at that moment are put off (ABDADA, Weill 1996, in a simple form).
    What counts is the first thread's result, whose record `line` is.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        lookup: Lookup | None,
        table_mib: float,
        equal_depth: bool,
        order_depth: int | None,
        repetition: bool,
        minimax: bool,
        trace: int,
        techniques: Techniques,
        threads: int,
        seed: Any,
    ) -> None:
        if not 0 <= trace <= 1 << 24:
            raise ValueError(f"trace: expected 0 to {1 << 24} positions, found {trace}")
        if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"threads: expected 1 to {MOST_THREADS}, found {threads}")
        if minimax and not techniques.exact:
            raise ValueError(f"techniques: expected exact ones with minimax, found {techniques}")
        if techniques.probcut is not None:
            techniques.probcut.check_evaluator(game, evaluator)
        self.game = game
        self.evaluator = evaluator
        self.native = game.rules is not None and kernels.compiled
        self._lookup = lookup
        self._random = np.random.default_rng(seed) if seed is not None else None
        self._errors: list[BaseException] = []
        self._stopped = False
        self._generation = 0
        self._lines: list[Any] = []
        self._begin: Callable[..., None]
        self._iterate: Callable[[Any], None]
        if self.native:
            self._bind_native(table_mib, trace, threads, bool(techniques.probcut))
        else:
            self._bind_plain(trace)
        if techniques.beam and order_depth is None:
            order_depth = 2  # what is not to be missed has to stand in front
        scale = value_scale(game, evaluator) if techniques.singular else 1.0
        for line in self._lines:
            line.put(
                wins=int(game.wins),
                repeats=int(repetition and game.irreversible is not None),
                equal_depth=int(equal_depth),
                minimax=int(minimax),
                order_depth=lines.MOST_PLIES if order_depth is None else order_depth,
                **techniques.for_line(scale),
            )
        self.clear()

    @property
    def line(self) -> Any:
        """The record of the first thread."""
        return self._lines[0]

    @property
    def steady(self) -> bool:
        """Whether moves are taken in the game's own order, by one thread."""
        return self._random is None and len(self._lines) == 1

    def _bind_native(self, table_mib: float, trace: int, threads: int, phases: bool) -> None:
        from search.alphabeta.root import begin, iterate
        from search.native import phase_address, rules_addresses

        evaluate_at, evaluator, self._kept = self.evaluator.native(self._fail)
        fields = dict(
            **rules_addresses(self.game),
            evaluate_at=evaluate_at,
            evaluator=evaluator,
            width=len(self.game.start()),
            most_moves=getattr(self.game, "most_moves", 256),
            phase_at=phase_address(self.game) if phases else 0,
        )
        if self._lookup is not None:
            lookup_at, tables, self._kept_tables = self._lookup.native(self.game)
            fields |= dict(lookup_at=lookup_at, tables=tables)
        for number in range(threads):
            shared = self._lines[0] if number else None
            line = lines.NativeLine(table_mib, 0 if number else trace, shared)
            line.put(**fields)
            self._lines.append(line)
        self._begin, self._iterate = begin, iterate

    def _bind_plain(self, trace: int) -> None:
        from search.alphabeta.root import begin, iterate

        probe = self._lookup.plain() if self._lookup else None
        self._lines = [lines.PlainLine(self.game, self.evaluator.plain(), probe, trace)]
        self._begin, self._iterate = kernels.uncompiled(begin), kernels.uncompiled(iterate)

    def _fail(self, error: BaseException) -> None:
        self._errors.append(error)
        self._halt()

    def _halt(self) -> None:
        for line in self._lines:
            line.put(stop=1)

    def line_for_games(self, depth: int, nodes: int) -> Any:
        """The record, set up for whole games at these limits."""
        self._stopped = False
        self.line.put(depth_limit=depth, node_limit=nodes, exact_root=0)
        return self.line

    def after_games(self) -> None:
        """Go on counting where whole games have left off; raises what an evaluator raised."""
        self._generation = int(self.line.generation)
        self._raise_errors()

    def _raise_errors(self) -> None:
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error

    def stop(self) -> None:
        """End the search that is under way; it returns what it has. Callable from any thread."""
        self._stopped = True
        self._halt()

    def clear(self) -> None:
        """Forget everything earlier searches left."""
        for line in self._lines:
            line.clear()

    def fill(self) -> float:
        """How much of the transposition table is of the last search, from 0 to 1, by a sample."""
        return float(self.line.fill())

    def search(
        self,
        position: Any,
        depth: int | None,
        nodes: int | None,
        seconds: float | None,
        history: Sequence[Any],
        exact: bool,
    ) -> Result:
        """See `Engine.search`; with `exact` the values of all moves, as `Engine.analyse`."""
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
        used = self._lines[:1] if nodes is not None else self._lines
        self._generation = (self._generation + 1) & 0xFF
        self._stopped = False
        for line in used:
            self._start(line, position, moves, history)
            line.put(
                depth_limit=min(depth or DEEPEST, DEEPEST),
                node_limit=min(nodes or UNLIMITED, UNLIMITED),
                exact_root=int(exact),
            )
            line.share(len(used) > 1)
        if self._stopped:  # while the records were set up
            self._halt()
        interrupted = run_search(
            lambda: self._run(used),
            self._halt,
            seconds=seconds,
            short=self._is_short(),
        )
        self._raise_errors()
        return self._result(used, position, len(moves), exact, interrupted or self._stopped, began)

    def _finished(self, position: Any) -> Result:
        outcome = self.game.outcome(position)
        if outcome is None:
            raise ValueError(f"{self.game.name}: no legal move, but no outcome: {position}")
        value = math.copysign(WIN, outcome) if self.game.wins and outcome else outcome
        return Result(None, value, (), 0, 0, 0.0)

    def _start(self, line: Any, position: Any, moves: list[Any], history: Sequence[Any]) -> None:
        earlier = list(history)[-lines.MOST_EARLIER :] if line.repeats else []
        line.set_root(position, moves, earlier)
        self._begin(line.row, self._generation, len(earlier), len(moves))

    def _run(self, used: list[Any]) -> None:
        """Search on every record at once until the first has its result."""
        failed: list[BaseException] = []

        def help_with(line: Any) -> None:
            try:
                self._iterate(line.row)
            except BaseException as error:
                failed.append(error)

        helpers = [
            threading.Thread(target=help_with, args=(line,), daemon=True) for line in used[1:]
        ]
        try:
            for helper in helpers:
                helper.start()
            self._iterate(used[0].row)
        finally:
            for line in used[1:]:
                line.put(stop=1)
            for helper in helpers:
                if helper.ident is not None:  # the system may have refused to start it
                    helper.join()
        if failed:
            raise failed[0]

    def _is_short(self) -> bool:
        """Whether a native search ends so soon that Ctrl-C can wait for it."""
        line = self.line
        return (
            self.native
            and not isinstance(self.evaluator, PythonEvaluator)  # which may take its time
            and bool(line.depth_limit <= SHORT_DEPTH or line.node_limit <= SHORT_NODES)
        )

    def _result(
        self,
        used: list[Any],
        position: Any,
        count: int,
        exact: bool,
        interrupted: bool,
        began: float,
    ) -> Result:
        line = self.line
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

        def total(name: str) -> int:
            return sum(int(getattr(one, name)) for one in used)

        return Result(
            move,
            value + 0.0,
            pv if pv[:1] == (move,) else (move,),
            completed,
            total("nodes"),
            time.perf_counter() - began,
            history,
            tuple(moves),
            total("lookups"),
            total("found"),
            interrupted,
            probes=total("probes"),
            hits=total("hits"),
        )
