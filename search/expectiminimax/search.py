"""Expectiminimax, the search for games with dice, on one thread or several."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games import kernels
from games.contract import DiceGame
from search.evaluators.evaluator import Evaluator, PythonEvaluator, rows_of
from search.expectiminimax.line import DEEPEST_ROLLS, DICE_LINE, NativeDiceLine, PlainDiceLine
from search.expectiminimax.move_filters import MoveFilters, as_filters
from search.limits import UNLIMITED, Limits
from search.lookups.lookup import Lookup
from search.search import Search, run_together

__all__ = ["PRUNE", "Expectiminimax", "ExpectiminimaxOptions"]

PRUNE = ("none", "star1", "star2")
#: A search of at most this depth takes milliseconds and needs no thread of its own.
SHORT_DEPTH = 1
#: Neither do batches of this many positions at depth 0, or a thousandth of it at depth 1.
SHORT_BATCH = 1 << 12
ROLLING = -1  # in place of a roll: the dice are not rolled yet


@dataclass(frozen=True, kw_only=True)
class ExpectiminimaxOptions:
    """Options of searches of games with dice.

    prune: "star2", "star1" (Ballard 1983) or "none"; moves and values are the same. Default:
        "star2" if the evaluator declares `bounds`, else "none".
    filters: move filters, `MoveFilters` or a name in `search.FILTERS`; None to search all moves
        deeper. Values with filters are not exact.

    If the evaluator has a prefilter, only the moves that it keeps are searched.

    Raises ValueError if an option is out of range.
    """

    prune: str | None = None
    filters: MoveFilters | str | None = None

    def __post_init__(self) -> None:
        if self.prune is not None and self.prune not in PRUNE:
            raise ValueError(f"prune: expected one of {', '.join(PRUNE)}, found {self.prune!r}")
        as_filters(self.filters)


class Expectiminimax(Search):
    """Expectiminimax searches of a game with dice."""

    game: DiceGame
    depths = (0, DEEPEST_ROLLS)

    def __init__(
        self,
        game: DiceGame,
        evaluator: Evaluator,
        options: ExpectiminimaxOptions,
        *,
        lookup: Lookup | None,
        table_mib: float,
        threads: int,
        seed: Any,
    ) -> None:
        super().__init__(game, evaluator, threads=threads, seed=seed)
        self.filters = as_filters(options.filters)
        prefilter = evaluator.prefilter
        self.sorter = None if prefilter is None else prefilter.evaluator
        prune, bound = _pruning(game, evaluator, options.prune)
        self._fast = self.native and not any(
            isinstance(asked, PythonEvaluator) for asked in (evaluator, self.sorter)
        )
        if self.native:
            self._bind_native(lookup, table_mib, threads)
        else:
            self._bind_plain(lookup)
        #: room for the moves of a position with all rolls, which grows
        self._room = 8 * len(game.rolls)
        replies = self.filters.replies or (0, 0.0)
        keep, margin = (prefilter.keep, prefilter.margin) if prefilter else (0, math.inf)
        inner = evaluator.gives_outcomes and self.filters.inner or (keep, margin)
        self._put(
            prune=PRUNE.index(prune), bound=bound,
            candidates=keep, candidate_margin=margin,
            inner_keep=min(keep, inner[0]), inner_margin=min(margin, inner[1]),
            reply_keep=replies[0], reply_margin=replies[1],
        )  # fmt: skip
        for depth, move_filter in enumerate(self.filters.moves[:DEEPEST_ROLLS]):
            if move_filter is not None:
                for line in self._lines:
                    line.filter_move(depth, *move_filter)
        self.clear()

    def _bind_native(self, lookup: Lookup | None, table_mib: float, threads: int) -> None:
        from search.expectiminimax import root as dice_root
        from search.expectiminimax.expectimax import expectiminimax
        from search.expectiminimax.native import dice_addresses, known_address, search_address
        from search.root import root_address

        self._source: Any = dice_root
        game, evaluator = self.game, self.evaluator
        fields: dict[str, Any] = dice_addresses(game)
        fields["search_at"] = search_address(expectiminimax)
        fields["root_at"] = root_address(dice_root.search_depth, DICE_LINE)
        bound = [("evaluate_at", "evaluator", evaluator.native(self._fail))]
        if self.sorter is not None:
            bound.append(("sorter_at", "sorter", self.sorter.native(self._fail)))
        if lookup is not None:
            bound.append(("lookup_at", "tables", lookup.native(game)))
            if lookup.outcomes is not None and evaluator.gives_outcomes:
                fields["known_at"] = known_address(
                    lookup, len(game.start()), len(game.outcomes or ())
                )
        if evaluator.gives_outcomes:
            bound.append(("outcomes_at", "outcomes_data", evaluator.native_outcomes()))
        for number in range(threads):
            line = NativeDiceLine(game, table_mib, self._lines[0] if number else None)
            line.put(**fields)
            for functions in bound:
                line.bind(*functions)
            self._lines.append(line)

    def _bind_plain(self, lookup: Lookup | None) -> None:
        from search.expectiminimax import root as dice_root
        from search.expectiminimax.expectimax import expectiminimax

        twins: dict[int, Any] = {}
        names = ("decide_first", "decide_many", "value_many", "list_many", "rate_many")
        self._source = SimpleNamespace(
            **{name: kernels.uncompiled(getattr(dice_root, name), twins) for name in names}
        )
        search_depth = kernels.uncompiled(dice_root.search_depth, twins)
        line = PlainDiceLine(
            self.game,
            kernels.uncompiled(expectiminimax, twins),
            self.evaluator.plain(),
            None if lookup is None else lookup.plain(),
            self.sorter.plain() if self.sorter else None,
        )
        if self.evaluator.gives_outcomes:
            line.find_outcomes = partial(self._plain_outcomes, lookup)
        line.put(search_depth=search_depth)
        self._lines.append(line)

    def _plain_outcomes(self, lookup: Lookup | None, position: Any) -> Any:
        if lookup is not None and lookup.outcomes is not None:
            exact = np.zeros(len(self.game.outcomes or ()))
            if kernels.uncompiled(lookup.outcomes)(lookup.tables, position, exact):
                return exact
        return self.evaluator.outcomes([position])[0]

    # --- one decision ------------------------------------------------------------------------

    def _prepared(
        self,
        position: Any,
        limits: Limits,
        history: Sequence[Any],
        roll: int | None,
        exact_root: bool,
    ) -> Callable[[], None]:
        number = ROLLING if roll is None else self._checked_roll(roll)
        deepest = DEEPEST_ROLLS if limits.depth is None else int(limits.depth)
        self._outcome = self.game.outcome(position)
        if self._outcome is not None:
            number, deepest = ROLLING, 0
        self._reset(
            deepest,
            nodes=limits.nodes or UNLIMITED,
            exact_root=exact_root,
            want_outcomes=self.evaluator.gives_outcomes,
            limited=limits.nodes is not None or limits.seconds is not None,
        )
        for line in self._lines:
            line.set_root(position)
        # With several threads a limit of nodes would make the result depend on chance.
        shared = len(self._lines) > 1 and deepest > 0 and limits.nodes is None
        return partial(self._decide_shared if shared else self._decide, number)

    def _is_short(self) -> bool:
        return self._short

    def _reset(
        self,
        depth: int,
        *,
        nodes: int = UNLIMITED,
        exact_root: bool = False,
        want_outcomes: bool = False,
        limited: bool = False,
        decide_only: bool = False,
    ) -> None:
        generation = self._new_generation()
        #: Whether the search ends so soon that Ctrl-C can wait for it.
        self._short = self._fast and depth <= SHORT_DEPTH
        shuffle = 0 if self._random is None else int(self._random.integers(1 << 62)) | 1
        for line in self._lines:
            line.prepare(
                depth_limit=depth,
                node_limit=min(nodes, UNLIMITED),
                caching=int(depth > 0), shuffle=shuffle,
                exact_root=int(exact_root), want_outcomes=int(want_outcomes), limited=int(limited),
                decide_only=2 if self.filters.only_decide else int(decide_only),
                generation=generation, completed=-1,
                # with a sorter equal moves stand in one order, whatever was searched before
                rating=int(want_outcomes and self.native and self.sorter is not None),
            )  # fmt: skip

    def _decide(self, roll: int) -> None:
        self._source.decide_first(self.line.record, roll)

    def _decide_shared(self, roll: int) -> None:
        """As `_decide`, with a thread for each line."""
        from search.root import record

        source, lines = self._source, self._lines
        first, others = lines[0], lines[1:]
        head = first.row
        for number, line in enumerate(lines):
            line.share_root(first, number, len(lines))
            line.put(roll=roll)
        record(head, 0, source.search_depth(head, 0))
        for depth in range(1, first.depth_limit + 1):
            if first.stop or first.final:
                break
            for line in others:
                line.put(kept=first.kept)
            run_together([partial(source.share, line.row, depth) for line in lines])
            for line in others:
                for name in ("nodes", "evaluations", "horizon", "lookups", "lookup_hits"):
                    first.put(**{name: getattr(first, name) + getattr(line, name)})
                    line.put(**{name: 0})
            if any(line.stop for line in lines):
                break
            record(head, depth, source.settle(head, depth))

    def _raise_failure(self) -> None:
        """Raise the evaluator's error, or ValueError if it gave a value out of its bounds."""
        super()._raise_failure()
        for line in self._lines:
            if line.outside:
                raise ValueError(
                    f"expected values within the bounds of {self.evaluator.name}, which are"
                    f" {self.evaluator.bounds}, found {line.outside}"
                )

    def _outcomes(self) -> tuple[float, ...] | None:
        if not self.evaluator.gives_outcomes:
            return None
        return self.line.best_outcomes()  # type: ignore[no-any-return]

    def _result(self, position: Any, roll: int | None, exact_root: bool) -> dict[str, Any]:
        line = self.line
        if self._outcome is not None:
            empty: dict[str, Any] = dict(move=None, value=self._outcome, pv=(), depth=0, nodes=0)
            return {**empty, "outcomes": self._outcomes()}
        completed = int(line.completed)
        if completed < 0:  # stopped before anything was valued
            move = None if roll is None else self.game.legal_moves(position, roll)[0]
            value, pv = self.evaluator(position), (() if move is None else (move,))
            return dict(move=move, value=value, pv=pv, depth=0, nodes=int(line.nodes))
        history = self._depths(0, completed, moves=roll is not None)
        best = history[-1]
        ranked: tuple[tuple[Any, float], ...] = ()
        chances: tuple[tuple[float, ...], ...] = ()
        if exact_root and roll is not None:
            moves, values, outcomes = line.settled()
            pairs = zip(moves, values, strict=True)
            ranked = tuple((self._move(move), float(value) + 0.0) for move, value in pairs)
            if self.evaluator.gives_outcomes:
                chances = tuple(map(tuple, outcomes))
        return {
            "move": best.move,
            "value": best.value,
            "pv": () if best.move is None else (best.move,),
            "depth": completed,
            "nodes": int(line.nodes),
            "history": history,
            "moves": ranked,
            "lookups": int(line.lookups),
            "lookup_hits": int(line.lookup_hits),
            "outcomes": self._outcomes(),
            "evaluations": int(line.evaluations),
            "move_outcomes": chances,
        }

    # --- many at once --------------------------------------------------------------------------

    def best_moves(
        self, positions: Any, rolls: Any, depth: int, decide_only: bool
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """See `Engine.best_moves`."""
        Limits(depth).check_depth(*self.depths)
        rows = self._rows(positions)
        dice = np.asarray(rolls if len(rolls) else np.zeros(0, dtype=np.int64))
        if dice.dtype.kind not in "iu":
            raise ValueError(f"rolls: expected whole numbers, found an array of {dice.dtype}")
        dice = np.ascontiguousarray(dice, dtype=np.int64)
        if dice.shape != (len(rows),):
            raise ValueError(f"rolls: expected {len(rows)}, found an array of shape {dice.shape}")
        if len(dice):
            self._checked_roll(int(dice.min()))
            self._checked_roll(int(dice.max()))
        if not self.native:
            dice = dice.tolist()
        moves = np.zeros(len(rows), dtype=np.int64 if self.native else object)
        values = np.zeros(len(rows))
        self._reset(int(depth), decide_only=decide_only)

        def decide(line: Any, part: slice) -> int:
            arguments = (rows[part], dice[part], moves[part], values[part])
            return int(self._source.decide_many(line.row, *arguments))

        self._run_parts(decide, rows)
        return moves, values

    def values(self, positions: Any, depth: int) -> NDArray[np.float64]:
        """See `Engine.values`."""
        Limits(depth).check_depth(*self.depths)
        rows = self._rows(positions)
        values = np.zeros(len(rows))
        self._reset(int(depth))

        def value(line: Any, part: slice) -> int:
            return int(self._source.value_many(line.row, rows[part], int(depth), values[part]))

        self._run_parts(value, rows)
        return values

    def afters(
        self, positions: Any, *, every: bool = False, inner: bool = False
    ) -> tuple[Any, NDArray[np.int64]]:
        """Returns the positions after the moves with every roll, and their numbers.

        positions: positions of unfinished games, as for `values`.
        every: whether to list the moves too that the evaluator's prefilter excludes.
        inner: whether to list only the replies that searches value, see `MoveFilters.inner`.

        The positions stand in the order of `positions`, then of the rolls, then of the moves, with
        a prefilter the best first; the numbers are [positions, rolls].
        """
        rows, line = self._rows(positions), self.line
        least = (line.candidates, line.candidate_margin)
        if every or inner:
            least = (0, 0.0) if every else (line.inner_keep, line.inner_margin)
        counts = np.zeros((len(rows), len(self.game.rolls)), dtype=np.int64)
        while True:
            room = len(rows) * self._room
            shape = (room, rows.shape[1]) if self.native else (room,)
            afters = np.zeros(shape, dtype=np.int64 if self.native else object)
            written = int(self._source.list_many(line.row, rows, *least, counts, afters))
            self._raise_failure()
            if written >= 0:
                return afters[:written] if self.native else afters[:written].tolist(), counts
            self._room *= 2

    def outcomes(self, positions: Any) -> NDArray[np.float64]:
        """Returns the static outcomes [positions, outcomes]: of the game, lookup or evaluator.

        Raises KeyboardInterrupt if stopped, and ValueError if the evaluator gives no outcomes.
        """
        if not self.evaluator.gives_outcomes:
            raise ValueError(
                f"expected an evaluator that gives chances of outcomes, found {self.evaluator.name}"
            )
        rows = self._rows(positions)
        outcomes = np.zeros((len(rows), len(self.game.outcomes or ())))
        self._put(stop=0)  # a search that ran out of nodes or time left it set
        done = int(self._source.rate_many(self.line.row, rows, outcomes))
        self._raise_failure()
        if done < len(rows):
            raise KeyboardInterrupt
        return outcomes

    def _run_parts(self, work: Any, rows: Any) -> None:
        """Let each line process a part of the rows; the division does not change the results."""
        count, parts = len(rows), len(self._lines)
        ends = [count * i // parts for i in range(parts + 1)]
        done = [0] * parts

        def do(i: int) -> None:
            done[i] = work(self._lines[i], slice(ends[i], ends[i + 1]))

        tasks = [partial(do, i) for i in range(parts)]
        short = self._short and count <= SHORT_BATCH >> 10 * self.line.depth_limit
        if self._run(lambda: run_together(tasks), seconds=None, short=short):
            raise KeyboardInterrupt
        for i in range(parts):
            if done[i] < ends[i + 1] - ends[i]:
                raise ValueError(
                    f"expected positions of games that go on, found {rows[ends[i] + done[i]]!r}"
                )

    # --- checking arguments --------------------------------------------------------------------

    def _rows(self, positions: Any) -> Any:
        return rows_of(self.game, positions) if self.native else list(positions)

    def _checked_roll(self, roll: Any) -> int:
        try:
            number = operator.index(roll)
        except TypeError:
            number = -1
        if not 0 <= number < len(self.game.rolls):
            raise ValueError(f"roll: expected 0 to {len(self.game.rolls) - 1}, found {roll!r}")
        return number


def _pruning(game: DiceGame, evaluator: Evaluator, prune: str | None) -> tuple[str, float]:
    """Returns how to prune, and the greatest distance from 0 of the values of a search."""
    reach = max(map(abs, evaluator.bounds))
    if game.outcomes is not None:
        payoffs = np.array(game.outcomes.payoffs)
        low, high = payoffs[payoffs < 0].sum(), payoffs[payoffs > 0].sum()
        ends = game.outcomes.base + np.array([low, high])
        reach = max(reach, float(np.abs(ends).max()))
    elif game.wins:
        reach = max(reach, 1.0)
    if prune is None:
        prune = "star2" if math.isfinite(reach) else "none"
    if prune == "none":
        return prune, math.inf
    if not math.isfinite(reach):
        raise ValueError(
            f"prune: expected an evaluator that states its bounds for {prune}, found"
            f" {evaluator.name} with {evaluator.bounds}"
        )
    return prune, reach * (1.0 + 1e-9)
