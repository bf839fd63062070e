"""Samuel's terms that come and go, with weights that are fitted together.

As with Samuel (IBM Journal 3, 1959) the static value of a position follows what search backs up,
some terms are active, and the others wait in a reserve from which they replace those that prove
worth the least. Unlike his, the weights are fitted to many positions of the last games at once, so
that terms which say nearly the same share the weight instead of each getting all of it. His rule to
the letter is `learner.online.samuel1959`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learner.fit.logistic import LogisticFit, measure
from learner.game_learner import library_terms
from learner.models.model import squash
from learner.options import ranged
from learner.positions.shards import Rows
from learner.rounds.batch import BatchFit
from learner.self_play import Lesson, evenly, lambda_returns, sides
from search import LinearEvaluator

__all__ = ["Samuel", "losses_without"]

#: Rows from which it is told what a term is worth.
WORTH_ROWS = 20_000
#: The largest squashed target, because that of a game won would be an infinite value.
MOST = 1.0 - 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class Samuel(BatchFit):
    """Static values of quiet positions follow backed-up values, over terms that come and go.

    After each round the first term of the reserve joins the active ones, all their weights are
    fitted to those positions of the last rounds in which the fixed terms say nothing (in checkers
    those with even pieces, which the other terms decide), and the term whose removal costs the fit
    least goes to the end of the reserve: the newcomer itself if it is no better than any other.
    Options beside those of `BatchFit`:

    features: a feature set or its name.
    library: the order of the terms, the first `active` of which are in use at the start (None: the
        feature set's order).
    active: number of terms in use between two rounds.
    lambda_: the target of a position is the mean of the values that were backed up from it on,
        each with lambda_ times the weight of the one before (TD(lambda); 0: its own alone). A
        distant gain, such as a back row that keeps kings away, is otherwise learned only as fast as
        rounds carry it back. The stored values are these targets.

    After `fit`, beside the results of `BatchFit`: `active_` and `reserve_` (names, next first).
    """

    features: Any = "samuel"
    library: tuple[str, ...] | None = None
    active: int = ranged(16, 1)
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
        newcomer = self.reserve_.pop(0) if self.reserve_ else None
        tried = self.active_ if newcomer is None else [*self.active_, newcomer]
        rows = self._even(rows)
        figures: dict[str, Any] = super()._fit_to(rows, number)
        if newcomer is None:
            return figures
        chosen = [self.features_.names.index(name) for name in tried]
        losses, moves = self._without(rows, chosen)
        weakest = int(np.argmin(losses))
        self._linear.weights[chosen] += moves[weakest]
        self._linear.weights[chosen[weakest]] = 0.0
        self.active_ = [name for name in tried if name != tried[weakest]]
        self.reserve_.append(tried[weakest])
        return {**figures, "in": newcomer, "out": tried[weakest]}

    def _even(self, rows: Rows) -> Rows:
        """Returns the rows in which the fixed terms say nothing, or all if there are none."""
        fixed = LinearEvaluator(self.game_, self.features_, self._held)
        even = np.flatnonzero(np.asarray(fixed.values(rows.positions)) == 0)
        return rows.take(even) if len(even) else rows

    def _without(
        self, rows: Rows, chosen: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows = rows.take(evenly(np.arange(len(rows)), WORTH_ROWS))
        terms = measure(self.features_, rows.positions).astype(np.float64)
        expected = self.fit_.predict(terms)
        slopes = self.fit_.K_ * expected * (1.0 - expected)
        steep = np.square(slopes) if self.loss == "squared" else slopes * self.fit_.K_
        return losses_without(terms[:, chosen], rows.count * steep, self._linear.weights[chosen])

    def _fitter(self, scale: float | None = None) -> LogisticFit:
        fitter = super()._fitter(scale)
        fitter.fixed = {**self._held, **dict.fromkeys(self.reserve_, 0.0)}
        return fitter

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        return {**super().get_state(), "active": self.active_, "reserve": self.reserve_}

    def set_state(self, state: dict[str, Any]) -> None:
        active, reserve = list(state["active"]), list(state["reserve"])
        if sorted(active + reserve) != sorted(self.active_ + self.reserve_):
            raise ValueError("active, reserve: expected the terms of the learner, each once")
        super().set_state(state)
        self.active_, self.reserve_ = active, reserve


def losses_without(
    terms: NDArray[np.float64], steep: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns what the removal of each of some fitted terms costs, and how the others then move.

    terms: [rows, terms].
    steep: the second derivative of each row's loss by its value, [rows].
    weights: the weights at the optimum, [terms].

    The costs are in units of the sum of losses, [terms]; row i of the moves, [terms, terms], is
    added to all weights if term i is removed. Exact for least squares, and otherwise as far as the
    loss is quadratic (B. Hassibi and D. G. Stork, "Second order derivatives for network pruning",
    NIPS 5, 1993).
    """
    curvature = terms.T @ (terms * steep[:, None])
    # terms that are always 0 have no curvature, and their removal costs nothing
    inverse = np.linalg.inv(curvature + 1e-9 * np.eye(len(weights)))
    shares = weights / np.diag(inverse)
    return weights * shares / 2.0, -shares[:, None] * inverse
