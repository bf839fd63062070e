"""Matches with the cube: games for money, or whole matches of a few points, in pairs.

Both games, or matches, of a pair have the same dice, with the players' seats swapped.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from games.contract import DiceGame
from games.errors import MoveError
from games.record import GameRecord, new_record
from play.crew import Crew
from play.dice import Dice
from play.match.dice_loop import MOST_TURNS, REASONS, STOPPED, TOO_LONG
from play.match.dice_match import DiceMatch, needs_processes
from play.match.driver import play_units
from play.match.journal import Journal, plain_game, replay
from play.players.cube_seat import CubeSeat, cube_seat
from play.players.limits import STATIC, Limits
from play.players.player import Player
from play.ratings.points import DiceSummary
from play.workers import Workers

__all__ = ["CubeMatch", "cube_lines", "play_cube_game", "play_cube_match", "play_to"]

#: The games of both matches of a pair.
CubePair = tuple[list[Any], list[Any]]
#: Numbers of streams that a match may use, one for each game.
MOST_GAMES = 1000


@dataclass
class CubeMatch(DiceMatch):
    """A match with the cube; in pairs of whole matches, `points` are 1 for each match won, else -1.

    length: points of each match; 0 for games for money.
    cubes: the value of the cube at the end of both games of each pair, for money.
    matches: the games of both matches (or both games) of each pair, if they are kept.
    doubles: number of doubles offered.
    drops: number of them that were dropped.
    played: number of games played.
    """

    length: int = 0
    cubes: list[tuple[int, int]] = field(default_factory=list)
    matches: list[tuple[list[GameRecord], list[GameRecord]]] = field(default_factory=list)
    doubles: int = 0
    drops: int = 0
    played: int = 0

    def summary(self) -> DiceSummary:
        """Points per game, or per match, with their error, from the first player's view."""
        return DiceSummary(self.points, bounds=self.bounds, cubes=self.cubes or None)

    def so_far(self) -> str:
        """Returns the score in a few words."""
        if not self.length:
            return super().so_far()
        won = sum(point > 0 for pair in self.points for point in pair)
        return f"{self.first} won {won} of {self.games} matches against {self.second}"

    def figures(self) -> dict[str, Any]:
        """Returns the match as plain values, for JSON."""
        cube = {"length": self.length, "games_played": self.played, "doubles": self.doubles}
        return {**super().figures(), **cube, "drops": self.drops}


def play_cube_game(
    record: Any,
    seats: Sequence[CubeSeat],
    dice: Dice,
    stream: int,
    *,
    names: Sequence[str] = ("first", "second"),
    stopped: Event | None = None,
) -> None:
    """Play a record with the cube to its end; `seats` are by colour.

    record: an empty record with its match, score and cube.
    dice, stream: the dice of each turn.
    names: the players' names by colour, for errors.

    Raises MoveError, with the player's name, if a seat makes an illegal move.
    """
    for seat in seats:
        seat.begin(stream, 0)
    while not record.over:
        turn, side = record.ply, record.to_move
        if stopped is not None and stopped.is_set():
            record.declare(0.0, REASONS[STOPPED])
            return
        if turn >= MOST_TURNS:
            record.declare(0.0, REASONS[TOO_LONG])
            return
        if turn and record.may_double and seats[side].decision(record.situation()).double:
            record.double()
            if seats[1 - side].decision(record.situation()).take:
                record.take()
            else:
                record.drop()
                return
        roll = dice.roll(stream, turn)
        move = seats[side].choose(record.situation(roll))
        try:
            record.play(move, roll=roll)
        except MoveError as error:
            raise MoveError(f"player {names[side]}: {error}") from None


def play_to(
    game: DiceGame,
    length: int,
    seats: Sequence[CubeSeat],
    dice: Dice,
    pair: int,
    *,
    jacoby: bool = False,
    names: Sequence[str] = ("first", "second"),
    stopped: Event | None = None,
) -> list[Any]:
    """Returns the games of one match, or one game for money if `length` is 0.

    Chance decides who begins, the same for both matches of a pair; the first game after a side
    comes within a point of the end is the Crawford game.
    """

    def play(record: Any, stream: int) -> None:
        play_cube_game(record, seats, dice, stream, names=names, stopped=stopped)

    return _match(game, length, dice, pair, play, jacoby=jacoby, stopped=stopped)


def _match(
    game: DiceGame,
    length: int,
    dice: Dice,
    pair: int,
    play: Callable[[Any, int], None],
    *,
    jacoby: bool,
    stopped: Event | None = None,
) -> list[Any]:
    """Returns the games of one match, each played by `play(empty record, stream of its dice)`."""
    records: list[Any] = []
    score, crawford_over = (0, 0), False
    while len(records) < MOST_GAMES:
        stream = dice.stream(pair * MOST_GAMES + len(records))
        crawford = length > 1 and not crawford_over and max(score) == length - 1
        crawford_over |= crawford
        record: Any = new_record(
            game, game.start_of(stream >> 7 & 1), match_length=length, score=score,
            crawford=crawford, jacoby=jacoby and not length,
        )  # fmt: skip
        play(record, stream)
        records.append(record)
        score = record.final_score()
        if not length or max(score) >= length or (stopped is not None and stopped.is_set()):
            break
    return records


def play_cube_match(
    game: DiceGame,
    first: Player,
    second: Player,
    *,
    length: int = 0,
    jacoby: bool = False,
    limits: Limits = STATIC,
    games: int = 400,
    seed: int = 0,
    threads: int = 2,
    workers: Workers | None = None,
    keep_records: bool = False,
    progress: Callable[[DiceMatch], None] | None = None,
    journal: Journal | None = None,
) -> CubeMatch:
    """Play `games` games for money, or as many matches, an odd number rounded up, in pairs.

    length: points of a match; 0 for games for money.
    jacoby: whether, for money, gammons count after a double only.
    limits: limits of a decision, for players without limits of their own.
    seed: decides the dice.
    threads, workers, keep_records, progress, journal: as in `play_dice_match`.

    Ctrl-C ends it with the pairs played, and so does an external engine that fails (`failure`),
    unless it fails in the first pair: then its MoveError or ChildProcessError is raised. Raises
    ValueError for options out of range and for players that cannot decide about the cube.
    """
    if operator.index(games) < 2:
        raise ValueError(f"games: expected at least 2, found {games}")
    if not 0 <= length <= 64:
        raise ValueError(f"length: expected 0 to 64 points, found {length}")
    if not game.cube:
        raise ValueError(f"expected a game with a cube, found {game.name}")
    limits.check(game)
    for player in (first, second):
        cube_seat(game, player, limits)  # refuses before any game
    Dice(game, seed)
    bound = 1.0 if length else np.inf
    match = CubeMatch(first.name, second.name, limits, (-bound, bound), length=length)
    play_pair = _PairPlayer(game, first, second, length, jacoby, limits, seed)
    began = time.perf_counter()

    def count(pair: CubePair | None) -> bool:
        if pair is not None:
            _count(match, pair, keep_records)
        match.seconds = time.perf_counter() - began
        if progress is not None:
            progress(match)
        return True

    for number, kept in enumerate(journal.results(match.title) if journal else ()):
        count(play_pair.again(number, kept))
    left = range(len(match.points), (games + 1) // 2)
    backend = "loky" if threads > 1 and needs_processes(first, second) else "threads"
    began = time.perf_counter()
    with nullcontext(workers) if workers is not None else Workers(backend, threads) as crew:
        play_units(match, crew, play_pair, left, count, journal, _plain)
    match.seconds = time.perf_counter() - began
    return match


def _plain(pair: CubePair | None) -> list[Any] | None:
    return None if pair is None else [[*map(plain_game, games)] for games in pair]


def _count(match: CubeMatch, pair: CubePair, keep: bool) -> None:
    """Add both matches of a pair; in the second the first player has colour 1."""
    points = []
    for sign, records in zip((1.0, -1.0), pair, strict=True):
        last = records[-1]
        if match.length:
            score = last.final_score()
            points.append(sign * float(np.sign(score[0] - score[1])))
        else:
            points.append(sign * (last.outcome() or 0.0) + 0.0)
        for record in records:
            match.turns += record.ply
            kinds = [action.kind for action in record.actions]
            match.doubles += kinds.count("double")
            match.drops += kinds.count("drop")
        match.played += len(records)
    match.points.append((points[0], points[1]))
    if not match.length:
        match.cubes.append((pair[0][-1].cube, pair[1][-1].cube))
    if keep:
        match.matches.append(pair)


class _PairPlayer(Crew[tuple[Any, ...]]):
    """Plays a pair by its number."""

    def __init__(
        self, game: DiceGame, first: Player, second: Player, length: int, jacoby: bool,
        limits: Limits, seed: int,
    ) -> None:  # fmt: skip
        super().__init__(game, first, second, length, jacoby, limits, seed)
        self.game = game
        self.players = first, second
        self.length, self.jacoby = length, jacoby
        self.limits = limits
        self.dice = Dice(game, seed)

    def __call__(self, pair: int) -> CubePair | None:
        """Returns the games of both matches; None once it is stopped."""
        with self.seats() as seats:
            played = [
                play_to(
                    self.game, self.length, seats[::order], self.dice, pair, jacoby=self.jacoby,
                    names=[player.name for player in self.players][::order], stopped=self.stopped,
                )
                for order in (1, -1)
            ]  # fmt: skip
        return None if self.stopped.is_set() else (played[0], played[1])

    def again(self, pair: int, plain: Any) -> CubePair:
        """Returns the games of a pair from the plain ones of both matches, of a journal.

        Raises ValueError if they are damaged.
        """

        def match(games: Any) -> list[Any]:
            left = iter(games)

            def play(record: Any, stream: int) -> None:
                replay(record, next(left))

            return _match(self.game, self.length, self.dice, pair, play, jacoby=self.jacoby)

        try:
            first, second = map(match, plain)
        except (TypeError, StopIteration, MoveError) as error:
            raise ValueError(f"expected pairs of games, found {error!r}") from None
        return first, second

    def new_seats(self) -> tuple[Any, ...]:
        """Returns the seats of both players."""
        return tuple(cube_seat(self.game, player, self.limits) for player in self.players)


def cube_lines(match: CubeMatch, heading: str) -> Iterator[str]:
    """Yields the report of a match with the cube."""
    kind = f"matches to {match.length} points" if match.length else "games for money with the cube"
    yield f"{match.first} against {match.second}: {kind}, {heading}, same dice for both"
    summary = match.summary()
    if match.length and match.games:
        mean = summary.mean
        low, high = 50 + 50 * mean.low, 50 + 50 * mean.high
        won = sum(point > 0 for pair in match.points for point in pair)
        yield (
            f"matches {match.games}: won {won}, {50 + 50 * mean.value:.1f} %,"
            f" 95 % interval [{low:.1f}, {high:.1f}]"
        )
    else:
        yield summary.text()
    if match.played:
        yield (
            f"{match.played} games, {match.doubles / match.played:.2f} doubles a game, of which"
            f" {100 * match.drops / max(match.doubles, 1):.0f} % were dropped"
        )
        yield f"{match.played / match.seconds:.1f} games/s"
