"""Samuel's learning by generalisation: correlations, powers of two, and a library of terms.

Alpha learns while it plays against Beta, whose weights are frozen: games of self-play from varied
openings, a search for every move, a correction after each of Alpha's moves, and after some games
the decision whether Beta takes over Alpha's weights.

Source: A. L. Samuel, "Some Studies in Machine Learning Using the Game of Checkers", IBM Journal of
Research and Development 3 (1959). The formula of the weights and the numbers are his, by default
those of his second series of games. Three things differ. Searches have one depth, with quiescence
behind it, while his searched three plies and then further by special rules; tallies and the pause
between replacements count corrections, while his count moves; and games begin with random openings.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games.record import GameRecord
from learner.frame import Progress
from learner.game_learner import GameLearner, feature_set, library_terms, linear_start
from learner.models.model import numbers_of
from learner.options import ranged
from search import PROVEN, Engine, Result

__all__ = ["Samuel1959", "Step", "powers_of_two"]

#: A learner's table is small: its searches are short, and clearing it costs time.
TABLE_MIB = 1.0
MOST_PLIES = 400
#: Number of updates over which a correlation averages: at first, and at most.
FIRST_SPAN, LAST_SPAN = 16, 256
BLACK_MARKS = 3
#: The largest weight is 2 to this power.
TOP_POWER = 18


def powers_of_two(correlations: NDArray[np.float64], top: int = TOP_POWER) -> NDArray[np.float64]:
    """Returns weights from correlations: sign(C) * 2 ** round(top * |C| / max |C|), 0 if C is 0.

    All 12 coefficients that Samuel prints follow from his correlations by this formula.
    """
    sizes = np.abs(correlations)
    largest = sizes.max(initial=0.0)
    if largest == 0.0:
        return np.zeros_like(correlations)
    powers = np.floor(top * sizes / largest + 0.5)
    return np.where(sizes > 0.0, np.sign(correlations) * 2.0**powers, 0.0)


def span(seen: int) -> int:
    """Returns over how many updates a correlation averages: 16 until 32 were seen, 32 until 64, ...

    It is at most 256.
    """
    size = FIRST_SPAN
    while size < LAST_SPAN and seen >= 2 * size:
        size *= 2
    return size


@dataclass(frozen=True)
class Step:
    """A position with Alpha to move, its terms, and the result of Alpha's search."""

    position: Any
    terms: NDArray[np.float64]
    result: Result
    material: float


@dataclass(kw_only=True, eq=False, repr=False)
class Samuel1959(GameLearner):
    """Alpha corrects its polynomial by the values that its search backs up; Beta tests it.

    After each move the difference between the backed-up value and the static value of Alpha's
    earlier position, recomputed with the present weights, says whether a term pointed the right
    way. Each active term keeps a running agreement of its sign with the sign of the difference;
    weights are powers of two of these. Terms that agree with nothing are replaced by others from a
    reserve.

    inputs: a feature set or its name.
    fixed: weights by term that are never learned, whatever evaluator learning starts from (None:
        the `usual_fixed`, for terms that the feature set has).
    active: number of terms in use at a time.
    library: the order of the terms, the first `active` of which are in use at the start (default:
    the
        feature set's order).
    tallies: number of times a term may have the least correlation before it is replaced.
    replacement_pause: least number of corrections between two replacements (0 in the first series).
    trial: number of games after which Beta takes over Alpha's polynomial if Alpha won more of them
        than it lost; if it lost more, Alpha gets a black mark (1 in the first series).
    asymmetric: if the difference has the sign of the value, correct only the terms that contribute
        against it (second series; False in the first).
    threshold: least difference to learn from (default: the mean size of the active weights).

    An evaluator to start from gives the signs and the order of its `active` largest weights.

    After `fit`: `evaluator_`, `correlations_`, `seen_` (updates of each term), `active_` (names),
    `reserve_` (names, next first), `black_marks_`, `adoptions_`.
    """

    games: int = 300
    inputs: Any = "samuel"
    fixed: dict[str, float] | None = None
    opening_plies: int = 3
    library: tuple[str, ...] | None = None
    active: int = ranged(16, 1)
    tallies: int = ranged(8, 1)
    replacement_pause: int = ranged(32, 0)
    trial: int = ranged(4, 1)
    asymmetric: bool = True
    threshold: float | None = ranged(None, 0)

    #: With 4 times this, a man outweighs 16 weights of up to 2**18 in most positions.
    usual_fixed: ClassVar[dict[str, float]] = {"PIECES": 2.0**20}

    def begin(self, evaluator: Any) -> None:
        """Without an evaluator all weights but the fixed ones start at 0."""
        self.features_ = feature_set(self.game_, self.inputs)
        start, fixed = linear_start(
            self.game_, self.features_, self.fixed, evaluator,
            usual=self.usual_fixed, name=type(self).__name__.lower(),
        )  # fmt: skip
        names = self.features_.names
        self.fixed_ = np.array([term in fixed for term in names])
        self.evaluator_ = self._alpha = start
        self._beta = start.copy()
        self._alpha_engine = Engine(self.game_, self._alpha, table_mib=TABLE_MIB)
        self._beta_engine = Engine(self.game_, self._beta, table_mib=TABLE_MIB)
        self._index = {name: i for i, name in enumerate(names)}
        library = library_terms(self.library, self.features_, fixed)
        self.correlations_ = np.zeros(len(names))
        self.seen_ = np.full(len(names), FIRST_SPAN, dtype=np.int64)
        sizes = {n: abs(float(start.weights[self._index[n]])) for n in library}
        largest = sorted((n for n in library if sizes[n]), key=lambda n: -sizes[n])[: self.active]
        learned = [n for n in library if n in largest]
        order = learned + [n for n in library if n not in learned]
        self.active_ = order[: self.active]
        self.reserve_ = order[self.active :]
        self._tally = dict.fromkeys(library, 0)
        self._pause = 0
        self._anchor = 0
        self._won = 0.0
        self._trial_games = 0
        self.black_marks_ = 0
        self.adoptions_ = 0
        if learned:
            # the approximate inverse of `powers_of_two`; the largest weight has the correlation 0.5
            for name in learned:
                power = TOP_POWER + math.log2(sizes[name] / sizes[largest[0]])
                size = 0.5 * max(power, 0.25) / TOP_POWER
                self.correlations_[self._index[name]] = math.copysign(
                    size, start.weights[self._index[name]]
                )
        self._set_weights()
        self._beta.weights[:] = self._alpha.weights

    # --- one game -----------------------------------------------------------------------------

    def learn(self) -> Generator[Progress, None, None]:
        for record in self.records():
            side = self.games_played_ % 2
            self._play(record, side)
            note = self._after_game(_won(record, side))
            self.games_played_ += 1
            yield self.progress(record, note=note, alpha_side=side)

    def _play(self, record: GameRecord, side: int) -> None:
        """Play a game to its end; `side` is Alpha's."""
        self._alpha_engine.clear()
        self._beta_engine.clear()
        steps: list[Step] = []
        while not record.over and record.ply < MOST_PLIES:
            position, alpha = record.position, record.to_move == side
            engine = self._alpha_engine if alpha else self._beta_engine
            result = engine.search(
                position, history=record.history, depth=self.depth, nodes=self.nodes
            ).whole()
            if alpha:
                now = self._step(position, result)
                if steps and self._correct(steps, now):
                    self.updates_ += 1
                    # the transposition table holds values by the old weights
                    self._alpha_engine.clear()
                steps.append(now)
            record.play(result.move, value=result.value, depth=result.depth)

    def _step(self, position: Any, result: Result) -> Step:
        if self.game_.noisy(position):
            quiet, sign = self._settle(position)
            terms = sign * self.features_.measure([quiet])[0]
        else:
            terms = self.features_.measure([position])[0]
        return Step(position, terms, result, float(terms @ np.where(self.fixed_, 1.0, 0.0)))

    def _settle(self, position: Any) -> tuple[Any, float]:
        """Returns the quiet position after the captures, and the sign of its value here."""
        sign = 1.0
        for _ in range(40):
            if not self.game_.noisy(position):
                break
            result = self._alpha_engine.search(position, depth=1).whole()
            if result.move is None:
                break
            position, sign = self.game_.play(position, result.move), -sign
        return position, sign

    # --- corrections --------------------------------------------------------------------------

    def _correct(self, earlier: list[Step], now: Step) -> bool:
        """Learn about Alpha's earlier positions, newest last, from the search at `now`.

        Returns whether weights changed.
        """
        if len(earlier) == 1:
            self._anchor = 0
        anchor = earlier[self._anchor]
        static = float(self._alpha.weights @ anchor.terms)
        difference = now.result.value - static
        active = np.array([self._index[name] for name in self.active_])
        threshold = self.threshold
        if threshold is None:
            threshold = float(np.abs(self._alpha.weights[active]).mean())
        if abs(difference) <= threshold:
            return False
        self._anchor = len(earlier)
        effect = 4 if abs(now.result.value) > PROVEN else 1
        if effect == 1 and now.material != anchor.material:
            effect = 2
        self._update(active, anchor.terms, difference, static, effect)
        self._pause += 1
        self._select()
        self._set_weights()
        return True

    def _update(
        self,
        active: NDArray[np.int64],
        terms: NDArray[np.float64],
        difference: float,
        static: float,
        effect: int,
    ) -> None:
        """Move the correlations of the active terms that are not 0 towards +1 or -1."""
        sign = 1.0 if difference > 0 else -1.0
        against_only = self.asymmetric and difference * static > 0
        for i in active:
            if terms[i] == 0.0:
                continue
            if against_only and sign * terms[i] * self._alpha.weights[i] > 0:
                continue
            agreement = sign * np.sign(terms[i])
            rate = min(1.0, effect / span(int(self.seen_[i])))
            self.correlations_[i] -= (self.correlations_[i] - agreement) * rate
            self.seen_[i] += 1

    def _select(self) -> None:
        """Tally the term that correlates least, and replace it when its tallies are full."""
        weakest = min(self.active_, key=lambda name: abs(self.correlations_[self._index[name]]))
        self._tally[weakest] += 1
        if self._tally[weakest] < self.tallies or not self.reserve_:
            return
        if self._pause < self.replacement_pause:
            return
        self._pause = 0
        self._tally[weakest] = 0
        newcomer = self.reserve_.pop(0)
        self.reserve_.append(weakest)
        self.active_[self.active_.index(weakest)] = newcomer
        for name in (weakest, newcomer):
            self.correlations_[self._index[name]] = 0.0
            self.seen_[self._index[name]] = FIRST_SPAN
        self._tally[newcomer] = 0

    def _set_weights(self) -> None:
        learned = powers_of_two(self.correlations_)
        self._alpha.weights[:] = np.where(self.fixed_, self._alpha.weights, learned)

    # --- between games ------------------------------------------------------------------------

    def _after_game(self, alpha_won: float) -> str:
        """Count a game (1 won, 0 drawn, -1 lost), and end a trial; returns a note."""
        self._won += alpha_won
        self._trial_games += 1
        if self._trial_games < self.trial:
            return ""
        won = self._won
        self._won, self._trial_games = 0.0, 0
        if won > 0:
            self._beta.weights[:] = self._alpha.weights
            self.adoptions_ += 1
            self.black_marks_ = 0
            return "Beta takes over Alpha's polynomial"
        if won == 0:
            return ""
        self.black_marks_ += 1
        if self.black_marks_ < BLACK_MARKS:
            return f"black mark {self.black_marks_}"
        self.black_marks_ = 0
        leading = int(np.argmax(np.abs(self.correlations_)))
        self.correlations_[leading] = 0.0
        self._set_weights()
        return f"third black mark: {self.features_.names[leading]} starts again from 0"

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        return {
            "alpha": self._alpha.weights.tolist(),
            "beta": self._beta.weights.tolist(),
            "correlations": self.correlations_.tolist(),
            "seen": self.seen_.tolist(),
            "active": list(self.active_),
            "reserve": list(self.reserve_),
            "tally": dict(self._tally),
            "pause": self._pause,
            "won": self._won,
            "trial_games": self._trial_games,
            "black_marks": self.black_marks_,
            "adoptions": self.adoptions_,
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        arrays = {"alpha": self._alpha.weights, "beta": self._beta.weights,
                  "correlations": self.correlations_, "seen": self.seen_}  # fmt: skip
        for name, array in arrays.items():
            array[:] = numbers_of(state[name], len(array))
        active, reserve = list(state["active"]), list(state["reserve"])
        terms = sorted(self.active_ + self.reserve_)
        if sorted(active + reserve) != terms or len(active) != len(self.active_):
            raise ValueError("active, reserve: expected the terms of the learner, each once")
        self.active_, self.reserve_ = active, reserve
        self._tally = dict(state["tally"])
        self._pause = int(state["pause"])
        self._won = float(state["won"])
        self._trial_games = int(state["trial_games"])
        self.black_marks_ = int(state["black_marks"])
        self.adoptions_ = int(state["adoptions"])


def _won(record: GameRecord, side: int) -> float:
    """Returns the outcome of a game for a side; 0 if the game was broken off."""
    if not record.over:
        record.declare(0.0, f"{MOST_PLIES} plies")
    outcome = record.outcome() or 0.0
    return -outcome if side else outcome
