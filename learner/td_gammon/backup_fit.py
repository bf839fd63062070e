"""A network fitted to exact backups of the positions of its own games.

TD(lambda) follows single rolls, whose luck is noise. An exact backup averages over all rolls, so
that the remaining error is the network's. Fitting again and again solves Bellman's equation (fitted
value iteration, Gordon 1995). One optimiser and one falling rate serve the whole run.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from games.record import GameRecord
from learner.frame import Learner, Progress, last_round
from learner.game_learner import GameLearner
from learner.models.outcome_model import PRECISIONS, OutcomeModel
from learner.models.schedule import Schedule
from learner.models.torch_model import threads_of_torch
from learner.options import Choice, choice, ranged
from learner.positions.kinds import RareKinds
from learner.positions.packing import pack_weights, unpack_weights
from learner.positions.store import own_folder
from learner.td_gammon.backup import WITH_OUTCOMES, Backups, check_compiled, lambda_returns
from learner.td_gammon.backup_store import BackupStore
from learner.td_gammon.table import GreedyPlay, PlayedPositions
from learner.td_gammon.td_gammon import SPREAD, check_widths, find_inputs, new_network
from programs.arguments import THREADS
from search import as_evaluator
from search.evaluators.evaluator import MOST_KEPT, Prefilter
from search.evaluators.files.layers import separate
from search.evaluators.outcome_network import OutcomeNetwork
from search.lookups.database import DatabaseLookup

__all__ = ["BackupFit", "composed", "single"]

#: Numbers of tables that play at a time, and of games that each does: enough that torch values many
#: positions together. The games depend on them.
_TABLES, _AT_ONCE = 2, 64
#: Length of the beginning of a game in plies, and the shares of random moves there and later: games
#: differ, and the plays that few would choose are seen too.
_FIRST_PLIES, _FIRST_SHARE, _SHARE = 12, 0.12, 0.02
#: Share of the games that begin with a position of earlier rounds, drawn in equal parts from the
#: kinds that the game distinguishes: back games and the like are rare in games from the start.
_RARE_SHARE = 0.5
#: The prefilter: hidden units of the small net, and how far below its best reply another may lie to
#: be valued, in points.
_SMALL_UNITS, _MARGIN = 64, 0.2
#: Steps of the small net of the prefilter; they fall to a tenth.
_SMALL_RATE = 0.003
#: See `learner.models.outcome_model`: about the last thousand steps are averaged, and the equity
#: counts in addition to the outcomes, because moves are chosen by it.
_AVERAGING, _EQUITY_SHARE = 0.999, 0.3
#: The small net does not filter in the first round, from which it then learns so many times.
_INTRODUCTIONS = 12
#: In the first steps the rate rises, because Adam knows little of the gradients yet and would undo
#: what the network brings.
_RISING = 300


@dataclass(kw_only=True, eq=False, repr=False)
class BackupFit(GameLearner):
    """A network for a game with dice, fitted in rounds to its own values one ply ahead.

    A round plays many games at a time with the newest network, from the start of the game and from
    positions of kinds that are rare, backs up every position over all rolls (see
    `learner.td_gammon.table`), and takes steps towards the backups of the positions of this round
    and of those before. One Adam (Kingma and Ba 2015) takes the steps of the whole run, and plays
    with the average of its weights.

    games, seed: see `GameLearner`.
    depth: plies that backups look ahead: 1.
    inputs, hidden: inputs of the net, as in `TDGammon`, and widths of its hidden layers: for a
        start from nothing. Of the nets of a network to start from the first learns, for all phases
        but those that the databases value (see `RareKinds`).
    phase: name of the phase of the game whose net alone learns, from positions of this phase; the
        network to start from values all others, and its other nets stay as they are. Not one that
        the databases value. Empty: none.
    round_games: games of a round.
    bear_off: whether the outcomes of positions in the bear-off databases come from there; then a
        game ends there.
    candidates: greatest number of replies that the net values, those that the prefilter ranks
        highest: that of the network to start from, or a small net over the encoding alone that
        learns too; with 0 it values all.
    lambda_: how far the corrections by backups are carried back in a game, 0 to 1 (see
        `lambda_returns`). With more, an error that many positions share disappears sooner. A
        position follows the mean of this return and of its backup, which is without noise and puts
        the moves of a decision in order. A position of a kind with long plans, in a
        game that began in one, follows the luck-adjusted result instead, except with 0.
    samples: number of times that a position is learned from on average.
    most_positions: number of positions that are learned from, the last ones.
    rate, last_rate: step sizes at the beginning and the end of the run.
    batch_size, precision, device: see `learner.models.outcome_model`.
    threads: threads of self-play; results do not depend on it.
    fit_threads: threads of torch; results may depend on it.
    store: folder of the positions (default: a temporary one).

    After `fit`: `evaluator_`, and `rounds_`, the figures of each round: `positions`; `error`, the
    root mean squared difference between the equities of its positions and their backups, both by
    the network before the round; `loss`, the mean of the steps.
    """

    game: Any = field(default="backgammon", kw_only=False)
    games: int = 300_000
    depth: int | None = 1
    inputs: Any = "points+expert"
    hidden: tuple[int, ...] = (512, 512, 256, 128)
    phase: str = ""
    round_games: int = ranged(1000, 1)
    bear_off: bool = True
    candidates: int = ranged(6, 0, MOST_KEPT)
    lambda_: float = ranged(0.9, 0, 1)
    samples: float = ranged(16.0, above=0, high=1000)
    most_positions: int = ranged(12_000_000, 1)
    rate: float = ranged(0.0004, above=0, high=10)
    last_rate: float = ranged(0.000004, above=0, high=10)
    batch_size: int = ranged(1024, 1)
    precision: str = choice("float32", PRECISIONS)
    device: str = "cpu"
    threads: int = ranged(THREADS, 1)
    fit_threads: int = ranged(1, 1)
    store: Any = None

    kinds = (WITH_OUTCOMES,)
    free: ClassVar[frozenset[str]] = Learner.free | {"threads"}

    def _check_limits(self) -> None:
        check_widths(self.hidden)
        if self.nodes is not None or self.depth != 1:
            given = self.depth if self.nodes is None else f"{self.nodes} nodes"
            raise ValueError(f"depth: expected 1 (backups look one ply ahead), found {given}")
        if self.phase:
            valued = RareKinds.of(self.game_).valued if self.bear_off else ()
            learn = tuple(name for name in self._names() if name not in valued)
            Choice(learn or ("none",)).check("phase", self.phase)

    # --- learning -----------------------------------------------------------------------------

    def begin(self, evaluator: Any) -> None:
        """`evaluator` is None or an `OutcomeNetwork`, whose net then learns on."""
        game = self.game_
        self._exact = DatabaseLookup(game, "bearoff") if self.bear_off else None
        self._phases: tuple[str, ...] = ()
        if evaluator is None:
            if self.phase:
                raise ValueError(f"phase: expected a network to start from, found {self.phase!r}")
            self._start: OutcomeNetwork | None = None
            inputs = find_inputs(game, self.inputs)
            net = new_network(game, inputs, tuple(self.hidden), spread=SPREAD, seed=self.seed)
            self._net = single(net)
        else:
            evaluator = start = as_evaluator(game, evaluator)
            if not isinstance(start, OutcomeNetwork):
                raise ValueError(f"expected a network of outcomes to start from, found {start!r}")
            self._start = start.copy()
            names = self._names()
            if self.phase:
                self._phases = tuple(name for name in names if name != self.phase)
            elif self.bear_off:
                self._phases = RareKinds.of(game).valued
            self._net = single(self._start, names.index(self.phase) if self.phase else 0)
        self._net.name = "backupfit"
        encoding, features = separate(self._net.inputs)
        self._small = single(
            new_network(
                game, encoding or features, (_SMALL_UNITS,), spread=SPREAD,
                seed=self.seed,
            )
        )  # fmt: skip
        given = getattr(evaluator, "prefilter", None)
        self._ranking: Any = given.evaluator if given else self._small
        # raises ValueError for a missing device before hours of play
        self._model = self._new_model(averaging=_AVERAGING)
        #: the average, which plays
        self._player = self._new_model()
        check_compiled()
        self._kept = BackupStore(own_folder(self, self.store), game, self.most_positions)
        self._compose()
        self.rounds_: list[dict[str, float]] = []

    def _new_model(self, averaging: float = 0.0) -> OutcomeModel:
        return OutcomeModel(
            self._net, batch_size=self.batch_size, equity_share=_EQUITY_SHARE, averaging=averaging,
            precision=self.precision, threads=self.fit_threads, device=self.device,
        )  # fmt: skip

    def _compose(self) -> None:
        """Make `evaluator_` of the average of the weights and the nets that are kept."""
        self.evaluator_: OutcomeNetwork = composed(self._net, self._start, self._phases)

    def learn(self) -> Generator[Progress, None, None]:
        """As in `Learner`; yields after every round."""
        if not self.games_played_ and self._kept.found():
            raise ValueError(f"store: expected an empty folder, found {self._kept.found()} rounds")
        # set here, and for good, so that tables in threads find it set
        with threads_of_torch(self.fit_threads), ThreadPoolExecutor(self.threads) as threads:
            while self.games_played_ < self.games:
                games = min(self.round_games, self.games - self.games_played_)
                record = self._round(games, threads)
                yield self.progress(record, last_round(self.rounds_))

    def _round(self, games: int, threads: ThreadPoolExecutor) -> GameRecord:
        """Play, back up and fit; returns the record of the last game."""
        number = len(self.rounds_)
        played = self._play(games, threads)
        near, far = (
            lambda_returns(self.game_, played.static, played.backups, played.follows, lambda_)
            for lambda_ in (self.lambda_, 1.0)
        )
        long = played.calm & RareKinds.of(self.game_).are_long(played.positions)
        targets = np.where(long[:, None], far, (near + played.backups) / 2.0)
        mine = self._are_mine(played.positions)
        self._kept.add(played.positions[mine], targets[mine])
        random = np.random.default_rng((self.seed, number, 12))
        steps = max(1, round(self.samples * int(mine.sum()) / self.batch_size))
        loss = self._learn(games, steps, random) if self._kept.added else 0.0
        if self.candidates and self._ranking is self._small:
            model = OutcomeModel(self._small, threads=self.fit_threads, device=self.device)
            model.learn(
                played.positions, played.backups, rate=_SMALL_RATE, last_rate=_SMALL_RATE / 10,
                epochs=1 if number else _INTRODUCTIONS, random=random,
            )  # fmt: skip
        self._model.write()
        self._player.read()
        self._compose()
        assert self.game_.outcomes is not None
        error = (
            self.game_.outcomes.values(played.static - played.backups) - self.game_.outcomes.base
        )
        self.rounds_.append(
            {"positions": len(played), "error": float(np.sqrt(np.mean(error**2))), "loss": loss}
        )
        self.games_played_ += games
        return played.last

    def _play(self, games: int, threads: ThreadPoolExecutor) -> PlayedPositions:
        """Play the games of a round, in shares that all tables get."""
        random = np.random.default_rng((self.seed, len(self.rounds_), 14))
        starts = np.tile(np.array(self.game_.start(), dtype=np.int64), (games, 1))
        rare = self._kept.of_all_kinds(int(_RARE_SHARE * games), random)
        calm = np.zeros(games, dtype=bool)
        if RareKinds.of(self.game_).kinds is not None and len(rare):
            starts[: len(rare)] = rare
            starts = starts[random.permutation(games)]
            calm |= (self.lambda_ > 0) & RareKinds.of(self.game_).are_long(starts)

        def play(table: int) -> PlayedPositions:
            own = np.random.default_rng((self.seed, len(self.rounds_), table, 15))
            return self._table().play(starts[table::_TABLES], own, calm[table::_TABLES])

        return PlayedPositions.joined(list(threads.map(play, range(min(games, _TABLES)))))

    def _table(self) -> GreedyPlay:
        prefilter = None
        if self.candidates and (self.rounds_ or self._ranking is not self._small):
            prefilter = Prefilter(self._ranking, self.candidates, _MARGIN)
        backups = Backups(self.game_, self._values, exact=self._exact, prefilter=prefilter)
        return GreedyPlay(
            backups, at_once=_AT_ONCE, first_plies=_FIRST_PLIES,
            first_share=_FIRST_SHARE, share=_SHARE,
        )  # fmt: skip

    def _values(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        chances, mine = self._player.probabilities(positions), self._are_mine(positions)
        if not mine.all():
            assert self._start is not None
            chances[~mine] = self._start.outcomes(positions[~mine])
        return chances

    def _are_mine(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns whether positions are of the phase that learns, [positions]."""
        phases = self.game_.phases
        if not self.phase or phases is None:
            return np.ones(len(positions), dtype=bool)
        return np.asarray(phases.of(positions) == phases.names.index(self.phase))

    def _names(self) -> tuple[str, ...]:
        """Returns the names of the phases of the game."""
        return self.game_.phases.names if self.game_.phases is not None else ()

    def _learn(self, games: int, steps: int, random: np.random.Generator) -> float:
        """Take the steps of a round of games; returns the mean loss."""
        rates = Schedule.between(self.rate, self.last_rate, "geometric")
        total = 0.0
        for step in range(steps):
            done = (self.games_played_ + games * step / steps) / self.games
            positions, targets = self._kept.draw(self.batch_size, random)
            rate = rates.at(done, 1.0) * min(1.0, (self.updates_ / self.batch_size + 1.0) / _RISING)
            total += self._model.step(positions, targets, rate)
            self.updates_ += self.batch_size
        return total / steps

    # --- state --------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        """Returns the state of the nets, and the numbers of positions of the rounds.

        The positions themselves are in `store`.
        """
        return {
            "net": self._model.get_state(),
            "small": pack_weights(self._small),
            "start": pack_weights(self._start) if self._start and self._phases else "",
            "rounds_done": {"rounds": [dict(figures) for figures in self.rounds_]},
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        rounds = [dict(figures) for figures in state["rounds_done"]["rounds"]]
        self._model.set_state(state["net"])
        unpack_weights(state["small"], self._small)
        if self._start is not None and self._phases:
            unpack_weights(state["start"], self._start)
        self._kept.load([int(figures["positions"]) for figures in rounds])
        self._model.write()
        self._player.read()
        self._compose()
        self.rounds_ = rounds


def single(network: OutcomeNetwork, phase: int = 0) -> OutcomeNetwork:
    """Returns a network whose only net, for all phases, is another's net for a phase."""
    net = network.nets[phase if len(network.nets) > 1 else 0]
    return OutcomeNetwork(network.game, [(net.inputs, net.layers)], name=network.name)


def composed(
    network: OutcomeNetwork, others: OutcomeNetwork | None, phases: Sequence[str]
) -> OutcomeNetwork:
    """Returns a network with a net of its own for some phases of the game.

    network: has one net, for all phases but `phases`.
    others: has the nets of `phases`.
    phases: names of phases of the game; with none the result is a copy of `network`.
    """
    if not phases:
        return network.copy()
    assert others is not None and network.game.phases is not None
    nets: list[Any] = []
    for number, name in enumerate(network.game.phases.names):
        source = others if name in phases else network
        net = source.nets[number if len(source.nets) > 1 else 0]
        nets.append((net.inputs, net.layers))
    return OutcomeNetwork(network.game, nets, name=network.name)
