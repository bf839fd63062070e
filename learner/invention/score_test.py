"""The score test: the gain of a Newton step of a candidate's weight, given the chosen terms.

No fit is made for a candidate (Rao 1948). Luck is measured by exchanging the two sides' labels in
random whole games, because positions within a game are too much alike to be permuted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from games.features.cell_terms import CellTerm, Neighbours

__all__ = ["Pool", "Sample"]

Floats = NDArray[np.float64]
#: A term must be unequal between the sides in at least this share of the positions.
LEAST_SHARE = 0.004
#: Exchanges of labels by which luck is measured: one try in 40 beats all of them.
EXCHANGES = 39
#: Candidates that are worked on at a time.
CHUNK = 64


class Sample:
    """Positions on which candidates are scored.

    around: of all positions.
    games: the number of each position's game; those of a game follow one another.
    chosen: whether a position is in the sample, [positions].
    seed: of the exchanges.
    """

    def __init__(
        self,
        around: Neighbours,
        games: NDArray[np.int64],
        chosen: NDArray[np.bool_],
        seed: int,
    ) -> None:
        self.around = around.take(chosen)
        self.chosen = chosen
        games = games[chosen]
        self._starts = np.flatnonzero(np.r_[True, games[1:] != games[:-1]])
        self._signs = np.random.default_rng(seed).choice(
            [-1.0, 1.0], (len(self._starts), EXCHANGES)
        )

    def fitted(
        self,
        values: NDArray[np.float32],
        residual: NDArray[np.float32],
        information: NDArray[np.float32],
    ) -> None:
        """Take the figures of a fit, from which scores are measured.

        values: of the chosen terms, [all positions, terms].
        residual: expected results minus those of the fit, times the weights, [all positions].
        information: the variance of a prediction, times the weights, [all positions].
        """
        values = values[self.chosen]
        self._residual, self._information = residual[self.chosen], information[self.chosen]
        self._weighted = values * self._information[:, None]
        gram = values.T.astype(np.float64) @ self._weighted
        self.inverse = np.linalg.pinv(gram, hermitian=True) if len(gram) else gram
        by_game = np.add.reduceat(values * self._residual[:, None], self._starts, axis=0)
        self._chosen_sums = by_game.T.astype(np.float64)

    def scores(self, columns: NDArray[np.int8], *, luck: bool = False) -> tuple[Floats, float]:
        """Returns the score of each candidate, and with `luck` the best score of any by luck.

        columns: the values of the candidates, [candidates, positions].
        """
        scores, lucky = np.zeros(len(columns)), 0.0
        totals = self._chosen_sums.sum(axis=1)
        for first in range(0, len(columns), CHUNK):
            values = columns[first : first + CHUNK].astype(np.float32)
            own = (np.square(values) @ self._information).astype(np.float64)
            cross = (values @ self._weighted).astype(np.float64)
            towards = cross @ self.inverse
            free = own - (towards * cross).sum(axis=1)
            usable = free > 1e-3 * own
            share = usable / np.where(usable, free, 1.0)
            slope = (values @ self._residual).astype(np.float64) - towards @ totals
            scores[first : first + CHUNK] = np.square(slope) * share
            if luck:
                sums = np.add.reduceat(values * self._residual, self._starts, axis=1)
                by_game = sums.astype(np.float64) - towards @ self._chosen_sums
                lucky = max(lucky, float((np.square(by_game @ self._signs) * share[:, None]).max()))
        return scores, lucky


class Pool:
    """Candidates that occur in a sample, no two of them equal on all its positions.

    terms: the candidates.
    columns: their values, int8 [candidates, positions].
    """

    def __init__(self, sample: Sample, terms: Iterable[CellTerm] = ()) -> None:
        self.terms: list[CellTerm] = []
        self.columns = np.zeros((0, int(sample.chosen.sum())), dtype=np.int8)
        self._sample = sample
        self._seen: set[bytes] = set()
        self._given: set[CellTerm] = set()
        self.add(terms)

    def add(self, terms: Iterable[CellTerm]) -> None:
        """Add the terms that occur often enough and are new."""
        new = []
        for term in terms:
            if term in self._given:
                continue
            self._given.add(term)
            column = term.difference(self._sample.around)
            if np.count_nonzero(column) < LEAST_SHARE * len(column):
                continue
            sign = np.sign(column[np.argmax(column != 0)])  # opposite columns are equal too
            mark = hashlib.blake2b((column * sign).tobytes(), digest_size=16).digest()
            if mark not in self._seen:
                self._seen.add(mark)
                new.append(column)
                self.terms.append(term)
        if new:
            self.columns = np.concatenate([self.columns, np.array(new)])
