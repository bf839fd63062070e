"""Evaluators as C (`plysmith export`): speed beside our own native code, and equality at size.

    python -m benchmarks.export                    # positions a second, ours and C's, side by side
    python -m benchmarks.export --equal 1000000    # values on so many positions of random play
    python -m benchmarks.export --engines          # nodes a second of whole engines, in turns

C is compiled by gcc for this machine, as our own code is: networks with `-O3`, the others with `-O2
-ftree-vectorize -fvect-cost-model=dynamic`. The incremental form is measured on positions in the
order of a search's leaves: all that one position leads to, then those of the next. Engines search
the same positions to the same depth with `-O3`; the rates are nodes a CPU second, and nodes and
values must be equal.
"""

from __future__ import annotations

import argparse
import ctypes
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import games
from games.kernels.memory import native_function
from search.engine import Engine
from search.evaluators.evaluator import Evaluator
from search.evaluators.linear import LinearEvaluator
from search.evaluators.load import as_evaluator
from search.evaluators.network import ScaledNetwork
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.samples import sample_positions
from search.evaluators.signature import SignatureEvaluator, layout_of
from search.evaluators.tuples import TupleEvaluator, Tuples
from search.export.engine import engine_files
from search.export.export import export
from search.native import call_float

FLAGS = ["-std=c99", "-march=native", "-Wall", "-Wextra", "-pedantic", "-Werror"]
NETWORKS, OTHERS = ["-O3"], ["-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic"]
#: Positions of a round of speed, and rounds, of which the fastest counts.
POSITIONS, ROUNDS = 1000, 200
#: Engines: game, evaluator and search depth; below, the number of positions and of rounds.
ENGINES = (
    ("checkers", "classic", 12),
    ("checkers", "invented", 10),
    ("checkers", "quantised", 9),
    ("connect_four", "hand", 11),
    ("connect_four", "solved", 9),
)
SEARCHED, TURNS = 30, 15
LOOP = """
#include "net.h"
void loop(int64_t count, const int64_t *positions, double *values);
void loop(int64_t count, const int64_t *positions, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = net_value(positions + i * NET_INTEGERS);
}
"""
OURS = """
def loop_at(data, count, source, target):
    for i in range(count):
        store_float(target, i, call_float(load_int(data, 0), (load_int(data, 1), source)))
        source += {step}
"""


def main() -> None:
    """Run the part that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--equal", type=int, metavar="N", help="compare values on N positions")
    parser.add_argument("--engines", action="store_true", help="compare searches, not values")
    options = parser.parse_args()
    if options.engines:
        print(f"{'engine':<34}{'ours/s':>12}{'C/s':>12}{'ratio':>7}{'quartiles':>14}{'cc':>8}")
        for line in ENGINES:
            compare_engines(*line)
        return
    print(f"{'evaluator':<26}{'ours/s':>12}{'C/s':>12}{'ratio':>7}{'distance':>10}")
    for name, evaluator in evaluators():
        compare(name, evaluator, options.equal)


def evaluators() -> Iterator[tuple[str, Evaluator]]:
    """Yields an evaluator of each kind."""
    for game, name in (
        ("checkers", "classic"), ("checkers", "samuel"), ("backgammon", "hand"),
        ("connect_four", "hand"), ("chinese_checkers", "hand"), ("checkers", "network"),
        ("backgammon", "wide"), ("connect_four", "solved"),
        ("checkers", "quantised"),
    ):  # fmt: skip
        yield f"{game} {name}", as_evaluator(games.load(game), name)
    random = np.random.default_rng(0)
    game = games.load("checkers")
    layout = layout_of(game)
    tables = layout.empty_tables()
    for key, table in tables.items():
        levels = key.endswith("levels")
        table[:] = random.integers(0, 2, table.shape) if levels else random.normal(size=table.shape)
    yield "checkers signature", SignatureEvaluator(game, layout, tables)
    game = games.load("connect_four")
    named, tuples = next(iter(Tuples.of(game).named.items()))
    yield f"connect_four {named}", TupleEvaluator(game, tuples, random.normal(size=tuples.size))


def compare(name: str, evaluator: Evaluator, count: int | None) -> None:
    """Print rates and the greatest distance of values."""
    ours, library, keep = build(evaluator)
    rows = np.array(sample_positions(evaluator.game, count or POSITIONS), dtype=np.int64)
    found, best = np.zeros((2, len(rows))), [np.inf, np.inf]
    for _ in range(1 if count else ROUNDS):
        for side, loop in enumerate((ours, library.loop)):
            start = time.perf_counter()
            loop(len(rows), rows.ctypes.data, found[side].ctypes.data)
            best[side] = min(best[side], time.perf_counter() - start)
    distance = (np.abs(found[0] - found[1]) / np.maximum(1.0, np.abs(found[0]))).max()
    rate = [len(rows) / seconds for seconds in best]
    print(f"{name:<26}{rate[0]:>12,.0f}{rate[1]:>12,.0f}{rate[1] / rate[0]:>7.2f}"
          f"{distance:>10.1e}", flush=True)  # fmt: skip
    del keep


def compare_engines(played: str, name: str, depth: int) -> None:
    """Print nodes a CPU second of our search and of the exported engine, and the time of cc."""
    game = games.load(played)
    evaluator = as_evaluator(game, name)
    engine, rows = Engine(game, evaluator), sample_positions(game, SEARCHED)
    lines = (f"position {' '.join(map(str, row))}\nnew\ngo depth {depth}\n" for row in rows)
    text = "".join(lines)
    with tempfile.TemporaryDirectory() as folder:
        export(evaluator, folder, name="net", made=engine_files)
        began = _seconds(resource.RUSAGE_CHILDREN)
        command = ["gcc", *FLAGS, *NETWORKS, "net.c", "-o", "net", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
        built = _seconds(resource.RUSAGE_CHILDREN) - began
        engine.search(game.start(), depth=2)
        spent, ratios = [0.0, 0.0], []
        for _ in range(TURNS):
            began, results = _seconds(resource.RUSAGE_SELF), []
            for row in rows:
                engine.clear()
                results.append(engine.search(row, depth=depth))
            ours = _seconds(resource.RUSAGE_SELF) - began
            began = _seconds(resource.RUSAGE_CHILDREN)
            said = subprocess.run(
                [f"{folder}/net"], input=text, capture_output=True, text=True, check=True
            ).stdout.split()
            theirs = _seconds(resource.RUSAGE_CHILDREN) - began
            nodes = [result.nodes for result in results]
            assert nodes == [int(word) for word in said[7::8]], name
            assert [result.value for result in results] == [float(v) for v in said[3::8]], name
            spent = [spent[0] + ours, spent[1] + theirs]
            ratios.append(ours / theirs)
    rates = [TURNS * sum(nodes) / seconds for seconds in spent]
    low, middle, high = np.percentile(ratios, (25, 50, 75))
    terms = f", {len(evaluator.features)} terms" if isinstance(evaluator, LinearEvaluator) else ""
    print(
        f"{f'{played} {name}{terms}':<34}{rates[0]:>12,.0f}{rates[1]:>12,.0f}{middle:>7.2f}"
        f"{f'{low:.2f} to {high:.2f}':>14}{built:>6.1f} s",
        flush=True,
    )


def _seconds(whose: int) -> float:
    return resource.getrusage(whose).ru_utime


def build(evaluator: Evaluator) -> tuple[Any, Any, Any]:
    """Returns our loop over positions, the library with C's, and what keeps ours alive."""
    address, data, keep = evaluator.native(print)
    block = np.array([address, data], dtype=np.int64)
    text = OURS.format(step=8 * len(evaluator.game.start()))
    signature = "void(int64, int64, int64, int64)"
    loop = native_function("loop_at", text, {"call_float": call_float}, signature)
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(loop)
    with tempfile.TemporaryDirectory() as folder:
        export(evaluator, folder, name="net")
        (Path(folder) / "loop.c").write_text(LOOP)
        network = isinstance(evaluator, ScaledNetwork | OutcomeNetwork)
        flags = [*FLAGS, *(NETWORKS if network else OTHERS)]
        subprocess.run(
            ["gcc", *flags, "-shared", "-fPIC", "loop.c", "net.c", "-o", "net.so", "-lm"],
            cwd=folder, check=True,
        )  # fmt: skip
        library = ctypes.CDLL(str(Path(folder) / "net.so"))
    library.loop.argtypes = [ctypes.c_int64] * 3
    return (lambda n, a, b: kind(block.ctypes.data, n, a, b)), library, (block, keep)


if __name__ == "__main__":
    main()
