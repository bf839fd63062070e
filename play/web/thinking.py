"""Searches for tables: many at a time, each within its time, with news of every depth."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from games.contract import DiceGame, Game
from play.thinker import value_text
from play.web.catalogue import Loaded
from play.web.limits import Limits
from play.web.table import clamped
from search import WIN, Engine, Result

__all__ = ["Question", "Thinking"]

#: News of a search come at most so often, in seconds.
OFTEN = 0.12
#: A move that is the only one is not thought about for longer.
ONLY = 0.1
IDLE_ENGINES = 8

Report = Callable[[dict[str, Any]], None]


@dataclass
class Question:
    """What is to be searched, and until when.

    `moves` asks for the values of all legal moves. `seconds` count from when the question was made.
    """

    game: Game
    loaded: Loaded
    position: Any
    roll: int | None = None
    history: Sequence[Any] = ()
    seconds: float = 1.0
    depth: int | None = None
    moves: bool = False
    began: float = field(default_factory=time.monotonic)
    stopped: bool = False
    engine: Any = None

    def stop(self) -> None:
        """End the search soon; it answers with what it has."""
        self.stopped = True
        engine = self.engine
        if engine is not None:
            engine.stop()

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.began + self.seconds - time.monotonic()


class Thinking:
    """Threads that search, and engines that wait to be used again.

    Searches share the processor as threads do, so that each has its time by the clock however many
    there are, and less deep a search the more there are. Memory is bounded by their number.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        # Those beyond the number of searches do short work: loading, explaining.
        self._pool = ThreadPoolExecutor(limits.searches, thread_name_prefix="think")
        self._short = ThreadPoolExecutor(4, thread_name_prefix="web")
        self._idle: list[Engine] = []
        self._lock = threading.Lock()
        self._questions: dict[int, Question] = {}
        self._warm: weakref.WeakSet[Any] = weakref.WeakSet()
        self._compiling = threading.Lock()

    async def work(self, task: Callable[[], Any]) -> Any:
        """Do something that takes a moment in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._short, task)

    async def search(self, question: Question, report: Report) -> dict[str, Any]:
        """Search; returns the last report, which also holds the move, and `report` gets the others.

        Cancelling ends the search. Raises what a search raises.
        """
        loop = asyncio.get_running_loop()

        def tell(news: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(report, news)

        future = loop.run_in_executor(self._pool, self._search, question, tell)
        with self._lock:
            self._questions[id(question)] = question
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            question.stop()
            raise
        finally:
            with self._lock:
                self._questions.pop(id(question), None)

    def close(self) -> None:
        """End all searches; the threads end with them."""
        with self._lock:
            questions = list(self._questions.values())
        for question in questions:
            question.stop()
        for pool in (self._pool, self._short):
            pool.shutdown(wait=False, cancel_futures=True)

    def warm(self, game: Game, loaded: Loaded) -> None:
        """Compile what a search with an evaluator calls, so that the first one has its time."""
        with self._compiling:
            if loaded.evaluator in self._warm:
                return
            engine = self._take(game, loaded)
            roll = 0 if isinstance(game, DiceGame) else None
            for ask in (engine.search, engine.analyse):
                ask(game.start(), depth=1, roll=roll)
            self._put(engine)
            self._warm.add(loaded.evaluator)

    def values(
        self, game: Game, loaded: Loaded, positions: Sequence[Any], *, depth: int, seconds: float
    ) -> list[float]:
        """The values of positions, each for its side to move; fewer where time ran out.

        In games with dice they are those before the roll.
        """
        engine = self._take(game, loaded)
        until = time.monotonic() + seconds
        values: list[float] = []
        try:
            for position in positions:
                if time.monotonic() > until:
                    break
                outcome = game.outcome(position)
                if isinstance(game, DiceGame):
                    one = outcome if outcome is not None else engine.values([position])[0]
                else:
                    one = engine.search(position, depth=max(depth, 1)).value
                values.append(float(one))
        finally:
            self._put(engine)
        return values

    def _search(self, question: Question, tell: Report) -> dict[str, Any]:
        engine = self._take(question.game, question.loaded)
        question.engine = engine
        try:
            return _deepen(engine, question, tell)
        finally:
            question.engine = None
            self._put(engine)

    def _take(self, game: Game, loaded: Loaded) -> Engine:
        """An engine with an empty memory, of its own while it is used."""
        with self._lock:
            for engine in self._idle:
                if engine.evaluator is loaded.evaluator:
                    self._idle.remove(engine)
                    return engine
        options: dict[str, Any] = {}
        if isinstance(game, DiceGame) and loaded.evaluator.gives_outcomes:
            options["filters"] = "normal"  # its distances are in points, as these values are
        return Engine(game, loaded.evaluator, table_mib=self.limits.table_mib, **options)

    def _put(self, engine: Engine) -> None:
        engine.clear()
        with self._lock:
            self._idle.append(engine)
            del self._idle[:-IDLE_ENGINES]


def _deepen(engine: Engine, question: Question, tell: Report) -> dict[str, Any]:
    """Search deeper and deeper, so that there is something to tell of; returns the last report.

    What a depth finds stays in the engine's table, so that the next one goes through it quickly.
    """
    game = question.game
    dice = isinstance(game, DiceGame)
    legal = game.legal_moves(question.position, *([question.roll] if dice else []))
    depth, told, nodes = (0 if dice else 1), 0.0, 0
    last = question.depth if question.depth is not None else (3 if dice else 60)
    last = min(max(last, depth), 7 if dice else 60)
    if len(legal) == 1 and not question.moves:
        question.seconds = min(question.seconds, ONLY)
    best: Result | None = None
    while best is None or (depth <= last and question.left > 0 and not question.stopped):
        ask = engine.analyse if question.moves else engine.search
        result = ask(
            question.position,
            depth=depth,
            seconds=max(question.left, 0.005),
            history=() if dice else question.history,
            roll=question.roll,
        )
        nodes += result.nodes
        if best is not None and result.depth < depth:  # cut short: the one before knows better
            break
        best = result
        decided = best.plies_to_end is not None and not dice and best.plies_to_end <= depth
        if decided or depth >= last:
            break
        if time.monotonic() - told > OFTEN and depth > 1:
            told = time.monotonic()
            tell(_described(question, best, nodes))
        depth += 1
    return _described(question, best, nodes) | {
        "done": True, "move": best.move, "raw": best.value,
    }  # fmt: skip


def _described(question: Question, result: Result, nodes: int) -> dict[str, Any]:
    """A result as JSON; values are for the side to move."""
    game, position = question.game, question.position
    side = game.to_move(position)
    return {
        "evaluator": question.loaded.entry.id,
        "name": question.loaded.entry.name,
        "unit": question.loaded.unit,
        "side": side,
        "depth": result.depth,
        "value": clamped(result.value),
        "value_text": value_text(result.value),
        "decided": abs(result.value) > WIN / 2,
        "pv": _texts(game, position, result.pv[:20], question.roll),
        "nodes": nodes,
        "seconds": round(time.monotonic() - question.began, 3),
        "outcomes": result.outcomes,
        "moves": [
            {
                "text": game.move_text(position, move),
                "value": clamped(value),
                "value_text": value_text(value),
                "loss": clamped(value - result.moves[0][1]),
            }
            for move, value in result.moves[:60]
        ],
        "done": False,
    }


def _texts(game: Game, position: Any, moves: Sequence[Any], roll: int | None) -> list[str]:
    texts = []
    for move in moves:
        texts.append(game.move_text(position, move))
        position = game.play(position, move)
        if roll is not None:
            break
    return texts
