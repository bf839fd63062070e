"""The search for terms: the best candidates by their scores, grown, refitted and pruned.

The best candidates are grown by one condition at a time, as in GLEM (Buro 1998). A term is accepted
if its candidate's score passes what luck gives the best of all candidates, and if the loss on games
held out falls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.features.cell_terms import EMPTY, MOST_CONDITIONS, OFF, CellTerm, Neighbours, atoms
from games.features.cells import Cells
from learner.fit.logistic import LogisticFit
from learner.fit.targets import mean_loss
from learner.invention.labels import Labels
from learner.invention.score_test import Pool, Sample

__all__ = ["Found", "TermSearch", "candidates"]

#: Candidates that are grown, and terms that are grown further.
WIDE, BEAM = 40, 12
#: A longer term has to score so much more than a shorter one.
GROWTH = 1.05
#: Terms in a row that may fail on the games held out before the search ends.
PATIENCE = 3
#: At most about this many positions on which terms are grown; the best are scored on all.
FEW = 25_000


@dataclass(frozen=True)
class Found:
    """A term that the search has accepted.

    term: the term.
    weight: its weight in the game's unit.
    gain: by how much the loss on games held out fell with it, in thousandths of a nat.
    """

    term: CellTerm
    weight: float
    gain: float


def candidates(cells: Cells) -> list[CellTerm]:
    """Returns all terms of one zone or one condition at most, the shorter first."""
    bare = [CellTerm(anchor) for anchor in [*cells.kinds, EMPTY]]
    return [*bare, *(longer for term in bare for longer in _longer(cells, term))]


def _longer(cells: Cells, term: CellTerm) -> list[CellTerm]:
    """Returns the terms with one more condition, or with a zone."""
    taken = {(0, 0), *dict(term.conditions)}
    span = range(-cells.reach, cells.reach + 1)
    found = []
    if not term.zone:
        found = [CellTerm(term.anchor, zone, term.conditions) for zone in cells.zones if zone]
    if len(term.conditions) == MOST_CONDITIONS:
        return found
    for offset in ((row, column) for row in span for column in span):
        there = {cells.neighbour(square, offset) is not None for square in term.squares(cells)}
        if offset in taken or True not in there:
            continue
        for atom in atoms(cells):
            if atom != OFF or len(there) == 2:
                found.append(term.also(offset, atom))
    return found


class TermSearch:
    """A search for terms, one after the other.

    cells: the cells of the game.
    labels: the positions and what is expected of them.
    base: the values of terms that are there from the start, [positions, terms]; None for none.
    seed: of the exchanges by which luck is measured.

    `found` are the terms so far, `base_weights` the weights of the terms from the start, `loss` the
    loss on the games held out. The same arguments find the same terms.
    """

    def __init__(self, cells: Cells, labels: Labels, *, base: Any = None, seed: int = 0) -> None:
        self.cells = cells
        self.labels = labels
        self.seed = seed
        self.learn = ~labels.held_out
        rows = len(labels.positions)
        words = cells.words(labels.positions)
        self.around = Neighbours(cells, words)
        numbers = np.cumsum(np.r_[False, labels.games[1:] != labels.games[:-1]])
        few = self.learn & (numbers % (self.learn.sum() // FEW + 1) == 0)
        self._all = Sample(cells, words, labels.games, self.learn, seed)
        self._few = Sample(cells, words, labels.games, few, seed)
        self.base = np.zeros((rows, 0), np.float32) if base is None else np.asarray(base)
        self.terms: list[CellTerm] = []
        self.gains: dict[CellTerm, float] = {}
        self.aside: set[CellTerm] = set()
        #: candidates that were grown
        self.grown: list[CellTerm] = []
        self.failed = 0
        self._pool: Pool | None = None
        self._fit()

    # --- state --------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Returns how far the search is, as plain numbers and texts."""
        return {
            "terms": [_plain(term) for term in self.terms],
            "gains": [self.gains[term] for term in self.terms],
            "aside": [_plain(term) for term in sorted(self.aside)],
            "grown": [_plain(term) for term in self.grown],
            "failed": self.failed,
        }

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state` returned; ValueError if it is none."""
        try:
            self.terms = [_of_plain(term) for term in state["terms"]]
            self.gains = dict(zip(self.terms, map(float, state["gains"]), strict=True))
            self.aside = {_of_plain(term) for term in state["aside"]}
            self.grown = [_of_plain(term) for term in state["grown"]]
            self.failed = int(state["failed"])
            for term in (*self.terms, *self.aside, *self.grown):
                term.squares(self.cells)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"expected the state of a search, found {error!r}") from None
        self._fit()

    @property
    def found(self) -> list[Found]:
        """The terms in the order in which they were found."""
        weights = self.weights[self.base.shape[1] :] / self.labels.scale
        return [
            Found(term, float(weight), self.gains[term])
            for term, weight in zip(self.terms, weights, strict=True)
        ]

    @property
    def base_weights(self) -> list[float]:
        """The weights of the terms from the start, in the game's unit."""
        return [float(w) for w in self.weights[: self.base.shape[1]] / self.labels.scale]

    @property
    def tried(self) -> int:
        """The number of candidates that occur often enough."""
        return len(self._pool.terms) if self._pool is not None else 0

    # --- the search -----------------------------------------------------------------------------

    def run(self, most: int, watch: Callable[[CellTerm, bool], Any] = lambda *_: None) -> None:
        """Search until there are `most` terms, or no further one gains.

        watch: called with every term that was tried, and whether it was kept.
        """
        while len(self.terms) < most and self.failed < PATIENCE:
            term = self._best()
            if term is None:
                break
            before, loss = (list(self.terms), dict(self.gains)), self.loss
            self.terms.append(term)
            self._fit()
            kept = self.loss < loss
            if kept:
                self.gains[term] = 1000 * (loss - self.loss)
                self.failed = 0
                self._prune()
            else:
                self.terms, self.gains = before
                self._fit()
                self.aside.add(term)
                self.failed += 1
            watch(term, kept)

    def _fit(self) -> None:
        """Fit the weights of all terms to the games learned from."""
        labels = self.labels
        columns = [term.difference(self.around).astype(np.float32) for term in self.terms]
        every = np.column_stack([self.base, *columns]).astype(np.float32)
        learn = self.learn
        self.weights = np.zeros(every.shape[1])
        if every.shape[1]:
            names = [str(i) for i in range(every.shape[1])]
            fit = LogisticFit(names, scale=1.0).fit(
                every[learn], labels.expected[learn], labels.weights[learn]
            )
            self.weights = fit.weights_
        logits = every.astype(np.float64) @ self.weights
        held = labels.held_out
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
        if self._pool is None:
            self._pool = Pool(self._all, [*candidates(self.cells), *self.grown])
        pool = self._pool
        if not pool.terms:
            return None
        scores, self.bar = self._all.scores_and_luck(pool.columns)
        barred = {*self.aside, *self.terms}
        scores[[term in barred for term in pool.terms]] = 0.0
        if scores.max() <= self.bar:
            return None
        order = np.argsort(-scores, kind="stable")
        best, score = pool.terms[order[0]], float(scores[order[0]])
        beam = [pool.terms[i] for i in order[:WIDE]]
        for _ in range(MOST_CONDITIONS):
            longer = dict.fromkeys(more for term in beam for more in _longer(self.cells, term))
            beam, found = self._top(term for term in longer if term not in barred)
            if not beam or found <= GROWTH * score:
                break
            best, score = beam[0], found
        self.grown += [term for term in beam if term not in self.grown]
        pool.add(self.grown)
        return self._shortened(best, score, barred)

    def _top(self, terms: Iterable[CellTerm]) -> tuple[list[CellTerm], float]:
        """Returns the best of many terms by a part of the positions, and the score of the first.

        They are in the order of their scores on all positions.
        """
        some = Pool(self._few, terms)
        order = np.argsort(-self._few.scores(some.columns), kind="stable")[:BEAM]
        pool = Pool(self._all, [some.terms[i] for i in order])
        scores = self._all.scores(pool.columns)
        order = np.argsort(-scores, kind="stable")
        return [pool.terms[i] for i in order], float(scores.max(initial=0.0))

    def _shortened(self, term: CellTerm, score: float, barred: set[CellTerm]) -> CellTerm:
        """Returns the term without the parts that it does not need."""
        while True:
            shorter, found = self._top(part for part in term.without() if part not in barred)
            if not shorter or found * GROWTH < score:
                return term
            term = shorter[0]

    def _prune(self) -> None:
        """Remove the terms, the latest aside, whose weight luck could have made by now."""
        while len(self.terms) > 1:
            first = self.base.shape[1]
            spread = np.diag(self._all.inverse)[first:-1]
            worth = np.square(self.weights[first:-1]) / np.maximum(spread, 1e-30)
            place = int(worth.argmin())
            if worth[place] > self.bar:
                return
            gone = self.terms.pop(place)
            del self.gains[gone]
            self.aside.add(gone)
            self._fit()


def _plain(term: CellTerm) -> list[Any]:
    return [term.anchor, term.zone, [[*offset, atom] for offset, atom in term.conditions]]


def _of_plain(plain: Any) -> CellTerm:
    anchor, zone, conditions = plain
    return CellTerm(
        str(anchor),
        str(zone),
        tuple(((int(row), int(column)), str(atom)) for row, column, atom in conditions),
    )
