"""One stream of tasks on a cluster: sent in parts, taken as they come, given in order."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Generator, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from play.workers.parts import Parts
from play.workers.remote import do_part, say
from play.workers.sources import digest
from play.workers.transport import pack, unpack
from programs.ending import LOOK

__all__ = ["GoneError", "Work"]

#: An answer is late after this many times the usual time, and at least these seconds.
LATE, LATE_SECONDS = 20.0, 5.0
#: The limit before a usual time is known, because kernels may be compiled.
LATE_UNKNOWN = 60.0
#: Maximum bytes of results that wait for an earlier one.
WINDOW = 1 << 28
#: Functions of more bytes travel by themselves, and tasks wait for them for these seconds.
INLINE, COPIED_SECONDS = 2048, 0.25
#: Times that a part is sent again because of workers that died, or could not do it.
TRIES = 4
#: Seconds that a part should take, and that the last ones should; more with many workers, as the
#: client needs some for each.
PART_SECONDS, LEAST_SECONDS, CLIENT_SECONDS = 1.0, 0.1, 0.004


class GoneError(ConnectionError):
    """A cluster that has stopped."""


class Part:
    """Some tasks, and Dask's futures of them: several if an answer was late."""

    def __init__(self, tasks: list[Any]) -> None:
        self.tasks, self.packed = len(tasks), pack(tasks)
        self.futures: list[Any] = []
        self.sent = 0.0
        self.lost = 0
        self.answer: list[Any] | None = None
        self.bytes = 0


class Work:
    """One `map` of a cluster."""

    def __init__(self, cluster: Any, function: bytes, parts: Parts) -> None:
        self.cluster, self.parts, self.pace = cluster, parts, parts.pace
        self._function = function
        self._held: Any = function
        self._generation = cluster.generation
        self._broken = False
        #: the late workers whose tasks were asked for again
        self._asked: frozenset[str] = frozenset()
        #: by worker: Dask's future of its copy of the function
        self._copies: dict[str, Any] = {}
        #: the parts whose results were not given yet, in order
        self._open: list[Part] = []
        self._done: SimpleQueue[tuple[Part, Any]] = SimpleQueue()
        self._hold(None)

    def results(self) -> Generator[Any, None, None]:
        """Yields the results in order."""
        drawn = False
        while True:
            running = sum(part.answer is None for part in self._open)
            waiting = sum(part.bytes for part in self._open)
            jobs = self.cluster.jobs
            while not drawn and running < 2 * jobs and waiting < WINDOW:
                seconds = max(PART_SECONDS, jobs * CLIENT_SECONDS)
                tasks = self.parts.next(jobs, seconds, LEAST_SECONDS)
                drawn = not tasks
                if tasks:
                    self._open.append(Part(tasks))
                    self._send(self._open[-1])
                    running += 1
            if not self._open:
                return
            if self._open[0].answer is not None:
                for done, result in self._open.pop(0).answer or ():
                    if not done:
                        raise result
                    yield result
            self._take(wait=bool(self._open) and self._open[0].answer is None)

    def abandon(self) -> None:
        """Leave what is open to the cluster, which forgets it."""
        for part in self._open:
            for future in part.futures:
                with suppress(Exception):
                    future.release()

    def _hold(self, workers: Iterable[str] | None) -> None:
        """Let a worker hold the function, and others take it from one another.

        Dask gives a task to a worker that has the function already, however busy that is.
        """
        if len(self._function) > INLINE:
            name = hashlib.sha256(self._function).hexdigest()[:16]
            key = f"weights-{name}-{os.urandom(4).hex()}"
            self._held = self._submit(bytes, self._function, key=key, workers=workers)
            self._copies = {}
            self._copy(self.cluster.ready if workers is None else workers)
            until = time.monotonic() + COPIED_SECONDS
            while time.monotonic() < until and not all(c.done() for c in self._copies.values()):
                time.sleep(0.001)

    def _copy(self, workers: Iterable[str]) -> None:
        """Let those of the workers take the function that do not have it."""
        if len(self._function) > INLINE and self._held is not None:
            for worker in set(workers) - self._copies.keys():
                copy = self._submit(len, self._held, workers=[worker], priority=1)
                if copy is not None:
                    self._copies[worker] = copy

    def _send(self, part: Part, workers: Iterable[str] | None = None) -> None:
        part.sent = time.monotonic()
        future = self._submit(do_part, digest(), self._held, part.packed, workers=workers)
        if future is not None:
            part.futures.append(future)
            future.add_done_callback(lambda done: self._done.put((part, done)))

    def _submit(self, *call: Any, **options: Any) -> Any:
        """Returns a future of Dask's, or None if the cluster is gone, which `_take` sees to."""
        try:
            return self.cluster.submit(*call, **options)
        except ConnectionError:
            self._broken = True
            return None

    def _take(self, *, wait: bool) -> None:
        """Take the answers that are there, or wait for one for a moment."""
        try:
            if self._generation != self.cluster.generation:
                self._send_again()
            if self._broken:
                raise ConnectionError("lost")
            for _ in range(max(1, self._done.qsize())):
                try:
                    part, future = self._done.get(timeout=LOOK if wait else 0)
                except Empty:
                    break
                wait = False
                if part.answer is None and future in part.futures:
                    self._answered(part, future)
            self.cluster.check_goes_on()
            self.cluster.look()
            self._copy(self.cluster.ready)
            self._ask_again()
        except GoneError:
            raise
        except (OSError, TimeoutError):
            self.cluster.again(self._generation)
            self._send_again()
        self.cluster.check_not_lonely()

    def _answered(self, part: Part, future: Any) -> None:
        """Take an answer; raises ConnectionError if it was lost with the cluster."""
        if future.status in ("cancelled", "lost"):
            raise ConnectionError("lost")
        try:
            worker, mark, fault, seconds, data = future.result(timeout=LOOK)
        except TimeoutError:  # a worker that is busy or has stopped keeps it
            self._done.put((part, future))
            return
        except Exception as error:
            name = type(error).__name__
            if name in ("CancelledError", "FutureCancelledError", "CommClosedError"):
                raise ConnectionError("lost") from None
            if name != "KilledWorker":
                raise
            self._lost(part, f"workers that died over one task: {error}")
            return
        if mark != digest() or fault:
            self.cluster.leave_out(worker, fault or "it has other sources than it had")
            self._lost(part, f"workers that could not do a task: {fault}")
            return
        self.pace.add(part.tasks, seconds, time.monotonic() - part.sent)
        part.answer, part.bytes = unpack(data), len(data)
        for future in part.futures:
            future.release()
        part.futures = []

    def _lost(self, part: Part, found: str) -> None:
        part.lost += 1
        if part.lost >= TRIES:
            raise self.cluster.gone(f"found {found}")
        self._send(part)

    def _ask_again(self) -> None:
        """Ask other workers for answers that are late, or lie with late workers alone."""
        now = time.monotonic()
        waiting = [part for part in self._open if part.answer is None]
        slow = [part for part in waiting if now - part.sent > self._limit(part)]
        if not slow and self._asked == self.cluster.late.keys():
            return
        having = self.cluster.holders(future.key for part in waiting for future in part.futures)
        at = {part: {w for one in part.futures for w in having[one.key]} for part in waiting}
        self.cluster.ask_late({worker for part in slow for worker in at[part]})
        self._asked = frozenset(self.cluster.late)
        others = self.cluster.ready.keys() - self._asked
        again = [part for part in waiting if part in slow or (at[part] and at[part] <= self._asked)]
        if others and again:
            told = sorted({worker for part in again for worker in at[part]})
            if told:
                say(f"late, and asked for again elsewhere: what {', '.join(told[:3])} does")
            self._hold(others)
            for part in again:
                self._send(part, others)

    def _limit(self, part: Part) -> float:
        """Returns the seconds after which a part is late."""
        usual = self.pace.usual_answer(part.tasks)
        return LATE_UNKNOWN if usual is None else max(LATE_SECONDS, LATE * usual)

    def _send_again(self) -> None:
        """Send everything that is open to a cluster that has come back."""
        self._generation, self._broken = self.cluster.generation, False
        self._hold(None)
        for part in self._open:
            if part.answer is None:
                part.futures = []
                self._send(part)
