"""The worth of a user's own terms: matches with and without them, and their cost in speed.

The evaluator learned with the terms plays the one that the same learner made without them, with the
same options and seed. This shows whether the whole set is better for the terms. If there are
several, each is then removed from the learned weights in turn, which shows how much the evaluator
uses it.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from games.contract import Game
from games.features import FeatureSet
from games.kernels import fingerprint
from learner.arena import Strength, measure
from learner.frame import Learner
from play.matches.openings import Openings
from play.players.limits import Limits
from play.players.player import Player
from programs.arguments import THREADS
from search import Engine, Evaluator, LinearEvaluator, as_evaluator

__all__ = [
    "Speeds",
    "Worth",
    "carried_over",
    "measure_speeds",
    "new_terms",
    "start_for",
    "without_term",
    "worth",
    "worths",
]

#: Openings of these matches: positions after four plies, in an order of their own.
SEED, PLIES = 4_000_037, 4
#: Speed is measured by searches of this many positions from this many openings.
SPEED_NODES, SPEED_NODES_PLAIN, SPEED_OPENINGS, SPEED_ROUNDS = 40_000, 1_000, 8, 3


@dataclass(frozen=True)
class Worth:
    """A match of an evaluator with terms against one without, and the verdict."""

    terms: tuple[str, ...]
    match: Strength

    @property
    def verdict(self) -> str:
        """`earned`, `cost` or `undecided`, by the 95 % interval of the difference in strength."""
        return "earned" if self.match.low > 0 else "cost" if self.match.high < 0 else "undecided"

    @property
    def games_needed(self) -> int | None:
        """Returns about how many more games would decide at this score; None if no number would.

        It is 0 if the match is decided already.
        """
        match = self.match
        if self.verdict != "undecided":
            return 0
        half = (match.high - match.low) / 2
        if not match.value or not math.isfinite(half):
            return None
        # the width of the interval falls as the root of the games
        return math.ceil(match.games * max(0.0, (half / match.value) ** 2 - 1))

    def text(self) -> str:
        """Returns the match and the verdict, in two lines."""
        played = self.match.text()
        several = len(self.terms) > 1
        have, its = ("have", "their") if several else ("has", "its")
        names = " and ".join(filter(None, [", ".join(self.terms[:-1]), self.terms[-1]]))
        if self.verdict == "earned":
            return f"{played}\n{names} {have} earned {its} place"
        if self.verdict == "cost":
            return f"{played}\n{names} {have} cost strength"
        more = self.games_needed
        hint = "" if more is None else f"; at this rate about {more:,} more would"
        return f"{played}\n{names}: {self.match.games} games do not decide{hint}"

    def as_dict(self) -> dict[str, Any]:
        """Returns the same as plain values."""
        verdict = {"verdict": self.verdict, "games_needed": self.games_needed}
        return {"terms": list(self.terms), **self.match.as_dict(), **verdict, "text": self.text()}


def worth(
    game: Game,
    mine: Evaluator,
    other: Evaluator,
    *,
    terms: Sequence[str],
    games: int,
    limits: Limits,
    against: str = "",
    seed: int = SEED,
    threads: int = THREADS,
) -> Worth:
    """Play an evaluator with terms against one without; openings are positions after four plies.

    against: the name of the evaluator without them in the match. Default: its own.

    Raises KeyboardInterrupt if the match was interrupted.
    """
    rival = Player(against or other.name, other)
    options: dict[str, Any] = {"limits": limits, "seed": seed, "plies": PLIES, "threads": threads}
    return Worth(tuple(terms), measure(game, mine, rival, games=games, **options))


def worths(
    game: Game,
    mine: Evaluator,
    other: Evaluator,
    *,
    terms: Sequence[str],
    games: int,
    limits: Limits,
) -> Iterator[Worth]:
    """Yields the worth of the terms together; then of each alone, if there are several.

    Together they play the evaluator learned without them. A term alone is removed from the learned
    weights, in a match of half as many games; only linear evaluators allow this.
    """
    learned = "the same learner without"
    yield worth(game, mine, other, terms=terms, games=games, limits=limits, against=learned)
    if len(terms) < 2 or not isinstance(mine, LinearEvaluator):
        return
    for term in terms:
        less = without_term(mine, term)
        against = f"the same weights without {term}"
        fewer = max(2, games // 2)
        yield worth(game, mine, less, terms=[term], games=fewer, limits=limits, against=against)


def without_term(evaluator: LinearEvaluator, term: str) -> LinearEvaluator:
    """Returns the evaluator with weight 0 for a term.

    Raises ValueError if it has no such term.
    """
    weights = evaluator.term_weights()
    if term not in weights:
        raise ValueError(f"term: expected one of {', '.join(weights)}, found {term!r}")
    name = f"{evaluator.name} without {term}"
    return LinearEvaluator(evaluator.game, evaluator.features, {**weights, term: 0.0}, name=name)


def carried_over(evaluator: LinearEvaluator, features: FeatureSet) -> LinearEvaluator:
    """Returns the weights of an evaluator over another feature set; new terms get 0.

    Terms that only the evaluator has are dropped. Raises ValueError for a term that the two sets
    define differently.
    """
    shared = [name for name in evaluator.features.names if name in features.terms]
    old, new = evaluator.features.terms, features.terms
    other = [n for n in shared if fingerprint(old[n]) != fingerprint(new[n])]
    if other:
        raise ValueError(
            f"expected terms as in feature set {features.name}, found other definitions of"
            f" {', '.join(other)}"
        )
    weights = evaluator.term_weights()
    return LinearEvaluator(
        evaluator.game, features, {name: weights[name] for name in shared}, name=evaluator.name
    )


def start_for(game: Game, given: Any, learner: Learner) -> Any:
    """Returns the evaluator that a learner starts from, converted to its feature set.

    `given` is a name, a file, an evaluator, or None or "zero" for none. An evaluator that is not
    linear, or that has terms that the learner lacks though the learner has others, is returned
    unchanged.
    """
    if given is None or given == "zero":
        return None
    features = _features_of(learner)
    start = as_evaluator(game, given)
    if isinstance(start, LinearEvaluator) and features is not None:
        names = set(features.names)
        used = {name for name, weight in start.term_weights().items() if weight}
        if used <= names or names <= set(start.features.names):
            return carried_over(start, features)
    return start


def new_terms(learner: Learner, usual: Learner) -> list[str]:
    """Returns the terms that a learner learns over and the usual one does not."""
    mine, theirs = _features_of(learner), _features_of(usual)
    if mine is None:
        return []
    return [name for name in mine.names if theirs is None or name not in theirs.terms]


def _features_of(learner: Learner) -> FeatureSet | None:
    """Returns the feature set that a learner reads, or None."""
    options = learner.get_params(deep=False)
    chosen = options.get("inputs", options.get("features", ""))
    if chosen is None or isinstance(chosen, str):
        sets = learner._load_game().features
        chosen = next(iter(sets.values()), None) if chosen is None else sets.get(chosen)
    return chosen if isinstance(chosen, FeatureSet) else None


@dataclass(frozen=True)
class Speeds:
    """Positions searched per second of processor time, with terms and without."""

    mine: float
    other: float

    def text(self) -> str:
        """Returns both, and the difference in per cent."""
        return (
            f"speed: {self.mine:,.0f} nodes/s with, {self.other:,.0f} without"
            f" ({round(100 * (self.mine / self.other - 1)):+d} %)"
        )


def measure_speeds(
    game: Game, mine: Evaluator, other: Evaluator, *, clock: Callable[[], float] = time.process_time
) -> Speeds:
    """Measure the search's speed with each of two evaluators, on the same openings in turns.

    For each opening the fastest of three searches counts. Takes about two seconds.
    """
    nodes = SPEED_NODES if game.rules is not None else SPEED_NODES_PLAIN
    engines = [Engine(game, evaluator, table_mib=4.0) for evaluator in (mine, other)]
    searched, seconds = [0, 0], [0.0, 0.0]
    for opening in islice(Openings(game, plies=PLIES, seed=SEED), SPEED_OPENINGS):
        position = functools.reduce(game.play, opening, game.start())
        fastest = [(0, math.inf), (0, math.inf)]
        for _ in range(SPEED_ROUNDS):
            for place, engine in enumerate(engines):
                engine.clear()
                began = clock()
                result = engine.search(position, nodes=nodes).whole()
                took = max(clock() - began, 1e-9)
                # other load on the machine only adds time
                fastest[place] = min(fastest[place], (result.nodes, took), key=lambda f: f[1])
        for place, (count, took) in enumerate(fastest):
            searched[place] += count
            seconds[place] += took
    return Speeds(*(count / took for count, took in zip(searched, seconds, strict=True)))
