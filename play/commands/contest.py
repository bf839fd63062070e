"""How the commands `match` and `ladder` play games with and without dice, and what they report."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from games.contract import DiceGame, Game
from games.file_form import form_of
from play.commands.options import refuse
from play.match.balanced import BalancedOpenings, usual_openings
from play.match.cube_match import CubeMatch, cube_lines, play_cube_match
from play.match.dice_match import DiceMatch, needs_processes, play_dice_match
from play.match.ladder import Standing, dice_ladder, ladder, plot_estimates, plot_ladder
from play.match.match import Match, games_from, play_match
from play.match.openings import Openings
from play.players.clock import parse_clock
from play.players.gnubg import Program, gnubg_evaluator
from play.players.limits import Limits, check_depth
from play.players.parse import parse_player
from play.players.player import Player
from play.players.thinker import limits_of, play_text, usual_referee
from play.ratings.bradley_terry import Rating
from play.ratings.foretold import foretold
from play.ratings.sprt import Sprt
from play.workers import Workers, parse_backend
from search.evaluators.samples import value_mark
from search.lookups.database import DatabaseLookup

__all__ = ["Contest", "ContestWithDice", "ContestWithoutDice", "head_of"]


class Contest(Protocol):
    """Plays and reports matches and ladders of one kind of game.

    standings: the name of a ladder's standings in its figures.
    """

    game: Any
    standings: str

    def prepare(self, players: Sequence[Player]) -> None:
        """Check and choose everything that depends on the players."""

    def workers(self, players: Sequence[Player]) -> Workers:
        """The workers that play."""

    def match(self, *players: Player, **options: Any) -> Any:
        """Play a match; `options` are `workers` and `progress`."""

    def match_lines(self, match: Any) -> Iterator[str]:
        """The report of a match."""

    def ladder(self, players: Sequence[Player], **options: Any) -> tuple[list[Any], list[Any]]:
        """Play a round robin; returns its standings, best first, and its matches."""

    def ladder_lines(self, standings: list[Any], matches: list[Any]) -> Iterator[str]:
        """The report of a ladder."""

    def plot(self, path: Path, standings: list[Any]) -> None:
        """Write a picture of the standings."""

    def game_texts(self, match: Any, pair: int, number: int) -> Iterator[str]:
        """The games of a match from a pair on, each as text in the form of the game.

        pair: the number of a pair of games; with more than two players of a round.
        number: the number of the first of them in the file.
        """

    def head(self, players: Sequence[Player]) -> dict[str, Any]:
        """Returns what decides the results of matches of these players, as plain values."""


class ContestWithoutDice:
    """Paired openings, Elo, and ratings that fit all matches of a ladder."""

    standings = "ratings"

    def __init__(self, game: Game, options: argparse.Namespace, *, games: int) -> None:
        refuse(options, ("luck", "cube", "match", "jacoby"), "a game with dice", game)
        self.game = game
        options.games = games if options.games is None else options.games
        depth = options.depth
        clock = None if options.time is None else parse_clock(options.time)
        if (depth, options.nodes, options.seconds, clock) == (None,) * 4:
            depth = 5
        if depth is not None and depth < 1:
            raise ValueError(f"depth: expected 1 to 100 plies, found {depth}")
        if options.judge is not None and options.within is None:
            raise ValueError("--judge: expected --within too, found none")
        self.limits = Limits(depth, options.nodes, options.seconds, clock)
        self.sprt = _sprt(options)
        self._players: Sequence[Player] = ()
        self._options = options

    def prepare(self, players: Sequence[Player]) -> None:
        options = self._options
        self.database: DatabaseLookup | None = None
        if options.adjudicate is not None:
            self.database = DatabaseLookup(self.game, options.adjudicate)
        self.openings: Openings | BalancedOpenings
        if options.plies is None and options.within is None:
            self.openings = usual_openings(self.game, seed=options.seed)
            return
        self.openings = Openings(
            self.game,
            plies=3 if options.plies is None else options.plies,
            seed=options.seed,
            within=options.within,
            judge=(options.judge or usual_referee(self.game))
            if options.within is not None
            else None,
        )

    def workers(self, players: Sequence[Player]) -> Workers:
        backend, address = parse_backend(self._options.backend)
        return Workers(backend, self._options.threads, address)

    def match(self, *players: Player, **options: Any) -> Match:
        first, second = players
        self._players = players
        return play_match(
            self.game,
            first,
            second,
            limits=self.limits,
            games=self._options.games,
            openings=self.openings,
            sprt=self.sprt,
            seed=self._options.seed,
            database=self.database,
            **options,
        )

    def match_lines(self, match: Match) -> Iterator[str]:
        summary = match.summary()
        limits = f"{self.limits}, {self.openings}{self._adjudicated()}"
        yield f"{match.title}: {limits}{_searches(self._players)}"
        yield summary.text()
        if self.sprt is not None and summary.games:
            yield self.sprt.text(summary.tally)
        twice = summary.games - match.different
        alike = f"{twice} games repeat another with colours swapped"
        yield (
            f"{alike if twice else 'all games different'}; {match.repeated} pairs repeated earlier"
            " games and were not counted"
        )
        wanted = summary.games < self._options.games and match.verdict in ("", "continue")
        if wanted and not match.interrupted:
            yield f"no more than {summary.games} different games from these openings"
        seconds = match.seconds()
        if seconds:
            mean = sum(seconds) / len(seconds)
            yield f"external engines took {mean:.3f} s a move, at most {max(seconds):.3f}"
        yield from self._foretold(match)

    def _adjudicated(self) -> str:
        return "" if self.database is None else f", adjudicated by {self.database.name}"

    def _foretold(self, match: Match) -> Iterator[str]:
        """Says of each player with chances of win, draw and loss how well they foretold results."""
        for number, player in enumerate(self._players):
            games = [
                (game, number ^ place)
                for pair in match.pairs
                for place, game in enumerate(pair.games)
            ]
            nodes = player.within(self.limits).nodes
            found = None if player.evaluator is None else foretold(player.evaluator, games, nodes)
            if found is not None and player.evaluator is not None:
                play = play_text(player.evaluator, nodes)
                yield (
                    f"chances of {player.name} at its {found.moves} moves"
                    f"{', as they are ' * bool(play)}{play}: log loss"
                    f" {found.loss:.3f} nats ({found.guess:.3f} by the shares of the results)"
                )

    def ladder(self, players: Sequence[Player], **options: Any) -> tuple[list[Rating], list[Match]]:
        self._players = players
        return ladder(
            self.game,
            players,
            limits=self.limits,
            games=self._options.games,
            openings=lambda: self.openings,
            seed=self._options.seed,
            database=self.database,
            **options,
        )

    def ladder_lines(self, standings: list[Rating], matches: list[Match]) -> Iterator[str]:
        anchor = matches[0].first
        limits = f"{self.limits}{self._adjudicated()}{_searches(self._players)}"
        yield f"{limits}; Elo with the 95 % interval of the difference from {anchor}"
        width = max(len(rating.name) for rating in standings)
        for place, rating in enumerate(standings, 1):
            yield (
                f"{place:3} {rating.name:{width}}  {rating.elo.text('+7.1f')}"
                f"  {100 * rating.score:5.1f} % of {rating.games} games"
            )

    def plot(self, path: Path, standings: list[Rating]) -> None:
        plot_ladder(path, standings, f"{self.game.name}, {self.limits}")

    def game_texts(self, match: Match, pair: int, number: int) -> Iterator[str]:
        write = form_of(self.game).write
        for count, (first, second, record) in enumerate(games_from(match, pair), number):
            tags = {"Event": str(self.limits), "Round": str(count)}
            yield write(record, (first, second), tags)

    def head(self, players: Sequence[Player]) -> dict[str, Any]:
        names = ("plies", "within", "judge", "adjudicate")
        decisive = {name: getattr(self._options, name) for name in names}
        if isinstance(self.openings, BalancedOpenings):
            decisive["openings"] = self.openings.mark
        return {
            **head_of(self.game, players, self.limits, self._options.seed),
            **decisive,
            "sprt": None if self.sprt is None else asdict(self.sprt),
        }


class ContestWithDice:
    """Pairs of games with the same dice, and points a game."""

    standings = "standings"
    #: Options that do not apply to a game with dice.
    others = ("time", "plies", "within", "judge", "adjudicate", "sprt", "model")

    def __init__(self, game: DiceGame, options: argparse.Namespace) -> None:
        refuse(options, self.others, "a game without dice", game)
        self.game = game
        self.cube = bool(
            getattr(options, "cube", None) or getattr(options, "match", None) is not None
        )
        if self.cube:
            _check_cube(game, options)
        elif getattr(options, "jacoby", None):
            raise ValueError("--jacoby: expected --cube, found games without the cube")
        usual = 400 if self.cube else 4000
        options.games = usual if options.games is None else options.games
        check_depth(options.depth or 0)
        self.limits = limits_of(options, depth=0)
        plies = " (GNU plies)" if self.limits.depth is not None else " a move"
        self.heading = str(self.limits).removesuffix(" a move") + plies
        self.luck: Player | None = None
        self._options = options

    def prepare(self, players: Sequence[Player]) -> None:
        luck = getattr(self._options, "luck", None)
        if luck is not None:
            self.luck = _luck(self.game, luck, players)

    def workers(self, players: Sequence[Player]) -> Workers:
        """Returns the workers that play; processes if threads would wait for one another."""
        kind, address = parse_backend(self._options.backend)
        if kind == "threads" and needs_processes(*players) and self._options.threads != 1:
            kind = "loky"
        return Workers(kind, self._options.threads, address)

    def match(self, *players: Player, **options: Any) -> DiceMatch:
        first, second = players
        if self.cube:
            cube: dict[str, Any] = {
                "length": self._options.match or 0,
                "jacoby": bool(self._options.jacoby),
            }
            return play_cube_match(self.game, first, second, **cube, **self._common(options))
        return play_dice_match(self.game, first, second, luck=self.luck, **self._common(options))

    def match_lines(self, match: DiceMatch) -> Iterator[str]:
        if isinstance(match, CubeMatch):
            yield from cube_lines(match, self.heading)
            return
        yield f"{match.first} against {match.second}: {self.heading}, same dice for both"
        yield match.summary().text()
        if self.luck is not None:
            yield f"luck measured by static values of {self.luck.name}"
        if match.games:
            yield f"{match.games / match.seconds:.1f} games/s"

    def ladder(
        self, players: Sequence[Player], **options: Any
    ) -> tuple[list[Standing], list[DiceMatch]]:
        return dice_ladder(self.game, players, **self._common(options))

    def ladder_lines(self, standings: list[Standing], matches: list[DiceMatch]) -> Iterator[str]:
        yield (
            f"{self.heading}, same dice for all; points per game against all others, 95 % intervals"
        )
        width = max(len(name) for match in matches for name in (match.first, match.second))
        for place, one in enumerate(standings, 1):
            yield f"{place:3} {one.name:{width}}  {one.points.text('+.4f')}  of {one.games} games"
        yield "each match, from the first player's side"
        for match in matches:
            if match.points:
                played = f"{match.summary().mean.text('+.4f')}  of {match.games} games"
                yield f"    {match.first:{width}}  {played} against {match.second}"

    def plot(self, path: Path, standings: list[Standing]) -> None:
        rows = [(one.name, one.points) for one in standings]
        label = "points per game against all others, 95 % interval"
        title = f"{self.game.name}, {self.heading}"
        plot_estimates(path, rows, title, label=label, room=0.02, digits=3)

    def game_texts(self, match: DiceMatch, pair: int, number: int) -> Iterator[str]:
        write, write_match = form_of(self.game).write, form_of(self.game).write_match
        names = match.first, match.second
        if isinstance(match, CubeMatch) and write_match is not None:
            played: list[tuple[Any, Any]] = [(write_match, both) for both in match.matches[pair:]]
        else:
            played = [(write, both) for both in match.records[pair:]]
        for form, both in played:
            for game, sides in zip(both, (names, names[::-1]), strict=True):
                yield form(game, sides, {"Event": self.heading, "Round": str(number)})
                number += 1

    def head(self, players: Sequence[Player]) -> dict[str, Any]:
        head = head_of(self.game, players, self.limits, self._options.seed)
        if self.cube:
            length, jacoby = self._options.match or 0, bool(self._options.jacoby)
            table = getattr(self.game, "equities", None)
            cube = {"length": length, "jacoby": jacoby, "met": table and table.digest}
            return {**head, "cube": cube}
        return {**head, "luck": None if self.luck is None else self.luck.name}

    def _common(self, options: dict[str, Any]) -> dict[str, Any]:
        given = self._options
        return {
            "games": given.games,
            "limits": self.limits,
            "seed": given.seed,
            "keep_records": given.save is not None,
            **options,
        }


def _searches(players: Sequence[Player]) -> str:
    """Returns the techniques of the players' searches, in words that follow others."""
    used = {
        one.name: str(one.options["techniques"]) for one in players if "techniques" in one.options
    }
    if len(set(used.values())) == 1 and len(used) == sum(
        one.evaluator is not None for one in players
    ):
        return f", search: {next(iter(used.values()))}"
    return "".join(f", {name}: {techniques}" for name, techniques in used.items())


def head_of(game: Any, players: Sequence[Player], limits: Limits, seed: int) -> dict[str, Any]:
    """Returns what decides the results of any match of these players, as plain values."""
    marks = [
        None if player.evaluator is None else value_mark(game, player.evaluator)
        for player in players
    ]
    return {
        "game": [game.name, game.version],
        "players": [player.name for player in players],
        "values of players": marks,
        "limits": str(limits),
        "seed": seed,
    }


def _check_cube(game: DiceGame, options: argparse.Namespace) -> None:
    """Refuse options that do not apply to games with the cube."""
    if not game.cube:
        raise ValueError(f"--cube: expected a game with a cube, found {game.name}")
    if getattr(options, "luck", None) is not None:
        raise ValueError("--luck: expected games without the cube, found --cube or --match")
    if options.match is not None and not 1 <= options.match <= 64:
        raise ValueError(f"--match: expected 1 to 64 points, found {options.match}")
    if options.jacoby and options.match:
        raise ValueError("--jacoby: expected games for money, found --match")


def _sprt(options: argparse.Namespace) -> Sprt | None:
    """Returns the sequential test that a command line asks for."""
    if getattr(options, "sprt", None) is None:
        if getattr(options, "model", None) is not None:
            raise ValueError("--model: expected --sprt as well, found none")
        return None
    try:
        elo0, elo1 = (float(part) for part in options.sprt.split(","))
    except ValueError:
        raise ValueError(f"--sprt: expected ELO0,ELO1, found {options.sprt!r}") from None
    return Sprt(elo0, elo1, model=options.model or "normalised")


def _luck(game: DiceGame, text: str, players: Sequence[Player]) -> Player:
    """Returns the player whose static values measure luck, one of `players` if `text` is empty."""
    if text:
        players = [parse_player(game, text)]
    for player in players:
        if isinstance(player.program, Program) and str(player.program) == "gnubg:0":
            return Player(player.name, gnubg_evaluator(game))
        if player.evaluator is not None:
            return player
    names = " and ".join(player.name for player in players)
    raise ValueError(f"--luck: expected an evaluator or gnubg:0, found {names}")
