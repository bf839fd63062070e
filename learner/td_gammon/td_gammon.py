"""TD-Gammon: networks that learn a game with dice by playing it against themselves.

Tesauro (1992, 1995) let a network follow its own later values, TD(lambda), over hundreds of
thousands of games, starting from random weights. Here playing and learning are native code
(`learner.td_gammon.td_play`); a game is learned from backwards at its end.
"""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from learner.frame import Progress
from learner.game_learner import GameLearner
from learner.models.schedule import Schedule
from learner.options import Range, ranged
from learner.positions.packing import arrays_of, pack_weights, unpack_weights
from learner.td_gammon.backup import WITH_OUTCOMES, check_compiled
from learner.td_gammon.table import recorded
from learner.td_gammon.td_play import ActorLearner
from search import as_evaluator
from search.evaluators.files.header import describe_input
from search.evaluators.files.layers import separate
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import MOST_KEPT, Prefilter

__all__ = ["SPREAD", "TDGammon", "check_widths", "find_inputs", "new_network"]

#: Deviation of the first random weights, in units of that of He et al. (2015): outputs begin even.
SPREAD = 0.3
#: Step size of the last layer as a share of that of the others: all its units share its errors.
_OUTPUT_RATE = 0.3
#: Hidden units of the small nets that prefilter: with more, filtering saves less time.
_SMALL_UNITS = 32
#: In this many first games all replies are valued, because the small nets know nothing yet.
_UNFILTERED = 1000


@dataclass(kw_only=True, eq=False, repr=False)
class TDGammon(GameLearner):
    """Networks for the phases of a game, trained by TD(lambda) in self-play at GNU's 0-ply.

    games, seed: see `GameLearner`.
    inputs: inputs of the nets: an encoding or a feature set, both as (encoding, features), or their
        names as NAME or NAME+NAME.
    hidden: widths of the hidden layers of every net.
    rate, last_rate: step sizes of gradient descent at the beginning and at the end; between them
        the step size falls by the same factor with every game.
    lambda_: the lambda of TD(lambda), 0 to 1.
    tables: number of games played at a time. Each has weights of its own for `round_games` games;
        then the changes of the weights are added up, in a fixed order, so that results depend only
        on the seed and this number.
    round_games: games that each plays between two of these sums.
    candidates: number of replies that the nets value, ranked highest by the prefilter, small nets
        over the encoding alone that learn too; 0 for all replies and no prefilter.
    games_per_report: games between two reports.

    After `fit`: `evaluator_`, and `errors_` (mean squared error of the outputs, by report).
    """

    game: Any = field(default="backgammon", kw_only=False)
    games: int = 500_000
    depth: int | None = None
    inputs: Any = "points+expert"
    hidden: tuple[int, ...] = (256,)
    rate: float = ranged(0.06, above=0, high=10)
    last_rate: float = ranged(0.003, above=0, high=10)
    lambda_: float = ranged(0.5, 0, 1)
    tables: int = ranged(2, 1, 256)
    round_games: int = ranged(20, 1, 1_000_000)
    candidates: int = ranged(8, 0, MOST_KEPT)
    games_per_report: int = ranged(1000, 1, 10_000_000)

    evaluator_: OutcomeNetwork = field(init=False)
    network_: OutcomeNetwork = field(init=False)

    kinds = (WITH_OUTCOMES,)

    def _check_limits(self) -> None:
        check_widths(self.hidden)
        if self.depth not in (None, 0) or self.nodes is not None:
            raise ValueError(
                "depth: expected 0 (moves are chosen by static values), found"
                f" {self.depth if self.nodes is None else f'{self.nodes} nodes'}"
            )

    # --- learning -----------------------------------------------------------------------------

    def begin(self, evaluator: Any) -> None:
        """`evaluator` is None or an `OutcomeNetwork`, whose nets then learn on."""
        game = self.game_
        check_compiled()
        if evaluator is None:
            inputs = find_inputs(game, self.inputs)
            self.network_ = new_network(game, inputs, self.hidden, spread=SPREAD, seed=self.seed)
        else:
            start = as_evaluator(game, evaluator)
            if not isinstance(start, OutcomeNetwork):
                raise ValueError(f"expected a network of outcomes to start from, found {start!r}")
            self.network_ = start.copy()
        self.network_.name = "tdgammon"
        self.evaluator_ = self.network_
        self._learning = [self.network_]
        if self.candidates:
            encoding, features = separate(self.network_.inputs)
            units = (_SMALL_UNITS,)
            self._learning.append(
                new_network(game, encoding or features, units, spread=SPREAD, seed=self.seed)
            )
        self._actors = [self._actor(number) for number in range(self.tables)]
        self.errors_: list[float] = []

    def _actor(self, number: int) -> ActorLearner:
        network, *small = (one.copy() for one in self._learning)
        prefilter = Prefilter(small[0], self.candidates) if small else None
        return ActorLearner(network, seed=(self.seed, number), prefilter=prefilter)

    def learn(self) -> Generator[Progress, None, None]:
        with ThreadPoolExecutor(self.tables) as threads:
            while self.games_played_ < self.games:
                error, before = 0.0, self.updates_
                due = min(self.games, self.games_played_ + self.games_per_report)
                while self.games_played_ < due:
                    error += self._round(threads, due - self.games_played_)
                outputs = (self.updates_ - before) * len(self.network_.kinds)
                self.errors_.append(error / max(1, outputs))
                game: Any = self.game_
                record = recorded(game, *self._actors[0].last_game())
                yield self.progress(record, {"loss": self.errors_[-1]})

    def _round(self, threads: ThreadPoolExecutor, most: int) -> float:
        """Play with all actors with the same weights, and add up the changes of weights.

        Returns the sum of squared errors. Raises ValueError if weights become NaN or infinite.
        """
        base, extra = divmod(min(most, self.tables * self.round_games), self.tables)
        rates = Schedule.between(self.rate, self.last_rate, "geometric")
        rate = rates.at(self.games_played_, self.games)

        def play(number: int) -> float:
            actor = self._actors[number]
            for own, common in zip(_arrays(actor.networks), _arrays(self._learning), strict=True):
                own[...] = common
            return actor.play(
                base + (number < extra), rate=rate, last_rate=_OUTPUT_RATE * rate,
                lambda_=self.lambda_, prefilter=self.games_played_ >= _UNFILTERED,
            )  # fmt: skip

        errors = list(threads.map(play, range(self.tables)))
        count = base * self.tables + extra
        for common, *own in zip(
            _arrays(self._learning), *(_arrays(actor.networks) for actor in self._actors),
            strict=True,
        ):  # fmt: skip
            before = common.copy()
            for changed in own:
                common += changed - before
            if not np.isfinite(common).all():
                raise ValueError(
                    f"rate: expected weights that stay finite, found NaN or infinity after"
                    f" {self.games_played_ + count} games (rate {rate:.3g}); a term of the inputs"
                    " may be no finite number"
                )
        self.games_played_ += count
        self.updates_ = sum(actor.updates for actor in self._actors)
        return sum(errors)

    # --- state --------------------------------------------------------------------------------

    def identity(self) -> dict[str, Any]:
        inputs = self.inputs
        if not isinstance(inputs, str):
            inputs = "+".join(part.name for part in separate(inputs) if part)
        return {**super().identity(), "inputs": inputs}

    def _described(self) -> list[list[dict[str, Any]]]:
        """Returns descriptions of the inputs of each net, to which the weights belong."""
        return [
            [describe_input(self.game_, part) for part in separate(net.inputs) if part]
            for net in self.network_.nets
        ]

    def _get_state(self) -> dict[str, Any]:
        return {
            "inputs": self._described(),
            "weights": pack_weights(self.network_),
            "small": [pack_weights(network) for network in self._learning[1:]],
            "tables": [actor.get_state() for actor in self._actors],
            "errors": {"mean": list(self.errors_)},
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        if state["inputs"] != self._described():
            raise ValueError(f"inputs: expected terms and places of {self.inputs} as they are now")
        unpack_weights(state["weights"], self.network_)
        for text, network in zip(state["small"], self._learning[1:], strict=True):
            unpack_weights(text, network)
        for actor, saved in zip(self._actors, state["tables"], strict=True):
            actor.set_state(saved)
        self.errors_ = [float(error) for error in state["errors"]["mean"]]


def _arrays(networks: list[OutcomeNetwork]) -> list[Any]:
    return [array for network in networks for array in arrays_of(network)]


def check_widths(hidden: Any) -> None:
    """Raise ValueError unless these are widths of hidden layers."""
    one = Range(1, 4096)
    whole = isinstance(hidden, tuple | list) and all(type(width) is int for width in hidden)
    if not (hidden and whole and all(width in one for width in hidden)):
        raise ValueError(f"hidden: expected widths of {one}, found {hidden}")


def find_inputs(game: Any, inputs: Any) -> Any:
    """Returns the encoding, the feature set or the pair of both that NAME or NAME+NAME names.

    Raises ValueError for unknown names.
    """
    if not isinstance(inputs, str):
        separate(inputs)
        return inputs
    inputs_by_name = {**game.encodings, **game.features}
    names = inputs.split("+")
    encodings = [game.encodings[name] for name in names if name in game.encodings]
    features = [game.features[n] for n in names if n in game.features and n not in game.encodings]
    parts = [*encodings, *features]
    if len(parts) != len(names) or len(encodings) > 1 or len(features) > 1:
        raise ValueError(
            f"inputs: expected an encoding ({', '.join(game.encodings) or 'none'}), a feature set"
            f" ({', '.join(game.features) or 'none'}) or ENCODING+FEATURES of {game.name}, found"
            f" {inputs!r} (known: {', '.join(inputs_by_name) or 'none'})"
        )
    return parts[0] if len(parts) == 1 else tuple(parts)


def new_network(
    game: Any, inputs: Any, hidden: tuple[int, ...], *, spread: float, seed: int
) -> OutcomeNetwork:
    """Returns a network with random hidden units that gives every outcome the same probability.

    It has a net for each phase. First weights are normal with `spread` times the deviation of He et
    al. (2015), for as many inputs as are not 0 in a position at the start of the game.
    """
    nets = []
    encoding, features = separate(inputs)
    busy = (encoding.most if encoding else 0) + (len(features) if features else 0)
    width = sum(len(part) for part in (encoding, features) if part)
    for phase in range(1 if game.phases is None else len(game.phases)):
        random = np.random.default_rng((seed, phase, 7))
        deviation = spread * np.sqrt(2.0 / busy)
        layers = [(random.normal(0.0, deviation, (width, hidden[0])), np.zeros(hidden[0]))]
        for before, after in zip(hidden, hidden[1:], strict=False):
            layers.append(
                (random.normal(0.0, np.sqrt(2.0 / before), (before, after)), np.zeros(after))
            )
        outputs = len(game.outcomes)
        layers.append((np.zeros((hidden[-1], outputs)), np.zeros(outputs)))
        nets.append((inputs, layers))
    return OutcomeNetwork(game, nets, name="tdgammon")
