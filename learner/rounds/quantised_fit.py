"""A network of small integers by self-play: generations of games, each played by the last network.

It is `learner.rounds.network_fit` with everything that makes such a network strong: games by a
selective search with a fixed number of nodes, from many openings; outcomes from the endgame
database; a network trained in the integers of its search (Nasu 2018; Jacob et al. 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learner.models.quantised_model import QuantisedModel
from learner.options import ranged
from learner.positions.shards import Rows
from learner.regression.targets import expectations
from learner.rounds.frame import RoundsLearner, scale_of
from learner.rounds.tree_rows import TreeTeacher, bounded_expectations
from learner.self_play import Teacher
from search import EXACT, Evaluator, Lookup, Techniques, as_evaluator, as_techniques
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.samples import value_mark
from search.lookups.database import DatabaseLookup, Databases

__all__ = ["QuantisedFit"]

#: The fewest nodes of a search.
FEWEST_NODES = 10
#: The step size at the end of the passes: weights hardly move any more, as small integers need.
LAST_RATE = 0.00002


@dataclass(kw_only=True, eq=False, repr=False)
class QuantisedFit(RoundsLearner):
    """A quantised network (`search.evaluators.quantised`), fitted by Adam after each round.

    The evaluator that learning starts from plays the first round and sets the unit of values; the
    network plays every later round. To resume in the first round, give the same evaluator again.

    tree_positions: maximum number of positions of a game's search trees that are learned from too,
        after the round, with the bounds that the search found for them; 0 for none. Rounds that
        still grow take none: those of small searches teach nothing.
    blend: share of the game's result in a target; the rest is the value that search backed up.
    endgame: the search uses the endgame database of positions with at most this many pieces, and
        such positions follow the database alone; 0 for none. Default: 4 if the game has endgame
        databases, else 0.
    growing: number of rounds that lead from quick games to those of `nodes`: the first has a
        sixteenth of the nodes, a quarter of `round_games` and 4 * `epochs` passes, and each of the
        three changes by the same factor with every round. 0 for rounds that are all alike.
    techniques: techniques of the search, see `search.Engine`.
    inputs, hidden, phases: as in `QuantisedModel`; a quantised network to start from may have
        coarser phases.
    epochs: passes over the positions of the last `keep_rounds` rounds after each round.
    rate: step size of Adam at the beginning of these passes; it goes linearly to `LAST_RATE`.
    batch_size: positions per step.
    device: where torch trains, as in `QuantisedModel`.

    The value that stands for an expectation of 1 / (1 + 1/e) is the one that predicts the results
    of the first round best.
    """

    games: int = 100_000
    depth: int | None = None
    nodes: int | None = 4000
    inputs: Any = "piece_squares"
    hidden: tuple[int, ...] = (256, 32, 32)
    phases: tuple[int, ...] = (9, 17)
    techniques: Any = "selective"
    endgame: int | None = None
    round_games: int = 4000
    growing: int = ranged(0, 0)
    keep_rounds: int = 8
    tree_positions: int = ranged(0, 0)
    blend: float = 0.3
    epochs: int = ranged(2, 1)
    rate: float = ranged(0.001, above=0, high=1)
    batch_size: int = ranged(2048, 1)
    device: str = "cpu"
    games_per_report: int = 256
    opening_plies: int = 6

    def _check_options(self) -> None:
        super()._check_options()
        self._techniques = as_techniques(self.techniques, self.game_)
        least = 4 if "endgame" in Databases.of(self.game_).named else 0
        self._endgame = least if self.endgame is None else self.endgame
        database = f"endgame{self._endgame}"
        self._lookup = DatabaseLookup(self.game_, database) if self._endgame else None

    def begin(self, evaluator: Any) -> None:
        super().begin(evaluator)
        self._start = as_evaluator(self.game_, evaluator)
        self._start_mark = value_mark(self.game_, self._start)
        self._fitter = self._new_model(1.0)
        if isinstance(self._start, QuantisedNetwork):
            self._fitter = self._new_model(self._start.scale, self._start)
        self.evaluator_ = self._network()

    def search_with(self) -> tuple[Lookup | None, Techniques]:
        return self._lookup, self._techniques

    def teacher_of(self, number: int) -> Teacher | None:
        if not self.tree_positions or number < self.growing:
            return None
        return TreeTeacher(self.game_, self.tree_positions)

    def player_of(self, number: int) -> Evaluator:
        return self.evaluator_ if self.rounds_ else self._start

    def games_before(self, number: int) -> int:
        few = [self._grown(self.round_games, i, 0.25) for i in range(min(number, self.growing))]
        return sum(few) + max(0, number - self.growing) * self.round_games

    def round_of(self, game: int) -> int:
        for number in range(self.growing):
            if game < self.games_before(number + 1):
                return number
        return self.growing + super().round_of(game - self.games_before(self.growing))

    def nodes_of(self, number: int) -> int | None:
        return self.nodes and self._grown(self.nodes, number, 0.0625, FEWEST_NODES)

    def _grown(self, full: int, number: int, first: float, least: int = 1) -> int:
        """Returns a growing size in round `number`, from the share `first` to `full`."""
        left = max(0, self.growing - number) / max(1, self.growing)
        grown: int = round(full * first**left)
        return max(min(full, least), grown)

    def _new_model(self, scale: float, start: QuantisedNetwork | None = None) -> QuantisedModel:
        return QuantisedModel(
            self.game_,
            self.inputs,
            tuple(self.hidden),
            phases=tuple(self.phases),
            scale=scale,
            seed=self.seed,
            size=self.batch_size,
            start=start,
            device=self.device,
        )

    def fit_rows(self, rows: Rows) -> dict[str, Any]:
        model, number = self._fitter, self.round_of(self.games_played_ - 1)
        epochs = self._grown(self.epochs, number, 4.0)
        if not self.rounds_ and not isinstance(self._start, QuantisedNetwork):
            model.scale = 1.0 / (scale_of(rows) or 1.0)
        blended, searched = (
            expectations(rows.value, rows.result, scale=1.0 / model.scale, blend=blend)
            for blend in (self.blend, 0.0)
        )
        pieces = (model.inputs.active_rows(rows.positions) < len(model.inputs)).sum(axis=1)
        targets = np.where(pieces <= self._endgame, searched, blended)
        bounded = rows.bound != EXACT
        if bounded.any():
            targets[bounded] = bounded_expectations(
                rows.take(bounded), self.player_of(number), 1.0 / model.scale
            )
        exact = ~bounded
        before = model.error(rows.positions[exact], targets[exact])
        model.fit(
            rows.positions,
            targets,
            random=np.random.default_rng((self.seed, len(self.rounds_))),
            epochs=epochs,
            rate=self.rate,
            last_rate=LAST_RATE,
        )
        self.evaluator_ = self._network()
        return {
            "positions": float(len(rows)),
            "scale": model.scale,
            "before": before,
            "loss": model.error(rows.positions[exact], targets[exact]),
        }

    def _network(self) -> QuantisedNetwork:
        """Returns the network as it is now."""
        return self._fitter.evaluator(name="quantisedfit")  # type: ignore[no-any-return]

    def _get_state(self) -> dict[str, Any]:
        return {
            **super()._get_state(),
            "start": self._start_mark,
            "scale": self._fitter.scale,
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        self._start_mark = str(state["start"])
        self._fitter.scale = float(state["scale"])
        super()._set_state(state)
        self.evaluator_ = self._network()

    def check_goes_on(self, state: dict[str, Any]) -> None:
        if state.get("rounds_done") == [] and state.get("start") != self._start_mark:
            raise ValueError(
                "start: expected the evaluator that learning began with, which still plays the"
                f" games (mark {state.get('start')}), found one with mark {self._start_mark}"
            )
