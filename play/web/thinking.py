"""Searches for tables: many at a time, each within its time, with reports of each depth.

There are as many threads as processors, and searches take turns. If searches wait, each gets a
share of the time until its own time is over; if none wait, a search keeps its thread. With one
thread for each search they would block each other, because the thread that holds Python's lock
might wait for a processor.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from games.contract import Game, line_texts
from games.kernels import patiently, runs_compiled
from games.rolls import rolls_of
from games.values import value_text
from play.players.chances import play_text, values_of_all
from play.players.gnubg import as_program
from play.players.limits import Limits, depths_of
from play.web.catalogue import Loaded
from play.web.table import clamped
from programs.waiting import compiling_text
from search import PROVEN, Engine, Result
from search.evaluators.calibration import Chances

__all__ = ["Question", "Thinking"]

#: Shortest time in seconds between two reports of a search.
OFTEN = 0.12
#: Shortest share of the time in seconds; shorter ones would be spent on starting searches.
SHARE = 0.02
#: Seconds between two checks that searches end in time.
WATCH = 0.03
IDLE_ENGINES = 8
#: Searches that run at a time, and the size of the transposition table of each.
SEARCHES = max(2, min(8, os.cpu_count() or 2))
TABLE_MIB = 8.0
#: Maximum moves in a report while a search is running; the last report has all of them.
FIRST_MOVES = 60

Report = Callable[[dict[str, Any]], None]


@dataclass(eq=False)
class Question:
    """A position to search, and the limits of the search.

    game: the rules.
    loaded: the evaluator, with its techniques and lookup.
    position: the position to search.
    side: the side to move.
    roll: the roll of this turn; None before it, and in games without dice.
    history: earlier positions of the game, for repetition.
    seconds: time, counted from the creation of the question.
    depth: greatest depth. Default: the usual one.
    method: how to search a game for more than two players; "" for the usual method.
    moves: whether to find the values of all legal moves.
    patient: whether to wait until the search is compiled, see `games.kernels.hurry`.
    began: the time of its creation.
    """

    game: Game
    loaded: Loaded
    position: Any
    side: int = 0
    roll: int | None = None
    history: Sequence[Any] = ()
    seconds: float = 1.0
    depth: int | None = None
    method: str = ""
    moves: bool = False
    patient: bool = False
    began: float = field(default_factory=time.monotonic)
    #: Whether the caller has ended it.
    stopped: bool = field(default=False, init=False)
    #: The time at which it must let other searches run.
    until: float = field(default=math.inf, init=False)
    engine: Engine | None = field(default=None, init=False)
    best: Result | None = field(default=None, init=False)
    nodes: int = field(default=0, init=False)
    told: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        depths = depths_of(self.game)
        self.own = None if self.moves else self.loaded.limits
        wanted = depths.usual if self.depth is None else self.depth
        self.next_depth = depths.least
        self.last_depth = min(max(wanted, depths.least), depths.deepest)
        limits = Limits(depth=self.last_depth, seconds=self.seconds)
        if not self.moves:
            limits = limits.for_play(self.game, self.position, self.roll)
        self.last_depth = limits.depth or 0

    @property
    def left(self) -> float:
        """Seconds left; 0 after it was stopped."""
        return 0.0 if self.stopped else self.began + self.seconds - time.monotonic()

    @property
    def finished(self) -> bool:
        """Whether there is an answer that no remaining time or depth can improve."""
        if self.best is None:
            return self.stopped
        ended = self.best.plies_to_end
        decided = ended is not None and ended <= self.best.depth
        return decided or self.next_depth > self.last_depth or self.left <= 0.003


class Thinking:
    """Threads that search, and idle engines for them."""

    def __init__(self) -> None:
        # For short work: loading, compiling, explaining.
        self._short = ThreadPoolExecutor(4, thread_name_prefix="web")
        # Tasks that wait until something is compiled leave the other threads to people who play.
        self._waiting = ThreadPoolExecutor(4, thread_name_prefix="waiting")
        # External engines hold Python's lock while they think, so only one runs at a time: more
        # would leave no time for other requests.
        self._programs = ThreadPoolExecutor(1, thread_name_prefix="program")
        self._searchers = ThreadPoolExecutor(SEARCHES, thread_name_prefix="search")
        self._places = asyncio.Semaphore(SEARCHES)
        #: The questions that wait or run, and those that run.
        self._asked: set[Question] = set()
        self._running: set[Question] = set()
        self._idle: list[tuple[Loaded, str, Engine]] = []
        self._lock = threading.Lock()
        self._warm: weakref.WeakSet[Loaded] = weakref.WeakSet()

    # --- asking ------------------------------------------------------------------------------

    async def work(self, task: Callable[[], Any]) -> Any:
        """Run a short task in a thread and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._short, task)

    async def compiled(self, task: Callable[[], Any]) -> Any:
        """As `work`, for a task that needs compiled code, and waits for it."""

        def wait() -> Any:
            with patiently():
                return task()

        return await asyncio.get_running_loop().run_in_executor(self._waiting, wait)

    async def ask_program(self, name: str, game: Any, position: Any, roll: Any) -> Any:
        """The move of an external engine. Raises the errors of `play.players.gnubg`."""
        program = as_program(name)
        assert program is not None
        seat = program(game)
        return await self.run_program(lambda: seat.choose(position, roll))

    async def run_program(self, task: Callable[[], Any]) -> Any:
        """Run a task of an external engine in the thread of these engines; returns its result."""
        return await asyncio.get_running_loop().run_in_executor(self._programs, task)

    async def search(self, question: Question, report: Report) -> dict[str, Any]:
        """Search, and return the last report, which also holds the move.

        report: called with the earlier reports.

        Cancelling the call ends the search. Raises the errors of the search.
        """
        loop = asyncio.get_running_loop()
        answer = None
        self._asked.add(question)
        try:
            if self._running and self._places.locked():
                # The search with the most time left stops for this one.
                max(self._running, key=lambda one: one.until).until = 0.0
            while answer is None:
                async with self._places:
                    answer = await self._share(question, lambda news: _call(loop, report, news))
                if answer is None and question.stopped:
                    raise asyncio.CancelledError
            return answer
        finally:
            self._asked.discard(question)

    def close(self) -> None:
        """End all searches and their threads."""
        for question in self._asked:
            question.stopped = True
        for threads in (self._short, self._waiting, self._programs, self._searchers):
            threads.shutdown(wait=False, cancel_futures=True)

    def warm(self, game: Game, loaded: Loaded) -> None:
        """Compile the functions of a search, so that compiling takes no time of the first one.

        In a hurry this returns while a thread compiles; `compiled` waits for it.
        """
        if loaded in self._warm:
            return
        with self.engine(game, loaded) as engine:
            if runs_compiled():
                for ask in (engine.search, engine.analyse):
                    ask(game.start(), depth=1, roll=rolls_of(game).every[0])
                self._warm.add(loaded)

    @contextlib.contextmanager
    def engine(self, game: Game, loaded: Loaded, method: str = "") -> Iterator[Engine]:
        """An engine for work in a thread, which no other search uses meanwhile."""
        engine = self._take(game, loaded, method)
        try:
            yield engine
        finally:
            self._put(loaded, engine, method)

    # --- taking turns --------------------------------------------------------------------------

    async def _share(self, question: Question, tell: Report) -> dict[str, Any] | None:
        """Search for a share of the time; returns the last report, None if more is to come.

        An engine ignores a stop that comes just before it begins, so the stop is repeated.
        """
        share, many = question.left, len(self._asked)
        if many > SEARCHES:
            share = max(SHARE, share * SEARCHES / many)
        question.until = time.monotonic() + share
        self._running.add(question)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._searchers, self._search, question, tell)
        try:
            while not work.done():
                await asyncio.wait([work], timeout=WATCH)
                if question.stopped or question.until < time.monotonic():
                    _stop(question)
            return work.result()
        finally:
            question.stopped |= not work.done()
            while not work.done():  # the call was cancelled
                _stop(question)
                await asyncio.wait([work], timeout=WATCH)
            self._running.discard(question)

    def _search(self, question: Question, tell: Report) -> dict[str, Any] | None:
        """Search depth by depth, with a report of each, until it is another search's turn.

        The results of a depth stay in the engine's transposition table and speed up the next one.
        Returns the last report, None if more is to come.
        """
        place = question.game, question.loaded, question.method
        with patiently(question.patient), self.engine(*place) as engine:
            question.engine = engine
            try:
                if question.own is not None:  # a level plays here as it does in matches
                    question.best = engine.search(
                        question.position,
                        history=question.history if question.roll is None else (),
                        roll=question.roll,
                        **question.own.options,
                    )
                    question.nodes = question.best.nodes
                    question.next_depth = question.last_depth + 1
                while not question.finished:
                    left = question.until - time.monotonic()
                    if left <= 0 and question.best is not None:
                        return None
                    ask = engine.analyse if question.moves else engine.search
                    result = ask(
                        question.position,
                        depth=question.next_depth,
                        # The first depth has no time limit, so that there is always an answer.
                        seconds=max(left, 0.005) if question.best is not None else None,
                        history=question.history if question.roll is None else (),
                        roll=question.roll,
                    )
                    question.nodes += result.nodes
                    if result.depth < question.next_depth and question.best is not None:
                        break  # cut short: the result of the depth before is better
                    question.best = replace(result, nodes=question.nodes)
                    question.next_depth += 1
                    now = time.monotonic()
                    if now - question.told > OFTEN and result.depth > 1:
                        question.told = now
                        tell(_described(question, question.best))
            finally:
                question.engine = None
        if question.best is None or not question.finished:
            return None
        return _described(question, question.best, done=True) | {
            "move": question.best.move,
            "raw": question.loaded.evaluator.in_units(question.best.value),
        }

    def _take(self, game: Game, loaded: Loaded, method: str = "") -> Engine:
        """Returns an engine with an empty transposition table, which no other search uses."""
        with self._lock:
            for idle in self._idle:
                if idle[0] is loaded and idle[1] == method:
                    self._idle.remove(idle)
                    return idle[2]
        options: dict[str, Any] = {"method": method} if method else {}
        if loaded.techniques is not None:
            options["techniques"] = loaded.techniques
        elif game.dice and loaded.evaluator.gives_outcomes:
            options["filters"] = "normal"  # the filter's margins are in points, as these values are
        return Engine(
            game,
            loaded.evaluator,
            lookup=loaded.lookup,
            table_mib=TABLE_MIB,
            **options,
        )

    def _put(self, loaded: Loaded, engine: Engine, method: str = "") -> None:
        engine.clear()
        with self._lock:
            self._idle.append((loaded, method, engine))
            del self._idle[:-IDLE_ENGINES]


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[Any], None], value: Any) -> None:
    """Call a function in an event loop, if the loop still runs."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, value)


def _stop(question: Question) -> None:
    engine = question.engine
    if engine is not None and question.best is not None:
        engine.stop()


def _described(question: Question, result: Result, *, done: bool = False) -> dict[str, Any]:
    """Returns a result as JSON; all of it is for the side to move.

    `value` and `loss` are in the game's unit, as `value_text` is. `chances` are [win, draw, loss],
    from 0 to 1, of the position and after each move; None if the evaluator has no calibration and
    nothing is proven.
    `play` says for what play they hold. `outcomes` are the probabilities of `Game.outcomes` at both
    places: in backgammon of a win, a win with a gammon and with a backgammon, a loss with a gammon
    and with a backgammon. They are None if the evaluator gives none. `players` are the static
    values of all sides, side 0 first, in a game for more than two players; otherwise it is empty.
    `compiling` says for how long the search has been compiled, if it was still uncompiled.
    `measure` names the unit of the evaluators by hand of such a game.
    """
    game, position, evaluator = question.game, question.position, question.loaded.evaluator
    many = game.players > 2
    players = values_of_all(game, evaluator, position, question.side) if many else ()

    def figures(value: float, move: Any, chances: Chances | None) -> dict[str, Any]:
        value = evaluator.in_units(value)
        text = "drawn" if move in result.drawn else value_text(value)
        return {"value": clamped(value), "value_text": text, "chances": chances}

    shown = None if done else FIRST_MOVES
    best = evaluator.in_units(result.moves[0][1]) if result.moves else 0.0
    return {
        "evaluator": question.loaded.entry.id,
        "name": question.loaded.entry.name,
        "unit": question.loaded.unit,
        "measure": game.unit if many and question.loaded.entry.name in game.evaluators else "",
        "side": question.side,
        "depth": result.depth,
        **figures(result.value, None, result.chances),
        "play": "" if result.outcomes else play_text(evaluator, question.nodes),
        "decided": abs(result.value) > PROVEN or None in result.drawn,
        "pv": line_texts(game, position, result.pv[: 20 if question.roll is None else 1]),
        "nodes": question.nodes,
        "seconds": round(time.monotonic() - question.began, 3),
        "outcomes": result.outcomes,
        "players": [clamped(evaluator.in_units(value)) for value in players],
        "moves": [
            {
                "text": game.move_text(position, move),
                **figures(value, move, result.chances_after(move)),
                "outcomes": outcomes,
                "loss": clamped(evaluator.in_units(value) - best),
            }
            for (move, value), outcomes in zip_longest(
                result.moves[:shown], result.move_outcomes[:shown]
            )
        ],
        "done": done,
        "compiling": (compiling_text() or "compiling") if result.compiling else "",
    }
