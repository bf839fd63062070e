"""The dice of rollouts, stratified over the first two rolls, and the error of their results.

In 36 * 36 games of backgammon each pair of first rolls occurs in its exact proportion, and in every
36 consecutive games so do the first roll and the second (a Latin square in random order; GNU
Backgammon's quasi-random dice have no such rows). So the first two rolls add hardly any variance,
and the standard errors here take that into account.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels.chance import cumulative, drawn, next_state, stream, uniform
from games.rolls import dice_of

__all__ = ["BLOCK", "RolloutDice", "advantage", "half_widths", "mean_and_error"]

#: Games in a block; block 0 begins with game 0 of a rollout, and the seed decides all dice.
BLOCK = 36
#: Rolls are stratified if their probabilities are multiples of 1/n for an n up to this.
MOST_TICKETS = 64
#: The minimum degrees of freedom; a standard error from fewer would be a guess.
LEAST_FREEDOM = 15
#: Kinds of streams: those of games, and those that decide the order of the strata.
GAMES, ORDERS = 1, 2

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class RolloutDice:
    """The dice of all games of rollouts with a seed; they do not depend on the position.

    seed: 0 to 2**32 - 1; raises ValueError for others.
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        if not 0 <= seed < 1 << 32:
            raise ValueError(f"seed: expected 0 to 2**32 - 1, found {seed}")
        self.seed = seed
        rolls = dice_of(game).rolls
        self.limits = cumulative(rolls)
        self.tickets = tickets(rolls)
        self._blocks: dict[int, tuple[Integers, Integers]] = {}
        self._orders: dict[int, tuple[list[int], list[int]]] = {}

    def block(self, number: int) -> tuple[Integers, Integers]:
        """Returns the random streams [36] and the first two rolls [36, 2] of a block's games.

        The rolls are -1, for the stream to decide, in a game whose rolls are not stratified.
        """
        if number not in self._blocks:
            games = range(BLOCK * number, BLOCK * (number + 1))
            streams = np.array([stream(self.seed, i, GAMES) for i in games], dtype=np.int64)
            rolls = np.array([self._first_rolls(i) for i in games], dtype=np.int64)
            self._blocks[number] = streams, rolls
        return self._blocks[number]

    def rolls(self, games: int) -> Integers:
        """Returns the first two rolls of the first `games` games, [games, 2]."""
        blocks = [self.block(number)[1] for number in range(-(-games // BLOCK))]
        return np.concatenate([np.zeros((0, 2), dtype=np.int64), *blocks])[:games]

    def roll(self, state: int) -> int:
        """Returns the roll that belongs to a state of a game's stream."""
        return int(drawn(uniform(state), self.limits))

    def _first_rolls(self, game: int) -> tuple[int, int]:
        count = len(self.tickets)
        if count == 0:
            return -1, -1
        square, place = divmod(game, count * count)
        if square not in self._orders:
            state, keys = stream(self.seed, square, ORDERS), []
            for _ in range(2 * count):
                state = int(next_state(state))
                keys.append(float(uniform(state)))
            self._orders[square] = _order(keys[:count]), _order(keys[count:])
        first, second = self._orders[square]
        row, column = divmod(place, count)
        return self.tickets[first[column]], self.tickets[second[(row + column) % count]]


def _order(keys: Sequence[float]) -> list[int]:
    return sorted(range(len(keys)), key=keys.__getitem__)


def tickets(probabilities: Sequence[float]) -> list[int]:
    """Returns the shortest list with all rolls in exact proportion; empty if it is too long."""
    chances = np.asarray(probabilities, dtype=np.float64)
    for count in range(1, MOST_TICKETS + 1):
        parts = np.rint(chances * count)
        if np.abs(parts - chances * count).max() < 1e-9:
            return np.repeat(np.arange(len(chances)), parts.astype(np.int64)).tolist()
    return []


def mean_and_error(samples: Floats, rolls: Integers) -> tuple[Floats, Floats]:
    """Returns the means of samples [games, kinds] and their standard errors, [kinds] each.

    rolls: the stratified rolls of the games, [games, 2].

    The variance explained by additive effects of the first and second roll (least squares) does not
    count, because it does not differ between rollouts. With too few games for that, only the effect
    of the first roll is removed, or none. Errors are NaN for fewer than two games.
    """
    count, kinds = samples.shape
    if count == 0:
        return np.full(kinds, np.nan), np.full(kinds, np.nan)
    mean = samples.mean(axis=0)
    if count == 1:
        return mean, np.full(kinds, np.nan)
    for used in (2, 1, 0):
        columns = [rolls[:, [i]] == np.unique(rolls[:, i]) for i in range(used)]
        design = np.hstack([np.ones((count, 1)), *columns])
        if used == 0 or count - sum(c.shape[1] - 1 for c in columns) - 1 >= LEAST_FREEDOM:
            break
    effects, _, rank, _ = np.linalg.lstsq(design, samples - mean, rcond=None)
    squares = np.square(samples - mean - design @ effects).sum(axis=0)
    error = np.sqrt(squares / (count - rank) / count)
    return mean, np.where(np.ptp(samples, axis=0) == 0.0, 0.0, error)


def half_widths(errors: Floats, games: int) -> Floats:
    """Returns half the widths of 95 % intervals of means of `games` games, from their errors.

    They are Student's, for the fewest degrees of freedom that `mean_and_error` leaves.
    """
    from scipy.special import stdtrit  # which takes long to load

    strata = 2 * (MOST_TICKETS - 1) + 1
    freedom = max(games - strata, min(games - 1, LEAST_FREEDOM))
    return np.asarray(errors * (stdtrit(freedom, 0.975) if freedom else np.inf))


def advantage(better: Floats, worse: Floats, rolls: Integers) -> float:
    """Returns the probability that the first of two samples [games] has the higher mean.

    Both were played with equal dice. The probability follows from the standard error of the mean
    difference, and is 1/2 if that difference is 0.
    """
    mean, error = mean_and_error((better - worse)[:, None], rolls)
    if mean[0] == 0.0:
        return 0.5
    with np.errstate(divide="ignore"):
        # the standard normal distribution, without SciPy, which takes long to load
        return 0.5 * math.erfc(-float(mean[0] / error[0]) / math.sqrt(2.0))
