"""Fits of traces (`plysmith fit`): planted weights, and ten million rows.

    python -m benchmarks.traces --cover      # share of planted weights within intervals by games
    python -m benchmarks.traces --large      # 10^7 rows of 1,000 terms, 30 of them not 0

Results are equal to the last digit if `--large` is killed and called again in the same folder.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from scipy.special import expit

from learner.regression.matrix import Matrix
from learner.traces.fit import Settings, fit_traces
from learner.traces.reading import read_traces
from learner.traces.traces import Traces


def main() -> None:
    """Run the part that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    part = parser.add_mutually_exclusive_group(required=True)
    part.add_argument("--cover", action="store_true")
    part.add_argument("--large", action="store_true")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of --large")
    parser.add_argument("--folder", type=Path, default=Path("traces"), help="of --large")
    options = parser.parse_args()
    if options.cover:
        cover()
    else:
        large(options.folder, options.rows)


def cover() -> None:
    """Print how many planted weights lie within their intervals: 600 tapered terms."""
    random = np.random.default_rng(1)
    rows, games, terms = 1_000_000, 10_000, 600
    game = np.sort(random.integers(games, size=rows))
    _, game = np.unique(game, return_inverse=True)
    phase = random.random(rows)
    truth = random.normal(size=2 * terms) * 0.05
    entries = 20
    term = random.integers(terms, size=(rows, entries))
    # half of the terms of a row are those of its game: rows of a game are alike
    term[:, :10] = random.integers(terms, size=(games, 10))[game]
    count = random.integers(1, 4, size=(rows, entries)) * random.choice([-1, 1], (rows, entries))
    count[:, :10] = (random.integers(1, 4, (games, 10)) * random.choice([-1, 1], (games, 10)))[game]
    both = np.concatenate([2 * term, 2 * term + 1], axis=1).reshape(-1).astype(np.int32)
    share = np.concatenate([count * phase[:, None], count * (1 - phase[:, None])], axis=1)
    start = np.arange(0, 2 * entries * rows + 1, 2 * entries)
    matrix = Matrix(2 * terms, start=start, term=both, count=share.reshape(-1).astype(np.float32))
    result = (random.random(games)[game] < expit(matrix.times(truth))).astype(np.float64)
    names = tuple(f"t{i // 2}.{'me'[i % 2]}g" for i in range(2 * terms))
    traces = Traces(names, matrix, result, None, game, np.ones(rows), True)
    fitted = fit_traces(traces, {}, Settings(alpha=0.0))
    away = np.abs(np.array([term.weight for term in fitted.terms]) - truth)
    for name in ("error", "naive"):
        errors = np.array([getattr(term, name) for term in fitted.terms])
        print(f"{name}: {100 * (away < 1.96 * errors).mean():.1f} % of {len(truth)} weights within")


def large(folder: Path, rows: int) -> None:
    """Print the time and the memory of a large fit, read from a file that is made once."""
    folder.mkdir(exist_ok=True)
    path, terms, entries = folder / "traces.npz", 1000, 30
    if not path.exists():
        random = np.random.default_rng(2)
        truth = random.normal(size=terms) * 0.1
        term = random.integers(terms, size=rows * entries, dtype=np.int16)
        count = random.integers(-3, 4, size=rows * entries, dtype=np.int8)
        logits = np.add.reduceat(truth[term] * count, np.arange(0, rows * entries, entries))
        np.savez(
            path, names=np.array([f"t{i}" for i in range(terms)]), term=term, count=count,
            row=np.repeat(np.arange(rows, dtype=np.int32), entries),
            game=np.arange(rows) // 100, result=random.random(rows) < expit(logits),
        )  # fmt: skip
        print(f"made {path}: call again to fit it, as its making takes memory too")
        return
    began = time.process_time()
    traces = read_traces([path])
    read = time.process_time() - began
    fitted = fit_traces(traces, {}, Settings(), say=print)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"read in {read:.0f} s, all in {time.process_time() - began:.0f} s of one core")
    print(f"at most {memory:.1f} GiB; first weights {[term.weight for term in fitted.terms[:3]]}")


if __name__ == "__main__":
    main()
