"""The common part of the commands `match` and `ladder`: options, play and reports."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from games import kinds
from games.file_form import form_of
from games.record import GameRecord
from play.commands.options import refuse
from play.matches.balanced import BalancedOpenings, openings_file, usual_openings
from play.matches.driver import play_match
from play.matches.ladder import ladder
from play.matches.loop import FAILED
from play.matches.openings import Openings
from play.matches.report import Match, all_games
from play.matches.units import CubePairs, DicePairs, Pairs, Rounds, units_of
from play.players.chances import play_text
from play.players.clock import TIME, parse_clock
from play.players.gnubg import GnubgNetworks, gnubg_evaluator
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player, needs_processes
from play.ratings.predictions import judged_chances
from play.ratings.sprt import Sprt
from play.workers import Workers, parse_backend
from programs.phrases import counted
from search.evaluators.samples import value_mark
from search.lookups.database import DatabaseLookup

__all__ = ["Contest"]

WITH_DICE = ("luck", "cube", "match", "jacoby")
WITHOUT_DICE = ("time", "adjudicate", "sprt")
#: For each kind of match, the options that do not apply, and the kind of game that they need.
OTHERS = {
    Pairs: (WITH_DICE, "a game with dice"),
    Rounds: ((*WITH_DICE, "sprt", "adjudicate", "neighbours"), "a game for two players"),
    DicePairs: (WITHOUT_DICE, "a game without dice"),
    CubePairs: (("plies", "openings"), "games without the cube"),
}


class Contest:
    """Plays and reports matches and ladders of a game.

    options: those of the command line; `games` is filled in if it is not given.
    standings: the name of a ladder's standings in its figures.

    Raises ValueError if an option is out of range or for another kind of game.
    """

    def __init__(self, game: Any, options: argparse.Namespace, *, ladder: bool) -> None:
        self.game, self.options, self.is_ladder = game, options, ladder
        cube = getattr(options, "cube", None) or getattr(options, "match", None) is not None
        self.length: int | None = None
        self.kind = units_of(game)
        refuse(options, *OTHERS[self.kind], game)
        if cube:
            _check_cube(game, options)
            self.length = options.match or 0
            self.kind = units_of(game, self.length)
            refuse(options, *OTHERS[self.kind], game)
        elif getattr(options, "jacoby", None):
            raise ValueError("--jacoby: expected --cube, found games without the cube")
        self.standings = self.kind.standings
        options.games = self.kind.usual_games[ladder] if options.games is None else options.games
        clock = None if options.time is None else parse_clock(options.time)
        depth = options.depth
        if (depth, options.nodes, options.seconds, clock) == (None,) * 4:
            depth = self.kind.usual_depth
        self.limits = Limits(depth, options.nodes, options.seconds, clock)
        self.limits.check(game)
        self.sprt = _sprt(options)
        self.luck: Player | None = None
        self.database: DatabaseLookup | None = None
        self.openings: Openings | BalancedOpenings | None = None
        self._players: Sequence[Player] = ()

    @property
    def heading(self) -> str:
        """The limits of the players in words; their own limits are in their names."""
        text = self.kind.limits_text(self.limits)
        own = [player.name for player in self._players if player.limits is not None]
        if own and len(own) == len(self._players):
            return "limits by the players' names"
        whose = "its name" if len(own) == 1 else "their names"
        return f"{text}, but for {' and '.join(own)} by {whose}" if own else text

    def prepare(self, players: Sequence[Player]) -> None:
        """Check and choose everything that depends on the players."""
        options, self._players = self.options, players
        if getattr(options, "luck", None) is not None:
            self.luck = _luck(self.game, options.luck, players)
        if options.adjudicate is not None:
            self.database = DatabaseLookup(self.game, options.adjudicate)
        if options.openings is not None:
            file = openings_file(self.game, options.openings)
            self.openings = BalancedOpenings(
                self.game, file, seed=options.seed, plies=options.plies,
                positions=not self.kind.moves,
            )  # fmt: skip
            if not self.kind.moves and getattr(options, "save", None) is not None:
                for opening in self.openings.lines:  # refuses starts that the form cannot hold
                    start = getattr(opening, "start", self.game.start())
                    names = [player.name for player in players]
                    form_of(self.game).write(GameRecord(self.game, start), (*names,), {})
        elif options.plies is not None:
            kinds.WITHOUT_DICE.expect(
                self.game, where="--plies", instead="with dice it needs --openings"
            )
            self.openings = Openings(self.game, plies=options.plies, seed=options.seed)
        elif self.kind.moves:
            self.openings = usual_openings(self.game, seed=options.seed)

    def workers(self, players: Sequence[Player]) -> Workers:
        """Returns the workers that play; processes if threads would wait for one another."""
        kind, address = parse_backend(self.options.backend)
        if kind == "threads" and needs_processes(*players) and self.options.threads != 1:
            kind = "loky"
        return Workers(kind, self.options.threads, address)

    def play(self, players: Sequence[Player], **options: Any) -> tuple[list[Any], list[Match]]:
        """Play a match, or a round robin; returns its standings, best first, and the matches.

        options: those of `play_match` that are other than the contest's.
        """
        given = self.options
        options = {
            "games": given.games,
            "limits": self.limits,
            "openings": self.openings,
            "seed": given.seed,
            "database": self.database,
            "recover": bool(given.recover),
            "keep_records": given.save is not None,
            **options,
        }
        if self.is_ladder:
            return ladder(self.game, players, neighbours=bool(given.neighbours), **options)
        jacoby = bool(getattr(given, "jacoby", None))
        more: dict[str, Any] = {"length": self.length, "jacoby": jacoby, "luck": self.luck}
        more |= {"sprt": self.sprt, **options}
        return [], [play_match(self.game, *players, **more)]

    def match_lines(self, match: Match) -> Iterator[str]:
        """Yields the report of a match."""
        lines: dict[Any, Any] = {Pairs: self._pair_lines, Rounds: self._round_lines}
        yield from lines.get(self.kind, self._dice_lines)(match)
        yield from _lost_lines([match])

    def _pair_lines(self, match: Match) -> Iterator[str]:
        summary = match.summary()
        limits = f"{self.heading}, {self.openings}{self._adjudicated()}"
        yield f"{match.title}: {limits}{_searches(self._players)}"
        yield summary.text()
        if self.sprt is not None and summary.games:
            yield self.sprt.text(summary.tally)
        twice = summary.games - match.different
        alike = f"repeats of another game with colours swapped: {twice}"
        if summary.games:
            yield (
                f"{alike if twice else 'all games different'};"
                f" {counted(match.repeated, 'pair')} left out for repeating earlier games"
            )
        wanted = summary.games < self.options.games and match.verdict in ("", "continue")
        if wanted and not match.interrupted:
            yield f"no more than {summary.games} different games from these openings"
        seconds = match.seconds()
        if seconds:
            mean = sum(seconds) / len(seconds)
            yield f"external engines took {mean:.3f} s a move, at most {max(seconds):.3f}"
        yield from self._prediction_lines(match)

    def _adjudicated(self) -> str:
        return "" if self.database is None else f", adjudicated by {self.database.name}"

    def _prediction_lines(self, match: Match) -> Iterator[str]:
        """Yields how well the chances of each player that has some predicted the results."""
        for number, player in enumerate(self._players):
            games = [
                (game, number ^ place)
                for unit in match.units
                for place, game in enumerate(unit.games)
            ]
            nodes = player.within(self.limits).nodes
            found = (
                None if player.evaluator is None else judged_chances(player.evaluator, games, nodes)
            )
            if found is not None and player.evaluator is not None:
                play = play_text(player.evaluator, nodes)
                yield (
                    f"chances of {player.name} at its {counted(found.moves, 'move')}"
                    f"{', as they are ' * bool(play)}{play}: log loss"
                    f" {found.loss:.3f} nats ({found.guess:.3f} by the shares of the results)"
                )

    def _round_lines(self, match: Match) -> Iterator[str]:
        yield (
            f"{match.title}: {self.heading}, {match.games} games, each opening with"
            " every player in every seat"
        )
        if not match.units:
            return
        par = 100 / self.game.players
        yield f"95 % intervals over {counted(len(match.units), 'opening')}; par is {par:.1f} %"
        width = max(map(len, match.names))
        for standing in match.summary().standings():
            first = standing.first
            yield (
                f"{standing.name:{width}}  first in {100 * first.value:5.1f} %"
                f" [{100 * first.low:.1f}, {100 * first.high:.1f}]"
                f"  place {standing.place.text('.2f')}  points {standing.points.text('+.3f')}"
            )

    def _dice_lines(self, match: Match) -> Iterator[str]:
        kind = "" if match.length is None else "games for money with the cube, "
        if match.length:
            kind = f"matches to {match.length} point{'s' * (match.length > 1)}, "
        openings = "" if self.openings is None else f", {self.openings}"
        yield f"{match.title}: {kind}{self.heading}{openings}, same dice for both"
        summary = match.summary()
        if match.length and match.games:
            mean = summary.mean
            low, high = 50 + 50 * mean.low, 50 + 50 * mean.high
            yield (
                f"matches {match.games}: won {summary.won()}, {50 + 50 * mean.value:.1f} %,"
                f" 95 % interval [{low:.1f}, {high:.1f}]"
            )
        else:
            yield summary.text()
        if self.luck is not None:
            yield f"luck measured by static values of {self.luck.name}"
        doubles = match.actions("double")
        if match.length is not None and match.units:
            yield (
                f"{counted(match.played, 'game')}, {doubles / match.played:.2f} doubles a game, of"
                f" which {100 * match.actions('drop') / max(doubles, 1):.0f} % were dropped"
            )
        if match.units:
            yield f"{match.played / match.elapsed:.1f} games/s"

    def ladder_lines(self, standings: list[Any], matches: list[Match]) -> Iterator[str]:
        """Yields the report of a ladder."""
        yield from _lost_lines(matches)
        lines: Any = self._points_lines if self.kind is DicePairs else self._elo_lines
        yield from lines(standings, matches)

    def _elo_lines(self, standings: list[Any], matches: list[Match]) -> Iterator[str]:
        anchor = self._players[0].name
        if self.kind is Pairs:
            limits = f"{self.heading}{self._adjudicated()}{_searches(self._players)}"
            yield f"{limits}; Elo with the 95 % interval of the difference from {anchor}"
            share = ("", "games")
        else:
            yield (
                f"{self.heading}; every {self.game.players} players at one table; Elo by who came"
                f" before whom, with the 95 % interval of the difference from {anchor}"
            )
            share = ("before ", "others")
        width = max(len(rating.name) for rating in standings)
        for place, rating in enumerate(standings, 1):
            yield (
                f"{place:3} {rating.name:{width}}  {rating.elo.text('+7.1f')}"
                f"  {share[0]}{100 * rating.score:5.1f} % of {rating.games} {share[1]}"
            )
        for match in matches if self.options.neighbours else ():
            score = match.summary().score.text(".1%")
            yield f"    {match.title}: {score} of {counted(match.games, 'game')}"

    def _points_lines(self, standings: list[Any], matches: list[Match]) -> Iterator[str]:
        yield (
            f"{self.heading}, same dice for all; points per game against"
            f" {'neighbours' if self.options.neighbours else 'all others'}, 95 % intervals"
        )
        width = max(len(name) for match in matches for name in match.names)
        for place, one in enumerate(standings, 1):
            yield f"{place:3} {one.name:{width}}  {one.points.text('+.4f')}  of {one.games} games"
        yield "each match, from the first player's side"
        for match in matches:
            if match.units:
                first, second = match.names
                played = f"{match.summary().mean.text('+.4f')}  of {match.games} games"
                yield f"    {first:{width}}  {played} against {second}"

    def game_texts(self, match: Match, unit: int, number: int) -> Iterator[str]:
        """Yields the games of a match, beginning with a unit, each as a text of the game's file.

        With the cube, each text is a match.

        number: the number of the first game in the file.
        """
        form: Any = form_of(self.game)
        whole = match.length is not None and form.write_match is not None
        for count, (names, games) in enumerate(all_games([match], unit), number):
            tags = {"Event": self.heading, "Round": str(count)}
            yield (
                form.write_match(games, names, tags) if whole else form.write(games[0], names, tags)
            )

    def head(self, players: Sequence[Player]) -> dict[str, Any]:
        """Returns, as plain values, everything on which the results of these matches depend."""
        options = self.options
        head: dict[str, Any] = {
            "game": [self.game.name, self.game.version],
            "players": [player.name for player in players],
            "values of players": [
                None if player.evaluator is None else value_mark(self.game, player.evaluator)
                for player in players
            ],
            "limits": str(self.limits),
            "seed": options.seed,
            "luck": None if self.luck is None else self.luck.name,
            "plies": options.plies,
            "adjudicate": options.adjudicate,
            "sprt": None if self.sprt is None else asdict(self.sprt),
        }
        if options.recover:
            head["recover"] = True
        if self.length is not None:
            head["cube"] = {"length": self.length, "jacoby": bool(options.jacoby)}
        if isinstance(self.openings, BalancedOpenings):
            head["openings"] = self.openings.mark
        return head


def _lost_lines(matches: Sequence[Match]) -> Iterator[str]:
    """Says which games external engines lost otherwise than by the rules, and why."""
    for reason, words in ((TIME, "on time"), (FAILED, "because it failed")):
        lost = Counter[str]()
        why = dict[str, str]()
        for names, games in all_games(matches):
            for game in games:
                if game.reason == reason:
                    outcomes = game.outcomes() or ()
                    name = names[outcomes.index(min(outcomes))]
                    lost[name] += 1
                    why[name] = game.comment and f"; the last: {game.comment}"
        for name, count in lost.items():
            yield f"{name} lost {counted(count, 'game')} {words}{why[name]}"


def _searches(players: Sequence[Player]) -> str:
    """Returns the techniques of the players' searches, in words that follow others."""
    searching = [one for one in players if one.evaluator is not None]
    used = [(one.name, str(one.options.get("techniques", ""))) for one in searching]
    programs = any(one.program is not None for one in players)  # which choose their own searches
    if len({techniques for _, techniques in used}) == 1 and not programs:
        return f", search: {used[0][1]}" if used[0][1] else ""
    return "".join(f", {name}: {techniques}" for name, techniques in used if techniques)


def _check_cube(game: Any, options: argparse.Namespace) -> None:
    """Refuse options that do not apply to games with the cube."""
    kinds.WITH_CUBE.expect(game, where="--cube")
    if getattr(options, "luck", None) is not None:
        raise ValueError("--luck: expected games without the cube, found --cube or --match")
    if options.jacoby and options.match:
        raise ValueError("--jacoby: expected games for money, found --match")


def _sprt(options: argparse.Namespace) -> Sprt | None:
    """Returns the sequential test that a command line asks for."""
    if getattr(options, "sprt", None) is None:
        return None
    try:
        elo0, elo1 = (float(part) for part in options.sprt.split(","))
    except ValueError:
        raise ValueError(f"--sprt: expected ELO0,ELO1, found {options.sprt!r}") from None
    return Sprt(elo0, elo1)


def _luck(game: Any, text: str, players: Sequence[Player]) -> Player:
    """Returns the player whose static values measure luck, one of `players` if `text` is empty."""
    if text:
        players = [parse_player(game, text)]
    for player in players:
        if isinstance(player.program, GnubgNetworks) and str(player.program) == "gnubg:0":
            return Player(player.name, gnubg_evaluator(game))
        if player.evaluator is not None:
            return player
    names = " and ".join(player.name for player in players)
    raise ValueError(f"--luck: expected an evaluator or gnubg:0, found {names}")
