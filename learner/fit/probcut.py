"""Learned ProbCut: predicts an evaluator's deep values from its shallow ones (Buro 1995, 1997).

    python -m learner probcut checkers data/checkers/network.safetensors

searches positions of self-play, or stored ones, at every depth up to a greatest one, fits a line
for each pair of depths and each phase of the game, and writes the file that the search reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from games import kernels
from games.contract import DiceGame, Game
from search import PROVEN, Engine, as_evaluator
from search.alphabeta.probcut import Check, ProbCut
from search.evaluators.samples import value_mark
from search.sizes import CHECKS, DEPTHS, PHASES

__all__ = ["check_options", "depth_values", "learn_probcut", "played_positions", "shallower"]

#: Least depth of a search with checks; below it a search costs less than its check.
LEAST_DEPTH = 4
#: Least number of pairs of values that a line is fitted to.
FEWEST = 50


def shallower(depth: int) -> tuple[int, ...]:
    """Returns the depths of the checks before a search, shallowest first.

    They are about a quarter and a half of its depth, and even or odd as it is, because the side
    that moves last affects a value more than two plies do.
    """
    quarter, half = depth // 4, depth // 2
    depths = {part + (depth - part) % 2 for part in (quarter, half)}
    return tuple(sorted(part for part in depths if part <= depth - 2))[:CHECKS]


def depth_values(
    game: Game,
    evaluator: Any,
    positions: Iterable[Any],
    depth: int,
    *,
    threads: int = 2,
    progress: Callable[[], None] | None = None,
) -> NDArray[np.float64]:
    """Returns the values of exact searches, [positions, depth + 1]; NaN if a game is decided.

    Column d holds the values of depth d, column 0 the static values.
    """
    engines: list[Engine] = []

    def values(position: Any) -> list[float]:
        try:
            engine = engines.pop()
        except IndexError:
            engine = Engine(game, evaluator, equal_depth=True)
        engine.clear()
        result = engine.search(position, depth=depth)
        engines.append(engine)
        if progress is not None:
            progress()
        by_depth = [engine.evaluator(position), *(entry.value for entry in result.history)]
        return [value if abs(value) < PROVEN else np.nan for value in by_depth] + [np.nan] * (
            depth + 1 - len(by_depth)
        )

    with ThreadPoolExecutor(threads) as pool:
        rows = list(pool.map(values, positions))
    return np.array(rows, dtype=np.float64).reshape(-1, depth + 1)


def learn_probcut(
    game: Game,
    evaluator: Any,
    positions: Iterable[Any],
    *,
    depth: int = 11,
    width: float = 1.5,
    threads: int = 2,
    progress: Callable[[], None] | None = None,
) -> ProbCut:
    """Returns checks for every depth from `LEAST_DEPTH` to the greatest that ProbCut holds.

    positions: positions of play; unquiet and finished ones and those with one legal move are left
        out, because the search checks none of them.
    depth: depth of the deepest search; deeper searches are checked as many plies shallower, with
        the same numbers.
    width: width of the margin in standard deviations.
    threads: number of threads.
    progress: called with the number of positions done.

    A phase of fewer than 50 positions has no checks. Raises ValueError if there are no checks at
    all, for a depth or width out of range, and for a game with dice.
    """
    check_options(game, depth=depth, width=width)
    evaluator = as_evaluator(game, evaluator)
    mark = value_mark(game, evaluator)
    usable = [
        position
        for position in positions
        if game.outcome(position) is None
        and not game.noisy(position)
        and len(game.legal_moves(position)) > 1
    ]
    values = depth_values(game, evaluator, usable, depth, threads=threads, progress=progress)
    if game.phases is None:
        phases = np.zeros(len(usable), dtype=np.int64)
    else:
        phase = kernels.uncompiled(game.phases.phase)
        phases = np.array([phase(position) for position in usable], dtype=np.int64)
        phases = np.clip(phases, 0, PHASES - 1)
    checks: list[Check] = []
    for number in np.unique(phases).tolist():
        rows = values[phases == number]
        for deep in range(LEAST_DEPTH, DEPTHS):
            fitted = deep if deep <= depth else depth - (deep - depth) % 2
            for shallow in shallower(fitted):
                line = _line(rows[:, shallow], rows[:, fitted])
                if line is not None:
                    checks.append(Check(number, deep, shallow + deep - fitted, *line))
    if not checks:
        raise ValueError(f"expected at least {FEWEST} positions of a phase, found {len(usable)}")
    return ProbCut(
        game.name,
        evaluator.name,
        mark,
        tuple(checks),
        width,
        {"positions": len(usable), "depth": depth},
    )


def check_options(game: Game, *, depth: int, width: float) -> None:
    """Raise ValueError for options that `learn_probcut` cannot use, before the work begins."""
    if isinstance(game, DiceGame):
        raise ValueError(f"ProbCut: expected a game without dice, found {game.name}")
    if not LEAST_DEPTH <= depth < DEPTHS:
        raise ValueError(f"depth: expected {LEAST_DEPTH} to {DEPTHS - 1}, found {depth}")
    ProbCut(game.name, "", "", (), width)


def _line(
    shallow: NDArray[np.float64], deep: NDArray[np.float64]
) -> tuple[float, float, float, int] | None:
    """Fit deep = a * shallow + b; returns a, b, sigma and the number of pairs, or None."""
    both = np.isfinite(shallow) & np.isfinite(deep)
    if both.sum() < FEWEST:
        return None
    inputs, targets = shallow[both, None], deep[both]
    fit = LinearRegression().fit(inputs, targets)
    slope = float(fit.coef_[0])
    if slope <= 0.0:
        return None
    sigma = float(np.std(targets - fit.predict(inputs), ddof=2))
    return slope, float(fit.intercept_), sigma, int(both.sum())


def played_positions(
    game: Game, evaluator: Any, games: int, *, nodes: int = 10_000, plies: int = 6, seed: int = 0
) -> list[Any]:
    """Returns about every fifth position of self-play after random openings, each only once.

    Raises KeyboardInterrupt if stopped.
    """
    random = np.random.default_rng(seed)
    engine = Engine(game, evaluator, table_mib=4.0)
    sampled: dict[Any, None] = {}
    for _ in range(games):
        position, ply = game.start(), 0
        engine.clear()
        history: list[Any] = []
        while (moves := game.legal_moves(position)) and ply < 200:
            if ply < plies:
                move = moves[int(random.integers(len(moves)))]
            else:
                result = engine.search(position, nodes=nodes, history=history)
                if result.interrupted:
                    raise KeyboardInterrupt
                move = result.move
                if random.random() < 0.2:
                    sampled[position] = None
            history.append(position)
            position, ply = game.play(position, move), ply + 1
            if history.count(position) > 1 or game.outcome(position) is not None:
                break
    return list(sampled)
