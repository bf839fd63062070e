"""The search for terms: the best candidates by their scores, grown, refitted and pruned.

The best candidates are grown by one condition at a time, as in GLEM (Buro 1998). A term is accepted
if its score exceeds the best score of any candidate by luck, and if the loss on games held out
falls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from games.features.cell_terms import MOST_CONDITIONS, OFF, CellTerm, Neighbours, atoms
from games.features.cells import EMPTY, Cells
from games.features.feature_set import FeatureSet
from learner.invention.labels import Labels
from learner.invention.score_test import Pool, Sample
from learner.regression.logistic import LogisticFit, measure
from learner.regression.targets import mean_loss

__all__ = ["TermSearch", "bare_pieces", "candidates"]

#: Candidates that are grown, and terms that are grown further.
WIDE, BEAM = 40, 12
#: The factor by which a longer term must score more than a shorter one.
GROWTH = 1.05
#: Terms in a row that may fail on the games held out before the search ends.
PATIENCE = 6
#: The approximate maximum number of positions on which terms are grown; the best are scored on all.
FEW = 25_000


def bare_pieces(cells: Cells, most: int) -> list[CellTerm]:
    """Returns the terms that a search for `most` begins with, because they hide what others say.

    These are the kinds of pieces, or the amounts, with room left for one term more.
    """
    amounts = [name for name, kind in cells.kinds.items() if kind.amount]
    return [CellTerm(name) for name in amounts or cells.pieces()][: most - 1]


def candidates(cells: Cells) -> list[CellTerm]:
    """Returns all terms of one zone or one condition at most, the shorter first."""
    bare = [CellTerm(anchor) for anchor in [*cells.kinds, *([] if cells.alone else [EMPTY])]]
    return [*bare, *(longer for term in bare for longer in _longer(cells, term))]


def _longer(cells: Cells, term: CellTerm) -> list[CellTerm]:
    """Returns the terms with one more condition, or with a zone."""
    if cells.amount(term.anchor):
        return []
    taken = {(0, 0), *dict(term.conditions)}
    span = range(-cells.reach, cells.reach + 1)
    terms = []
    if not term.zone:
        terms = [CellTerm(term.anchor, zone, term.conditions) for zone in cells.zones if zone]
    if len(term.conditions) == MOST_CONDITIONS:
        return terms
    for offset in ((row, column) for row in span for column in span):
        there = {cells.neighbour(square, offset) is not None for square in term.squares(cells)}
        if offset in taken or True not in there:
            continue
        for atom in atoms(cells):
            if atom != OFF or len(there) == 2:
                terms.append(term.also(offset, atom).images(cells)[0])
    return list(dict.fromkeys(terms))


class TermSearch:
    """A search for terms, one after the other.

    cells: the cells of the game.
    labels: the positions and their expected results.
    terms: terms to start with, which may be removed.
    base: a set of terms that stay, such as terms written by hand (default: no such terms).
    seed: of the exchanges by which luck is measured.

    `terms` are the terms so far; `weights` belong to the base and to these, in the unit of the
    values; `loss` is measured on the games held out. The same arguments find the same terms.
    """

    def __init__(
        self,
        cells: Cells,
        labels: Labels,
        terms: Iterable[CellTerm] = (),
        *,
        base: FeatureSet | None = None,
        seed: int = 0,
    ) -> None:
        self.cells = cells
        self.labels = labels
        self.learn = ~labels.held_out
        others = None
        if labels.others is not None:
            others = Neighbours(cells, cells.words(labels.others))
        self.around = Neighbours(cells, cells.words(labels.positions), others)
        numbers = np.cumsum(np.r_[False, labels.games[1:] != labels.games[:-1]])
        few = self.learn & (numbers % (self.learn.sum() // FEW + 1) == 0)
        self._all = Sample(self.around, labels.games, self.learn, seed)
        self._few = Sample(self.around, labels.games, few, seed)
        self.terms = list(terms)
        self._base = np.zeros((len(labels.positions), 0), dtype=np.float32)
        if base is not None:
            self._base = measure(base, labels.positions)
            if labels.others is not None:
                self._base = self._base - measure(base, labels.others)
        self._aside: set[CellTerm] = set()
        self.pool = Pool(self._all, candidates(cells))
        self._logits = np.zeros(0)
        self._fit()

    def run(self, most: int, watch: Callable[[CellTerm, bool], Any] = lambda *_: None) -> None:
        """Search until there are `most` terms, or no further one gains.

        watch: called with every term that was tried, and whether it was accepted.
        """
        failed = 0
        while len(self.terms) < most and failed < PATIENCE:
            term = self._best()
            if term is None:
                break
            loss = self.loss
            self.terms.append(term)
            self._fit()
            better = self.loss < loss
            failed = 0 if better else failed + 1
            if better:
                self._prune()
            else:
                self.terms.pop()
                self._fit()
                self._aside.add(term)
            watch(term, better)

    def worths(self) -> Any:
        """Returns each term's squared weight by its variance, the statistic of Wald's test."""
        all_of_them = np.square(self._logits) / np.maximum(np.diag(self._all.inverse), 1e-30)
        return all_of_them[self._base.shape[1] :]

    def _fit(self) -> None:
        """Fit the weights of all terms to the games learned from."""
        labels = self.labels
        learn, held = self.learn, labels.held_out
        columns = [term.difference(self.around) for term in self.terms]
        every = np.column_stack([self._base, *columns]).astype(np.float32)
        self._logits = np.zeros(every.shape[1])
        if every.size:
            fit = LogisticFit([str(i) for i in range(every.shape[1])], scale=1.0)
            fit.fit(every[learn], labels.expected[learn], labels.weights[learn])
            self._logits = fit.weights_
        self.weights = self._logits / labels.scale
        logits = every.astype(np.float64) @ self._logits
        self.loss = mean_loss(
            "cross_entropy", logits[held], labels.expected[held], labels.weights[held]
        )[0]
        likely = 1.0 / (1.0 + np.exp(-logits))
        residual = (labels.weights * (labels.expected - likely)).astype(np.float32)
        information = (labels.weights * likely * (1.0 - likely)).astype(np.float32)
        for sample in (self._all, self._few):
            sample.fitted(every, residual, information)

    def _best(self) -> CellTerm | None:
        """Returns the term with the best score, grown; None if luck could have made it."""
        pool = self.pool
        if not pool.terms:
            return None
        scores, self._bar = self._all.scores(pool.columns, luck=True)
        barred = {*self._aside, *self.terms}
        scores[[term in barred for term in pool.terms]] = 0.0
        if scores.max() <= self._bar:
            return None
        order = np.argsort(-scores, kind="stable")
        best: CellTerm = pool.terms[order[0]]
        score = float(scores[order[0]])
        beam = [pool.terms[i] for i in order[:WIDE]]
        for _ in range(MOST_CONDITIONS):
            longer = dict.fromkeys(more for term in beam for more in _longer(self.cells, term))
            beam, scored = self._top(term for term in longer if term not in barred)
            if not beam or scored <= GROWTH * score:
                break
            best, score = beam[0], scored
        pool.add(beam)
        while True:  # the term without the parts that it does not need
            shorter, scored = self._top(part for part in best.without() if part not in barred)
            if not shorter or scored * GROWTH < score:
                return best
            best = shorter[0]

    def _top(self, terms: Iterable[CellTerm]) -> tuple[list[CellTerm], float]:
        """Returns the best of many terms by a part of the positions, and the score of the first.

        They are in the order of their scores on all positions.
        """
        some = Pool(self._few, terms)
        order = np.argsort(-self._few.scores(some.columns)[0], kind="stable")[:BEAM]
        pool = Pool(self._all, [some.terms[i] for i in order])
        scores = self._all.scores(pool.columns)[0]
        order = np.argsort(-scores, kind="stable")
        return [pool.terms[i] for i in order], float(scores.max(initial=0.0))

    def _prune(self) -> None:
        """Remove the terms, the latest aside, whose weight luck could have made by now."""
        while len(self.terms) > 1:
            worth = self.worths()[:-1]
            place = int(worth.argmin())
            if worth[place] > self._bar:
                return
            self._aside.add(self.terms.pop(place))
            self._fit()
