"""The search for terms: the score of every candidate, the best grown, refitted and pruned.

A candidate's score is what one Newton step of its weight gains in log-likelihood, beside the terms
chosen before (Rao 1948): no fit is made for it. The best candidates are grown by one condition at a
time, as in GLEM (Buro 1998). A term is accepted if its candidate's score passes what luck gives the
best of all candidates, and if the loss on games held out falls. Luck is measured by exchanging what
the labels say of the two sides, in whole games at random: within a game, positions are too much
alike to be permuted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.features.cell_terms import EMPTY, MOST_CONDITIONS, OFF, CellTerm, Neighbours, atoms
from games.features.cells import Cells
from learner.fit.logistic import LogisticFit
from learner.fit.targets import mean_loss
from learner.invention.labels import Labels

__all__ = ["Found", "TermSearch", "candidates"]

Floats = NDArray[np.float64]
#: A term has to be there, on one side more than on the other, in this share of the positions.
LEAST_SHARE = 0.004
#: Exchanges of labels by which luck is measured: one try in 40 beats all of them.
EXCHANGES = 39
#: Candidates that are grown, and terms that are grown further.
WIDE, BEAM = 40, 12
#: A longer term has to score so much more than a shorter one.
GROWTH = 1.05
#: Terms in a row that may fail on the games held out before the search ends.
PATIENCE = 3
#: Candidates that are worked on at a time.
CHUNK = 64


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


class _Pool:
    """Candidates that occur, no two of them equal on all positions.

    terms: the candidates.
    columns: their values, int8 [candidates, positions learned from].
    """

    def __init__(self, around: Neighbours, learn: NDArray[np.bool_]) -> None:
        self.terms: list[CellTerm] = []
        self.columns = np.zeros((0, int(learn.sum())), dtype=np.int8)
        self._around, self._learn = around, learn
        self._seen: set[bytes] = set()
        self._given: set[CellTerm] = set()

    def add(self, terms: Sequence[CellTerm]) -> None:
        """Add those of the terms that occur often enough and are not there yet."""
        new = []
        for term in terms:
            if term in self._given:
                continue
            self._given.add(term)
            column = term.difference(self._around)[self._learn]
            if np.count_nonzero(column) < LEAST_SHARE * len(column):
                continue
            mark = _mark(column)
            if mark not in self._seen:
                self._seen.add(mark)
                new.append(column)
                self.terms.append(term)
        if new:
            self.columns = np.concatenate([self.columns, np.array(new)])


def _mark(column: NDArray[np.int8]) -> bytes:
    """Returns a digest that equal columns share, and those of the opposite sign."""
    import hashlib

    first = column[np.flatnonzero(column)[0]]
    return hashlib.blake2b((column * np.sign(first)).tobytes(), digest_size=16).digest()


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
        self.around = Neighbours(cells, cells.words(labels.positions))
        rows = len(labels.positions)
        self.base = np.zeros((rows, 0), np.float32) if base is None else np.asarray(base)
        self.terms: list[CellTerm] = []
        self.gains: dict[CellTerm, float] = {}
        self.aside: set[CellTerm] = set()
        #: candidates that were grown
        self.grown: list[CellTerm] = []
        self.failed = 0
        games = labels.games[self.learn]
        self._starts = np.flatnonzero(np.r_[True, games[1:] != games[:-1]])
        self._signs = np.random.default_rng(seed).choice(
            [-1.0, 1.0], (len(self._starts), EXCHANGES)
        )
        self._pool: _Pool | None = None
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
        self._values = every[self.learn]
        expected, counts = labels.expected[self.learn], labels.weights[self.learn]
        self.weights = np.zeros(every.shape[1])
        if every.shape[1]:
            names = [str(i) for i in range(every.shape[1])]
            fit = LogisticFit(names, scale=1.0).fit(self._values, expected, counts)
            self.weights = fit.weights_
        logits = every.astype(np.float64) @ self.weights
        held = labels.held_out
        self.loss = mean_loss(
            "cross_entropy", logits[held], labels.expected[held], labels.weights[held]
        )[0]
        likely = 1.0 / (1.0 + np.exp(-logits[self.learn]))
        self._residual = (counts * (expected - likely)).astype(np.float32)
        self._information = (counts * likely * (1.0 - likely)).astype(np.float32)
        weighted = self._values * self._information[:, None]
        gram = self._values.T.astype(np.float64) @ weighted
        self._inverse = np.linalg.pinv(gram, hermitian=True) if len(gram) else gram
        self._weighted = weighted
        self._own_sums = np.add.reduceat(
            self._values * self._residual[:, None], self._starts, axis=0
        ).T.astype(np.float64)

    def _scores(self, columns: NDArray[np.int8], *, luck: bool = False) -> tuple[Floats, Floats]:
        """Returns the score of each candidate, and with `luck` its scores after the exchanges.

        The arrays are [candidates] and [candidates, exchanges].
        """
        scores = np.zeros(len(columns))
        lucky = np.zeros((len(columns), EXCHANGES if luck else 0))
        for first in range(0, len(columns), CHUNK):
            part = slice(first, first + CHUNK)
            values = columns[part].astype(np.float32)
            own = np.einsum("ij,ij,j->i", values, values, self._information).astype(np.float64)
            cross = (values @ self._weighted).astype(np.float64)
            towards = cross @ self._inverse
            free = own - (towards * cross).sum(axis=1)
            usable = free > 1e-3 * own
            free = np.where(usable, free, 1.0)
            values *= self._residual
            if luck:
                sums = np.add.reduceat(values, self._starts, axis=1).astype(np.float64)
                sums -= towards @ self._own_sums
                lucky[part] = np.square(sums @ self._signs) * (usable / free)[:, None]
                slope = sums.sum(axis=1)
            else:
                slope = values.sum(axis=1, dtype=np.float64) - towards @ self._own_sums.sum(axis=1)
            scores[part] = np.square(slope) * (usable / free)
        return scores, lucky

    def _best(self) -> CellTerm | None:
        """Returns the term with the best score, grown; None if luck could have made it."""
        if self._pool is None:
            self._pool = _Pool(self.around, self.learn)
            self._pool.add([*candidates(self.cells), *self.grown])
        pool = self._pool
        if not pool.terms:
            return None
        scores, lucky = self._scores(pool.columns, luck=True)
        barred = {*self.aside, *self.terms}
        scores[[term in barred for term in pool.terms]] = 0.0
        self.bar = float(lucky.max(axis=0).max())
        if scores.max() <= self.bar:
            return None
        known = {pool.terms[i]: float(scores[i]) for i in np.argsort(-scores, kind="stable")[:WIDE]}
        best, beam = next(iter(known)), known
        for _ in range(MOST_CONDITIONS):
            grown = _Pool(self.around, self.learn)
            longer = [further for term in beam for further in _longer(self.cells, term)]
            grown.add([term for term in dict.fromkeys(longer) if term not in barred])
            if not grown.terms:
                break
            found, _ = self._scores(grown.columns)
            order = np.argsort(-found, kind="stable")[:BEAM]
            beam = {grown.terms[i]: float(found[i]) for i in order}
            known |= beam
            longest = next(iter(beam))
            if known[longest] <= GROWTH * known[best]:
                break
            best = longest
        self.grown += [term for term in beam if term not in self.grown]
        pool.add(self.grown)
        return self._shortened(best, known[best], barred)

    def _shortened(self, term: CellTerm, score: float, barred: set[CellTerm]) -> CellTerm:
        """Returns the term without the parts that it does not need."""
        while True:
            shorter = _Pool(self.around, self.learn)
            shorter.add([part for part in term.without() if part not in barred])
            if not shorter.terms:
                return term
            scores, _ = self._scores(shorter.columns)
            place = int(scores.argmax())
            if scores[place] * GROWTH < score:
                return term
            term = shorter.terms[place]

    def _prune(self) -> None:
        """Remove the terms, the latest aside, whose weight luck could have made by now."""
        while len(self.terms) > 1:
            first = self.base.shape[1]
            spread = np.diag(self._inverse)[first:-1]
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
