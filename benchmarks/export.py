"""Evaluators as C (`plysmith export`): speed beside our own native code, and equality at size.

    python -m benchmarks.export                    # positions a second, ours and C's, side by side
    python -m benchmarks.export --equal 1000000    # values on so many positions of random play

C is compiled by gcc for this machine, as our own code is: networks with `-O3`, the others with `-O2
-ftree-vectorize -fvect-cost-model=dynamic`. The incremental form is measured on positions in the
order of a search's leaves: all that one position leads to, then those of the next.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import itertools
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import games
from games.kernels.memory import native_function
from search.evaluators.evaluator import Evaluator
from search.evaluators.load import as_evaluator
from search.evaluators.network import ScaledNetwork
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.samples import sample_positions
from search.evaluators.signature import SignatureEvaluator, layout_of
from search.evaluators.tuples import TupleEvaluator, Tuples
from search.export.export import export
from search.native import call_float

FLAGS = ["-std=c99", "-march=native", "-Wall", "-Wextra", "-pedantic", "-Werror"]
NETWORKS, OTHERS = ["-O3"], ["-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic"]
#: Positions of a round of speed, and rounds, of which the fastest counts.
POSITIONS, ROUNDS = 1000, 200
LOOP = """
#include "net.h"
void loop(int64_t count, const int64_t *positions, double *values);
void loop(int64_t count, const int64_t *positions, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = net_value(positions + i * NET_INTEGERS);
}
"""
UPDATES = """
void updates(int64_t count, const int64_t *positions, double *values);
void updates(int64_t count, const int64_t *positions, double *values)
{
    net_accumulator sides[2];
    net_clear(&sides[0]);
    net_clear(&sides[1]);
    for (int64_t i = 0; i < count; i++) {
        const int64_t *position = positions + i * NET_INTEGERS;
        values[i] = net_update(&sides[position[NET_INTEGERS - 1] & 1], position);
    }
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
    options = parser.parse_args()
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
    quantised = isinstance(evaluator, QuantisedNetwork)
    loops = [(name, library.loop)]
    if quantised:
        loops.append((f"{name} updates", library.updates))
    for title, theirs in loops:
        rows = _rows(evaluator.game.name, count or POSITIONS, theirs is not library.loop)
        found = np.zeros((2, len(rows)))
        best = [np.inf, np.inf]
        for _ in range(1 if count else ROUNDS):
            for side, loop in enumerate((ours, theirs)):
                start = time.perf_counter()
                loop(len(rows), rows.ctypes.data, found[side].ctypes.data)
                best[side] = min(best[side], time.perf_counter() - start)
        distance = (np.abs(found[0] - found[1]) / np.maximum(1.0, np.abs(found[0]))).max()
        rate = [len(rows) / seconds for seconds in best]
        print(f"{title:<26}{rate[0]:>12,.0f}{rate[1]:>12,.0f}{rate[1] / rate[0]:>7.2f}"
              f"{distance:>10.1e}", flush=True)  # fmt: skip
    del keep


@functools.cache
def _rows(name: str, count: int, leaves: bool) -> Any:
    game = games.load(name)
    rows = sample_positions(game, count)
    if leaves:
        found = (game.play(row, move) for row in rows for move in game.legal_moves(row))
        rows = [*itertools.islice(found, count)]
    return np.array(rows, dtype=np.int64)


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
        more = UPDATES if isinstance(evaluator, QuantisedNetwork) else ""
        (Path(folder) / "loop.c").write_text(LOOP + more)
        network = isinstance(evaluator, ScaledNetwork | OutcomeNetwork)
        flags = [*FLAGS, *(NETWORKS if network else OTHERS)]
        subprocess.run(
            ["gcc", *flags, "-shared", "-fPIC", "loop.c", "net.c", "-o", "net.so", "-lm"],
            cwd=folder, check=True,
        )  # fmt: skip
        library = ctypes.CDLL(str(Path(folder) / "net.so"))
    for loop_c in ("loop", "updates") if more else ("loop",):
        getattr(library, loop_c).argtypes = [ctypes.c_int64] * 3
    return (lambda n, a, b: kind(block.ctypes.data, n, a, b)), library, (block, keep)


if __name__ == "__main__":
    main()
