"""`check_evaluator`: whether values mean the same at every depth and for every side."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.check.game import CHECKS
from games.contract import Game, rolled
from games.errors import ContractError
from games.values import PROVEN
from search.engine import Engine

__all__ = ["check_evaluator"]

#: Limits on values at consecutive depths, and on the mean of those of a board and of its turns.
STEADY, ALIKE, EVEN = 0.2, 0.5, 0.1
#: Standard errors by which a limit must be exceeded, because a check makes about twenty
#: comparisons.
ERRORS = 3.0
#: The fewest positions that are compared.
FEWEST = 40
#: Positions searched in all by default, in native code and in Python, and by `check_game`.
NODES, PLAIN_NODES, FEW_NODES, FEW_PLAIN_NODES = 20_000_000, 200_000, 150_000, 4_000
#: Positions that `check_game` takes, and those taken of one random game of at most these plies.
FEW_POSITIONS, OF_A_GAME, PLIES = 120, 12, 300


def check_evaluator(
    game: Game,
    evaluator: Any = None,
    *,
    positions: int = 500,
    depth: int = 5,
    nodes: int | None = None,
    seed: int = 0,
) -> None:
    """Check that an evaluator's values mean the same at every depth and for every side.

    game: the game.
    evaluator: anything that `search.as_evaluator` takes.
    positions: the number of positions of random play; tactical ones (`Game.noisy`) do not count.
    depth: the greatest depth.
    nodes: positions searched in all, after which no deeper values are compared; None for a number
        that takes some seconds.
    seed: the seed of the random play.

    The values of the same positions at depths d and d + 1 correlate above 0.5, and for a fixed
    side above 0, so that they do not change sign with each ply. Their means, taken for the side
    that begins and with both sides to move in equal shares, differ by less than a fifth of the
    spread; with more than two players those of the side to move, after a whole round of moves. In a
    game that defines `turn`, the values of a board for all its sides average to less than a tenth
    of the spread. Proven values do not count. A spread is a standard deviation, and a limit counts
    as passed only where it is passed by more than three standard errors.

    Raises ContractError at the first rule that does not hold, and the errors of the evaluator.
    """
    engine = Engine(game, evaluator)
    budget = nodes or (NODES if engine.native else PLAIN_NODES)
    _Comparison(engine, positions, depth, budget, random.Random(seed)).check()


def check_named(game: Game, seed: int) -> None:
    """Check the evaluators that a game names, on few positions: a part of `games.check_game`."""
    nodes = FEW_PLAIN_NODES if game.rules is None else FEW_NODES
    for name in game.evaluators:
        check_evaluator(game, name, positions=FEW_POSITIONS, nodes=nodes, seed=seed)


CHECKS.append(check_named)


class _Comparison:
    """The values of positions of random play at several depths.

    values: for each depth [positions], NaN where a value is proven; deeper ones may be fewer.
    signs: [positions], 1 where the side to move is the one that begins, else -1.
    """

    def __init__(
        self, engine: Engine, count: int, depth: int, nodes: int, chance: random.Random
    ) -> None:
        self.engine, self.game, self.name = engine, engine.game, engine.evaluator.name
        self.positions, signs = _random_positions(self.game, count, chance)
        self.signs = np.array(signs)
        self.values = [_unproven(engine.evaluator.values(self.positions))]
        for deeper in range(1, depth + 1):
            searched: list[float] = []
            for position in self.positions:
                if nodes <= 0:
                    break
                result = engine.search(position, depth=deeper)
                nodes -= max(result.nodes, result.evaluations, 1)
                searched.append(result.whole().value)
            self.values.append(_unproven(np.array(searched)))

    def check(self) -> None:
        players = self.game.players
        for depth in range(len(self.values) - 1):
            self._alike(depth)
            if players == 2:
                self._steady(depth, depth + 1, self.signs)
            elif depth + players < len(self.values):
                self._steady(depth, depth + players, np.ones(len(self.signs)))
        self._even()

    def _common(self, depth: int, deeper: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Returns the values at both depths, and which positions have both."""
        count = len(self.values[deeper])
        one, other = self.values[depth][:count], self.values[deeper]
        both = ~np.isnan(one) & ~np.isnan(other)
        return one[both], other[both], np.flatnonzero(both)

    def _alike(self, depth: int) -> None:
        one, other, places = self._common(depth, depth + 1)
        if len(one) < FEWEST or not one.std() or not other.std():
            return
        self._correlate(depth, one, other, ALIKE, "the side to move")
        if self.game.players == 2:
            signs = self.signs[places]
            self._correlate(depth, one * signs, other * signs, 0.0, "a fixed side")

    def _correlate(
        self, depth: int, one: NDArray[Any], other: NDArray[Any], least: float, whose: str
    ) -> None:
        correlation = float(np.corrcoef(one, other)[0, 1])
        # Fisher's transformation, whose standard error is that of n - 3 positions
        bounded = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
        if math.tanh(bounded + ERRORS / math.sqrt(len(one) - 3)) < least:
            self._fail(
                f"values for {whose} at depths {depth} and {depth + 1} say the same",
                f"a correlation above {least}", f"{correlation:.2f} in {len(one)} positions",
            )  # fmt: skip

    def _steady(self, depth: int, deeper: int, signs: NDArray[Any]) -> None:
        one, other, places = self._common(depth, deeper)
        changes, error = 0.0, 0.0
        signs = signs[places]
        groups = [signs == sign for sign in set(signs.tolist())]
        spread = math.sqrt((one * signs).var() / 2 + (other * signs).var() / 2) if groups else 0.0
        if not spread or min(int(group.sum()) for group in groups) < FEWEST / 2:
            return
        for group in groups:
            change = ((other - one) * signs)[group]
            changes += float(change.mean()) / len(groups)
            error = math.hypot(error, float(change.std()) / math.sqrt(len(change)) / len(groups))
        if abs(changes) - ERRORS * error > STEADY * spread:
            self._fail(
                f"values at depths {depth} and {deeper} have the same mean",
                f"a change of less than a fifth of their spread, {spread:.3g}", f"{changes:.3g}",
            )  # fmt: skip

    def _even(self) -> None:
        """Compare the values of a board for all its sides."""
        views = [self.positions]
        try:
            for _ in range(self.game.players - 1):
                views.append([self.game.turn(position) for position in views[-1]])
        except NotImplementedError:
            return
        values = np.array([self.engine.evaluator.values(view) for view in views])
        means, spread = np.abs(values.mean(axis=0)), float(values.std())
        if float(means.mean()) > EVEN * spread + 1e-9:
            self._fail(
                "the values of a board for all its sides average to 0",
                f"at most a tenth of their spread, {spread:.3g}",
                f"{means.mean():.3g} on average",
            )

    def _fail(self, rule: str, expected: str, reached: str) -> None:
        raise ContractError(
            f"{self.game.name}, evaluator {self.name}: {rule}: expected {expected}, found {reached}"
        )


def _unproven(values: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.abs(values) > PROVEN, np.nan, values)


def _random_positions(game: Game, count: int, chance: random.Random) -> tuple[list[Any], list[int]]:
    """Returns positions of random games, and 1 for those of the side that began, else -1.

    They are fewer if many games have no more; finished games and tactical positions do not count.
    """
    taken: dict[Any, int] = {}
    for _ in range(count):
        position, passed = game.start(), []
        for ply in range(PLIES):
            if game.outcome(position) is not None:
                break
            if not game.noisy(position):
                passed.append((position, 1 if ply % game.players == 0 else -1))
            roll = rolled(game, lambda rolls: chance.choices(range(len(rolls)), rolls)[0])
            position = game.play(position, chance.choice(game.legal_moves(position, *roll)))
        taken.update(chance.sample(passed, min(len(passed), OF_A_GAME)))
        if len(taken) >= count:
            break
    return list(taken)[:count], list(taken.values())[:count]
