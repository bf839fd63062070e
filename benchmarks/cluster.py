"""What a cluster of real processes does when something fails, and what a large one would do.

    python -m benchmarks.cluster --runs 12           faults at random times, against one thread
    python -m benchmarks.cluster --refusals 20       workers with one changed term, rule or file
    python -m benchmarks.cluster --costs             what a task and a busy worker cost
    python -m benchmarks.cluster --simulate 1000     a simulation of many workers

A run of `--runs` learns checkers (`batch`) on two one-thread workers of this machine, in a process
of its own. Meanwhile one fault happens. It is right if its weights are those of one
thread to the last bit, or if it names a reason within 60 seconds.

`--simulate` takes the sizes and decisions of `play.workers.parts` and `play.workers.cluster`;
speeds, losses and what a task costs the client are those measured (docs/cluster.md).
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import logging
import math
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from play.workers.parts import Parts, TaskPace
from play.workers.work import CLIENT_SECONDS, LATE, LATE_SECONDS, PART_SECONDS
from programs.ending import exit_status

ROOT = Path(__file__).resolve().parents[1]
#: Seconds after which a run without a result or a reason hangs.
MOST_SECONDS = 300.0


# --- one run ------------------------------------------------------------------------------------


def learned(address: str | None, games: int, seed: int) -> str:
    """Returns the digest of the weights that a run learns, on a cluster or on one thread."""
    from learner.rounds.batch import BatchFit
    from play.workers import Workers

    logging.basicConfig(format="reason: %(message)s", level=logging.WARNING)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with Workers("dask" if address else "threads", None if address else 1, address) as workers:
        learner = BatchFit(
            "checkers", games=games, round_games=games // 4, depth=4, seed=seed, workers=workers
        )
        print("begun", flush=True)
        learner.fit()
    weights: Any = learner.evaluator_
    return hashlib.sha256(weights.weights.tobytes()).hexdigest()[:16]


# --- a cluster of processes ---------------------------------------------------------------------


class LocalCluster:
    """A scheduler and workers, each a process that can be killed or stopped."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start_scheduler()

    def _start(self, module: str, *options: str, root: Path = ROOT) -> subprocess.Popen[bytes]:
        threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "NUMBA")}
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *options, "--no-dashboard"],
            env={**os.environ, **threads, "PYTHONPATH": str(root), "PYTHONSAFEPATH": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=root,
        )

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        port = self.address.rpartition(":")[2]
        return self._start("dask_scheduler", "--host", "127.0.0.1", "--port", port)

    def add(self, root: Path = ROOT, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker with the sources of a folder."""
        options = ("--no-nanny", "--nthreads", str(threads), "--memory-limit", "0")
        self.workers.append(self._start("dask_worker", self.address, *options, root=root))
        return self.workers[-1]

    def restart_scheduler(self) -> None:
        """Kill the scheduler and start it, and the workers, again a few seconds later."""
        self.scheduler.kill()
        self.scheduler.wait()
        time.sleep(3)
        self.scheduler = self._start_scheduler()
        for worker in list(self.workers):  # as a service manager would
            worker.kill()
            worker.wait()
            self.workers.remove(worker)
            self.add()

    def close(self) -> None:
        """End all processes."""
        for process in [*self.workers, self.scheduler]:
            process.kill()  # stopped ones too
            process.wait()


#: A term, rules and shipped files, of which a worker of `--refusals` has another one each.
CHANGED = (
    "games/checkers/terms.py", "games/checkers/rules.py", "games/connect_four/rules.py",
    "games/backgammon/rules.py", "search/alphabeta/negamax.py", "learner/rounds/batch.py",
    "data/checkers/rootstrap.json", "data/checkers/quantised.safetensors",
    "data/backgammon/wide.safetensors", "data/connect_four/solved.safetensors",
)  # fmt: skip


def other_commit(folder: Path, changed: str = CHANGED[0]) -> Path:
    """Returns a folder with the sources and data, of which one file differs in its last bytes."""
    folder.mkdir(exist_ok=True)
    first = changed.partition("/")[0]
    for name in ("programs", "games", "search", "play", "learner", "data"):
        if name != first:
            (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / first, folder / first, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / changed
    content = path.read_bytes()
    more = b"\nTRIPLED = 3\n" if path.suffix == ".py" else b" "
    path.write_bytes(content + more if path.suffix != ".safetensors" else content[:-1] + b"?")
    return folder


def _kill(cluster: LocalCluster, chance: random.Random, folder: Path) -> None:
    worker = cluster.workers.pop(chance.randrange(len(cluster.workers)))
    worker.kill()
    worker.wait()
    cluster.add()


def _stop(cluster: LocalCluster, chance: random.Random, folder: Path) -> None:
    worker = chance.choice(cluster.workers)
    worker.send_signal(signal.SIGSTOP)
    time.sleep(chance.uniform(5, 40))
    worker.send_signal(signal.SIGCONT)


def _scheduler(cluster: LocalCluster, chance: random.Random, folder: Path) -> None:
    cluster.restart_scheduler()


def _late(cluster: LocalCluster, chance: random.Random, folder: Path) -> None:
    cluster.add()


def _commit(cluster: LocalCluster, chance: random.Random, folder: Path) -> None:
    cluster.add(folder)


def _slow(cluster: LocalCluster, chance: random.Random, folder: Path) -> None:
    worker = chance.choice(cluster.workers)
    for _ in range(40):  # a tenth of its speed
        worker.send_signal(signal.SIGSTOP)
        time.sleep(0.45)
        worker.send_signal(signal.SIGCONT)
        time.sleep(0.05)


FAULTS: dict[str, Callable[[LocalCluster, random.Random, Path], None]] = {
    "kill": _kill,
    "stop and go on": _stop,
    "scheduler": _scheduler,
    "late worker": _late,
    "other commit": _commit,
    "slow worker": _slow,
}


def one_run(
    fault: str, games: int, seed: int, expected: str, folder: Path, seconds: float
) -> tuple[bool, str]:
    """Returns whether a run was right, and what happened; its fault comes within `seconds`."""
    chance, cluster = random.Random(seed), LocalCluster()
    command = [sys.executable, "-m", "benchmarks.cluster", "--one", cluster.address]
    command += ["--games", str(games)]
    try:
        cluster.add()
        cluster.add()
        time.sleep(4)
        began = time.monotonic()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        ) as run:
            assert run.stdout is not None
            run.stdout.readline()  # it has begun
            with suppress(subprocess.TimeoutExpired):
                run.wait(chance.uniform(0, seconds))
            ended = run.poll() is not None
            if not ended:
                FAULTS[fault](cluster, chance, folder)
            try:
                out, errors = run.communicate(timeout=MOST_SECONDS)
            except subprocess.TimeoutExpired:
                run.kill()
                out, errors = run.communicate()
                return False, f"hangs: {errors[-300:]!r}"
    finally:
        cluster.close()
    took = f"{time.monotonic() - began:.0f} s{', it had ended before the fault' if ended else ''}"
    reasons = " | ".join(line[:150] for line in errors.splitlines() if "reason: " in line)
    if run.returncode == 0:
        same = out.split()[-1:] == [expected]
        return same, f"{'the same' if same else 'OTHER'} weights in {took}; {reasons}"
    named = run.returncode == 2 and "Traceback" not in errors
    return named, f"status {run.returncode} in {took}: {errors.strip()[-200:]}"


def run_faults(runs: int, games: int, seed: int) -> None:
    """Print what happens in some runs, whose faults take turns."""
    began = time.monotonic()
    expected = learned(None, games, 0)
    seconds = time.monotonic() - began
    print(f"one thread: {expected} in {seconds:.0f} s", flush=True)
    right: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory() as folder:
        other = other_commit(Path(folder) / "other")
        for number in range(runs):
            fault = list(FAULTS)[(seed + number) % len(FAULTS)]
            good, what = one_run(fault, games, seed + number, expected, other, seconds / 2)
            right.setdefault(fault, []).append(good)
            print(f"{number + 1:4} {fault}: {'right' if good else 'WRONG'}, {what}", flush=True)
    for fault, found in right.items():
        print(f"{fault}: {sum(found)} of {len(found)} right")


# --- refusals -----------------------------------------------------------------------------------


def refusals(tries: int, seed: int) -> None:
    """Print how many of some workers that differ in one file are left out by its name."""
    from play.workers import Workers

    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("plysmith").addHandler(handler)
    cluster, right = LocalCluster(), 0
    try:
        cluster.add()
        with Workers("dask", None, cluster.address, patience=60) as workers:
            for number in range(tries):
                changed = CHANGED[(seed + number) % len(CHANGED)]
                with tempfile.TemporaryDirectory() as folder:
                    told.clear()
                    worker = cluster.add(other_commit(Path(folder), changed))
                    begun = time.monotonic()
                    while not told and time.monotonic() - begun < 120:
                        assert list(workers.map(abs, [-1] * 8)) == [1] * 8
                        time.sleep(0.5)
                    worker.kill()
                    worker.wait()
                good = len(told) == 1 and told[0].endswith(f"is left out: {changed} differs")
                right += good and workers.jobs == 1
                print(f"{number + 1:4} {changed}: {' | '.join(told) or 'ACCEPTED'}", flush=True)
    finally:
        cluster.close()
    print(f"{right} of {tries} left out, each with the name of the file that differs")


# --- costs --------------------------------------------------------------------------------------


def costs() -> None:
    """Print the size of a task, and what a task and a busy worker cost the coordinator."""
    from functools import partial

    import games
    from learner.dice_play import starts_of
    from learner.self_play import SelfPlay, Task
    from play.workers import Workers
    from play.workers.transport import pack
    from search import as_evaluator

    for name, evaluator in (("checkers", "quantised"), ("backgammon", "wide")):
        game = games.load(name)
        task = Task(game, as_evaluator(game, evaluator), None, 1, None, 200, True)
        openings = list(islice(starts_of(game, plies=4, seed=0), 64))
        whole, part = len(pack(SelfPlay(task))), len(pack(openings))
        print(f"{name} {evaluator}: weights {whole:,} bytes once, then 64 games {part:,} bytes")
    cluster = LocalCluster()
    try:
        cluster.add()
        cluster.add()
        with Workers("dask", None, cluster.address, patience=60) as workers:
            while workers.jobs < 2:
                list(workers.map(time.sleep, [0.5] * 4))
                workers.cluster.look(now=True)  # type: ignore[union-attr]
            for seconds in (0.005, 0.05, 1.0):
                work = partial(time.sleep)
                began, used = time.perf_counter(), time.process_time()
                list(workers.map(work, [seconds] * int(40 / seconds)))
                took, used = time.perf_counter() - began, time.process_time() - used
                print(
                    f"tasks of {seconds} s, 2 workers: {100 * used / took / 2:.2f} % of"
                    f" a core for each busy worker, {100 * 20 / took:.0f} % of their time used"
                )
    finally:
        cluster.close()


# --- simulation ---------------------------------------------------------------------------------


@dataclass
class Sent:
    """A part under way."""

    number: int
    tasks: int
    work: float
    at: float
    workers: list[int] = field(default_factory=list)
    done: bool = False


class Simulation:
    """Many workers and a client, in the middle of a long round.

    workers: their number; `slow` of them are ten times slower, and one is lost every
        `between_losses` seconds and replaced after a minute.
    task_seconds: mean time of a task (a game) on a usual worker.
    client: seconds that the client needs for a part.
    """

    def __init__(
        self,
        workers: int,
        *,
        slow: float = 0.02,
        between_losses: float = 60.0,
        task_seconds: float = 0.05,
        client: float = 0.00194,
        seconds: float = 200.0,
        seed: int = 0,
    ) -> None:
        self.chance, self.seconds, self.client = random.Random(seed), seconds, client
        self.jobs, self.task_seconds = workers, task_seconds
        self.speed = [0.1 if i < slow * workers else 1.0 for i in range(workers)]
        self.between = between_losses

    def share(self) -> float:
        """Returns the share of the workers' time that is spent on results that count."""
        chance, now, free, number = self.chance, 0.0, 0.0, 0
        queues: list[list[Sent]] = [[] for _ in self.speed]
        pace = TaskPace()
        parts = Parts(iter(int, 1), pace)
        events: list[tuple[float, int, str, Any]] = []
        count, useful = 0, 0.0
        under_way: dict[int, Sent] = {}
        alive = [True] * self.jobs

        def at(when: float, kind: str, what: Any) -> None:
            nonlocal count
            count += 1
            heapq.heappush(events, (when, count, kind, what))

        def give(part: Sent, avoid: Sequence[int] = ()) -> None:
            # Dask gives it to a worker with the least to do
            some = [w for w in chance.sample(range(self.jobs), min(32, self.jobs)) if alive[w]]
            some = [w for w in some if w not in avoid] or [part.workers[-1] if part.workers else 0]
            worker = min(some, key=lambda w: len(queues[w]))
            part.at = now
            part.workers.append(worker)
            queues[worker].append(part)
            if len(queues[worker]) == 1:
                at(now + part.work / self.speed[worker], "done", (worker, part))

        def fill() -> None:
            nonlocal free, number
            while free <= now + 1e-9 or free - now < 0.05:
                if len(under_way) >= 2 * self.jobs:
                    return
                target = max(PART_SECONDS, self.jobs * CLIENT_SECONDS)
                tasks = len(parts.next(self.jobs, target))
                # a game takes its mean, give or take a half
                spread = 0.5 / math.sqrt(tasks)
                work = self.task_seconds * tasks * max(0.1, chance.gauss(1.0, spread))
                under_way[number] = Sent(number, tasks, work, now)
                give(under_way[number])
                number += 1
                free = max(free, now) + self.client
            at(free, "fill", None)

        at(0.0, "fill", None)
        at(self.between, "loss", None)
        at(LATE_SECONDS, "look", None)
        warm = self.seconds / 10
        while events:
            now, _, kind, what = heapq.heappop(events)
            if now > self.seconds:
                break
            if kind == "done":
                worker, part = what
                if not alive[worker] or not queues[worker] or queues[worker][0] is not part:
                    continue
                queues[worker].pop(0)
                if not part.done:
                    part.done = True
                    under_way.pop(part.number, None)
                    pace.add(part.tasks, part.work / self.speed[worker], now - part.at)
                    if now > warm:
                        useful += min(part.work / self.speed[worker], now - warm)
                queues[worker] = [p for p in queues[worker] if not p.done]
                if queues[worker]:
                    following = queues[worker][0]
                    at(now + following.work / self.speed[worker], "done", (worker, following))
                else:  # Dask's work stealing
                    longest = max(
                        chance.sample(range(self.jobs), min(32, self.jobs)),
                        key=lambda w: len(queues[w]),
                    )
                    if len(queues[longest]) > 1:
                        stolen = queues[longest].pop()
                        stolen.workers.append(worker)
                        queues[worker].append(stolen)
                        at(now + stolen.work / self.speed[worker], "done", (worker, stolen))
                fill()
            elif kind == "fill":
                fill()
            elif kind == "loss":
                worker = chance.randrange(self.jobs)
                alive[worker], lost = False, queues[worker]
                queues[worker] = []
                for part in lost:
                    if not part.done:
                        give(part)
                at(now + 60.0, "back", worker)
                at(now + self.between, "loss", None)
            elif kind == "back":
                alive[what] = True
            elif kind == "look":
                for part in list(under_way.values()):
                    usual = pace.usual_answer(part.tasks)
                    if usual is not None and now - part.at > max(LATE_SECONDS, LATE * usual):
                        give(part, part.workers)
                at(now + 2.0, "look", None)
        return useful / (self.jobs * (self.seconds - warm))


def simulate(workers: int) -> None:
    """Print the share of the workers' time that is used, without losses and with them."""
    for losses, text in ((1e9, "none lost"), (60.0, "one lost a minute")):
        shares = [
            Simulation(workers, between_losses=losses, seed=seed).share() for seed in range(3)
        ]
        print(
            f"{workers} workers, 2 % ten times slower, {text}:"
            f" {100 * statistics.mean(shares):.0f} % of their time used",
            flush=True,
        )


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--runs", type=int, default=0, help="runs with faults")
    parser.add_argument("--games", type=int, default=16_000, help="games of a run")
    parser.add_argument("--seed", type=int, default=0, help="decides faults and their times")
    parser.add_argument("--refusals", type=int, default=0, help="workers that differ in a file")
    parser.add_argument("--costs", action="store_true", help="what tasks cost")
    parser.add_argument("--simulate", type=int, metavar="N", help="number of simulated workers")
    parser.add_argument("--one", metavar="ADDRESS", help="one run, which prints its weights")
    options = parser.parse_args()
    if options.one:

        def one() -> int:
            print(learned(options.one, options.games, 0))
            return 0

        sys.exit(exit_status("benchmarks.cluster", one))
    if options.refusals:
        refusals(options.refusals, options.seed)
    if options.costs:
        costs()
    if options.simulate:
        simulate(options.simulate)
    if options.runs:
        run_faults(options.runs, options.games, options.seed)


if __name__ == "__main__":
    main()
