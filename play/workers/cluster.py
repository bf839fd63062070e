"""A cluster of machines, by Dask: only workers that are like this process get work, whatever fails.

Dask does its part: it places tasks, moves data between workers, starts tasks of dead
workers again. Added here is what results need to be right and to come:

- A worker gets no task before it has shown that it has the same sources, shipped data and versions
  (`sources`) and finds the same values (`bench`). Then it offers a resource of Dask's, named after
  the digest of all that, which every task asks for. So workers that join late are checked too, and
  runs of different commits share a cluster. The check is a task of its own for each worker, not a
  plugin of Dask's, since a worker that cannot import a plugin does not start.
- Functions (with their weights) travel once, as the result of a task that the others depend on:
  workers hand it on to one another.
- Tasks travel in parts of about a second (`parts`). Their results are taken as they come and
  given in order. One that is late, or lies with a worker that is silent, is asked for again from
  another worker, and the first counts.
- A cluster that is gone is looked for again; then all open parts are sent once more.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from typing import Any

from play.workers.bench import bench
from play.workers.parts import Parts, TaskPace, kind_of
from play.workers.remote import check_worker, connect, offer, say
from play.workers.sources import digest, what_differs
from play.workers.transport import pack
from play.workers.work import GoneError, Work
from programs.ending import LOOK

__all__ = ["Cluster"]

#: Seconds between two looks at the cluster; one more for each `WORKERS_PER_SECOND` workers.
LOOKS, WORKERS_PER_SECOND = 1.0, 50
#: Seconds after which a worker without a heartbeat is silent, counted from the newest heartbeat of
#: any worker; more for many workers, which Dask then lets beat less often.
SILENT = 2.5
#: Seconds within which a scheduler has to answer that did so before.
ANSWER = 30.0
#: Seconds after which a cluster without any workers is given up, and one that is gone.
LONELY, GONE = 20.0, 600.0


class Cluster:
    """The workers of a Dask scheduler; any thread may use them.

    address: the scheduler's, such as tcp://127.0.0.1:8786.
    jobs: number of tasks at a time (default: as many as the workers' threads, whenever they join).
    patience: seconds within which the scheduler must answer.

    Security, such as certificates for tls://, is that of Dask's own configuration.

    Raises what `Workers` raises.
    """

    def __init__(self, address: str, jobs: int | None = None, *, patience: float = 10.0) -> None:
        self.address, self._jobs, self._patience = address, jobs, patience
        # before the workers are asked: the bench may compile
        alike = hashlib.sha256(repr((digest(), sorted(bench().items()))).encode())
        self._name = f"plysmith-{alike.hexdigest()[:16]}"
        #: by address: the tasks at a time of a worker that passed, and why one did not
        self.slots: dict[str, int] = {}
        self.left_out: dict[str, str] = {}
        #: by address: a question to a worker that was late or silent, which gets no work until it
        #: answers
        self.late: dict[str, Any] = {}
        self._checks: dict[str, Any] = {}
        self._leaving: Any = None
        #: hosts of workers that ended in their check
        self._ended: set[str] = set()
        self._paces: defaultdict[str, TaskPace] = defaultdict(TaskPace)
        self._lock = threading.RLock()
        self._looked = -LOOKS
        self._lonely: float | None = None
        #: grows when the cluster was gone, or had no worker left: what was sent is lost
        self.generation = 0
        self.stopped = False
        self._client = connect(address, patience)
        try:
            self._wait_for_workers()
        except BaseException:
            self.close()
            raise

    @property
    def jobs(self) -> int:
        """The number of tasks at a time."""
        return self._jobs or max(1, sum(self.ready.values()))

    @property
    def ready(self) -> dict[str, int]:
        """The workers that may get work, by address; all that passed if all of them are late."""
        in_time = {worker: jobs for worker, jobs in self.slots.items() if worker not in self.late}
        return in_time or self.slots

    def ask_late(self, workers: Iterable[str]) -> None:
        """Give workers no more work until they answer."""
        with self._lock:
            for address in workers:
                if address not in self.late:
                    self.late[address] = self._on(address, len, b"")

    def close(self) -> None:
        """Leave the cluster."""
        self.stopped = True
        with suppress(OSError, TimeoutError, asyncio.CancelledError):
            self._client.close(timeout=2)

    # --- workers ------------------------------------------------------------------------------

    def look(self, *, now: bool = False) -> None:
        """Look which workers there are, and check new ones; at most every few seconds.

        Raises OSError if the scheduler does not answer.
        """
        with self._lock:
            pause = LOOKS + len(self.slots) / WORKERS_PER_SECOND
            if not now and time.monotonic() - self._looked < pause:
                return
            there = self._ask("identity", n_workers=-1)["workers"]
            self._looked = time.monotonic()
            before = self.slots
            self.slots = {
                address: int(about["resources"][self._name])
                for address, about in there.items()
                if about["resources"].get(self._name) and address not in self.left_out
            }
            self.late = {
                address: answer
                for address, answer in self.late.items()
                if address in there and not answer.done()
            }
            beats = {address: there[address]["last_seen"] for address in self.slots}
            patience = SILENT + len(self.slots) / WORKERS_PER_SECOND
            newest = max(beats.values(), default=0.0)
            self.ask_late(a for a, seen in beats.items() if newest - seen > patience)
            for address in self.left_out.keys() - there.keys():
                del self.left_out[address]
            for address in self._checks.keys() - there.keys():
                del self._checks[address]
                host = address.rpartition(":")[0]
                if host not in self._ended:  # it may be started again and again
                    self._ended.add(host)
                    say(f"worker {address} ended while it was checked: can it import Plysmith?")
            unknown = there.keys() - self.slots.keys() - self.left_out.keys()
            for address in unknown | self._checks.keys():
                self._check(address)
            if self.slots and not before:
                self.generation += 1  # Dask does not look again at tasks that found no worker
            alive = bool(self.slots or self._checks)
            self._lonely = None if alive else self._lonely or self._looked

    def check_not_lonely(self) -> None:
        """Raises ConnectionError if the cluster has had no worker for `LONELY` seconds."""
        if self._lonely is not None and self._looked - self._lonely >= LONELY:
            why = self._reasons() if self.left_out else "all have died"
            raise self.gone(f"found it without a worker for {LONELY:g} s: {why}")

    def _check(self, address: str) -> None:
        """Send a worker its check, or take the answer."""
        check = self._checks.get(address)
        if check is None or check.status in ("cancelled", "lost"):
            check = self._on(address, check_worker, self._name, digest(), bench())
            self._checks[address] = check
            return
        if not check.done():
            return
        del self._checks[address]
        try:
            marks = check.result(timeout=LOOK)
        except TimeoutError:
            return
        except Exception as error:
            self.leave_out(address, f"it cannot run Plysmith ({type(error).__name__}: {error})")
            return
        why = what_differs(marks["marks"]) if "marks" in marks else _other_values(marks["bench"])
        if why:
            self.leave_out(address, why)
        elif marks["threads"] > marks["cores"]:
            say(
                f"worker {address} has {marks['threads']} threads on {marks['cores']} cores: it"
                f" gets {marks['cores']} tasks at a time"
            )

    def leave_out(self, address: str, why: str) -> None:
        """Give a worker no more work, and say why."""
        with self._lock:
            if address not in self.left_out:
                self.left_out[address] = why
                say(f"worker {address} is left out: {why}")
            if self.slots.pop(address, None):
                self._leaving = self._on(address, offer, self._name, 0)

    def _on(self, address: str, *call: Any) -> Any:
        """Returns Dask's future of a call on one worker, before others that wait there."""
        return self._client.submit(*call, workers=[address], priority=1, pure=False)

    def _reasons(self) -> str:
        return "; ".join(f"{address}: {why}" for address, why in sorted(self.left_out.items())[:3])

    def _wait_for_workers(self) -> None:
        """Wait until the workers that are there are checked.

        Raises ConnectionError without workers, and ValueError if all are left out.
        """
        began, ready, said = time.monotonic(), None, False
        while True:
            self.look(now=True)
            now = time.monotonic()
            ready = ready or (now if self.slots else None)
            if self.slots and (not self._checks or now - (ready or now) > LONELY):
                return
            if not self.slots and not self._checks:
                if self.left_out:
                    raise ValueError(
                        f"address: expected a worker at {self.address} with the sources, data,"
                        f" versions and values of this process, found none ({self._reasons()})"
                    )
                if now - began > self._patience:
                    raise ConnectionError(
                        f"address: expected workers at {self.address}, found none within"
                        f" {self._patience:g} s"
                    )
            if now - began > LONELY and not said:
                said = True
                say(f"waiting for {len(self._checks)} workers at {self.address} to be ready")
            if now - began > GONE:
                raise self.gone(f"found no worker ready within {GONE:g} s")
            time.sleep(0.05)

    def _ask(self, what: str, **options: Any) -> Any:
        """Returns the scheduler's answer; raises OSError without one."""
        try:
            call = getattr(self._client.scheduler, what)
            return self._client.sync(call, callback_timeout=ANSWER, **options)
        except TimeoutError:
            raise ConnectionError(
                f"expected the dask scheduler at {self.address} to answer, found it silent for"
                f" {ANSWER:g} s"
            ) from None
        except OSError:
            raise
        except Exception as error:  # a client that is closed has no scheduler
            raise ConnectionError(f"{type(error).__name__}: {error}") from None

    def holders(self, keys: Iterable[str]) -> dict[str, set[str]]:
        """Returns the workers that have each task, or its result."""
        having = {key: set(at) for key, at in self._ask("who_has", keys=list(keys)).items()}
        for worker, tasks in self._ask("processing", workers=None).items():
            for key in having.keys() & set(tasks):
                having[key].add(worker)
        return having

    def again(self, generation: int) -> None:
        """Connect to a cluster that is gone, unless another thread did; for ten minutes.

        generation: the caller's.
        """
        with self._lock:
            if self.generation != generation:
                return
            say(f"the cluster at {self.address} is gone; waiting for it, at most {GONE:g} s")
            until = time.monotonic() + GONE
            while True:
                self.check_goes_on()
                with suppress(Exception):
                    self._client.close(timeout=1)
                self._checks, self.slots, self.late, self._lonely = {}, {}, {}, None
                try:
                    self._client = connect(self.address, min(self._patience, GONE))
                    self._wait_for_workers()
                    break
                except (OSError, TimeoutError) as error:
                    if time.monotonic() >= until:
                        raise self.gone(f"found no answer for {GONE:g} s: {error}") from None
                time.sleep(LOOK)
            self.generation += 1
            say(f"the cluster at {self.address} is back, with {len(self.slots)} workers")

    def check_goes_on(self) -> None:
        """Raises KeyboardInterrupt in other threads than the main one once `stopped` is set."""
        if self.stopped and threading.current_thread() is not threading.main_thread():
            raise KeyboardInterrupt

    def gone(self, found: str) -> ConnectionError:
        """Returns the error of a cluster that has stopped."""
        return GoneError(f"expected the dask cluster at {self.address} to go on, {found}")

    # --- work ---------------------------------------------------------------------------------

    def submit(self, *call: Any, workers: Iterable[str] | None, **options: Any) -> Any:
        """Returns Dask's future of a call on a worker that passed, of some or of all.

        Raises ConnectionError if the cluster is gone.
        """
        only = None if workers is None and not self.late else list(workers or self.ready)
        try:
            return self._client.submit(
                *call, pure=False, workers=only, resources={self._name: 1}, **options
            )
        except Exception as error:
            if self._client.status == "running":
                raise
            raise ConnectionError(f"{type(error).__name__}: {error}") from None

    def map(self, function: Any, tasks: Iterable[Any]) -> Generator[Any, None, None]:
        """As `Workers.map`."""
        parts = Parts(tasks, self._paces[kind_of(function)])
        work = Work(self, pack(function), parts)
        try:
            yield from work.results()
        finally:
            work.abandon()


def _other_values(theirs: Mapping[str, str]) -> str:
    return ", ".join(
        f"{name}: nodes and value {theirs.get(name)} (here {ours})"
        for name, ours in bench().items()
        if theirs.get(name) != ours
    )
