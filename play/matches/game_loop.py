"""Whole games played by native code: two searches in turn, the drawing rules, and a log.

At five plies a move, a game played in Python costs as much in Python as in the search, and Python's
lock keeps threads from playing side by side. Here a game is one call, during which the lock is
free. The games are those that `games.record.GameRecord` and `search.Engine` would play move by
move: `_play_slowly` does so, for engines in plain Python, and the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels import NativeRecord, kernel
from games.kernels.memory import load_int, store_float, store_int
from games.record import Annotation, GameRecord
from search import PROVEN, Engine
from search.engine import DEEPEST, UNLIMITED
from search.line import MOST_EARLIER
from search.native import call_float, call_int
from search.root import begin, iterate
from search.sizes import WIDTH

__all__ = ["GameLoop", "Played"]

#: The ways in which a game ends, in the order of the codes below, in the words of `GameRecord`.
REASONS = ("", "no move", "repetition", "quiet moves", "most plies", "decided", "stopped")
NO_MOVE, REPETITION, QUIET_MOVES, TOO_LONG, DECIDED, STOPPED = range(1, 7)

#: Numbers of each ply, each a row of one array.
NUMBERS = ("moves", "depths", "keys", "leaf_plies", "quiet_plies")
LOG = np.dtype(
    [
        (name, np.int64)
        for name in (
            # addresses: one entry for each ply (positions and keys one more)
            "positions moves values depths keys leaves leaf_plies quiet_plies scratch"
            # options of all games
            " width given most_plies repetitions quiet_moves returns decide"
            # results of this game
            " plies reason stop"
        ).split()
    ]
    + [("outcome", np.float64)],
    align=True,
)


@dataclass(frozen=True)
class Played:
    """One game with the values of its searches.

    positions: one more than the moves.
    opening: number of opening moves, which were given.
    values: value of the search for the side to move at each ply; NaN in the opening.
    depths: depth of that search; 0 in the opening.
    leaves: position at the end of each principal variation, if the loop keeps them.
    leaf_plies: plies from each position to its leaf; 0 in the opening.
    outcome: for the side that begins the game, as in a `GameRecord`.
    reason: one of `REASONS`, or "end of the game".
    """

    game: Game
    positions: Any
    moves: list[Any]
    opening: int
    values: NDArray[np.float64]
    depths: NDArray[np.int64]
    leaves: Any
    leaf_plies: NDArray[np.int64] | None
    outcome: float
    reason: str
    #: the limits of repetitions and of quiet moves that were in force
    rules: dict[str, int | None]
    #: for each side, the value of one of the game's units by its evaluator
    units: tuple[float, float]

    def outcomes(self) -> NDArray[np.float64]:
        """Returns the outcome for the side to move at each position, [positions]."""
        first = -self.outcome if self.game.to_move(self._position(0)) else self.outcome
        signs = np.where(np.arange(len(self.moves) + 1) % 2 == 0, 1.0, -1.0)
        return np.asarray(first * signs, dtype=np.float64)

    def record(self) -> GameRecord:
        """Returns the game as a record, whose values are in the game's unit."""
        begins = self.game.to_move(self._position(0))
        units = [self.units[(begins + ply) % 2] for ply in range(len(self.moves))]
        shown = np.where(np.abs(self.values) > PROVEN, self.values, self.values / units)
        notes = [
            Annotation() if np.isnan(value) else Annotation(value, depth)
            for value, depth in zip(shown.tolist(), self.depths.tolist(), strict=True)
        ]
        record = GameRecord.of_legal(
            self.game,
            self.positions[:],
            list(self.moves),
            notes,
            rolls=None,
            quiet_plies=None,
            **self.rules,
        )
        if not record.over:
            record.declare(self.outcome, self.reason)
        return record

    def _position(self, index: int) -> Any:
        position = self.positions[index]
        return tuple(position.tolist()) if isinstance(position, np.ndarray) else position


class GameLoop:
    """Two engines that play one another, and the memory for one game.

    first: engine of the side that begins.
    second: engine of the other side; may be the same one.
    depth, nodes: limits of every search.
    most_plies: longer games are drawn.
    repetitions, quiet_moves: as in `GameRecord`; None switches a rule off.
    decide: end a game once a search has proved a win, with the winning move.
    leaves: keep the ends of principal variations.
    traces: keep the trace of every search in its engine (for engines with `trace`).

    Not to be used by two threads at once. Raises ValueError for an engine that shuffles moves by a
    seed, has ties other than "first" or searches on several threads, and with `decide` for one
    whose techniques do not prove wins.
    """

    def __init__(
        self, game: Game, first: Engine, second: Engine, *, depth: int | None = None,
        nodes: int | None = None, most_plies: int = 1000, repetitions: int | None = 3,
        quiet_moves: int | None = 40, decide: bool = False, leaves: bool = False,
        traces: bool = False,
    ) -> None:  # fmt: skip
        if depth is None and nodes is None:
            raise ValueError("expected a depth or a number of nodes, found neither")
        for engine in (first, second):
            if not engine.steady:
                raise ValueError("expected engines with no seed and one thread")
        self.game = game
        self.engines = first, second
        self.depth = min(depth or DEEPEST, DEEPEST)
        self.nodes = nodes or UNLIMITED
        self.most_plies = most_plies
        self.repetitions = repetitions
        self.quiet_moves = quiet_moves
        self._rules = {"repetitions": repetitions, "quiet_moves": quiet_moves}
        self._units = first.evaluator.unit, second.evaluator.unit
        self.decide = decide
        self.leaves = leaves
        self.traces = traces
        self.stopped = False
        self.native = first.native and second.native
        if self.native:
            self._prepare()

    def _prepare(self) -> None:
        room = self.most_plies + 1
        self._width = len(self.game.start())
        self._positions = np.zeros((room + 1, WIDTH), dtype=np.int64)
        self._leaves = np.zeros((room + 1, WIDTH), dtype=np.int64)
        self._values = np.zeros(room, dtype=np.float64)
        self._numbers = np.zeros((len(NUMBERS), room + 1), dtype=np.int64)
        self._log = NativeRecord(LOG)
        self._log.pin(
            positions=self._positions,
            values=self._values,
            scratch=np.zeros(2 * WIDTH, dtype=np.int64),
            **dict(zip(NUMBERS, self._numbers, strict=True)),
        )
        if self.leaves:
            self._log.pin(leaves=self._leaves)
        self._log.put(
            width=self._width,
            most_plies=self.most_plies,
            repetitions=self.repetitions or UNLIMITED,
            quiet_moves=2 * self.quiet_moves if self.quiet_moves else UNLIMITED,
            returns=self.game.irreversible is not None,
            decide=self.decide,
        )

    def stop(self) -> None:
        """End the game under way before its next move, and refuse to begin another.

        Callable from any thread.
        """
        self.stopped = True
        if self.native:
            self._log.put(stop=1)
        for engine in self.engines:
            engine.stop()

    def play(self, opening: Sequence[Any] = (), start: Any = None) -> Played:
        """Play a game to its end.

        opening: its first moves, which must be legal.
        start: position to begin from; None stands for the game's start.

        Engines keep their tables: clear them if games should not depend on earlier ones. A stopped
        game has the reason "stopped" and counts as drawn.
        """
        start = self.game.start() if start is None else start
        if not self.native:
            return self._play_slowly(opening, start)
        positions, numbers = self._positions, self._numbers
        positions[0, : self._width] = start
        numbers[0, : len(opening)] = opening
        self._log.put(given=len(opening), plies=0, reason=0, outcome=0.0, stop=self.stopped)
        first, second = (engine.line_for_games(self.depth, self.nodes) for engine in self.engines)
        for line in (first, second):
            line.put(traced=0, trace_first=0)
        side = self.game.to_move(start)
        order = (first, second) if side == 0 else (second, first)
        _play_on(self._log.row, order[0].row, order[1].row, self.traces)
        for engine in self.engines:
            engine.after_games()
        log = self._log
        plies, reason = log.plies, log.reason
        outcome = log.outcome  # for the side to move at the start
        values = self._values[:plies].copy()
        values[: len(opening)] = np.nan
        return Played(
            self.game,
            positions[: plies + 1, : self._width].copy(),
            numbers[0, :plies].tolist(),
            min(len(opening), plies),
            values,
            numbers[1, :plies].copy(),
            self._leaves[:plies, : self._width].copy() if self.leaves else None,
            numbers[3, :plies].copy() if self.leaves else None,
            (-outcome if side else outcome) + 0.0,
            "end of the game" if reason == NO_MOVE and not log.returns else REASONS[reason],
            self._rules,
            self._units,
        )

    def _play_slowly(self, opening: Sequence[Any], start: Any) -> Played:
        """Returns the same with a game record and a search for every move."""
        game = self.game
        record = GameRecord(game, start, repetitions=self.repetitions, quiet_moves=self.quiet_moves)
        for move in opening:
            record.play(move)
        depths = [0] * len(opening)
        values = [float("nan")] * len(opening)
        leaves = list(record.positions[:-1])
        leaf_plies = [0] * len(opening)
        ending: tuple[float, str] | None = None
        while not record.over and ending is None:
            if record.ply >= self.most_plies:
                ending = 0.0, REASONS[TOO_LONG]
                break
            if self.stopped:
                ending = 0.0, REASONS[STOPPED]
                break
            result = (
                self.engines[record.to_move]
                .search(
                    record.position,
                    depth=self.depth,
                    nodes=None if self.nodes == UNLIMITED else self.nodes,
                    history=record.history,
                )
                .whole()
            )
            decided = self.decide and result.plies_to_end is not None
            won = 1.0 if (result.value > 0) == (record.to_move == 0) else -1.0
            leaf, plies = record.position, 0
            for move in result.pv:
                leaf, plies = game.play(leaf, move), plies + 1
            leaves.append(leaf)
            leaf_plies.append(plies)
            values.append(result.value)
            depths.append(result.depth)
            record.play(result.move)
            if decided and game.outcome(record.position) is None:
                ending = won, REASONS[DECIDED]
        outcome, reason = ending or (record.outcome() or 0.0, record.reason)
        return Played(
            game,
            list(record.positions),
            list(record.moves),
            len(opening),
            np.array(values, dtype=np.float64),
            np.array(depths, dtype=np.int64),
            leaves if self.leaves else None,
            np.array(leaf_plies, dtype=np.int64) if self.leaves else None,
            outcome,
            REASONS[QUIET_MOVES] if reason.endswith("moves each") else reason,
            self._rules,
            self._units,
        )


# --- native code -----------------------------------------------------------------------------
# It runs only if kernels are compiled; the loop above is its plain form.


@kernel
def _copy(source, target, width):
    for i in range(width):
        store_int(target, i, load_int(source, i))


@kernel
def _ending(log, line, ply):
    """Fill the log. Returns whether the game is over after `ply` moves, by rule or as a draw."""
    here = log.positions + 8 * WIDTH * ply
    value = call_float(line.outcome_at, (here,))
    if value == value:
        log.outcome = value if ply % 2 == 0 else -value
        log.reason = NO_MOVE
        return True
    if log.returns:
        key = call_int(line.key_at, (here,))
        store_int(log.keys, ply, key)
        quiet = load_int(log.quiet_plies, ply)
        times = 1
        for back in range(1, quiet + 1):
            if load_int(log.keys, ply - back) == key:
                times += 1
        if times >= log.repetitions:
            log.reason = REPETITION
            return True
        if quiet >= log.quiet_moves:
            log.reason = QUIET_MOVES
            return True
    if ply >= log.most_plies:
        log.reason = TOO_LONG
        return True
    return False


@kernel
def _store_leaf(log, line, ply, move):
    """Log the end of the principal variation, or of the move without one."""
    leaf = log.leaves + 8 * WIDTH * ply
    other = log.scratch
    _copy(log.positions + 8 * WIDTH * ply, leaf, log.width)
    length = line.pv_length[0]
    if length == 0 or line.pv[0, 0] != move:
        length = 1
        line.pv[0, 0] = move
    for i in range(length):
        call_int(line.play_at, (leaf, line.pv[0, i], other))
        _copy(other, leaf, log.width)
    store_int(log.leaf_plies, ply, length)


@kernel
def _search(log, line, ply, traces):
    """Search the position after `ply` moves; returns the move, and fills the log."""
    here = log.positions + 8 * WIDTH * ply
    earlier = 0
    if line.repeats:
        earlier = min(load_int(log.quiet_plies, ply), MOST_EARLIER)
        for i in range(earlier + 1):
            line.keys[i] = load_int(log.keys, ply - earlier + i)
    line.trace_first = line.traced if traces else 0
    _copy(here, line.positions, log.width)
    count = call_int(line.legal_at, (here, line.moves, line.order))
    for i in range(count):
        line.root_moves[i] = load_int(line.moves, i)
    begin(line, line.generation + 1, earlier, count)
    iterate(line)
    move = line.root_moves[0]
    value = line.value
    if value != value:  # stopped before any move was valued
        value = call_float(line.evaluate_at, (line.evaluator, here))
    store_float(log.values, ply, value + 0.0)
    store_int(log.depths, ply, line.completed)
    if log.leaves:
        _store_leaf(log, line, ply, move)
    return move


@kernel
def _play_on(log, first, second, traces):
    """Play from the log's first position to the end of the game."""
    store_int(log.quiet_plies, 0, 0)
    ply = 0
    won = 0.0  # the result that a search proved, for the side that moves first
    while not _ending(log, first, ply):
        if log.stop != 0:
            log.reason = STOPPED
            break
        if ply < log.given:
            move = load_int(log.moves, ply)
            store_int(log.depths, ply, 0)
            store_int(log.leaf_plies, ply, 0)
            if log.leaves:
                source = log.positions + 8 * WIDTH * ply
                _copy(source, log.leaves + 8 * WIDTH * ply, log.width)
        else:
            if ply % 2 == 0:
                move = _search(log, first, ply, traces)
                value = first.value
            else:
                move = _search(log, second, ply, traces)
                value = second.value
            store_int(log.moves, ply, move)
            if log.decide and abs(value) > PROVEN:
                won = 1.0 if (value > 0.0) == (ply % 2 == 0) else -1.0
        source = log.positions + 8 * WIDTH * ply
        final = call_int(first.play_at, (source, move, source + 8 * WIDTH))
        store_int(log.quiet_plies, ply + 1, 0 if final else load_int(log.quiet_plies, ply) + 1)
        ply += 1
        if won != 0.0:
            if not _ending(log, first, ply) or log.reason != NO_MOVE:
                log.outcome = won
                log.reason = DECIDED
            break
    log.plies = ply
