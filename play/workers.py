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

import asyncio
import functools
import importlib
import logging
import os
import re
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import resource_tracker as usual_tracker
from typing import Any, TypeVar

from games.program import ENDING, result_of, signals_held
from play.sources import digest, marks, what_differs
from play.transport import pack, unpack

__all__ = ["BACKENDS", "Workers", "parse_backend", "serve", "starting_processes"]

Task = TypeVar("Task")
Result = TypeVar("Result")

BACKENDS = ("threads", "loky", "dask")
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://\S+:\d+")
#: The variable that keeps the current folder out of Python's path, and our value of it.
SAFE_PATH, OURS = "PYTHONSAFEPATH", "plysmith"
#: Seconds between two looks at a cluster that has not answered, and after which one without any
#: workers is given up; those that its nannies start again are back by then.
LOOK, LONELY = 2.0, 20.0
#: One thread for libraries that would otherwise start several in every process.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
}


def parse_backend(text: str) -> tuple[str, str | None]:
    """Returns the backend and the address of `threads`, `loky` or `dask:tcp://HOST:PORT`.

    Raises ValueError for any other text.
    """
    backend, colon, address = text.partition(":")
    good = bool(ADDRESS.fullmatch(address)) if backend == "dask" else not colon
    if backend not in BACKENDS or not good:
        raise ValueError(
            f"backend: expected threads, loky or dask:tcp://HOST:PORT, found {text[:80]!r}"
        )
    return backend, address or None


class Workers:
    """Threads or processes that do tasks; for one thread and one `map` at a time.

    backend: "threads" of this process, "loky" processes of this machine, or "dask", a cluster.
    jobs: number of tasks at a time (default 2, with dask the cluster's number of threads).
    address: the cluster's scheduler, such as tcp://127.0.0.1:8786; only for dask.
    patience: seconds within which the cluster has to answer.

    Workers of the cluster with other sources, shipped data or versions (`play.sources`) are left
    out, whenever they join: the log `plysmith` names each, and what differs, in a line.

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
        if backend == "dask" and not ADDRESS.fullmatch(address or ""):
            raise ValueError(
                f"address: expected that of a dask scheduler, tcp://HOST:PORT, found {address!r}"
            )
        if backend != "dask" and address is not None:
            raise ValueError(f"address: expected none for {backend}, found {address!r}")
        self.backend = backend
        self.address = address
        self._pool: Any = None
        self._client: Any = None
        self._left_out: set[str] = set()
        if address is not None:
            self._client = _connect(address, patience)
            try:
                self._check_workers()
                jobs = jobs or sum(self._trusted().values())
            except BaseException:
                self._client.close()
                raise
        self.jobs: int = jobs or 2

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
        if self._client is not None:
            self._client.close()
        self._pool = self._client = None

    def map(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Generator[Result, None, None]:
        """The results of `function` for each task, in the order of the tasks.

        Tasks are drawn in the caller's thread, at most 2 `jobs` of them ahead of the results taken.
        Closing the iterator, or an exception, ends the work, and tasks that have not begun never
        do. Tasks under way end according to the backend:

        - threads: `function.stop()` is called, if it exists, until all tasks have ended;
        - loky: their processes are killed;
        - dask: they are left to the cluster, which forgets their results.

        In threads all tasks share `function`. Otherwise the function, tasks and results are sent
        (see `play.transport`), and each process keeps one copy of the function, with its contents,
        until the work ends.

        An exception in a task is raised here in its turn, with a note that says where it was
        raised. Raises ChildProcessError if a process dies, ConnectionError if the cluster is gone,
        has no worker for 20 seconds, or loses several over one task, and TypeError for a function,
        task or result that cannot be sent.
        """
        send, receive = self._ends(function)
        source = iter(tasks)
        running: deque[Any] = deque()
        try:
            while True:
                for task in islice(source, 2 * self.jobs - len(running)):
                    running.append(send(task))
                if not running:
                    return
                result = receive(running[0])
                running.popleft()
                yield result
        finally:
            if running:
                self._abandon(running, getattr(function, "stop", None))

    def _ends(self, function: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """Two functions: one sends a task and returns a future, one receives its result."""
        if self.backend == "threads":
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="worker")
            return functools.partial(self._pool.submit, function), result_of
        packed = pack(function)
        if self.backend == "dask":
            return lambda task: _Sent(
                self, (_work_alike, digest(), packed, pack(task))
            ), self._receive
        if self._pool is None:
            self._pool = _processes(self.jobs)
        return lambda task: self._pool.submit(_work, packed, pack(task)), self._receive

    def _receive(self, future: Any) -> Any:
        try:
            data = result_of(future) if self.backend == "loky" else self._of_cluster(future)
        except CancelledError:
            raise self._gone("found it gone") from None
        except BrokenExecutor as error:
            raise ChildProcessError(f"expected processes that go on, found: {error}") from None
        done, result = unpack(data)
        if not done:
            raise result
        return result

    def _of_cluster(self, future: Any) -> Any:
        """Returns a result of the cluster; raises ConnectionError once it has lost all workers."""
        lonely: float | None = None
        while True:
            try:
                data = future.result(timeout=LOOK)
                if isinstance(data, bytes):
                    return data
                worker, theirs = data
                self._leave_out(worker, what_differs(theirs))
                future.send_again()
                continue
            except TimeoutError:
                pass
            except Exception as error:
                if type(error).__name__ != "KilledWorker":
                    raise
                raise self._gone(f"found workers that died over one task: {error}") from None
            try:
                workers = self._trusted()
            except (OSError, TimeoutError) as error:
                raise self._gone(f"found no answer: {error}") from None
            now = time.monotonic()
            lonely = None if workers else lonely or now
            if lonely is not None and now - lonely >= LONELY:
                raise self._gone(f"found it without a worker for {LONELY:g} s: all have died")

    def _check_workers(self) -> None:
        """Leave out workers that are not like this process; raises ValueError if all are."""
        everybody = self._client.run(marks, on_error="return")
        for worker, theirs in everybody.items():
            if isinstance(theirs, Exception):
                self._leave_out(worker, f"it cannot import Plysmith ({theirs})")
            elif what_differs(theirs):
                self._leave_out(worker, what_differs(theirs))
        if self._left_out >= set(everybody):
            raise ValueError(
                f"address: expected a worker at {self.address} with the sources, data and versions"
                " of this process, found none"
            )

    def _leave_out(self, worker: str, why: str) -> None:
        if worker not in self._left_out:
            self._left_out.add(worker)
            logging.getLogger("plysmith").warning("worker %s is left out: %s", worker, why)

    def _trusted(self) -> dict[str, int]:
        """Returns the numbers of threads of the cluster's workers that are not left out."""
        known: dict[str, int] = self._client.nthreads()
        return {worker: count for worker, count in known.items() if worker not in self._left_out}

    def _submit(self, *call: Any) -> Any:
        """Returns dask's future of a call, on a worker that is not left out."""
        if not self._left_out:
            return self._client.submit(*call, pure=False)
        trusted = list(self._trusted())
        if not trusted:
            raise self._gone("found no worker with the same sources, data and versions")
        # those that have joined since are among them: their first task says whether they differ
        return self._client.submit(*call, pure=False, workers=trusted, allow_other_workers=True)

    def _gone(self, found: str) -> ConnectionError:
        return ConnectionError(f"expected the dask cluster at {self.address} to go on, {found}")

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


class _Sent:
    """A task that a cluster works on, and that can be sent again to another of its workers."""

    def __init__(self, workers: Workers, call: tuple[Any, ...]) -> None:
        self._workers, self._call = workers, call
        self.send_again()

    def send_again(self) -> None:
        """Send the task to a worker that has not been left out."""
        self._future = self._workers._submit(*self._call)

    def result(self, timeout: float) -> Any:
        """Returns what `_work_alike` returned; raises TimeoutError if there is no answer yet."""
        return self._future.result(timeout=timeout)

    def cancel(self) -> None:
        """Leave the task to the cluster, which forgets its result."""
        self._future.cancel()


def _work_alike(mark: str, function: bytes, task: bytes) -> bytes | tuple[str, dict[str, str]]:
    """Do a task as `_work`, or return this worker and what it has other than the coordinator.

    mark: the coordinator's `digest`.
    """
    if mark == digest():
        return _work(function, task)
    worker = importlib.import_module("dask.distributed").get_worker()
    return worker.address, marks()


def _work(function: bytes, task: bytes) -> bytes:
    """Do a task in another process; returns (True, result) or (False, exception), packed."""
    try:
        return pack((True, _function(function)(unpack(task))))
    except BaseException as error:
        error.add_note("in another process:\n" + traceback.format_exc())
        try:
            packed = pack((False, error))
            unpack(packed)
        except BaseException:  # some exceptions cannot be pickled
            packed = pack((False, RuntimeError(f"{type(error).__name__}: {error}")))
        return packed


@functools.lru_cache(maxsize=4)
def _function(packed: bytes) -> Any:
    return unpack(packed)


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


# --- a cluster --------------------------------------------------------------------------------


def _connect(address: str, patience: float) -> Any:
    """Returns a client of the scheduler at an address, which has a worker."""
    try:
        distributed = importlib.import_module("dask.distributed")
    except ImportError:
        raise ModuleNotFoundError(
            "backend: expected dask to be installed (pip install 'plysmith[dask]'), found it is not"
        ) from None
    try:
        # A client would wait for ever for an answer of another kind of server.
        with ThreadPoolExecutor(1) as thread:  # this thread may have an event loop already
            thread.submit(asyncio.run, _greet(address, patience)).result()
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except Exception as error:  # of many kinds if another kind of server answers
        raise ConnectionError(
            f"address: expected a dask scheduler, found none at {address} that answers within"
            f" {patience:g} s ({str(error) or type(error).__name__})"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError:
            raise ConnectionError(
                f"address: expected workers at {address}, found none within {patience:g} s"
            ) from None
    except BaseException:
        client.close()
        raise
    return client


async def _greet(address: str, patience: float) -> None:
    """Say hello to a scheduler; raises TimeoutError or another exception if it does not reply."""
    comm = importlib.import_module("distributed.comm")
    security = importlib.import_module("distributed.security").Security()
    options = security.get_connection_args("client")
    connection = await asyncio.wait_for(comm.connect(address, patience, **options), patience)
    await connection.close()
