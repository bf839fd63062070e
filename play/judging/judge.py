"""Quality without games: how an evaluator's moves and values compare with a deeper search.

On each of a set of positions a referee searches every move exactly. The judged evaluator then
chooses its move with a search of its own; what the referee's value says is lost by it, and how
well its static values follow the referee's, are averaged over the positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from play.ratings.statistics import Estimate, mean_interval
from search import WIN, Engine, as_evaluator

__all__ = ["Judgement", "Verdicts", "judge", "random_positions", "referee"]


@dataclass(frozen=True)
class Verdicts:
    """What the referee thinks of a set of positions: the value of every move of each."""

    positions: tuple[Any, ...]
    values: tuple[dict[Any, float], ...]
    best: NDArray[np.float64]


@dataclass(frozen=True)
class Judgement:
    """How an evaluator did; intervals are 95 % intervals over positions.

    agreement: share of positions in which its move has the referee's best value. loss: the
    referee's best value less that of the move chosen, in the referee's unit. correlation: of
    static values with the referee's (Pearson). error: root mean square of what is left of the
    referee's values after the best straight line from the static ones.
    """

    name: str
    positions: int
    agreement: Estimate
    loss: Estimate
    correlation: float
    error: float


def random_positions(game: Game, count: int, *, seed: int = 0, most_plies: int = 80) -> list[Any]:
    """Distinct quiet positions, not decided by the rules, from all stages of random games.

    Raises ValueError where the game seems to have no more than a part of them.
    """
    if count < 1:
        raise ValueError(f"positions: expected at least 1, found {count}")
    if seed < 0:
        raise ValueError(f"seed: expected at least 0, found {seed}")
    if most_plies < 3:
        raise ValueError(f"most_plies: expected at least 3, found {most_plies}")
    random = np.random.default_rng(seed)
    found: dict[Any, None] = {}
    barren = 0
    while len(found) < count:
        position = game.start()
        before = len(found)
        keep = set(random.integers(2, most_plies, size=4).tolist())
        for ply in range(most_plies):
            moves = game.legal_moves(position)
            if not moves:
                break
            if ply in keep and len(moves) > 1 and not game.noisy(position):
                found[position] = None
            position = game.play(position, moves[int(random.integers(len(moves)))])
        barren = barren + 1 if len(found) == before else 0
        if barren > 1000:
            raise ValueError(f"positions: expected {count}, found {len(found)} different ones")
    return list(found)[:count]


def referee(
    game: Game,
    evaluator: Any,
    positions: Sequence[Any],
    *,
    depth: int,
    threads: int = 2,
    progress: Callable[[], None] | None = None,
) -> Verdicts:
    """The exact value of every move at a depth; positions in which one wins or loses are left out.

    A win counts plies, not quality of judgement, so no error could be measured on it. `progress`
    is called after each position.
    """
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")
    judging = as_evaluator(game, evaluator)
    engines = [
        Engine(game, judging, table_mib=8, equal_depth=True)
        for _ in range(min(threads, len(positions)))
    ]
    free: SimpleQueue[Engine] = SimpleQueue()
    for engine in engines:
        free.put(engine)
    stopped = Event()

    def look(position: Any) -> dict[Any, float]:
        engine = free.get()
        try:
            engine.clear()
            return {} if stopped.is_set() else dict(engine.analyse(position, depth=depth).moves)
        finally:
            free.put(engine)

    found: list[dict[Any, float]] = []
    with ThreadPoolExecutor(threads) as workers:
        running = [workers.submit(look, position) for position in positions]
        try:
            for future in running:
                found.append(future.result())
                if progress is not None:
                    progress()
        finally:
            stopped.set()
            # Again and again, for a search that is only just beginning misses it.
            while wait(running, timeout=0.02).not_done:
                for engine in engines:
                    engine.stop()
    kept = [
        (position, moves)
        for position, moves in zip(positions, found, strict=True)
        if moves and max(abs(value) for value in moves.values()) < WIN / 2
    ]
    if not kept:
        raise ValueError("expected positions that are not yet decided, found none")
    return Verdicts(
        tuple(position for position, _ in kept),
        tuple(moves for _, moves in kept),
        np.array([max(moves.values()) for _, moves in kept]),
    )


def judge(
    game: Game, evaluator: Any, verdicts: Verdicts, *, depth: int = 1, name: str = ""
) -> Judgement:
    """Compare an evaluator, searching `depth` plies, with what the referee found."""
    judged = as_evaluator(game, evaluator)
    engine = Engine(game, judged, table_mib=4, equal_depth=True)
    losses = []
    for position, moves, best in zip(
        verdicts.positions, verdicts.values, verdicts.best, strict=True
    ):
        engine.clear()
        result = engine.search(position, depth=depth)
        if result.interrupted:
            raise KeyboardInterrupt
        losses.append(best - moves[result.move])
    static = judged.values(list(verdicts.positions))
    loss = np.array(losses)
    spread = float(static.std())
    if spread > 0 and verdicts.best.std() > 0:
        correlation = float(np.corrcoef(static, verdicts.best)[0, 1])
    else:
        correlation = 0.0
    error = float(verdicts.best.std() * np.sqrt(max(0.0, 1.0 - correlation**2)))
    agreed = (loss <= 1e-9).astype(float)
    return Judgement(
        name or judged.name,
        len(loss),
        mean_interval(agreed, bounds=(0.0, 1.0)),
        mean_interval(loss, bounds=(0.0, math.inf)),
        correlation,
        error,
    )
