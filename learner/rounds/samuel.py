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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.features.cell_terms import CellTerm
from games.features.term_file import feature_set_of, named
from games.kinds import FOR_TWO, WITHOUT_DICE
from learner.game_learner import feature_set, library_terms, linear_start
from learner.invention.labels import cells_of, labels_of
from learner.invention.term_search import TermSearch
from learner.models.model import squash
from learner.options import ranged
from learner.positions.shards import Rows
from learner.regression.logistic import LogisticFit, measure
from learner.rounds.batch import LinearFit
from learner.rounds.frame import RoundsLearner
from learner.self_play import Lesson, evenly, lambda_returns, sides
from search import LinearEvaluator

__all__ = ["Samuel", "removals"]

#: Rows from which it is told what a term is worth.
WORTH_ROWS = 20_000
#: Share of a term's curvature that is added to it before terms leave.
RIDGE = 1e-6
#: The largest squashed target, because that of a game won would be an infinite value.
MOST = 1.0 - 1e-6
#: The weights that are usually fixed, of the terms that the feature set has.
USUAL_FIXED = {"PIECES": 0.25, "men": 1.0}


@dataclass(kw_only=True, eq=False, repr=False)
class Samuel(RoundsLearner):
    """Static values of quiet positions follow backed-up values, over terms that come and go.

    After each round the whole reserve joins the active terms, and the weights of all are fitted to
    those positions of the last rounds in which the fixed terms say nothing (in checkers those with
    even pieces, which the other terms decide). Then the term whose removal costs the fit least
    leaves for the reserve, one after another, until `active` are left, and these are fitted again.
    Options along with those of `RoundsLearner`:

    inputs: a feature set or its name.
    fixed: weights by term that are never learned and set the unit, see `BatchFit` (default: 1/4 for
        `PIECES` and 1 for `men`, if the set has them; the unit is then a man, which is 4 points of
        the piece advantage).
    loss, alpha, K: see `BatchFit`.
    blend: 0 by default, because many a won game is drawn at this depth, so that results say less
        than values.
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

    After `fit`, along with the results of `RoundsLearner`: `active_` and `reserve_` (names of
    terms; of the reserve, the last to leave is first).
    """

    inputs: Any = "samuel"
    fixed: dict[str, float] | None = None
    library: tuple[str, ...] | None = None
    active: int = ranged(16, 1)
    invent: int = ranged(0, 0)
    lambda_: float = ranged(0.95, 0, below=1)
    games: int = 1500
    round_games: int = 100
    keep_rounds: int = 10
    blend: float = 0.0
    loss: str = "squared"
    alpha: float = ranged(1e-5, 0)
    K: float = ranged(4 / 3, above=0)
    evaluator_: LinearEvaluator = field(init=False)

    settles = True
    kinds = (FOR_TWO,)

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self._library = features = feature_set(self.game_, self.inputs)
        start, self._held = linear_start(
            self.game_, features, self.fixed, evaluator, usual=USUAL_FIXED, name="samuel"
        )
        if self.invent:
            WITHOUT_DICE.expect(self.game_, where="invent")
            feature_set_of(cells_of(self.game_), {}, features)  # refuses one that does not fit
        names = features.names
        library = library_terms(self.library, features, self._held)
        # sort() keeps the order of the library among terms without a weight
        library.sort(key=lambda name: -abs(float(start.weights[names.index(name)])))
        self.active_, self.reserve_ = library[: self.active], library[self.active :]
        start.weights[[names.index(name) for name in self.reserve_]] = 0.0
        self._learn_with(start)

    def _learn_with(self, evaluator: LinearEvaluator) -> None:
        """Let the weights of an evaluator be those that learn."""
        self.evaluator_, self.features_ = evaluator, evaluator.features
        self._fitter = LinearFit(evaluator, self._held, self.loss, self.blend, self.alpha, self.K)

    def rows_of_game(self, lesson: Lesson, number: int) -> Rows:
        rows = super().rows_of_game(lesson, number)
        if not self.lambda_ or not len(rows):
            return rows
        begins = sides(np.arange(len(rows)))  # to the view of the side that begins
        values = begins * squash(rows.value.astype(np.float64), 2.0 / self.K)
        # of value t the function makes the target of t - 1
        returns = lambda_returns(np.append(0.0, values), float(values[-1]), self.lambda_)[:-1]
        targets = begins * np.arctanh(np.clip(returns, -MOST, MOST)) * (2.0 / self.K)
        return replace(rows, value=targets.astype(np.float32))

    def fit_rows(self, rows: Rows) -> dict[str, Any]:
        even, before = self._even(rows), self.active_
        self.active_, self.reserve_ = [*self.active_, *self.reserve_], []
        fitted = self._fitter.fit(even, self.rounds_)
        changes = {}
        if len(self.active_) > self.active:
            self._choose(even, fitted)
            fitted = self._fitter.fit(even, self.rounds_, reserve=self.reserve_)
            changes["in"] = " ".join(name for name in self.active_ if name not in before)
            changes["out"] = " ".join(name for name in before if name not in self.active_)
        self.evaluator_.weights[:] = fitted.weights_
        # after the last round nobody would learn the weights of new terms
        continued = self.games_played_ < self.games
        if self.invent and continued and (len(self.rounds_) + 1) % self.invent == 0:
            changes |= self._invent(rows)
        return {"K": float(fitted.K_), "loss": float(fitted.loss_), **changes}

    def _choose(self, rows: Rows, fitted: LogisticFit) -> None:
        """Send the terms that the fit to the rows needs least to the reserve."""
        tried = self.active_
        chosen = [self.features_.names.index(name) for name in tried]
        rows = rows.take(evenly(np.arange(len(rows)), WORTH_ROWS))
        terms = measure(self.features_, rows.positions).astype(np.float64)
        expected = fitted.predict(terms)
        slopes = fitted.K_ * expected * (1.0 - expected)
        steep = np.square(slopes) if self.loss == "squared" else slopes * fitted.K_
        order = removals(terms[:, chosen], rows.count * steep, fitted.weights_[chosen])
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
        names = [*self._held, *self.active_]
        library = self._library.only(name for name in self._library.names if name in names)
        # the reserve has no weight and is not computed
        features = replace(feature_set_of(cells_of(self.game_), terms, library), together=False)
        weights = self.evaluator_.term_weights()
        weights = {name: weights.get(name, 0.0) for name in features.names}
        name = self.evaluator_.name
        self._learn_with(LinearEvaluator(self.game_, features, weights, name=name))

    def _even(self, rows: Rows) -> Rows:
        """Returns the rows in which the fixed terms say nothing, or all if there are none."""
        fixed = LinearEvaluator(self.game_, self.features_, self._held)
        even = np.flatnonzero(np.asarray(fixed.values(rows.positions)) == 0)
        return rows.take(even) if len(even) else rows

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
    # a little of each term alone, so that sums of others have an inverse that can be updated
    inverse = np.linalg.inv(curvature + np.diag(np.where(sizes > 0, RIDGE * sizes, 1.0)))
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
