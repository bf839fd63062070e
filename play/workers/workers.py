"""Workers: threads, processes, or the machines of a cluster, behind one small interface.

Self-play, rollouts and matches hand their tasks to `Workers.map`. Results depend on the tasks
alone, not on the backend: each task carries its own seed.

The processes are joblib's (loky), the cluster is Dask's. `joblib.Parallel` itself does not serve:

- it sends the next task when one is done, even if nobody takes the results, so that a decided match
  could not stop it;
- it draws tasks in its own threads, which Ctrl-C does not reach;
- with dask it waits for ever for a task whose worker died.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker as usual_tracker
from typing import Any, TypeVar

from play.workers.cluster import Cluster
from play.workers.parts import Parts, TaskPace, kind_of
from play.workers.transport import do_packed, pack, unpack
from programs.ending import ENDING, result_of, signals_held

__all__ = ["BACKENDS", "Workers", "parse_backend", "serve", "starting_processes"]

Task = TypeVar("Task")
Result = TypeVar("Result")

BACKENDS = ("threads", "loky", "dask")
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://\S+:\d+")
#: The variable that keeps the current folder out of Python's path, and our value of it.
SAFE_PATH, OURS = "PYTHONSAFEPATH", "plysmith"
#: Seconds of work that are sent to a process or a thread at once, and at the end of a list.
SECONDS = {"loky": (0.1, 0.005), "threads": (0.0, 0.004)}
#: One thread for libraries that would otherwise start several in every process.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
}


def parse_backend(text: str) -> tuple[str, str | None]:
    """Returns the backend and the address of `threads`, `loky`, `dask` or `dask:tcp://HOST:PORT`.

    The address of `dask` alone is None: it is that of Dask's own configuration. Raises ValueError
    for any other text.
    """
    backend, colon, address = text.partition(":")
    good = backend == "dask" and bool(ADDRESS.fullmatch(address)) if colon else backend in BACKENDS
    if not good:
        raise ValueError(
            f"backend: expected threads, loky or dask:tcp://HOST:PORT, found {text[:80]!r}"
        )
    return backend, address or None


class Workers:
    """Threads or processes that do tasks; for one thread and one `map` at a time.

    backend: "threads" of this process, "loky" processes of this machine, or "dask", a cluster,
        which several threads may use at a time.
    jobs: number of tasks at a time (default 2, with dask the cluster's number of threads, now and
        as workers join and leave).
    address: the cluster's scheduler, such as tcp://127.0.0.1:8786; only for dask (default: that of
        Dask's own configuration, `scheduler-address`).
    patience: seconds within which the cluster has to answer.

    Workers of the cluster with other sources, shipped data or versions (`play.workers.sources`), or
    that find other values (`play.workers.bench`), are left out, whenever they join: the log
    `plysmith` names each, and what differs, in a line.

    Raises ValueError for a bad option or a cluster without a worker that has the same,
    ModuleNotFoundError if dask is not installed, and OSError if no cluster answers or it has no
    workers.
    """

    def __init__(
        self,
        backend: str = "threads",
        jobs: int | None = None,
        address: str | None = None,
        *,
        patience: float = 10.0,
    ) -> None:
        if backend not in BACKENDS:
            raise ValueError(f"backend: expected one of {', '.join(BACKENDS)}, found {backend!r}")
        if jobs is not None and jobs < 1:
            raise ValueError(f"jobs: expected at least 1, found {jobs}")
        if backend == "dask":
            address = _configured() if address is None else address
            if not ADDRESS.fullmatch(address or ""):
                raise ValueError(
                    "address: expected that of a dask scheduler, tcp://HOST:PORT, found"
                    f" {address!r}"
                )
        elif address is not None:
            raise ValueError(f"address: expected none for {backend}, found {address!r}")
        self.backend = backend
        self.address = address
        self._jobs = jobs or 2
        self._pool: Any = None
        self._paces: defaultdict[str, TaskPace] = defaultdict(TaskPace)
        self.cluster = Cluster(address, jobs, patience=patience) if address is not None else None

    @property
    def jobs(self) -> int:
        """The number of tasks at a time."""
        return self._jobs if self.cluster is None else self.cluster.jobs

    def __repr__(self) -> str:
        return f"Workers({self.backend!r}, jobs={self.jobs})"

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads or processes, or leave the cluster."""
        if self.backend == "threads" and self._pool is not None:
            self._pool.shutdown()
        elif self.backend == "loky" and self._pool is not None:
            self._pool.shutdown(kill_workers=True)
        if self.cluster is not None:
            self.cluster.close()
        self._pool = None

    def map(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Generator[Result, None, None]:
        """The results of `function` for each task, in the order of the tasks.

        Tasks are drawn in the caller's thread: in threads at most 2 `jobs` of them ahead of the
        results taken, or parts of several short ones of a list; processes have at most 2 `jobs`
        parts of several tasks (`play.workers.parts`), a cluster too, in addition to those that have
        ended and wait for an earlier one. Closing the iterator, or an exception, ends the work, and
        tasks that have not begun never do. Tasks under way end according to the backend:

        - threads: `function.stop()` is called, if it exists, until all tasks have ended;
        - loky: their processes are killed;
        - dask: they are left to the cluster, which forgets their results.

        In threads all tasks share `function`. Otherwise the function, tasks and results are sent
        (see `play.workers.transport`), and each process keeps one copy of the function, with its
        contents, until the work ends.

        An exception in a task is raised here in its turn, with a note that says where it was
        raised. Raises ChildProcessError if a process dies, ConnectionError if the cluster is gone
        for ten minutes, has no worker for 20 seconds, or loses many over one task, and TypeError
        for a function, task or result that cannot be sent.
        """
        if self.cluster is not None:
            yield from self.cluster.map(function, tasks)
            return
        pace = self._paces[kind_of(function)]
        send, receive = self._ends(function, pace)
        parts, running = Parts(tasks, pace), deque[Any]()
        try:
            while True:
                while len(running) < 2 * self.jobs and (
                    some := parts.next(self.jobs, *SECONDS[self.backend])
                ):
                    running.append(send(some))
                if not running:
                    return
                results = receive(running[0])
                running.popleft()
                for done, result in results:
                    if not done:
                        raise result
                    yield result
        finally:
            if running:
                self._abandon(running, getattr(function, "stop", None))

    def _ends(
        self, function: Any, pace: TaskPace
    ) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """Two functions: one sends a part and returns a future, one receives its results."""
        loky = self.backend == "loky"
        given = pack(function) if loky else function
        if self._pool is None:
            self._pool = (
                _processes(self.jobs)
                if loky
                else ThreadPoolExecutor(self.jobs, thread_name_prefix="worker")
            )

        def send(tasks: list[Any]) -> Any:
            if loky:
                return self._pool.submit(_work, given, pack(tasks))
            return self._pool.submit(_do, given, tasks)

        def receive(future: Any) -> Any:
            try:
                seconds, results = result_of(future)
            except BrokenExecutor as error:
                raise ChildProcessError(f"expected processes that go on, found: {error}") from None
            results = unpack(results) if loky else results
            pace.add(len(results), seconds, seconds)
            return results

        return send, receive

    def _abandon(self, running: deque[Any], stop: Callable[[], Any] | None) -> None:
        if self.backend == "loky":
            # Not `shutdown(kill_workers=True)`, which stumbles over tasks that were only just sent.
            for process in list(self._pool._processes.values()):
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            self._pool.shutdown()
            self._pool = None
            return
        for future in running:
            future.cancel()
        if self.backend == "threads":
            # Again and again, because work that is only just beginning misses it.
            while wait(running, timeout=0.02 if stop else None).not_done:
                if stop:
                    stop()


def _do(function: Any, tasks: list[Any]) -> tuple[float, list[tuple[bool, Any]]]:
    """Do tasks in a thread, up to one that fails; returns the seconds they took, and results."""
    began, results = time.perf_counter(), list[tuple[bool, Any]]()
    try:
        for task in tasks:
            results.append((True, function(task)))
    except BaseException as error:
        results.append((False, error))
    return time.perf_counter() - began, results


def _work(function: bytes, tasks: bytes) -> tuple[float, bytes]:
    """Do tasks in another process; returns the seconds they took and their packed results."""
    began = time.perf_counter()
    data, _ = do_packed(function, tasks)
    return time.perf_counter() - began, data


def _configured() -> str:
    """Returns the address of the scheduler in Dask's configuration; raises ValueError if none."""
    with suppress(ImportError):
        address = importlib.import_module("dask").config.get("scheduler-address", None)
        if address is not None:
            return str(address)
    raise ValueError(
        "backend: expected dask:tcp://HOST:PORT, or the address in Dask's configuration"
        " (DASK_SCHEDULER_ADDRESS), found dask alone"
    )


# --- processes --------------------------------------------------------------------------------


def _processes(jobs: int) -> Any:
    # Importing loky makes a semaphore, and that starts the process of the standard library that
    # looks after semaphores.
    with starting_processes(usual_tracker):
        from joblib.externals.loky import ProcessPoolExecutor
        from joblib.externals.loky.backend import resource_tracker

    pool = None
    try:
        with starting_processes(resource_tracker):
            pool = ProcessPoolExecutor(
                jobs, initializer=serve, initargs=(os.getpid(),), env=ONE_THREAD
            )
            begun = pool.submit(int)  # the first task starts the processes
        begun.result()
    except BaseException:
        if pool is not None:
            pool.shutdown(kill_workers=True)
        raise
    return pool


def serve(parent: int) -> None:
    """Make this process leave Ctrl-C, SIGTERM and SIGHUP to its parent, and end when that ends."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    if os.name == "posix":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    if os.environ.get(SAFE_PATH) == OURS:  # not meant for programs that this process starts
        del os.environ[SAFE_PATH]

    def outlive() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=outlive, daemon=True).start()


@contextmanager
def starting_processes(tracker: Any) -> Iterator[None]:
    """Start processes that never see Ctrl-C, SIGTERM or SIGHUP, from their beginning.

    tracker: the module `resource_tracker` of the library that starts them. Its own process is
        started first, because that unblocks some of these signals.

    Before a new process gets the path of this one, it would look for modules in the current folder,
    which may be somebody else's. `serve` must be its initializer.
    """
    safe = os.environ.setdefault(SAFE_PATH, OURS)
    try:
        with signals_held():
            tracker.ensure_running()
        with signals_held():
            yield
    finally:
        if safe == OURS:
            del os.environ[SAFE_PATH]
