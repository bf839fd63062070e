"""A cluster whose processes are killed, stopped, full or unlike: right results, or a line."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cluster import LocalCluster, Simulation
from play.workers import Workers, work
from play.workers import cluster as cluster_module
from play.workers.cluster import Cluster
from play.workers.parts import Parts, TaskPace
from play.workers.transport import do_packed

dask = pytest.mark.dask


def square(number: int) -> tuple[int, int]:
    time.sleep(0.02)
    return number * number, os.getpid()


def full(folder: Path, number: int) -> int:
    """The process that is first to come here has no room left on its disk."""
    mine = folder / "full"
    try:
        with mine.open("x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        time.sleep(0.05)
    if mine.read_text() == str(os.getpid()):
        raise OSError(errno.ENOSPC, "No space left on device")
    return number


@pytest.fixture(scope="module")
def running() -> Iterator[LocalCluster]:
    """Yields two workers, and one that cannot import Plysmith."""
    pytest.importorskip("dask.distributed")
    cluster = LocalCluster()
    try:
        cluster.add()
        cluster.add()
        yield cluster
    finally:
        cluster.close()


def made(cluster: LocalCluster, workers: int) -> Workers:
    """Returns the workers of a cluster once there are as many."""
    hands = Workers("dask", address=cluster.address, patience=60)
    until = time.monotonic() + 240
    while hands.jobs < workers and time.monotonic() < until:
        time.sleep(0.2)
        assert hands.cluster is not None
        hands.cluster.look(now=True)
    assert hands.jobs == workers
    return hands


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """Yields a function that returns the lines that were said so far."""
    caplog.set_level(logging.WARNING, "plysmith")
    yield lambda: "\n".join(r.getMessage() for r in caplog.records if r.name == "plysmith")


class Answer:
    """A future of `Scheduler`."""

    def __init__(self, key: str, call: Any) -> None:
        self.key, self.call, self.status = key, call, "pending"
        self.told: list[Any] = []

    def add_done_callback(self, tell: Any) -> None:
        self.told.append(tell)

    def work(self) -> None:
        function, *given = self.call
        self.value = function(*given)
        if function is work.do_part:
            self.value = ("", work.digest(), "", 0.01, do_packed(*given[1:])[0])
        self.status = "finished"
        for tell in self.told:
            tell(self)

    def done(self) -> bool:
        return self.status == "finished"

    def result(self, timeout: float) -> Any:
        return self.value

    def release(self) -> None: ...


class Scheduler:
    """A client and its scheduler, whose time is the number of looks; `stopped` does not work."""

    status = "running"

    def __init__(self) -> None:
        self.stopped, self.looks, self.seen = "", 0, {"a": 0.0, "b": 0.0}
        self.tasks: list[tuple[str, Answer]] = []

    def submit(self, *call: Any, workers: Any = None, **options: Any) -> Answer:
        able = list(workers or "ab")
        worker = able[len(self.tasks) % len(able)]
        self.tasks.append((worker, Answer(str(len(self.tasks)), call)))
        return self.tasks[-1][1]

    def ask(self, what: str, **options: Any) -> Any:
        waiting = [(worker, one) for worker, one in self.tasks if not one.done()]
        if what == "who_has":
            return dict.fromkeys(options["keys"], ())
        if what == "processing":
            return {worker: [one.key for at, one in waiting if at == worker] for worker in "ab"}
        self.looks += 1
        self.seen |= {worker: float(self.looks) for worker in "ab" if worker != self.stopped}
        for worker, one in waiting:
            if worker != self.stopped:
                one.work()
        name = f"plysmith-{hashlib.sha256(repr((work.digest(), [])).encode()).hexdigest()[:16]}"
        about = {"resources": {name: 1}}
        return {"workers": {w: {**about, "last_seen": seen} for w, seen in self.seen.items()}}


@pytest.mark.plain
def test_a_silent_worker_gets_no_work_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler()
    values = {"LOOKS": 0.0, "WORKERS_PER_SECOND": float("inf"), "bench": dict}
    for name, value in {**values, "connect": lambda *given: scheduler}.items():
        monkeypatch.setattr(cluster_module, name, value)
    monkeypatch.setattr(work, "do_part", lambda *given: None)
    monkeypatch.setattr(work, "LOOK", 0.001)
    monkeypatch.setattr(Cluster, "_ask", lambda self, what, **given: scheduler.ask(what, **given))
    cluster = Cluster("nowhere")

    def given_to(worker: str) -> int:
        return sum(at == worker and one.call[0] is work.do_part for at, one in scheduler.tasks)

    numbers = [n**2 for n in range(40)]
    assert list(cluster.map(abs, numbers)) == numbers and min(map(given_to, "ab")) > 1
    scheduler.stopped = "a"
    assert list(cluster.map(abs, numbers)) == numbers  # what `a` held is done by `b`
    assert set(cluster.ready) == {"b"}
    before = given_to("a")
    assert list(cluster.map(abs, numbers)) == numbers and given_to("a") == before
    scheduler.stopped = ""
    cluster.look(now=True)
    assert list(cluster.map(abs, numbers)) == numbers and given_to("a") > before
    assert set(cluster.ready) == {"a", "b"}


@dask
@pytest.mark.whole_run
def test_faults_of_workers(
    running: LocalCluster, said: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "odd" / "games"
    odd.mkdir(parents=True)
    (odd / "__init__.py").write_text("raise ImportError('none here')")
    (tmp_path / "odd" / "play").symlink_to(Path(cluster_module.__file__).parents[1])
    with made(running, 2) as workers:
        assert workers.cluster is not None
        # two maps at a time, from two threads
        found: list[Any] = []
        other = threading.Thread(target=lambda: found.extend(workers.map(square, [*range(100)])))
        other.start()
        assert [one for one, _ in workers.map(square, range(50))] == [n**2 for n in range(50)]
        other.join()
        assert [one for one, _ in found] == [n**2 for n in range(100)]
        assert len({pid for _, pid in found}) == 2
        # a second run on the same cluster, at the same time
        with closing(workers.map(square, range(30))) as first, made(running, 2) as second:
            assert next(first)[0] == 0
            assert [one for one, _ in second.map(square, range(30))] == [n**2 for n in range(30)]
            assert [one for one, _ in first] == [n**2 for n in range(1, 30)]

        running.add(tmp_path / "odd")
        until = time.monotonic() + 240
        while "can it import Plysmith" not in said() and time.monotonic() < until:
            assert list(workers.map(square, range(2)))[1][0] == 1
        assert "can it import Plysmith" in said()

        # one that stops with a task in its hands
        monkeypatch.setattr(work, "LATE", 4.0)
        stopped = running.workers[0]
        results = workers.map(square, range(400))
        assert next(results)[0] == 0
        stopped.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        rest = list(results)
        late = said().count("asked for again elsewhere")
        for _ in range(3):  # it gets nothing until it answers
            assert [one for one, _ in workers.map(square, range(40))] == [n**2 for n in range(40)]
        assert late == said().count("asked for again elsewhere") > 0
        assert len(workers.cluster.ready) < len(workers.cluster.slots)
        stopped.send_signal(signal.SIGCONT)
        assert [one for one, _ in rest] == [n**2 for n in range(1, 400)]
        assert time.monotonic() - began < 200  # Dask itself gives a silent worker five minutes

        # one whose disk is full
        assert list(workers.map(partial(full, tmp_path), range(20))) == list(range(20))
        assert "No space left on device" in said()
        assert workers.jobs == 1


@dask
@pytest.mark.whole_run
def test_a_scheduler_that_comes_back(said: Any, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("dask.distributed")
    cluster = LocalCluster()
    try:
        cluster.add()
        cluster.add()
        with made(cluster, 2) as workers:
            results = workers.map(square, range(600))
            assert next(results)[0] == 0
            cluster.restart_scheduler()
            assert [one for one, _ in results] == [n**2 for n in range(1, 600)]
        assert "is gone; waiting for it" in said() and "is back, with" in said()
        assert "Traceback" not in capfd.readouterr().err + said()
    finally:
        cluster.close()


@dask
@pytest.mark.whole_run
def test_what_is_refused_at_the_beginning(
    running: LocalCluster, monkeypatch: pytest.MonkeyPatch, said: Any
) -> None:
    distributed = pytest.importorskip("dask.distributed")
    with monkeypatch.context() as patch:
        patch.setattr(distributed, "__version__", "1.0")
        with pytest.raises(ValueError, match=r"expected a scheduler of dask 1\.0, as here, found"):
            Workers("dask", address=running.address)
    with pytest.raises(ConnectionError, match=r"found none at tls://127\.0\.0\.1:1 .*TLS"):
        Workers("dask", address="tls://127.0.0.1:1", patience=2)
    # a machine that finds another value: here it is this one
    ours = dict(cluster_module.bench())
    name = next(iter(ours))
    monkeypatch.setattr(cluster_module, "bench", lambda: {**ours, name: "7 0x0.0p+0"})
    with pytest.raises(ValueError, match="with the sources, data, versions and values of this"):
        Workers("dask", address=running.address, patience=60)
    assert f"is left out: {name}: nodes and value {ours[name]} (here 7 0x0.0p+0)" in said()


@dask
@pytest.mark.whole_run
def test_more_threads_than_cores(running: LocalCluster, said: Any) -> None:
    cores = len(os.sched_getaffinity(0))
    running.add(threads=cores + 3)
    with Workers("dask", address=running.address, patience=60) as workers:
        cluster = workers.cluster
        assert isinstance(cluster, Cluster)
        until = time.monotonic() + 240
        while "threads on" not in said() and time.monotonic() < until:
            time.sleep(0.2)
            cluster.look(now=True)
        assert f"has {cores + 3} threads on {cores} cores" in said()


@pytest.mark.plain
def test_parts_by_time() -> None:
    pace = TaskPace()
    assert Parts(range(100), pace).next(1, 1.0) == [0]  # nothing is known
    assert pace.usual_answer(1) is None
    for _ in range(9):
        pace.add(10, 0.5, 2.0)  # 50 ms each, and 200 until the answer
    assert pace.usual_answer(5) == pytest.approx(1.0)
    parts = Parts(range(100), pace)
    sizes = [len(parts.next(2, 1.0)) for _ in range(30)]
    assert sizes[0] == 20 and max(sizes) == 20  # a second
    assert sizes == sorted(sizes, reverse=True)  # smaller towards the end
    assert sum(sizes) == 100 and sizes[-1] in (0, 1)
    growing = Parts(iter(range(100)), pace)  # nobody knows how many
    sizes = [len(growing.next(2, 1.0)) for _ in range(40)]
    drawn = [sum(sizes[:n]) for n in range(40)]
    assert all(size <= max(1, before // 4) for size, before in zip(sizes, drawn, strict=True))
    assert max(sizes) > 10 and sum(sizes) == 100


@pytest.mark.plain
def test_a_simulated_cluster_does_not_wait_for_its_slowest() -> None:
    """With results in their order, its share was less than 0.4."""
    assert Simulation(10, seconds=120.0, slow=0.1).share() > 0.8
