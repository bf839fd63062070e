"""Comparison training: weights learned from differences between the moves of one decision.

A linear function too poor to predict outcomes may still order moves if it is fitted to do so: terms
that all positions after one roll share cancel, and no weight is spent on them. Samuel learned from
books by comparing (1967), and so did Tesauro when he trained pubeval ("Connectionist learning of
expert preferences by comparison training", NIPS 1, 1989; "Comparison training of chess evaluation
functions", 2001). They had an expert's choices; here both sides of a comparison have a value, and
differences of terms are fitted to differences of values.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame
from games.features import FeatureSet
from games.kernels import kernel
from games.kernels.chance import cumulative, drawn, next_state, uniform
from learner.dice_play import PlayedWithDice
from learner.game_learner import feature_set, linear_start
from learner.models.model import numbers_of
from learner.options import ranged
from learner.positions.packing import packed, unpacked
from learner.rounds.frame import RoundLearner
from learner.self_play import Lesson, Target, Task
from play.workers import Workers
from search import Engine, Evaluator, LinearEvaluator, as_evaluator
from search.expectiminimax.static import StaticChoice
from search.expectiminimax.turn import NativeTurn, over, play_turn

__all__ = ["Comparison", "Comparisons", "PlayingOn", "compare", "fitted", "moments"]

Floats = NDArray[np.float64]
#: The teacher that needs no other evaluator.
GAMES = "games"


@dataclass(frozen=True)
class Comparisons:
    """Positions that decisions of a game could lead to, from the view of the side to move.

    positions: the positions after the moves played and after some alternatives; none ends the game.
    chosen: for each position, the index of the position after the move that was played in the same
        decision (for that position, its own index), [positions].
    """

    positions: list[Any]
    chosen: NDArray[np.int64]


def compare(
    game: DiceGame,
    played: PlayedWithDice,
    evaluator: Evaluator,
    *,
    rivals: int,
    random: np.random.Generator,
) -> Comparisons:
    """Returns the comparisons of a game.

    Each move played is compared with at most `rivals` alternatives. Half of them, rounded down, are
    those that the evaluator ranks highest, because it has to choose among these; the others are
    drawn at random, so that it learns about bad moves too. Decisions with a single move, and those
    that end the game, have no comparisons.
    """
    decisions: list[list[Any]] = []
    for ply, (move, roll) in enumerate(zip(played.moves, played.rolls, strict=True)):
        row = played.positions[ply]
        position = tuple(row.tolist()) if isinstance(row, np.ndarray) else row
        moves = game.legal_moves(position, roll)
        after = [game.play(position, m) for m in (move, *(m for m in moves if m != move))]
        if game.outcome(after[0]) is None:
            decisions.append([after[0], *(p for p in after[1:] if game.outcome(p) is None)])
    decisions = [decision for decision in decisions if len(decision) > 1]
    everything = [position for decision in decisions for position in decision]
    values = evaluator.values(everything) if everything else np.zeros(0)
    near, far = rivals // 2, rivals - rivals // 2
    positions: list[Any] = []
    chosen: list[int] = []
    begun = 0
    for decision in decisions:
        others = 1 + np.argsort(values[begun + 1 : begun + len(decision)], kind="stable")
        begun += len(decision)
        taken = [*others[:near], *random.permutation(others[near:])[:far]]
        chosen += [len(positions)] * (1 + len(taken))
        positions += [decision[0], *(decision[i] for i in taken)]
    return Comparisons(positions, np.array(chosen, dtype=np.int64))


@kernel
def play_on(turn, replies, most):
    """Play on from the position `here`, which is overwritten by the last one; returns the plies."""
    here = turn.here
    ply = 0
    while ply < most and not over(turn, here) and turn.stop == 0:
        play_turn(turn, replies, here, here, 1, 1)
        ply += 1
    return ply


class PlayingOn:
    """Plays games to their end from given positions; both sides use the same static values.

    most: games longer than `most` plies are broken off and score 0. Not to be used by two threads
        at once.
    """

    def __init__(self, game: DiceGame, evaluator: Evaluator, *, most: int) -> None:
        self.game = game
        self.most = most
        self._choice = StaticChoice(game, evaluator)
        self.native = self._choice.native
        self._limits = cumulative(game.rolls)
        if self.native:
            self._turn = NativeTurn(game)
            self._replies = self._turn.replies(evaluator)

    def outcome(self, position: Any, state: int) -> float:
        """Returns the outcome of one game from a position, for its side to move.

        `state` is the start of the stream of dice (`games.kernels.chance`). Games from two
        positions with the same state roll the same dice, so that much of the luck cancels in their
        difference.
        """
        last, plies = (self._play if self.native else self._play_slowly)(position, state)
        value = self.game.outcome(last)
        if value is None:
            return 0.0
        return -value if plies % 2 else value

    def _play(self, position: Any, state: int) -> tuple[Any, int]:
        turn = self._turn
        turn.position = position
        turn.put(state=state)
        plies = int(play_on(turn.row, self._replies.row, self.most))
        turn.check()
        return turn.position, plies

    def _play_slowly(self, position: Any, state: int) -> tuple[Any, int]:
        for ply in range(self.most):
            if self.game.outcome(position) is not None:
                return position, ply
            state = next_state(state)
            roll = int(drawn(uniform(state), self._limits))
            position = self.game.play(position, self._choice.choose(position, roll))
        return position, self.most


def moments(
    features: FeatureSet, comparisons: Comparisons, values: Floats, *, share: float
) -> Floats:
    """Returns the sums that a fit needs of some comparisons, [terms + 1, terms + 1].

    They are the sum of the outer products of all rows with themselves. The row of an alternative
    holds the differences between the chosen position's terms and its own, and last the difference
    of their `values`, [positions]. The row of a chosen position holds its terms and value, with
    weight `share`.
    """
    size = len(features)
    if not comparisons.positions:
        return np.zeros((size + 1, size + 1))
    rows = np.column_stack([features.measure(comparisons.positions), values])
    is_rival = comparisons.chosen != np.arange(len(rows))
    across = rows[comparisons.chosen[is_rival]] - rows[is_rival]
    alone = rows[~is_rival]
    return np.asarray(across.T @ across + share * (alone.T @ alone), dtype=np.float64)


def fitted(total: Floats, *, alpha: float) -> Floats:
    """Returns the least-squares weights, [terms], of the sums of `moments`.

    It is a ridge regression: the loss includes alpha times the sum of the squared weights.
    """
    size = len(total) - 1
    return np.asarray(np.linalg.solve(total[:-1, :-1] + alpha * np.eye(size), total[:-1, -1]))


@dataclass(frozen=True)
class _Teacher:
    """Makes of a game the `moments` of its comparisons, in place of rows, and their number."""

    game: Any
    player: Evaluator
    features: FeatureSet
    expert: Evaluator | None
    rivals: int
    share: float
    most_plies: int
    traces: bool = False

    def __call__(self, played: Any, engine: Engine) -> Target:
        random = np.random.default_rng((*played.seeds, 1))
        found = compare(self.game, played, self.player, rivals=self.rivals, random=random)
        if not found.positions:
            values = np.zeros(0)
        elif self.expert is not None:
            values = self.expert.values(found.positions)
        else:
            ends = PlayingOn(self.game, self.player, most=self.most_plies)
            states = random.integers(1 << 62, size=len(found.positions))[found.chosen].tolist()
            pairs = zip(found.positions, states, strict=True)
            values = np.array([ends.outcome(position, state) for position, state in pairs])
        total = moments(self.features, found, values, share=self.share)
        count = (found.chosen != np.arange(len(found.chosen))).sum()
        return Target(total, count, count)


@dataclass(kw_only=True, eq=False, repr=False)
class Comparison(RoundLearner):
    """Weights over terms, fitted to differences between moves, in games with dice.

    It plays in rounds (`learner.rounds.frame`). In games by the present weights, each position
    after the move played is compared with those after some alternatives (`compare`); a teacher
    gives a value for both. The weights are those of a ridge regression over the last rounds
    (`fitted`).

    features: a feature set or its name.
    teacher: "games" plays both positions out with the present weights at 0-ply and the same dice;
        the difference of the outcomes is noisy but unbiased whatever the weights, so that learning
        can begin from nothing. Or an evaluator, its name or file: its static values, for which a
        few hundred games suffice.
    rivals: most alternatives that each move is compared with.
    share: weight of the values themselves, relative to a comparison. A constant, and any term that
        no choice changes, cancels in all differences; they are fitted to the values of the chosen
        positions. Values then have the unit and about the level of outcomes, which a search needs
        when it compares them with the end of a game.
    alpha: strength of the ridge, in comparisons.
    round_games, keep_rounds, games_per_report, most_plies, workers: see `RoundLearner`; a game that
        is broken off scores 0.

    An evaluator to start from, of any kind, plays the first round.

    After `fit`: `evaluator_`, and `rounds_`: the `comparisons` of each round, and `error`, the root
    mean squared error of the weights that it led to, including the share of the values.
    """

    game: Any = field(default="backgammon", kw_only=False)
    games: int = 4000
    depth: int | None = 0
    features: Any = "pubeval"
    teacher: Any = GAMES
    rivals: int = ranged(3, 1)
    share: float = ranged(0.01, 0, 1)
    alpha: float = ranged(3.0, above=0)
    round_games: int = 200
    keep_rounds: int = 10
    games_per_report: int = 50
    most_plies: int = 400

    takes_dice = True

    def _check_options(self) -> None:
        super()._check_options()
        if not self.game_.dice:
            raise ValueError(f"game: expected one with dice, found {self.game_.name}")

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self.features_ = feature_set(self.game_, self.features)
        self._first = None if evaluator is None else as_evaluator(self.game_, evaluator)
        self._expert = None
        if not (isinstance(self.teacher, str) and self.teacher == GAMES):
            self._expert = as_evaluator(self.game_, self.teacher)
        same = (
            isinstance(self._first, LinearEvaluator)
            and self._first.features.names == self.features_.names
        )
        self._linear, _ = linear_start(
            self.game_, self.features_, {}, evaluator if same else None, usual={}, name="comparison"
        )
        #: the sums of the rounds to learn from, the last one under way, and its comparisons
        self._sums: list[Floats] = []
        self._comparisons = 0
        self.evaluator_ = self._linear

    def _player(self) -> Evaluator:
        return self._linear if self.rounds_ or self._first is None else self._first

    def _task(self) -> Task:
        return replace(super()._task(), backups=False)

    def _teacher(self, number: int) -> _Teacher:
        return _Teacher(
            self.game_, self._player(), self.features_, self._expert, self.rivals, self.share,
            self.most_plies,
        )  # fmt: skip

    def _keep(self, lessons: list[Lesson]) -> None:
        if self.games_played_ % self.round_games == 0:
            size = len(self.features_) + 1
            self._sums = [*self._sums, np.zeros((size, size))][-self.keep_rounds :]
            self._comparisons = 0
        for lesson in lessons:
            self._sums[-1] += lesson.rows
            self._comparisons += int(lesson.low)
            self.updates_ += int(lesson.low)

    def _fit_round(self, workers: Workers) -> dict[str, float]:
        weights = fitted(np.sum(self._sums, axis=0), alpha=self.alpha)
        self._linear.weights[:] = weights
        error = np.append(weights, -1.0)
        squared = max(0.0, float(error @ self._sums[-1] @ error))
        count = float(self._comparisons)
        return {"comparisons": count, "error": (squared / max(1.0, count)) ** 0.5}

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        size = len(self.features_) + 1
        return {
            **super().get_state(),
            "weights": self._linear.weights.tolist(),
            "sums": packed(np.array(self._sums).reshape(-1, size, size)),
            "comparisons": self._comparisons,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        self._linear.weights[:] = numbers_of(state["weights"], len(self._linear.weights))
        size = len(self.features_) + 1
        self._sums = list(unpacked(state["sums"], np.float64).reshape(-1, size, size))
        self._comparisons = int(state["comparisons"])
