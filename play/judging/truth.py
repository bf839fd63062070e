"""Quality by truth: whole games, and single moves, that keep a position's class.

In a solved game every legal move has an exact value. A decision is a position in which some moves
keep its class (won, drawn, lost) and others throw it away. The share of decisions in which a
player's move keeps the class needs no opponent and no games, and distinguishes players whom matches
do not. In a whole game each of many decisions must keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from games.contract import Game
from games.extras import Extra
from games.record import GameRecord
from games.truth import Truth
from play.judging.decision import decision
from play.matches.openings import random_line
from play.players.limits import Limits
from play.players.player import Player
from play.ratings.ratios import ratio_interval
from play.ratings.statistics import Estimate, Figured, mean_interval
from play.workers.crew import Crew, done
from programs.arguments import THREADS

__all__ = [
    "Kept",
    "KeptGames",
    "Referees",
    "Verdicts",
    "judge_by_games",
    "judge_by_truth",
    "known_referee",
    "known_values",
    "random_positions",
]


#: Greatest number of random plies at the start of a whole game.
RANDOM = 8
#: Chance that the opponent in a whole game errs, at each turn where it can, until it has.
ERRS = 0.2
#: The last number of the seeds of whole games, which no learner's seeds have.
STREAM = 7


@dataclass(frozen=True)
class Referees(Extra):
    """The referees that know exact values of a game's moves, an extra.

    named: by name, functions that make a `games.truth.Truth` of the game.
    """

    named: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept(Figured):
    """The quality of a player by truth; intervals are 95 % intervals over positions.

    positions: number of positions with more than one legal move.
    decisions: number of these in which the class depends on the move.
    kept: share of the decisions in which the move keeps the class.
    loss: value of the best move minus that of the player's, over all positions, by the referee.
    unit: the unit of the loss.
    """

    called = {"name": "player"}
    name: str
    positions: int
    decisions: int
    kept: Estimate
    loss: Estimate
    unit: str

    def text(self) -> str:
        """One line, without a newline at its end."""
        return (
            f"{self.name}: keeps the class in {self.kept.text('.2%')},"
            f" loses {self.loss.text('.3f')} {self.unit} a move"
        )


@dataclass(frozen=True)
class KeptGames(Figured):
    """The whole games in which a player keeps its class; intervals are 95 % intervals over games.

    games: number of games; the player moves first in the first, third, ... of them.
    kept: share of the games in which no move of the player's throws its class away, so that the
        result is as good as the opening's class, and as the class after the opponent's error.
    first, second: the same share of the games in which the player moves first, and second.
    """

    called = {"name": "player"}
    name: str
    games: int
    kept: Estimate
    first: Estimate
    second: Estimate

    def text(self) -> str:
        """One line, without a newline at its end."""
        return (
            f"{self.name}: keeps the class in {self.kept.text('.1%')} of {self.games} games, moving"
            f" first {self.first.text('.1%')}, second {self.second.text('.1%')}"
        )


@dataclass(frozen=True)
class Verdicts:
    """A referee's values of every legal move in each of a set of positions.

    unit: the unit of the values.
    """

    positions: tuple[Any, ...]
    values: tuple[dict[Any, float], ...]
    unit: str

    @property
    def decisions(self) -> int:
        """Number of positions in which the class depends on the move."""
        return sum(decides(moves) for moves in self.values)


def decides(moves: dict[Any, float]) -> bool:
    """Returns whether some move throws away a win or a draw, by the values of all."""
    return len({np.sign(value) for value in moves.values()}) > 1


def random_positions(
    game: Game, count: int, *, seed: int = 0, least_plies: int = 2, most_plies: int = 80
) -> list[Any]:
    """Distinct quiet positions, not decided by the rules, from all stages of random games.

    Positions have `least_plies` to `most_plies` - 1 random moves behind them. Raises ValueError if
    fewer than `count` are found.
    """
    if count < 1:
        raise ValueError(f"positions: expected at least 1, found {count}")
    if seed < 0:
        raise ValueError(f"seed: expected at least 0, found {seed}")
    if not 0 <= least_plies < most_plies:
        raise ValueError(
            f"most_plies: expected more than least_plies, found {least_plies} and {most_plies}"
        )
    random = np.random.default_rng(seed)
    found: dict[Any, None] = {}
    barren = 0
    while len(found) < count:
        position = game.start()
        before = len(found)
        keep = set(random.integers(least_plies, most_plies, size=4).tolist())
        for ply in range(most_plies):
            moves = game.legal_moves(position)
            if not moves:
                break
            if ply in keep and len(moves) > 1 and not game.noisy(position):
                found[position] = None
            position = game.play(position, moves[int(random.integers(len(moves)))])
        barren = barren + 1 if len(found) == before else 0
        if barren > 1000:
            raise ValueError(f"positions: expected {count} different ones, found {len(found)}")
    return list(found)[:count]


class _AllMoves(Crew[tuple[Truth]]):
    """The value of every move of a position, by a referee of each thread's own."""

    def __init__(self, make: Callable[[], Any], classes: bool) -> None:
        super().__init__(make, classes)
        self.make, self.classes = make, classes

    def new_seats(self) -> tuple[Truth]:
        """Returns a referee for one thread."""
        return (self.make(),)

    def __call__(self, position: Any) -> dict[Any, float]:
        with self.seats() as (one,):
            if self.stopped.is_set():
                return {}
            return dict((one.classes if self.classes else one.values)(position))


def known_values(
    game: Game,
    referee: str,
    positions: Sequence[Any],
    *,
    classes: bool = False,
    threads: int = THREADS,
    progress: Callable[[], None] | None = None,
) -> Verdicts:
    """Returns the exact values of all moves, in positions with more than one.

    referee: a name in `Referees.of(game).named`.
    classes: only 1, 0 and -1, as `Truth.classes`; their unit is points.
    progress: called after each position.

    Raises ValueError if the game has no such referee or no position leaves a choice.
    """
    make = partial(Referees.of(game).named[known_referee(game, referee)], game)
    found = done(_AllMoves(make, classes), positions, threads=threads, progress=progress)
    chosen = [i for i, moves in enumerate(found) if len(moves) > 1]
    if not chosen:
        raise ValueError("expected positions with more than one legal move, found none")
    unit = "points" if classes else make().unit
    return Verdicts(tuple(positions[i] for i in chosen), tuple(found[i] for i in chosen), unit)


def judge_by_truth(
    game: Game, player: Player, known: Verdicts, *, limits: Limits, seed: int = 0
) -> Kept:
    """Compare a player's moves with exact values; raises ValueError if no position is a decision.

    limits: limits of its moves, unless it has its own.
    seed: decides random choices of the player.
    """
    limits.check(game)
    if not known.decisions:
        raise ValueError("expected positions in which a move throws something away, found none")
    seat = player.seat(game, limits)
    kept, losses = [], []
    for number, (position, moves) in enumerate(zip(known.positions, known.values, strict=True)):
        record = GameRecord(game, start=position)
        seat.begin(seed + number)
        seat.move(record)
        judged = decision(game, record.moves[-1], moves)
        losses.append(judged.loss)
        if decides(moves):
            kept.append(float(judged.keeps))
    return Kept(
        player.name,
        len(losses),
        len(kept),
        mean_interval(kept, bounds=(0.0, 1.0)),
        ratio_interval(losses, np.ones(len(losses))),
        known.unit,
    )


def judge_by_games(
    game: Game,
    player: Player,
    referee: str,
    games: int,
    *,
    limits: Limits,
    seed: int = 0,
    threads: int = THREADS,
    progress: Callable[[], None] | None = None,
) -> KeptGames:
    """Returns in how many whole games a player keeps its class, on both sides.

    A game begins after 0 to `RANDOM` random plies. The opponent throws its own class away once,
    with chance `ERRS` at each turn where it can, and is perfect at all others: at random among all
    moves that keep its class and, from `Truth.plies` on, among the best of these, which win soonest
    or hold out longest. Games in which the player is lost at each of its turns are drawn anew.

    referee: a name in `Referees.of(game).named`.
    games: number of games.
    limits: limits of the player's moves, unless it has its own.
    seed: decides openings, the opponent's choices, and random choices of the player.
    progress: called after each game.

    Raises ValueError if the game has no such referee, or for fewer than 2 games.
    """
    limits.check(game)
    if games < 2:
        raise ValueError(f"games: expected at least 2, one on each side, found {games}")
    task = _WholeGame(game, player, known_referee(game, referee), limits, seed)
    results = done(task, range(games), threads=threads, progress=progress)
    shares = (
        mean_interval(part, bounds=(0.0, 1.0)) for part in (results, results[::2], results[1::2])
    )
    return KeptGames(player.name, games, *shares)


class _WholeGame(Crew[tuple[Any, Truth]]):
    """A whole game by its number; the result is 1 if the player keeps its class, else 0."""

    def __init__(self, game: Game, player: Player, referee: str, limits: Limits, seed: int) -> None:
        super().__init__(game, player, referee, limits, seed)
        self.game, self.player, self.referee = game, player, referee
        self.limits, self.seed = limits, seed

    def new_seats(self) -> tuple[Any, Truth]:
        """Returns the player's seat and a referee, for one thread."""
        seat = self.player.seat(self.game, self.limits)
        return seat, Referees.of(self.game).named[self.referee](self.game)

    def __call__(self, number: int) -> float:
        with self.seats() as (seat, truth):
            for attempt in count():
                random = np.random.default_rng((self.seed, number, attempt, STREAM))
                seat.begin(self.seed + number)
                sound = self._kept(seat, truth, number % 2, random)
                if sound is not None or self.stopped.is_set():
                    return float(bool(sound))
        raise AssertionError

    def _kept(self, seat: Any, truth: Truth, turn: int, random: np.random.Generator) -> bool | None:
        """Play a game; returns whether the player keeps its class, None if it had none to keep.

        turn: 0 if the player makes the first move of the game, else 1.
        """
        record = GameRecord(self.game)
        for move in random_line(self.game, int(random.integers(RANDOM + 1)), random)[1]:
            record.play(move)
        erred, sound = False, None
        while not record.over and not self.stopped.is_set():
            classes = truth.classes(record.position)
            value = max(classes.values())
            if record.ply % 2 == turn:
                seat.move(record)
                if classes[record.moves[-1]] < value:
                    return False
                sound = True if value > -1 else sound
                continue
            moves = [move for move in classes if classes[move] < value]
            if moves and not erred and random.random() < ERRS:
                erred = True
            elif record.ply < truth.plies[0]:
                moves = [move for move in classes if classes[move] == value]
            else:
                moves = truth.best(record.position)
            record.play(moves[int(random.integers(len(moves)))])
        return sound


def known_referee(game: Game, referee: str) -> str:
    """Returns the name of a referee; raises ValueError if the game has none of that name."""
    named = Referees.of(game).named
    if not named:
        raise ValueError(f"referee: expected a solved game, found {game.name}")
    if referee not in named:
        raise ValueError(
            f"referee: expected one of {', '.join(named)} for {game.name}, found {referee!r}"
        )
    return referee
