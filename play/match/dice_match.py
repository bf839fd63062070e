"""Matches in games with dice: pairs of games with the same dice and swapped seats.

Results depend on the players, the limits and the seed alone, not on the backend or the number of
workers: each pair has dice of its own, and all pairs are counted.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Event
from typing import Any, cast

import numpy as np

from games import kernels
from games.contract import DiceGame
from games.errors import MoveError
from games.record import GameRecord
from play.crew import Crew
from play.dice import OTHER, Dice
from play.match.dice_loop import MOST_TURNS, REASONS, STOPPED, TOO_LONG, DiceLoop
from play.match.driver import play_units
from play.match.journal import Journal, plain_game, read_game
from play.match.luck import Luck
from play.players.limits import STATIC, Limits
from play.players.player import Player
from play.players.seats import DiceSeat, RandomSeat
from play.ratings.points import DiceSummary
from play.workers import Workers

__all__ = ["DiceMatch", "needs_processes", "outcome_bounds", "play_dice_game", "play_dice_match"]

#: Pairs in a worker's task: in native code, and move by move in Python.
NATIVE_BLOCK, SLOW_BLOCK = 32, 1

Records = tuple[GameRecord, GameRecord]


@dataclass
class DiceMatch:
    """A match of two players; points and luck are the first player's, pair by pair.

    In the first game of a pair the first player begins.

    points: points of both games of each pair.
    luck: luck in both games of each pair; None if it is not measured.
    luck_by: name of the player whose static values measure luck.
    records: the games of each pair, if they are kept.
    turns: number of moves played.
    interrupted: whether Ctrl-C ended the match.
    failure: error of the external engine that ended the match, or empty.
    """

    first: str
    second: str
    limits: Limits
    bounds: tuple[float, float]
    points: list[tuple[float, float]] = field(default_factory=list)
    luck: list[tuple[float, float]] | None = None
    records: list[Records] = field(default_factory=list)
    turns: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    failure: str = ""
    luck_by: str | None = None

    def __repr__(self) -> str:
        points = f", {self.summary().mean.text('+.3f')} points a game" if self.games else ""
        return f"DiceMatch({self.title}, {self.games} games{points})"

    @property
    def title(self) -> str:
        """The names of both players."""
        return f"{self.first} against {self.second}"

    def summary(self) -> DiceSummary:
        """Points per game with their error, from the first player's view."""
        return DiceSummary(self.points, self.luck, bounds=self.bounds)

    @property
    def games(self) -> int:
        """The number of games counted."""
        return 2 * len(self.points)

    def add(self, block: _Block) -> None:
        """Count pairs."""
        self.points += block.points
        self.turns += block.turns
        self.records += block.records
        if self.luck is not None:
            self.luck += block.luck

    def so_far(self) -> str:
        """Returns the score in a few words."""
        mean = sum(map(sum, self.points)) / max(self.games, 1)
        return f"{self.first} {mean:+.3f} a game against {self.second}"

    def figures(self) -> dict[str, Any]:
        """Returns the match as plain values, for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "depth": self.limits.depth,
            "nodes": self.limits.nodes,
            "seconds": self.limits.seconds,
            **self.summary().figures(),
            "luck": self.luck_by,
            "interrupted": self.interrupted,
            "failure": self.failure,
        }


def play_dice_game(
    game: DiceGame,
    seats: Sequence[DiceSeat],
    dice: Dice,
    pair: int,
    *,
    names: Sequence[str] = ("first", "second"),
    stopped: Event | None = None,
    most_turns: int = MOST_TURNS,
) -> GameRecord:
    """Play one game with the dice of a pair, move by move; `seats[0]` begins.

    Raises MoveError, with the name from `names`, if a seat makes an illegal move.
    """
    stream = dice.stream(pair)
    for side, seat in enumerate(seats):
        seat.begin(stream, side)
    record = GameRecord(game, repetitions=None, quiet_moves=None)
    while not record.over:
        turn = record.ply
        if stopped is not None and stopped.is_set():
            record.declare(0.0, REASONS[STOPPED])
            break
        if turn >= most_turns:
            record.declare(0.0, REASONS[TOO_LONG])
            break
        position, roll = record.position, dice.roll(stream, turn)
        move = seats[turn % 2].choose(position, roll)
        try:
            record.play(move, roll=roll)
        except MoveError:
            raise MoveError(
                f"player {names[turn % 2]}: expected a legal move with {game.roll_text(roll)} in"
                f" {game.position_text(position)}, found {move!r}"
            ) from None
    return record


def needs_processes(*players: Player) -> bool:
    """Returns whether a player is an external engine that blocks its process's other threads."""
    return any(player.program is not None for player in players)


def play_dice_match(
    game: DiceGame,
    first: Player,
    second: Player,
    *,
    limits: Limits = STATIC,
    games: int = 4000,
    seed: int = 0,
    threads: int = 2,
    workers: Workers | None = None,
    luck: Player | None = None,
    keep_records: bool = False,
    progress: Callable[[DiceMatch], None] | None = None,
    journal: Journal | None = None,
) -> DiceMatch:
    """Play `games` games, an odd number rounded up, in pairs with the same dice.

    limits: limits of a move, for players without limits of their own (default: static values);
        depths are GNU Backgammon's plies.
    games: number of games.
    seed: decides the dice and random choices.
    threads: threads that play; processes if `needs_processes`.
    workers: processes or a cluster that play instead.
    luck: player whose evaluator (with its lookup) measures luck by static values.
    keep_records: keep the games in the match.
    progress: called with the match after each block of pairs.
    journal: as in `play_match`.

    Ctrl-C ends the match with the games played, marked as interrupted. So does an external engine
    that fails (`failure`), unless it fails in the first pairs.

    Raises ValueError for options out of range, and MoveError or ChildProcessError if a player makes
    an illegal move, or an external engine fails, in the first pairs.
    """
    if operator.index(games) < 2:
        raise ValueError(f"games: expected at least 2, found {games}")
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")
    limits.check(game)
    if luck is not None and luck.evaluator is None:
        raise ValueError(f"luck: expected an evaluator, found {luck.name}")
    Dice(game, seed)  # refuses a bad seed before any work
    match = DiceMatch(first.name, second.name, limits, outcome_bounds(game))
    if luck is not None:
        match.luck, match.luck_by = [], luck.name
    play_block = _BlockPlayer(game, first, second, limits, seed, luck, keep_records)
    pairs = (games + 1) // 2
    began = time.perf_counter()

    def count(block: _Block) -> bool:
        match.add(block)
        match.seconds = time.perf_counter() - began
        if progress is not None:
            progress(match)
        return True

    for kept in journal.results(match.title) if journal else ():
        count(_Block.of(game, kept))
    tasks = _blocks(len(match.points), pairs, NATIVE_BLOCK if play_block.native else SLOW_BLOCK)
    backend = "loky" if threads > 1 and needs_processes(first, second) else "threads"
    began = time.perf_counter()
    with nullcontext(workers) if workers is not None else Workers(backend, threads) as crew:
        play_units(match, crew, play_block, tasks, count, journal, _Block.plain)
    match.seconds = time.perf_counter() - began
    return match


def outcome_bounds(game: DiceGame) -> tuple[float, float]:
    """Returns a game's fewest and most points, infinite if it does not declare outcomes."""
    if game.outcomes is None:
        return -np.inf, np.inf
    low, high = (
        game.outcomes.base + sum(points for points in game.outcomes.payoffs if sign * points > 0)
        for sign in (-1, 1)
    )
    return min(low, -high), max(high, -low)


def _blocks(first: int, pairs: int, size: int) -> Iterator[tuple[int, int]]:
    for begin in range(first, pairs, size):
        yield begin, min(size, pairs - begin)


@dataclass
class _Block:
    """The games of one task; the fields are those of a match."""

    points: list[tuple[float, float]] = field(default_factory=list)
    luck: list[tuple[float, float]] = field(default_factory=list)
    records: list[Records] = field(default_factory=list)
    turns: int = 0

    def plain(self) -> dict[str, Any]:
        """Returns the same as plain values."""
        records = [[plain_game(record) for record in pair] for pair in self.records]
        return {
            "points": self.points, "luck": self.luck, "records": records, "turns": self.turns
        }  # fmt: skip

    @classmethod
    def of(cls, game: DiceGame, plain: Any) -> _Block:
        """Returns what `plain` made the values from; raises ValueError if they are damaged."""
        rules: dict[str, Any] = {"repetitions": None, "quiet_moves": None}
        try:
            points, luck = (
                [(float(one), float(other)) for one, other in plain[name]]
                for name in ("points", "luck")
            )
            records = [
                (read_game(game, one, **rules), read_game(game, other, **rules))
                for one, other in plain["records"]
            ]
            return cls(points, luck, records, int(plain["turns"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected pairs of games, found {error!r}") from None


class _BlockPlayer(Crew[tuple[Any, ...]]):
    """Plays pairs by their numbers, and measures the luck of each game if asked to."""

    def __init__(
        self,
        game: DiceGame,
        first: Player,
        second: Player,
        limits: Limits,
        seed: int,
        luck: Player | None,
        keep_records: bool,
    ) -> None:
        super().__init__(game, first, second, limits, seed, luck, keep_records)
        self.game = game
        self.players = first, second
        self.limits = limits
        self.dice = Dice(game, seed)
        self.luck = luck
        self.keep_records = keep_records
        #: whether whole games are played in native code
        self.native = (
            game.rules is not None
            and kernels.compiled
            and all(player.program is None for player in self.players)
            and all(player.within(self.limits) == STATIC for player in self.players)
        )

    def __call__(self, task: tuple[int, int]) -> _Block:
        """Play a number of pairs from a first one on; fewer, but whole pairs, once stopped."""
        block = _Block()
        with self.seats() as (luck, *seats):
            played = seats[0].play(*task) if self.native else self._play(seats, *task)
            for records in played:
                points, others = (record.outcome() or 0.0 for record in records)
                block.points.append((points, 0.0 - others))
                block.turns += sum(len(record.moves) for record in records)
                if luck is not None:
                    mine, theirs = map(luck.total, records)
                    block.luck.append((mine, 0.0 - theirs))
                if self.keep_records:
                    block.records.append(records)
        return block

    def new_seats(self) -> tuple[Any, ...]:
        """Returns the measure of luck or None, then a native loop or the seats of both players."""
        luck = None
        if self.luck is not None and self.luck.evaluator is not None:
            luck = Luck(self.game, self.luck.evaluator, self.luck.lookup)
        if self.native:
            players = [(player.evaluator, player.lookup) for player in self.players]
            return luck, DiceLoop(self.game, *players, seed=self.dice.seed)
        return luck, *(player.seat(self.game, self.limits) for player in self.players)

    def _play(self, seats: Sequence[DiceSeat], first_pair: int, pairs: int) -> Iterator[Records]:
        """Play pairs move by move; ends after whole pairs once it is stopped."""
        names = [player.name for player in self.players]
        for pair in range(first_pair, first_pair + pairs):
            played = []
            for order in (1, -1):
                if all(player.random for player in self.players):
                    for seat in seats:
                        cast(RandomSeat, seat).other = OTHER if order < 0 else 0
                played.append(
                    play_dice_game(
                        self.game,
                        seats[::order],
                        self.dice,
                        pair,
                        names=names[::order],
                        stopped=self.stopped,
                    )
                )
            if self.stopped.is_set():
                return
            yield played[0], played[1]
