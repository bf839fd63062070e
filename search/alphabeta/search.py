"""Alpha-beta, the search for games without dice, on one thread or several."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from games import kernels
from games.contract import Game
from search.alphabeta import line as lines
from search.alphabeta.techniques import Techniques, as_techniques
from search.evaluators.evaluator import Evaluator, PythonEvaluator
from search.evaluators.samples import value_scale
from search.lookups.lookup import Lookup
from search.result import Result
from search.search import UNLIMITED, Search, check_limits, run_together
from search.time_control import Allowance

__all__ = ["DEEPEST", "AlphaBeta", "AlphaBetaOptions"]

DEEPEST = 100
#: A search of at most this depth, or this many nodes, takes milliseconds and needs no own thread.
SHORT_DEPTH, SHORT_NODES = 6, 100_000
#: Most positions that a trace has room for.
MOST_TRACE = 1 << 24


@dataclass(frozen=True, kw_only=True)
class AlphaBetaOptions:
    """Options of searches of games without dice.

    equal_depth: use table entries only from searches of the same depth, so that the value is that
        of plain minimax.
    repetition: value a repeated position as a draw, in games where positions can repeat.
    trace: room of the trace, in positions of the last two iterations together; see `Engine.traced`.
        0 for no trace, which costs nothing.
    techniques: techniques beyond alpha-beta, as `Techniques` or a text such as "selective" (see
        `search.parse_techniques`); None for those that change no value.

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


class AlphaBeta(Search):
    """Alpha-beta searches of a game.

    With more than one thread, each searches the same position on a line of its own, and they share
    the transposition table, so that each profits from the others' results (lazy SMP, Hyatt and
    others about 2010). A move waits while another thread searches the position that it leads to
    (ABDADA, Weill 1996, in a simple form). The result is that of the first thread.
    """

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
        if game.chances is not None:
            raise ValueError(f"expected a game without chance nodes, found {game.name} with some")
        super().__init__(game, evaluator, threads=threads, seed=seed)
        self.techniques = techniques = as_techniques(options.techniques, game)
        if techniques.probcut is not None:
            techniques.probcut.check_evaluator(game, evaluator)
        self._lookup = lookup
        self._begin: Callable[..., None]
        self._iterate: Callable[[Any], None]
        if self.native:
            self._bind_native(table_mib, options.trace, threads, bool(techniques.probcut))
        else:
            self._bind_plain(options.trace)
        scale = value_scale(game, evaluator) if techniques.singular else 1.0
        self._put(
            wins=int(game.wins),
            repeats=int(options.repetition and game.irreversible is not None),
            equal_depth=int(options.equal_depth),
            **techniques.for_line(scale),
        )
        self.clear()

    @property
    def steady(self) -> bool:
        """Whether one thread searches root moves in the game's order and takes the first best."""
        return self._random is None and len(self._lines) == 1

    def _bind_native(self, table_mib: float, trace: int, threads: int, phases: bool) -> None:
        from search.alphabeta.root import begin, iterate
        from search.native import phase_address, rules_addresses

        evaluator = self.evaluator.native(self._fail)
        lookup = None if self._lookup is None else self._lookup.native(self.game)
        fields = dict(
            **rules_addresses(self.game),
            width=len(self.game.start()),
            most_moves=getattr(self.game, "most_moves", 256),
            phase_at=phase_address(self.game) if phases else 0,
        )
        for number in range(threads):
            shared = self._lines[0] if number else None
            line = lines.NativeLine(table_mib, 0 if number else trace, shared)
            line.put(**fields)
            line.bind("evaluate_at", "evaluator", evaluator)
            if lookup is not None:
                line.bind("lookup_at", "tables", lookup)
            self._lines.append(line)
        self._begin, self._iterate = begin, iterate

    def _bind_plain(self, trace: int) -> None:
        from search.alphabeta.root import begin, iterate

        probe = None if self._lookup is None else self._lookup.plain()
        self._lines = [lines.PlainLine(self.game, self.evaluator.plain(), probe, trace)]
        self._begin, self._iterate = kernels.uncompiled(begin), kernels.uncompiled(iterate)

    def line_for_games(self, depth: int, nodes: int) -> Any:
        """Returns the line, set up to play whole games at these limits."""
        self._stopped = False
        self.line.put(depth_limit=depth, node_limit=nodes, exact_root=0)
        return self.line

    def after_games(self) -> None:
        """Take over the generation that whole games reached. Raises an error of the evaluator."""
        self._generation = int(self.line.generation)
        self._raise_failure()

    def fill(self) -> float:
        """Returns the share of the table, from 0 to 1, of the last search, from a sample."""
        return float(self.line.fill())

    def search(
        self,
        position: Any,
        *,
        depth: int | None,
        nodes: int | None,
        seconds: float | Allowance | None,
        history: Sequence[Any],
        roll: int | None,
        exact_root: bool,
    ) -> Result:
        if roll is not None:
            raise ValueError(f"{self.game.name} has no dice: expected no roll, found {roll!r}")
        most = seconds.most if isinstance(seconds, Allowance) else seconds
        check_limits(depth, nodes, most, least=1, deepest=DEEPEST)
        began = time.perf_counter()
        self._check_position(position)
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
        if isinstance(seconds, Allowance) and len(moves) == 1:
            depth = 1  # the only move is played at once
        self._new_generation()
        for line in used:
            self._start(line, position, moves, history)
            line.put(
                depth_limit=min(depth or DEEPEST, DEEPEST),
                node_limit=min(nodes or UNLIMITED, UNLIMITED),
                exact_root=int(exact_root),
            )
            line.share(len(used) > 1)
        if self._stopped:  # by another thread, while the lines were set up
            self._put(stop=1)
        tasks = [partial(self._iterate, line.row) for line in used]
        interrupted = self._run(
            lambda: run_together(tasks, partial(self._end, used[1:])),
            seconds=seconds,
            short=self._is_short(),
        )
        return self._result(used, position, len(moves), exact_root, interrupted, began)

    def _end(self, others: list[Any]) -> None:
        for line in others:
            line.put(stop=1)

    def _start(self, line: Any, position: Any, moves: list[Any], history: Sequence[Any]) -> None:
        earlier = list(history)[-lines.MOST_EARLIER :] if line.repeats else []
        line.set_root(position, moves, earlier)
        self._begin(line.row, self._generation, len(earlier), len(moves))

    def _is_short(self) -> bool:
        """Returns whether a native search ends so soon that Ctrl-C can wait for it."""
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
        exact_root: bool,
        interrupted: bool,
        began: float,
    ) -> Result:
        line = self.line
        value = float(line.value)
        completed = int(line.completed)
        pv = tuple(self._move(move) for move in line.pv[0][: int(line.pv_length[0])])
        move = self._move(line.root_moves[0])
        history = self._depths(1, completed, moves=True)
        moves: list[tuple[Any, float]] = []
        if exact_root and completed:
            value = history[-1].value
            moves = [
                (self._move(line.root_moves[i]), float(line.settled_values[i]) + 0.0)
                for i in range(count)
            ]
            moves.sort(key=lambda item: -item[1])
        if value != value:  # stopped before any move was valued
            value = self.evaluator(position)

        def total(name: str) -> int:
            return sum(int(getattr(line, name)) for line in used)

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
            total("lookup_hits"),
            interrupted,
            probes=total("probes"),
            hits=total("hits"),
        )
