"""Measures rates and times: `python -m benchmarks.speed [--json] [--quick] [--yardstick DIR]`.

One run prints a table of rates and ratios with the targets of the project beside them. Rates are
per second of processor time, the best of several rounds; where two programs are compared, their
rounds take turns. With --json the last line is a JSON object with the same figures.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event

import games
from benchmarks import yardstick
from games import Game
from games.checkers import rules
from games.features import FeatureSet
from games.kernels import kernel, popcount, uncompiled
from games.kernels import memory as native
from search import Engine, LinearEvaluator
from search.perft import perft

ROOT = Path(__file__).resolve().parent.parent
CHECKERS = games.load("checkers")
START = CHECKERS.start()


@dataclass(frozen=True)
class Figure:
    """One line of the table; the target is the least acceptable value, for times the greatest."""

    name: str
    text: str
    value: float | None
    unit: str
    target: float | None = None
    note: str = ""

    def line(self) -> str:
        """Returns the figure as a line of the table."""
        shown = "-" if self.value is None else f"{self.value:,.3g}"
        if self.value is not None and (self.unit in ("nodes", "") or self.value >= 1000):
            shown = f"{self.value:,.0f}"
        goal = ""
        if self.target is not None:
            down = self.unit in ("s", "")
            goal = f"{'<=' if down else '>='} {self.target:g}"
            if self.value is not None:
                met = self.value <= self.target if down else self.value >= self.target
                goal += "" if met else "  MISSED"
        return f"{self.text:<58}{shown:>10} {self.unit:<10}{goal:<18}{self.note}".rstrip()


def rate(work: Callable[[], int]) -> float:
    """Returns the count of `work` per second of processor time of this process."""
    began = time.process_time()
    count = work()
    return count / (time.process_time() - began)


def turns(rounds: int, *works: Callable[[], float]) -> list[float]:
    """Returns the best result of each of several measurements that take turns."""
    measured = [[work() for work in works] for _ in range(rounds)]
    return [max(column) for column in zip(*measured, strict=True)]


# --- the C yardstick -------------------------------------------------------------------------


@contextmanager
def compiled_yardstick(folder: Path | None) -> Iterator[dict[str, Path]]:
    """The compiled programs of the yardstick; empty without its sources or a compiler."""
    compiler = shutil.which("gcc")
    with tempfile.TemporaryDirectory() as target:
        programs = {}
        for name in ("perft", "ab"):
            source = folder / f"{name}.c" if folder else None
            if compiler and source and source.is_file():
                programs[name] = Path(target) / name
                command = [compiler, "-O2", "-w", "-o", str(programs[name]), str(source)]
                subprocess.run(command, check=True)
        yield programs


def printed_rate(program: Path, pattern: str) -> float:
    """Returns the best rate per second that a yardstick program prints."""
    text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found = re.findall(pattern + r"\s*([0-9.]+)\s*M", text)
    if not found:
        raise ValueError(f"{program.name}: expected rates after {pattern!r}, found {text[:200]!r}")
    return 1e6 * max(map(float, found))


# --- counting leaves -------------------------------------------------------------------------


def openspiel_rate(seconds: float) -> tuple[float | None, int]:
    """Returns leaves per second of OpenSpiel's checkers from Python, and the depth counted."""
    try:
        import pyspiel
    except ImportError:
        return None, 0

    def leaves(state: Any, depth: int) -> int:
        if depth == 0:
            return 1
        player, total = state.current_player(), 0
        for action in state.legal_actions():
            after = state.child(action)
            # a multi-jump is several actions of one player, but one ply
            same = after.current_player() == player
            total += leaves(after, depth if same else depth - 1)
        return total

    state = pyspiel.load_game("checkers").new_initial_state()
    best, depth, spent = 0.0, 5, 0.0
    while spent < seconds:
        began = time.process_time()
        count = leaves(state, depth)
        took = time.process_time() - began
        if count != perft(CHECKERS, START, depth):
            raise ValueError(
                f"expected OpenSpiel to count {perft(CHECKERS, START, depth)}, {count}"
            )
        best, spent = max(best, count / took), spent + took
        if spent + 6 * took < seconds:
            depth += 1
    return best, depth


def measure_perft(programs: dict[str, Path], quick: bool) -> Iterator[Figure]:
    """Measure counting the leaves of checkers, visiting every one."""
    perft(CHECKERS, START, 2)
    ours: list[Callable[[], float]] = [
        lambda: rate(lambda: perft(CHECKERS, START, 9, bulk=False)),
        lambda: rate(lambda: perft(CHECKERS, START, 9)),
    ]
    if "perft" in programs and not quick:
        ours.append(lambda: printed_rate(programs["perft"], "nobulk"))
    plain, bulk, *c = turns(3 if quick else 6, *ours)
    other, depth = openspiel_rate(0.5 if quick else 3.0)
    yield Figure("perft", "perft(9), every leaf visited", plain / 1e6, "M leaves/s")
    yield Figure("perft_bulk", "perft(9), last ply counted in bulk", bulk / 1e6, "M leaves/s")
    if other is None:
        yield Figure("perft_openspiel_ratio", "  over OpenSpiel", None, "x", 150, "not installed")
    else:
        note = f"depth {depth}, from Python"
        yield Figure("perft_openspiel", "  OpenSpiel", other / 1e6, "M leaves/s", None, note)
        yield Figure("perft_openspiel_ratio", "  over OpenSpiel", plain / other, "x", 150)
    if c:
        yield Figure("perft_c", "  C", c[0] / 1e6, "M leaves/s", None, "gcc -O2, depth 10 and 11")
        yield Figure("perft_c_ratio", "  over C", plain / c[0], "x")


# --- searching -------------------------------------------------------------------------------


def search_rate(engine: Engine, depth: int) -> float:
    """Returns nodes per second of a search from the start, with an empty table."""
    engine.clear()
    return rate(lambda: engine.search(START, depth=depth).nodes)


def measure_search(programs: dict[str, Path], quick: bool) -> Iterator[Figure]:
    """Measure alpha-beta from the start with the sixteen terms of the yardstick."""
    depth = 13 if quick else 15
    engines = [
        # with as many table entries as ab.c has
        Engine(CHECKERS, evaluator, table_mib=4)
        for evaluator in (yardstick.as_feature_set(CHECKERS), yardstick.as_kernel(CHECKERS))
    ]
    nodes = [engine.search(START, depth=depth).nodes for engine in engines]
    if nodes[0] != nodes[1]:
        raise ValueError(f"expected the same nodes of the same evaluator, found {nodes}")
    ours: list[Callable[[], float]] = [
        functools.partial(search_rate, engine, depth) for engine in engines
    ]
    if "ab" in programs:
        ours.append(lambda: printed_rate(programs["ab"], "nodes [0-9]+"))
    terms, by_hand, *c = turns(2 if quick else 8, *ours)
    text = f"alpha-beta, depth {depth}, 16 terms"
    yield Figure("search", f"{text}, feature set", terms / 1e6, "M nodes/s")
    yield Figure("search_kernel", f"{text}, one kernel", by_hand / 1e6, "M nodes/s")
    yield Figure("search_nodes", "  nodes of one search", float(nodes[0]), "nodes")
    if c:
        yield Figure("search_c", "  C", c[0] / 1e6, "M nodes/s", None, "gcc -O2, depth 15")
        yield Figure("search_c_ratio", "  feature set over C", terms / c[0], "x", 0.65, "aim 0.9")
        note = "aim 0.9"
        yield Figure("search_kernel_c_ratio", "  kernel over C", by_hand / c[0], "x", 0.65, note)
    else:
        yield Figure("search_c_ratio", "  over C", None, "x", 0.65, "no C sources or no gcc")


def simple_value(position: Any) -> float:
    """Pieces ahead, in plain Python."""
    return position[0].bit_count() - position[1].bit_count()  # type: ignore[no-any-return]


class PlainCheckers(Game):
    """Checkers in plain Python: the source of the rules, interpreted."""

    name = "plain checkers"

    def __init__(self) -> None:
        self._legal = uncompiled(rules.legal_moves)
        self._outcome = uncompiled(rules.outcome)
        for name in ("play", "noisy", "irreversible", "gain"):
            setattr(self, name, uncompiled(getattr(rules, name)))

    def start(self) -> Any:
        return START

    def legal_moves(self, position: Any) -> list[int]:
        buffer = np.zeros(rules.MOST_MOVES, dtype=np.int64)
        return buffer[: self._legal(position, buffer)].tolist()  # type: ignore[no-any-return]

    def outcome(self, position: Any) -> float | None:
        value = self._outcome(position)
        return None if value != value else value


def measure_python(quick: bool) -> Iterator[Figure]:
    """Measure the slow uses of Python: evaluators and whole games written in it."""
    linear = yardstick.as_feature_set(CHECKERS).plain()
    depth = 7 if quick else 9
    for name, text, evaluator, target in (
        ("python_evaluator", "a plain Python evaluator, one line", simple_value, 0.3),
        ("python_evaluator_16", "a plain Python evaluator, 16 terms", linear, None),
    ):
        engine = Engine(CHECKERS, evaluator)
        plies = depth if target else depth - 2
        (best,) = turns(3, functools.partial(search_rate, engine, plies))
        yield Figure(name, text, best / 1e6, "M nodes/s", target)
    game = PlainCheckers()
    engine = Engine(game, simple_value)
    (best,) = turns(2, functools.partial(search_rate, engine, 4 if quick else 5))
    yield Figure(
        "python_game", "a plain Python game (checkers, uncompiled)", best / 1e6, "M nodes/s"
    )


# --- starting and compiling ------------------------------------------------------------------

FIRST_RESULT = """
import games
from search import Engine
game = games.load("checkers")
print(Engine(game, "classic").search(game.start(), depth=5).move, flush=True)
"""


def measure_start(quick: bool) -> Iterator[Figure]:
    """Measure the time from the start of a process to its first search result."""

    def first_result() -> float:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        began = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-c", FIRST_RESULT],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            found = process.stdout.readline()
            took = time.perf_counter() - began
            if not found.strip().isdigit():
                raise ValueError(f"expected a move, found {found!r}")
        return took

    first_result()  # fills the cache
    best = min(first_result() for _ in range(2 if quick else 5))
    yield Figure("first_result", "a second process: to its first search result", best, "s", 1.0)


def fresh_evaluator(count: int) -> tuple[float, int]:
    """Returns seconds from defining new terms to a search that uses them, and its nodes."""
    number = random.randrange(1 << 34)  # code that no cache has seen
    sources = [
        f"def term_{i}(position):\n"
        f"    own, opponent, kings, side = position\n"
        f"    on = own & ~kings if side == {i % 2} else own\n"
        f"    ahead = (own >> 4) & ~opponent\n"
        f"    return popcount(on & {number + i}) + popcount(ahead & {number - i})\n"
        for i in range(count)
    ]
    began = time.perf_counter()
    scope: dict[str, Any] = {"popcount": popcount, "__name__": "__main__"}
    for source in sources:
        exec(source, scope)
    terms = {f"term_{i}": kernel(scope[f"term_{i}"]) for i in range(count)}
    if count == 1:
        engine = Engine(CHECKERS, terms["term_0"])
    else:
        features = FeatureSet("fresh", terms, rules.swap_sides)
        engine = Engine(CHECKERS, LinearEvaluator(CHECKERS, features, np.ones(count)))
    nodes = engine.search(START, depth=2).nodes
    return time.perf_counter() - began, nodes


def measure_compilation(quick: bool) -> Iterator[Figure]:
    """Measure compiling new code, and using new weights."""
    weights = np.random.default_rng().normal(0, 1, (2, 16))
    terms = CHECKERS.features["classic"]
    Engine(CHECKERS, LinearEvaluator(CHECKERS, terms, weights[0])).search(START, depth=3)
    misses = native._compile.cache_info().misses
    with event.install_recorder("numba:compile") as recorder:
        Engine(CHECKERS, LinearEvaluator(CHECKERS, terms, weights[1])).search(START, depth=3)
    compiled = len(recorder.buffer) + native._compile.cache_info().misses - misses
    yield Figure("new_weights", "functions compiled for new weights", float(compiled), "", 0)
    with tempfile.TemporaryDirectory() as folder:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:
            rounds = 2 if quick else 4
            one = min(fresh_evaluator(1)[0] for _ in range(rounds))
            sixteen = min(fresh_evaluator(16)[0] for _ in range(rounds))
        finally:
            numba.config.CACHE_DIR = before
    yield Figure("new_term", "a new kernel of one term: definition to search", one, "s", 0.5)
    yield Figure("new_terms", "16 new terms: definition to search", sixteen, "s", 2.0)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--quick", action="store_true", help="in less than 20 s, less exactly")
    parser.add_argument(
        "--yardstick", type=Path, help="folder with perft.c and ab.c to compare with"
    )
    options = parser.parse_args()
    folder = options.yardstick
    if folder is not None and not (folder / "ab.c").is_file():
        parser.error(f"--yardstick: expected a folder with perft.c and ab.c, found {folder}")
    beside = ROOT.parent / "shared" / "yardstick"
    if folder is None and beside.is_dir():
        folder = beside

    figures = []
    print(f"{'':<58}{'measured':>10} {'':<10}target")
    with compiled_yardstick(folder) as programs:
        for group in (
            measure_perft(programs, options.quick),
            measure_search(programs, options.quick),
            measure_python(options.quick),
            measure_start(options.quick),
            measure_compilation(options.quick),
        ):
            for figure in group:
                figures.append(figure)
                print(figure.line(), flush=True)
    if options.json:
        print(json.dumps({figure.name: figure.value for figure in figures}))


if __name__ == "__main__":
    main()
