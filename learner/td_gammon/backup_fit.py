"""Networks fitted to exact backups of the positions of self-play.

TD(lambda) follows single rolls, whose luck is noise. An exact backup averages over all rolls, so
that the remaining error is the network's. Fitting again and again solves Bellman's equation (fitted
value iteration, Gordon 1995), and the network grows once it has learned all it can hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame
from games.record import GameRecord
from learner.learner import Learner, Progress
from learner.models.outcome_examples import Examples
from learner.models.outcome_model import OutcomeModel
from learner.positions.packing import pack_weights, packed, unpack_weights, unpacked
from learner.td_gammon.backup import (
    MOST_DEPTH,
    backed_up,
    check_compiled,
    check_game,
    lambda_returns,
)
from learner.td_gammon.explore import Explored, explore
from learner.td_gammon.growth import can_grow, grown
from learner.td_gammon.td_gammon import find_inputs, new_network
from search import as_evaluator
from search.evaluators.network import separate
from search.evaluators.outcome_network import OutcomeNetwork
from search.expectiminimax.replies import MOST_KEPT, Prefilter
from search.lookups.database import DatabaseLookup

__all__ = ["BackupFit"]

#: Steps of the small nets of the prefilter of replies; they fall to a tenth.
_SMALL_RATE = 0.003


@dataclass(kw_only=True, eq=False, repr=False)
class BackupFit(Learner):
    """Networks for the phases of a game, fitted in rounds to their own values some plies ahead.

    A round plays games against itself, backs up their positions with the present network (see
    `learner.td_gammon.backup`), and fits the network to the backups of the last rounds.

    games, seed: see `Learner`.
    depth: plies that backups look ahead.
    inputs: inputs of the nets, as in `TDGammon`; for a start from nothing.
    hidden: widths of the hidden layers of every net; or a sequence of such widths, to which the
        nets grow one after the other without changing values (see `learner.td_gammon.growth`). A
        network to start from grows to the first of them.
    stage_rounds: rounds between two widths.
    spread: deviation of new random weights, as in `TDGammon`.
    round_games: games of a round.
    keep_rounds: number of the last rounds to learn from.
    lambda_: how far the corrections by backups are carried back in a game, 0 to 1 (see
        `lambda_returns`). With 0 positions follow their backups alone: without noise, but the end
        of a game is learned about by one ply per round. With more, an error that many positions
        share disappears sooner.
    first_plies: length of the beginning of a game in plies.
    first_share, share: shares of random moves in the beginning of a game and later.
    small_share: share of the moves that the prefilter chooses, which leads to positions that are
        nearly as good as the best.
    bear_off: whether the outcomes of positions in the bear-off databases come from there.
    candidates: number of replies that the nets value, ranked highest by the prefilter, small nets
        over the encoding alone that are fitted too; 0 for all replies.
    prefilter_units: hidden units of the small nets.
    epochs, batch, weight_decay, equity_share, device: see `learner.models.outcome_model`.
    rate, last_rate: step sizes at the beginning and the end of each round's fit; smaller while
        there are fewer than `keep_rounds` rounds to learn from.
    threads: threads of self-play and backups; results do not depend on it.
    fit_threads: threads of torch; results may depend on it.

    After `fit`: `evaluator_`, and `rounds_`, the figures of each round: `positions`; `before` and
    `after`, the root mean squared difference of equities between the network and the backups of the
    round's positions before and after the fit; `loss`.
    """

    game: Any = field(default="backgammon", kw_only=False)
    games: int = 100_000
    depth: int | None = 1
    inputs: Any = "points+expert"
    hidden: tuple[Any, ...] = (256, 64)
    stage_rounds: int = 5
    spread: float = 0.3
    round_games: int = 5000
    keep_rounds: int = 8
    lambda_: float = 0.85
    first_plies: int = 8
    first_share: float = 0.1
    share: float = 0.01
    small_share: float = 0.1
    bear_off: bool = True
    candidates: int = 6
    prefilter_units: int = 64
    epochs: int = 1
    rate: float = 0.0004
    last_rate: float = 0.00002
    batch: int = 512
    weight_decay: float = 0.0
    equity_share: float = 0.3
    device: str = "cpu"
    threads: int = 2
    fit_threads: int = 1
    workers: Any = None

    takes_dice = True

    def _check_options(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed: expected at least 0, found {self.seed}")
        if self.nodes is not None or self.depth is None or not 1 <= self.depth <= MOST_DEPTH:
            given = self.depth if self.nodes is None else f"{self.nodes} nodes"
            raise ValueError(f"depth: expected 1 to {MOST_DEPTH}, found {given}")
        for name in (
            "games", "stage_rounds", "round_games", "keep_rounds", "epochs", "batch",
            "threads", "fit_threads",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, found {getattr(self, name)}")
        if not 0 <= self.candidates <= MOST_KEPT:
            raise ValueError(f"candidates: expected 0 to {MOST_KEPT}, found {self.candidates}")
        if not 1 <= self.prefilter_units <= 4096:
            raise ValueError(f"prefilter_units: expected 1 to 4096, found {self.prefilter_units}")
        if self.first_plies < 0:
            raise ValueError(f"first_plies: expected at least 0, found {self.first_plies}")
        for name in ("lambda_", "first_share", "share", "small_share", "equity_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}: expected 0 to 1, found {getattr(self, name)}")
        for name in ("rate", "last_rate", "spread"):
            if not 0 < getattr(self, name) <= 10:
                raise ValueError(
                    f"{name}: expected more than 0 and at most 10, found {getattr(self, name)}"
                )

    def _find_stages(self, outputs: int) -> list[tuple[int, ...]]:
        """Returns the widths of the hidden layers, stage by stage.

        Raises ValueError if they do not grow.
        """
        try:
            single = all(isinstance(width, int) for width in self.hidden)
            stages = [tuple(stage) for stage in ([self.hidden] if single else self.hidden)]
        except TypeError:
            stages = []
        good = stages and all(
            stage and all(isinstance(width, int) and 1 <= width <= 4096 for width in stage)
            for stage in stages
        )
        if not good:
            raise ValueError(
                "hidden: expected widths of 1 to 4096, or a sequence of such widths, found"
                f" {self.hidden}"
            )
        for before, after in zip(stages, stages[1:], strict=False):
            if not can_grow(before, after, outputs):
                raise ValueError(
                    f"hidden: expected each stage to grow to the next, found {before} before"
                    f" {after}"
                )
        return stages

    # --- learning -----------------------------------------------------------------------------

    def prepare(self, evaluator: Any = None) -> None:
        """As in `Learner`; `evaluator` is None or an `OutcomeNetwork`, whose nets then learn on."""
        game = self._load_game()
        self._check_options()
        check_game(game)
        assert isinstance(game, DiceGame) and game.outcomes is not None
        self._stages = self._find_stages(len(game.outcomes))
        self._exact = DatabaseLookup(game, "bearoff") if self.bear_off else None
        first = self._stages[0]
        if evaluator is None:
            network = new_network(
                game, find_inputs(game, self.inputs), first, spread=self.spread, seed=self.seed
            )
        else:
            start = as_evaluator(game, evaluator)
            if not isinstance(start, OutcomeNetwork):
                raise ValueError(f"expected a network of outcomes to start from, found {start!r}")
            network = grown(start, first, seed=(self.seed, 0), spread=self.spread)
        network.name = "backupfit"
        encoding, features = separate(network.inputs)
        self._small = new_network(
            game, encoding or features, (self.prefilter_units,), spread=self.spread, seed=self.seed
        )
        self.evaluator_: OutcomeNetwork = network
        self._model()  # raises ValueError for a missing device before hours of play
        check_compiled()
        self.rounds_: list[dict[str, float]] = []
        self.games_played_ = 0
        self.updates_ = 0
        #: positions and targets of the last rounds
        self._kept: list[tuple[Examples, NDArray[np.float32]]] = []

    def identity(self) -> dict[str, Any]:
        identity = super().identity()
        del identity["threads"]
        # as JSON has it
        identity["hidden"] = [list(w) if isinstance(w, tuple) else w for w in identity["hidden"]]
        return identity

    def fit(
        self,
        evaluator: Any = None,
        *,
        resume: dict[str, Any] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> BackupFit:
        """As in `Learner`; `watch` is called after every round."""
        self.prepare(evaluator)
        if resume is not None:
            self._resume(resume)
        while self.games_played_ < self.games:
            games = min(self.round_games, self.games - self.games_played_)
            record = self._round(games)
            self.games_played_ += games
            if watch is not None:
                note = f"round {len(self.rounds_)}: "
                note += ", ".join(f"{name} {x:.6g}" for name, x in self.rounds_[-1].items())
                watch(Progress(self.games_played_, self.games, record, self.updates_, note))
        return self

    def _round(self, games: int) -> GameRecord:
        """Play, back up and fit; returns the record of the last game."""
        number = len(self.rounds_)
        self._grow(number)
        if self.candidates and number == 0:
            self._introduce_small(games)
        played = self._explore(games, seed=(self.seed, number), prefilter=self._prefilter)
        own = Examples(self.evaluator_, played.positions)
        static = self._backups(played.positions, 0)
        backups = self._backups(played.positions, self.depth or 0)
        targets = lambda_returns(self.game_, static, backups, played.follows, self.lambda_)
        self._kept = [*self._kept, (own, targets.astype(np.float32))][-self.keep_rounds :]

        examples = Examples.joined([one for one, _ in self._kept])
        labels = np.concatenate([labels for _, labels in self._kept])
        random = np.random.default_rng((self.seed, number, 12))
        model = self._model()
        before = model.equity_error(own, backups)
        # a few games hold less than the network has learned from many before
        share = len(self._kept) / self.keep_rounds
        loss = model.learn(
            examples, labels, rate=share * self.rate, last_rate=share * self.last_rate,
            epochs=self.epochs, random=random,
        )  # fmt: skip
        if self.candidates:
            self._fit_small(own, targets, random)
        after = model.equity_error(own, backups)
        self.updates_ += self.epochs * len(examples)
        self.rounds_.append({"positions": len(own), "before": before, "after": after, "loss": loss})
        return played.last

    def _explore(
        self, games: int, *, seed: tuple[int, ...], prefilter: Prefilter | None
    ) -> Explored:
        return explore(
            self.evaluator_, games, seed=seed,
            first_plies=self.first_plies, first_share=self.first_share, share=self.share,
            threads=self.threads, prefilter=prefilter,
            other=prefilter.evaluator if prefilter else None, other_share=self.small_share,
        )  # fmt: skip

    def _introduce_small(self, games: int) -> None:
        """Train the small nets to agree with the network before they become its prefilter."""
        played = self._explore(games, seed=(self.seed, 0, 13), prefilter=None)
        examples = Examples(self.evaluator_, played.positions)
        labels = self._backups(played.positions, 0)
        self._fit_small(examples, labels, np.random.default_rng((self.seed, 13)))

    def _fit_small(
        self, examples: Examples, labels: NDArray[Any], random: np.random.Generator
    ) -> None:
        """Train the small nets on the targets of a round."""
        model = OutcomeModel(self._small, threads=self.fit_threads, device=self.device)
        model.learn(
            examples.encoded(), labels, rate=_SMALL_RATE, last_rate=_SMALL_RATE / 10, random=random
        )

    @property
    def _dice_game(self) -> DiceGame:
        assert isinstance(self.game_, DiceGame)
        return self.game_

    @property
    def _prefilter(self) -> Prefilter | None:
        """Returns the prefilter of replies, or None."""
        return Prefilter(self._small, self.candidates) if self.candidates else None

    def _backups(self, positions: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
        """Returns the outcomes of positions, backed up by the present network."""
        return backed_up(
            self.evaluator_, positions, depth=depth, exact=self._exact, prefilter=self._prefilter,
            threads=self.threads,
        )  # fmt: skip

    def _model(self) -> OutcomeModel:
        return OutcomeModel(
            self.evaluator_, batch=self.batch, weight_decay=self.weight_decay,
            equity_share=self.equity_share, threads=self.fit_threads, device=self.device,
        )  # fmt: skip

    def _grow(self, rounds: int) -> None:
        """Give the network the size that belongs to the number of rounds played."""
        stage = min(rounds // self.stage_rounds, len(self._stages) - 1)
        hidden = self._stages[stage]
        if any(net.widths[1:-1] != hidden for net in self.evaluator_.nets):
            self.evaluator_ = grown(
                self.evaluator_, hidden, seed=(self.seed, stage), spread=self.spread
            )

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Returns the weights, and the positions and targets that later rounds learn from.

        Takes about 20 bytes of text for each stored position.
        """
        return {
            "weights": pack_weights(self.evaluator_),
            "small": pack_weights(self._small),
            "rounds_done": {"rounds": [dict(figures) for figures in self.rounds_]},
            "kept": {
                "sizes": [len(own) for own, _ in self._kept],
                "positions": [packed(own.positions.T, level=6) for own, _ in self._kept],
                "targets": [packed(targets) for _, targets in self._kept],
            },
        }

    def set_state(self, state: dict[str, Any]) -> None:
        rounds = [dict(figures) for figures in state["rounds_done"]["rounds"]]
        width, outputs = len(self.game_.start()), len(self.evaluator_.kinds)
        kept = []
        sizes = [int(size) for size in state["kept"]["sizes"]]
        if len(sizes) != min(len(rounds), self.keep_rounds) or any(size < 0 for size in sizes):
            raise ValueError("kept: expected the positions of the last rounds")
        for size, text, labels in zip(
            sizes, state["kept"]["positions"], state["kept"]["targets"], strict=True
        ):
            positions = unpacked(text, np.int64, size=size * width, compressed=True)
            targets = unpacked(labels, np.float32, size=size * outputs).reshape(size, outputs)
            if not ((targets >= 0) & (targets <= 1)).all():
                raise ValueError("kept: expected probabilities as targets")
            own = Examples(self.evaluator_, positions.reshape(width, size).T)
            kept.append((own, targets))
        self._grow(max(0, len(rounds) - 1))
        unpack_weights(state["weights"], self.evaluator_)
        unpack_weights(state["small"], self._small)
        self.rounds_, self._kept = rounds, kept
