"""Samuel's terms that come and go, with weights that are fitted together.

As with Samuel (IBM Journal 3, 1959) the static value of a position follows what search backs up,
some terms are active, and the others wait in a reserve from which they replace those that prove
worth the least. Unlike his, the weights are fitted to many positions of the last games at once, so
that terms which say nearly the same share the weight instead of each getting all of it. And no term
waits for its turn, because all are fitted together before the weakest leave. His own formula of the
weights is in `learner.online.samuel1959`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games.features.cell_terms import CellTerm
from games.features.term_file import feature_set_of, named
from learner.fit.logistic import LogisticFit, measure
from learner.game_learner import library_terms
from learner.invention.labels import cells_of, labels_of
from learner.invention.term_search import TermSearch
from learner.models.model import squash
from learner.options import ranged
from learner.positions.shards import Rows
from learner.rounds.batch import BatchFit
from learner.self_play import Lesson, evenly, lambda_returns, sides
from search import LinearEvaluator

__all__ = ["Samuel", "removals"]

#: Rows from which it is told what a term is worth.
WORTH_ROWS = 20_000
#: Share of a term's curvature that is added to it before terms leave.
TRACE = 1e-6
#: The largest squashed target, because that of a game won would be an infinite value.
MOST = 1.0 - 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class Samuel(BatchFit):
    """Static values of quiet positions follow backed-up values, over terms that come and go.

    After each round the whole reserve joins the active terms, and the weights of all are fitted to
    those positions of the last rounds in which the fixed terms say nothing (in checkers those with
    even pieces, which the other terms decide). Then the term whose removal costs the fit least
    leaves for the reserve, one after another, until `active` are left, and these are fitted again.
    Options along with those of `BatchFit`:

    features: a feature set or its name.
    library: the terms to choose from, the first `active` of which are in use at the start (default:
        all of the feature set, in its order).
    active: number of terms in use between two rounds.
    invent: rounds after which the reserve is replaced by as many terms that the program makes up
        beside the active ones, where it finds any (0: the reserve stays). The game has to declare
        its cells (`learner.invention`).
    lambda_: the target of a position is the mean of the values that were backed up from it on,
        each with lambda_ times the weight of the one before (TD(lambda); 0: its own alone). A
        distant gain, such as a back row that keeps kings away, is otherwise learned only as fast as
        rounds carry it back. The stored values are these targets.

    After `fit`, along with the results of `BatchFit`: `active_` and `reserve_` (names of terms; of
    the reserve, the last to leave is first).
    """

    features: Any = "samuel"
    library: tuple[str, ...] | None = None
    active: int = ranged(16, 1)
    invent: int = ranged(0, 0)
    lambda_: float = ranged(0.95, 0, below=1)
    games: int = 1500
    keep_rounds: int = 10
    loss: str = "squared"
    K: float = 4 / 3
    #: fixed values: results say less than values, because many a won game is drawn at this depth
    blend: float = field(default=0.0, init=False)
    rollouts: int = field(default=0, init=False)
    rollout_positions: int = field(default=4000, init=False)

    #: The unit of the others is then a man, which is 4 points of the piece advantage.
    usual_fixed: ClassVar[dict[str, float]] = {"PIECES": 0.25, "men": 1.0}
    settles = True
    takes_many = False

    def begin(self, evaluator: Any) -> None:
        self.active_: list[str] = []
        self.reserve_: list[str] = []
        super().begin(evaluator)
        start = self._linear
        self._library = self.features_
        if self.invent and self.game_.dice:
            raise ValueError(f"invent: expected 0 in a game with dice, found {self.invent}")
        if self.invent:
            feature_set_of(cells_of(self.game_), {}, self._library)  # refuses one that does not fit
        names = self.features_.names
        library = library_terms(self.library, self.features_, self._held)
        # sort() keeps the order of the library among terms without a weight
        library.sort(key=lambda name: -abs(float(start.weights[names.index(name)])))
        self.active_, self.reserve_ = library[: self.active], library[self.active :]
        start.weights[[names.index(name) for name in self.reserve_]] = 0.0

    def _rows(self, lesson: Lesson, number: int) -> Rows:
        rows = super()._rows(lesson, number)
        if not self.lambda_ or not len(rows):
            return rows
        begins = sides(np.arange(len(rows)))  # to the view of the side that begins
        values = begins * squash(rows.value.astype(np.float64), 2.0 / self.K)
        # of value t the function makes the target of t - 1
        returns = lambda_returns(np.append(0.0, values), float(values[-1]), self.lambda_)[:-1]
        targets = begins * np.arctanh(np.clip(returns, -MOST, MOST)) * (2.0 / self.K)
        return replace(rows, value=targets.astype(np.float32))

    def _fit_to(self, rows: Rows, number: int) -> dict[str, Any]:
        every, rows = rows, self._even(rows)
        before = self.active_
        self.active_, self.reserve_ = [*self.active_, *self.reserve_], []
        figures: dict[str, Any] = super()._fit_to(rows, number)
        if len(self.active_) > self.active:
            self._choose(rows)
            figures = super()._fit_to(rows, number)
            figures["in"] = " ".join(name for name in self.active_ if name not in before)
            figures["out"] = " ".join(name for name in before if name not in self.active_)
        if self.invent and (number + 1) % self.invent == 0:
            figures |= self._invent(every)
        return figures

    def _choose(self, rows: Rows) -> None:
        """Send the terms that the fit to the rows needs least to the reserve."""
        tried = self.active_
        chosen = [self.features_.names.index(name) for name in tried]
        rows = rows.take(evenly(np.arange(len(rows)), WORTH_ROWS))
        terms = measure(self.features_, rows.positions).astype(np.float64)
        expected = self.fit_.predict(terms)
        slopes = self.fit_.K_ * expected * (1.0 - expected)
        steep = np.square(slopes) if self.loss == "squared" else slopes * self.fit_.K_
        order = removals(terms[:, chosen], rows.count * steep, self._linear.weights[chosen])
        leave = len(tried) - self.active
        self.active_ = [tried[i] for i in sorted(order[leave:])]
        self.reserve_ = [tried[i] for i in reversed(order[:leave])]

    def _invent(self, rows: Rows) -> dict[str, str]:
        """Replace the reserve by terms that say what the active ones do not."""
        cells = cells_of(self.game_)
        base = self.features_.only([*self._held, *self.active_])
        try:
            labels = labels_of(self.game_, rows, seed=self.seed)
        except ValueError as error:  # too few games, or no results that values predict
            return {"no terms": str(error)}
        search = TermSearch(cells, labels, base=base, seed=self.seed)
        search.run(len(self.reserve_))
        found = {term.name(cells): term for term in search.terms}
        found = {name: found[name] for name in found if name not in self.features_.terms}
        if not found:
            return {"no terms": "none explains more than luck"}
        self.reserve_ = list(found)
        self._use({**base.cell_terms, **found})
        return {"come": "; ".join(term.text(cells) for term in found.values())}

    def _use(self, terms: Mapping[str, CellTerm]) -> None:
        """Let the terms be those of the library that are active, and invented ones."""
        weights, name = self._linear.term_weights(), self._linear.name
        names = [*self._held, *self.active_]
        library = self._library.only(name for name in self._library.names if name in names)
        features = feature_set_of(cells_of(self.game_), terms, library)
        # the reserve has no weight and is not to be computed
        self.features_ = replace(features, together=False)
        weights = {name: weights.get(name, 0.0) for name in self.features_.names}
        self._linear = LinearEvaluator(self.game_, self.features_, weights, name=name)
        self.evaluator_ = self._linear

    def _even(self, rows: Rows) -> Rows:
        """Returns the rows in which the fixed terms say nothing, or all if there are none."""
        fixed = LinearEvaluator(self.game_, self.features_, self._held)
        even = np.flatnonzero(np.asarray(fixed.values(rows.positions)) == 0)
        return rows.take(even) if len(even) else rows

    def _fitter(self, scale: float | None = None) -> LogisticFit:
        fitter = super()._fitter(scale)
        fitter.fixed = {**self._held, **dict.fromkeys(self.reserve_, 0.0)}
        return fitter

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        terms = [term.plain() for term in self.features_.cell_terms.values()]
        found = {"active": self.active_, "reserve": self.reserve_, "invented": terms}
        return {**super()._get_state(), **found}

    def _set_state(self, state: dict[str, Any]) -> None:
        active, reserve, invented = (list(state[n]) for n in ("active", "reserve", "invented"))
        terms = sorted(self.active_ + self.reserve_)
        if self.invent and invented:
            cells = cells_of(self.game_)
            self.active_ = [name for name in active + reserve if name in self._library.names]
            self._use(named(cells, [CellTerm.of(cells, plain) for plain in invented]))
            terms = sorted(name for name in self.features_.names if name not in self._held)
        if sorted(active + reserve) != terms:
            raise ValueError("active, reserve: expected the terms of the learner, each once")
        super()._set_state(state)
        self.active_, self.reserve_ = active, reserve


def removals(
    terms: NDArray[np.float64], steep: NDArray[np.float64], weights: NDArray[np.float64]
) -> list[int]:
    """Returns fitted terms in the order in which they leave, each time the one that costs least.

    The others move to their new optimum whenever one leaves.

    terms: [rows, terms].
    steep: the second derivative of each row's loss by its value, [rows].
    weights: the weights at the optimum, [terms].

    Exact for least squares, and otherwise as far as the loss is quadratic (B. Hassibi and D. G.
    Stork, "Second order derivatives for network pruning", NIPS 5, 1993). Terms that are always 0
    leave at no cost, and all but one of those that say the same.
    """
    curvature = terms.T @ (terms * steep[:, None])
    sizes = np.diag(curvature)
    # a trace of each term alone, so that sums of others have an inverse that can be updated
    inverse = np.linalg.inv(curvature + np.diag(np.where(sizes > 0, TRACE * sizes, 1.0)))
    staying, weights, order = np.arange(len(weights)), weights.copy(), []
    while len(staying):
        shares = weights / np.diag(inverse)
        least = int(np.argmin(weights * shares))
        order.append(int(staying[least]))
        row = inverse[least]
        weights = np.delete(weights - shares[least] * row, least)
        inverse = inverse - np.outer(row, row / row[least])
        inverse = np.delete(np.delete(inverse, least, axis=0), least, axis=1)
        staying = np.delete(staying, least)
    return order
