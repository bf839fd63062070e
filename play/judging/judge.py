"""Quality without games: how an evaluator's moves and values compare with a deeper search.

In each of a set of positions a referee searches every move exactly, and the judged evaluator
chooses its move by a search of its own. The report averages over the positions how much that move
loses by the referee's values, and how well the static values agree with the referee's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from play.ratings.statistics import Estimate, Figured, mean_interval
from play.workers.crew import Crew, done
from search import PROVEN, Engine, Evaluator, as_evaluator

__all__ = ["Asked", "Judgement", "Verdicts", "decides", "judge", "random_positions", "referee"]


@dataclass(frozen=True)
class Verdicts:
    """A referee's values of every legal move in each of a set of positions.

    unit: the unit of the values.
    """

    positions: tuple[Any, ...]
    values: tuple[dict[Any, float], ...]
    unit: str = "points"

    @cached_property
    def best(self) -> NDArray[np.float64]:
        """The value of the best move, [positions]."""
        return np.array([max(moves.values()) for moves in self.values])

    @property
    def decisions(self) -> int:
        """Number of positions in which the class depends on the move."""
        return sum(decides(moves) for moves in self.values)


@dataclass(frozen=True)
class Judgement(Figured):
    """The quality of an evaluator; intervals are 95 % intervals over positions.

    agreement: share of positions in which its move has the referee's best value.
    loss: the referee's best value minus that of the move chosen, in the game's unit.
    correlation: Pearson correlation of static values with the referee's.
    error: root mean square residual of a linear regression of the referee's values on the static
        ones, in the game's unit.
    unit: the game's unit, such as men.
    """

    called = {"name": "evaluator"}
    name: str
    positions: int
    agreement: Estimate
    loss: Estimate
    correlation: float
    error: float
    unit: str

    def text(self) -> str:
        """One line, without a newline at its end."""
        return (
            f"{self.name}: agrees on {self.agreement.text('.1%')},"
            f" loses {self.loss.text('.3f')} {self.unit} a move;"
            f" static values correlate {self.correlation:.3f}, error {self.error:.3f} {self.unit}"
        )


def random_positions(
    game: Game, count: int, *, seed: int = 0, least_plies: int = 2, most_plies: int = 80
) -> list[Any]:
    """Distinct quiet positions, not decided by the rules, from all stages of random games.

    Positions have `least_plies` to `most_plies` - 1 random moves behind them. Raises ValueError if
    fewer than `count` are found.
    """
    if count < 1:
        raise ValueError(f"positions: expected at least 1, found {count}")
    if seed < 0:
        raise ValueError(f"seed: expected at least 0, found {seed}")
    if not 0 <= least_plies < most_plies:
        raise ValueError(
            f"most_plies: expected more than least_plies, found {least_plies} and {most_plies}"
        )
    random = np.random.default_rng(seed)
    found: dict[Any, None] = {}
    barren = 0
    while len(found) < count:
        position = game.start()
        before = len(found)
        keep = set(random.integers(least_plies, most_plies, size=4).tolist())
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
    """Returns the exact value of every move at a depth, in positions without a proven win or loss.

    Values are in the game's unit. Decided positions are skipped, because the value of a win counts
    plies and says nothing about errors of evaluation. `progress` is called after each position.
    """
    asked = Asked(partial(_Searcher, game, as_evaluator(game, evaluator), depth))
    found = done(asked, positions, threads=threads, progress=progress)
    kept = [
        (position, moves)
        for position, moves in zip(positions, found, strict=True)
        if moves and max(abs(value) for value in moves.values()) < PROVEN
    ]
    if not kept:
        raise ValueError("expected positions that are not yet decided, found none")
    return Verdicts(
        tuple(position for position, _ in kept),
        tuple(moves for _, moves in kept),
        game.unit,
    )


class Asked(Crew[tuple[Any]]):
    """The value of every move of a position, by a referee of each thread's own.

    make: makes a referee, which has `values(position)` as `games.truth.Truth`.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__(make)
        self.make = make

    def new_seats(self) -> tuple[Any]:
        """Returns a referee for one thread."""
        return (self.make(),)

    def __call__(self, position: Any) -> dict[Any, float]:
        with self.seats() as (one,):
            return {} if self.stopped.is_set() else dict(one.values(position))


class _Searcher:
    """A referee that searches every move exactly."""

    def __init__(self, game: Game, evaluator: Evaluator, depth: int) -> None:
        self.evaluator, self.depth = evaluator, depth
        self._engine = Engine(game, evaluator, table_mib=8, equal_depth=True)
        self.stop = self._engine.stop

    def values(self, position: Any) -> dict[Any, float]:
        """Returns the value of each move, in the game's unit."""
        self._engine.clear()
        moves = self._engine.analyse(position, depth=self.depth).moves
        return {move: self.evaluator.in_units(value) for move, value in moves}


def decides(moves: dict[Any, float]) -> bool:
    """Returns whether some move throws away a win or a draw, by the values of all."""
    return len({np.sign(value) for value in moves.values()}) > 1


def judge(
    game: Game, evaluator: Any, verdicts: Verdicts, *, depth: int = 1, name: str = ""
) -> Judgement:
    """Compare an evaluator, searching `depth` plies, with the referee's verdicts."""
    judged = as_evaluator(game, evaluator)
    engine = Engine(game, judged, table_mib=4, equal_depth=True)
    losses = []
    for position, moves, best in zip(
        verdicts.positions, verdicts.values, verdicts.best, strict=True
    ):
        engine.clear()
        result = engine.search(position, depth=depth).whole()
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
        game.unit,
    )
