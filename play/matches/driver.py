"""Matches of any kind, and ladders of them: workers, a journal, and interruptions.

Results depend on the players, their limits and the seed alone, not on the backend or the number of
workers: units have openings or dice of their own, and are counted in their order.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import combinations, islice
from typing import Any

from games.contract import Game
from games.errors import MoveError
from games.kinds import WITH_CUBE
from play.matches.journal import MatchJournal
from play.matches.report import Match
from play.matches.units import Task, Terms, Unit, Units, units_of
from play.players.limits import Limits
from play.players.player import Player, needs_processes
from play.ratings.sprt import RunningSprt, Sprt
from play.workers import Workers
from programs.arguments import THREADS
from search.lookups.database import DatabaseLookup

__all__ = ["FAILURES", "check_players", "play_all", "play_match"]

#: Failures of an external engine, or of the machines on which games are played.
FAILURES = (MoveError, ChildProcessError, ConnectionError)


def play_match(
    game: Game,
    *players: Player,
    limits: Limits | None = None,
    games: int | None = None,
    openings: Iterable[tuple[Any, ...]] | None = None,
    length: int | None = None,
    jacoby: bool = False,
    threads: int = THREADS,
    workers: Workers | None = None,
    table_mib: float | None = None,
    luck: Player | None = None,
    sprt: Sprt | None = None,
    database: DatabaseLookup | None = None,
    seed: int = 0,
    keep_records: bool = False,
    progress: Callable[[Match], None] | None = None,
    journal: MatchJournal | None = None,
    recover: bool = False,
) -> Match:
    """Play until `games` games are counted, the SPRT decides or openings run out.

    Two players play each opening twice with colours swapped; more play it with each player in each
    seat. With dice, both games of a pair have the same dice.

    players: one for each side.
    limits: limits of a move, for players without limits of their own. Default: the usual depth of
        the kind of game; with dice depths are GNU Backgammon's plies, and 0 static values.
    games: number of games, rounded up to whole units; default 400, with dice without the cube 4000,
        with more than two players 300.
    openings: the first moves of each unit. Default: `usual_openings(game, seed=seed)`, balanced
        ones if the game has them. With dice without the cube they are positions, which come again
        once all were played, by default the start.
    length: play with the cube: points of a match, of which `games` are played, or 0 for games for
        money, or None in games without the cube.
    jacoby: whether, for money with the cube, gammons count after a double only.
    threads: threads of this process that play; processes if `needs_processes`.
    workers: processes or a cluster that play instead of threads.
    table_mib: without dice; size of each player's transposition table; None for one that fits its
        limits.
    luck: with dice without the cube; player whose evaluator (with its lookup) measures luck by
        static values.
    sprt: for two players without dice; test that ends the match once it decides.
    database: for two players without dice; ends a game with its result as soon as it knows the
        position, even if a drawing rule could still end it as a draw.
    seed: decides openings, dice and random choices.
    keep_records: with dice: keep the games in the match; without dice they always are.
    progress: called with the match after each unit, or each block of them that was played at once.
    journal: file of the ended units; the match continues from those it holds already, with
        the result of one that was never stopped.
    recover: whether an external engine that fails loses that game alone and is started again.

    Ctrl-C ends the match with the games played, marked as interrupted. So does an external engine
    that fails (`failure`); if it fails in the first unit, its MoveError, ChildProcessError or
    ConnectionError is raised. Raises ValueError if the number of players is not that of the game,
    and for options out of range or of another kind of game.
    """
    kind, names = units_of(game, length), tuple(player.name for player in players)
    if len(players) != game.players:
        found = ", ".join(names)
        raise ValueError(
            f"{game.name}: expected {game.players} players, found {len(names)}: {found}"
        )
    given: dict[str, Any] = {"openings": openings, "length": length, "jacoby": jacoby or None}
    given |= {"sprt": sprt, "table_mib": table_mib, "luck": luck, "database": database}
    for name, value in given.items():
        if value is not None and name not in kind.options:
            raise ValueError(f"{name}: not for {kind.text}")
    limits = Limits(depth=kind.usual_depth) if limits is None else limits
    limits.check(game)
    games = kind.usual_games[0] if games is None else operator.index(games)
    for name, number, least in (("games", games, 2), ("threads", threads, 1), ("seed", seed, 0)):
        if number < least:
            raise ValueError(f"{name}: expected at least {least}, found {number}")
    if not 0 <= (length or 0) <= 64:
        raise ValueError(f"length: expected 0 to 64 points, found {length}")
    if luck is not None and luck.evaluator is None:
        raise ValueError(f"luck: expected an evaluator, found {luck.name}")
    if length is not None:
        WITH_CUBE.expect(game)
        for player in players:
            player.seat(game, limits, cube=True)  # refuses before any game
    terms = Terms(limits, seed, table_mib, database, luck, length, jacoby, recover)
    match = Match(game, names, limits, length, None if luck is None else luck.name)
    driver = _Driver(match, kind(game, players, terms), sprt, progress)
    driver.keep = keep_records or kind.keeps
    lines = driver.units.lines(openings)
    backend = "loky" if threads > 1 and needs_processes(*players) else "threads"
    with nullcontext(workers) if workers is not None else Workers(backend, threads) as crew:
        driver.run(enumerate(lines), -(-games // game.players), crew, journal)
    return match


class _Driver:
    """Counts the units of a match."""

    keep = True

    def __init__(
        self,
        match: Match,
        units: Units,
        sprt: Sprt | None,
        progress: Callable[[Match], None] | None,
    ) -> None:
        self.match, self.units, self.progress = match, units, progress
        self.sprt = None if sprt is None else RunningSprt(sprt)
        self.seen: set[Any] = set()
        self.began = time.perf_counter()

    def run(
        self, drawn: Iterator[Task], wanted: int, workers: Workers, journal: MatchJournal | None
    ) -> None:
        """Play and count units until `wanted` are counted, or an end before that."""
        match, goes_on = self.match, True
        held = journal.results(match.title) if journal is not None else []
        for kept, (number, _) in zip(held, drawn, strict=False):
            goes_on = self.count([self.units.again(number, kept)])
        self.began = time.perf_counter()
        while goes_on and len(match.units) < wanted:
            # as many units as are missing, because units that repeat earlier games are not counted
            missing = islice(drawn, wanted - len(match.units))
            before = len(match.units) + match.repeated
            goes_on = self.play(_blocks(missing, self.units.block), workers, journal)
            goes_on = goes_on and len(match.units) + match.repeated > before

    def play(
        self, tasks: Iterable[list[Task]], workers: Workers, journal: MatchJournal | None
    ) -> bool:
        """Play the units of tasks, and count them; returns whether to continue."""
        match = self.match
        try:
            with closing(workers.map(self.units, tasks)) as played:
                for units in played:
                    if journal is not None:
                        for unit in units:
                            journal.add(match.title, self.units.plain(unit))
                    if not self.count(units):
                        return False
        except KeyboardInterrupt:
            match.interrupted = True
        except FAILURES as error:
            match.failure = str(error)
            if not match.units:
                raise
        return not (match.interrupted or match.failure)

    def count(self, units: Sequence[Unit]) -> bool:
        """Add units to the match; returns whether it continues."""
        match, before = self.match, len(self.match.units)
        for unit in units:
            if self.units.distinct:
                keys = {(i, game.start, *game.moves) for i, game in enumerate(unit.games)}
                if keys & self.seen:
                    match.repeated += 1
                    continue
                self.seen |= keys
            match.units.append(unit if self.keep else replace(unit, sittings=()))
        match.elapsed = time.perf_counter() - self.began
        if len(match.units) > before:
            if self.progress is not None:
                self.progress(match)
            if self.sprt is not None:
                match.verdict = self.sprt.verdict(match.summary().tally)
        return match.verdict in ("", "continue")


def _blocks(tasks: Iterator[Task], size: int) -> Iterator[list[Task]]:
    return iter(lambda: list(islice(tasks, size)), [])


def play_all(
    game: Game, players: Sequence[Player], *, neighbours: bool = False, **options: Any
) -> list[Match]:
    """Returns the matches of all groups of players that fill the seats; a stopped one is the last.

    neighbours: for two players: each plays only the one before it in the list.
    options: those of `play_match`; `games` are those of each match.

    Ctrl-C ends them, and so does an external engine that fails; the last match says so. If the
    engine failed in its first unit, that match has no games; in the first match the error is raised
    instead. Raises ValueError as `check_players` and `play_match` do.
    """
    check_players(game, players)
    matches: list[Match] = []
    if options.get("games") is None:
        options["games"] = units_of(game).usual_games[1]
    groups = zip(players[1:], players, strict=False) if neighbours else ()
    for group in groups or combinations(players, game.players):
        try:
            match = play_match(game, *group, **options)
        except FAILURES as error:
            if not matches:
                raise
            names = tuple(player.name for player in group)
            match = replace(matches[0], names=names, units=[], repeated=0, failure=str(error))
        matches.append(match)
        if match.interrupted or match.failure:
            break
    return matches


def check_players(game: Game, players: Sequence[Player]) -> None:
    """Raises ValueError for fewer than two players or seats, or two players of one name."""
    names = [player.name for player in players]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"expected two or more players of different names, found {names}")
    if len(players) < game.players:
        raise ValueError(
            f"{game.name}: expected at least {game.players} players, found {len(players)}"
        )
