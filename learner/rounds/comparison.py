"""Comparison training: weights learned from differences between the moves of one decision.

A linear form too poor to foretell outcomes may still order moves, if that is what it is fitted to:
what all positions after one roll have in common cancels, and no weight is spent on it. Comparing is
how Samuel learned from books (1967) and Tesauro taught what became pubeval ("Connectionist learning
of expert preferences by comparison training", NIPS 1, 1989; "Comparison training of chess
evaluation functions", 2001). They had an expert's choices; here both sides of a comparison have a
value, and differences of values are what differences of terms are fitted to.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame
from games.features import FeatureSet
from games.kernels import kernel
from games.kernels.chance import cumulative, drawn, next_state, uniform
from learner.dice_play import DiceSelfPlay, PlayedWithDice
from learner.learner import feature_set, linear_start
from learner.models.model import numbers_of
from learner.positions.packing import packed, unpacked
from learner.rounds.frame import RoundLearner
from learner.self_play import GAMES_PER_TASK, TABLE_MIB, Lesson
from play.workers import Workers
from search import Engine, Evaluator, LinearEvaluator, as_evaluator
from search.expectiminimax.static import StaticChoice
from search.expectiminimax.turn import NativeTurn, over, play_turn

__all__ = ["TEACHERS", "Comparison", "Comparisons", "PlayingOn", "compare", "fitted", "moments"]

Floats = NDArray[np.float64]
#: Teachers that need no other evaluator.
TEACHERS = ("games", "backups")


@dataclass(frozen=True)
class Comparisons:
    """The positions that the decisions of a game could lead to, for whoever is to move in them.

    positions: after the moves chosen and, of each, after some others; none is the end of a game.
    chosen: for each position the place of the one that was chosen in the same decision, its own for
    that itself, [positions].
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
    """What there is to compare in a game.

    Beside each move chosen at most `rivals` others: half of them, rounded down, those that the
    evaluator likes best, for it is among these that it has to choose; the rest drawn from all
    others, so that it learns of bad moves too. Decisions with a single move, and those that end the
    game, have none.
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
    """Play on from the position `here`, which is left at the last one; returns the plies."""
    here = turn.here
    ply = 0
    while ply < most and not over(turn, here) and turn.stop == 0:
        play_turn(turn, replies, here, here, 1, 1)
        ply += 1
    return ply


class PlayingOn:
    """Games played to their end from given positions, both sides by the same static values.

    most: longer ones are broken off, for nothing. Not to be used by two threads at once.
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
        """How a game from a position ends for its side to move, with the dice of a stream.

        `state` is what the stream begins with (`games.kernels.chance`): from two positions the same
        dice are rolled, so that their luck cancels for a good part where they are compared.
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


def moments(features: FeatureSet, found: Comparisons, values: Floats, *, share: float) -> Floats:
    """What a fit has to know of some comparisons, [terms + 1, terms + 1].

    The sum of the outer products of all rows with themselves. A rival's row holds the differences
    between the terms of the position chosen and its own and, last, that of their `values`,
    [positions]; the row of a chosen position its terms and value as they are, weighing `share`.
    """
    size = len(features)
    if not found.positions:
        return np.zeros((size + 1, size + 1))
    rows = np.column_stack([features.measure(found.positions), values])
    is_rival = found.chosen != np.arange(len(rows))
    across = rows[found.chosen[is_rival]] - rows[is_rival]
    alone = rows[~is_rival]
    return np.asarray(across.T @ across + share * (alone.T @ alone), dtype=np.float64)


def fitted(total: Floats, *, alpha: float) -> Floats:
    """The weights [terms] of the least squares that `moments` have summed up.

    A ridge regression: alpha times the sum of squared weights is added to the squares.
    """
    size = len(total) - 1
    return np.asarray(np.linalg.solve(total[:-1, :-1] + alpha * np.eye(size), total[:-1, -1]))


# --- games and what is made of them ----------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """Games to be played and compared, by their seeds."""

    game: DiceGame
    player: Evaluator
    features: FeatureSet
    teacher: str
    expert: Evaluator | None
    depth: int
    most_plies: int
    rivals: int
    share: float
    seeds: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True)
class _Compared(Lesson):
    """A game, its `moments` and how many comparisons they hold."""

    moments: Any = None
    comparisons: int = 0


def _compared(task: _Task) -> list[_Compared]:
    """Play the games of a task and compare, each as if nothing had been played before."""
    game = task.game
    engine = Engine(game, task.player, table_mib=TABLE_MIB)
    loop = DiceSelfPlay(game, engine, depth=task.depth, backups=False, most_plies=task.most_plies)
    ends = PlayingOn(game, task.player, most=task.most_plies)
    lessons = []
    for seeds in task.seeds:
        engine.clear()
        played = loop.play(seeds)
        random = np.random.default_rng((*seeds, 1))
        found = compare(game, played, task.player, rivals=task.rivals, random=random)
        if not found.positions:
            values = np.zeros(0)
        elif task.expert is not None:
            values = task.expert.values(found.positions)
        elif task.teacher == "backups":
            engine.clear()
            values = engine.values(found.positions, depth=task.depth + 1)
        else:
            states = random.integers(1 << 62, size=len(found.positions))[found.chosen].tolist()
            pairs = zip(found.positions, states, strict=True)
            values = np.array([ends.outcome(position, state) for position, state in pairs])
        total = moments(task.features, found, values, share=task.share)
        count = int((found.chosen != np.arange(len(found.chosen))).sum())
        lessons.append(_Compared(played, moments=total, comparisons=count))
    return lessons


@dataclass(kw_only=True, eq=False, repr=False)
class Comparison(RoundLearner):
    """Weights over terms, fitted to differences between the moves of one decision, with dice.

    In rounds (`learner.rounds.frame`): in games by the present weights each position after the move
    chosen is compared with those after some others (`compare`), and what a teacher says of both is
    the lesson; weights are those of the ridge regression over the last rounds (`fitted`).

    teacher: "games": from both positions the game is played to its end by the present weights at
    sight, with the same dice; the difference of outcomes is noisy, but right whatever the weights
    are, so that learning can begin from nothing. "backups": the exact values of both a ply deeper
    by the present weights, for weights that are good already: without noise, but with the errors
    of these weights, and a form that sees little of the side to move, as pubeval's, sees in them
    little of what the moves differ in. Or an evaluator, its name or file: its static values, for
    which a few hundred games suffice.

    A constant cancels in all differences, and so does a term that no choice changes. What
    differences leave open the values themselves decide: those of the positions chosen are fitted
    too, each weighing the small `share` of a comparison. So values are in the unit of outcomes, as
    the differences are, and lie about where outcomes lie as far as the terms can say so, which is
    what a search needs that compares them with the end of a game.

    features: a feature set or its name. rivals: moves that the one chosen is compared with, at
    most. alpha: of the ridge, in comparisons. round_games, keep_rounds, games_per_report,
    most_plies, workers: as for every learner in rounds; a game that is broken off is worth nothing.

    An evaluator to start from plays the first round, and with "backups" judges it; it may be of
    any kind.

    After `fit`: `evaluator_`, and `rounds_`: `comparisons` of each round, and the root of its mean
    squared `error`, the share of the values included, by the weights that it has led to.
    """

    game: Any = field(default="backgammon", kw_only=False)
    games: int = 4000
    depth: int | None = 0
    features: Any = "pubeval"
    teacher: Any = "games"
    rivals: int = 3
    share: float = 0.01
    alpha: float = 3.0
    round_games: int = 200
    keep_rounds: int = 10
    games_per_report: int = 50
    most_plies: int = 400

    takes_dice = True

    def _check_options(self) -> None:
        super()._check_options()
        if not isinstance(self.game_, DiceGame):
            raise ValueError(f"game: expected one with dice, found {self.game_.name}")
        if self.rivals < 1:
            raise ValueError(f"rivals: expected at least 1, found {self.rivals}")
        if not 0 <= self.share <= 1:
            raise ValueError(f"share: expected 0 to 1, found {self.share}")
        if not 0 < self.alpha < float("inf"):
            raise ValueError(f"alpha: expected more than 0, found {self.alpha}")

    def _begin(self, evaluator: Any) -> LinearEvaluator:
        self.features_ = feature_set(self.game_, self.features)
        self._first = None if evaluator is None else as_evaluator(self.game_, evaluator)
        self._expert = None
        if not (isinstance(self.teacher, str) and self.teacher in TEACHERS):
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
        return self._linear

    def _player(self) -> Evaluator:
        return self._linear if self.rounds_ or self._first is None else self._first

    def _round(self, workers: Workers, openings: Iterator[tuple[Any, ...]], watch: Any) -> None:
        until = min(self.games, (self.games_played_ // self.round_games + 1) * self.round_games)
        seeds = islice(openings, until - self.games_played_)
        assert isinstance(self.game_, DiceGame)
        task = _Task(
            self.game_, self._player(), self.features_, str(self.teacher), self._expert,
            self.plies, self.most_plies, self.rivals, self.share,
        )  # fmt: skip
        groups = iter(lambda: tuple(islice(seeds, GAMES_PER_TASK)), ())
        tasks = (replace(task, seeds=group) for group in groups)
        played: Generator[list[Any], None, None] = workers.map(_compared, tasks)
        with closing(played):
            self._learn_from(played, until, workers, watch)

    def _keep(self, lessons: list[Lesson]) -> None:
        if self.games_played_ % self.round_games == 0:
            size = len(self.features_) + 1
            self._sums = [*self._sums, np.zeros((size, size))][-self.keep_rounds :]
            self._comparisons = 0
        for lesson in lessons:
            assert isinstance(lesson, _Compared)
            self._sums[-1] += lesson.moments
            self._comparisons += lesson.comparisons
            self.updates_ += lesson.comparisons

    def _end_round(self, workers: Workers) -> dict[str, float]:
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
