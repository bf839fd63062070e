"""The commands `match` and `ladder` of `python -m play`."""

from __future__ import annotations

import argparse
import functools
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from play.commands.options import add_game, check_writable, load_game
from play.players.grammar import PLAYER_HELP, describe_players
from programs.arguments import THREADS, in_range
from programs.waiting import WorkBar

if TYPE_CHECKING:
    from play.commands.contest import Contest

__all__ = ["GamesBar", "add_contest_options", "add_match_commands"]

DEPTH_HELP = (
    "search depth (default 5 if no limit is given; with dice GNU Backgammon's plies, default 0)"
)
LUCK_HELP = (
    "with dice: also the luck-adjusted result, by an evaluator's static values (default: those of"
    " a player)"
)
BACKEND_HELP = (
    "where games are played: threads (default), loky (processes) or dask:tcp://HOST:PORT (the"
    " machines of a cluster)"
)
JOBS_HELP = f"games at a time (default {THREADS}, with dask the cluster's number of threads)"


def add_match_commands(commands: Any) -> None:
    """Add both commands to the subcommands of a parser."""
    match = commands.add_parser(
        "match", help="two players, paired openings, colours swapped; or more"
    )
    add_game(match)
    add = match.add_argument
    add("first", help=PLAYER_HELP)
    add("second", help=PLAYER_HELP)
    add("others", nargs="*", default=[], help="in games for more than two: all other players")
    _add_options(match, "400; with dice 4000", functools.partial(_run, ladder=False))
    add(
        "--cube",
        action="store_true",
        default=None,
        help="backgammon: games for money with the doubling cube",
    )
    add(
        "--match",
        type=in_range(1, 64),
        metavar="N",
        help="backgammon: matches to N points, with the cube; --save gives each a file, FILE with"
        " -1, -2 … before its ending, because GNU Backgammon reads only the first match of a file",
    )
    add(
        "--jacoby",
        action="store_true",
        default=None,
        help="with --cube: gammons count after a double only",
    )
    add("--luck", nargs="?", const="", metavar="EVALUATOR", help=LUCK_HELP)
    add(
        "--sprt",
        nargs="?",
        const="0,10",
        metavar="ELO0,ELO1",
        help="without dice: stop once the sequential test decides (default 0,10; write --sprt=-5,0"
        " for a negative number)",
    )

    ladder = commands.add_parser(
        "ladder", help="a round robin with joint ratings, or points a game"
    )
    add_game(ladder)
    add = ladder.add_argument
    add("players", nargs="+", help=f"{PLAYER_HELP}; without dice the first is rated 0")
    add(
        "--neighbours",
        action="store_true",
        default=None,
        help="for two players: each plays only the one before it in the list",
    )
    run = functools.partial(_run, ladder=True)
    _add_options(ladder, "200 for each two players; with dice 4000", run)


def add_contest_options(command: argparse.ArgumentParser, games: str) -> None:
    """Add the options of every contest; `games` says how many games are played by default."""
    add = command.add_argument
    add(
        "--games",
        type=in_range(2),
        metavar="N",
        help=f"number of games, in whole pairs (default {games})",
    )
    add("--depth", type=int, metavar="PLIES", help=DEPTH_HELP)
    add("--nodes", type=int, metavar="N", help="limit of positions for each move")
    add("--seconds", type=float, metavar="S", help="time limit for each move")
    add(
        "--time",
        metavar="S+I",
        help="without dice: a clock of S seconds for a game, and I more before each move; a player"
        " whose clock runs out loses",
    )
    add("--seed", type=in_range(0), default=0, help="decides openings, dice and chance")
    add(
        "--plies",
        type=int,
        metavar="N",
        help="without dice: random openings, the shortest of N plies (default 3; checkers without"
        " --plies or --openings: the shipped balanced ones); with a file of games of --openings:"
        " the plies of each that are followed (default 8)",
    )
    add(
        "--openings",
        type=Path,
        metavar="FILE",
        help="a file with games, which are followed for --plies, or with lines of positions;"
        " without dice also of first moves, one that `play openings` wrote, or the name of shipped"
        " ones (even and biased in checkers)",
    )
    add(
        "--adjudicate",
        metavar="DATABASE",
        help="without dice: end a game with the result in this database as soon as it has the"
        " position (checkers: endgame, endgame6)",
    )
    add(
        "--recover",
        action="store_true",
        default=None,
        help="an external engine that ends, stays silent or makes an illegal move loses that game"
        " and is started again (default: the match ends)",
    )
    add("--backend", default="threads", metavar="B", help=BACKEND_HELP)
    add("--threads", "--jobs", type=in_range(1), metavar="N", help=JOBS_HELP)
    add("--json", action="store_true", help="last line: the figures as JSON")
    add("--quiet", action="store_true", help="no progress bar")
    describe_players(command)


def _add_options(command: argparse.ArgumentParser, games: str, run: Any) -> None:
    add_contest_options(command, games)
    add = command.add_argument
    add(
        "--save",
        "--pdn",
        type=Path,
        metavar="FILE",
        help="add each game as it ends: PDN in checkers, .mat in backgammon, text in other games",
    )
    add(
        "--resume",
        action="store_true",
        help="continue the match that was stopped, whose games are in the file of --save",
    )
    command.set_defaults(run=run)


def _run(options: argparse.Namespace, *, ladder: bool) -> int:
    """Play, and print the report; refuses bad options before any game."""
    from play.players.parse import parse_player

    texts = options.players if ladder else [options.first, options.second, *options.others]
    game = load_game(options)
    if options.save is not None:
        check_writable("--save", options.save)
    if not ladder and len(texts) != game.players:
        raise ValueError(f"{game.name}: expected {game.players} players, found {len(texts)}")
    players = [parse_player(game, text) for text in texts]
    # imported here, because a wrong player is refused sooner without them
    from play.commands.contest import Contest
    from play.matches.driver import check_players

    contest = Contest(game, options, ladder=ladder)
    if ladder:
        check_players(game, players)
    contest.prepare(players)
    count = math.comb(len(players), game.players)
    if ladder and options.neighbours:
        count = len(players) - 1
    with _kept(contest, options, players) as (journal, games):
        with contest.workers(players) as workers, GamesBar(options, games, count) as bar:
            standings, matches = contest.play(players, workers=workers, progress=bar, **journal)
        last, figures = matches[-1], [match.figures() for match in matches]
        if games is not None:
            games.finish(matches)
        if journal and not (last.interrupted or last.failure):
            journal["journal"].finish()
    for line in contest.ladder_lines(standings, matches) if ladder else contest.match_lines(last):
        print(line)
    if ladder and last.failure:
        print(f"stopped in {last.title}: {last.failure}")
    if options.json:
        ratings = {contest.standings: [standing.figures() for standing in standings]}
        print(json.dumps({**ratings, "matches": figures} if ladder else figures[0]))
    return _ended(options, last)


@contextmanager
def _kept(
    contest: Contest, options: argparse.Namespace, players: list[Any]
) -> Iterator[tuple[dict[str, Any], _GamesFile | None]]:
    """The journal of a match as an option of it, and the file of its games, with --save."""
    from play.matches.journal import MatchJournal

    if options.save is None:
        if options.resume:
            raise ValueError("--resume: expected --save FILE as well, found none")
        yield {}, None
        return
    apart = getattr(options, "match", None) is not None
    games = _GamesFile(contest, options.save, apart=apart)
    head = contest.head(players)
    with MatchJournal.open(_journal(options), head, resume=options.resume) as journal:
        yield {"journal": journal}, games


def _journal(options: argparse.Namespace) -> Path:
    return Path(f"{options.save}.journal")


def _ended(options: argparse.Namespace, match: Any) -> int:
    import sys

    if (match.interrupted or match.failure) and options.save is not None:
        more = "; the same command with --resume continues" if _journal(options).exists() else ""
        print(f"the games that ended are in {options.save}{more}", file=sys.stderr)
    if match.interrupted:
        raise KeyboardInterrupt
    if match.failure:
        raise ChildProcessError(match.failure)
    return 0


class _GamesFile:
    """A file to which the games of matches are added as they end.

    apart: whether each text of the contest has a file of its own, numbered from 1.
    """

    def __init__(self, contest: Contest, path: Path, *, apart: bool) -> None:
        self._contest = contest
        self._path = path
        self._apart = apart
        self._match: Any = None
        self._pairs = self._games = 0

    def __call__(self, match: Any) -> None:
        """Add the games that have ended since the last call."""
        from programs.whole_files import naming, write_atomically

        if match is not self._match:
            self._match, self._pairs = match, 0
        texts = list(self._contest.game_texts(match, self._pairs, self._games + 1))
        self._pairs = match.games // self._contest.game.players
        content = "\n".join(texts)
        if self._apart:
            self._write_apart(texts, self._games + 1)
        elif not self._games:
            write_atomically(self._path, content)
        elif texts:
            with naming(self._path), open(self._path, "ab") as file:
                file.write(f"\n{content}".encode())
        self._games += len(texts)

    def finish(self, matches: list[Any]) -> None:
        """Leave a file even if no game was played, and a whole one if Ctrl-C came while writing."""
        from programs.whole_files import write_atomically

        if not self._games or matches[-1].interrupted:
            texts: list[str] = []
            for match in matches:
                texts += self._contest.game_texts(match, 0, len(texts) + 1)
            if self._apart:
                self._write_apart(texts, 1)
            else:
                write_atomically(self._path, "\n".join(texts))

    def _write_apart(self, texts: list[str], first: int) -> None:
        from programs.whole_files import write_atomically

        for number, text in enumerate(texts, first):
            write_atomically(self._path.with_stem(f"{self._path.stem}-{number}"), text)


class GamesBar(WorkBar):
    """A progress bar over the games of matches, with the score of the current match.

    games: the file that they are added to, or None.
    """

    def __init__(
        self, options: argparse.Namespace, games: _GamesFile | None, matches: int = 1
    ) -> None:
        super().__init__(options.games * matches, "games", quiet=options.quiet)
        self._games = games
        self._match: Any = None
        self._before = 0

    def __call__(self, match: Any) -> None:
        if self._games is not None:
            self._games(match)
        if match is not self._match:
            self._match, self._before = match, self.done
        self.note = match.so_far()
        self.update(self._before + match.games - self.done)
