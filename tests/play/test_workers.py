"""Threads, processes and a cluster of two workers: the same results, and clean ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from errors import errors_of
from marks import compiled_only
from processes import wait_until_gone

from games.checkers import Checkers
from games.features import FeatureSet
from games.kernels import kernel
from play.matches.driver import play_match
from play.matches.report import Match, all_games
from play.players.limits import Limits
from play.players.player import Player
from play.workers import Workers, parse_backend, sources
from play.workers import cluster as cluster_module
from play.workers.parts import Parts, TaskPace
from search import LinearEvaluator, as_evaluator

ROOT = Path(__file__).resolve().parents[2]
CHECKERS = Checkers()
RANDOM = Player("random", None)


@kernel
def ahead(position):  # type: ignore[no-untyped-def]
    return (position[0] % 1009) / 1009.0


class OddError(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def where(number: int) -> tuple[int, int]:
    time.sleep(0.02)
    return number * number, os.getpid()


def two_meet(folder: Path, number: int) -> tuple[int, int]:
    """Works until two processes do, however late the second of them starts."""
    (folder / str(os.getpid())).touch()
    until = time.monotonic() + 60
    while len(list(folder.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    return number * number, os.getpid()


def third_fails(number: int) -> int:
    if number == 3:
        raise ZeroDivisionError(f"not {number}")
    return number


def odd(number: int) -> int:
    raise OddError(1, 2)


def test_parts_get_short_towards_the_end_of_a_list_but_not_too_short() -> None:
    pace = TaskPace()
    pace.add(10, 0.1, 0.1)
    for count, sizes in ((100, [25, 18, 14, 10, 10, 10, 10, 3]), (16, [8, 8]), (1, [1])):
        parts = Parts(list(range(count)), pace)
        drawn = list(iter(lambda parts=parts: parts.next(2, 1.0, 0.1), []))
        assert [len(part) for part in drawn] == sizes
        assert sum(drawn, []) == list(range(count))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as running:
        yield str(running.scheduler_address)


@pytest.fixture(scope="module")
def threads() -> Iterator[Workers]:
    with Workers() as made:
        yield made


@pytest.fixture(scope="module")
def loky() -> Iterator[Workers]:
    with Workers("loky") as made:
        yield made


#: What dask does alike is asked in whole runs.
DASK = pytest.param("dask", marks=[pytest.mark.dask, pytest.mark.whole_run])


@pytest.fixture(params=["", DASK])
def every(
    request: pytest.FixtureRequest, threads: Workers, loky: Workers
) -> Iterator[dict[str, Workers]]:
    """Yields workers of each kind, in `make test` all but those of dask."""
    made = {"threads": threads, "loky": loky}
    if not request.param:
        yield made
        return
    with Workers("dask", address=request.getfixturevalue("cluster")) as dask:
        yield {**made, "dask": dask}


@pytest.fixture(params=["threads", "loky", DASK])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Yields workers of each kind; only those of dask need dask."""
    if request.param == "dask":
        with Workers("dask", address=request.getfixturevalue("cluster")) as made:
            yield made
    else:
        yield request.getfixturevalue(request.param)


# Results


def test_results_in_order(workers: Workers, tmp_path: Path) -> None:
    work = where if workers.backend == "threads" else partial(two_meet, tmp_path)
    results = list(workers.map(work, range(12)))
    assert [square for square, _ in results] == [number**2 for number in range(12)]
    processes = {process for _, process in results}
    assert (processes == {os.getpid()}) == (workers.backend == "threads")
    assert workers.backend == "threads" or len(processes) == 2
    assert list(workers.map(where, [])) == []


def test_a_function_of_the_users_with_what_it_holds(workers: Workers) -> None:
    evaluator = LinearEvaluator(CHECKERS, FeatureSet("own", {"ahead": ahead}), [2.0])
    starts = [CHECKERS.start()]
    for _ in range(5):
        starts.append(CHECKERS.play(starts[-1], CHECKERS.legal_moves(starts[-1])[0]))
    values = list(workers.map(lambda start: evaluator(start) + 1, starts))
    assert values == [evaluator(start) + 1 for start in starts]
    assert len(set(values)) > 1


@compiled_only
def test_matches_do_not_depend_on_who_plays(every: dict[str, Workers]) -> None:
    own = LinearEvaluator(CHECKERS, FeatureSet("own", {"ahead": ahead}), [1.0], name="own")
    first = Player("own", own, options={"seed": 3})
    second = Player("classic", as_evaluator(CHECKERS, "classic"))
    played = []
    for one in every.values():
        match = play_match(CHECKERS, first, second, limits=Limits(depth=3), games=8, workers=one)
        played.append(
            [(by, r.moves, r.annotations, r.outcome()) for by, (r,) in all_games([match])]
        )
        assert len(match.units) == 4
    assert all(one == played[0] for one in played)


# Ends


def test_no_more_tasks_are_drawn_than_needed(workers: Workers) -> None:
    drawn = []
    # a cluster gives results that were there early in their turn
    ahead = 200 if workers.backend == "dask" else 3 + 2 * workers.jobs

    def tasks() -> Iterator[int]:
        for number in range(1000):
            drawn.append(number)
            yield number

    with closing(workers.map(where, tasks())) as results:
        assert [next(results)[0] for _ in range(3)] == [0, 1, 4]
        assert len(drawn) <= ahead
    assert len(drawn) <= ahead
    assert [square for square, _ in workers.map(where, range(3))] == [0, 1, 4]


def test_tasks_not_begun_never_begin(tmp_path: Path, workers: Workers) -> None:
    def mark(number: int) -> None:
        time.sleep(0.05)
        (tmp_path / str(number)).touch()

    results = workers.map(mark, range(400))
    next(results)
    results.close()
    list(workers.map(str, range(2 * workers.jobs)))  # behind parts under way, which end
    begun = len(list(tmp_path.iterdir()))
    assert begun <= (1 + 2 * workers.jobs if workers.backend == "threads" else 100)
    list(workers.map(str, range(2 * workers.jobs)))
    assert len(list(tmp_path.iterdir())) == begun


def test_errors_of_a_task(workers: Workers) -> None:
    results = workers.map(third_fails, range(9))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="not 3") as caught:
        next(results)
    if workers.backend != "threads":
        (note,) = caught.value.__notes__
        assert "in another process" in note and "in third_fails" in note
    kind = OddError if workers.backend == "threads" else RuntimeError
    with pytest.raises(kind, match=r"1 and 2"):
        list(workers.map(odd, range(3)))
    assert list(workers.map(third_fails, range(3))) == [0, 1, 2]


@pytest.mark.parametrize("workers", ["loky", DASK], indirect=True)
def test_what_cannot_travel(workers: Workers) -> None:
    lock = threading.Lock()
    for function, tasks in ((lambda task: lock, [1]), (len, [lock])):
        with pytest.raises(TypeError, match="expected something that can be sent"):
            list(workers.map(function, tasks))
    with pytest.raises(TypeError, match="expected something that can be sent"):
        list(workers.map(lambda task: threading.Lock(), [1]))


def test_a_process_that_dies_is_noticed(loky: Workers) -> None:
    with pytest.raises(ChildProcessError, match="unexpectedly terminated"):
        list(loky.map(os._exit, [3, 3]))
    assert list(loky.map(third_fails, range(3))) == [0, 1, 2]


def test_threads_are_asked_to_stop() -> None:
    class Patient:
        def __init__(self) -> None:
            self.stopped = threading.Event()

        def __call__(self, number: int) -> int:
            assert number == 0 or self.stopped.wait(60)
            return number

        def stop(self) -> None:
            self.stopped.set()

    with Workers() as workers:
        patient = Patient()
        results = workers.map(patient, range(10))
        assert next(results) == 0
        results.close()
        assert patient.stopped.is_set()


SLOW = """
import sys, time
from play.workers import Workers

if __name__ == "__main__":
    with Workers(sys.argv[1], address=sys.argv[2] or None) as workers:
        print(list(workers.map(int, "01234")), flush=True)
        try:
            list(workers.map(time.sleep, [{seconds}] * 6))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("backend", "how"),
    [
        ("threads", signal.SIGINT),
        ("loky", signal.SIGINT),
        pytest.param("loky", signal.SIGKILL, marks=pytest.mark.whole_run),
        pytest.param("dask", signal.SIGINT, marks=[pytest.mark.dask, pytest.mark.whole_run]),
    ],
)
def test_ctrl_c_and_kill_leave_nothing_behind(
    backend: str, how: signal.Signals, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    program = tmp_path / "slow.py"
    program.write_text(SLOW.format(seconds=100 if backend == "loky" else 1))
    address = request.getfixturevalue("cluster") if backend == "dask" else ""
    with subprocess.Popen(
        [sys.executable, str(program), backend, address],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "[0, 1, 2, 3, 4]\n"
        time.sleep(0.3)
        os.killpg(process.pid, how) if how == signal.SIGINT else process.kill()
        out, errors = process.communicate(timeout=300)
        assert out == ("interrupted\n" if how == signal.SIGINT else "")
        assert how == signal.SIGKILL or "Traceback" not in errors
    assert wait_until_gone(process.pid) == []


@compiled_only
def test_ctrl_c_keeps_what_processes_played(loky: Workers) -> None:
    def progress(match: Match) -> None:
        if len(match.units) == 2:
            raise KeyboardInterrupt

    classic = Player("classic", as_evaluator(CHECKERS, "classic"))
    options: dict[str, Any] = {"limits": Limits(depth=2)}
    match = play_match(
        CHECKERS, classic, RANDOM, games=200, progress=progress, workers=loky, **options
    )
    whole = play_match(CHECKERS, classic, RANDOM, games=4, **options)
    assert match.interrupted
    assert [p.games[0].moves for p in match.units] == [p.games[0].moves for p in whole.units]


@pytest.mark.dask
@pytest.mark.whole_run
# dask leaves a socket of its own open where a scheduler begins without workers
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_only_worker_of_a_cluster_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("dask.distributed")
    monkeypatch.setattr(cluster_module, "LONELY", 1.0)
    with distributed.LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as cluster:
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address,
             "--no-nanny", "--nthreads", "1", "--no-dashboard"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            address = cluster.scheduler_address
            with Workers("dask", address=address, patience=60) as workers:
                results = workers.map(time.sleep, [0.0, 60.0, 60.0])
                assert next(results) is None
                worker.kill()
                with pytest.raises(ConnectionError, match="without a worker for 1 s"):
                    next(results)
        finally:
            worker.kill()
            worker.wait()


# Wrong input


def test_backends_of_the_command_line() -> None:
    assert parse_backend("threads") == ("threads", None)
    assert parse_backend("loky") == ("loky", None)
    assert parse_backend("dask:tcp://host:8786") == ("dask", "tcp://host:8786")
    assert parse_backend("dask") == ("dask", None)


@pytest.mark.dask
def test_no_scheduler() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        make = partial(Workers, "dask", address=f"tcp://127.0.0.1:{port}", patience=0.5)
        with pytest.raises(ConnectionError, match=r"expected a dask scheduler, found none at tcp"):
            make()
    with pytest.raises(ConnectionError, match=r"that answers within 0.5 s"):
        make()


@pytest.mark.plain
def test_what_differs_is_named() -> None:
    ours = sources.marks()
    assert {"games/checkers/terms.py", "data/checkers/quantised.safetensors"} <= set(ours)
    assert sources.what_differs(ours) == ""
    theirs = {**ours, "games/nim.py": "0", "search/new.py": "1", "numpy": "0.1"}
    del theirs["play/dice.py"], theirs["play/ports.py"]
    assert sources.what_differs(theirs) == (
        f"games/nim.py differs, numpy 0.1 (here {ours['numpy']}), play/dice.py is missing, 2 more"
    )


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'plysmith\[dask\]'"):
        Workers("dask", address="tcp://127.0.0.1:8786")


def test_jobs_are_the_threads(every: dict[str, Workers]) -> None:
    assert {one.jobs for one in every.values()} == {2}


@pytest.mark.dask
@pytest.mark.whole_run
def test_jobs_of_a_cluster_may_be_more_than_its_threads(cluster: str) -> None:
    with Workers("dask", 5, cluster) as workers:
        assert workers.jobs == 5
        assert list(workers.map(third_fails, range(3))) == [0, 1, 2]


test_errors = errors_of(globals())
