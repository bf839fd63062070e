"""The line of play that a search with dice follows: the sibling of `search.line`.

A native search keeps its options, counters and memory in one structured record and in arrays that
the record points to, a plain search in a Python object with the same field names.
`search.expectiminimax.native` reads and writes both. Threads that share a search have a record
each, and share the root and the table.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from games.contract import DiceGame
from games.kernels import NativeRecord, PlainRecord
from search.sizes import MOST_THREADS, WIDTH
from search.table import new_table, table_mask

__all__ = ["DEEPEST_ROLLS", "DICE_LINE", "RATES", "NativeDiceLine", "PlainDiceLine"]

#: Greatest depth of a search with dice.
DEEPEST_ROLLS = 24

#: Number of positions whose outcomes a thread of a search keeps at a time, a power of 2.
RATES = 1 << 14

#: Options that are set for each search, and counters that it starts at 0.
_OPTIONS = (
    "depth_limit node_limit caching shuffle exact_root want_outcomes limited decide_only generation"
    " completed rating"
).split()
_COUNTERS = (
    "nodes evaluations horizon stop lookups lookup_hits top root_count kept final following".split()
)
#: The initial counters in memory; packing takes a third of the time of assigning a list.
_ZEROS = (0,) * len(_COUNTERS)
_BEGINNING = struct.Struct(f"{len(_OPTIONS) + len(_COUNTERS)}q")

_NUMBERS = (
    # addresses: the search, that of the root to one depth, the game, the evaluator, a cheap one
    # that orders moves, outcomes, lookups, memory
    "search_at root_at legal_at play_at status_at outcome_at key_at evaluate_at evaluator"
    " sorter_at sorter outcomes_at outcomes_data turn_at finished_at lookup_at tables known_at"
    " positions moves order chances begins counts killers lowers outcomes table table_mask scratch"
    # payoffs of the outcomes; the outcomes of positions that were valued
    " payoffs rates"
    # the root: its moves, their ranks in the game's order and their values, and those of the last
    # depth searched in full; memory that threads share, the number of this thread and of all
    " root_moves root_ranks root_values settled_moves settled_values root_outcomes"
    " settled_outcomes shared thread threads"
    # options that hold for all searches
    " width rolls most_moves prune candidates inner_keep reply_keep filter_keeps filter_margins"
    " outcome_count"
    # the roll to move with
    " roll"
    # the result of the last probe of the table or the lookup
    " hit_depth hit_bound hit_move hit_ended"
).split()

_FLOATS = "base hit_value value bound candidate_margin inner_margin reply_margin outside".split()

DICE_LINE = np.dtype(
    [(name, np.int64) for name in (*_OPTIONS, *_COUNTERS, *_NUMBERS)]
    + [(name, np.float64) for name in _FLOATS]
    + [
        ("depth_value", np.float64, (DEEPEST_ROLLS + 1,)),
        ("depth_move", np.int64, (DEEPEST_ROLLS + 1,)),
        ("depth_nodes", np.int64, (DEEPEST_ROLLS + 1,)),
    ],
    align=True,
)


class NativeDiceLine(NativeRecord):
    """A record of type `DICE_LINE` with the arrays that it points to.

    table_mib: the size of the transposition table.
    shared: the line whose transposition table this one uses. Default: one of its own.
    """

    def __init__(
        self, game: DiceGame, table_mib: float, shared: NativeDiceLine | None = None
    ) -> None:
        super().__init__(DICE_LINE)
        self._shared = shared
        table = new_table(table_mib) if shared is None else shared.pinned["table"]
        self._new_search = self.record.view(np.int64)[: len(_OPTIONS) + len(_COUNTERS)].data
        self._plies = -1
        most_moves, rolls = int(getattr(game, "most_moves", 256)), len(game.rolls)
        room = max(most_moves, rolls)
        outcomes = len(game.outcomes or ())
        self._own_root = {
            "root_moves": np.zeros(room, dtype=np.int64),
            "root_ranks": np.zeros(room, dtype=np.int64),
            "root_values": np.zeros(room),
            "shared": np.zeros(1 + MOST_THREADS),
        }
        self.pin(
            scratch=np.zeros(8, dtype=np.int64),
            chances=np.array(game.rolls, dtype=np.float64),
            settled_moves=np.zeros(room, dtype=np.int64),
            settled_values=np.zeros(room),
            root_outcomes=np.zeros((room, max(outcomes, 1))),
            settled_outcomes=np.zeros((room, max(outcomes, 1))),
            filter_keeps=np.zeros(DEEPEST_ROLLS + 1, dtype=np.int64),
            filter_margins=np.zeros(DEEPEST_ROLLS + 1),
            table=table,
            payoffs=np.array(game.outcomes.payoffs if game.outcomes else (), dtype=np.float64),
            rates=np.zeros((RATES, 1 + outcomes), dtype=np.int64),
        )
        self.put(
            base=game.outcomes.base if game.outcomes else 0.0,
            table_mask=table_mask(table),
            width=len(game.start()),
            rolls=rolls,
            most_moves=most_moves,
            outcome_count=outcomes,
        )
        self.own_root()
        self.reserve(0)

    def prepare(self, **options: int) -> None:
        """Begin a search with all of its `_OPTIONS`, on one thread, and forget the last one."""
        _BEGINNING.pack_into(self._new_search, 0, *map(options.__getitem__, _OPTIONS), *_ZEROS)
        self.put(outside=0.0)
        if not self._alone:
            self.own_root()
        if options["depth_limit"] > 0:
            self.reserve(options["depth_limit"])
            self.pinned["killers"][:] = -1

    def own_root(self) -> None:
        """Use this line's own root moves, not those of another thread."""
        self._alone = True
        self.pin(**self._own_root)
        self.put(thread=0, threads=1)

    def share_root(self, first: NativeDiceLine, thread: int, threads: int) -> None:
        """Search the root moves of the `first` line, as thread number `thread` of `threads`."""
        self._alone = False
        self.pin(**first._own_root)
        self.put(thread=thread, threads=threads)

    def reserve(self, depth: int) -> None:
        """Make room for searches of `depth` plies; memory not written to costs nothing."""
        if depth <= self._plies:
            return
        self._plies = depth
        plies, rolls = depth + 2, self.rolls
        # Lists of moves follow each other, and each is written with room for the longest.
        stack = (plies * rolls + 1) * self.most_moves
        self.pin(
            moves=np.zeros(stack, dtype=np.int64),
            order=np.zeros(stack, dtype=np.float64),
            positions=np.zeros((plies + 1, WIDTH), dtype=np.int64),
            begins=np.zeros(plies * rolls, dtype=np.int64),
            counts=np.zeros(plies * rolls, dtype=np.int64),
            killers=np.zeros(plies * rolls, dtype=np.int64),
            lowers=np.zeros(plies * rolls, dtype=np.float64),
            outcomes=np.zeros((plies + 1, max(self.outcome_count, 1)), dtype=np.float64),
        )

    def set_root(self, position: Any) -> None:
        """Make a position the root."""
        self.pinned["positions"][0, : len(position)] = position

    def settled(self) -> tuple[list[Any], list[float], list[list[float]]]:
        """Returns the root moves, their values and outcomes of the last depth searched in full.

        The outcomes are those of the best move, and of the others only with `exact_root`.
        """
        count = self.root_count
        return (
            self.pinned["settled_moves"][:count].tolist(),
            self.pinned["settled_values"][:count].tolist(),
            self.pinned["settled_outcomes"][: max(count, 1), : self.outcome_count].tolist(),
        )

    def best_outcomes(self) -> tuple[float, ...]:
        """Returns the outcomes of the best of the `settled` moves."""
        return tuple(self.pinned["settled_outcomes"][0].tolist())

    def filter_move(self, depth: int, keep: int, margin: float) -> None:
        """After `depth`, keep at most `keep` root moves within `margin` of the best."""
        self.pinned["filter_keeps"][depth] = keep
        self.pinned["filter_margins"][depth] = margin

    def clear(self) -> None:
        """Forget what earlier searches left."""
        self.pinned["rates"][:, 0] = 0
        if self._shared is None:
            self.pinned["table"][:] = 0


class PlainDiceLine(PlainRecord):
    """The same fields for positions and moves that are any Python objects."""

    def __init__(
        self, game: DiceGame, search: Any, evaluate: Any, probe: Any = None, sorter: Any = None
    ) -> None:
        super().__init__(DICE_LINE)
        self.game = game
        self.search = search
        self.evaluate = evaluate
        self.probe = probe
        self.sort = sorter
        self.find_outcomes: Any = None
        self.sorter_at = int(sorter is not None)
        self.threads = 1
        self.outcome_count = len(game.outcomes or ())
        self.rolls = len(game.rolls)
        self.chances = [float(chance) for chance in game.rolls]
        self.table: dict[Any, tuple[float, int, int, int]] = {}
        self.root_moves: list[Any] = []
        self.root_ranks: list[int] = []
        self.root_values: list[float] = []
        self.settled_moves: list[Any] = []
        self.settled_values: list[float] = []
        self.root_outcomes: list[list[float]] = []
        self.settled_outcomes: list[list[float]] = []
        self.shared: list[float] = [0.0, 0.0]
        self.filter_keeps = [0] * (DEEPEST_ROLLS + 1)
        self.filter_margins = [0.0] * (DEEPEST_ROLLS + 1)
        self._plies = -1
        self.reserve(0)

    def reserve(self, depth: int) -> None:
        """Make room for searches of `depth` plies."""
        if depth <= self._plies:
            return
        self._plies = depth
        plies = depth + 2
        self.moves: list[Any] = []
        self.order: list[float] = []
        self.positions: list[Any] = [None] * (plies + 1)
        self.begins, self.counts = [0] * (plies * self.rolls), [0] * (plies * self.rolls)
        self.killers: list[Any] = [None] * (plies * self.rolls)
        self.lowers = [0.0] * (plies * self.rolls)
        self.outcomes: list[Any] = [()] * (plies + 1)

    def prepare(self, **options: int) -> None:
        """Begin a search with all of its `_OPTIONS`, and forget the last one."""
        self.put(**options, **dict.fromkeys(_COUNTERS, 0), outside=0.0)
        self.reserve(options["depth_limit"])
        self.killers[:] = [None] * len(self.killers)

    def set_root(self, position: Any) -> None:
        """Make a position the root."""
        self.positions[0] = position

    def settled(self) -> tuple[list[Any], list[float], list[list[float]]]:
        """Returns the root moves, their values and outcomes of the last depth searched in full.

        The outcomes are those of the best move, and of the others only with `exact_root`.
        """
        count = self.root_count
        return self.settled_moves[:count], self.settled_values[:count], self.settled_outcomes

    def best_outcomes(self) -> tuple[float, ...]:
        """Returns the outcomes of the best of the `settled` moves."""
        return tuple(self.settled_outcomes[0]) if self.settled_outcomes else ()

    def filter_move(self, depth: int, keep: int, margin: float) -> None:
        """After `depth`, keep at most `keep` root moves within `margin` of the best."""
        self.filter_keeps[depth], self.filter_margins[depth] = keep, margin

    def clear(self) -> None:
        """Forget what earlier searches left."""
        self.table.clear()
