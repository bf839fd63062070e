"""Equity lost per decision, as a referee values a player's moves and its own.

The positions come from games. Each turn with more than one legal move is a decision; its loss is
the value of the referee's move minus that of the move chosen, both by the referee: a deep search,
another evaluator, or GNU Backgammon. It distinguishes players in far fewer games than points do,
because every decision counts and no dice add noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame
from games.record import GameRecord
from play.dice import Dice
from play.judging.decision import decision
from play.matches.loop import play_with_dice
from play.players.limits import STATIC, Limits
from play.players.player import Player, needs_processes
from play.players.seats import Seat
from play.ratings.ratios import ratio_interval
from play.ratings.statistics import Estimate, Figured
from play.workers import Workers
from play.workers.crew import Crew, done
from programs.arguments import THREADS
from programs.phrases import counted

__all__ = ["EquityLoss", "check_referee", "equity_loss", "sample_games"]


@dataclass(frozen=True)
class EquityLoss(Figured):
    """The equity that a player lost; intervals are 95 % intervals over games.

    loss: points per decision.
    agreement: share of decisions that lose nothing.
    """

    called = {"name": "player"}
    name: str
    referee: str
    games: int
    decisions: int
    loss: Estimate
    agreement: Estimate

    def text(self) -> str:
        """One line, without a newline at its end."""
        lost = Estimate(*(1000 * end for end in (self.loss.value, self.loss.low, self.loss.high)))
        return (
            f"{self.name} loses {lost.text('.2f')} millipoints a decision, agrees on"
            f" {self.agreement.text('.1%')}; {counted(self.decisions, 'decision')} of"
            f" {counted(self.games, 'game')}"
        )


def sample_games(
    game: DiceGame,
    player: Player,
    *,
    limits: Limits = STATIC,
    games: int = 100,
    seed: int = 0,
    threads: int = THREADS,
    workers: Workers | None = None,
) -> list[GameRecord]:
    """Games of a player against itself, game i with the dice of pair i."""
    if games < 1:
        raise ValueError(f"games: expected at least 1, found {games}")
    limits.check(game)
    Dice(game, seed)
    task = _SelfPlay(game, player, limits, seed)
    return done(
        task, range(games), threads=threads, workers=workers, processes=needs_processes(player)
    )


def equity_loss(
    game: DiceGame,
    player: Player,
    referee: Player,
    records: Sequence[GameRecord],
    *,
    limits: Limits = STATIC,
    referee_limits: Limits = STATIC,
    threads: int = THREADS,
    workers: Workers | None = None,
    progress: Callable[[], None] | None = None,
) -> EquityLoss:
    """Compare a player's choices with the referee's in every decision of some games.

    records: the games.
    limits: limits of the player's moves, unless it has its own; depths are GNU plies.
    referee_limits: limits of the referee's searches.
    threads, workers: as in `play_match`.
    progress: called after each game.

    Raises ValueError if the referee gives no values (as `random`) or no game has a decision.
    """
    limits.check(game)
    referee_limits.check(game)
    check_referee(game, referee)
    task = _Losses(game, player, referee, limits, referee_limits)
    losses = done(
        task, records, threads=threads, workers=workers,
        processes=needs_processes(player, referee), progress=progress,
    )  # fmt: skip
    sums = np.array([loss.sum() for loss in losses])
    agreed = np.array([(loss == 0).sum() for loss in losses], dtype=np.float64)
    counts = np.array([len(loss) for loss in losses], dtype=np.float64)
    if not counts.sum():
        raise ValueError(
            f"records: expected games with decisions, but none of {len(records)} has one"
        )
    return EquityLoss(
        player.name,
        referee.name,
        len(records),
        int(counts.sum()),
        ratio_interval(sums, counts),
        ratio_interval(agreed, counts, most=1.0),
    )


def check_referee(game: DiceGame, referee: Player) -> None:
    """Raises ValueError if a player gives no values of positions."""
    if referee.random or not hasattr(referee.seat(game, STATIC), "value_of"):
        raise ValueError(
            "referee: expected an evaluator or gnubg:PLIES, which give values, found"
            f" {referee.name}"
        )


class _SelfPlay(Crew[tuple[Seat, ...]]):
    """Games of a player against itself, by the numbers of their dice."""

    def __init__(self, game: DiceGame, player: Player, limits: Limits, seed: int) -> None:
        super().__init__(game, player, limits, seed)
        self.game, self.player, self.limits = game, player, limits
        self.dice = Dice(game, seed)

    def new_seats(self) -> tuple[Seat, ...]:
        """Two seats of the player."""
        return tuple(self.player.seat(self.game, self.limits) for _ in range(2))

    def __call__(self, number: int) -> GameRecord:
        names = (self.player.name, self.player.name)
        with self.seats() as seats:
            record = GameRecord(self.game, repetitions=None, quiet_moves=None)
            stream = self.dice.stream(number)
            return play_with_dice(
                record, seats, self.dice, stream, names=names, stopped=self.stopped
            )


class _Losses(Crew[tuple[Any, ...]]):
    """The losses of a game's decisions, by the referee."""

    def __init__(
        self,
        game: DiceGame,
        player: Player,
        referee: Player,
        limits: Limits,
        referee_limits: Limits,
    ) -> None:
        super().__init__(game, player, referee, limits, referee_limits)
        self.game = game
        self.judged = (player, limits), (referee, referee_limits)

    def new_seats(self) -> tuple[Any, ...]:
        """Returns the seats of the player and of the referee."""
        return tuple(player.seat(self.game, limits) for player, limits in self.judged)

    def __call__(self, record: GameRecord) -> NDArray[np.float64]:
        """Returns the loss of each decision of a game, in points."""
        game, losses = self.game, []
        with self.seats() as (judged, judge):
            judged.begin(0, 0)
            judge.begin(0, 0)
            for position, roll in zip(record.positions[:-1], record.rolls, strict=True):
                if self.stopped.is_set():
                    break
                if len(game.legal_moves(position, roll)) > 1:
                    chosen, best = judged.choose(position, roll), judge.choose(position, roll)
                    losses.append(_lost(game, judge, position, chosen, best))
        return np.array(losses, dtype=np.float64)


def _lost(game: DiceGame, judge: Any, position: Any, chosen: Any, best: Any) -> float:
    if chosen == best:
        return 0.0
    values = {move: -float(judge.value_of(game.play(position, move))) for move in (chosen, best)}
    # a referee that does not search every move may value the chosen one higher
    return decision(game, chosen, values).loss
